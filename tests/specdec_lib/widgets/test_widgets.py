"""The simulators' Python side, without a browser."""

import base64
import html
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from specdec_lib.lessons.common import style
from specdec_lib.lessons.widgets import Simulator, acceptance_simulator
from specdec_lib.lessons.widgets.simulator import LIVE, PALETTE, style_sheet


def unescaped_page(simulator: Simulator) -> str:
    return html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])


def test_one_object_gives_both_renderings():
    simulator = acceptance_simulator()
    bundle = simulator._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", LIVE}
    assert bundle[LIVE]["model_id"] == simulator.widget.model_id
    assert bundle["text/plain"].startswith("Acceptance simulator")


def test_frame_is_sandboxed_and_titled():
    frame = acceptance_simulator().frame()
    assert 'sandbox="allow-scripts"' in frame and 'title="Acceptance simulator"' in frame
    assert "default-src 'none'" in html.unescape(frame)
    assert unescaped_page(acceptance_simulator()).count("</script>") == 1


def test_without_anywidget_the_frame_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert set(acceptance_simulator()._repr_mimebundle_()) == {"text/plain", "text/html"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p": 1.2}, "p is 1.2: a probability lies between 0 and 1"),
        ({"q": -0.1}, "q is -0.1: a probability"),
        ({"p": math.nan}, "p is nan: a probability"),
        ({"q": "half"}, "q is 'half', which is not a number"),
        ({"target": (0.5, 0.5)}, "target has 2 probabilities; this simulator shows 4"),
        ({"target": (0.5, 0.5, -0.5, 0.5)}, r"target\[2\] is -0.5: a probability"),
        ({"draft": (0.3, 0.3, 0.2, 0.1)}, "draft sums to 0.9: a distribution sums to 1"),
        ({"draft": 0.5}, "draft is 0.5: give 4 probabilities"),
        ({"draft": np.array(0.5)}, "give 4 probabilities"),
        ({"draft": "abcd"}, r"draft\[0\] is 'a', which is not a number"),
    ],
)
def test_what_is_no_probability_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        acceptance_simulator(**arguments)


def test_update_moves_the_live_widget_and_state_follows_it():
    simulator = acceptance_simulator()
    simulator.update(p=0.1)
    assert simulator.state["p"] == 0.1 and simulator.widget.state["p"] == 0.1
    simulator.update(q=0.9)
    assert simulator.widget.state["q"] == 0.9
    # A slider of the second panel sends weights, which need not sum to 1.
    simulator.widget.state = {**simulator.state, "target": [1.0, 0.3, 0.15, 0.1]}
    simulator.update(p=0.2)
    assert simulator.state["target"] == [1.0, 0.3, 0.15, 0.1] and simulator.state["p"] == 0.2
    assert '"target": [1.0, 0.3, 0.15, 0.1]' in simulator.page()


@pytest.mark.parametrize(
    ("part", "message"), [({"alpha": 0.5}, "has no alpha: it has p, q"), ({"p": 2}, "p is 2.0")]
)
def test_a_refused_update_changes_nothing(part, message):
    simulator = acceptance_simulator()
    before = simulator.state
    with pytest.raises(ValueError, match=message):
        simulator.update(**part)
    assert simulator.state == before


def test_state_is_a_copy():
    simulator = acceptance_simulator()
    simulator.state["target"][0] = 7
    assert simulator.state["target"][0] == 0.45


def test_values_cannot_close_the_script_element():
    anything = Simulator(
        "acceptance", "A <b>", {"p": lambda _, value: value}, {"p": "</script>"}, {}, 100
    )
    assert unescaped_page(anything).count("</script>") == 1
    assert "<title>A &lt;b&gt;</title>" in unescaped_page(anything)


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


PAPERS = [("light", "#ffffff"), ("light", "#f4f4f4"), ("dark", "#1e1e24"), ("dark", "#111111")]


@pytest.mark.parametrize(("theme", "paper"), PAPERS)
@pytest.mark.parametrize("role", PALETTE)
def test_every_colour_stands_out_from_its_paper(role, theme, paper):
    high, low = sorted((luminance(PALETTE[role][theme]), luminance(paper)), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 3  # WCAG 1.4.11, graphics


def test_colours_and_hatches_are_the_same_in_figures_and_simulators():
    for name, entry in PALETTE.items():
        assert style.role(name)["edgecolor"] == entry["light"] == getattr(style, name.upper())
        assert f"--sd-{name}: {entry['light']};" in style_sheet()
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


def test_show_wants_words():
    import matplotlib.pyplot as plt

    figure, _ = plt.subplots()
    with pytest.raises(ValueError, match="needs alternative text"):
        style.show(figure, " ")
    plt.close(figure)


PLAIN_PYTHON = """
import sys
from specdec_lib.lessons.common import style
from specdec_lib.lessons.widgets import acceptance_simulator

acceptance_simulator()
assert not {"anywidget", "ipywidgets", "matplotlib"} & set(sys.modules)

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

style.style()
figure, axes = plt.subplots()
axes.bar([0], [1], **style.role("excess"))
style.show(figure, "words")
assert not plt.get_fignums()
"""


def test_plain_python_draws_nothing_and_loads_no_notebook_packages():
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_PYTHON], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
