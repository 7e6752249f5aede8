"""`python -m autograde` is the command `autograde`."""

import sys

from autograde.cli import main

sys.exit(main())
