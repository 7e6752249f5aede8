"""Chapter 07: its visible side, its exact numbers, and its two simulators in the browser."""

import base64
import copy
import html
import importlib
import inspect
import json
import re
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograde.chapters import ch07_tests, ch07_wrong
from autograde.grading.engine import grade
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.paths import ROOT, SOLUTIONS
from autograde.submissions import filled, solutions_of
from specdec_lib.lessons import ch07, ch07_family, ch07_figures, ch07_pictures
from specdec_lib.lessons import ch07_laws as laws
from specdec_lib.lessons.examples import Different
from specdec_lib.lessons.widgets.draft_tree import draft_tree_simulator
from specdec_lib.lessons.widgets.simulator import style_sheet
from specdec_lib.lessons.widgets.timeline import timeline_simulator
from specdec_lib.measure import strategies
from specdec_lib.measure.held_out import prompts
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "07_connections"
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")
P, Q, POOR = ch07.P, ch07.Q, ch07.POOR


def functions() -> dict:
    """The solution's functions, run in one namespace as in the notebook."""
    namespace: dict = {"np": np, "residual_distribution": laws.residual}
    exec("from specdec_lib.sampling import sample_from", namespace)
    for source in solutions_of(CHAPTER).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions()


def unwritten(*args):
    raise NotImplementedError("not written yet")


# --- checks, hints, predictions -------------------------------------------------------------


@pytest.mark.parametrize("name", ch07.HINTS)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch07, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", ch07.HINTS)
def test_visible_checks_pass_a_stub_through(name: str):
    with pytest.raises(NotImplementedError, match="not written yet"):
        getattr(ch07, f"check_{name}")(unwritten)


@pytest.mark.parametrize("name", ch07.HINTS)
@pytest.mark.parametrize("value", [None, [], 0, np.zeros(4), (1, True)])
def test_visible_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch07, f"check_{name}")(lambda *args: value)


def test_a_wrong_mask_is_told_by_its_row_and_an_integer_one_by_its_dtype():
    with pytest.raises(Different, match=r"Row 1 is true at \[0, 1\]; it should be at \[1\]"):
        ch07.expect_mask(ch07_wrong.mask_causal, [-1, -1], [[0], [1]])
    with pytest.raises(Different, match="holds int"):
        ch07.expect_mask(ch07_wrong.mask_of_integers, [-1, 0], [[0], [0, 1]])


def test_predictions_are_held_against_computed_numbers(capsys):
    assert ch07.TRUTHS["prediction_07"][0] == pytest.approx(0.87, abs=1e-12)
    assert ch07.TRUTHS["prediction_07_b"][0] == pytest.approx(1 + 0.87 + 0.87**2, abs=1e-12)
    ch07.reveal("prediction_07", None)
    assert "0.87" not in capsys.readouterr().out
    ch07.reveal("prediction_07_b", 4)
    assert "You said 4. It is 2.6269." in capsys.readouterr().out


@pytest.mark.parametrize(
    "value", ["[]", "True", "0", "1.0", "None", "args[0]", "args[1]", "args[2]", "(args[0], True)"]
)
def test_constants_and_copies_earn_nothing(value: str):
    names = list(ch07.HINTS)
    answers = {name: f"def {name}(*args):\n    return {value}" for name in names}
    result = grade(filled(release_of(CHAPTER), solutions_of(CHAPTER) | answers), CHAPTER)
    assert {name: result.exercises[name].passed for name in names} == dict.fromkeys(names, 0)


@pytest.mark.parametrize("name", ["quiz_07", "quiz_07_b"])
def test_every_wrong_option_has_its_own_explanation(name: str):
    answers = solutions_of(CHAPTER)
    wrong = [option for option in "abcd" if f'"{option}"' not in answers[name]]
    told = set()
    for option in wrong:
        changed = filled(release_of(CHAPTER), answers | {name: f'{name} = "{option}"'})
        told |= set(grade(changed, CHAPTER).exercises[name].messages)
    assert len(wrong) == len(told) == 3


