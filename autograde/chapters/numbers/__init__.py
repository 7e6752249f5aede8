"""The numbers of the hidden tests, a file a chapter. A private fork changes these files only."""
