"""Chapter 05: its checks, figures, predictions, simulator, and what its text promises."""

import base64
import copy
import html
import json
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograde.grading.engine import grade
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.paths import ROOT, SOLUTIONS
from autograde.submissions import filled, solutions_of
from specdec_lib.lessons import ch05, ch05_figures, ch05_measured
from specdec_lib.lessons.ch05 import conditional_rates, drifting_seconds, rounding_interval
from specdec_lib.lessons.examples import Different, Unwritten
from specdec_lib.lessons.widgets.paper_rows import K_MAX, paper_rows_simulator
from specdec_lib.measure import papers
from specdec_lib.measure.acceptance import Acceptance
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "05_results"
SETTINGS = papers.table("leviathan_2_4")
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")


def functions() -> dict:
    """The solution's functions, run in one namespace as in the notebook."""
    namespace: dict = {"np": np, "expected_tokens": expected_tokens}
    for source in solutions_of(CHAPTER).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions()


def unwritten(*args):
    raise NotImplementedError("not written yet")


# --- the visible checks ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ch05.HINTS)
def test_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch05, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", ch05.HINTS)
def test_checks_pass_a_stub_through(name: str):
    with pytest.raises(Unwritten, match="not written yet"):
        getattr(ch05, f"check_{name}")(unwritten)


@pytest.mark.parametrize("name", ch05.HINTS)
@pytest.mark.parametrize("value", [None, [], 0, 1.0, {}])
def test_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch05, f"check_{name}")(lambda *args: value)


def test_an_expected_error_is_asked_for_by_its_name():
    def refuses(x):
        raise ValueError("no")

    def breaks(x):
        return x.missing

    assert ch05.expect_value_error(refuses, 1, why="it is odd") is None
    with pytest.raises(Different, match=r"breaks\(x=1\) raised AttributeError, expected ValueErr"):
        ch05.expect_value_error(breaks, 1, why="it is odd")
    with pytest.raises(Different, match=r"returned \[1\], expected ValueError: it is odd\."):
        ch05.expect_value_error(lambda x: [x], 1, why="it is odd")
    with pytest.raises(NotImplementedError):
        ch05.expect_value_error(unwritten, 1, why="it is odd")


@pytest.mark.parametrize("name", ["quiz_05", "quiz_05_b"])
def test_every_wrong_option_has_its_own_explanation(name: str):
    texts = set()
    for option in "abcd":
        if f'"{option}"' not in solutions_of(CHAPTER)[name]:
            answers = solutions_of(CHAPTER) | {name: f'{name} = "{option}"'}
            (text,) = grade(filled(release_of(CHAPTER), answers), CHAPTER).exercises[name].messages
            texts.add(text)
    assert len(texts) == 3


# --- predictions ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ch05.TRUTHS)
def test_nothing_is_revealed_before_a_guess(name: str, capsys):
    ch05.reveal(name, None, 0.25)
    out = capsys.readouterr().out
    assert out == f"Write your guess into {name} first: this cell waits for it.\n"
    ch05.reveal(name, 0.5, 0.25)
    assert capsys.readouterr().out.startswith("You said 0.5. It is 0.25. ")


def test_known_truths():
    truth, _ = ch05.TRUTHS["prediction_05"]
    assert truth == FUNCTIONS["alpha_from_blocks"](ch05.BLOCKS, ch05.K) == 14 / 18
    truth, _ = ch05.TRUTHS["prediction_05_b"]
    (row,) = [r for r in SETTINGS if (r.task, r.draft, r.temperature) == ("EnDe", "T5-large", 0)]
    assert truth == row.measured


# --- numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("row", SETTINGS)
def test_interval_holds_the_printed_value(row: papers.Setting):
    low, high = rounding_interval(row.alpha, row.c, row.k)
    assert low <= row.expected <= high and low < walltime_speedup(row.alpha, row.c, row.k) < high


def test_interval_ends_where_alpha_and_c_end():
    assert rounding_interval(1.0, 0.0, 3)[1] == 4.05
    assert rounding_interval(0.0, 0.0, 3)[0] == pytest.approx(1 / 1.015 - 0.05)


def test_recomputed_rows_star_three_values():
    lines = ch05.recomputed(SETTINGS).splitlines()
    starred = [line for line in lines[1:-1] if "*" in line]
    assert len(lines) == 14 and len(starred) == 3
    assert " ".join(lines[1].split()) == "EnDe T5-small 0 7 3.157 2.97 to 3.35 3.2 3.4 1.08"
    assert len({line.index("to") for line in lines[1:-1]}) == 1


def test_four_rows_need_a_cost_below_zero():
    lines = ch05.needed_costs(SETTINGS).splitlines()
    assert sum(line.endswith("no cost explains this") for line in lines) == 4
    assert "T5-large  T=0  c 0.11, needed  0.229" in lines[2]


def test_one_clock_two_orders():
    for by_turns, low, high in ((False, 1.0, 1.02), (True, 1.2, 1.25)):
        plain, fast = drifting_seconds(by_turns)
        assert len(plain) == len(fast) == ch05.RUNS
        assert low < FUNCTIONS["paired_speedup"](list(plain), list(fast)) < high
    turns, after = drifting_seconds(True), drifting_seconds(False)
    assert turns[0][0] == after[0][0] == 1.0
    assert turns[1][-1] == after[1][-1] == pytest.approx(1.2)


