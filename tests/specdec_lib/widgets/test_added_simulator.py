"""The page that tells how to add a simulator, followed."""

import re
import shutil

import pytest

from specdec_lib.lessons.widgets import simulator


@pytest.mark.browser
def test_a_simulator_is_added_by_following_its_page(tmp_path, monkeypatch, reader, module):
    readme = (simulator.WIDGETS / "README.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", readme, re.DOTALL))
    shutil.copytree(simulator.WIDGETS / "parts", tmp_path / "parts")
    (tmp_path / "coin.js").write_text(blocks["js"])
    monkeypatch.setattr(simulator, "WIDGETS", tmp_path)
    names: dict = {}
    exec(blocks["python"], names)
    coin = names["coin_simulator"](0.5)
    assert module(coin)("both", 0.3) == pytest.approx(0.09)
    seen = reader(coin)
    assert seen.numbers() == ["0.25"]
    seen.frame.get_by_role("slider").press("Home")
    assert seen.numbers() == ["0.00"]
