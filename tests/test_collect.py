"""Zips of submissions as Canvas and Moodle write them, and as an attacker might."""

import stat
import zipfile
from pathlib import Path

import pytest

from autograde.cli import main
from autograde.lms import archives
from autograde.lms.collect import Collected, collect

CHAPTER = "02_rejection_sampling"
CANVAS = {
    "lovelaceada_101_9001_02_rejection_sampling.ipynb": b"ada 1",
    "lovelaceada_101_9001_02_rejection_sampling-1.ipynb": b"ada 2",
    "o'brienzo\u00eb_LATE_102_9002_my answer.ipynb": b"zoe",
    "lovelaceada_103_9003_02_rejection_sampling.ipynb": b"another ada",
}
MOODLE = {
    "Ada Lovelace_201_assignsubmission_file_/02_rejection_sampling.ipynb": b"ada",
    "Zo\u00eb O'Brien_202_assignsubmission_file_/work.ipynb": b"zoe",
    "Ada Lovelace_203_assignsubmission_file_02_rejection_sampling.ipynb": b"another ada",
}


def zipped(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "submissions.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def taken(folder: Path, files: dict[str, bytes], kind: str = "canvas") -> Collected:
    archive = zipped(folder, files)
    return collect(archive, kind, CHAPTER, folder / "submitted", folder / "attempts")


def below(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_canvas_the_latest_attempt_is_graded_and_the_others_are_kept(tmp_path: Path):
    result = taken(tmp_path, CANVAS)
    assert below(tmp_path / "submitted") == {
        f"lovelaceada-101/{CHAPTER}/{CHAPTER}.ipynb": b"ada 2",
        f"lovelaceada-103/{CHAPTER}/{CHAPTER}.ipynb": b"another ada",
        f"o-brienzo\u00eb-102/{CHAPTER}/{CHAPTER}.ipynb": b"zoe",
    }
    assert below(tmp_path / "attempts") == {f"lovelaceada-101/{CHAPTER}/attempt-1.ipynb": b"ada 1"}
    assert result.late == ["o-brienzo\u00eb-102"] and result.refused == []


def test_moodle_people_of_one_name_stay_apart(tmp_path: Path):
    assert taken(tmp_path, MOODLE, "moodle").refused == []
    assert below(tmp_path / "submitted") == {
        f"Ada-Lovelace-201/{CHAPTER}/{CHAPTER}.ipynb": b"ada",
        f"Ada-Lovelace-203/{CHAPTER}/{CHAPTER}.ipynb": b"another ada",
        f"Zo\u00eb-O-Brien-202/{CHAPTER}/{CHAPTER}.ipynb": b"zoe",
    }


def test_the_same_zip_twice_changes_nothing_and_a_later_one_keeps_what_was(tmp_path: Path):
    taken(tmp_path, CANVAS)
    before = below(tmp_path)
    taken(tmp_path, CANVAS)
    assert below(tmp_path) == before
    name = "lovelaceada_103_9003_02_rejection_sampling.ipynb"
    result = taken(tmp_path, {name: b"better"})
    assert result.kept_apart == ["lovelaceada-103: what was there before, as replaced-1"]
    kept = tmp_path / "attempts" / "lovelaceada-103" / CHAPTER / "replaced-1.ipynb"
    assert kept.read_bytes() == b"another ada"


@pytest.mark.parametrize(
    "name",
    [
        "../escape_1_2_x.ipynb",
        "/etc/passwd_1_2_x.ipynb",
        "..\\escape_1_2_x.ipynb",
        "C:evil_1_2_x.ipynb",
        "line\nbreak_1_2_x.ipynb",
        "notes_1_2_x.txt",
        "x.ipynb",
    ],
)
def test_what_is_no_notebook_with_a_name_of_the_lms_is_refused_with_a_line(tmp_path, name):
    result = taken(tmp_path, {**CANVAS, name: b"bad"})
    assert len(result.refused) == 1 and len(result.taken) == 3
    assert b"bad" not in below(tmp_path / "submitted").values()
    assert not (tmp_path.parent / "escape_1_2_x.ipynb").exists()


def test_links_and_files_that_are_too_large_are_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_BYTES", 1000)
    archive = zipped(tmp_path, CANVAS | {"bomb_1_2_x.ipynb": b"0" * 100_000})
    link = zipfile.ZipInfo("link_3_4_x.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(link, "/etc/passwd")
    result = collect(archive, "canvas", CHAPTER, tmp_path / "s", tmp_path / "a")
    assert [line.split(": ")[1][:10] for line in result.refused] == ["it would b", "it is a li"]


def test_a_zip_of_something_else_says_what_is_expected(tmp_path: Path):
    with pytest.raises(ValueError, match="no notebook in it has a name as moodle writes them"):
        taken(tmp_path, CANVAS, "moodle")
    path = tmp_path / "no.zip"
    path.write_text("no zip")
    with pytest.raises(ValueError, match="is not a zip file"):
        collect(path, "canvas", CHAPTER, tmp_path / "s", tmp_path / "a")


def test_too_many_files_are_not_read(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILES", 3)
    with pytest.raises(ValueError, match="4 files; at most 3 are read"):
        taken(tmp_path, CANVAS)


def test_the_command(tmp_path: Path, capsys):
    archive = zipped(tmp_path, CANVAS | {"x.txt": b""})
    words = ["collect", str(archive), "--format", "canvas", "--course", str(tmp_path)]
    assert main([*words, "--chapter", CHAPTER]) == 1
    printed = capsys.readouterr().out
    assert "3 students' notebooks are in" in printed and "x.txt: it is no notebook" in printed
    assert main([*words, "--chapter", "99_none"]) == 2
