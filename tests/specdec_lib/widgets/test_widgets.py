"""The simulators' Python side, without a browser."""

import html
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from specdec_lib.lessons.common import style
from specdec_lib.lessons.widgets import Simulator, linked_simulator
from specdec_lib.lessons.widgets.batch import batch_simulator
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator
from specdec_lib.lessons.widgets.generation import generation_simulator
from specdec_lib.lessons.widgets.simulator import style_sheet
from specdec_lib.lessons.widgets.trace import trace_picture


def unescaped_page(simulator: Simulator) -> str:
    return html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])


def test_frame_is_sandboxed_and_titled():
    frame = linked_simulator().frame()
    assert 'sandbox="allow-scripts"' in frame and 'title="Simulator of p and q"' in frame
    assert "default-src 'none'" in html.unescape(frame)


def test_without_anywidget_the_frame_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert set(linked_simulator()._repr_mimebundle_()) == {"text/plain", "text/html"}


REFUSED = [
    (linked_simulator, {"c": 1.2}, "c is 1.2: give a number from 0 to 1"),
    (linked_simulator, {"c": "0.5"}, "c is '0.5': give a number"),
    (linked_simulator, {"target": (0.5, 0.5)}, "give 4 probabilities that sum to 1"),
    (linked_simulator, {"view": "all"}, "view is 'all': choose one of residual, paths, speed"),
    (batch_simulator, {"rows": 2.5}, "rows is 2.5: give a whole number from 1 to 16"),
    (draft_tree_simulator, {"accepted": {"a": [0.8, 0.4]}}, "sum to at most 1"),
    (generation_simulator, {"k": 7}, "k is 7: choose one of 1, 2"),
    (trace_picture, {"prompt": "", "blocks": []}, "blocks is empty"),
]


@pytest.mark.parametrize(("make", "arguments", "message"), REFUSED)
def test_a_setting_that_no_slider_shows_is_named(make: Callable, arguments: dict, message: str):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_a_state_is_plain_and_a_copy_and_follows_the_live_widget():
    simulator = linked_simulator(k=3.0, target=np.array([0.45, 0.3, 0.15, 0.1]))
    assert type(simulator.state["k"]) is int and type(simulator.state["target"]) is list
    simulator.state["target"][0] = 7
    assert simulator.state["target"][0] == 0.45
    # What a bar sends is rounded as floats are.
    dragged = [0.1 + 0.2, 0.3, 0.15, 0.25]
    simulator.widget.state = {**simulator.state, "target": dragged}
    assert simulator.state["target"] == dragged
    assert '"target": [0.30000000000000004, 0.3, 0.15, 0.25]' in simulator.page()


def test_values_cannot_close_the_script_element():
    anything = Simulator("linked", "A <b>", {}, {"p": "</script>"}, 100)
    assert unescaped_page(anything).count("</script>") == 1
    assert "<title>A &lt;b&gt;</title>" in unescaped_page(anything)


def test_colours_and_hatches_are_the_same_in_figures_and_simulators():
    for name, colour in style.palette("light").items():
        assert style.role(name)["edgecolor"] == colour == getattr(style, name.upper())
        assert f"--sd-{name}: {colour};" in style_sheet()
    hatches = [style.role(name)["hatch"] for name in ("accepted", "excess", "residual")]
    assert len(set(hatches)) == 3


LIGHT = """
import sys
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator()
assert not {"anywidget", "ipywidgets", "matplotlib", "IPython"} & set(sys.modules)
"""


def test_plain_python_loads_no_notebook_packages():
    subprocess.run([sys.executable, "-c", LIGHT], check=True, timeout=120)
