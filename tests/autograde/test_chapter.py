"""Where the parts of a chapter are, and the setting that names the students' library."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograde import chapter

ASK = "from autograde.chapter import LIBRARY, library_folders; print(LIBRARY, library_folders())"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[tool.autograde]\nlibrary = "physics"', r"physics \[PosixPath\('.*/physics'\)\]"),
        ("", r"None \[\]"),
        ('[tool.autograde]\nlibrary = "no_such"', "library no_such, and no such package is in"),
    ],
)
def test_the_library_is_the_package_that_the_settings_name(
    tmp_path: Path, settings: str, said: str
):
    for package in ("autograde", "physics"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "physics" / "__init__.py").write_text("raise ImportError('the grader ran this')")
    shutil.copy(chapter.__file__, tmp_path / "autograde")
    (tmp_path / "pyproject.toml").write_text(settings)
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert re.search(said, done.stdout + done.stderr)
