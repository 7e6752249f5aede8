"""Chapter 08: its checks, its puzzle, its laws, its figures, its picture, lazy answers to it."""

import base64
import copy
import html
import json
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from autograde.chapters import ch08_tests, ch08_wrong
from autograde.grading.engine import grade
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.paths import SOLUTIONS
from autograde.submissions import filled, solutions_of
from specdec_lib.decoding.progress import Block, Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.lessons import ch08, ch08_figures, ch08_laws, ch08_measured, ch08_puzzle
from specdec_lib.lessons.ch08_models import WatchedCache, WatchedModel, dyadic_table
from specdec_lib.lessons.examples import Different, Unwritten, describe
from specdec_lib.lessons.widgets.trace import trace_picture
from specdec_lib.measure import papers
from specdec_lib.measure.batches import Served
from specdec_lib.measure.engineering import Version
from specdec_lib.measure.ours import library_generate
from specdec_lib.measure.timing import Spread
from specdec_lib.sampling import Warp, choices_for, sample_rows

CHAPTER = "08_full_generation"
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")


def given(name: str) -> str:
    """The source of a function that the chapter gives."""
    return re.search(rf"^(def {name}\(.*?\n)\n\n", TEXT, re.MULTILINE | re.DOTALL)[1]


def functions() -> dict:
    """The solution's functions, run in one namespace as in the notebook."""
    namespace: dict = {"np": np, "torch": torch, "Warp": Warp, "sample_rows": sample_rows}
    exec(given("feed"), namespace)
    for source in solutions_of(CHAPTER).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions()


def unwritten(*args):
    raise NotImplementedError("not written yet")


# --- the visible checks ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ch08.HINTS)
def test_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch08, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", ch08.HINTS)
def test_checks_pass_a_stub_through(name: str):
    with pytest.raises(Unwritten, match="not written yet"):
        getattr(ch08, f"check_{name}")(unwritten)


@pytest.mark.parametrize("name", ch08.HINTS)
@pytest.mark.parametrize("value", [[], 0, np.zeros(4), (torch.zeros(3), torch.zeros(3))])
def test_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch08, f"check_{name}")(lambda *args: value)


def test_a_rollback_that_does_nothing_fails_the_check():
    with pytest.raises(Different, match=r"called truncate with \[\], expected \[11\]"):
        ch08.check_rollback(lambda cache, length: None)
    with pytest.raises(Different, match="positions, length=4.* returned None, expected ValueError"):
        ch08.check_rollback(ch08_wrong.clamped)


def test_the_check_sees_what_is_read_twice():
    with pytest.raises(Different, match="read the prompt again"):
        ch08.check_speculative_generate(ch08_wrong.prompt_read_every_block)


def test_the_texts_of_the_check_are_the_decoders():
    for (k, temperature, eos_id, seed), text in ch08.TEXTS.items():
        settings = Settings(ch08.TOKENS, Warp(temperature), eos_id)
        choices = choices_for(settings.warp, [np.random.default_rng(seed)])
        target, draft = ch08.models()
        drafter = ModelDrafter(draft)
        out = speculative_generate(target, drafter, [ch08.PROMPT], k, settings, choices)
        assert out.tokens[0] == text


def test_what_is_measured_waits_for_its_check(monkeypatch):
    monkeypatch.setattr(ch08, "_passed", {})
    rollback = FUNCTIONS["rollback"]
    with pytest.raises(Different, match="runs your rollback, and its check has not passed"):
        ch08.checked(rollback)
    ch08.check_rollback(rollback)
    ch08.checked(rollback)
    changed = functions()["rollback"]  # the cell was run again
    with pytest.raises(Different, match="since you last changed it"):
        ch08.checked(rollback, changed)


MEASURING = ("identity.", "experiment.run(", "engineering.", "traces.", "batches.", "seq2seq.")


@pytest.mark.parametrize("name", MEASURING)
def test_cells_that_measure_ask_for_the_checks(name: str):
    asking = "    lesson.checked(rollback, verify_block, speculative_generate)\n"
    assert TEXT.count("decoders.yours(") == TEXT.count(asking) == 1
    cells = [cell for cell in re.split(r"^# %%", TEXT, flags=re.MULTILINE) if name in cell]
    code = [cell for cell in cells if not cell.startswith(" [markdown]")]
    assert code and all("our_decoder()" in cell for cell in code)


EMPTY_ANSWERS = ["[]", "True", "0", "None", "args[0]", "args[1]", "args[2]", "(args[4], args[4])"]


