"""Checks of single calls and of words: the visible checks and the hidden tests share them."""
