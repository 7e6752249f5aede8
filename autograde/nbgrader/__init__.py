"""The grader's side of nbgrader: configuration, preprocessors, stamps."""
