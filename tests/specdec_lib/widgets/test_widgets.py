"""The simulators' Python side, without a browser."""

import base64
import html
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from pages.simulators import MAKERS, TEXT

from specdec_lib.lessons.ch01 import checks as ch01
from specdec_lib.lessons.common import style
from specdec_lib.lessons.widgets import Simulator, linked_simulator
from specdec_lib.lessons.widgets.batch import batch_simulator
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator
from specdec_lib.lessons.widgets.pipeline import pipeline_animation
from specdec_lib.lessons.widgets.simulator import LIVE, PALETTE, style_sheet
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
    ("linked", {"c": 1.2}, "c is 1.2: a probability lies between 0 and 1"),
    ("linked", {"c": -0.1}, "c is -0.1: a probability"),
    ("linked", {"s": math.nan}, "s is nan: a probability"),
    ("linked", {"c": "0.5"}, "c is '0.5', which is not a number"),
    ("linked", {"c": [1]}, r"c is \[1\], which is not a number"),
    ("linked", {"target": (0.5, 0.5)}, "target has 2 probabilities; this simulator shows 4"),
    ("linked", {"target": (0.5, 0.5, -0.5, 0.5)}, r"target\[2\] is -0.5: a probability"),
    ("linked", {"draft": (0.3, 0.3, 0.2, 0.1)}, "draft sums to 0.9: a distribution sums to 1"),
    ("linked", {"draft": 0.5}, "draft is 0.5: give 4 probabilities"),
    ("linked", {"draft": "abcd"}, r"draft\[0\] is 'a', which is not a number"),
    ("linked", {"view": "acceptance"}, "view is 'acceptance': choose one of residual, paths, sp"),
    ("linked", {"k": 21}, "k is 21: give a whole number from 0 to 20"),
    ("linked", {"ms": 0}, "ms is 0: this simulator takes"),
    ("linked, measured", {"k": 6}, "k is 6: give a whole number from 0 to 5"),
    ("linked, paths", {"sampler": "best"}, "sampler is 'best': choose one of rule, from_target"),
    ("batch", {"alpha": 1.5}, "alpha is 1.5: a probability"),
    ("batch", {"rows": 17}, "rows is 17: give a whole number from 1 to 16"),
    ("batch", {"k": math.inf}, "k is inf: give a whole number"),
    ("bottleneck", {"bandwidth": 0}, r"bandwidth is 0: this simulator takes 1e\+09 to 1e\+14"),
    ("bottleneck", {"peak_flops": math.nan}, "peak_flops is nan"),
    ("bottleneck", {"tokens": 600}, "tokens is 600: give a whole number from 1 to 512"),
    ("design_map", {"at": 99}, "at is 99: give a whole number from 0 to"),
    ("design_map", {"timing": "later"}, "timing is 'later': choose one of every, steps"),
    ("draft_tree", {"c": 0.7}, "c is 0.7: this simulator takes 0 to 0.5"),
    ("draft_tree", {"drafts": {"a": [0.8, 0.4]}}, "sum to at most 1"),
    ("draft_tree", {"drafts": {"a": [1.5]}}, r"drafts\['a'\]\[0\] is 1.5: a probability"),
    ("draft_tree", {"drafts": {"a": []}}, "give probabilities"),
    ("draft_tree", {"shapes": {"t": [-1, 1]}}, "stands before its child"),
    ("generation", {"k": 7}, "k is 7: choose one of 1, 2"),
    ("generation", {"c": 0.7}, "c is 0.7: this simulator takes 0 to 0.5"),
    ("generation", {"v": 0.5}, "v is 0.5: this simulator takes 1 to 3"),
    ("paper_rows", {"row": 12}, "row is 12: give a whole number from 0 to 11"),
    ("paper_rows", {"k": 13}, "k is 13: give a whole number from 0 to 12"),
    ("paper_rows", {"c": -0.1}, "c is -0.1"),
    ("pipeline", {"frame": -1}, "frame is -1: give a whole number"),
    ("pipeline", {"frame": 0.5}, "frame is 0.5: give a whole number"),
    ("pipeline", {"frame": True}, "frame is True: give a whole number"),
    ("trace", {"blocks": []}, "blocks is empty"),
    ("trace", {"chosen": -1}, "chosen is -1: give a whole number from 0 to"),
    ("trace", {"chosen": 60}, "chosen is 60: give a whole number from 0 to 59"),
]


