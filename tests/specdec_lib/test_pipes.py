"""A command whose output is cut off, as by `| head`, ends without a word."""

import subprocess
import sys
from pathlib import Path

import pytest
from classes.submitting import hand_in

from specdec_lib.pipes import CLOSED


def closed(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a module with its stdout a pipe whose reader has gone."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *command],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    process.stdin.write("go\n")
    process.stdin.close()
    error = process.stderr.read()
    return subprocess.CompletedProcess(command, process.wait(60), stderr=error)


# Waits until the reader has gone, so that there is no race.
START = """
import runpy, sys
sys.stdin.readline()
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    "command",
    [
        ("specdec_lib.cli", "update", "--work", "."),
        ("specdec_lib.cli", "pairs"),
        ("autograde", "build", "--check"),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_a_command_quietly(command: tuple[str, ...]):
    done = closed(*command)
    assert (done.returncode, done.stderr) == (CLOSED, "")


def test_a_closed_pipe_ends_a_table_quietly_once_all_is_graded(tmp_path: Path):
    hand_in(tmp_path / "submitted", "ada", "{")
    grades = tmp_path / "grades.json"
    done = closed("autograde", "grade", str(tmp_path / "submitted"), "--json", str(grades))
    assert done.returncode == CLOSED and "rror" not in done.stderr
    assert grades.is_file()


def test_other_faults_of_files_are_still_told(tmp_path: Path):
    missing = tmp_path / "none"
    done = subprocess.run(
        [sys.executable, "-m", "autograde", "grade", str(missing)], capture_output=True, text=True
    )
    assert done.returncode == 2 and "no folder of submissions" in done.stderr
