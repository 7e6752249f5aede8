"""README's list of files can be read from top to bottom: short, and closed."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_FILES, MOST_LINES = 6, 650
FOREIGN = {"numpy", "torch"}


def reading_path(readme: str) -> list[str]:
    """The files that the first column of README's table on the code links to."""
    table = readme.split("meant to be read, in this order:")[1].strip().split("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return [target for cell in cells for target in re.findall(r"\]\((.*?)\)", cell)]


def unknown_imports(source: str, before: list[str]) -> list[str]:
    """What `source` imports from elsewhere than the files `before` it and what FOREIGN allows."""
    known = {file.removesuffix(".py").replace("/", ".") for file in before}
    modules = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append("." * node.level + (node.module or ""))
    allowed = sys.stdlib_module_names | FOREIGN
    known |= allowed
    return [each for each in modules if not {each, each.split(".")[0]} & known]


README = (ROOT / "README.md").read_text(encoding="utf-8")
PATH = reading_path(README)


def test_the_list_is_short():
    lines = [len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in PATH]
    assert 1 < len(PATH) <= MOST_FILES and sum(lines) < MOST_LINES
    assert f"together they have less than {MOST_LINES} lines" in README


@pytest.mark.parametrize("file", PATH)
def test_every_file_is_understood_from_those_before_it(file: str):
    source = (ROOT / file).read_text(encoding="utf-8")
    assert unknown_imports(source, PATH[: PATH.index(file)]) == []


def test_the_rule_stands_in_the_list():
    verify = (ROOT / "specdec_lib/decoding/verify.py").read_text(encoding="utf-8")
    assert "specdec_lib/decoding/verify.py" in PATH and "r * q.double() < p.double()" in verify


def test_a_name_from_elsewhere_is_seen():
    source = "import math\nfrom a.b import c\nfrom a import d\nfrom . import e\nimport torch.nn"
    assert unknown_imports(source, ["a/b.py"]) == ["a", "."]
