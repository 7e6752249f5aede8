"""Chapter 03: its exact laws, figures and simulator, beyond what every chapter has."""

import base64
import copy
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograde.chapters import ch03_tests as hidden
from autograde.grading.engine import grade
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.paths import SOLUTIONS
from autograde.submissions import filled, solutions_of
from specdec_lib.lessons import ch03, ch03_figures, ch03_laws, ch03_rules, ch03_sampling
from specdec_lib.lessons.examples import Different
from specdec_lib.lessons.widgets.two_paths import SAMPLERS, two_paths_simulator
from specdec_lib.sampling import sample_from

CHAPTER = "03_lossless"
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")
P, Q = ch03.P, ch03.Q


def functions_of_the_solution() -> dict:
    namespace: dict = {"np": np}
    for source in solutions_of(CHAPTER).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions_of_the_solution()


def stub(*args):
    raise NotImplementedError("not written yet")


def random_pairs(count: int, size: int = 4):
    """Pairs of distributions (size,), a third of them with entries of 0, some equal."""
    rng = np.random.default_rng(33)
    for i in range(count):
        p, q = rng.dirichlet(np.ones(size), 2)
        if i % 3 == 0:
            p[i % size], q[(i + 1) % size] = 0.0, 0.0
            p, q = p / p.sum(), q / q.sum()
        yield (p, p.copy()) if i % 10 == 9 else (p, q)


# --- checks, hints, predictions, quiz -------------------------------------------------------


@pytest.mark.parametrize("name", ch03.HINTS)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch03, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out
    assert len(ch03.HINTS[name]) == 3 and repr(ch03.hints(FUNCTIONS[name])).count("Hint") >= 3


@pytest.mark.parametrize("name", ch03.HINTS)
@pytest.mark.parametrize("value", [None, [], 0, np.zeros(4)])
def test_visible_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(NotImplementedError):
        getattr(ch03, f"check_{name}")(stub)
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch03, f"check_{name}")(lambda *args: value)


def test_messages_show_a_rule_by_its_name():
    with pytest.raises(Different, match=r"\(rule=right_rule, p=\[0.375.*returned False"):
        ch03.check_is_lossless(lambda rule, p, q: False)
    result = grade(
        filled(
            release_of(CHAPTER),
            solutions_of(CHAPTER)
            | {"is_lossless": "def is_lossless(rule, p, q):\n    return bool(len(p))"},
        ),
        CHAPTER,
    )
    messages = " ".join(result.exercises["is_lossless"].messages)
    assert "is_lossless(rule=from_target, p=[0.375" in messages and "0x" not in messages


def test_predictions_are_held_against_computed_truths(capsys):
    millions, share = (ch03.TRUTHS[name][0] for name in ("prediction_03", "prediction_03_b"))
    assert ch03_laws.noise(P, millions * 1e6) == pytest.approx(1e-4, rel=1e-3)
    assert share == pytest.approx(FUNCTIONS["argmax_draft_law"](*ch03.COINS)[0], abs=1e-12)
    ch03.reveal("prediction_03", None)
    assert "41" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["quiz_03", "quiz_03_b"])
def test_every_wrong_option_has_its_own_explanation(name: str):
    right = solutions_of(CHAPTER)[name]
    answers = [{name: f'{name} = "{o}"'} for o in "abcd" if f'"{o}"' not in right]
    notebooks = [filled(release_of(CHAPTER), solutions_of(CHAPTER) | a) for a in answers]
    messages = [grade(n, CHAPTER).exercises[name].messages for n in notebooks]
    assert len({text for (text,) in messages}) == 3


# --- exact laws -----------------------------------------------------------------------------


def test_rules_as_students_meet_them():
    for rule in (ch03_rules.right_rule, ch03_rules.sampler_match, *ch03_rules.IMPOSTORS):
        law = ch03_laws.rule_law(rule, ch03.GRID_P, ch03.GRID_Q)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        off = np.abs(law - ch03.GRID_P).max()
        assert (off > 1e-3) == (rule in ch03_rules.IMPOSTORS) and rule.__doc__.endswith(".")
    assert len(ch03_rules.IMPOSTORS) == 8 and set(ch03_rules.SEEN) <= set(dir(ch03_rules))


@pytest.mark.parametrize("name", ["GRID", "ODD", "SPLIT", "QUIET", "TWO", "SAME"])
def test_pairs_of_the_hidden_tests_are_counted_exactly(name: str):
    p, q = getattr(hidden, name)
    ratios = np.minimum(1, np.divide(p, q, out=np.ones(len(p)), where=q > 0))
    sums = np.cumsum(ch03_rules.residual(p, q))
    for values in (64 * ratios, 64 * sums):
        assert np.array_equal(values, np.round(values))
    assert p.sum() == q.sum() == 1


