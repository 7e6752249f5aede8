"""The picture of chapters 02 to 04 as a reader meets it: formulas, dragging and views."""

import numpy as np
import pytest
from classes.chapter_cases import functions_of, random_pairs

from specdec_lib import theory
from specdec_lib.lessons.ch03 import computed, rules
from specdec_lib.lessons.widgets import linked_simulator
from specdec_lib.lessons.widgets.simulators import MAX_SPEED_K
from specdec_lib.sampling import sample_from

pytestmark = pytest.mark.browser

P, Q = np.array([0.45, 0.30, 0.15, 0.10]), np.array([0.30, 0.45, 0.20, 0.05])
WORKED = ["0.80", "0.20"]
RULE = functions_of("02_rejection_sampling")
SAMPLERS = ("rule", "from_target", "argmax")
SHARES = "[...document.querySelectorAll('.sd-grip')].map((grip) => Number(grip.ariaValueText))"


def best_steep(alpha: float, c: float, s: float, k_max: int) -> int:
    """The smallest best K where every token of a pass after the first costs `s`."""
    speeds = [theory.walltime_speedup(alpha, c, k, 1 + s * k) for k in range(k_max + 1)]
    return next(k for k, speed in enumerate(speeds) if speed >= max(speeds) - 1e-12)


# ---- formulas ----------------------------------------------------------------------------------


def test_formulas_of_a_pair_equal_the_library(module):
    call = module(linked_simulator())

    def same(got: list[float], want: np.ndarray) -> None:
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)

    for p, q in random_pairs(40, seed=20):
        pair, excess = (p.tolist(), q.tolist()), np.maximum(0, p - q)
        same(call("overlap", *pair), np.minimum(p, q))
        same(call("excess", *pair), excess)
        same(call("residual", *pair), RULE["residual_distribution"](p, q) if excess.any() else p)
        same(call("paths", *pair), [np.minimum(p, q), excess])
        same(np.sum(call("paths", *pair), axis=0), p)
        same(call("totalVariation", *pair), np.abs(p - q).sum() / 2)
        for token in np.flatnonzero(q):  # what a draft can propose
            want = RULE["acceptance_probability"](p, q, token)
            same(call("acceptance", float(p[token]), float(q[token])), want)


def test_formulas_of_a_block_equal_the_library(module):
    call = module(linked_simulator())
    settings = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0.5, 0.2, 0), (0.3, 0.3, 0), (0.25, 0.0, 0.3)]
    drawn = np.random.default_rng(3).random((40, 3)).round(2)
    for alpha, c, s in [*settings, *drawn.tolist()]:
        v = call("straight", s, MAX_SPEED_K)
        for k in (0, 1, 5, MAX_SPEED_K):
            assert v[k] == pytest.approx(1 + s * k, abs=1e-12)
            want = theory.walltime_speedup(alpha, c, k, 1 + s * k)
            assert call("speedup", alpha, c, k, v) == pytest.approx(want, abs=1e-12)
            tokens = call("expectedTokens", alpha, k)
            assert tokens == pytest.approx(theory.expected_tokens(alpha, k), abs=1e-12)
        assert call("bestK", alpha, c, v) == best_steep(alpha, c, s, MAX_SPEED_K)


# ---- dragging ----------------------------------------------------------------------------------


def heights(page, name: str):
    """The bar called `name`, and the point of the screen where it has a given height."""
    page.frame.locator("html").evaluate("() => scrollTo(0, 0)")
    bar = page.slider(name)
    box = bar.bounding_box()
    x, bottom, length = box["x"] + box["width"] / 2, box["y"] + box["height"] - 12, box["height"]
    return bar, lambda value: (x, bottom - value * (length - 24))


@pytest.mark.parametrize("width", [400, 1100])
def test_a_bar_is_dragged_by_the_mouse_and_all_numbers_move(reader, width):
    page = reader(linked_simulator(), width=width)
    bar, at = heights(page, "draft q of B")
    mouse = page.page.mouse
    mouse.move(*at(0.45))
    mouse.down()
    mouse.move(*at(1.1))
    assert page.numbers() == ["0.30", "0.70"]
    mouse.move(*at(0.8))  # what the others were when the bar was taken hold of comes back
    mouse.up()
    assert page.numbers() == ["0.50", "0.50"]
    assert bar.input_value() == "0.8"
    want = (Q * 0.2 / 0.55).round(3)
    assert page.evaluate(SHARES)[1::2] == [want[0], 0.8, *want[2:]]


def test_a_bar_is_dragged_by_a_finger(reader):
    page = reader(linked_simulator(), width=400)
    bar, at = heights(page, "target p of A")
    touch = page.page.context.new_cdp_session(page.page)
    for kind, values in (("touchStart", [0.45]), ("touchMove", [0.5, 0.6, 0.7])):
        for value in values:
            point = dict(zip("xy", at(value), strict=True))
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    touch.detach()
    bar.and_(page.frame.locator("[aria-valuetext='0.70']")).wait_for()
    assert page.evaluate("scrollY") == 0


