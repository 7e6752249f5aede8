"""What only instructors need: the builder, the grader and its reports."""
