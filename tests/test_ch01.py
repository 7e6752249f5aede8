"""Chapter 01: its record, its puzzle, its figures, its animation, and lazy answers to it."""

import base64
import copy
import json
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import record_ch01
import torch
from test_gates import grade_with
from test_lessons import functions_of
from test_widgets_browser import Reader

from autograde.grading.misconceptions import misconceptions_of
from autograde.paths import SOLUTIONS
from autograde.submissions import solutions_of
from specdec_lib.decoding.verify import verify_block
from specdec_lib.lessons import ch01, ch01_figures, ch01_puzzle
from specdec_lib.lessons.ch01_models import DRAFT, TARGET, WORDS, Calls, greedy_decode, pair
from specdec_lib.lessons.examples import Different
from specdec_lib.lessons.widgets.pipeline import pipeline_animation
from specdec_lib.sampling import accept_below

CHAPTER = "01_draft_then_verify"
FUNCTIONS = functions_of(CHAPTER)
NAMES = list(ch01.HINTS)
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")
BLOCKS = ch01.RECORDED["blocks"]


# --- the visible checks ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch01, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", NAMES)
def test_visible_checks_pass_a_stub_through(name: str):
    with pytest.raises(NotImplementedError, match="not written yet"):
        getattr(ch01, f"check_{name}")(unwritten)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, [], -1, np.zeros(4)])
def test_visible_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch01, f"check_{name}")(lambda *args: value)


def unwritten(*args):
    raise NotImplementedError("not written yet")


# --- the small models -----------------------------------------------------------------------


def test_small_models_are_distributions_everywhere():
    for row in (DRAFT.row, TARGET.row):
        for first in range(len(WORDS)):
            for last in range(len(WORDS)):
                probs = row([first, last])
                assert probs.shape == (len(WORDS),) and abs(probs.sum() - 1) < 1e-12
                assert np.sum(probs == probs.max()) == 1  # no tie: a favourite can be seen


def test_calls_are_counted_and_refused():
    target, draft = pair(targets=1, drafts=3, in_a_block=2)
    draft([0]), draft([0, 1])
    with pytest.raises(ValueError, match="more than 2 times for one block"):
        draft([0])
    assert target([0, 1, 2]).shape == (3, len(WORDS)) and target.calls.blocks == [(3, 3)]
    with pytest.raises(ValueError, match="the target is called more often than the 1 allowed"):
        target([0])
    with pytest.raises(ValueError, match="more often than the 3 allowed"):
        draft([0])
    again = copy.deepcopy((target, draft))
    assert again[0].calls is again[1].calls and again[0].calls.blocks == []


@pytest.mark.parametrize("tokens", [[], [[1]], None, "the", [0.5]])
def test_a_model_reads_a_list_of_tokens(tokens: object):
    with pytest.raises(ValueError, match="a model reads a list of one token or more"):
        DRAFT(tokens)


# --- the record -----------------------------------------------------------------------------


def test_record_is_what_the_built_in_pair_does():
    again = record_ch01.record(record_ch01.load())
    assert {key: again[key] for key in ("pair", "prompt")} == {
        key: ch01.RECORDED[key] for key in ("pair", "prompt")
    }
    for new, kept in zip(again["blocks"], BLOCKS, strict=True):
        assert new["drafted"] == kept["drafted"] and new["token"] == kept["token"]
        assert new["accepted"] == kept["accepted"]
        for part in ("p", "q", "r"):
            np.testing.assert_allclose(new[part], kept[part], rtol=1e-6)


def test_record_holds_every_case():
    assert {block["accepted"] for block in BLOCKS} >= {0, 2, record_ch01.K}
    assert all(len(block["drafted"]) == record_ch01.K for block in BLOCKS)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "".join(block["drafted"]))
