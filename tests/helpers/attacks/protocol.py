"""Attacks on the protocol: frames that are written in the place of an answer (frames.toml)."""

from attacks.kinds import Attack, one_code
from data_files import table

_TABLE = table("attacks/frames.toml")


def frame_writer(body: str, frame: str = _TABLE["frame"], then: str = "") -> str:
    """A function that writes the frames of `body`, all of it as Python, in place of its answer."""
    return _TABLE["writer"].replace("BODY", body).replace("FRAME", frame) + then


# What breaks the protocol ends a process in every test group: of two functions, to be quick.
_TWO = ("acceptance_probability", "residual_distribution")
ATTACKS = [
    Attack(name, "protocol", answers=one_code(frame_writer(**row), *_TWO))
    for name, row in _TABLE["attacks"].items()
]
