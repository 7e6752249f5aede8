"""`python -m specdec_lib.measure.experiment`."""

import sys

from specdec_lib.measure.experiment.grid import main

if __name__ == "__main__":
    sys.exit(main())
