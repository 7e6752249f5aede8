"""Running a student's code in a process of its own, and talking to it in plain data."""
