"""nbgrader beside a student's JupyterLab. Without a file nbgrader warns twice."""

from specdec_lib.jupyter import validating

validating.allow_copies()
