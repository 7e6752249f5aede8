"""Where code runs: in a notebook's kernel, or elsewhere."""

import sys
from typing import Any


def shell() -> Any | None:
    """IPython's shell in a notebook's kernel, None elsewhere. Asking does not import IPython."""
    ipython = sys.modules.get("IPython")
    found = ipython.get_ipython() if ipython else None
    return None if getattr(found, "kernel", None) is None else found
