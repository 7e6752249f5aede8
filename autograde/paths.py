"""Where things are in the repository. Every path of the instructor's side comes from here."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"
CHAPTER_TESTS = ROOT / "autograde" / "chapters"


def course_dir() -> Path:
    """The folder of the class that nbgrader works on: `course/`, or `$SPECDEC_COURSE`."""
    return (ROOT / os.environ.get("SPECDEC_COURSE", "course")).resolve()


def notebook_path(folder: Path, chapter: str) -> Path:
    """FOLDER/CHAPTER/CHAPTER.ipynb, nbgrader's layout."""
    return folder / chapter / f"{chapter}.ipynb"
