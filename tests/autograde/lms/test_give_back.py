"""Feedback pages into the zips that Canvas and Moodle take back."""

import zipfile
from pathlib import Path

import pytest
from data_files import table

from autograde.cli import main
from autograde.intake.files import zip_of

CHAPTER = "02_rejection_sampling"
# By platform what was handed in, and what its feedback must be called.
ZIPS = table("lms.toml")["given_back"]


def run(command: str, kind: str, course: Path, *more: str) -> int:
    words = ["--format", kind, "--chapter", CHAPTER, "--course", str(course)]
    return main([command, *more, *words])


def collected(kind: str, folder: Path) -> Path:
    """A class whose notebooks were collected, with a page for everybody."""
    archive, course = folder / "all.zip", folder / "course"
    archive.write_bytes(zip_of(dict.fromkeys(ZIPS[kind], b"{}")))
    assert run("collect", kind, course, str(archive)) == 0
    for student in (course / "submitted").iterdir():
        page = course / "feedback" / student.name / CHAPTER / f"{CHAPTER}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"of {student.name}")
    return course


def whose(kind: str, name: str) -> tuple[str, ...]:
    """Whose a file is, and of which upload, as the LMS's own source reads its name."""
    parts = name.split("_")
    if kind == "moodle":
        person, number, plugin_type, plugin = name.partition("/")[0].split("_", 4)[:4]
        return number, plugin_type, plugin
    return tuple([part for part in parts if part.isdigit()][:2])


@pytest.mark.parametrize("kind", ZIPS)
def test_a_page_goes_back_under_the_name_that_the_lms_knows(kind: str, tmp_path: Path, capsys):
    course = collected(kind, tmp_path)
    assert run("feedback", kind, course) == 0
    assert f"3 pages, under the names that {kind.title()} knows" in capsys.readouterr().out
    with zipfile.ZipFile(course / f"feedback-{CHAPTER}.zip") as opened:
        pages = {name: opened.read(name).decode() for name in opened.namelist()}
    assert sorted(pages) == sorted(ZIPS[kind].values())
    for name, back in ZIPS[kind].items():
        number, *_ = whose(kind, back)
        assert whose(kind, back) == whose(kind, name) and pages[back].endswith(f"-{number}")


def test_somebody_without_a_page_is_named_and_the_others_go_back(tmp_path: Path, capsys):
    course = collected("canvas", tmp_path)
    (course / "feedback" / "lovelaceada-101" / CHAPTER / f"{CHAPTER}.html").unlink()
    assert run("feedback", "canvas", course) == 1
    said = capsys.readouterr().out
    assert "2 pages" in said and said.endswith(":\n  lovelaceada-101\n")


def test_a_later_zip_replaces_a_students_name_and_keeps_the_others(tmp_path: Path):
    course = collected("canvas", tmp_path)
    again = tmp_path / "again.zip"
    again.write_bytes(zip_of({f"lovelaceada_101_9009_{CHAPTER}.ipynb": b"[]"}))
    assert run("collect", "canvas", course, str(again)) == 0
    assert run("feedback", "canvas", course) == 0
    with zipfile.ZipFile(course / f"feedback-{CHAPTER}.zip") as opened:
        numbers = {whose("canvas", name) for name in opened.namelist()}
    assert numbers == {("101", "9009"), ("102", "9002"), ("103", "9003")}
