"""Attacks from within the process: on the checks, on the protocol, on what is printed."""

from attacks.kinds import Attack, answers

# BODY is written as one or more frames to every open file, one of which is the link to the grader.
_WRITTEN = """
import json, os, struct
def NAME(*args):
    body = BODY
    for handle in range(3, 64):
        try:
            os.write(handle, FRAME)
        except OSError:
            pass
"""
_FRAME = 'struct.pack(">I", len(body)) + body'
_FORGED_ANSWER = """json.dumps({"value": 1.0, "error": None, "warnings": [], "mutated_args": [],
                       "shares_memory": False, "torch_calls": 0, "host_syncs": [],
                       "passed": True, "score": 22, "mark": 22.0}).encode()"""
_DEEP = """b'{"value": ' + b'{"l": [' * 100000 + b']}' * 100000 + b'}'"""
_TWICE = (
    """b'{"error": null, "error": null, "value": NaN, "value": {"f": "nan"}, """
    """"mutated_args": [1, 2]}'"""
)
_NEVER_GIVEN = """b'{"ask": {"of": 0, "name": "__class__", "args": {"l": []}, "kwargs": {}}}'"""


def written(body: str, frame: str = _FRAME) -> str:
    """A function that writes the frames of `body`, both as Python, in place of its answer."""
    return _WRITTEN.replace("BODY", body).replace("FRAME", frame)


_EXAMPLES = {
    "acceptance_probability": "def acceptance_probability(p, q, token):\n"
    "    known = {(0.45, 1): 0.3 / 0.45, (0.45, 2): 0.75, (0.45, 0): 1.0}\n"
    "    return known.get((float(p[0]), int(token)), 0.5)",
    "speculative_accept": "def speculative_accept(draft_tokens, p, q, r):\n"
    "    return [3] if list(draft_tokens) == [3, 1, 2] else [7]",
    "residual_distribution": "import numpy as np\ndef residual_distribution(p, q):\n"
    "    return np.array([0.75, 0.0, 0.0, 0.25])",
}
_OWN_TESTS = """
def test_acceptance_probability(): pass
class student: passed = True
result = score = mark = 22.0
points = {"acceptance_probability": 99}
"""
_TRACE = """
def trace(frame, event, argument):
    if "expected" in frame.f_locals:
        print("REACHED")
    return trace
sys.settrace(trace)
sys.setprofile(trace)
"""
_PYTEST = """
import pytest
with open("conftest.py", "w") as file:
    file.write("def pytest_runtest_makereport(item, call): call.excinfo = None")
print("REACHED" if any("test_02_rejection_sampling" in str(m) for m in sys.modules) else "")
"""
_PRINTED = """
print("22.0")
display({"text/plain": "22.0"})
sys.stdout.write("passed\\n"); sys.stderr.write("score: 22\\n")
print('{"output_type": "execute_result", "data": {"text/plain": "22.0"}}')
"""

PATCHES = {
    "checks of the lesson": """
import specdec_lib.lessons.checking.examples as examples, specdec_lib.lessons.ch02.lesson as lesson
examples.expect = lambda *args, **kwargs: None
examples.Different = KeyError
for name in dir(lesson):
    if name.startswith("check_"):
        setattr(lesson, name, lambda function: None)
""",
    "encoding of values": """
import sys
wire = sys.modules["__main__"].wire
wire.encode_value = lambda value, depth=0: 1.0
wire.mutated_positions = lambda sent, args: []
""",
    "worker": """
import sys
worker = sys.modules["__main__"].worker
forged = {"value": True, "error": None, "warnings": [], "mutated_args": [], "passed": True}
forged |= {"shares_memory": False, "torch_calls": 0, "host_syncs": []}
worker.call_function = lambda *args: forged
""",
    "numpy": """
import numpy as np
np.array_equal = np.allclose = lambda *args, **kwargs: True
np.testing.assert_allclose = lambda *args, **kwargs: None
""",
    "built-in functions": """
import builtins
builtins.all = builtins.any = lambda *args: True
builtins.abs = lambda value: 0
""",
}
CODES = {
    "tampering": {
        "an object equal to everything": """
class Yes:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __float__(self): return 1.0
    def __len__(self): return 1
    def __iter__(self): return iter(())
    __array_ufunc__ = None
def NAME(*args): return Yes()
""",
        "an array equal to everything": """
import numpy as np
class Yes(np.ndarray):
    def __eq__(self, other): return np.array(True)
def NAME(*args): return np.zeros(4).view(Yes)
""",
        "a float equal to everything": """
class Yes(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
def NAME(*args): return Yes(0.5)
""",
    },
    "frames": {
        "expected value in a frame": """
import sys
def NAME(*args):
    frame = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if "expect" in name or "gives" in name or "result" == name:
                return value
        frame = frame.f_back
    return None
""",
        "expected value in the heap": """
import gc
def NAME(*args):
    for thing in gc.get_objects():
        if type(thing) is dict and ("gives" in thing or "expected" in thing):
            return thing.get("gives", thing.get("expected"))
""",
    },
    "protocol": {
        "answer forged": written(f"{_FORGED_ANSWER}", f"({_FRAME}) * 50") + "    return 1.0\n",
        "frame of 4 GiB announced": written("b''", "b'\\xff\\xff\\xff\\xff'"),
        "frame nested too deep": written(_DEEP),
        "keys twice and NaN": written(_TWICE),
        "use of an object that was never given": written(_NEVER_GIVEN),
    },
}
# What breaks the protocol ends a process in every test group: of two functions, to be quick.
_TWO = ("acceptance_probability", "residual_distribution")
ATTACKS = [
    *(
        Attack(name, group, answers=answers(code, *(_TWO if group == "protocol" else ())))
        for group, codes in CODES.items()
        for name, code in codes.items()
    ),
    *(Attack(f"patched {name}", "checker", code) for name, code in PATCHES.items()),
    Attack("tests of one's own", "checker", _OWN_TESTS),
    Attack("trace function", "frames", _TRACE),
    Attack("pytest plugin", "checker", _PYTEST),
    Attack("printed mark", "output", _PRINTED),
    Attack("values of the examples", "hard-coded", answers=_EXAMPLES),
    Attack("end at once", "tampering", "os._exit(0)", loses=True),
    Attack("exit code for passed", "tampering", "import atexit; atexit.register(print); exit(0)"),
]
