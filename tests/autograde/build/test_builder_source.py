"""Text to source notebook: the metadata, the ids, and a message for every mistake."""

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
from classes.builder_fixtures import TINY, changed, line_of, write_chapter
from nbgrader.nbgraderformat import MetadataValidator

from autograde.build import colab, looks
from autograde.build.source import read_chapter
from autograde.chapter import AuthorError
from autograde.sandbox.session import Session
from autograde.sandbox.student import Student
from autograde.submission import is_demo


def read(folder: Path, text: str = TINY) -> nbformat.NotebookNode:
    return read_chapter(write_chapter(folder, text) / "01_tiny.py")


def test_ids_come_from_names_and_headings(tmp_path: Path) -> None:
    assert [cell.id for cell in read(tmp_path).cells] == [
        "a-tiny-chapter-1",
        "colab",
        "a-tiny-chapter-2",
        "square",
        "test_square",
        "a-quiz-1",
        "quiz_01",
        "test_quiz_01",
        "prediction_01",
        "test_prediction_01",
        "why",
        "a-quiz-2",
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "# " + "very long heading " * 9,
        "# Überraschung: ja/nein?",
        "# 推測",
        "# top 1",
        "#no heading",
    ],
)
def test_ids_of_any_heading_are_valid_and_unique(tmp_path: Path, heading: str) -> None:
    text = f"# %% [markdown]\n# # Top\n\n# %%\n\n# %% [markdown]\n# {heading}\n\n# %%\n\n# %%\n"
    notebook = read(tmp_path, text)
    nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids) == 6


ADDRESS = "https://github.com/somebody/specdec"


def installed_by_the_cell_for_colab(folder: Path) -> list[tuple[str, str]]:
    """What its cell asks pip for, executed in this process."""
    (cell,) = [cell for cell in read(folder).cells if cell.id == "colab"]
    assert is_demo(cell)  # the grader leaves it out
    asked = []
    shell = SimpleNamespace(run_line_magic=lambda *words: asked.append(words))
    exec(cell.source, {"get_ipython": lambda: shell})
    return asked


