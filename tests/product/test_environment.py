"""What a fresh machine installs: the pins, the lock and the conda file."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
LOCK = (ROOT / "constraints.txt").read_text()

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([0-9][0-9a-z.]*)$")


def pins(requirements: Iterable[str]) -> dict[str, str]:
    """`name==version` lines as a dict, names normalised; ValueError for any other line."""
    found = {}
    for line in requirements:
        match = PIN.match(line)
        if match is None:
            raise ValueError(f"not an exact pin: {line!r}")
        found[re.sub(r"[-_.]+", "-", match[1]).lower()] = match[2]
    return found


def locked(text: str) -> dict[str, set[str]]:
    """Every version that a lock names for a package: several where markers tell them apart."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, version = line.split(" ; ")[0].split("==")
            found.setdefault(name, set()).add(version)
    return found


def test_conda_pins_are_those_of_the_course_extra():
    (section,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    *packages, last = section
    assert last == "-e ." and pins(packages) == pins(EXTRAS["course"])


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_lock_agrees_with_the_extra(extra: str):
    versions = locked(LOCK)
    for name, version in pins(EXTRAS[extra]).items():
        assert versions.get(name) == {version}, f"{name}: make constraints.txt again"


def test_lock_names_every_core_dependency():
    names = {re.match(r"[A-Za-z0-9_-]+", line)[0] for line in PROJECT["dependencies"]}
    assert names <= set(locked(LOCK))
