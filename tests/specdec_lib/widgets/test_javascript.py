"""The JavaScript that is written by hand: linted, bundled, and extended by following a page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages.simulators import NAMES

from autograde.chapter import ROOT
from specdec_lib.lessons.widgets import simulator
from specdec_lib.lessons.widgets.parts.bundle import bundle

HERE = simulator.HERE
OXLINT = Path(sys.executable).with_name("oxlint")
RULES = ROOT / ".oxlintrc.json"


def lint(folder: Path) -> str:
    """What the linter says of the JavaScript in a folder; nothing where all is well."""
    done = subprocess.run([OXLINT, "-c", RULES, folder], capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text)
    return folder


def test_every_name_is_declared_and_used():
    assert lint(HERE) == ""


def test_what_is_delivered_is_one_module_and_declares_all_it_uses(tmp_path: Path):
    for name in NAMES:
        module = simulator.module_source(name)
        assert not re.search(r"^\s*import\b", module, re.MULTILINE)
        frame = simulator._FRAME_MODEL.replace("__VALUES__", "{}")
        write(tmp_path, **{name: module + frame})
    # A part may export more than this simulator needs: an unused name is no fault here.
    faults = re.findall(r"eslint\((?!no-unused-vars)[^)]*\).*", lint(tmp_path))
    assert faults == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("export const y = x;", "'x' is not defined"),
        ("export function f() { const x = 1; }", "'x' is declared but never used"),
        ('import { show } from "./b.js";', "'show' is imported but never used"),
        ('import { gone } from "./b.js";\ngone();', 'named import "gone" not found'),
    ],
)
def test_the_linter_finds(source: str, fault: str, tmp_path: Path):
    assert fault in lint(write(tmp_path, a=source, b="export const show = 1;"))


PART = "export const show = 1;\nconst inner = 2;\nconsole.log(inner);\n"


def test_each_file_is_bundled_once_after_those_that_it_needs(tmp_path: Path):
    top = 'import { middle } from "./parts/b.js";\nimport { show } from "./c.js";\nmiddle(show);\n'
    middle = 'import {\n  show,\n} from "../c.js";\nexport const middle = () => show;\n'
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts", b=middle)
    text = bundle(write(tmp_path, a=top, c=PART) / "a.js")
    assert text.split("\n\n") == [
        PART.strip(),
        "export const middle = () => show;",
        "middle(show);\n",
    ]


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            'import { inner } from "./b.js";',
            "a.js imports inner from ./b.js, which exports no such",
        ),
        (
            'import { show } from "./gone.js";',
            "a.js imports from ./gone.js, which is no file beside it",
        ),
        ('import { show as print } from "./b.js";', "a.js: .* is not understood here"),
        ('import * as b from "./b.js";', "a.js: `import .*` is not understood here"),
        ('import { show } from "https://a.b/c.js";', "a.js: `import .*` is not understood here"),
        ("export { show };", "a.js: `export { show };` is not understood here"),
        (
            'import { show } from "./b.js";\nconst inner = show;',
            r"inner is defined in \S+/b.js and in \S+/a",
        ),
    ],
)
def test_what_cannot_be_bundled_is_named(source: str, fault: str, tmp_path: Path):
    with pytest.raises(ValueError, match=fault):
        bundle(write(tmp_path, a=source + "\n", b=PART) / "a.js")


@pytest.mark.browser
def test_a_simulator_is_added_by_following_its_page(tmp_path, monkeypatch, reader, module):
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 40
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", readme, re.DOTALL))
    shutil.copytree(HERE / "parts", tmp_path / "parts")
    write(tmp_path, coin=blocks["js"])
    monkeypatch.setattr(simulator, "HERE", tmp_path)
    names: dict = {}
    exec(blocks["python"], names)
    assert lint(tmp_path) == ""
    coin = names["coin_simulator"](0.5)
    assert module(coin)("both", 0.3) == pytest.approx(0.09)
    seen = reader(coin)
    assert seen.numbers() == ["0.25"]
    seen.frame.get_by_role("slider").press("Home")
    assert seen.numbers() == ["0.00"]
    with pytest.raises(ValueError, match="alpha is 2.0: a probability lies between 0 and 1"):
        coin.update(alpha=2)