@pytest.mark.parametrize("value", [*EMPTY_ANSWERS, "int('x')"])
def test_constants_copies_and_errors_earn_nothing(value: str):
    answers = {name: f"def {name}(*args):\n    return {value}" for name in ch08.HINTS}
    result = grade(filled(release_of(CHAPTER), solutions_of(CHAPTER) | answers), CHAPTER)
    assert {name: result.exercises[name].passed for name in ch08.HINTS} == dict.fromkeys(
        ch08.HINTS, 0
    )


def test_every_wrong_option_has_its_own_explanation():
    names, told = ("quiz_08", "quiz_08_b"), set()
    for options in (("a", "b"), ("b", "c"), ("d", "d")):  # c and a are right
        chosen = zip(names, options, strict=True)
        exercises = graded(**{name: f'{name} = "{option}"' for name, option in chosen})
        told |= {(name, *exercises[name].messages) for name in names}
    assert len(told) == 6 and all(len(entry) == 2 for entry in told)


# --- the hidden tests -----------------------------------------------------------------------

WAITING = """
def verify_block(p, q, drafted, r, u):
    at = drafted[..., None]
    verdicts = (r * q.gather(-1, at)[..., 0] < p[:, :-1].gather(-1, at)[..., 0]).tolist()
    count = torch.tensor([[*row, False].index(False) for row in verdicts])
    rows = torch.arange(len(p))
    behind = torch.nn.functional.pad(q, (0, 0, 0, 1))
    rest = (p[rows, count] - behind[rows, count]).clamp(min=0)
    mass = rest.sum(-1, keepdim=True)
    return count, sample_rows(torch.where(mass > 0, rest / mass, p[rows, count]), u)
"""


def graded(**answers: str):
    """The exercises of the solution with other answers in it."""
    answers = solutions_of(CHAPTER) | answers
    return grade(filled(release_of(CHAPTER), answers), CHAPTER).exercises


def test_a_right_verdict_that_waits_for_the_device_loses_a_tenth_and_is_told_so():
    exercise = graded(verify_block=WAITING)["verify_block"]
    assert exercise.score == pytest.approx(0.9 * exercise.max_score)
    (message,) = exercise.messages
    assert "used tolist" in message and "loop over the rows is clearer" not in message


def test_the_loop_over_rows_loses_a_tenth():
    (wrong,) = (w for w in misconceptions_of(CHAPTER).all if w.name == "loop_over_rows")
    exercise = graded(verify_block=wrong.code)["verify_block"]
    assert exercise.score == pytest.approx(0.9 * exercise.max_score)


PREFILLED = '''
def speculative_generate(
    target, draft, prompt_ids, k, max_new_tokens, temperature, rng, eos_id=None
):
    """The prompt is read apart, which is as good."""
    text, end, warp = list(prompt_ids), len(prompt_ids) + max_new_tokens, Warp(temperature)
    caches = target.new_cache(), draft.new_cache()
    if max_new_tokens and len(text) > 1:
        for model, cache in zip((target, draft), caches):
            model.forward(torch.tensor([text[:-1]]), cache)
    while len(text) < end:
        n = min(k, end - len(text) - 1)
        numbers = np.zeros(2 * n + 1)
        if temperature:
            numbers = np.array([*rng.random(n), *rng.random(n), rng.random()])
        drafted, q = [], []
        for u_i in numbers[:n]:
            q.append(warp(feed(draft, caches[1], text + drafted)[:, -1:]))
            drafted.append(int(sample_rows(q[-1][0], torch.tensor([u_i]))))
        p = warp(feed(target, caches[0], text + drafted)[:, -n - 1 :])
        coins, last = torch.tensor(numbers[None, n:-1]), torch.tensor(numbers[-1:])
        block = torch.tensor([drafted]).long()
        count, token = verify_block(p, torch.cat([*q, p[:, :0]], 1), block, coins, last)
        for new in [*drafted[: int(count)], int(token)]:
            text.append(new)
            if new == eos_id:
                return text[len(prompt_ids) :]
        for cache in caches:
            rollback(cache, min(int(cache.length), len(text) - 1))
    return text[len(prompt_ids) :]
'''


def test_reading_the_prompt_apart_is_as_good():
    exercise = graded(speculative_generate=PREFILLED)["speculative_generate"]
    assert exercise.messages == []


