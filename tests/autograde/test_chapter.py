"""Where the parts of a chapter are, and the setting that names the students' library."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograde import chapter
from autograde.chapter import Chapter, chapter_names, require_chapter

ASK = "from autograde.chapter import LIBRARY, library_folders; print(LIBRARY, library_folders())"


def library_of(course: Path, settings: str) -> subprocess.CompletedProcess:
    """What a course with these settings takes for its library."""
    (course / "autograde").mkdir()
    (course / "autograde" / "__init__.py").touch()
    shutil.copy(chapter.__file__, course / "autograde")
    (course / "pyproject.toml").write_text(settings)
    command = [sys.executable, "-c", ASK]
    return subprocess.run(command, cwd=course, capture_output=True, text=True)


def test_every_part_of_every_chapter_is_there():
    for name in chapter_names():
        one = Chapter(name)
        parts = (one.source, one.solution, one.release, one.tests, one.wrong)
        assert all(part.is_file() for part in parts)
        assert Path(one.import_tests().__file__) == one.tests
        assert Path(one.import_wrong().__file__) == one.wrong


def test_an_unknown_chapter_is_named_beside_the_known_ones():
    require_chapter(None)
    require_chapter(chapter_names()[0])
    with pytest.raises(ValueError, match=f"no chapter 99_x. There are: {chapter_names()[0]}, "):
        require_chapter("99_x")


def test_the_library_is_the_package_that_the_settings_name(tmp_path: Path):
    (tmp_path / "physics").mkdir()
    (tmp_path / "physics" / "__init__.py").write_text("raise ImportError('the grader ran this')")
    told = library_of(tmp_path, '[tool.autograde]\nlibrary = "physics"')
    assert told.stdout == f"physics [{tmp_path / 'physics'!r}]\n", told.stderr


def test_a_course_may_have_no_library(tmp_path: Path):
    assert library_of(tmp_path, "").stdout == "None []\n"


def test_a_library_that_is_missing_is_named(tmp_path: Path):
    told = library_of(tmp_path, '[tool.autograde]\nlibrary = "no_such"').stderr
    assert "the library no_such, and no such package is installed" in told
