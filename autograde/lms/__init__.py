"""Learning management systems: submissions out of their zips, marks into their tables."""
