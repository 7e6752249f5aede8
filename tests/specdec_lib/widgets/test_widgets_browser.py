"""The simulators as a reader meets them in Chromium: numbers, keyboard, themes, no request."""

import numpy as np
import pytest
from classes.chapter_cases import random_pairs

from specdec_lib.lessons.widgets import acceptance_simulator

pytestmark = pytest.mark.browser

P, Q = np.array([0.45, 0.30, 0.15, 0.10]), np.array([0.30, 0.45, 0.20, 0.05])


def test_functions_equal_numpy(module):
    call = module(acceptance_simulator())

    def same(got: list[float], want: np.ndarray) -> None:
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)

    for p, q in random_pairs(200, seed=20):
        left, pair = np.maximum(0, p - q), (p.tolist(), q.tolist())
        same(call("overlap", *pair), np.minimum(p, q))
        same(call("excess", *pair), left)
        same(call("residual", *pair), left / left.sum() if left.sum() else p)
        with np.errstate(divide="ignore", invalid="ignore"):
            want = np.where(p == 0, 0, np.where(q == 0, 1, np.minimum(1, p / q)))
        same([call("acceptance", *each) for each in zip(*pair, strict=True)], want)


@pytest.mark.parametrize(("p", "q", "want"), [(0, 0, 0), (5e-324, 0.5, 1e-323), (0.5, 5e-324, 1)])
def test_acceptance_at_the_edges(module, p, q, want):
    assert module(acceptance_simulator())("acceptance", p, q) == want


def test_settings_in_the_same_proportion_are_equal_distributions(module):
    call = module(acceptance_simulator())
    rng = np.random.default_rng(5)
    for _ in range(100):
        counts = rng.integers(0, 21, 4)
        counts[0] += 1
        once = call("normalise", (counts / 100).tolist())
        assert once == [c / counts.sum() for c in counts.tolist()]
        assert call("residual", once, call("normalise", (3 * counts / 100).tolist())) == once
    assert call("normalise", [0, 0, 0, 0]) is None


def test_worked_pair_is_shown(reader):
    page = reader(acceptance_simulator())
    assert page.texts(".sd-number") == ["1.00", "0.80", "0.20"]
    assert page.texts(".sd-weights output") == [f"{value:.2f}" for value in (*P, *Q)]
    assert "A: p 0.45, q 0.30, overlap 0.30" in page.description(1)
    assert page.description(2) == "Residual distribution. A: 0.75; B: 0.00; C: 0.00; D: 0.25."


def test_keyboard_moves_one_token(reader):
    page = reader(acceptance_simulator())
    page.slider("p target probability of the drafted token").focus()
    for _ in range(35):
        page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("Tab")
    for _ in range(5):
        page.page.keyboard.press("ArrowRight")
    assert page.texts(".sd-number")[0] == "0.556"
    assert page.texts(".sd-ratio") == ["accepted height ÷ draft height = 0.25 ÷ 0.45 = 0.556"]
    assert page.description(0) == (
        "Two bars. Target p = 0.25. Draft q = 0.45, of which 0.25 is accepted and 0.20 is "
        "rejected. Acceptance probability 0.556."
    )


LAB_LISTENS = """() => { window.taken = []; document.addEventListener("keydown", (event) => {
    if (!event.target.hasAttribute("data-lm-suppress-shortcuts")) window.taken.push(event.key);
}, true); }"""


def test_plain_keys_are_kept_from_jupyterlab(reader):
    # JupyterLab's shortcuts listen in this way; they would take the arrows, Enter and letters.
    page = reader(acceptance_simulator())
    frame = page.page.frames[1]
    frame.evaluate(LAB_LISTENS)
    for control in (page.slider("A target weight"), page.frame.get_by_role("button")):
        control.focus()
        for key in ("ArrowRight", "Home", "Enter", "d", "Control+s", "Shift+Enter", "ArrowUp"):
            page.page.keyboard.press(key)
    assert [key for key in frame.evaluate("taken") if key not in ("Control", "Shift")] == [
        "s",
        "Enter",
    ] * 2


@pytest.mark.parametrize(
    ("p", "q", "number", "words"),
    [
        (0.6, 0.4, "1.00", "p ≥ q: "),
        (0.4, 0.4, "1.00", "p ≥ q: "),
        (0.3, 0.9, "0.333", "p < q: "),
        (0.0, 0.4, "0.00", "p = 0: "),
        (0.4, 0.0, "1.00", "q = 0: "),
        (0.0, 0.0, "0.00", "p = 0 and q = 0: "),
    ],
)
def test_each_case_is_said(reader, p, q, number, words):
    page = reader(acceptance_simulator(p, q))
    verdict = page.frame.locator("[aria-live=polite]").first
    assert page.texts(".sd-number")[0] == number
    assert verdict.text_content().startswith(words)


def test_keyboard_moves_a_weight_and_reset_brings_the_pair_back(reader):
    page = reader(acceptance_simulator())
    page.slider("A target weight").focus()
    for _ in range(25):
        page.page.keyboard.press("ArrowRight")
    p = np.array([0.70, 0.30, 0.15, 0.10]) / 1.25
    left = np.maximum(0, p - Q)
    law = left / left.sum()
    assert page.texts(".sd-weights output")[:4] == ["0.56", "0.24", "0.12", "0.08"]
    assert page.texts(".sd-number")[1:] == [
        f"{np.minimum(p, Q).sum():.2f}",
        f"{1 - np.minimum(p, Q).sum():.2f}",
    ]
    assert f"A: {law[0]:.3f}; B: 0.00; C: 0.00; D: {law[3]:.3f}." in page.description(2)
    page.frame.get_by_role("button", name="Reset to the worked pair").press("Enter")
    assert page.texts(".sd-number")[1:] == ["0.80", "0.20"]
    assert page.slider("A target weight").input_value() == "0.45"


def test_equal_and_disjoint_distributions_are_said(module):
    say = module(acceptance_simulator())
    assert "the residual is never used" in say("summary", P.tolist(), P.tolist())
    assert "share no token" in say("summary", [0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75])


def test_all_weights_at_zero_is_said(reader):
    page = reader(acceptance_simulator(target=(1, 0, 0, 0)))
    page.slider("A target weight").press("Home")
    assert page.texts(".sd-number")[1:] == ["–", "–"]
    assert "no distribution" in page.texts("[aria-live=polite]")[1]
    page.slider("B target weight").press("ArrowRight")
    assert page.texts(".sd-number")[1] == "0.45"


def test_slider_keeps_a_number_between_its_steps(reader):
    page = reader(acceptance_simulator(1 / 3, 2 / 3))
    assert page.texts(".sd-number")[0] == "0.50"
    assert (
        page.slider("p target probability of the drafted token").get_attribute("aria-valuetext")
        == "0.333"
    )
