"""Programs around the grader: the gates, `make course`, the site."""
