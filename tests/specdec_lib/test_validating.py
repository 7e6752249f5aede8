"""`nbgrader validate` where several cells have one nbgrader id, with a student's settings."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from specdec_lib.cli import LAB_DEFAULTS

COMMON = {"schema_version": 3, "locked": False, "task": False, "cell_type": "code"}
SOLUTION = COMMON | {"grade_id": "f", "solution": True, "grade": False}
TEST = COMMON | {"grade_id": "test_f", "solution": False, "grade": True, "points": 1}
CHECK = new_code_cell("assert f() == 1", metadata={"nbgrader": TEST})
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
COPIES = {  # the answer's cells, and what Validate says besides their places
    "split": (["# a <helper>", "def f():\n    return 1"], "Success!"),
    "worse": (["def f():\n    return 1", "def f():\n    return 2", "pass"], "AssertionError"),
}


def validated(folder: Path, sources: list[str]) -> subprocess.CompletedProcess:
    cells = [new_code_cell(source, metadata={"nbgrader": SOLUTION}) for source in sources]
    notebook = new_notebook(cells=[new_code_cell("x = 1"), *cells, CHECK], metadata=KERNEL)
    nbformat.write(notebook, folder / "copies.ipynb")
    command = [sys.executable, "-m", "nbgrader", "validate", "copies.ipynb"]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": str(LAB_DEFAULTS)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", COPIES)
def test_validate_goes_on_and_names_the_copies(name: str, tmp_path: Path):
    sources, said = COPIES[name]
    done = validated(tmp_path, sources)
    assert done.returncode == 0 and said in done.stdout
    assert "one nbgrader id, f:" in done.stderr and "corrupted" not in done.stderr
    for number, source in enumerate(sources, 2):
        line = f"cell {number}: {source.splitlines()[0]}"
        assert line in done.stderr and (name == "split" or line in done.stdout)
