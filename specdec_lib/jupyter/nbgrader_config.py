"""nbgrader beside a student's JupyterLab: all as it comes. Without a file nbgrader warns twice."""
