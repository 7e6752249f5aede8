"""The sources of draft tokens, one file each."""
