"""Grading on a dask cluster of two local workers: the same results, and clear refusals."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from classes.submitting import CHAPTER

from autograde import cache, pool
from autograde.cli import main
from autograde.pool import grade_class
from autograde.tools.samples import write_class

pytestmark = pytest.mark.cluster
KINDS = ("right", "wrong", "broken")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler with two workers, in processes of their own."""
    from distributed import LocalCluster

    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local.scheduler_address


@pytest.fixture
def submitted(tmp_path: Path) -> Path:
    write_class(tmp_path / "class", [CHAPTER], 3, KINDS, salt="on a cluster")
    return tmp_path / "class"


def test_the_same_bytes_as_on_this_machine(address: str, submitted: Path, tmp_path, monkeypatch):
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    for out, option in ((here, "--workers=1"), (there, f"--scheduler={address}")):
        monkeypatch.setattr(cache, "FOLDER", tmp_path / out.stem)
        assert main(["grade", str(submitted), option, "--json", str(out)]) == 0
    assert there.read_bytes() == here.read_bytes()
    statuses = [s[CHAPTER]["status"] for s in json.loads(here.read_text())["students"].values()]
    assert statuses == ["graded", "graded", "failed"]
    assert sorted(p.name for p in (tmp_path / "there").iterdir()) == sorted(
        p.name for p in (tmp_path / "here").iterdir()
    )


def test_a_worker_with_other_code_is_refused(address: str, submitted: Path, monkeypatch):
    monkeypatch.setattr(pool, "grader_fingerprint", changed_fingerprint)
    with pytest.raises(ValueError, match="has another version"):
        grade_class(submitted, scheduler=address)


def changed_fingerprint(chapter: str) -> str:
    """Another value in every process."""
    import os

    return str(os.getpid())


@pytest.mark.parametrize(
    "workers, words",
    [({}, "no worker has joined"), ({"tcp://a": 1, "tcp://b": 4}, "b has 4 threads")],
)
def test_unfit_workers_are_named(workers: dict, words: str):
    with pytest.raises(ValueError, match=words):
        pool.require_single_threads("tcp://x", workers)


def test_no_scheduler_says_so(submitted: Path, monkeypatch, capsys):
    monkeypatch.setattr(pool, "CONNECT_SECONDS", 1)
    assert main(["grade", str(submitted), "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