# --- exact numbers --------------------------------------------------------------------------


def pairs(count: int, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random pairs of distributions (size,)."""
    rng = np.random.default_rng(7)
    return [tuple(rng.dirichlet(np.ones(size), 2)) for _ in range(count)]


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_law_of_the_rule_in_turn_is_the_target(n: int):
    for p, q in [(P, Q), (P, POOR), *pairs(5, 3)]:
        law = laws.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, n)
        assert np.abs(law.sum(axis=0) - p).max() < 1e-12
        assert law[0].sum() == pytest.approx(sum(laws.refused_in_turn(p, q, n)), abs=1e-12)


def test_shares_of_the_solution_are_the_closed_form():
    for draft in (Q, POOR):
        shares = laws.shares_of(FUNCTIONS["multi_candidate_accept"], P, draft)
        assert shares == pytest.approx(laws.refused_in_turn(P, draft, 6), abs=1e-12)
    assert laws.refused_in_turn(P, Q, 2) == pytest.approx([0.8, 0.07], abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_rule_in_turn_beats_the_best(n: int):
    for p, q in [(P, Q), (P, POOR), *pairs(20, 4)]:
        best = laws.best_acceptance(p, q, n)
        assert sum(laws.refused_in_turn(p, q, n)) <= best + 1e-12 and best <= 1
        # A lower bound on what can be transported: greedy filling of the targets, tuple by tuple.
        assert _filled(p, q, n) <= best + 1e-12
    assert laws.best_acceptance(P, Q, 1) == pytest.approx(np.minimum(P, Q).sum(), abs=1e-12)


def _filled(p: np.ndarray, q: np.ndarray, n: int) -> float:
    room, moved = p.copy(), 0.0
    for drawn in product(range(len(q)), repeat=n):
        left = float(np.prod(q[list(drawn)]))
        for token in sorted(set(drawn), key=lambda t: -room[t]):
            step = min(left, room[token])
            room[token] -= step
            left -= step
            moved += step
    return moved


def test_the_best_acceptance_of_two_candidates_is_reached():
    """By hand: p = [.5, .5], q = [.75, .25], of 16 pairs 9 are (0, 0), of which 8 can stay."""
    p, q = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    assert laws.best_acceptance(p, q, 2) == pytest.approx(15 / 16, abs=1e-12)
    assert sum(laws.refused_in_turn(p, q, 2)) == pytest.approx(13 / 16, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_block_verification_keeps_the_law_and_accepts_no_less(k: int):
    for p, q in [(P, Q), (Q, P), (P, P), *pairs(4, 3)]:
        law, mean = laws.block_law(p, q, k)
        target = np.ones(())
        for _ in range(k + 1):
            target = np.multiply.outer(target, p)
        assert np.abs(law - target).max() < 1e-12
        assert mean == pytest.approx(laws.block_accepted(p, q, k), abs=1e-12)
        beta = float(np.minimum(p, q).sum())
        assert mean >= expected_tokens(beta, k) - 1 - 1e-12


def test_block_verification_meets_the_papers_example():
    """Sun et al. (2024), section 2: 10/9 accepted token by token, 11/9 as a block."""
    p, q = np.array([1 / 3, 2 / 3]), np.array([2 / 3, 1 / 3])
    assert laws.block_accepted(p, q, 2) == pytest.approx(11 / 9, abs=1e-12)
    assert expected_tokens(2 / 3, 2) - 1 == pytest.approx(10 / 9, abs=1e-12)


def test_typical_acceptance_of_the_pair_is_the_draft():
    law = laws.typical_law(P, Q, 0.09, 0.3)
    assert np.array_equal(law, Q)
    assert np.abs(law - P).sum() / 2 == pytest.approx(0.2, abs=1e-12)
    strict = laws.typical_law(P, Q, 0.2, 1.0)
    assert strict == pytest.approx([0.3 + 0.25 * 0.45, 0.45 + 0.25 * 0.3, 0.0375, 0.025], abs=1e-12)


def test_certain_token_law():
    law = laws.one_hot_law(FUNCTIONS["one_hot_accept"], P, 1)
    assert law.sum(axis=0) == pytest.approx(P, abs=1e-12)
    assert law[0] == pytest.approx([0, 0.3, 0, 0], abs=1e-12)
    assert laws.one_hot_law(ch07_wrong.certain_replaced_from_target, P, 1).sum(axis=0)[
        1
    ] == pytest.approx(0.3 + 0.7 * 0.3, abs=1e-2)


def test_times():
    tokens = expected_tokens(0.8, 4)
    assert laws.overlapped_speedup(tokens, 0.1, 4, hit=1.0) == pytest.approx(tokens)
    slow = laws.overlapped_speedup(tokens, 0.5, 4, hit=1.0)
    assert slow == pytest.approx(tokens / 2)  # the larger of 2 and 1
    assert laws.overlapped_speedup(tokens, 0.1, 4, hit=0.0) == pytest.approx(tokens / 1.4)
    single = laws.batched_speedup(tokens, 0.02, 4, batch=1, free=295)
    assert single == pytest.approx(walltime_speedup(0.8, 0.02, 4))
    assert laws.batched_speedup(tokens, 0.02, 4, batch=512, free=295) < 1


def test_numbers_that_the_text_prints():
    assert laws.tree_tokens(ch07.SHAPES["chain of six"], [0.8]) == pytest.approx(3.95, abs=2e-3)
    assert np.minimum(P, Q).sum() == pytest.approx(0.8)
    mapped = FUNCTIONS["map_draft"](ch07.SMALL_DRAFT, ch07.TO_TARGET, 4)
    assert np.round(mapped, 3).tolist() == [0.286, 0, 0.714, 0]
    entropy = -(P * np.log(P)).sum()
    assert min(0.09, 0.3 * np.exp(-entropy)) == pytest.approx(0.087, abs=5e-4)
    rest = P.copy()
    rest[1] = 0
    assert np.round(rest / rest.sum(), 3).tolist() == [0.643, 0, 0.214, 0.143]
    assert round(989e12 / 3.35e12) == 295


def test_smallest_example_counts_as_told():
    """16 pairs of candidates: 12 accepted at first, 1 at second, 3 drawn; 8 and 8."""
    p, q = np.array([0.5, 0.5]), np.array([0.75, 0.25])
    assert [16 * share for share in laws.refused_in_turn(p, q, 2)] == pytest.approx([12, 1])
    law = 16 * laws.candidates_law(FUNCTIONS["multi_candidate_accept"], p, q, 2)
    assert law.tolist() == [pytest.approx([8, 5]), pytest.approx([0, 3])]


def test_trajectories_of_the_hidden_tests_end_in_greedy_text():
    for target, prompt, guess in ch07_tests.JACOBI:
        written: list[int] = []
        for _ in guess:
            written.append(target([*prompt, *written])[-1])
        steps = ch07_tests.trajectory(target, prompt, guess)
        assert steps[-1] == written and len(steps) <= len(guess) + 2


# --- figures --------------------------------------------------------------------------------

FIGURES = {
    "certain_token": ("one_hot_accept", (P, 1)),
    "renewed_together": ("jacobi_decode", (ch07.two_back, ch07.PROMPT, ch07.GUESS)),
    "passes_on_prompts": ("jacobi_decode", (ch07.two_back, [[1, 2, 3, 4], [3, 2, 1, 0]], 3)),
    "more_candidates": ("multi_candidate_accept", (P, Q, 2)),
    "tree_and_mask": ("tree_attention_mask", (ch07.TREE,)),
    "over_the_targets_tokens": ("map_draft", (ch07.SMALL_DRAFT, ch07.TO_TARGET, P)),
}
PICTURES = {
    "shapes": (),
    "drafters": ({("lookup", 0.0): (2.0, 0.3), ("lookup", 1.0): (1.2, 0.0)},),
    "early_exit": ({1: 0.3, 2: 0.5, 3: 1.0},),
    "shapes_compared": ({"good": [0.8, 0.1], "poor": [0.4, 0.2]}, ch07.SHAPES),
    "blocks_compared": (P, Q, 3),
    "typical": (P, Q, 0.09, 0.3),
    "sum_or_maximum": (0.8, 4),
    "batches": (0.8, 0.02, 4, 295),
    "timeline": (),
}


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    for module in (ch07_figures, ch07_pictures):
        monkeypatch.setattr(module, "show", lambda figure, alt: texts.append(alt))
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    getattr(ch07_figures, name)(FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and capsys.readouterr().out == ""
    getattr(ch07_figures, name)(unwritten, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            getattr(ch07_figures, name)(wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_words_with_their_numbers(name: str, shown: list[str]):
    getattr(ch07_pictures, name)(*PICTURES[name])
    plt.close("all")
    assert len(shown) == 1 and (name == "shapes" or re.search(r"\d\.\d|20\d\d", shown[0]))


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    ch07_figures.more_candidates(ch07_wrong.candidates_against_p, P, Q, 2)
    assert "n = 2: A 0.43" not in shown[0] and "the target A 0.45" in shown[0]
    ch07_figures.tree_and_mask(ch07_wrong.mask_causal, ch07.TREE)
    assert "5 sees [0, 1, 2, 3, 4, 5]" in shown[1]


def test_every_figure_function_ends_in_show():
    for name in ("ch07_figures", "ch07_pictures"):
        module = importlib.import_module(f"specdec_lib.lessons.{name}")
        public = [f for n, f in vars(module).items() if inspect.isfunction(f) and n[0] != "_"]
        own = [f for f in public if f.__module__ == module.__name__]
        parts = {"draw_tree", "layout"}
        assert all("show(" in inspect.getsource(f) for f in own if f.__name__ not in parts)
        assert len(own) >= 6


def test_simulator_waits_for_no_answer(capsys):
    numbers = ch07.accepted_shares(unwritten)
    assert "is not written yet" in capsys.readouterr().out
    assert numbers["good draft"] == laws.refused_in_turn(P, Q, 6)
    ch07.accepted_shares(lambda *args: 1 / 0)
    assert "cannot be used yet: ZeroDivisionError" in capsys.readouterr().out


# --- what the chapter measures with ---------------------------------------------------------


def test_drafters_are_measured_at_both_temperatures():
    target, texts = strategies.built_in("target")["target"], prompts(1, 32)
    found = strategies.tokens_a_block(target, strategies.three_drafters(target.vocab_size), texts)
    assert list(found) == [(n, t) for n in ("lookup", "bigram", "model") for t in (0, 1)]
    assert all(1 <= tokens <= 5 and 0 <= repeated <= 1 for tokens, repeated in found.values())
    assert found["model", 1][0] > found["lookup", 1][0]


# --- the family -----------------------------------------------------------------------------


def test_family_is_in_order_complete_and_sourced():
    entries = ch07_family.as_data()
    assert [(e["year"], e["month"]) for e in entries] == sorted(
        (e["year"], e["month"]) for e in entries
    )
    assert len({e["name"] for e in entries}) == len(entries) >= 18
    assert all(e["source"] and e["relation"] and e["kept"] in ch07_family.KEPT for e in entries)
    assert all(1 <= e["month"] <= 12 for e in entries)
    assert all(re.search(r"arXiv \d{4}\.\d{4,5}|github\.com", e["source"]) for e in entries)
    for name in ("Medusa", "EAGLE", "Lookahead decoding", "Draft & Verify", "LayerSkip"):
        assert ch07_family.of(name).year in (2023, 2024)


def test_table_has_a_row_for_every_method():
    table = ch07.family_table()
    assert len(table.rows()) == len(ch07_family.FAMILY)
    assert table._repr_html_().count("<tr>") == len(table.rows()) + 1
    assert repr(table).startswith("| method | year | what drafts")
    assert "Draft &amp; Verify" in table._repr_html_()


def test_rows_of_the_source_material_are_met_under_headings_of_the_chapter():
    rows = json.loads((ROOT / "tests" / "coverage" / "ch07.json").read_text())
    headings = set(re.findall(r"^# #+ (.+)$", TEXT, re.MULTILINE))
    assert rows and set(rows.values()) <= headings


# --- simulators -----------------------------------------------------------------------------

ACCEPTED = {"good": laws.refused_in_turn(P, Q, 6), "poor": laws.refused_in_turn(P, POOR, 6)}


@pytest.mark.parametrize("simulator", [draft_tree_simulator(ACCEPTED), timeline_simulator()])
def test_nothing_moves_and_nothing_points_to_the_network(simulator):
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])
    assert set(re.findall(r"\w+://[^\"'\s]*", page)) == {"http://www.w3.org/2000/svg"}
    delivered = style_sheet() + simulator.module
    assert not re.search(
        r"transition|animation:|requestAnimationFrame|<animate|\bimport\b|\bfetch\b|XMLHttpRequest",
        delivered,
    )
    json.dumps(simulator.state)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: draft_tree_simulator({"a": [0.8, 0.4]}), "sum to at most 1"),
        (lambda: draft_tree_simulator({"a": [1.5]}), r"accepted|drafts\['a'\]\[0\] is 1.5"),
        (lambda: draft_tree_simulator({"a": []}), "give probabilities"),
        (lambda: draft_tree_simulator({"a": [0.5]}, {"t": [-1, 1]}), "stands before its child"),
        (lambda: timeline_simulator(99), "at is 99: the entries are numbered"),
    ],
)
def test_what_fits_no_simulator_is_named(make, message: str):
    with pytest.raises(ValueError, match=message):
        make()


class Reader:
    """A page that keeps its console errors and the requests that it would have sent."""

    def __init__(self, browser, simulator, width=900):
        self.page = browser.new_page(viewport={"width": width, "height": 1800})
        self.errors, self.requests = [], []
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.errors.append(m))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.route("**/*", lambda r: (self.requests.append(r.request.url), r.abort()))
        self.page.set_content(f"<!DOCTYPE html><body style='margin:0'>{simulator.frame()}</body>")
        self.frame = self.page.frame_locator("iframe.specdec-simulator")
        self.frame.locator(".sd-chart svg").first.wait_for()

    def texts(self, selector):
        return self.frame.locator(selector).all_text_contents()

    def description(self, number):
        return self.frame.locator(".sd-chart svg[role=img]").nth(number).get_attribute("aria-label")


@pytest.fixture
def reader(browser):
    """Opens simulators; at the end there must be no error on the console and no request."""
    opened = []

    def open_page(simulator, **look):
        opened.append(Reader(browser, simulator, **look))
        return opened[-1]

    yield open_page
    for one in opened:
        one.page.close()
        assert (one.errors, one.requests) == ([], [])


@pytest.fixture
def module(browser):
    """`module(simulator)` gives a function that calls what the simulator's file exports."""
    page = browser.new_page()

    def load(simulator):
        source = base64.b64encode(simulator.module.encode()).decode()
        page.evaluate(
            "url => import(url).then(m => { window.lesson = m; })",
            f"data:text/javascript;base64,{source}",
        )
        return lambda name, *given: page.evaluate(
            "([name, given]) => window.lesson[name](...given)", [name, list(given)]
        )

    yield load
    page.close()


def random_trees() -> list[list[int]]:
    rng = np.random.default_rng(2)
    return [[int(rng.integers(-1, i)) for i in range(size)] for size in (1, 2, 5, 9, 14)]


@pytest.mark.browser
def test_tree_numbers_are_the_librarys(module):
    call = module(draft_tree_simulator(ACCEPTED))
    for parents in [*ch07.SHAPES.values(), *random_trees()]:
        assert call("mask", parents) == FUNCTIONS["tree_attention_mask"](parents).tolist()
        for shares in ACCEPTED.values():
            assert call("tokens", parents, shares) == pytest.approx(
                laws.tree_tokens(parents, shares), abs=1e-12
            )


@pytest.mark.browser
def test_tree_is_stepped_clicked_and_compared(reader):
    page = reader(draft_tree_simulator(ACCEPTED))
    assert page.texts(".sd-number") == ["2.63"]
    assert "Node 4 sees the text, 1, and itself." in page.texts(".sd-verdict")[0]
    page.frame.get_by_role("slider").focus()
    page.page.keyboard.press("ArrowRight")
    assert "Node 5 sees" in page.texts(".sd-verdict")[0]
    page.frame.get_by_role("radio", name="chain of six").check()
    assert page.texts(".sd-number") == ["3.95"]
    assert "5 sees 0, 1, 2, 3, 4, 5" in page.description(1)
    page.frame.get_by_role("radio", name="poor").check()
    assert page.texts(".sd-number") == ["1.81"]
    stars = [text for text in page.texts("td") if "★" in text]
    assert stars == ["★ 3.95", "★ 1.94"]
    page.frame.locator(".sd-chart svg").first.locator("g.sd-area").nth(2).click()
    assert "Node 2 sees the text, 0, then 1, and itself." in page.texts(".sd-verdict")[0]


@pytest.mark.browser
def test_timeline_functions(module):
    call = module(timeline_simulator())
    entries = ch07_family.as_data()
    assert [call("walk", 20, at, step) for at, step in ((0, -1), (19, 1), (4, 1))] == [0, 19, 5]
    for entry in entries:
        assert call("when", entry) == pytest.approx(entry["year"] + (entry["month"] - 0.5) / 12)
    xs = [call("when", entry) * 90 for entry in entries]
    rows = call("lanes", xs, 21)
    for i, a in enumerate(xs):
        assert all(abs(a - b) >= 21 for j, b in enumerate(xs) if j != i and rows[j] == rows[i])


@pytest.mark.browser
def test_timeline_is_walked_by_keyboard_and_buttons(reader):
    entries = ch07_family.as_data()
    page = reader(timeline_simulator(0))
    page.frame.get_by_role("slider").focus()
    for entry in entries:
        card = page.frame.locator("dl").text_content()
        for part in (entry["drafts"], entry["verifies"], entry["keptText"], entry["source"]):
            assert part in card
        assert f"Shown: {entry['name']}, {entry['year']}." in page.description(0)
        page.page.keyboard.press("ArrowRight")
    page.frame.get_by_role("button", name="Earlier").press("Enter")
    assert f"Shown: {entries[-2]['name']}" in page.description(0)
    page.frame.get_by_role("button", name="Later").click()
    page.frame.get_by_role("button", name="Later").click()
    assert f"Shown: {entries[-1]['name']}" in page.description(0)


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
@pytest.mark.parametrize("make", [lambda: draft_tree_simulator(ACCEPTED), timeline_simulator])
def test_simulators_fit_their_width_and_take_their_height(reader, make, width):
    simulator = make()
    page = reader(simulator, width=width)
    frame = page.page.frames[1]
    page.page.wait_for_function(
        f"document.querySelector('iframe').style.height != '{simulator.height}px'"
    )
    assert frame.evaluate("document.documentElement.scrollWidth") == width
    height = page.page.locator("iframe").bounding_box()["height"]
    assert frame.evaluate("document.documentElement.scrollHeight") == height
    for drawing in page.frame.locator(".sd-chart svg[role=img]").all():
        box, parent = drawing.bounding_box(), drawing.locator("..").bounding_box()
        assert box["x"] >= parent["x"] and box["width"] <= parent["width"] + 1
