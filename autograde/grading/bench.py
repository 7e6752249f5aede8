"""`python -m autograde.grading.bench` is `python -m autograde.tools.bench`."""

import sys

from autograde.tools.bench import main

if __name__ == "__main__":
    sys.exit(main())