@pytest.mark.parametrize(("name", "part", "message"), REFUSED)
def test_a_setting_that_no_slider_shows_is_named(name: str, part: dict, message: str):
    with pytest.raises(ValueError, match=message):
        MAKERS[name]().update(**part)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\] has 4 draft tokens and 1 p"),
        ({"q": [2, 0, 0, 0]}, r"blocks\[0\].q is 2.0: a probability"),
        ({"token": 7}, r"blocks\[0\].token is 7, which is not a text"),
    ],
)
def test_what_is_no_record_is_named(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        pipeline_animation({**ch01.RECORDED, "blocks": [ch01.RECORDED["blocks"][0] | change]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\]: every draft token needs a p and a q"),
        ({"p": [0.5, 1.5]}, r"blocks\[0\].p\[1\] is 1.5: a probability"),
        ({"accepted": 3}, "no more are accepted"),
        ({"accepted": -1}, "no more are accepted"),
    ],
)
def test_what_is_no_block_of_a_text_is_named(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        trace_picture("x", [TEXT | change])


def test_a_state_is_plain_and_its_text_visible():
    state = trace_picture("def f(x):\n    ", [TEXT | {"p": [1, np.float64(0.5)]}]).state
    assert state["prompt"] == "def·f(x):↵·4" and state["blocks"][0]["token"] == "↵·40"
    assert [type(p) for p in state["blocks"][0]["p"]] == [float, float]
    rows = batch_simulator(k=3.0, rows=np.int64(2)).state
    assert (type(rows["k"]), type(rows["rows"])) == (int, int)


def test_a_tree_simulator_needs_a_tree_and_a_draft_and_one_is_enough():
    assert draft_tree_simulator({"a": [0.5]}, {"t": [-1]}).state["shape"] == 0
    with pytest.raises(ValueError, match="shapes is empty"):
        draft_tree_simulator({"a": [0.5]}, {})
    with pytest.raises(ValueError, match="drafts is empty"):
        draft_tree_simulator({})


def test_update_moves_the_live_widget_and_state_follows_it():
    simulator = linked_simulator()
    simulator.update(k=7)
    assert simulator.state["k"] == 7 and simulator.widget.state["k"] == 7
    simulator.update(token=3)
    assert simulator.widget.state["token"] == 3
    # What a bar sends is rounded as floats are.
    dragged = [0.1 + 0.2, 0.3, 0.15, 0.25]
    simulator.widget.state = {**simulator.state, "target": dragged}
    simulator.update(k=2)
    assert simulator.state["target"] == dragged and simulator.state["k"] == 2
    assert '"target": [0.30000000000000004, 0.3, 0.15, 0.25]' in simulator.page()


@pytest.mark.parametrize(
    ("part", "message"), [({"p": 0.5}, "has no p: it has view, target"), ({"c": 2}, "c is 2.0")]
)
def test_a_refused_update_changes_nothing(part, message):
    simulator = linked_simulator()
    before = simulator.state
    with pytest.raises(ValueError, match=message):
        simulator.update(**part)
    assert simulator.state == before


def test_state_is_a_copy():
    simulator = linked_simulator()
    simulator.state["target"][0] = 7
    assert simulator.state["target"][0] == 0.45


def test_values_cannot_close_the_script_element():
    anything = Simulator(
        "linked", "A <b>", {"p": lambda _, value: value}, {"p": "</script>"}, {}, 100
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
from specdec_lib.lessons.widgets import linked_simulator

linked_simulator()
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
