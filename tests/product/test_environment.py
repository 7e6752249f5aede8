"""What a fresh machine installs: the pins, the lock and the conda file."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
LOCK = (ROOT / "constraints.txt").read_text()
PIN = re.compile(r"^[A-Za-z0-9._-]+==[0-9][0-9a-z.]*$")


def versions(requirements: Iterable[str]) -> dict[str, set[str]]:
    """What is asked for of each package: several versions where markers tell them apart."""
    found: dict[str, set[str]] = {}
    for each in map(Requirement, requirements):
        found.setdefault(canonicalize_name(each.name), set()).add(str(each.specifier))
    return found


LOCKED = versions(line for line in LOCK.splitlines() if line and not line.startswith("#"))


def test_conda_pins_are_those_of_the_course_extra():
    (section,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    *packages, last = section
    assert last == "-e ." and all(map(PIN.match, packages))
    assert versions(packages) == versions(EXTRAS["course"])


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_lock_agrees_with_the_extra(extra: str):
    assert all(map(PIN.match, EXTRAS[extra]))
    for name, pin in versions(EXTRAS[extra]).items():
        assert LOCKED.get(name) == pin, f"{name}: make constraints.txt again"


def test_lock_names_every_core_dependency():
    assert versions(PROJECT["dependencies"]).keys() <= LOCKED.keys()
