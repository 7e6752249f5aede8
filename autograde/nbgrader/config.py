"""What nbgrader is told of the course: its folders, its preprocessors, the files it leaves alone.

`nbgrader_config.py` at the repository's root uses these, and the builder reads that file, so that
a build, the command line and formgrader's button do the same.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograde.chapter import ROOT, SOLUTIONS
from autograde.nbgrader.stubs import Stubs

CONFIG_NAME = "nbgrader_config.py"
# nbgrader puts folder names into regular expressions and globs as they are.
SPECIAL = re.compile(r"[\\^$*+?{}\[\]|()]")


def every_name_but(name: str) -> Iterator[str]:
    """Globs that match every file name except `name`, the empty one left out."""
    for position, letter in enumerate(name):
        yield f"{name[:position]}[!{letter}]*"
        if position:
            yield name[:position]
    yield f"{name}?*"


def _ignored() -> list[str]:
    """Globs for every name but `timestamp.txt`, `NN_topic` and `NN_topic.ipynb`.

    nbgrader copies what else lies in an assignment's folder, from the student's to the graded one
    and from there into the feedback, and follows links as it does. It tries each glob on the names
    of files and of folders, the assignment's own among them: hence a list that spares a shape.
    """
    topic = "[0-9][0-9]_*"
    return [
        ".*",  # in a glob, * and [!...] never match a leading dot
        "[!0-9t]*",
        "t",
        *(f"t{glob}" for glob in every_name_but("imestamp.txt")),
        "[0-9]",
        "[0-9][!0-9]*",
        "[0-9][0-9]",
        "[0-9][0-9][!_]*",
        f"{topic}.",
        *(f"{topic}.{glob}" for glob in every_name_but("ipynb")),
    ]


IGNORE = _ignored()

# Names, not classes: formgrader shows the configuration on its page.
RELEASE_PREPROCESSORS = [
    f"{made.__module__}.{made.__name__}"
    for made in (
        Stubs if kind is ClearSolutions else kind
        for kind in GenerateAssignment.preprocessors.default()
    )
]


def set_folders(config: Config, course: Path, solutions: Path = SOLUTIONS) -> None:
    """Point nbgrader at `solutions` and at a class's folder, which is made if it is missing."""
    course.mkdir(parents=True, exist_ok=True)  # SQLite makes the file, not the folder
    config.CourseDirectory.root = str(ROOT)
    config.CourseDirectory.source_directory = _folder(solutions)
    for step in ("release", "submitted", "autograded", "feedback"):
        config.CourseDirectory[f"{step}_directory"] = _folder(course / step)
    config.CourseDirectory.db_url = f"sqlite:///{(course / 'gradebook.db').resolve()}"


def _folder(path: Path) -> str:
    """The folder as nbgrader takes it: from the root where it is below it, else absolute."""
    path = path.resolve()
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
    if special := SPECIAL.search(name):
        raise ValueError(
            f"nbgrader cannot work in a folder with {special[0]} in its name: {path}. "
            "Rename it, or choose another."
        )
    return name


def own_commands_first() -> None:
    """Put this interpreter's commands first on the PATH.

    nbgrader starts `alembic` by its bare name when it makes a gradebook, which fails, or finds
    somebody else's, where the environment is used without being activated.
    """
    commands = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if path.split(os.pathsep)[0] != commands:
        os.environ["PATH"] = commands + os.pathsep + path


def load_config() -> Config:
    """The repository's nbgrader configuration."""
    return PyFileConfigLoader(CONFIG_NAME, path=str(ROOT)).load_config()
