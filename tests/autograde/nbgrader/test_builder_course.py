"""nbgrader's configuration: the folders of a class."""

from pathlib import Path

import pytest

from autograde.chapter import BUILD, ROOT
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


def test_a_class_has_settings_of_its_own_which_are_read_last(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("SPECDEC_COURSE", str(tmp_path))
    (tmp_path / course.CONFIG_NAME).write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "week"\nc.GenerateFeedback.force = False\n'
    )
    config = course.load_config()
    assert (config.CourseDirectory.course_id, config.GenerateFeedback.force) == ("week", False)
    assert config.CourseDirectory.submitted_directory == str(tmp_path / "submitted")


def test_a_folder_that_nbgrader_cannot_take_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nbgrader cannot work in a folder with \+ in its name"):
        course.set_folders(course.load_config(), tmp_path / "c++")
