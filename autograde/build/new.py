"""The folder of a new course in another subject: the grader's code, and nothing to grade yet."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograde.chapter import ROOT
from autograde.files import files_below, write_if_changed

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# What of autograde/ is this course's alone; of its tools a new course has those of the gates.
LEFT_BEHIND = ("chapters", "jupyter", "selfstudy", "tools")
TOOLS = ("__init__.py", "proof.py", "samples.py")
# What the grader and the builder import, and JupyterLab, in which the notebooks are looked at.
NEEDED = ("docutils", "jupyterlab", "jupytext", "nbclient", "nbgrader", "numpy", "rich")
NEEDED += ("tqdm", "typer")
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = {name}
version = "0.1.0"
requires-python = {python}
dependencies = {dependencies}

[project.scripts]
autograde = "autograde.cli:main"

[tool.setuptools.packages.find]
include = ["autograde*"]

[tool.setuptools.package-data]
autograde = ["**/*.css", "**/*.j2", "**/*.js", "**/*.json"]
"""
WRITTEN = {
    ".gitignore": "/build/\n/course/\n/.venv/\n__pycache__/\n*.egg-info/\n",
    "autograde/chapters/__init__.py": '"""Hidden tests and known bugs, by chapter."""\n',
}


def new_course(folder: Path) -> int:
    """Write a course without chapters to `folder`; returns the number of its files.

    Raises ValueError for a name that no package can have, and for a folder that holds something.
    """
    if not NAME.fullmatch(folder.resolve().name):
        raise ValueError(
            f"{folder.name} cannot be a course's name: use letters, digits, _ and -, a letter first"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already and not empty: choose another name")
    files = dict(_files(folder.resolve().name))
    for name, data in files.items():
        write_if_changed(folder / name, data)
    (folder / "solutions").mkdir()
    return len(files)


def _files(name: str) -> Iterator[tuple[str, bytes]]:
    """Every file of a course called `name`: its place, and its bytes."""
    for path in files_below(ROOT / "autograde"):
        parts = path.relative_to(ROOT / "autograde").parts
        if parts[0] not in LEFT_BEHIND or (parts[0] == "tools" and parts[1] in TOOLS):
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()
    if (licence := ROOT / "LICENSE").is_file():
        yield "autograde/LICENSE", licence.read_bytes()  # the grader's, not the new course's
    yield "nbgrader_config.py", (ROOT / "nbgrader_config.py").read_bytes()
    yield "pyproject.toml", _project(name).encode()
    for place, text in WRITTEN.items():
        yield place, text.encode()


def _project(name: str) -> str:
    """The pyproject.toml, with the versions that this course's has."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ours.get("optional-dependencies", {}).values()
    lines = [line for extra in [*extras, ours["dependencies"]] for line in extra]
    first = {re.split(r"[^\w-]", line)[0]: line for line in reversed(lines)}
    values = {
        "name": name,
        "python": ours["requires-python"],
        "dependencies": [first[needed] for needed in NEEDED],
    }
    return PROJECT.format(**{key: json.dumps(value) for key, value in values.items()})
