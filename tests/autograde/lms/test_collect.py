"""Zips of submissions as Canvas and Moodle write them, and names as people choose them."""

from pathlib import Path

import pytest
from data_files import table

from autograde.cli import main
from autograde.intake.files import zip_of
from autograde.lms.collect import Collection, collect_submissions

CHAPTER = "02_rejection_sampling"
LMS = table("lms.toml")
CANVAS, MOODLE, ANONYMOUS = (
    {name: content.encode() for name, content in LMS["collected"][kind].items()}
    for kind in ("canvas", "moodle", "anonymous")
)


def zipped(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "submissions.zip"
    path.write_bytes(zip_of(files))
    return path


def taken(folder: Path, files: dict[str, bytes], lms: str = "canvas") -> Collection:
    archive = zipped(folder, files)
    return collect_submissions(archive, lms, CHAPTER, folder / "submitted")


def below(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_canvas_the_latest_attempt_is_graded(tmp_path: Path):
    result = taken(tmp_path, CANVAS)
    assert below(tmp_path / "submitted") == {
        f"lovelaceada-101/{CHAPTER}/{CHAPTER}.ipynb": b"ada 2",
        f"lovelaceada-103/{CHAPTER}/{CHAPTER}.ipynb": b"another ada",
        f"o-brienzo\u00eb-102/{CHAPTER}/{CHAPTER}.ipynb": b"zoe",
    }
    assert result.late == ["o-brienzo\u00eb-102"] and result.refused == []


@pytest.mark.parametrize("chapter", [CHAPTER, "10_long_run"])
def test_canvas_graded_anonymously_the_code_is_the_person(tmp_path: Path, chapter: str):
    files = {name.format(chapter=chapter): content for name, content in ANONYMOUS.items()}
    result = collect_submissions(zipped(tmp_path, files), "canvas", chapter, tmp_path / "submitted")
    people = {path.split("/")[0]: data for path, data in below(tmp_path / "submitted").items()}
    codes = {"anon_12345": b"4", "anon_X7bQ9": b"2", "anon_Zz9aa": b"3", "anon_abcde": b"5"}
    assert people == codes and result.late == ["anon_Zz9aa"] and len(result.refused) == 1
    assert result.prefixes["anon_Zz9aa"] == "LATE_anon_Zz9aa_90003_"


def test_moodle_people_of_one_name_stay_apart(tmp_path: Path):
    assert taken(tmp_path, MOODLE, "moodle").refused == []
    assert below(tmp_path / "submitted") == {
        f"Ada-Lovelace-201/{CHAPTER}/{CHAPTER}.ipynb": b"ada",
        f"Ada-Lovelace-203/{CHAPTER}/{CHAPTER}.ipynb": b"another ada",
        f"Zo\u00eb-O-Brien-202/{CHAPTER}/{CHAPTER}.ipynb": b"zoe",
    }


@pytest.mark.parametrize(
    "kind, names",
    [
        ("canvas", "ada_101_{number}_{file}.ipynb"),
        ("moodle", "Ada_101_assignsubmission_file_/{file}.ipynb"),
    ],
)
@pytest.mark.parametrize("files", [(CHAPTER, "notes-2"), (CHAPTER, f"{CHAPTER} (1)", "notes (7)")])
def test_of_several_notebooks_the_newest_called_after_the_chapter_is_graded(
    tmp_path: Path, kind: str, names: str, files: tuple[str, ...]
):
    entries = {names.format(number=9000, file=each): each.encode() for each in files}
    assert taken(tmp_path, entries, kind).refused == []
    assert [*below(tmp_path / "submitted").values()] == [files[-2].encode()]


def test_a_later_zip_takes_the_place_of_an_earlier_one(tmp_path: Path):
    first = {f"ada_101_900{i}_{CHAPTER}.ipynb": f"{i}".encode() for i in (1, 2)}
    later = {f"ada_101_900{i}_{CHAPTER}.ipynb": f"{i}".encode() for i in (2, 3, 4)}
    taken(tmp_path, first)
    for _ in range(2):
        taken(tmp_path, later)
        assert [*below(tmp_path / "submitted").values()] == [b"4"]


@pytest.mark.parametrize(
    "kind, name",
    [
        ("canvas", "notes_1_2_x.txt"),
        ("canvas", "../escape_1_2_x.ipynb"),
        ("canvas", "large_1_2_x.ipynb"),
        ("moodle", f"Eve_202_assignsubmission_file_x_201_assignsubmission_file_/{CHAPTER}.ipynb"),
    ],
)
def test_what_is_no_notebook_with_a_name_of_the_lms_is_listed_and_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
):
    monkeypatch.setattr("autograde.lms.collect.MAX_BYTES", 1000)
    good = CANVAS if kind == "canvas" else MOODLE
    with pytest.raises(ValueError, match=rf"from {kind}\. In it: .*: (no notebook|over)"):
        taken(tmp_path, {name: b"0" * 2000}, kind)
    result = taken(tmp_path, {**good, name: b"0" * (2000 if "large" in name else 1)}, kind)
    assert len(result.refused) == 1 and len(result.prefixes) == 3
    assert set(below(tmp_path / "submitted").values()) <= set(good.values())


def test_a_file_called_like_another_persons_is_its_authors(tmp_path: Path):
    taken(tmp_path, {f"kingada_201_9001_x_202_9009_{CHAPTER}.ipynb": b"ada's"})
    assert [path.name for path in (tmp_path / "submitted").iterdir()] == ["kingada-201"]


LONG = ("\U00020000" * 90, "\U00020000" * 37)


@pytest.mark.parametrize("name, folder", [*LMS["folders"].items(), LONG])
def test_a_name_of_any_kind_becomes_a_folder_and_keeps_no_others_from_being_taken(
    tmp_path: Path, name: str, folder: str
):
    files = {f"{n}_201_assignsubmission_file_/{CHAPTER}.ipynb": b"1" for n in (name, "Zoe")}
    command = ["collect", str(zipped(tmp_path, files)), "--format", "moodle", "--chapter", CHAPTER]
    assert main([*command, "--course", str(tmp_path)]) == 0
    folders = {path.name for path in (tmp_path / "submitted").iterdir()}
    assert folders == {f"{folder}-201", "Zoe-201"}
