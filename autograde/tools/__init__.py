"""Programs around the grader: the bench, the site, the demo class."""
