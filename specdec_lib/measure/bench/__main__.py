"""`python -m specdec_lib.measure.bench`."""

import sys

from specdec_lib.measure.bench.command import main

if __name__ == "__main__":
    sys.exit(main())
