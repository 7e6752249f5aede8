"""Every drafter side by side: `python -m specdec_lib.measure.drafters`."""
