"""A tiny chapter in the percent format, and the same with one thing changed."""

from pathlib import Path

TINY = '''\
# %% [markdown]
# # A tiny chapter
#
# Some text.

# %%
def check(square):
    assert square(2) == 4, square(2)


# %% solution="square"
def square(x):
    """The square of x."""
    # a comment that stays
    ### BEGIN SOLUTION
    product_of_both = x * x

    # why this is so
    return product_of_both
    ### END SOLUTION


# %% test="square" points=3
check(square)

# %% [markdown]
# ## A quiz
#
# Which?

# %% solution="quiz_01"
### BEGIN SOLUTION
quiz_01 = "c"
### END SOLUTION

# %% test="quiz_01" points=1
assert quiz_01

# %% solution="prediction_01"
### BEGIN SOLUTION
prediction_01 = 9
### END SOLUTION

# %% test="prediction_01" points=0.5
assert prediction_01 is not None

# %% [markdown] written="why" points=2.5
# Because a number times itself is never below zero.

# %% tags=["demo"]
print(square(3))
'''


def write_chapter(folder: Path, text: str = TINY, name: str = "01_tiny") -> Path:
    """FOLDER/solutions/NAME.py; returns the solutions folder."""
    solutions = folder / "solutions"
    solutions.mkdir(parents=True, exist_ok=True)
    (solutions / f"{name}.py").write_text(text, encoding="utf-8")
    return solutions


def tiny_with(old: str, new: str) -> str:
    """TINY with its only `old` replaced, so that a case cannot silently change nothing."""
    assert TINY.count(old) == 1, old
    return TINY.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The number of the first line that holds `part`."""
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)
