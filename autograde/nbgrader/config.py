"""nbgrader's configuration of the course: its folders and its preprocessors.

`nbgrader_config.py` at the repository's root uses it, and the builder reads that file, so that a
build, the command line and formgrader's button do the same.
"""

import os
import sys
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograde.course import ROOT, SOLUTIONS
from autograde.nbgrader.stubs import Stubs

CONFIG_NAME = "nbgrader_config.py"

# Names, not classes: formgrader shows the configuration on its page.
RELEASE_PREPROCESSORS = [
    f"{preprocessor.__module__}.{preprocessor.__name__}"
    for preprocessor in (
        Stubs if default is ClearSolutions else default
        for default in GenerateAssignment.preprocessors.default()
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
    """The folder's path for nbgrader: relative to the root if it is below it, else absolute."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def own_commands_first() -> None:
    """Put this interpreter's commands first on the PATH.

    nbgrader starts `alembic` by its bare name when it makes a gradebook, which fails if the
    environment is not activated.
    """
    commands = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([commands, os.environ.get("PATH", "")])


def load_config() -> Config:
    """The repository's nbgrader configuration."""
    return PyFileConfigLoader(CONFIG_NAME, path=str(ROOT)).load_config()