def test_models_of_the_tests_keep_the_protocol():
    model = ch08_tests.LentModel(dyadic_table(3), "target", prompt=2)
    cache = model.new_cache()
    assert model.forward(torch.tensor([[1, 2]]), cache).shape == (1, 2, 4)
    assert cache.length.tolist() == [2] and model.trace == []
    again = model.new_cache()
    model.forward(torch.tensor([[1]]), again)
    assert model.trace == ["read the prompt again"]
    cache.truncate(1)
    model.forward(torch.tensor([[3]]), cache)
    cache.truncate(torch.tensor([2]))
    cache.truncate([1])
    model.forward(torch.tensor([[3, 0]]), cache)
    assert model.again == [[1], [1, 3]] and cache.cuts == [1, 2, 1]
    with pytest.raises(ValueError, match="cannot be cut to 4"):
        cache.truncate(4)
    with pytest.raises(ValueError, match="takes one row, not 2"):
        model.new_cache(2)


def test_a_model_looks_two_tokens_back():
    table = dyadic_table(5)
    model = WatchedModel(table)
    rows = model.forward(torch.tensor([[2, 1, 3]]), model.new_cache())[0].exp()
    expected = [table[0, 2], table[2, 1], table[1, 3]]
    assert torch.allclose(rows, torch.tensor(np.array(expected)))


# --- predictions and puzzle -----------------------------------------------------------------


def test_predictions_are_held_against_computed_numbers(capsys):
    assert ch08.TRUTHS["prediction_08"][0] == 14 - 11 == 3
    ch08.reveal("prediction_08", None)
    ch08.reveal("prediction_08_b", None, 1.5)
    waiting = capsys.readouterr().out
    assert waiting.count("this cell waits for it") == 2 and "1.5" not in waiting
    ch08.reveal("prediction_08_b", 2.0, 1.5)
    assert capsys.readouterr().out.startswith("You said 2. It is 1.5. That is the middle")


def test_puzzle_is_printed_shuffled(capsys):
    ch08.check_puzzle("", "", "")
    printed = capsys.readouterr().out
    assert dict(re.findall(r"^([A-L])  ( *\S.*)$", printed, re.MULTILINE)) == ch08_puzzle.LINES


