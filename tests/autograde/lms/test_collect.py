"""Zips of submissions as Canvas and Moodle write them, and as an attacker might."""

import stat
import zipfile
from pathlib import Path

import pytest

from autograde.cli import main
from autograde.files import zip_of
from autograde.lms import collect as collecting
from autograde.lms.collect import KEPT, LATE, OTHER_NAME, REFUSED, Collected, collect

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
    path.write_bytes(zip_of(files))  # no clock in it: written twice it is the same
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
    assert result.said[LATE] == ["o-brienzo\u00eb-102"] and result.said[REFUSED] == []


def test_moodle_people_of_one_name_stay_apart(tmp_path: Path):
    assert taken(tmp_path, MOODLE, "moodle").said[REFUSED] == []
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
    taken(tmp_path, {name: b"better"})
    kept = tmp_path / "attempts" / "lovelaceada-103" / CHAPTER / "attempt-1.ipynb"
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
    assert len(result.said[REFUSED]) == 1 and len(list(result.names)) == 3
    assert b"bad" not in below(tmp_path / "submitted").values()
    assert not (tmp_path.parent / "escape_1_2_x.ipynb").exists()


def test_links_and_files_that_are_too_large_are_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(collecting, "MAX_BYTES", 1000)
    archive = zipped(tmp_path, CANVAS | {"bomb_1_2_x.ipynb": b"0" * 100_000})
    link = zipfile.ZipInfo("link_3_4_x.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(link, "/etc/passwd")
    result = collect(archive, "canvas", CHAPTER, tmp_path / "s", tmp_path / "a")
    assert [line.split(": ")[1][:10] for line in result.said[REFUSED]] == [
        "it would b",
        "it is a li",
    ]


@pytest.mark.parametrize(
    "kind, names",
    [
        ("canvas", "ada_101_{number}_{file}.ipynb"),
        ("moodle", "Ada_101_assignsubmission_file_/{file}.ipynb"),
    ],
)
@pytest.mark.parametrize("files", [[CHAPTER, "notes-2"], ["notes-2", CHAPTER]])
def test_of_two_notebooks_the_one_called_after_the_chapter_is_graded(tmp_path, kind, names, files):
    zipped_as = {
        names.format(number=9000 + i, file=file): file.encode() for i, file in enumerate(files)
    }
    result = taken(tmp_path, zipped_as, kind)
    (graded,) = below(tmp_path / "submitted").values()
    assert graded == CHAPTER.encode() and result.said[OTHER_NAME] == []
    assert list(below(tmp_path / "attempts").values()) == [b"notes-2"]
    (line,) = result.said[KEPT]
    assert "notes-2.ipynb, as attempt-1" in line


def test_where_no_notebook_is_called_after_the_chapter_a_line_says_which_is_graded(tmp_path: Path):
    files = {
        "ada_101_9002_second.ipynb": b"second",
        "ada_101_9001_first.ipynb": b"first",
        "ben_102_9003_02_rejection_sampling-1.ipynb": b"ben",
    }
    result = taken(tmp_path, files)
    assert set(below(tmp_path / "submitted").values()) == {b"second", b"ben"}
    (line,) = result.said[OTHER_NAME]
    assert line.startswith(f"ada-101: there is no readable {CHAPTER}.ipynb, so ada_101_9002_second")


def test_a_kept_attempt_is_never_written_over(tmp_path: Path):
    first = {f"ada_101_900{i}_{CHAPTER}.ipynb": f"{i}".encode() for i in (1, 2)}
    later = {f"ada_101_900{i}_{CHAPTER}.ipynb": f"{i}".encode() for i in (2, 3, 4)}
    taken(tmp_path, first)
    taken(tmp_path, later)
    kept = tmp_path / "attempts" / "ada-101" / CHAPTER
    assert sorted(below(kept).values()) == [b"1", b"2", b"3"]
    before = below(tmp_path)
    taken(tmp_path, later)
    assert below(tmp_path) == before
    (kept / "attempt-4.ipynb").write_bytes(b"mine")
    taken(tmp_path, {f"ada_101_9005_{CHAPTER}.ipynb": b"5"})
    assert sorted(below(kept).values()) == [b"1", b"2", b"3", b"4", b"mine"]


def damage(archive: Path, name: str) -> None:
    """Make the compressed bytes of a file in the zip ones that no deflate stream begins with."""
    with zipfile.ZipFile(archive) as opened:
        start = opened.getinfo(name).header_offset + 30 + len(name.encode())
    data = bytearray(archive.read_bytes())
    data[start] = 0xFF
    archive.write_bytes(data)


def test_a_damaged_file_is_refused_with_a_line_and_the_others_are_taken(tmp_path: Path):
    files = {f"{name}_{i}_9_{CHAPTER}.ipynb": name.encode() for i, name in enumerate("abcd")}
    files["b_1_10_notes.ipynb"] = b"notes"
    archive = zipped(tmp_path, files)
    for name in ("b_1_9", "c_2_9"):
        damage(archive, f"{name}_{CHAPTER}.ipynb")
    result = collect(archive, "canvas", CHAPTER, tmp_path / "s", tmp_path / "a")
    assert set(below(tmp_path / "s").values()) == {b"a", b"notes", b"d"}
    assert [line.split(" (")[0] for line in sorted(result.said[REFUSED])] == [
        f"b_1_9_{CHAPTER}.ipynb: cannot be read",
        f"c_2_9_{CHAPTER}.ipynb: cannot be read",
    ]
    assert "invalid block type" in result.said[REFUSED][0]
    assert list(result.names) == ["a-0", "b-1", "d-3"] and len(result.said[OTHER_NAME]) == 1


@pytest.mark.parametrize(
    "kind, name",
    [
        ("moodle", "Ada King_202_assignsubmission_file_x_201_assignsubmission_file_/{}.ipynb"),
        ("moodle", "Ada King_201_assignsubmission_file_202_assignsubmission_file_{}.ipynb"),
        ("canvas", "kingada_201_9001_x_202_9009_{}.ipynb"),
        ("canvas", "kingada_201_9001_202_9009_{}.ipynb"),
        ("canvas", "kingada_LATE_201_9001_x_LATE_202_9009_{}.ipynb"),
    ],
)
def test_a_file_whose_name_could_be_two_persons_is_listed_and_not_taken(tmp_path, kind, name):
    result = taken(tmp_path, {name.format(CHAPTER): b"ada's"}, kind)
    (line,) = result.said[REFUSED]
    assert not result.names and "check in the LMS who submitted it" in line


@pytest.mark.parametrize("letter", ["x", "\u738b", "\U00020000", "e\u0301"])
def test_a_name_too_long_for_a_folder_is_cut_and_the_later_students_are_taken(
    tmp_path: Path, letter: str
):
    names = [f"Ada {letter * 90}", f"Ada {letter * 90} b", f"Ada {letter * 300}", "Zoe"]
    files = {
        f"{n}_{i}_assignsubmission_file_/{CHAPTER}.ipynb": b"%d" % i for i, n in enumerate(names)
    }
    command = ["collect", str(zipped(tmp_path, files)), "--format", "moodle", "--chapter", CHAPTER]
    assert main([*command, "--course", str(tmp_path)]) == 0
    assert sorted(below(tmp_path / "submitted").values()) == [b"0", b"1", b"2", b"3"]
    folders = [path.name for path in (tmp_path / "submitted").iterdir()]
    assert max(len(name.encode()) for name in folders) <= 200


@pytest.mark.parametrize(
    "name, folder",
    [
        ("Zoe\u0308 O'Brien", "Zo\u00eb-O-Brien-201"),  # an accent after its letter
        (".ada", "ada-201"),
        ("ada. ", "ada-201"),
        ("..", "unnamed-201"),
        ("CON", "CON-201"),
        ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0639\u0644\u06cc-\u0631\u0636\u0627-201"),
        ("Ada\xa0King", "Ada-King-201"),
        ("ada\u202egnik", "ada-gnik-201"),
    ],
)
def test_a_name_of_any_kind_becomes_a_folder_that_every_step_takes(tmp_path, name, folder):
    files = {f"{name}_201_assignsubmission_file_/{CHAPTER}.ipynb": b"ada"}
    assert [*taken(tmp_path, files, "moodle").names] == [folder]
    assert [path.name for path in (tmp_path / "submitted").iterdir()] == [folder]


def test_a_student_who_cannot_be_written_stops_nobody(tmp_path: Path):
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "lovelaceada-101").write_text("a file in the folder's place")
    result = taken(tmp_path, CANVAS)
    assert [line.split(" (")[0] for line in result.said[REFUSED]] == [
        "lovelaceada-101: cannot be written"
    ]
    assert list(result.names) == ["lovelaceada-103", "o-brienzo\u00eb-102"]


