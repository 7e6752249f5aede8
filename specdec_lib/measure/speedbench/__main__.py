"""`python -m specdec_lib.measure.speedbench`."""

import sys

from specdec_lib.measure.speedbench.command import main

if __name__ == "__main__":
    sys.exit(main())
