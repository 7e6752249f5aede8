"""Which of our modules may import which, and that every package is in git.

sampling, theory <- exact, assets, device <- models <- drafters <- decoding <- measure <- training:
each may import what stands to its left, and from models on `files` and `notebook`. Lessons import
sampling, theory, exact and notebook only, chapters specdec_lib only, and specdec_lib, which is all
that students have, never imports autograde.
"""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("specdec_lib", "autograde")
BASE = {"theory", "sampling"}
TOOLS = {"files", "notebook"}
ABOVE_BASE = {"exact", "assets", "device"}
LAYERS = ("models", "drafters", "decoding", "measure", "training")


def areas_open_to(area: str) -> set[str] | None:
    """The parts of specdec_lib that `area`, one of them, may import; None if it may any."""
    if area in BASE:
        return BASE
    if area in TOOLS:
        return TOOLS
    if area in ABOVE_BASE:
        return BASE | TOOLS | {area}
    if area == "lessons":
        return BASE | {"exact", "notebook", "lessons"}
    if area in LAYERS:
        return BASE | TOOLS | ABOVE_BASE | set(LAYERS[: LAYERS.index(area) + 1])
    return None


def imported(source: str, module: str = "") -> set[str]:
    """Dotted names of ours that `source`, the file of `module`, imports, relative ones resolved.

    A package's own file is called "a.__init__". `from a import b` gives "a.b", since b may be
    a module.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = module.split(".")[: -node.level] if node.level else []
            stem = ".".join([*start, node.module] if node.module else start)
            names |= {f"{stem}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] in OURS}


def offence(name: str, open_areas: set[str] | None) -> bool:
    """Whether a module of specdec_lib with these areas open to it may not import `name`."""
    top, _, rest = name.partition(".")
    if top == "autograde":
        return True
    area = rest.split(".")[0]
    return open_areas is not None and area not in open_areas and not area.startswith("__")


def library_offences(source: str, module: str) -> list[str]:
    """Imports that a file of specdec_lib may not have."""
    open_areas = areas_open_to(module.split(".")[1])
    return sorted(name for name in imported(source, module) if offence(name, open_areas))


def notebook_offences(source: str) -> list[str]:
    """Imports that a chapter may not have: of our packages students have specdec_lib alone."""
    return sorted(name for name in imported(source) if not name.startswith("specdec_lib"))


def module_name(file: Path) -> str:
    """specdec_lib/models/hf.py -> "specdec_lib.models.hf"."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


LIBRARY = sorted((ROOT / "specdec_lib").rglob("*.py"))
CHAPTERS = sorted((ROOT / "solutions").glob("*.py"))


@pytest.mark.parametrize("file", LIBRARY, ids=module_name)
def test_library_imports_only_what_comes_before_it(file: Path):
    assert library_offences(file.read_text(encoding="utf-8"), module_name(file)) == []


@pytest.mark.parametrize("file", CHAPTERS, ids=module_name)
def test_chapters_import_the_library_only(file: Path):
    assert notebook_offences(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "found"),
    [
        ("theory", "import specdec_lib.models", ["specdec_lib.models"]),
        ("files", "from specdec_lib.sampling import x", ["specdec_lib.sampling.x"]),
        ("exact", "from specdec_lib.decoding import x", ["specdec_lib.decoding.x"]),
        ("device", "from specdec_lib.models import x", ["specdec_lib.models.x"]),
        ("models.hf", "from ..decoding.plain import x", ["specdec_lib.decoding.plain.x"]),
        ("models.__init__", "from ..decoding import x", ["specdec_lib.decoding.x"]),
        ("drafters.ngram", "def f():\n    import specdec_lib.cli", ["specdec_lib.cli"]),
        ("measure.bench", "from specdec_lib import lessons", ["specdec_lib.lessons"]),
        ("lessons.ch02", "from specdec_lib.models import hf", ["specdec_lib.models.hf"]),
        ("lessons.ch02", "from .. import models", ["specdec_lib.models"]),
        ("cli", "import autograde.chapter", ["autograde.chapter"]),
        ("__init__", "from autograde import chapter", ["autograde.chapter"]),
    ],
)
def test_a_forbidden_import_of_the_library_is_seen(module: str, source: str, found: list[str]):
    assert library_offences(source, f"specdec_lib.{module}") == found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("theory", "from specdec_lib.sampling import sample_from\nimport numpy"),
        ("models.hub", "from specdec_lib.files import write_whole"),
        ("models.hf", "from . import protocol\nfrom ..sampling import sample_from"),
        ("training.loop", "from specdec_lib.measure.core import held_out"),
        ("lessons.ch02", "from .widgets import bars\nfrom specdec_lib import __version__, exact"),
        ("cli", "from specdec_lib.measure import bench"),
    ],
)
def test_an_import_in_the_right_direction_passes(module: str, source: str):
    assert library_offences(source, f"specdec_lib.{module}") == []


def test_a_forbidden_import_of_a_chapter_is_seen():
    source = "import numpy\nfrom specdec_lib.sampling import sample_from\nimport autograde.chapter"
    assert notebook_offences(source) == ["autograde.chapter"]


def test_every_package_is_tracked_by_git():
    tracked = subprocess.run(
        ["git", "ls-files", "*__init__.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    packages = [file for top in OURS for file in (ROOT / top).rglob("__init__.py")]
    assert {file.relative_to(ROOT).as_posix() for file in packages} == set(tracked)
