"""What a fresh machine installs: the pins, the lock, the conda file and our own packages."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())
LOCK = (ROOT / "constraints.txt").read_text()

SEVEN = {"jupyterlab", "matplotlib", "nbgrader", "numpy", "pytest", "torch", "transformers"}
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


def conda_pip_section() -> list[str]:
    """The lines that conda hands to pip."""
    (section,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    return section


def test_conda_pins_are_those_of_the_course_extra():
    *packages, last = conda_pip_section()
    assert last == "-e ."
    assert len(packages) == len(EXTRAS["course"]) == 7
    assert pins(packages) == pins(EXTRAS["course"])
    assert set(pins(packages)) == SEVEN


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_lock_agrees_with_the_extra(extra: str):
    versions = locked(LOCK)
    for name, version in pins(EXTRAS[extra]).items():
        assert versions.get(name) == {version}, f"{name}: make constraints.txt again"


def test_lock_names_every_core_dependency():
    names = {re.match(r"[A-Za-z0-9_-]+", line)[0] for line in PROJECT["dependencies"]}
    assert names <= set(locked(LOCK))


def installed_with(lines: Iterable[str]) -> set[str]:
    """The packages, by normalised name, that installing these requirements brings along."""
    found: set[str] = set()
    left = [Requirement(line) for line in lines]
    while left:
        one = left.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(name)
            left.extend(map(Requirement, importlib.metadata.requires(one.name) or ()))
    return found


def test_the_grader_needs_the_extras_course_and_instructor_and_nothing_else():
    """Formgrader did not start in an environment with the extra `course` alone."""
    grader = ROOT / "autograde"
    files = {*grader.rglob("*.py")} - {*(grader / "tools").rglob("*.py")}
    trees = [ast.parse(path.read_text()) for path in files]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
    tops = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    packages = importlib.metadata.packages_distributions()
    needed = {n.lower().replace("_", "-") for top in tops for n in packages.get(top, ())}
    here = installed_with([*PROJECT["dependencies"], *EXTRAS["course"], *EXTRAS["instructor"]])
    assert {"docutils", "rich", "typer"} <= needed
    # Itself, and what `--scheduler` alone needs, which is there only with the extra `cluster`.
    assert needed - here - {"distributed"} == {"specdec-course"}


def test_every_package_folder_would_be_installed():
    files = [file for top in ("specdec_lib", "autograde") for file in (ROOT / top).rglob("*.py")]
    bare = {file.parent for file in files if not (file.parent / "__init__.py").exists()}
    assert bare == set()


def test_what_is_made_or_private_is_left_out_by_git():
    private = ["build/site/index.html", "course/gradebook.db", "work/a.ipynb", ".venv/bin/python"]
    command = ["git", "check-ignore", "autograde/build/release.py", *private]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == private


REPORT = """
import importlib.metadata, sys
import specdec_lib
for name in sys.argv[1:]:
    print(name, importlib.metadata.version(name).split("+")[0])
"""


@pytest.mark.slow
def test_the_pip_half_of_the_conda_file_installs(tmp_path: Path):
    """In a fresh environment, held by the lock; the packages then have the pinned versions."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("\n".join(conda_pip_section()) + "\n")
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    install = [python, "-m", "pip", "install", "-q", "-c", "constraints.txt", "-r", requirements]
    subprocess.run(install, cwd=ROOT, check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    asked = [python, "-I", "-c", REPORT, *sorted(SEVEN)]
    report = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert dict(line.split() for line in report.splitlines()) == pins(EXTRAS["course"])


def test_binder_takes_the_cpu_build_before_the_course(tmp_path: Path):
    """Its script, with stand-ins that write down what they are asked."""
    for name in ("pip", "specdec"):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\necho "{name} $*" >> "$LOG"\n')
        script.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    settings = os.environ | {"PATH": path, "LOG": str(tmp_path / "log"), "HOME": "/home/reader"}
    subprocess.run([ROOT / "binder" / "postBuild"], cwd=ROOT, env=settings, check=True)
    torch, course, start = (tmp_path / "log").read_text().splitlines()
    (pin,) = locked(LOCK)["torch"]
    assert torch.endswith(f"--index-url https://download.pytorch.org/whl/cpu torch=={pin}")
    assert course == "pip install --no-cache-dir -c constraints.txt -e .[course]"
    assert start == "specdec start --no-lab --work /home/reader/work"
    assert (ROOT / "binder" / "runtime.txt").read_text().strip() == "python-3.11"
