"""Marking one's own notebooks: what `specdec mark` starts."""
