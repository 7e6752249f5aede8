"""The tables of the tests: TOML files beside this one."""

import tomllib
from pathlib import Path


def table(name: str) -> dict:
    """What such a file holds."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