@pytest.mark.parametrize("order", ch08_puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(ch08_puzzle.LINES)
    for letter, filled_in in ch08_puzzle.FILLED.items():
        lines[letter] = lines[letter].replace("____", filled_in)
    body = "\n".join("        " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    names["as_tensors"] = lambda *each: [
        torch.tensor([part]).long() if i == 0 else torch.tensor(np.array([part]))
        for i, part in enumerate(each)
    ]
    exec(
        "def write(target, draft, text, k, end, warp, rng):\n"
        "    target_cache, draft_cache = target.new_cache(), draft.new_cache()\n"
        f"    while len(text) < end - 1:\n{body}\n    return text",
        names,
    )
    text, length = list(ch08.PROMPT), len(ch08.PROMPT)
    args = text, 3, length + ch08.TOKENS, Warp(1.0), np.random.default_rng(3)
    out = names["write"](*ch08.models(), *args)
    assert out[length:] == ch08.TEXTS[3, 1.0, None, 3][: len(out) - length] and len(out) > 9
    assert set(ch08_puzzle.LINES) - set(order) == {"E"}


@pytest.mark.parametrize(
    ("order", "blanks", "told"),
    [
        ("g, j", ("", ""), "Right so far. 9 lines are still missing"),
        ("GE", ("", ""), "Line E does not come next. Line E throws away"),
        ("GJLDAHCKFIB", ("end - len(text)", "-n - 1"), "The blank in line G is not"),
        ("GJLDAHCKFIB", ("end-len(text)-1", "-n"), "The blank in line C is not"),
        ("GJLDAHCKFBI", ("end-len(text)-1", "-n-1"), "That is a block"),
    ],
)
def test_puzzle_says_how_far_it_is_right(order: str, blanks: tuple, told: str, capsys):
    ch08.check_puzzle(order, *blanks)
    assert told in capsys.readouterr().out


# --- laws -----------------------------------------------------------------------------------


def test_the_solutions_verdict_has_the_targets_law():
    accepted, added, rows = ch08_laws.block_law(FUNCTIONS["verify_block"])
    open_mass = 1 - (accepted + added).sum(-1, keepdims=True)
    assert np.abs(accepted + added + open_mass * ch08_laws.P - ch08_laws.P).max() < 1e-12
    assert rows == 3456 and f"{rows:,} rows" in TEXT


def test_the_solutions_loop_has_the_targets_law_and_a_wrong_one_has_not():
    law, runs = ch08_laws.text_law(FUNCTIONS["speculative_generate"])
    assert np.abs(law - ch08_laws.plain_law()).max() < 1e-15 and runs == 56
    law, _ = ch08_laws.text_law(library_generate)
    assert np.abs(law - ch08_laws.plain_law()).max() < 1e-15
    for wrong in (ch08_wrong.argmax_draft, ch08_wrong.numbers_used_again):
        law, _ = ch08_laws.text_law(wrong)
        assert np.abs(law - ch08_laws.plain_law()).max() > 0.05


# --- figures --------------------------------------------------------------------------------

FIGURES = {
    "going_back": "rollback",
    "law_of_blocks": "verify_block",
    "passes": "speculative_generate",
    "law_of_texts": "speculative_generate",
}
BLOCKS = [
    Block([5, 6, 7], 3, 8, 4, [0.5, 0.4, 0.9], [0.6, 0.4, 0.3], 0.002, 0.01),
    Block([5, 6, 7], 1, 2, 2, [0.5, 0.0, 0.9], [0.25, 0.4, 0.3], 0.001, 0.02),
    Block([5, 6], 2, 9, 2, [0.5, 0.5], [0.5, 0.5], 0.001, 0.02),
]
SPREAD = {"median": 1.5, "low": 1.25, "high": 1.75}
ROW = SimpleNamespace(
    target="234m", draft="base", task="code", temperature=1, alpha=0.64, expected=1.6, formula=1.9,
    empirical=SPREAD, at_4=SPREAD, over_hugging=SPREAD, over_assisted=SPREAD,
)  # fmt: skip
COLD = SimpleNamespace(**{**vars(ROW), "temperature": 0, "alpha": 0.58})


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    for module in (ch08_figures, ch08_measured):
        monkeypatch.setattr(module, "show", lambda figure, alt: texts.append(alt))
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    getattr(ch08_figures, name)(FUNCTIONS[FIGURES[name]])
    assert len(shown) == 1 and capsys.readouterr().out == ""
    getattr(ch08_figures, name)(unwritten)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, function in FIGURES.items():
        if function == wrong.exercise:
            getattr(ch08_figures, name)(copy.deepcopy(wrong.function))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_figures_tell_what_a_wrong_function_did(shown: list[str]):
    ch08_figures.going_back(ch08_wrong.one_too_many)
    assert "Behind your rollback to 11 it holds 10." in shown[0]
    ch08_figures.law_of_texts(ch08_wrong.argmax_draft)
    assert not shown[1].endswith("Total variation 0.0e+00.")
    ch08_figures.passes(ch08_wrong.prompt_read_every_block)
    assert shown[2].count("the target reads positions 0 to") > 1


def test_words_of_the_measured_figures(shown: list[str]):
    ch08_measured.beside_the_papers(
        [ROW, COLD], papers.table("leviathan_2_4"), papers.table("chen_1")
    )
    ch08_measured.against_hugging_face([ROW, COLD])
    ch08_measured.alpha_beside_table_3([ROW, COLD], papers.table("leviathan_3"))
    ch08_measured.engineering([Version("a loop", Spread(1.5, 1.25, 1.75))])
    ch08_measured.blocks_over_time(BLOCKS)
    ch08_measured.timeline(BLOCKS)
    ch08_measured.by_position([(b.accepted, len(b.drafted)) for b in BLOCKS], k=3)
    ch08_measured.by_class({"keyword": (0.5, 0.75, 12)})
    ch08_measured.batches([Served(1, 0, 10.0, 1.0, 0.5, 0.6), Served(1, 2, 15.0, 1.5, 0.3, 0.4)])
    plt.close("all")
    assert "base on 234m, code, T = 1: promised 1.60, formula 1.90, measured 1.50" in shown[0]
    assert "EnDe T = 0" not in shown[0] or "T5-small EnDe T = 0: 3.4" in shown[0]
    assert "over Hugging Face generate: 1.50, 1.50" in shown[1]
    assert "base, code: 0.580 and 0.640" in shown[2]
    assert "a loop: 1.50 (1.25 to 1.75)" in shown[3]
    assert shown[4] == "Tokens of each block: 4, 2, 2. Mean 2.67."
    assert "block 2: 1.0 and 20.0 ms" in shown[5]
    assert "position 2: 0.500 of 2" in shown[6]
    assert "keyword, 12 tokens: 0.500 and 0.750" in shown[7]
    assert "batch 1, K = 2: 15 tokens/s, 1.50 times plain" in shown[8]


def test_fates_of_a_block():
    assert [ch08_measured.fates(block) for block in BLOCKS] == [(3, 0, 1), (1, 1, 0), (2, 0, 0)]


# --- the picture ----------------------------------------------------------------------------


def block(drafted: list[str], p: list[float], q: list[float], accepted: int, token: str) -> dict:
    return {"drafted": drafted, "p": p, "q": q, "accepted": accepted, "token": token}


PICTURE = {
    "prompt": "def f(x):\n    ",
    "blocks": [
        block(["return", " x"], [0.5, 0.25], [0.75, 0.25], 2, "\n"),
        block(["def", "class"], [0.3, 0.0], [0.2, 0.5], 1, " g"),
    ],
}


def picture():
    return trace_picture(**copy.deepcopy(PICTURE))


def test_picture_holds_visible_pieces():
    state = picture().state
    assert state["prompt"] == "def·f(x):↵·4" and state["blocks"][0]["token"] == "↵"
    json.dumps(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\]: every draft token needs a p and a q"),
        ({"p": [0.5, 1.5]}, r"blocks\[0\].p\[1\] is 1.5: a probability"),
        ({"accepted": 3}, "no more are accepted"),
        ({"accepted": -1}, "no more are accepted"),
    ],
)
def test_what_is_no_block_is_named(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        trace_picture("x", [PICTURE["blocks"][0] | change])
    with pytest.raises(ValueError, match="blocks is empty"):
        trace_picture("x", [])
    with pytest.raises(ValueError, match="chosen is -1"):
        trace_picture("x", PICTURE["blocks"], chosen=-1)


def test_picture_asks_for_nothing_and_does_not_move():
    page = html.unescape(picture().frame())
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|WebSocket|@import|<link", page)
    assert not re.search(r"transition|animation:|requestAnimationFrame|<animate", page)


@pytest.fixture
def module(browser):
    """`module(name, *arguments)` calls an exported function of trace.js."""
    page = browser.new_page()
    source = base64.b64encode(picture().module.encode()).decode()
    page.evaluate(
        "url => import(url).then(m => { window.lesson = m; })",
        f"data:text/javascript;base64,{source}",
    )
    yield lambda name, *given: page.evaluate(
        "([name, given]) => window.lesson[name](...given)", [name, list(given)]
    )
    page.close()


@pytest.mark.browser
def test_javascript_tells_the_fates_and_the_ratios(module):
    tokens = module("tokensOf", picture().state["blocks"])
    kinds = [(token["kind"], token["text"]) for token in tokens]
    assert kinds == [
        ("accepted", "return"), ("accepted", "·x"), ("bonus", "↵"), ("accepted", "def"),
        ("corrected", "·g"),
    ]  # fmt: skip
    for p, q in ((0.5, 0.75), (0.3, 0.2), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0)):
        rule = 0.0 if p == 0 else 1.0 if q == 0 else min(1.0, p / q)
        assert module("acceptance", p, q) == pytest.approx(rule, abs=1e-15)
    story = module("storyOf", tokens[4])
    assert "proposed class (p = 0, q = 0.5), accepted with probability 0; it was rejected" in story
    assert module("storyOf", tokens[2]).startswith("Block 1, position 3: bonus.")


@pytest.mark.browser
def test_picture_is_stepped_and_hovered(browser):
    page = browser.new_page(viewport={"width": 900, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(picture().page())
    chart = page.locator(".sd-chart svg[role=img]")
    chart.wait_for()
    assert page.locator(".sd-number").all_text_contents() == ["0.5", "0.75", "0.667", "0.75"]
    page.get_by_role("slider").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert "it was rejected" in page.locator(".sd-verdict").text_content()
    chart.locator("g.sd-target").hover()
    assert "bonus" in page.locator(".sd-verdict").text_content()
    assert chart.get_attribute("aria-label").startswith("5 tokens: return drafted and accepted")
    assert errors == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
def test_picture_fits_its_width(browser, width: int):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(picture().page())
    page.locator(".sd-chart svg[role=img]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


# --- what the parts share -------------------------------------------------------------------


def test_tensors_are_described_in_short():
    assert describe(torch.tensor([1, 2])) == "tensor([1, 2])"
    assert describe(torch.zeros(20, 3)) == "a tensor of shape (20, 3)"
    assert describe(WatchedCache([1, 2])) == "a cache of 2 positions"