def test_grid_and_formula_agree_on_mixed_up_drafts():
    p, q = ch03.GRID_P, ch03.GRID_Q
    law, accepted = ch03_laws.mixed_up(p, q, q)
    assert np.abs(law - p).max() < 1e-12 and accepted == pytest.approx(np.minimum(p, q).sum())
    one_hot = np.eye(4)[np.argmax(q)]
    broken, _ = ch03_laws.mixed_up(p, q, one_hot)
    assert np.abs(broken - FUNCTIONS["argmax_draft_law"](p, q)).max() < 1e-12
    counted = ch03_laws.rule_law(lambda p, _, *rest: ch03_rules.right_rule(p, q, *rest), p, one_hot)
    assert np.abs(broken - counted).max() < 1e-12


@pytest.mark.parametrize("knob, values", [("lenient", (1, 0.7, 0.3)), ("mixture", (1, 0.6, 0.1))])
def test_a_point_of_acceptance_costs_a_point_of_total_variation(knob: str, values: tuple):
    for p, q in random_pairs(60):
        for value in values:
            law, accepted = getattr(ch03_laws, knob)(p, q, value)
            gained = accepted - np.minimum(p, q).sum()
            assert law.sum() == pytest.approx(1, abs=1e-9)
            assert FUNCTIONS["total_variation"](law, p) == pytest.approx(gained, abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_law_of_whole_texts(k: int):
    plain = ch03_laws.plain_law(ch03.TARGET, 3)
    assert plain.sum() == pytest.approx(1, abs=1e-12)
    law = ch03_laws.text_law(ch03.TARGET, ch03.DRAFT, k, 3)
    assert np.abs(law - plain).max() < 1e-12
    stale = ch03_laws.text_law(ch03.TARGET, ch03.DRAFT, k, 3, stale=True)
    assert (np.abs(stale - plain).max() > 1e-3) == (k < 3)


def test_bfloat16_rounds_to_nearest_even():
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    values[:2] = 1 + 2**-8, 1 + 3 * 2**-8
    rounded = torch.from_numpy(values).bfloat16().float().numpy()
    assert np.array_equal(ch03_laws.bfloat16(values), rounded)


def test_numbers_that_the_text_prints():
    pairs = ((p, FUNCTIONS["argmax_draft_law"](p, q)) for p, q in ch03.ARGMAX_PAIRS)
    distances = [round(float(np.abs(law - p).sum() / 2), 3) for p, law in pairs]
    assert distances == [0.333, 0.15, 0.367]
    assert f"{(P * Q).sum():.3f}" == "0.305" and (P / Q).max() == pytest.approx(2)
    assert round(ch03_laws.noise(P, 200_000), 4) == 0.0014
    even = [ch03_laws.noise(np.full(v, 1 / v), 200_000) for v in (8, 32)]
    assert [round(x, 3) for x in even] == [0.002, 0.005]
    warp, flat = FUNCTIONS["warp"], (ch03.FLAT_TARGET, ch03.FLAT_DRAFT)
    p, drawn = (warp(logits, 1.0, 4) for logits in flat)
    law, accepted = ch03_laws.mixed_up(p, warp(ch03.FLAT_DRAFT), drawn)
    assert accepted == pytest.approx(1) and round(float(np.abs(law - p).sum() / 2), 3) == 0.155


# --- figures --------------------------------------------------------------------------------

FIGURES = {
    "shared_mass": ("total_variation", (P, Q)),
    "two_samplers": ("acceptance_rate", (P, Q)),
    "stacked_paths": ("two_paths", (P, Q)),
    "laws_against_targets": ("argmax_draft_law", (ch03.ARGMAX_PAIRS,)),
    "warped": ("warp", (ch03.LOGITS,)),
    "filtered_draft": ("warp", (ch03.FLAT_TARGET, ch03.FLAT_DRAFT)),
    "line_up": ("is_lossless", (ch03.GRID_P, ch03.GRID_Q)),
    "price_of_acceptance": ("total_variation", (P, Q)),
}


def figure(name: str):
    """A figure of the chapter by its name, from whichever file it is in."""
    return getattr(ch03_figures, name, None) or getattr(ch03_sampling, name)


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []

    def keep(drawn, alt):
        drawn.canvas.draw()
        texts.append(alt)
        plt.close(drawn)

    for module in (ch03_figures, ch03_sampling):
        monkeypatch.setattr(module, "show", keep)
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    figure(name)(FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and capsys.readouterr().out == ""
    figure(name)(stub, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            figure(name)(wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    figure("line_up")(lambda rule, p, q: True, ch03.GRID_P, ch03.GRID_Q)
    assert "coarse_coin 0.007812, lossless" in shown[0]
    figure("stacked_paths")(lambda p, q: (q, p - p), P, Q)
    assert "by acceptance A 0.3, B 0.45" in shown[1]


def test_figures_without_a_student(shown: list[str], capsys):
    ch03_sampling.running_distance(P, Q)
    ch03_sampling.whole_texts(ch03.TARGET, ch03.DRAFT, k=2, length=3)
    ch03_sampling.noise_hides_a_bug(ch03.QUIET_P, ch03.QUIET_Q)
    ch03_sampling.draw_and_compare()
    assert "counted 0.0009765625" in shown[2] and "bonus from the row before" in shown[1]
    assert "exactly 0.80" in capsys.readouterr().out


def test_the_four_witnesses(capsys):
    ch03_sampling.witnesses(FUNCTIONS["two_paths"], FUNCTIONS["is_lossless"])
    out = capsys.readouterr().out
    assert out.count("holds") == 4 and "impostors seen: 8 of 8" in out
    ch03_sampling.witnesses(lambda p, q: (p, p), lambda rule, p, q: True)
    assert capsys.readouterr().out.count("FAILS") == 2
    ch03_sampling.witnesses(stub, stub)
    assert "Write it first" in capsys.readouterr().out


def test_rounding_and_one_seed(capsys):
    ch03.rounding(vocab_size=1000)
    errors = [float(x) for x in re.findall(r"off by TV (\S+)", capsys.readouterr().out)]
    assert errors[0] < 1e-6 and 1e-4 < errors[1] < 1e-1 and errors[2] < 1e-12
    plain, speculative = ch03.one_seed(P, Q, tokens=20)
    assert len(plain) == len(speculative) == 20 and plain != speculative


# --- coverage -------------------------------------------------------------------------------


def test_rows_are_met_under_headings_that_exist():
    rows = json.loads(Path(__file__).with_name("coverage").joinpath("ch03.json").read_text())
    headings = set(re.findall(r"^# #+ (.+)$", TEXT, re.MULTILINE))
    assert len(rows) == 14 and set(rows.values()) <= headings


def test_no_model_is_loaded():
    assert "import torch" not in TEXT and "transformers" not in re.findall(r"import (\w+)", TEXT)


# --- simulator ------------------------------------------------------------------------------


def test_simulator_is_checked_and_offline():
    simulator = two_paths_simulator(P, Q, "argmax")
    assert simulator.state["counts"] == [0, 0, 0, 0] and simulator.state["sampler"] == "argmax"
    json.dumps(simulator.state)
    page = simulator.page()
    assert set(re.findall(r"\w+://[^\"'\s]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(
        r"\bimport\b|\bfetch\b|requestAnimationFrame|<animate|Math.random\(\) <", page
    )
    with pytest.raises(ValueError, match="sampler is 'best'; it is one of rule, from_target"):
        two_paths_simulator(sampler="best")
    with pytest.raises(ValueError, match="draft sums to 0.9"):
        two_paths_simulator(draft=(0.3, 0.3, 0.2, 0.1))


@pytest.fixture
def module(browser):
    """`module(name, *arguments)` calls an exported function of two_paths.js."""
    page = browser.new_page()
    source = base64.b64encode(two_paths_simulator().module.encode()).decode()
    page.evaluate(
        "url => import(url).then(m => { window.lesson = m; })",
        f"data:text/javascript;base64,{source}",
    )
    yield lambda name, *given: page.evaluate(
        "([name, given]) => window.lesson[name](...given)", [name, list(given)]
    )
    page.close()


def exact_law(sampler: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """A sampler's law by the library."""
    drawn = np.eye(len(q))[np.argmax(q)] if sampler == "argmax" else q
    if sampler == "from_target":
        overlap = np.minimum(p, q)
        return overlap + (1 - overlap.sum()) * p
    return ch03_laws.mixed_up(p, q, drawn)[0]


@pytest.mark.browser
def test_formulas_equal_the_library(module):
    for p, q in random_pairs(60):
        accepted, corrected = module("paths", p.tolist(), q.tolist())
        np.testing.assert_allclose([accepted, corrected], FUNCTIONS["two_paths"](p, q), atol=1e-12)
        want = FUNCTIONS["total_variation"](p, q)
        assert module("totalVariation", p.tolist(), q.tolist()) == pytest.approx(want, abs=1e-12)
        assert module("noise", p.tolist(), 5000) == pytest.approx(
            ch03_laws.noise(p, 5000), rel=1e-9
        )
        for sampler in SAMPLERS:
            law = module("law", sampler, p.tolist(), q.tolist())
            np.testing.assert_allclose(law, exact_law(sampler, p, q), rtol=0, atol=1e-12)
        u = float(p.cumsum()[1] - 1e-6)
        assert module("pick", p.tolist(), u) == sample_from(p, u)


def mulberry32(seed: int):
    """The simulator's random numbers, once more."""
    word = 2**32
    while True:
        seed = (seed + 0x6D2B79F5) % word
        t = (seed ^ (seed >> 15)) * (seed | 1) % word
        t ^= (t + (t ^ (t >> 7)) * (t | 61)) % word
        yield (t ^ (t >> 14)) / word, seed


@pytest.mark.browser
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_draws_are_those_of_the_rule(module, sampler: str):
    numbers, counts = mulberry32(3), [0, 0, 0, 0]
    replacement = P if sampler == "from_target" else ch03_rules.residual(P, Q)
    for _ in range(500):
        (u, _), (r, _), (v, seed) = next(numbers), next(numbers), next(numbers)
        token = int(np.argmax(Q)) if sampler == "argmax" else sample_from(Q, u)
        counts[token if r * Q[token] < P[token] else sample_from(replacement, v)] += 1
    drawn = module("draw", sampler, P.tolist(), Q.tolist(), 3, 500)
    assert drawn == {"counts": counts, "seed": seed}


@pytest.fixture
def open_simulator(browser):
    """Opens simulators; at the end there must be no error on the console and no request."""
    from test_widgets_browser import Reader

    opened = []

    def open_page(simulator, **look):
        opened.append(Reader(browser, **look))
        return opened[-1].show(simulator)

    yield open_page
    for one in opened:
        one.page.close()
        assert (one.errors, one.requests) == ([], [])


def press(page, name: str) -> None:
    page.frame.get_by_role("button", name=name, exact=True).press("Enter")


@pytest.mark.browser
def test_worked_pair_and_a_sample(open_simulator):
    page = open_simulator(two_paths_simulator())
    assert page.texts(".sd-number") == ["0.80", "0.20", "–", "–"]
    assert "A: by acceptance 0.30, by correction 0.15, target 0.45" in page.description(0)
    press(page, "Sample 1,000")
    press(page, "Sample 100")
    seen, floor = (float(x) for x in page.texts(".sd-number")[2:])
    assert floor == round(ch03_laws.noise(P, 1100), 4) and 0 < seen < 4 * floor
    assert "After 1,100 draws" in page.texts(".sd-verdict")[1]
    assert page.frame.locator(".sd-chart circle[r='4']").count() == 2
    press(page, "Start again")
    assert page.texts(".sd-number")[2:] == ["–", "–"]


@pytest.mark.browser
def test_a_wrong_sampler_leaves_the_noise_floor(open_simulator):
    page = open_simulator(two_paths_simulator())
    page.frame.get_by_label("Sampler").select_option("argmax")
    assert "The exact law is 0.3667 from the target" in page.texts(".sd-verdict")[1]
    press(page, "Sample 10,000")
    assert "off by 0.3667, and by now it shows" in page.texts(".sd-verdict")[1]
    page.slider("A target weight").press("ArrowRight")
    assert page.texts(".sd-number")[2:] == ["–", "–"]
    press(page, "Reset to the worked pair")
    assert page.texts(".sd-number")[:2] == ["0.80", "0.20"]


@pytest.mark.browser
@pytest.mark.parametrize("draft, said", [(P, "equal"), ((0, 0, 0, 1), "By acceptance 0.10")])
def test_the_masses_add_up_to_p_for_every_draft(open_simulator, draft, said):
    page = open_simulator(two_paths_simulator(draft=draft))
    assert said in page.texts(".sd-verdict")[0]
    sums = re.findall(
        r"acceptance (\S+), by correction (\S+), target (\S+?)[;.](?= |$)", page.description(0)
    )
    assert len(sums) == 4
    assert all(float(a) + float(c) == pytest.approx(float(t)) for a, c, t in sums)


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
def test_fits_its_width_and_takes_its_height(open_simulator, width):
    page = open_simulator(two_paths_simulator(), width=width)
    frame = page.page.frames[1]
    page.page.wait_for_function("document.querySelector('iframe').style.height != '1240px'")
    assert frame.evaluate("document.documentElement.scrollWidth") == width
