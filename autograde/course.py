"""The course that the grader works on: its folder, its settings and its chapters.

A course is a folder whose pyproject.toml has a section [tool.autograde]. It is found from the
working folder, so the grader itself may be installed anywhere; its own files are below GRADER.
"""

import os
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

GRADER = Path(__file__).resolve().parent
ROOT_VARIABLE = "AUTOGRADE_ROOT"  # names the course's folder for what runs in another folder


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


@dataclass(frozen=True)
class Course:
    """A course: the folder of its pyproject.toml, and what that says in [tool.autograde]."""

    root: Path
    name: str  # of the project, or of the folder
    library: str | None = None  # the package that students import; the grader imports nothing of it
    kit: str | None = None  # the module with `same(one, other)` and `format_call(function, args)`
    hidden_tests: str = "hidden_tests"  # the folder of the hidden tests, from `root`
    seed: int = 0  # of the hidden tests' random cases: any whole number from 0 on

    @property
    def solutions(self) -> Path:
        """The folder of the chapters' texts and of nbgrader's source notebooks."""
        return self.root / "solutions"

    @property
    def notebooks(self) -> Path:
        """The folder of the students' notebooks."""
        return self.root / "notebooks"

    @property
    def build(self) -> Path:
        """The folder of what can be made again."""
        return self.root / "build"

    @property
    def tests(self) -> Path:
        """The folder of the hidden tests."""
        return self.root / self.hidden_tests


@cache
def current_course() -> Course:
    """The course of this process; its packages can be imported from now on.

    It is at `$AUTOGRADE_ROOT`, else in the nearest folder from the working folder upwards. Raises
    UsageError if there is none, and for a mistake in its settings.
    """
    course = _find_course()
    if course is None:
        root = os.environ.get(ROOT_VARIABLE)
        place = f"${ROOT_VARIABLE} names {root}" if root else f"looked in {Path.cwd()} and above"
        raise UsageError(
            f"no course found: {place}, and no pyproject.toml there has a section "
            "[tool.autograde]. Go to the folder of your course, or make one: autograde new NAME"
        )
    sys.path.insert(0, str(course.root))
    return course


def set_root(folder: Path) -> None:
    """Make the course in `folder` that of this process and of those that it starts.

    For a file that is read wherever nbgrader runs, before it imports what needs a course.
    """
    course = _find_course()
    if course is None or course.root != folder:
        os.environ[ROOT_VARIABLE] = str(folder)
        current_course.cache_clear()


def _find_course() -> Course | None:
    root, start = os.environ.get(ROOT_VARIABLE), Path.cwd()
    folders = [Path(root).resolve()] if root else [start, *start.parents]
    return next(filter(None, map(_course_at, folders)), None)


def _course_at(folder: Path) -> Course | None:
    """The course in `folder`, or None. Raises UsageError if its pyproject.toml has a mistake."""
    file = folder / "pyproject.toml"
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: {error}") from None
    settings = project.get("tool", {}).get("autograde")
    if settings is None:
        return None
    known = {field.name for field in fields(Course)} - {"root", "name"}
    if unknown := sorted(settings.keys() - known):
        names = ", ".join(sorted(known))
        raise UsageError(f"{file}: [tool.autograde] takes {names}, and not {unknown[0]}")
    seed = settings.get("seed", 0)
    if type(seed) is not int or seed < 0:
        raise UsageError(f"{file}: the seed is {seed!r}; write a whole number from 0 on")
    return Course(folder, project.get("project", {}).get("name", folder.name), **settings)


def __getattr__(name: str) -> Path | str | None:
    """The current course's ROOT, SOLUTIONS, NOTEBOOKS, BUILD, TESTS or LIBRARY.

    Whoever imports one needs a course from then on; the commands that need none import none.
    """
    if name in ("ROOT", "SOLUTIONS", "NOTEBOOKS", "BUILD", "TESTS", "LIBRARY"):
        return getattr(current_course(), name.lower())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def course_seed() -> int:
    """The seed of the hidden tests' random cases: any whole number from 0 on."""
    return current_course().seed


@cache
def library_folders() -> list[Path]:
    """The folder of the course's library, or none. Raises FileNotFoundError if it is missing."""
    course = current_course()
    if course.library is None:
        return []
    package = find_spec(course.library)
    if package is None or package.origin is None:
        raise FileNotFoundError(
            f"{course.root / 'pyproject.toml'} names the library {course.library}, and there is "
            f"no such package in {course.root}, and none is installed"
        )
    return [Path(package.origin).parent]


@cache
def kit() -> ModuleType:
    """The course's kit: how values are compared (`same`) and calls are printed (`format_call`).

    Raises AuthorError if the course names none.
    """
    course = current_course()
    if course.kit is None:
        raise AuthorError(f"{course.root / 'pyproject.toml'}: [tool.autograde] names no kit")
    return import_module(course.kit)


def same_value(one: object, other: object) -> bool:
    """Whether two values are one for the course's kit."""
    return kit().same(one, other)


def class_folder() -> Path:
    """The folder of the class that nbgrader works on: `course/`, or `$SPECDEC_COURSE`."""
    return (current_course().root / os.environ.get("SPECDEC_COURSE", "course")).resolve()


def notebook_path(folder: Path, name: str) -> Path:
    """The notebook of the chapter `name` below `folder`, in nbgrader's layout."""
    return folder / name / f"{name}.ipynb"


@dataclass(frozen=True)
class Chapter:
    """A chapter by its name NN_topic, which its notebook and its assignment have too."""

    name: str

    @property
    def source(self) -> Path:
        """The text that its notebooks are made from."""
        return current_course().solutions / f"{self.name}.py"

    @property
    def solution(self) -> Path:
        """The instructor's notebook, with solutions and hidden tests."""
        return notebook_path(current_course().solutions, self.name)

    @property
    def release(self) -> Path:
        """The student's notebook."""
        return notebook_path(current_course().notebooks, self.name)

    @property
    def tests(self) -> Path:
        """The file of its hidden tests."""
        return current_course().tests / f"test_{self.name}.py"


def chapters(solutions: Path | None = None) -> list[Chapter]:
    """The chapters by their numbers: those with a text in `solutions`, by default the course's."""
    folder = solutions or current_course().solutions
    return [Chapter(path.stem) for path in sorted(folder.glob("[0-9][0-9]_*.py"))]


def chapter_names(solutions: Path | None = None) -> list[str]:
    """Their names."""
    return [chapter.name for chapter in chapters(solutions)]


def require_chapter(name: str | None, solutions: Path | None = None) -> None:
    """Raise UsageError if `name` is given and no chapter is called so."""
    names = chapter_names(solutions)
    if name is not None and name not in names:
        raise UsageError(f"there is no chapter {name}. There are: {', '.join(names)}")