def test_rates_by_position_are_conditional():
    assert conditional_rates([2, 0, 1, 2], 2) == [(0.75, 4), (2 / 3, 3)]
    rates = conditional_rates([0, 0], 2)
    assert rates[0] == (0.0, 2) and np.isnan(rates[1][0]) and rates[1][1] == 0


# --- figures --------------------------------------------------------------------------------

LABELS = ["name", "space", "name", "space"]
VERDICTS = SimpleNamespace(
    agreed=np.array([1, 0, 0, 1]), overlap=np.array([0.5, 0.75, 1.0, 0.25]), classes=LABELS
)
FIGURES = {
    "alpha_found_again": ("alpha_from_blocks", (5,)),
    "operations_against_speed": ("operations_factor", (papers.table("leviathan_1"),)),
    "implied_rates": ("implied_alpha", (SETTINGS, papers.table("chen_1"))),
    "two_orders": ("paired_speedup", ()),
    "by_class": ("acceptance_by_class", (VERDICTS, ["name", "space"])),
    "by_position": ("alpha_from_blocks", ({"code": [2, 0, 1], "random": [1, 1]}, 2)),
    "pairs": ("paired_speedup", ([2.0, 3.0, 4.0], [1.0, 2.0, 2.0])),
}


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    for module in (ch05_figures, ch05_measured):
        monkeypatch.setattr(module, "show", lambda figure, alt: texts.append(alt))
    return texts


def figure(name: str):
    return getattr(ch05_figures, name, None) or getattr(ch05_measured, name)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    figure(name)(FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and capsys.readouterr().out == ""
    figure(name)(unwritten, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            figure(name)(wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_words_of_the_figures_without_a_function(shown: list[str], capsys):
    ch05_figures.six_blocks(ch05.BLOCKS, ch05.K)
    ch05_figures.expected_and_measured(SETTINGS)
    ch05_figures.two_devices(papers.table("spec_bench_devices"))
    measured = {
        ("code", "small"): Acceptance(0.6, 0.5, 10),
        ("prose", "small"): Acceptance(0.4, 0.3, 9),
    }
    ch05_measured.acceptance_table(measured, papers.table("leviathan_3")[:1])
    plt.close("all")
    assert "block 3: 2 accepted" in shown[0]
    assert "EnDe, T5-large, T = 0: formula 2.36 to 2.64, printed 2.5, measured 1.7" in shown[1]
    assert "Medusa: 2.32 tokens and 1.44x on the RTX 3090" in shown[2]
    assert "code, small: 0.500 and 0.600" in shown[3]
    assert "GPT-like 97M (lm1b)  unigram      0.03  0.03" in capsys.readouterr().out


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    ch05_measured.pairs(lambda plain, fast: 7.0, [2.0, 3.0], [1.0, 2.0])
    assert "geometric mean by your function is 7.000" in shown[0]
    ch05_figures.two_orders(lambda plain, fast: 3.0)
    assert "one after the other, your function gives 3.000" in shown[1]


def test_a_rate_that_does_not_exist_leaves_a_gap(shown: list[str]):
    def refuses(*times):
        raise ValueError("never")

    ch05_figures.implied_rates(refuses, SETTINGS[:1], [])
    assert "nan implied" in shown[0]


# --- the simulator --------------------------------------------------------------------------


def test_simulator_starts_at_its_row():
    simulator = paper_rows_simulator(SETTINGS, row=2)
    state = simulator.state
    assert (state["row"], state["alpha"], state["c"], state["k"]) == (2, 0.82, 0.11, 7)
    assert len(state["rows"]) == 12 and state["rows"][2]["measured"] == 1.7
    json.dumps(state)
    simulator.update(row=0, k=3)
    assert simulator.state["k"] == 3


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"row": 12}, "row is 12; it is a whole number from 0 to 11"),
        ({"k": 2.5}, "k is 2.5; it is a whole number"),
        ({"k": K_MAX + 1}, "from 0 to 12"),
        ({"alpha": 1.2}, "alpha is 1.2: a probability"),
        ({"c": -0.1}, "c is -0.1"),
    ],
)
def test_what_is_no_setting_is_named(part: dict, message: str):
    with pytest.raises(ValueError, match=message):
        paper_rows_simulator(SETTINGS).update(**part)


def test_simulator_needs_a_row():
    with pytest.raises(ValueError, match="rows is empty"):
        paper_rows_simulator([])
    with pytest.raises(ValueError, match="from 0 to 11"):
        paper_rows_simulator(SETTINGS, row=12)


def test_simulator_asks_for_nothing_and_does_not_move():
    page = html.unescape(paper_rows_simulator(SETTINGS).frame())
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|WebSocket|@import|<link", page)
    assert not re.search(r"transition|animation:|requestAnimationFrame|<animate", page)