def test_recorded_verdicts_are_the_librarys(block: dict):
    p, q, r = (torch.tensor([block[part]], dtype=torch.float64) for part in "pqr")
    assert int(accept_below(p, q, r).cumprod(-1).sum()) == block["accepted"]
    # And by the whole verification, over two tokens: the draft token, and everything else.
    rows = torch.stack((p, 1 - p), -1), torch.stack((q, 1 - q), -1)
    last = torch.full((1, 1, 2), 0.5, dtype=torch.float64)
    drafted = torch.zeros(p.shape, dtype=torch.long)
    p_all, u = torch.cat((rows[0], last), 1), torch.tensor([0.5], dtype=torch.float64)
    assert int(verify_block(p_all, rows[1], drafted, r, u)[0]) == block["accepted"]


def test_truths_of_the_predictions():
    assert ch01.TRUTHS["prediction_01"][0] == 5
    assert ch01.TRUTHS["prediction_01_b"][0] == sum(b["accepted"] + 1 for b in BLOCKS) == 16
    calls = Calls()
    target, draft = pair()
    target.calls = draft.calls = calls
    draft.row = TARGET.row
    FUNCTIONS["greedy_speculative_decode"](target, draft, [0, 1], 4, 20)
    assert ch01.TRUTHS["prediction_01_c"][0] == len(calls.blocks) == 4


# --- the puzzle -----------------------------------------------------------------------------


def test_puzzle_is_printed_shuffled(capsys):
    ch01.check_puzzle("", "", "")
    printed = capsys.readouterr().out
    assert dict(re.findall(r"^([A-M])  ( *\S.*)$", printed, re.MULTILINE)) == ch01_puzzle.LINES
    assert not any(pair in "ABCDEFGHIJKLM" for pair in re.findall("..", ch01_puzzle.ORDERS[0]))


@pytest.mark.parametrize("order", ch01_puzzle.ORDERS)
def test_puzzle_solved_is_a_decoder(order: str):
    lines = dict(ch01_puzzle.LINES)
    for letter, filled in ch01_puzzle.FILLED.items():
        lines[letter] = lines[letter].replace(ch01_puzzle.BLANK, filled)
    body = "\n".join("    " + lines[letter] for letter in order)
    names = dict(FUNCTIONS)
    exec(f"def decode(target_model, draft_model, prompt, k, max_new_tokens):\n{body}", names)
    out = names["decode"](*pair(targets=4), ch01.PREFIX, 4, 12)
    assert out[:12] == greedy_decode(TARGET, ch01.PREFIX, 12)
    assert set(ch01_puzzle.LINES) - set(order) == {"G"}


@pytest.mark.parametrize(
    ("order", "blanks", "told"),
    [
        ("", ("", ""), "Nothing is arranged yet"),
        ("k, i, h", ("", ""), "Right so far. 9 lines are still missing"),
        ("KIG", ("", ""), "Line G does not come next. Line G says that the whole draft"),
        ("IK", ("", ""), "Line I does not come next. Which line has to run"),
        ("KIHFCLAJBMEDG", ("k", "n"), "Line G does not come next"),
        ("KIHFCLAJBMED", ("k + 1", "n"), "The blank in line C is not"),
        ("KIFHCLAJBMED", ("k", "-1"), "The blank in line E is not"),
        ("KIFHCLAJBMED", (" k", "n "), "That is the loop"),
    ],
)
def test_puzzle_says_how_far_it_is_right(order: str, blanks: tuple, told: str, capsys):
    ch01.check_puzzle(order, *blanks)
    assert told in capsys.readouterr().out


# --- figures --------------------------------------------------------------------------------

ROWS = ch01.target_rows(ch01.PREFIX, ch01.BLOCK)


def real(tokens: list[int]) -> np.ndarray:
    """Rows of the small target, as a real model's are handed to the last figure."""
    return np.array([TARGET.row(tokens[: i + 1]) for i in range(len(tokens))])


