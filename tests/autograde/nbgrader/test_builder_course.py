"""nbgrader's configuration: the folders of a class."""

import os
from pathlib import Path

import pytest
from classes.builder_fixtures import write_chapter
from nbgrader.apps import NbGraderAPI

from autograde.build.release import build, release_into
from autograde.chapter import BUILD, ROOT, notebook_path
from autograde.nbgrader import config as course


def test_the_folders_of_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEC_COURSE", str(tmp_path / "new" / "class"))
    config = course.load_config()
    folders = config.CourseDirectory
    assert folders.root == str(ROOT)
    assert folders.source_directory == "solutions"
    assert folders.submitted_directory == str(tmp_path / "new" / "class" / "submitted")
    assert folders.db_url == f"sqlite:///{tmp_path}/new/class/gradebook.db"
    assert (tmp_path / "new" / "class").is_dir()
    course.set_folders(config, BUILD / "sample-course")
    assert folders.submitted_directory == "build/sample-course/submitted"
    assert config.HTMLExporter.sanitize_html is True


def test_a_folder_that_nbgrader_cannot_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nbgrader cannot work in a folder with \+ in its name"):
        course.set_folders(course.load_config(), tmp_path / "c++")


def test_own_commands_come_first_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    course.own_commands_first()
    once = os.environ["PATH"]
    course.own_commands_first()
    assert os.environ["PATH"] == once
    assert once.endswith(os.pathsep + "/usr/bin")


def test_autograde_finds_a_class_with_a_blank_in_its_name(tmp_path: Path) -> None:
    """The folders with nbgrader's own converters; nothing is executed here."""
    solutions = write_chapter(tmp_path)
    build(solutions, tmp_path / "notebooks")
    home = tmp_path / "my class.2"
    release_into(home, None, solutions)
    submitted = notebook_path(home / "submitted" / "ada", "01_tiny")
    submitted.parent.mkdir(parents=True)
    submitted.write_bytes(notebook_path(tmp_path / "notebooks", "01_tiny").read_bytes())
    (submitted.parent / "timestamp.txt").write_text("2030-01-02 03:04:05 UTC")

    config = course.load_config()
    course.set_folders(config, home, solutions)
    config.Autograde.exporter_class = "nbconvert.exporters.NotebookExporter"
    config.Autograde.autograde_preprocessors = ["nbgrader.preprocessors.CheckCellMetadata"]
    config.Autograde.post_convert_hook = None
    api = NbGraderAPI(config=config, log_level="CRITICAL")
    assert api.get_submitted_students("01_tiny") == {"ada"}
    result = api.autograde("01_tiny", "ada")
    assert result["success"], result
    graded = home / "autograded" / "ada" / "01_tiny"
    assert sorted(path.name for path in graded.iterdir()) == ["01_tiny.ipynb", "timestamp.txt"]
    assert api.get_autograded_students("01_tiny") == {"ada"}