def test_the_cell_for_colab_installs_there_only(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(colab, "repository", lambda: None)
    assert installed_by_the_cell_for_colab(tmp_path) == []
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    with pytest.raises(FileNotFoundError, match="Put specdec-course.zip into the file panel, then"):
        installed_by_the_cell_for_colab(tmp_path)
    monkeypatch.setattr(colab, "repository", lambda: ADDRESS)
    assert installed_by_the_cell_for_colab(tmp_path) == [("pip", f"install --quiet git+{ADDRESS}")]
    (tmp_path / "specdec-course.zip").touch()
    course = [("pip", "install --quiet specdec-course.zip")]
    assert installed_by_the_cell_for_colab(tmp_path) == course


@pytest.mark.parametrize("address", [ADDRESS, f"{ADDRESS}.git", f"{ADDRESS}/"])
def test_a_chapter_of_a_repository_on_github_links_to_colab(tmp_path: Path, monkeypatch, address):
    monkeypatch.setattr(colab, "repository", lambda: address)
    line = read(tmp_path).cells[0].source.splitlines()[-1]
    assert line.endswith("/github/somebody/specdec/blob/main/notebooks/01_tiny/01_tiny.ipynb)")
    monkeypatch.setattr(colab, "repository", lambda: "https://example.org/somebody/specdec")
    assert "Open in Colab" not in read(tmp_path).cells[0].source


def test_notebook_and_nbgrader_metadata_are_valid(tmp_path: Path) -> None:
    notebook = read(tmp_path)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"


def test_metadata_in_full(tmp_path: Path) -> None:
    cells = {cell.id: cell for cell in read(tmp_path).cells}
    common = {"schema_version": 3, "task": False}
    assert cells["square"].metadata == {
        "nbgrader": {
            **common, "grade_id": "square", "solution": True, "grade": False, "locked": False
        }
    }  # fmt: skip
    assert cells["test_square"].metadata["nbgrader"] == {
        **common, "grade_id": "test_square", "solution": False, "grade": True, "locked": True,
        "points": 3,
    }  # fmt: skip
    assert cells["why"].metadata["nbgrader"] == {
        **common, "grade_id": "why", "solution": True, "grade": True, "locked": False,
        "points": 2.5,
    }  # fmt: skip
    assert cells["a-quiz-2"].metadata == {"tags": ["demo"], **looks.FOLDED}


def test_a_test_cell_gets_its_hidden_region(tmp_path: Path) -> None:
    cell = next(cell for cell in read(tmp_path).cells if cell.id == "test_square")
    assert cell.source.split("\n") == [
        "# Check of square, 3 points: run this cell.",
        "check(square)",
        "### BEGIN HIDDEN TESTS",
        'raise RuntimeError("graded only with the repository\'s nbgrader_config.py")',
        "### END HIDDEN TESTS",
    ]


def test_a_comment_that_looks_like_a_magic_stays_a_comment(tmp_path: Path) -> None:
    notebook = read(tmp_path, changed("print(square(3))", "# %timeit square(3)\nprint(square(3))"))
    assert notebook.cells[-1].source.startswith("# %timeit")


HERE = "<here>"  # taken out of a text; it stands on the line that the message must name

ANSWER = """\
    ### BEGIN SOLUTION
    product_of_both = x * x

    # why this is so
    return product_of_both
    ### END SOLUTION
"""
REGION = "Put one `### BEGIN SOLUTION` above the answer and one `### END SOLUTION` below it"
SQUARE_TEST = 'test="square" points=3'

# what is wrong: (the text, the problem, the remedy)
MISTAKES = {
    "duplicate name": (
        TINY
        + f'\n# %% solution="quiz_01"{HERE}\n### BEGIN SOLUTION\nquiz_01 = "a"\n### END SOLUTION\n',
        "the solution cell quiz_01 is the second of this name",
        "Rename one of them",
    ),
    "solution without a test": (
        changed('# %% solution="square"', f'# %% solution="square"{HERE}').replace(
            f"# %% {SQUARE_TEST}\ncheck(square)\n", ""
        ),
        "the solution of square has no test cell",
        f"Write one below it: # %% {SQUARE_TEST}",
    ),
    "test without a solution": (
        changed(SQUARE_TEST, f'test="sqare" points=3{HERE}'),
        "the test of sqare has no solution cell above it",
        'Write one above it: # %% solution="sqare"',
    ),
    "unclosed region": (
        changed(ANSWER, f"    ### BEGIN SOLUTION{HERE}\n    return x * x\n"),
        "the solution cell of square has not one solution region",
        REGION,
    ),
    "no region": (
        changed(
            '# %% solution="quiz_01"\n### BEGIN SOLUTION\nquiz_01 = "c"\n### END SOLUTION',
            f'# %% solution="quiz_01"{HERE}\nquiz_01 = "c"',
        ),
        "the solution cell of quiz_01 has not one solution region",
        REGION,
    ),
    "region without code": (
        changed(ANSWER, f"    ### BEGIN SOLUTION{HERE}\n    # soon\n    ### END SOLUTION\n"),
        "the solution region of square holds no code",
        "Write the answer",
    ),
    "region in a plain cell": (
        changed("print(square(3))", f"### BEGIN SOLUTION{HERE}\nprint(3)\n### END SOLUTION"),
        "a solution region in a cell that is no solution",
        'Give the cell the option solution="name"',
    ),
    "marker with other text": (
        changed('### BEGIN SOLUTION\nquiz_01 = "c"', f'# BEGIN SOLUTION: c{HERE}\nquiz_01 = "c"'),
        "a line that nbgrader would take for a solution marker",
        "alone on its line",
    ),
    "points missing": (
        changed(SQUARE_TEST, f'test="square"{HERE}'),
        "the test cell of square has no points",
        f"Write {SQUARE_TEST}",
    ),
    "points that are text": (
        changed(SQUARE_TEST, f'test="square" points="3"{HERE}'),
        "points='3' is not a positive number",
        "Write points=3",
    ),
    "a magic": (
        changed("print(square(3))", f"%timeit square(3){HERE}"),
        "syntax error",
        "no magics",
    ),
    "unknown option": (
        changed(SQUARE_TEST, f'test="square" point=3{HERE}'),
        "unknown option point for a test cell",
        "It takes: points, tags, test",
    ),
    "options that cannot be read": (
        changed(SQUARE_TEST, f'test="square points=3{HERE}'),
        "the cell's options cannot be read",
        "Write them as key=value, text in double quotes",
    ),
    "tags that are no list": (
        changed('tags=["demo"]', f'tags="demo"{HERE}'),
        "an option that a notebook cannot hold: 'demo' is not of type 'array'",
        'Tags are a list: tags=["demo"]',
    ),
    "a name that is no name": (
        changed(SQUARE_TEST, f'test="a square" points=3{HERE}'),
        "test='a square' is not a name",
        "Use letters, digits and underscores",
    ),
    "a name that is too long": (
        changed(SQUARE_TEST, f'test="{"s" * 60}" points=3{HERE}'),
        f"the name {'s' * 60} is too long",
        "At most 59 characters",
    ),
    "a written cell of code": (
        changed('# %% [markdown] written="why" points=2.5', f'# %% written="why" points=2.5{HERE}'),
        "a written cell cannot be code",
        "Begin it with `# %% [markdown]`",
    ),
    "a solution that defines something else": (
        changed('solution="square"\ndef square', f'solution="square"{HERE}\ndef cube'),
        "the solution cell of square does not define square",
        "Name the cell after the function or the answer in it",
    ),
    "an empty test cell": (
        changed(f"{SQUARE_TEST}\ncheck(square)", f"{SQUARE_TEST}{HERE}\n# check it"),
        "the test cell of square shows no code",
        "Write the line that calls the check",
    ),
    "a hidden region by hand": (
        changed("\ncheck(square)", f"\ncheck(square)\n### BEGIN HIDDEN TESTS{HERE}"),
        "nbgrader acts on `BEGIN HIDDEN TESTS`",
        "Hidden tests stand in autograde/chapters/chNN_tests.py: move these there",
    ),
    "a raw cell": (
        changed('# %% tags=["demo"]', f"# %% [raw]{HERE}"),
        "a cell of type raw",
        "Use `# %%` for code",
    ),
    "text above the first marker": (
        f"# A licence.{HERE}\n\n" + TINY,
        "there is text above the first `# %%` marker",
        "Put a marker above it",
    ),
    "a string that swallows a marker": (
        changed(
            '# %% solution="square"\ndef square(x):\n    """The square of x."""',
            f'# %% solution="square"{HERE}\ndef square(x):\n    """The square of x.',
        ),
        "the cell that begins here runs over the next `# %%` marker, on line 23",
        "Close its triple-quoted string",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named_with_its_file_line_and_remedy(tmp_path: Path, case: str) -> None:
    marked, problem, remedy = MISTAKES[case]
    assert marked.count(HERE) == 1
    line = line_of(marked, HERE)
    with pytest.raises(AuthorError) as caught:
        read(tmp_path, marked.replace(HERE, ""))
    place, rest = str(caught.value).split(": ", 1)
    assert place == f"{tmp_path}/solutions/01_tiny.py:{line}"
    assert problem in rest
    assert remedy in rest


def names_taken() -> list[str]:
    """What a hidden test's `student` has itself, and the cells that the course adds."""
    student = Student(Session([]), {})
    return ["_x", "result", *(name for name in dir(student) if not name.startswith("__"))]


@pytest.mark.parametrize("name", [*names_taken(), "colab"])
def test_a_name_that_the_grader_uses_itself_is_refused(tmp_path: Path, name: str) -> None:
    text = re.sub(r"\bsquare\b", name, TINY)
    with pytest.raises(AuthorError, match=rf"\b{name}\b.*[Cc]hoose another name"):
        read(tmp_path, text)
