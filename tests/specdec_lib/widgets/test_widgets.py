"""The simulators' Python side, without a browser."""

import html
import sys

import numpy as np

from specdec_lib.lessons.drawing import style
from specdec_lib.lessons.widgets import Simulator, linked_simulator
from specdec_lib.lessons.widgets.simulator import simulator_css


def test_frame_is_sandboxed_and_titled():
    frame = linked_simulator().frame()
    assert 'sandbox="allow-scripts"' in frame and 'title="Simulator of p and q"' in frame
    assert "default-src 'none'" in html.unescape(frame)


def test_without_anywidget_the_frame_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert set(linked_simulator()._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_state_is_plain_and_a_copy_and_follows_the_live_widget():
    simulator = linked_simulator(target=np.array([0.45, 0.3, 0.15, 0.1]))
    assert type(simulator.state["target"]) is list
    simulator.state["target"][0] = 7
    assert simulator.state["target"][0] == 0.45
    # What a bar sends is rounded as floats are.
    dragged = [0.1 + 0.2, 0.3, 0.15, 0.25]
    simulator.widget.state = {**simulator.state, "target": dragged}
    assert simulator.state["target"] == dragged
    assert '"target": [0.30000000000000004, 0.3, 0.15, 0.25]' in simulator.page()


def test_values_cannot_close_the_script_element():
    page = Simulator("linked", "A <b>", {"p": "</script>"}, 100).page()
    assert page.count("</script>") == 1 and "<title>A &lt;b&gt;</title>" in page


def test_colours_and_hatches_are_the_same_in_figures_and_simulators():
    for name, colour in style.palette("light").items():
        assert style.role(name)["edgecolor"] == colour == getattr(style, f"{name.upper()}_COLOUR")
        assert f"--sd-{name}: {colour};" in simulator_css()
    hatches = [style.role(name)["hatch"] for name in ("accepted", "excess", "residual")]
    assert len(set(hatches)) == 3
