"""Hidden tests and known bugs, by chapter."""
