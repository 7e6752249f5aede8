"""Text to nbgrader source notebook to student release to executed solution."""
