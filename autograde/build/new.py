"""The folder of a new course in another subject: the grader's code and a small chapter."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograde.course import ROOT, TESTS, UsageError
from autograde.intake.files import files_below, write_if_changed

EXAMPLE = ROOT / "examples" / "temperatures"
# What the grader and the builder import, and JupyterLab, in which the notebooks are looked at.
NEEDED = {"docutils", "jupyterlab", "nbclient", "nbgrader", "numpy", "rich", "tqdm", "typer"}
IGNORED = "/build/\n/course/\n/.venv/\n__pycache__/\n*.egg-info/\n"


def new_course(folder: Path) -> int:
    """Write a course with a chapter about temperatures to `folder`; returns the number of files.

    Raises UsageError for a folder that holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty: choose another name")
    files = dict(_files(folder.resolve().name))
    for name, data in files.items():
        write_if_changed(folder / name, data)
    return len(files)


def _files(name: str) -> Iterator[tuple[str, bytes]]:
    """Every file of a course called `name`: its place, and its bytes."""
    for path in files_below(ROOT / "autograde"):
        if not path.is_relative_to(TESTS):
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    for path in files_below(EXAMPLE):
        yield path.relative_to(EXAMPLE).as_posix(), path.read_bytes()
    yield "autograde/LICENSE", (ROOT / "LICENSE").read_bytes()  # the grader's, not the course's
    yield "nbgrader_config.py", (ROOT / "nbgrader_config.py").read_bytes()
    yield "pyproject.toml", _project(name).encode()
    yield ".gitignore", IGNORED.encode()


def _project(name: str) -> str:
    """The example's pyproject.toml with the course's name, and the versions that this one has."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ours["optional-dependencies"]
    lines = [*extras["course"], *extras["instructor"], *ours["dependencies"]]
    needed = [line for line in lines if re.match(r"[\w-]+", line)[0] in NEEDED]
    text = (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    text = text.replace('"temperatures"', json.dumps(name))
    return re.sub(r"grader = .*", lambda _: f"grader = {json.dumps(needed)}", text)