def test_arrow_keys_move_a_bar_and_reset_brings_the_pair_back(reader):
    page = reader(linked_simulator())
    page.slider("target p of A").focus()
    page.page.keyboard.press("Tab")
    for key in ("ArrowUp", "ArrowRight", "ArrowDown", *5 * ["ArrowUp"]):
        page.page.keyboard.press(key)
    q = np.array([0.36, *(np.delete(Q, 0) * 0.64 / 0.70)])
    rate = np.minimum(P, q).sum()
    assert page.numbers()[0] == f"{rate:.3f}"
    assert page.slider("draft q of A").input_value() == "0.36"
    page.press("Reset")
    assert page.numbers() == WORKED and page.slider("draft q of A").input_value() == "0.3"


LAB_LISTENS = """() => { window.taken = []; document.addEventListener("keydown", (event) => {
    if (!event.target.hasAttribute("data-lm-suppress-shortcuts")) window.taken.push(event.key);
}, true); }"""


def test_plain_keys_are_kept_from_jupyterlab(reader):
    # JupyterLab's shortcuts listen in this way; they would take the arrows, Enter and letters.
    page = reader(linked_simulator())
    frame = page.page.frames[1]
    frame.evaluate(LAB_LISTENS)
    for control in (page.slider("target p of A"), page.frame.get_by_role("button").first):
        control.focus()
        for key in ("ArrowRight", "Home", "Enter", "d", "Control+s", "Shift+Enter", "ArrowUp"):
            page.page.keyboard.press(key)
    taken = [key for key in frame.evaluate("taken") if key not in ("Control", "Shift")]
    assert taken == ["s", "Enter"] * 2


# ---- the view of chapter 03 --------------------------------------------------------------------


def test_the_paths_add_up_to_p_whatever_is_dragged(reader):
    page = reader(linked_simulator("paths"))
    assert "A: by acceptance 0.30, by correction 0.15, target 0.45" in page.description(1)
    page.slider("draft q of D").press("End")
    assert page.numbers()[:2] == ["0.10", "0.90"]
    assert "A: by acceptance 0.00, by correction 0.45, target 0.45" in page.description(1)
    assert page.verdict().startswith("D: 0.10 by acceptance and 0.00 by correction are 0.10")


def exact_law(sampler: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """A sampler's distribution by the library."""
    drawn = np.eye(len(q))[np.argmax(q)] if sampler == "argmax" else q
    if sampler == "from_target":
        overlap = np.minimum(p, q)
        return overlap + (1 - overlap.sum()) * p
    return computed.mismatch_law(p, q, drawn)


def test_formulas_of_the_sample_equal_the_library(module):
    call = module(linked_simulator("paths"))
    for p, q in random_pairs(30, seed=33):
        assert call("noise", p.tolist(), 5000) == pytest.approx(computed.noise(p, 5000), rel=1e-9)
        for sampler in SAMPLERS:
            law = call("law", sampler, p.tolist(), q.tolist())
            np.testing.assert_allclose(law, exact_law(sampler, p, q), rtol=0, atol=1e-12)
        u = float(p.cumsum()[1] - 1e-6)
        assert call("pick", p.tolist(), u) == sample_from(p, u)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_draws_are_those_of_the_rule(module, sampler: str):
    call, counts = module(linked_simulator("paths")), [0, 0, 0, 0]
    replacement = P if sampler == "from_target" else rules.normalised_residual(P, Q)
    for u, r, v in np.reshape(call("uniforms", 3, 1500), (500, 3)):
        token = int(np.argmax(Q)) if sampler == "argmax" else sample_from(Q, u)
        counts[token if r * Q[token] < P[token] else sample_from(replacement, v)] += 1
    assert call("draw", sampler, P.tolist(), Q.tolist(), 3, 500)["counts"] == counts


def test_a_sample_is_drawn_and_dropped_with_its_pair(reader):
    page = reader(linked_simulator("paths"))
    assert page.numbers() == [*WORKED, "–", "–"]
    page.press("Sample 1,000")
    page.press("Sample 100")
    seen, floor = (float(x) for x in page.numbers()[2:])
    assert floor == round(computed.noise(P, 1100), 4) and 0 < seen < 4 * floor
    assert "After 1,100 draws" in page.verdict(1)
    assert page.frame.locator(".sd-chart circle[r='4']").count() == 2
    page.slider("draft q of A").press("ArrowUp")
    assert page.numbers()[2:] == ["–", "–"]


# ---- the view of chapter 04 --------------------------------------------------------------------


def test_k_c_and_s_move_the_curves(reader):
    page = reader(linked_simulator("speed", c=0.05, k=3))
    page.slider("K draft tokens in a block").press("ArrowRight")
    assert page.numbers() == ["0.80", "0.20", "3.362", "5.03 ms", "2.801", "8"]
    assert f"K = 4: {14.1 / theory.walltime_speedup(0.8, 0.05, 4):.3g}" in page.description(2)
    for _ in range(10):  # to 0.10
        page.slider("s cost of each further token of a pass").press("ArrowRight")
    assert page.numbers()[5] == str(best_steep(0.8, 0.05, 0.1, MAX_SPEED_K))
    page.press("Reset")
    assert page.numbers() == ["0.80", "0.20", "2.952", "5.49 ms", "2.567", "8"]
