"""Text to source notebook: the metadata, the ids, and a message for every mistake."""

import os
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
from classes.builder_fixtures import TINY, line_of, tiny_with, write_chapter
from data_files import table
from nbgrader.nbgraderformat import MetadataValidator

from autograde.build import colab
from autograde.build.checks import RESERVED_NAMES
from autograde.build.source import read_chapter
from autograde.course import AuthorError
from autograde.intake.submission import is_demo


def read(folder: Path, text: str = TINY) -> nbformat.NotebookNode:
    return read_chapter(write_chapter(folder, text) / "01_tiny.py")


def test_cells_have_ids_of_names_and_headings_and_nbgraders_metadata(tmp_path: Path) -> None:
    notebook = read(tmp_path)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    top, quiz = "a-tiny-chapter-1 colab a-tiny-chapter-2", "a-quiz-1 quiz_01 test_quiz_01"
    guess = "prediction_01 test_prediction_01"
    cells = {cell.id: cell.metadata for cell in notebook.cells}
    assert list(cells) == f"{top} square test_square {quiz} {guess} why a-quiz-2".split()
    marks = {
        name: [cells[name]["nbgrader"][key] for key in ("solution", "grade", "locked")]
        for name in ("square", "test_square", "why")
    }
    assert marks == {
        "square": [True, False, False],
        "test_square": [False, True, True],
        "why": [True, True, False],
    }
    assert [cells[name]["nbgrader"]["points"] for name in ("test_square", "why")] == [3, 2.5]


ADDRESS = "https://github.com/somebody/specdec"


def installed_by_the_cell_for_colab(folder: Path) -> list[str]:
    """What its cell asks pip for, executed in this process."""
    (cell,) = [cell for cell in read(folder).cells if cell.id == "colab"]
    assert is_demo(cell)  # the grader leaves it out
    asked = []
    shell = SimpleNamespace(run_line_magic=lambda pip, line: asked.append(line))
    exec(cell.source, {"get_ipython": lambda: shell})
    return asked


def test_the_cell_for_colab_installs_there_only(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(colab, "repository", lambda: None)
    assert installed_by_the_cell_for_colab(tmp_path) == []
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    with pytest.raises(FileNotFoundError, match="Put the course's zip into the file panel, then"):
        installed_by_the_cell_for_colab(tmp_path)
    for when, name in enumerate(("specdec-course.zip", "specdec-main (1).zip")):  # GitHub's
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (when, when))
        assert installed_by_the_cell_for_colab(tmp_path) == [f'install --quiet "{name}[colab]"']


def test_a_chapter_of_a_repository_on_github_is_opened_in_colab_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(colab, "repository", lambda: ADDRESS)
    line = read(tmp_path).cells[0].source.splitlines()[-1]
    assert line.endswith("/github/somebody/specdec/blob/main/notebooks/01_tiny/01_tiny.ipynb)")
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    assert installed_by_the_cell_for_colab(tmp_path)[0].endswith(f'[colab] @ git+{ADDRESS}"')


TABLE = table("builder.toml")
HERE = "<here>"  # taken out of a text; it stands on the line that the message must name


@pytest.mark.parametrize("old, new, said", TABLE["mistakes"])
def test_a_mistake_is_named_with_its_file_line_and_remedy(tmp_path, old, new, said) -> None:
    text = tiny_with(old, new)
    with pytest.raises(AuthorError) as caught:
        read(tmp_path, text.replace(HERE, ""))
    line = line_of(text, HERE) if HERE in text else r"\d+"
    place, rest = str(caught.value).split(": ", 1)
    assert re.fullmatch(rf"{tmp_path}/solutions/01_tiny.py:{line}", place) and said in rest


@pytest.mark.parametrize("name", [*RESERVED_NAMES, *TABLE["unusable"]])
def test_a_name_that_the_grader_needs_or_cannot_use_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(AuthorError, match=re.escape(name)) as caught:
        read(tmp_path, TINY.replace('"square"', f'"{name}"'))
    assert ("Names of the grader's" in str(caught.value)) == (name in RESERVED_NAMES)
    reserved = {"calls", "pass_message", "profile", "session", "value", "colab", "result"}
    assert reserved <= set(RESERVED_NAMES)
