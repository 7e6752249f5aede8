"""The chapters, and where everything is: every path of the instructor's side comes from here."""

import os
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"
TESTS = ROOT / "autograde" / "hidden_tests"


class AuthorError(Exception):
    """A chapter cannot be read, built or executed: the text says where, why, and what to do."""


class UsageError(ValueError):
    """What somebody asks for cannot be done: the text names it, and says why.

    Any other ValueError is a fault of the code, and is shown with its traceback.
    """


def exit_code(
    command: Callable[[], int],
    not_started: tuple[type[Exception], ...] = (),
    program: str = "autograde",
) -> int:
    """The exit code of `command`: 1 for an AuthorError, 2 for an error of `not_started`.

    Any of these errors is a line on stderr. Every other one is raised again.
    """
    try:
        return command()
    except AuthorError as error:
        print(error, file=sys.stderr)
        return 1
    except not_started as error:
        print(f"{program}: {_text_of(error)}", file=sys.stderr)
        return 2


def _text_of(error: Exception) -> str:
    """What an error says; not every error of the system names a file or has a text."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f"{error.filename}: "
        return f"{place}{error.strerror}"
    return str(error) or type(error).__name__


def _setting(name: str) -> str | None:
    """A setting of the course: `name` in the section [tool.autograde] of ROOT's pyproject.toml."""
    file = ROOT / "pyproject.toml"
    settings = tomllib.loads(file.read_text()) if file.is_file() else {}
    return settings.get("tool", {}).get("autograde", {}).get(name)


# The package that students import, and that their code must find in the sandbox; None: there is
# none. The grader imports nothing of it.
LIBRARY = _setting("library")


def course_seed() -> int:
    """The seed of the hidden tests' random cases: any whole number from 0 on."""
    return _setting("seed") or 0


@cache
def library_folders() -> list[Path]:
    """The folder of the package LIBRARY, or none. Raises FileNotFoundError if it is missing."""
    if LIBRARY is None:
        return []
    package = find_spec(LIBRARY)
    if package is None or package.origin is None:
        raise FileNotFoundError(
            f"pyproject.toml names the library {LIBRARY}, and no such package is installed; "
            "run: pip install -e ."
        )
    return [Path(package.origin).parent]


@cache
def kit() -> ModuleType:
    """The course's kit: how values are compared (`same`) and calls are printed (`format_call`)."""
    return import_module(_setting("kit"))


def same_value(one: object, other: object) -> bool:
    """Whether two values are one for the course's kit."""
    return kit().same(one, other)


def course_dir() -> Path:
    """The folder of the class that nbgrader works on: `course/`, or `$SPECDEC_COURSE`."""
    return (ROOT / os.environ.get("SPECDEC_COURSE", "course")).resolve()


def notebook_path(folder: Path, name: str) -> Path:
    """The notebook of the chapter `name` below `folder`, in nbgrader's layout."""
    return folder / name / f"{name}.ipynb"


@dataclass(frozen=True)
class Chapter:
    """A chapter by its name NN_topic, which its notebook and its assignment have too."""

    name: str

    @property
    def number(self) -> str:
        """The two digits that its name begins with."""
        return self.name[:2]

    @property
    def source(self) -> Path:
        """The text that its notebooks are made from."""
        return SOLUTIONS / f"{self.name}.py"

    @property
    def solution(self) -> Path:
        """The instructor's notebook, with solutions and hidden tests."""
        return notebook_path(SOLUTIONS, self.name)

    @property
    def release(self) -> Path:
        """The student's notebook."""
        return notebook_path(NOTEBOOKS, self.name)

    @property
    def tests(self) -> Path:
        """The file of its hidden tests."""
        return TESTS / f"test_{self.name}.py"


def chapters(solutions: Path = SOLUTIONS) -> list[Chapter]:
    """The chapters that have a text in the folder `solutions`, in the order of their numbers."""
    return [Chapter(path.stem) for path in sorted(solutions.glob("[0-9][0-9]_*.py"))]


def chapter_names(solutions: Path = SOLUTIONS) -> list[str]:
    """Their names."""
    return [chapter.name for chapter in chapters(solutions)]


def require_chapter(name: str | None, solutions: Path = SOLUTIONS) -> None:
    """Raise UsageError if `name` is given and no chapter is called so."""
    names = chapter_names(solutions)
    if name is not None and name not in names:
        raise UsageError(f"there is no chapter {name}. There are: {', '.join(names)}")
