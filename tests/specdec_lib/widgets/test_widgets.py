"""The simulators' Python side, without a browser."""

import base64
import html
import math
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from pages.simulators import TEXT

from specdec_lib.lessons.common import style
from specdec_lib.lessons.widgets import Simulator, linked_simulator
from specdec_lib.lessons.widgets.batch import batch_simulator
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator
from specdec_lib.lessons.widgets.design_map import design_map
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator
from specdec_lib.lessons.widgets.generation import generation_simulator
from specdec_lib.lessons.widgets.simulator import LIVE, style_sheet
from specdec_lib.lessons.widgets.trace import trace_picture


def unescaped_page(simulator: Simulator) -> str:
    return html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])


def test_one_object_gives_both_renderings():
    simulator = linked_simulator()
    bundle = simulator._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", LIVE}
    assert bundle[LIVE]["model_id"] == simulator.widget.model_id
    assert bundle["text/plain"].startswith("Simulator of p and q")


def test_frame_is_sandboxed_and_titled():
    frame = linked_simulator().frame()
    assert 'sandbox="allow-scripts"' in frame and 'title="Simulator of p and q"' in frame
    assert "default-src 'none'" in html.unescape(frame)


def test_without_anywidget_the_frame_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert set(linked_simulator()._repr_mimebundle_()) == {"text/plain", "text/html"}


REFUSED = [
    (linked_simulator, {"c": 1.2}, "c is 1.2: give a number from 0 to 1"),
    (linked_simulator, {"s": math.nan}, "s is nan: give a number"),
    (linked_simulator, {"c": "0.5"}, "c is '0.5': give a number"),
    (linked_simulator, {"target": (0.5, 0.5)}, "give 4 probabilities that sum to 1"),
    (linked_simulator, {"draft": (0.3, 0.3, 0.2, 0.1)}, "give 4 probabilities that sum to 1"),
    (linked_simulator, {"view": "all"}, "view is 'all': choose one of residual, paths, speed"),
    (linked_simulator, {"k": 21}, "k is 21: give a number from 0 to 20"),
    (batch_simulator, {"rows": 2.5}, "rows is 2.5: give a whole number from 1 to 16"),
    (bottleneck_simulator, {"bandwidth": 0}, r"bandwidth is 0: give a number from 1e\+09"),
    (design_map, {"at": 99}, "at is 99: give a number"),
    (draft_tree_simulator, {"accepted": {"a": [0.8, 0.4]}}, "sum to at most 1"),
    (draft_tree_simulator, {"accepted": {}}, "give at least one draft"),
    (generation_simulator, {"k": 7}, "k is 7: choose one of 1, 2"),
    (trace_picture, {"prompt": "", "blocks": []}, "blocks is empty"),
    (trace_picture, {"prompt": "", "blocks": [TEXT], "chosen": 2}, "chosen is 2: give a number"),
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
    hatches = [style.HATCH[name] for name in ("accepted", "excess", "residual")]
    assert len(set(hatches)) == 3


def test_show_in_a_notebook_gives_a_picture_with_its_words(monkeypatch):
    import IPython
    import IPython.display
    import matplotlib.pyplot as plt

    shown = []
    figure, _ = plt.subplots()
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append((data, raw)))
    style.show(figure, 'alpha = 0.80, "worked" <pair>')
    data, raw = shown[0]
    assert raw and data["text/plain"] == 'alpha = 0.80, "worked" <pair>'
    assert 'alt="alpha = 0.80, &quot;worked&quot; &lt;pair&gt;"' in data["text/html"]
    picture = re.search(r"base64,([^\"]+)", data["text/html"])[1]
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert not plt.fignum_exists(figure.number)
    with pytest.raises(ValueError, match="needs alternative text"):
        style.show(figure, " ")


LIGHT = """
import sys
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator()
assert not {"anywidget", "ipywidgets", "matplotlib", "IPython"} & set(sys.modules)
"""


def test_plain_python_loads_no_notebook_packages():
    subprocess.run([sys.executable, "-c", LIGHT], check=True, timeout=120)
