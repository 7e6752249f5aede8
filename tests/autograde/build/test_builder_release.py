"""Source notebook to student release: same bytes by every way, nothing leaked, nothing lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from classes.builder_fixtures import TINY, tiny_with, write_chapter
from classes.submitting import with_cell_source
from data_files import table
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.server_extensions.formgrader.formgrader import FormgradeExtension
from traitlets.config import Config

from autograde.build.release import build_chapters, outdated_notebooks, release_into
from autograde.course import ROOT, AuthorError, chapter_names, notebook_path

TABLE = table("builder.toml")
TWO = TINY.replace("# A tiny chapter", "# Another")


@pytest.fixture(autouse=True)
def no_real_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reads the configuration gets a class of its own."""
    monkeypatch.setenv("SPECDEC_COURSE", str(tmp_path / "course"))


def built(folder: Path, text: str = TINY) -> tuple[Path, Path]:
    """(solutions, notebooks) after a build of one chapter."""
    solutions = write_chapter(folder, text)
    build_chapters(solutions, folder / "notebooks")
    return solutions, folder / "notebooks"


def read(folder: Path, chapter: str = "01_tiny") -> NotebookNode:
    return nbformat.read(notebook_path(folder, chapter), as_version=4)


def all_bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_committed_notebooks_are_in_step_with_their_texts() -> None:
    assert chapter_names() and outdated_notebooks() == []


def test_the_stubs(tmp_path: Path) -> None:
    cells = {cell.id: cell.source for cell in read(built(tmp_path)[1]).cells}
    assert {name: cells[name] for name in TABLE["stubs"]} == TABLE["stubs"]


def test_check_says_what_is_out_of_date_and_a_build_writes_that(tmp_path: Path) -> None:
    write_chapter(tmp_path, TWO, "02_other")
    solutions, notebooks = built(tmp_path)
    assert outdated_notebooks(solutions, notebooks) == [] == build_chapters(solutions, notebooks)
    write_chapter(tmp_path, tiny_with("Some text.", "Some more text."))
    stale = [notebook_path(folder, "01_tiny") for folder in (solutions, notebooks)]
    assert build_chapters(solutions, notebooks, ["02_other"]) == []
    assert outdated_notebooks(solutions, notebooks) == [
        f"{path}: out of date; run autograde build" for path in stale
    ]
    assert build_chapters(solutions, notebooks) == stale
    assert "Some more text." in read(notebooks).cells[0].source
    (solutions / "02_other.py").unlink()
    gone = [str(folder / "02_other") for folder in (notebooks, solutions)]
    assert [line.split(": ")[0] for line in outdated_notebooks(solutions, notebooks)] == gone


def test_nbgraders_own_ways_give_the_same_bytes(tmp_path: Path, monkeypatch):
    """Its command, from another folder and without the environment activated; formgrader's button;
    and the release into a class.
    """
    solutions, notebooks = built(tmp_path)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "01_tiny"]
    command += [f"--course-dir={ROOT}", f"--CourseDirectory.source_directory={solutions}"]
    ours = {"SPECDEC_COURSE": str(tmp_path / "class"), "PYTHONPATH": str(ROOT)}
    env = os.environ | ours | {"PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, env=env, check=True, timeout=120)
    assert all_bytes(tmp_path / "class" / "release") == all_bytes(notebooks)

    monkeypatch.chdir(ROOT)
    formgrader = FormgradeExtension()
    formgrader.initialize([])
    formgrader.coursedir.source_directory = str(solutions)
    json.dumps(formgrader.config)  # its page shows the configuration
    api = NbGraderAPI(formgrader.coursedir, parent=formgrader, log_level="ERROR")
    assert api.generate_assignment("01_tiny")["success"]
    assert all_bytes(tmp_path / "course" / "release") == all_bytes(notebooks)

    course = tmp_path / "a class"
    release_into(course, None, solutions)
    assert all_bytes(course / "release") == all_bytes(notebooks)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_assignment("01_tiny").max_score == 7.0


@pytest.mark.parametrize("fault", ["square", "quiz_01", "why", "broken text"])
def test_nothing_is_written_over_answers_or_if_one_chapter_is_wrong(tmp_path: Path, fault: str):
    write_chapter(tmp_path, TWO, "02_other")
    solutions, notebooks = built(tmp_path)
    write_chapter(tmp_path, tiny_with("Some text.", "Some more text."))
    if fault == "broken text":
        write_chapter(tmp_path, TWO.replace("points=3", "points=0"), "02_other")
    else:
        target = notebook_path(notebooks, "01_tiny")
        nbformat.write(with_cell_source(read(notebooks), fault, "mine"), target)
    before = all_bytes(tmp_path)
    with pytest.raises(AuthorError, match=rf"points=0|holds answers \({fault}\)"):
        build_chapters(solutions, notebooks)
    assert all_bytes(tmp_path) == before


@pytest.mark.parametrize("cell_id, text", TABLE["answers"].items())
def test_an_answer_in_the_text_stops_the_build(tmp_path: Path, cell_id: str, text: str):
    with_answer = tiny_with("# Some text.", "# " + text.replace("\n", "\n# "))
    if not cell_id:
        built(tmp_path, with_answer)
        return
    with pytest.raises(AuthorError, match=f"01_tiny: cell {cell_id}: the release holds its answer"):
        built(tmp_path, with_answer)


def test_plain_nbgrader_gives_nothing_and_says_why(tmp_path: Path) -> None:
    """Without the repository's configuration a right answer is not marked as if it were tested."""
    solutions = built(tmp_path)[0]
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    config.CourseDirectory.source_directory = "solutions"
    api = NbGraderAPI(config=config, log_level="CRITICAL")
    assert api.generate_assignment("01_tiny")["success"]
    submitted = notebook_path(tmp_path / "submitted" / "ada", "01_tiny")
    submitted.parent.mkdir(parents=True)
    submitted.write_bytes(notebook_path(solutions, "01_tiny").read_bytes())
    assert api.autograde("01_tiny", "ada")["success"]
    with api.gradebook as gradebook:
        assert gradebook.find_submission("01_tiny", "ada").score == 0
    graded = notebook_path(tmp_path / "autograded" / "ada", "01_tiny").read_text()
    assert graded.count('"evalue": "graded only with the repository\'s nbgrader_config.py"') == 3