FIGURES = {
    "drawn_block": ("draft_block", (DRAFT, ch01.PREFIX, ch01.UNIFORMS)),
    "chosen_rows": ("score_block", (TARGET, ch01.PREFIX, ch01.BLOCK)),
    "greedy_walk": ("greedy_prefix", (ch01.BLOCK, ROWS)),
    "passes": ("greedy_speculative_decode", (ch01.PREFIX, 4, 12)),
    "on_real_text": ("greedy_speculative_decode", (real, real, ch01.PREFIX, ch01.text)),
}


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    monkeypatch.setattr(ch01_figures, "show", lambda figure, alt: texts.append(alt))
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    getattr(ch01_figures, name)(FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and "cannot be drawn" not in capsys.readouterr().out
    getattr(ch01_figures, name)(unwritten, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda wrong: wrong.name)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            getattr(ch01_figures, name)(wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_figure_shows_the_rows_that_were_really_returned(shown: list[str]):
    def from_the_start(model, prefix, drafted):
        return model([*prefix, *drafted])[: len(drafted) + 1]

    arguments = FIGURES["chosen_rows"][1]
    ch01_figures.chosen_rows(from_the_start, *arguments)
    ch01_figures.chosen_rows(FUNCTIONS["score_block"], *arguments)
    ch01_figures.chosen_rows(lambda *args: np.zeros((2, 3)), *arguments)
    assert "row 0 speaks of 'cat', says 'cat', is your p[0]" in shown[0]
    assert "row 1 speaks of 'sat', says 'sat', is your p[0]" in shown[1]
    assert "row 5 speaks of what is next, says 'sat', is your p[4]" in shown[1]
    assert "no rows of this pass" in shown[2]


def test_figure_of_the_passes_tells_what_each_wrote(shown: list[str]):
    ch01_figures.passes(FUNCTIONS["greedy_speculative_decode"], ch01.PREFIX, 4, 12)
    assert shown[0].startswith("12 tokens in 4 passes and 12 draft calls; the target alone writes")
    assert "sat (accepted) on (accepted) the (accepted) mat (corrected)" in shown[0]


def test_recorded_blocks_are_told_in_words(shown: list[str]):
    ch01_figures.recorded_blocks(ch01.RECORDED)
    ch01_figures.recorded_blocks(ch01.RECORDED, first=2, count=1)
    assert all(f"Block {number}: " in shown[0] for number in range(1, 6))
    assert "Block 3: " in shown[1] and "'p' bonus" in shown[1] and "Block 1" not in shown[1]
    plt.close("all")


# --- grading --------------------------------------------------------------------------------


PLAIN = """def greedy_speculative_decode(target_model, draft_model, prompt, k, n, eos=None):
    written = []
    while len(written) < n and eos not in written:
        written.append(int(np.argmax(target_model([*prompt, *written])[-1])))
    return written"""


def test_plain_decoding_is_told_from_speculative_decoding():
    exercise = grade_with(CHAPTER, greedy_speculative_decode=PLAIN).exercises[
        "greedy_speculative_decode"
    ]
    assert exercise.passed == len(exercise.behaviours) - 1
    assert any("the target is called more often" in text for text in exercise.messages)


@pytest.mark.parametrize("name", ["quiz_01", "quiz_01_b"])
def test_every_wrong_option_has_its_own_explanation(name: str):
    right = solutions_of(CHAPTER)[name]
    messages = [
        grade_with(CHAPTER, **{name: f'{name} = "{option}"'}).exercises[name].messages
        for option in "abcd"
        if f'"{option}"' not in right
    ]
    assert len({text for (text,) in messages}) == 3


def test_rows_of_the_source_material_stand_under_headings_that_exist():
    rows = json.loads((Path(__file__).parent / "coverage" / "ch01.json").read_text())
    headings = set(re.findall(r"^# #+ (.*)$", TEXT, re.MULTILINE))
    assert set(rows.values()) <= headings and len(rows) == 22


# --- the animation --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": [0.5]}, r"blocks\[0\] has 4 draft tokens and 1 p"),
        ({"q": [2, 0, 0, 0]}, r"blocks\[0\].q is 2.0: a probability"),
        ({"token": 7}, r"blocks\[0\].token is 7, which is not a text"),
    ],
)
def test_what_is_no_record_is_named(change: dict, message: str):
    record = {**ch01.RECORDED, "blocks": [{**BLOCKS[0], **change}]}
    with pytest.raises(ValueError, match=message):
        pipeline_animation(record)


