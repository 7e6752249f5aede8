"""The script that makes specdec_lib/models/assets/: `python -m specdec_lib.training`."""
