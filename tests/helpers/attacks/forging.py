"""A cell that makes the student's process tell nothing of itself, and answers that need it."""

# Whatever the process looks for in arguments, results and warnings, it finds nothing.
FORGED = """
import sys
wire, worker = sys.modules["__main__"].wire, sys.modules["__main__"].worker
whole = worker.call
worker.call = lambda *args: whole(*args) | {"warnings": []}
worker.shares_memory = lambda *args: False
wire.changed = lambda *args: []
"""
# Behind a right answer: it changes its arguments after its work, gives one away, or warns.
_AFTER = """
def _spoilt(function):
    import warnings
    import numpy as np
    def spoilt(*args):
        value = function(*args)
        WHAT
        return value
    return spoilt
NAME = _spoilt(NAME)
"""
SPOILT = {
    "an array changed": "args[0].reshape(-1)[0] += 0.125",
    "a list changed": "[arg.append(3) for arg in args if type(arg) is list]",
    "an argument returned": "value = np.add(value, 0, out=args[0])",
    "a warning given": "warnings.warn('careful', RuntimeWarning)",
}


def spoilt(name: str, what: str) -> str:
    """The code to put behind a right answer."""
    return _AFTER.replace("NAME", name).replace("WHAT", SPOILT[what])