@pytest.fixture
def module(browser):
    """`module(name, *arguments)` calls an exported function of paper_rows.js."""
    page = browser.new_page()
    source = base64.b64encode(paper_rows_simulator(SETTINGS).module.encode()).decode()
    page.evaluate(
        "url => import(url).then(m => { window.lesson = m; })",
        f"data:text/javascript;base64,{source}",
    )
    yield lambda name, *given: page.evaluate(
        "([name, given]) => window.lesson[name](...given)", [name, list(given)]
    )
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.5, 0.82, 0.997, 1.0])
def test_javascript_gives_the_numbers_of_the_library(module, alpha: float):
    for c in (0.0, 0.003, 0.02, 0.11, 0.5):
        for k in (0, 1, 5, K_MAX):
            assert module("expectedTokens", alpha, k) == pytest.approx(expected_tokens(alpha, k))
            want = walltime_speedup(alpha, c, k)
            assert module("speedup", alpha, c, k) == pytest.approx(want, abs=1e-12)
            want = rounding_interval(alpha, c, k)
            assert module("interval", alpha, c, k) == pytest.approx(want, abs=1e-12)


@pytest.mark.browser
def test_javascript_says_what_the_clock_would_need(module):
    rows = paper_rows_simulator(SETTINGS).state["rows"]
    told = [module("verdict", row, row["alpha"], row["c"], row["k"]) for row in rows]
    assert sum("no cost explains the clock" in text for text in told) == 4
    assert "would need c = 0.229; printed is 0.11." in told[2]
    assert "You have left the row's own numbers" in module("verdict", rows[2], 0.5, 0.11, 7)


class Page:
    """The simulator in a browser, as a page of its own."""

    def __init__(self, browser, width: int = 900) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 1100})
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_content(paper_rows_simulator(SETTINGS, row=2).page())
        self.page.locator(".sd-chart svg[role=img]").first.wait_for()

    def numbers(self) -> list[str]:
        return self.page.locator(".sd-number").all_text_contents()

    def description(self, number: int) -> str:
        return self.page.locator(".sd-chart svg[role=img]").nth(number).get_attribute("aria-label")


@pytest.mark.browser
def test_keyboard_moves_the_sliders_and_the_row(browser):
    shown = Page(browser)
    assert shown.numbers() == ["2.50", "2.36 to 2.64"]
    shown.page.get_by_role("slider", name="time of a draft step", exact=False).focus()
    for _ in range(12):
        shown.page.keyboard.press("ArrowRight")
    assert shown.numbers()[0] == f"{walltime_speedup(0.82, 0.23, 7):.2f}"
    shown.page.get_by_label("Row of the paper").select_option("6")
    assert shown.numbers()[0] == f"{walltime_speedup(0.65, 0.02, 5):.2f}"
    shown.page.get_by_role("slider", name="draft tokens a block", exact=False).press("ArrowLeft")
    assert shown.numbers()[0] == f"{walltime_speedup(0.65, 0.02, 4):.2f}"
    shown.page.get_by_role("button", name="Back to the row's numbers").press("Enter")
    assert shown.numbers()[0] == f"{walltime_speedup(0.65, 0.02, 5):.2f}"
    assert "CNNDM, T5-small, T = 0: expected 2.4, measured 3.1" in shown.description(1)
    assert shown.errors == []
    shown.page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
def test_simulator_fits_its_width(browser, width: int):
    shown = Page(browser, width)
    assert shown.page.evaluate("document.documentElement.scrollWidth") == width
    assert shown.errors == []
    shown.page.close()


# --- the text -------------------------------------------------------------------------------


def test_coverage_names_headings_of_the_chapter():
    rows = json.loads((ROOT / "tests" / "coverage" / "ch05.json").read_text(encoding="utf-8"))
    headings = set(re.findall(r"^# #+ (.+)$", TEXT, re.MULTILINE))
    assert set(rows) == {"002-36", "002-37", "002-38", "002-39", "002-40", "000-22"}
    assert set(rows.values()) <= headings


def test_the_library_s_answers_are_not_in_the_text():
    assert not re.search(r"acceptance_from_counts|walltime_speedup", TEXT)


def test_numbers_in_the_prose_are_the_computed_ones():
    mixed = (expected_tokens(0.95, 5) + expected_tokens(0.45, 5)) / 2
    assert f"bring {mixed:.2f} tokens" in TEXT and f"says {expected_tokens(0.7, 5):.2f}" in TEXT
    row = SETTINGS[2]
    needed = (expected_tokens(row.alpha, row.k) / row.measured - 1) / row.k
    assert f"a `c` of {needed:.2f} would do".replace("0.", ".") in TEXT
    assert f"{expected_tokens(0.65, 5):.2f}" in TEXT
    intervals = [rounding_interval(row.alpha, row.c, row.k) for row in SETTINGS]
    pairs = zip(SETTINGS, intervals, strict=True)
    inside = [row for row, (low, high) in pairs if low <= row.measured <= high]
    assert len(inside) == 1 and "one measured value lies inside" in TEXT
    implied = FUNCTIONS["implied_alpha"](7.52, 14.1, 1.8, 4)
    assert f"give {implied:.3f}".replace("0.", ".") in TEXT
