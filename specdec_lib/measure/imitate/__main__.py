"""`python -m specdec_lib.measure.imitate`."""

import sys

from specdec_lib.measure.imitate.command import main

if __name__ == "__main__":
    sys.exit(main())
