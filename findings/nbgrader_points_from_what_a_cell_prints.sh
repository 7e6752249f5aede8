#!/bin/sh
# nbgrader 0.9.6: the points of an automatic test depend on what the test cell shows, in two ways that
# its guide to grading doesn't say.
#
# 1. A test that passes gives 0 points if anything was written to the standard error stream on the way:
#    a Python warning, a progress bar. So a right answer loses all its points to a DeprecationWarning
#    that a newer library begins to raise.
# 2. A number as the cell's value is partial credit, but it is read from the number's text. NumPy 2 shows
#    its scalars as `np.float64(1.5)`, which is no number to nbgrader, so that a mean or a sum of NumPy
#    values gives full points, also where it is 0. The log has a warning, the marks have not.
#    (nbgrader 1374, repaired in 2021, was the same fault for a plain 0.)
#
# Seen on 2026-11-29 with numpy 2.4.6, 4 points a cell: passes 4, passes with a warning 0, passes with a
# line on stderr 0; the value 1.5 gives 1.5, np.float64(1.5) 4, the value 0.0 gives 0, np.float64(0.0) 4.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nbgrader==0.9.6 ipykernel==7.4.0 numpy==2.4.6
export PATH="$folder/venv/bin:$PATH" # nbgrader starts alembic by its name
export JUPYTER_CONFIG_DIR="$folder/config" JUPYTER_DATA_DIR="$folder/data" IPYTHONDIR="$folder/ipython"
cd "$folder"
cat > course.py <<'P'
"""Writes an assignment with one test for each way to end, and a submission with the right answer."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

TESTS = {
    "passes": "assert square(2) == 4",
    "warns": "import warnings\nassert square(2) == 4\nwarnings.warn('soon to be removed')",
    "stderr": "import sys\nassert square(2) == 4\nprint('100%', file=sys.stderr)",
    "float": "1.5",
    "numpy float": "import numpy as np\nnp.float64(1.5)",
    "zero": "0.0",
    "numpy zero": "np.float64(0.0)",
}
ANSWER = "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION"


def cell(source, name, grade):
    marked = {"schema_version": 3, "grade_id": name, "grade": grade, "solution": not grade,
              "locked": grade, "task": False} | ({"points": 4} if grade else {})
    return new_code_cell(source, metadata={"nbgrader": marked})


kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
cells = [cell(ANSWER, "square", grade=False)]
cells += [cell(source, name.replace(" ", "-"), grade=True) for name, source in TESTS.items()]
notebook = new_notebook(cells=cells, metadata=kernel)
for place in ("source/one", "submitted/ada/one"):
    Path(place).mkdir(parents=True)
    nbformat.write(notebook, f"{place}/sheet.ipynb")
P
python course.py
nbgrader generate_assignment one --log-level=ERROR > log 2>&1 || { cat log; exit 1; }
nbgrader autograde one --log-level=ERROR >> log 2>&1 || { cat log; exit 1; }
python -W ignore - <<'P'
from nbgrader.api import Gradebook

with Gradebook("sqlite:///gradebook.db") as gradebook:
    grades = gradebook.find_submission_notebook("sheet", "one", "ada").grades
    points = {grade.name: grade.score for grade in grades}
print(points)
expected = {"passes": 4, "warns": 0, "stderr": 0, "float": 1.5, "numpy-float": 4, "zero": 0, "numpy-zero": 4}
assert points == expected, "the behaviour has changed"
P
echo "nbgrader 0.9.6 behaves as described"
