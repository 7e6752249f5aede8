"""`python -m specdec_lib.measure.race`."""

import sys

from specdec_lib.measure.race.command import main

if __name__ == "__main__":
    sys.exit(main())