@pytest.mark.parametrize("frame", [-1, 0.5, True, "first"])
def test_frames_count_from_zero(frame: object):
    with pytest.raises(ValueError, match="frames count from 0"):
        pipeline_animation(ch01.RECORDED, frame)


def test_nothing_glides_and_nothing_points_to_the_network():
    module = pipeline_animation(ch01.RECORDED).module
    assert not re.search(r"transition|animation:|requestAnimationFrame|<animate", module)
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|WebSocket", module)


@pytest.fixture
def module(browser):
    """`module(name, *arguments)` calls an exported function of pipeline.js."""
    page = browser.new_page()
    source = base64.b64encode(pipeline_animation(ch01.RECORDED).module.encode()).decode()
    page.evaluate(
        "url => import(url).then(m => { window.lesson = m; })",
        f"data:text/javascript;base64,{source}",
    )
    yield lambda name, *given: page.evaluate(
        "([name, given]) => window.lesson[name](...given)", [name, list(given)]
    )
    page.close()


@pytest.mark.browser
def test_verdicts_equal_the_librarys(module):
    rng = np.random.default_rng(1)
    for k in (1, 2, 4, 7):
        for _ in range(40):
            p, q, r = rng.random((3, k))
            p[rng.random(k) < 0.1] = 0.0
            block = {"p": p.tolist(), "q": q.tolist(), "r": r.tolist()}
            accepted = accept_below(*(torch.tensor(part) for part in (p, q, r)))
            assert [module("isAccepted", *map(float, x)) for x in zip(p, q, r, strict=True)] == (
                accepted.tolist()
            )
            assert module("acceptedOf", block) == int(accepted.cumprod(-1).sum())
    assert module("isAccepted", 0, 0.5, 0) is False and module("isAccepted", 0.5, 0, 0.9) is True
    assert module("isAccepted", 0, 0, 0) is False and module("isAccepted", 0.25, 0.5, 0.5) is True


@pytest.mark.browser
def test_recorded_blocks_come_out_as_recorded(module):
    assert [module("acceptedOf", block) for block in BLOCKS] == [b["accepted"] for b in BLOCKS]
    frames = module("frames", BLOCKS)
    total = module("counts", BLOCKS, frames[-1])
    assert total == {"target": 5, "draft": 20, "written": ch01.WRITTEN}
    assert module("counts", BLOCKS, frames[0]) == {"target": 0, "draft": 0, "written": 0}
    for number, block in enumerate(BLOCKS):
        last = next(f for f in frames if f["block"] == number and f["ended"])
        kinds = [module("kindOf", block, last, i) for i in range(4)]
        assert kinds == ch01.outcomes(block)[:-1]
        assert ch01.outcomes(block)[-1] in module("describe", BLOCKS, last)
        own = [f for f in frames if f["block"] == number and f is not frames[0]]
        assert len(own) == 4 + 1 + min(block["accepted"] + 1, 4) + 1
    text = module("written", BLOCKS, frames[-1])
    plain = "".join("".join(b["drafted"][: b["accepted"]]) + b["token"] for b in BLOCKS)
    assert re.sub("[⟦⟧⟪⟫]", "", text) == plain and text.count("⟪") == 1


@pytest.mark.browser
def test_frames_go_one_event_at_a_time(module):
    frames = module("frames", BLOCKS)
    totals = [module("counts", BLOCKS, frame) for frame in frames]
    for before, after in zip(totals, totals[1:], strict=False):
        steps = [after[key] - before[key] for key in ("target", "draft", "written")]
        assert min(steps) >= 0 and sum(steps) <= 1
    captions = [module("caption", BLOCKS, frame) for frame in frames]
    assert all(captions) and "bonus token: 5 tokens from one pass" in " ".join(captions)


