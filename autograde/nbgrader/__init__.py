"""Where nbgrader and the grader meet: configuration, preprocessors, stamps."""
