"""Results files: whole after every row, nothing overwritten, two of them side by side."""

import json
import subprocess
from pathlib import Path

import pytest

from specdec_lib.cli import main
from specdec_lib.measure.experiment import results_file
from specdec_lib.measure.experiment.results_file import Results, ResultsError, commit, read

ROW = {"target": "234m", "draft": "base", "task": "code", "temperature": 1}
MACHINE = {"device": "cpu", "dtype": "bfloat16", "threads": 2}


def table(**parts: object) -> str:
    """A file's text, as of `Results` but for `parts`."""
    usual = {"layout": results_file.LAYOUT, "machine": {}, "versions": {}, "rows": []}
    return json.dumps(usual | parts)


def results_of(path: Path, rows: list[dict], **machine: object) -> Path:
    results = Results(path, "your", MACHINE | machine)
    for row in rows:
        results.add(row)
    return path


def test_the_file_is_whole_after_every_row(tmp_path):
    results = Results(tmp_path / "a.json", "your", MACHINE)
    for number in range(3):
        assert len(read(results.path)["rows"]) == number
        results.add(ROW | {"alpha": 0.5})
    content = read(results.path)
    assert content["decoder"] == "your" and content["machine"] == MACHINE
    assert set(content["versions"]) == {"python", *results_file.PACKAGES}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]  # nothing half-written is left


def test_a_file_that_is_there_is_not_overwritten(tmp_path):
    path = results_of(tmp_path / "a.json", [ROW])
    with pytest.raises(FileExistsError, match="is there already: choose another name"):
        Results(path, "your", MACHINE)
    assert len(read(path)["rows"]) == 1


def test_what_cannot_be_written_is_said_and_nothing_is_lost(tmp_path):
    with pytest.raises(ResultsError, match="a.json cannot be written: Not a directory. Make room"):
        Results(results_of(tmp_path / "file", []) / "a.json", "your", MACHINE)
    results = Results(tmp_path / "sub.json", "your", MACHINE)
    results.path.unlink()
    results.path.mkdir()  # nothing can take its place
    with pytest.raises(ResultsError, match="sub.json cannot be written: Is a directory"):
        results.add(ROW)
    assert results.rows == [ROW] and sorted(each.name for each in tmp_path.iterdir()) == [
        "file",
        "sub.json",
    ]


def test_the_commit_is_told_within_git_and_unknown_without(tmp_path, monkeypatch):
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True)

    assert commit(tmp_path) is None
    git("init")
    (tmp_path / "f").write_text("1")
    git("add", "f")
    git("commit", "-m", "one")
    first = commit(tmp_path)
    assert len(first) == 40
    (tmp_path / "f").write_text("2")
    assert commit(tmp_path) == f"{first}+"
    monkeypatch.setenv("PATH", str(tmp_path))  # no git at all
    assert commit(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is no table of results"),
        ('{"rows": []}', "is no table of results"),
        (table(layout=9), "has layout 9, and .* reads 1"),
        ("[" * 100_000, "is not JSON"),
        (table(machine=[]), 'its "machine" should be dict, not list'),
        (table(rows={}), 'its "rows" should be list, not dict'),
        (table(rows=[3]), "row 1 should be dict, not int"),
        (table(rows=[{}, {"alpha": "high"}]), "row 2 has 'high' for \"alpha\""),
        (table(rows=[{"empirical": {"low": 1.0}}]), "row 1 has {'low': 1.0} for \"empirical\""),
        (table(rows=[{"target": ["a"]}]), "row 1 has .'a'. for \"target\""),
    ],
)
def test_what_is_no_table_is_said(tmp_path, text: str, message: str, capsys):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ResultsError, match=message):
        read(path)
    assert main(["compare", str(path), str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"specdec: {path}")


def test_two_machines_side_by_side(tmp_path, capsys):
    spread = {"median": 1.234, "low": 1.0, "high": 1.5}
    first = [ROW | {"alpha": 0.64, "c": 0.02, "k": 4, "expected": 1.5, "empirical": spread}]
    only = ROW | {"target": "7b", "alpha": 0.5, "c": 0.01, "k": 8, "expected": 2.5}
    one = results_of(tmp_path / "a.json", first)
    other = results_of(tmp_path / "b.json", [first[0] | {"empirical": None}, only], threads=16)
    content = json.loads(other.read_text())
    content["versions"]["torch"] = "9.9"
    other.write_text(json.dumps(content))
    assert main(["compare", str(one), str(other)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "your decoder on cpu in bfloat16, 1 rows" in lines[0]
    assert "   threads differs: 2 in A, 16 in B" in lines
    assert any("torch differs" in line and "9.9 in B" in line for line in lines)
    (shared,) = (line for line in lines if line.startswith("234m, base, code, 1"))
    assert "0.64 | 0.64" in shared and "4 | 4" in shared and "1.23 | -" in shared
    (single,) = (line for line in lines if line.startswith("7b, base, code, 1"))
    assert "- | 0.50" in single and "- | 8" in single


def test_empty_tables_are_said(tmp_path, capsys):
    path = str(results_of(tmp_path / "a.json", []))
    assert main(["compare", path, path]) == 0
    assert capsys.readouterr().out.endswith("Neither file has a row.\n")


def test_a_file_that_is_missing_is_named(tmp_path, capsys):
    assert main(["compare", str(tmp_path / "none.json"), str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
