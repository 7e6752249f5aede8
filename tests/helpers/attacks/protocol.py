"""Attacks on the protocol: frames that are written in the place of an answer."""

from attacks.kinds import Attack, one_code

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


def frame_writer(body: str, frame: str = _FRAME) -> str:
    """A function that writes the frames of `body`, both as Python, in place of its answer."""
    return _WRITTEN.replace("BODY", body).replace("FRAME", frame)


_FRAMES = {
    "answer forged": frame_writer(f"{_FORGED_ANSWER}", f"({_FRAME}) * 50") + "    return 1.0\n",
    "frame of 4 GiB announced": frame_writer("b''", "b'\\xff\\xff\\xff\\xff'"),
    "frame nested too deep": frame_writer(_DEEP),
    "keys twice and NaN": frame_writer(_TWICE),
    "use of an object that was never given": frame_writer(_NEVER_GIVEN),
}
# What breaks the protocol ends a process in every test group: of two functions, to be quick.
_TWO = ("acceptance_probability", "residual_distribution")
ATTACKS = [
    Attack(name, "protocol", answers=one_code(code, *_TWO)) for name, code in _FRAMES.items()
]
