"""The speed figures of the bench: `python -m specdec_lib.measure.bench`."""
