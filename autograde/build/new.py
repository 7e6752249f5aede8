"""The folder of a new course in another subject: a small chapter, and a library for students.

Nothing of the grader is copied. The library holds a copy of the checking kit, since students of the
new course have neither the grader nor this repository.
"""

import json
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from autograde.course import UsageError
from autograde.intake.files import files_below, write_if_changed

DISTRIBUTION = "specdec-course"  # what the grader is installed by
EXAMPLE, EXAMPLE_NAME = Path(__file__).parent / "example", "temperatures"
# Where the kit is below a package of the same distribution, which the grader does not import.
KIT = ("specdec_lib", "lessons/checking")
# What the grader and the builder need beside the distribution's own dependencies, and JupyterLab.
GRADER_PACKAGES = {"docutils", "jupyterlab", "nbclient", "nbgrader", "pytest"}
GITIGNORE = "/build/\n/course/\n/.venv/\n__pycache__/\n*.egg-info/\n"


def new_course(folder: Path) -> int:
    """Write a course with a chapter about temperatures to `folder`; returns the number of files.

    Raises UsageError for a folder that holds something, or whose name is none for a package.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not empty: choose another name")
    name = folder.resolve().name
    if not (name.isidentifier() and name.isascii()):
        raise UsageError(f"{name}_lib cannot be a Python package: take letters, digits and _")
    files = dict(_files(name))
    for place, data in files.items():
        write_if_changed(folder / place, data)
    return len(files)


def _files(name: str) -> Iterator[tuple[str, bytes]]:
    """Every file of a course called `name`: its place, and its bytes."""
    for path in files_below(EXAMPLE):
        place, text = path.relative_to(EXAMPLE).as_posix(), path.read_text(encoding="utf-8")
        yield _renamed(place, name), _renamed(text, name).encode()
    kit = _kit_folder()
    for path in files_below(kit):
        yield f"{name}_lib/checking/{path.relative_to(kit).as_posix()}", path.read_bytes()
    # Where in its metadata a distribution has its licence depends on what has built it.
    (licence,) = (each for each in metadata.files(DISTRIBUTION) if each.name == "LICENSE")
    yield f"{name}_lib/checking/LICENSE", licence.read_binary()  # the kit's, not the course's
    yield ".gitignore", GITIGNORE.encode()


def _renamed(text: str, name: str) -> str:
    """A text of the example with the course's name, and in its pyproject.toml what it needs."""
    text = text.replace(f"{EXAMPLE_NAME}_lib", f"{name}_lib")
    text = text.replace(f'name = "{EXAMPLE_NAME}"', f'name = "{name}"')
    return text.replace("grader = []", f"grader = {json.dumps(_grader_requirements())}")


def _grader_requirements() -> list[str]:
    """What an instructor installs: the grader, and the versions that this one is tested with."""
    lines = [line.partition(";")[0].strip() for line in metadata.requires(DISTRIBUTION)]
    pins = {line for line in lines if line.partition("==")[0] in GRADER_PACKAGES}
    return [DISTRIBUTION, *sorted(pins)]


def _kit_folder() -> Path:
    package, folder = KIT
    return Path(find_spec(package).origin).parent / folder
