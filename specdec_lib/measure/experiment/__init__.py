"""Chapter 08: the papers' experiment on the reader's machine."""