@pytest.mark.browser
def test_tokens_are_made_visible_as_in_the_figures(module):
    pieces = [*{t for b in BLOCKS for t in [*b["drafted"], b["token"]]}, "\n", "\n  x", "\n    y"]
    assert [module("visible", piece) for piece in pieces] == [ch01.shown(p) for p in pieces]


@pytest.fixture
def reader(browser):
    """Opens the animation; at the end there must be no error on the console and no request."""
    opened = []

    def open_page(frame=0, motion="no-preference", **look):
        opened.append(Reader(browser, **look))
        opened[-1].page.emulate_media(reduced_motion=motion)
        return opened[-1].show(pipeline_animation(ch01.RECORDED, frame))

    yield open_page
    for one in opened:
        one.page.close()
        assert (one.errors, one.requests) == ([], [])


def press(page, name: str) -> None:
    page.frame.get_by_role("button", name=name, exact=True).click()


@pytest.mark.browser
def test_buttons_and_keys_step_through_the_blocks(reader):
    page = reader()
    assert page.texts(".sd-number") == ["0", "0", "0"]
    press(page, "Forward")
    assert page.texts(".sd-number") == ["0", "1", "0"]
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    assert page.texts(".sd-number") == ["1", "4", "0"]
    page.page.keyboard.press("ArrowLeft")
    assert page.texts(".sd-number") == ["0", "4", "0"]
    press(page, "Next block")
    assert page.texts(".sd-number") == ["1", "4", "3"]
    assert (
        page.description(0)
        == "Block 1 of 5. , accepted, f accepted, , rejected, ␣' dropped, ) corrected."
    )
    press(page, "Back")
    page.page.keyboard.press("Home")
    assert page.texts(".sd-number") == ["0", "0", "0"]
    for _ in range(5):
        press(page, "Next block")
    press(page, "Forward")  # nothing comes after the end
    assert page.texts(".sd-number") == ["5", "20", str(ch01.WRITTEN)]
    assert "fp.readlines" in re.sub("[⟦⟧⟪⟫]", "", page.texts("pre")[0])


@pytest.mark.browser
def test_it_plays_and_pauses(reader):
    page = reader()
    page.page.clock.install()
    press(page, "Play")
    page.page.clock.run_for(3500)
    assert page.texts(".sd-number")[1] == "3"
    press(page, "Pause")
    page.page.clock.run_for(5000)
    assert page.texts(".sd-number")[1] == "3"
    page.page.keyboard.press("p")
    page.page.clock.run_for(1200)
    assert page.texts(".sd-number")[1] == "4"
    press(page, "Pause")


@pytest.mark.browser
def test_reduced_motion_plays_block_by_block(reader):
    page = reader(motion="reduce")
    press(page, "Play to the end of the block")
    assert page.texts(".sd-number") == ["1", "4", "3"]
    assert page.frame.get_by_role("button", name="Pause").count() == 0


@pytest.mark.browser
def test_kinds_differ_in_more_than_colour(reader):
    page = reader()
    outlines = page.page.frames[1].evaluate(
        "() => [...document.querySelectorAll('.sd-key [data-kind]')].map((box) => "
        "[...box.children].map((part) => `${part.tagName} ${part.getAttribute('rx')} "
        "${(part.getAttribute('style') ?? '').includes('dash')} "
        "${(part.getAttribute('fill') ?? '').startsWith('url')}`).join(';'))"
    )
    assert len(outlines) == len(set(outlines)) == 6


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
def test_animation_fits_its_width(reader, width):
    page = reader(frame=9, width=width)
    frame = page.page.frames[1]
    assert frame.evaluate("document.documentElement.scrollWidth") == width
    for words in page.frame.locator(".sd-chart svg text").all():
        box = words.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
