"""`python -m specdec_lib.measure.drafters`."""

import sys

from specdec_lib.measure.drafters.family import main

if __name__ == "__main__":
    sys.exit(main())