def test_a_zip_of_something_else_says_what_is_expected(tmp_path: Path):
    with pytest.raises(ValueError, match="no notebook in it has a name as moodle writes them"):
        taken(tmp_path, CANVAS, "moodle")
    path = tmp_path / "no.zip"
    path.write_text("no zip")
    with pytest.raises(ValueError, match="is not a zip file"):
        collect(path, "canvas", CHAPTER, tmp_path / "s", tmp_path / "a")


ANONYMOUS = {
    f"anon_x3Bq9_990002_{CHAPTER}.ipynb": b"first",
    f"LATE_anon_k9Tz2_990005_{CHAPTER}-1.ipynb": b"late",
    f"LATE_anon_12345_990006_{CHAPTER}.ipynb": b"letters that are digits",
}


def test_canvas_anonymous_students_are_told_apart_by_their_letters(tmp_path: Path):
    result = taken(tmp_path, ANONYMOUS)
    assert list(result.names) == ["anon-12345", "anon-k9Tz2", "anon-x3Bq9"]
    assert result.said[LATE] == ["anon-12345", "anon-k9Tz2"] and result.said[REFUSED] == []


@pytest.mark.parametrize(
    "kind, names",
    [
        ("canvas", "ada_101_9001_{file}.ipynb"),
        ("moodle", "Ada_101_assignsubmission_file_/{file}.ipynb"),
    ],
)
def test_of_two_downloads_the_one_that_a_browser_numbered_is_the_newer(tmp_path, kind, names):
    files = [f"{CHAPTER} (2)", CHAPTER, f"{CHAPTER} (1)", "notes (7)"]
    result = taken(tmp_path, {names.format(file=file): file.encode() for file in files}, kind)
    assert list(below(tmp_path / "submitted").values()) == [f"{CHAPTER} (2)".encode()]
    assert len(result.said[KEPT]) == 3
