"""The speed figures: `python -m specdec_lib.measure.bench --json FILE`."""
