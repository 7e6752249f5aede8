# %% [markdown]
# # 01 Temperatures
#
# Write `celsius`. Water freezes at 32 degrees Fahrenheit and boils at 212.

# %%
from temperatures_lib.checking import worked


# %% solution="celsius"
def celsius(f: float) -> float:
    """Degrees Celsius for `f` degrees Fahrenheit."""
    ### BEGIN SOLUTION
    return (f - 32) * 5 / 9
    ### END SOLUTION


# %% test="celsius" points=2
worked(celsius, (212, 100.0), hint="Water boils at 100 degrees Celsius.")

# %% [markdown] written="why_two_scales" points=1
# The first scale took what was cold and warm in a town; the second took water.
