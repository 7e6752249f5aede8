"""Hidden tests: exercises, test groups, known bugs, and the causes that these tell."""
