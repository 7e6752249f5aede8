"""The JavaScript that is written by hand: linted, in one module, and extended by its page."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograde.chapter import ROOT
from specdec_lib.lessons.widgets import simulator

OXLINT = Path(sys.executable).with_name("oxlint")
RULES = ROOT / ".oxlintrc.json"


def lint(folder: Path) -> str:
    """What the linter says of the JavaScript in a folder; nothing where all is well."""
    done = subprocess.run([OXLINT, "-c", RULES, folder], capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def test_every_name_is_declared_and_used():
    assert lint(simulator.HERE) == ""


@pytest.mark.browser
def test_a_simulator_is_added_by_following_its_page(tmp_path, monkeypatch, reader, module):
    readme = (simulator.HERE / "README.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", readme, re.DOTALL))
    shutil.copytree(simulator.HERE / "parts", tmp_path / "parts")
    (tmp_path / "coin.js").write_text(blocks["js"])
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
    with pytest.raises(ValueError, match="alpha is 2: give a number from 0 to 1"):
        names["coin_simulator"](2)
