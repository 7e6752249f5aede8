"""The recorders of what the course shows without measuring it anew; see `__main__`."""
