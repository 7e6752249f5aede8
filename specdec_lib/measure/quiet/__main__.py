"""`python -m specdec_lib.measure.quiet`."""

import sys

from specdec_lib.measure.quiet.command import main

if __name__ == "__main__":
    sys.exit(main())
