"""nbgrader's configuration of the course: its folders, and the grader's classes.

`nbgrader_config.py` at the course's root uses it, and the builder reads that file, so that a
build, the command line and formgrader's button do the same.
"""

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograde.course import ROOT, SOLUTIONS, class_folder, library_folders
from autograde.nbgrader import exchange
from autograde.nbgrader.stubs import Stubs
from autograde.report import offline

CONFIG_NAME = "nbgrader_config.py"

# Names, not classes: formgrader shows the configuration on its page.
RELEASE_PREPROCESSORS = [
    f"{preprocessor.__module__}.{preprocessor.__name__}"
    for preprocessor in (
        Stubs if default is ClearSolutions else default
        for default in GenerateAssignment.preprocessors.default()
    )
]


def configure(config: Config, load_subconfig: Callable) -> None:
    """Set all that nbgrader must know of the course in `config`.

    `load_subconfig(name, path=folder)` reads a further file of settings, if there is one.
    """
    own_commands_first()
    set_folders(config, class_folder())
    # Of our own folders: no stamps, no scratch files. Of students' folders nothing is copied at all
    # (plugin.Intake).
    config.CourseDirectory.ignore = [".*", "*.py*", "__pycache__"]
    exchange.patch_timestamps()  # nbgrader opens whatever a student calls timestamp.txt
    config.ExchangeFactory.collect = "autograde.nbgrader.exchange.Collect"
    # nbgrader joins the rows of a new submission before it adds them: SQLAlchemy remarks on each.
    warnings.filterwarnings("ignore", "Object of type <Submitted", SAWarning)
    config.GenerateAssignment.preprocessors = RELEASE_PREPROCESSORS
    _set_grading(config)
    _set_feedback(config)
    for library in library_folders():  # Validate, as students have it
        load_subconfig(CONFIG_NAME, path=str(library / "jupyter"))
    load_subconfig(CONFIG_NAME, path=str(class_folder()))  # a class's own settings


def _set_grading(config: Config) -> None:
    """Submissions pass intake before nbgrader sees them; the grader stands where a kernel runs."""
    config.Autograde.exporter_class = "autograde.nbgrader.plugin.Intake"
    config.Autograde.post_convert_hook = "autograde.nbgrader.stamps.finish"
    config.Autograde.sanitize_preprocessors = []  # the notebook is the release's, with answers
    config.Autograde.autograde_preprocessors = [
        "autograde.nbgrader.plugin.Grade",
        "nbgrader.preprocessors.LimitOutput",
        "nbgrader.preprocessors.SaveAutoGrades",
        "nbgrader.preprocessors.AssignLatePenalties",
    ]


def _set_feedback(config: Config) -> None:
    config.HTMLExporter.sanitize_html = True
    # A student's heading called like a grade cell would take its place in formgrader's scripts.
    config.HTMLExporter.exclude_anchor_links = True
    # A page is written anew each time: nbgrader would keep one from before a later mark.
    config.GenerateFeedback.force = True
    config.GenerateFeedback.exporter_class = "autograde.report.feedback_page.FeedbackPage"
    config.GenerateFeedback.preprocessors = [
        "autograde.nbgrader.plugin.MarksForPage",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    offline.set_formgrader(config)


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
    """The course's nbgrader configuration."""
    return PyFileConfigLoader(CONFIG_NAME, path=str(ROOT)).load_config()
