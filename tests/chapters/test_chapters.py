"""What every chapter has: checks, hints, quizzes, predictions, figures, the parts of its text."""

import importlib
import re
import traceback

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from classes.chapter_cases import (
    ARGUMENTS,
    CHAPTERS,
    draw,
    figures_of,
    functions_of,
    lesson_of,
    text_of,
    unwritten,
)
from classes.submitting import bug_of

from autograde.bugs import answers_of, bugs_of
from autograde.grade import grade, solved
from autograde.submission import release_of
from autograde.tools.samples import filled
from specdec_lib.lessons.common.answers import OPTIONS
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import papers

EXERCISES = [(chapter, name) for chapter in CHAPTERS for name in lesson_of(chapter).HINTS]
TRUTHS = [(chapter, name) for chapter in CHAPTERS for name in lesson_of(chapter).TRUTHS]
FIGURES = [(chapter, name) for chapter in CHAPTERS for name in figures_of(chapter)]
DRAWN = [(c, name) for c, name in FIGURES if hasattr(figures_of(c)[name], "functions")]
WRONG = [(chapter, wrong) for chapter in CHAPTERS for wrong in bugs_of(chapter)]


# The head of a chapter: what it holds in four lines, and what a reader brings and takes away.
HEAD = (
    *("**Intuition**", "**Mathematics**", "**Code**", "**Demo**"),
    *("**You come with**", "**You build**", "**You leave with**"),
)


def refuses(*times):
    raise ValueError("never")


# What no exercise's examples all ask for.
VALUES = [
    *(None, [], 0, -1, 7, 0.1, 1.0, "1", {}, {"tokens": 9}, (1, True)),
    *(np.zeros(4), torch.zeros(3)),
]
WORDS = {"shapes", "found_in_the_text"}  # figures that show no number
PRINTS = {
    "ladder",
    "acceptance_table",
    "by_position",
    "library_on_trial",
}  # figures that also print
# What a figure says among other things.
SAID = {
    "00 serial_and_parallel": "pass 5 reads tokens 1 to 4",
    "00 roofline": "flat at 989.5 TFLOP/s",
    "00 pass_times": "H100: 4.18 ms for 1 token, 58 ms for 4096",
    "00 free_by_machine": "weights of 4 bits: A100 38, H100 73, TPU v4 57",
    "00 cache_beside_weights": "Llama 2 70B, 64 row(s): 5.37",
    "00 measured_passes": "40m, float32: for 1 11 ms, line 1.6, for 8 88 ms",
    "00 free_map": "1 row: 295, 306, 339; 64 rows: 4, 15, 48; 512 rows: 1, 11, 44",
    "01 chosen_rows": "row 5 speaks of what is next, says 'sat', is your p[4]",
    "01 passes": "12 tokens in 4 passes and 12 draft calls; the target alone writes",
    "01 what_the_pass_reads": "One pass reads 5 tokens, the last of the text and 4 drafts",
    "01 ladder": "no draft 24, oracle 5, draft model",
    "02 kept_of_100": "You keep A 30, B 30, C 20, D 5, 85 in all. Missing, or too many if "
    "negative: A 15, B 0, C -5, D 5.",
    "02 broken_rule": "together A 0.39, B 0.36, C 0.18, D 0.07; the target",
    "03 whole_texts": "bonus from the row before",
    "03 noise_hides_a_bug": "counted 0.000977",
    "04 one_block": "75 ms for 4 tokens: 18.75 ms each, 2.67 times as fast",
    "04 best_k_map": "alpha 0.7: 9, 8, 6, 4, 3, 2",
    "04 found_formula": "alpha 0.5: at K = 2 simulated 0.75, yours 0.75, at most 0.00 apart",
    "04 next_draft_token": "K = 0: the next brings 7.00, the speed-up is 1.00",
    "04 promise_and_clock": "the promise: 1.81; verification: a pass over 3 tokens: 1.59; cold",
    "04 strategies": "small: alpha 0.60, c 0.15; table: alpha 0.20.",
    "04 learning_curve": "0.310 after 0, 0.400 after 10",
    "05 six_blocks": "block 3: 2 accepted",
    "05 expected_and_measured": "T5-large, T = 0: formula 2.36 to 2.64, printed 2.5, measured 1.7",
    "05 two_devices": "Medusa: 2.32 tokens and 1.44x on the RTX 3090",
    "05 how_likely": "0.76 at 0.7, 0.97 at 0.8",
    "05 three_orders": "in one run: 9 blocks, 2.67 tokens a block. The formula gives 3.29",
    "05 by_task": "Means: conversation 1.93",
    "05 by_kind": "draft model, code: 2.50 (2.30 to 2.70)",
    "05 from_formula_to_clock": "the promise: 1.81; verification: a pass over 3 tokens: 1.59",
    "05 acceptance_table": "code, small: 0.500 and 0.600",
    "07 walked_down": "writes [3, 0, 1]: it keeps the nodes [1, 4], then one token more",
    "07 shapes_walked": "Your walk, 20 blocks each, c = 0.2. good: chain of six",
    "07 experts_read": "Mixtral 8x7B: v for 1 to 9 tokens 1, 1.65, 2.14, 2.51, 2.79",
    "07 frame": "Changed: In which shape; Who verifies; E: 1 + sum over the nodes",
    "07 static_map": "trained heads, a tree: Medusa, EAGLE, EAGLE-2, EAGLE-3",
    "08 two_caches": "the draft's cache holds abc, 3 of 5 tokens, after it forgot nothing; next "
    "the draft reads de",
    "08 passes": "the target reads positions 0 to 5; ",
    "08 broken_decoders": "feed forgotten: alpha 0.80 with the target as its own draft and 0.60",
    "08 beside_the_papers": "code, T = 1: formula 1.90, with v 1.60, promised with the prompt "
    "1.55, measured 1.50",
    "08 against_hugging_face": "over Hugging Face generate: 1.50, 1.50",
    "08 alpha_beside_table_3": "base, 234m, code: 0.6? and 0.64 ± 0.04; base, vicuna, code: 0.6? "
    "and 0.64 ± 0.04. Beside",
    "08 engineering": "a loop: 1.50 (1.25 to 1.75)",
    "08 blocks_over_time": "Tokens of each block: 4, 2, 2. Mean 2.67.",
    "08 timeline": "block 2: 1.0 and 20.0 ms",
    "08 by_position": "position 2: 0.500 of 2",
    "08 by_class": "keyword, 12 tokens: 0.500 and 0.750",
    "08 batches": "batch 1, K = 2: 15 tokens/s, 1.50 times plain",
}
# A figure with a wrong function in place of its own, and what it then says.
SAID_OF_WRONG = [
    ("00_bottleneck", "free_map", "only the weights are", "64 rows: 4, 4, 4; 512 rows: 1, 1, 1"),
    (
        "00_bottleneck",
        "free_by_machine",
        "the format of the weights does not",
        "weights of 4 bits: A100 153",
    ),
    ("01_draft_then_verify", "chosen_rows", lambda *args: np.zeros((2, 3)), "no rows of this pass"),
    ("03_lossless", "line_up", lambda *args: True, "coarse_coin 0.007812, lossless"),
    ("03_lossless", "stacked_paths", lambda p, q: (q, p - p), "by acceptance A 0.3, B 0.45"),
    ("05_results", "pairs", lambda *times: 7.0, "geometric mean by your function is 7.000"),
    ("05_results", "two_orders", lambda *times: 3.0, "plain runs first, your function gives 3.000"),
    ("05_results", "implied_rates", refuses, "T5-small, T = 0: 0.75 printed, nan implied"),
    ("06_simulator", "rows_of_coins", lambda *args: 1, "returned [1, 1, 1, 1, 1, 1, 1, 1]"),
    ("07_connections", "more_candidates", "every candidate is judged against", "n = 2: A 0.36"),
    (
        "07_connections",
        "tree_and_mask",
        "the causal mask serves a tree as",
        "5 sees [0, 1, 2, 3, 4, 5]",
    ),
    (
        "07_connections",
        "walked_down",
        "the nodes are judged in the order of",
        "Your walk writes [3, 0, 2, 0, 1, ",
    ),
    (
        "08_full_generation",
        "going_back",
        "one position fewer is on the safe",
        "After your rollback to 11 it holds 10.",
    ),
    (
        "08_full_generation",
        "law_of_texts",
        "the draft proposes its most probable",
        "Total variation 2.5e-01.",
    ),
    ("08_full_generation", "passes", "a fresh cache for every block is", "reads positions 0 to 9"),
]


def check_of(chapter: str, name: str):
    return getattr(lesson_of(chapter), f"check_{name}")


@pytest.mark.parametrize("chapter, name", EXERCISES)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(chapter, name, capsys):
    assert check_of(chapter, name)(functions_of(chapter)[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("chapter, name", EXERCISES)
def test_visible_checks_pass_a_stub_through(chapter, name):
    with pytest.raises(NotImplementedError, match="not written yet"):
        check_of(chapter, name)(unwritten)


@pytest.mark.parametrize("chapter, name", EXERCISES)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_visible_checks_say_call_got_and_expected(chapter, name, value):
    with pytest.raises(Different, match=r"(?s).*\(.*\) (returned|called) .*, expected .*"):
        check_of(chapter, name)(lambda *args: value)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_function_has_three_hints(chapter):
    lesson, functions = lesson_of(chapter), functions_of(chapter)
    exercises = dict.fromkeys(wrong.exercise for wrong in bugs_of(chapter))
    assert list(lesson.HINTS) == list(exercises)
    for name, texts in lesson.HINTS.items():
        assert len(texts) == 3 and repr(lesson.hints(functions[name])).count("Hint") >= 3


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_wrong_option_has_its_own_explanation(chapter):
    """The chapter's quizzes are answered together, so that three notebooks are graded, not more."""
    options = {
        name: [f'{name} = "{option}"' for option in "abcd" if f'"{option}"' not in right]
        for name, right in answers_of(chapter).items()
        if name.startswith("quiz_")
    }
    rounds = [dict(zip(options, each, strict=True)) for each in zip(*options.values(), strict=True)]
    results = [grade(filled(release_of(chapter), answers), chapter) for answers in rounds]
    for name in options:
        assert len({text for r in results for text in r.exercises[name].messages}) == 3


@pytest.mark.parametrize("chapter, name", TRUTHS)
def test_a_prediction_is_revealed_only_after_a_guess(chapter, name, capsys):
    lesson, guess = lesson_of(chapter), 98765.5
    measured = (0.25,) if lesson.TRUTHS[name].value is None else ()
    lesson.reveal(name, None, *measured)
    waiting = f"Write your guess into {name} first: this cell waits for it.\n"
    assert capsys.readouterr().out == waiting
    lesson.reveal(name, guess, *measured)
    assert capsys.readouterr().out.startswith(f"You said {guess:,.10g}. It is ")
    assert re.search(rf'lesson\.reveal\w*\("{name}"', text_of(chapter))


@pytest.mark.parametrize("chapter, name", TRUTHS)
def test_every_prediction_has_its_truth_and_typical_numbers_are_within_reach(chapter, name, capsys):
    """Each typical number can be written down, and is told its thought."""
    truth = lesson_of(chapter).TRUTHS[name]
    asked = rf'lesson\.committed\("{name}", {name}, ([\d._]+), ([\d._]+)\)'
    low, high = map(float, re.search(asked, text_of(chapter)).groups())
    for number, thought in truth.typical.items():
        assert low <= number <= high
        lesson_of(chapter).reveal(name, number, *([98765.0] if truth.value is None else []))
        assert thought in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_prediction_is_held_against_a_truth(chapter):
    predictions = re.findall(r'solution="(prediction_\w+)"', text_of(chapter))
    assert sorted(lesson_of(chapter).TRUTHS) == sorted(predictions)


QUIZZES = [
    (chapter, name) for chapter in CHAPTERS for name in answers_of(chapter) if "quiz_" in name
]


@pytest.mark.parametrize("chapter, name", QUIZZES)
def test_a_quiz_tells_at_once_what_grading_tells(chapter, name, capsys):
    told = getattr(importlib.import_module(f"specdec_lib.lessons.ch{chapter[:2]}.quizzes"), name)()
    for letter in OPTIONS:
        assert lesson_of(chapter).answered(name, letter) is None
        right = "right" if letter == told.right else "not right"
        said = " ".join(capsys.readouterr().out.split())
        assert f"{letter} is {right}. {told.told(letter)}" in said
    assert f'"{told.right}"' in answers_of(chapter)[name]
    assert len({told.told(letter) for letter in OPTIONS}) == len(OPTIONS)


def test_every_figure_is_drawn_here():
    assert {chapter: set(figures_of(chapter)) for chapter in CHAPTERS} == {
        chapter: set(ARGUMENTS.get(chapter[:2], {})) for chapter in CHAPTERS
    }


@pytest.mark.parametrize("chapter, name", FIGURES)
def test_figures_have_words_with_their_numbers(chapter, name, painted, capsys):
    draw(chapter, name)
    out = capsys.readouterr().out
    assert len(painted) == 1 and (out == "" or name in PRINTS) and "cannot be used" not in out
    assert re.search(r"\d", painted[0]) or name in WORDS
    assert SAID.get(f"{chapter[:2]} {name}", "") in painted[0]
    assert plt.get_fignums() == []


@pytest.mark.parametrize("chapter, name, wrong, said", SAID_OF_WRONG)
def test_figures_tell_what_a_wrong_function_returned(chapter, name, wrong, said, shown):
    """A wrong function is the chapter's known bug whose thought begins so, or stands here."""
    (function,) = figures_of(chapter)[name].functions
    if isinstance(wrong, str):
        wrong = solved(chapter).defined(function, bug_of(function, wrong, chapter))
    draw(chapter, name, **{function: wrong})
    assert said in shown[0]


@pytest.mark.parametrize("chapter, name", DRAWN)
def test_figures_wait_for_their_functions(chapter, name, shown, capsys):
    draw(chapter, name, **dict.fromkeys(figures_of(chapter)[name].functions, unwritten))
    assert shown == [] and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_cell_of_an_untouched_chapter_shows_a_traceback_of_the_library(chapter: str):
    """Cells that measure or load a model are left out."""
    slow, names = re.compile(r"specdec_lib\.(measure\.\w+\.|models)|get_ipython"), {}
    cells = [cell for cell in release_of(chapter).cells if cell.cell_type == "code"]
    for source in [cell.source for cell in cells if not slow.search(cell.source)]:
        try:
            exec(source, names)
        except Exception as error:
            files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            plain = hasattr(error, "_render_traceback_")
            assert plain or not any("specdec_lib" in file for file in files), source


@pytest.mark.parametrize("chapter, wrong", WRONG, ids=lambda x: getattr(x, "exercise", x))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_figures_show_or_explain_a_wrong_function(chapter, wrong, shown, capsys):
    of_chapter = [name for c, name in DRAWN if c == chapter]
    names = [n for n in of_chapter if wrong.exercise in figures_of(chapter)[n].functions]
    for name in names:
        function = solved(chapter).defined(wrong.exercise, wrong.code)
        draw(chapter, name, **{wrong.exercise: function})
    assert names and (shown or "cannot be used yet" in capsys.readouterr().out)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_production_code_that_the_cards_name_exists(chapter):
    text = text_of(chapter)
    cards = text.count("**In production.**")
    names = re.findall(r"\*\*In production\.\*\* `(transformers\.[\w.]+)`", text)
    assert cards == len(names)
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_its_parts(chapter):
    text = text_of(chapter)
    heads = [("**Carry in.**", "**Work here.**", "**Carry out.**"), HEAD]
    assert any(all(part in text for part in head) for head in heads)
    assert "## Quiz" in text and "## Sources" in text
    assert "## What you may read elsewhere" in text and "## The smallest example" in text
    assert len(re.findall(r"# \*\*You might read: ", text)) == text.count("*Look:*") >= 2
    assert len(re.findall(r'solution="prediction_', text)) >= 2
    assert 3 <= text.count("# ### Exercise: ") <= 7


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_headings_are_in_order(chapter):
    levels = [len(marks) for marks in re.findall(r"^# (#+) ", text_of(chapter), re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


# Lines in an order, the words in their blanks, and what the optional puzzle says of them.
PUZZLES = [
    ("01_draft_then_verify", "", ("", ""), "Nothing is arranged yet"),
    ("01_draft_then_verify", "k, i, h", ("", ""), "Right so far. 9 lines are still missing"),
    ("01_draft_then_verify", "KIG", ("", ""), "Line G does not come next. Line G says that the"),
    ("01_draft_then_verify", "IK", ("", ""), "Line I does not come next. Which line has to run"),
    ("01_draft_then_verify", "KIHFCLAJBMEDG", ("k", "n"), "Line G does not come next"),
    ("01_draft_then_verify", "KIHFCLAJBMED", ("k + 1", "n"), "The blank in line C is not"),
    ("01_draft_then_verify", "KIFHCLAJBMED", ("k", "-1"), "The blank in line E is not"),
    ("01_draft_then_verify", "KIFHCLAJBMED", (" k", "n "), "That is the loop"),
    ("08_full_generation", "GE", ("", ""), "Line E does not come next. Line E throws away"),
    ("01_draft_then_verify", "KIFHCLAJBMED", ("", "n"), "The blank in line C is not: it is empty"),
    ("08_full_generation", "GJLDAHCKFIB", ("end-len(text)-1", "-n"), "The blank in line C is not"),
    ("08_full_generation", "GJLDAHCKFIB", ("left", "-n-1"), "`min(k, left)` 3, and it should be 2"),
    ("08_full_generation", "GJLDAHCKFIB", ("lft - 1", "-n-1"), "a NameError (name 'lft' is not"),
    ("08_full_generation", "GJLDAHCKFBI", ("end-len(text)-1", "-n-1"), "That is a block"),
    ("08_full_generation", "GJLDAHCKFBI", ("left - 1", "-(n + 1)"), "That is a block"),
    ("08_full_generation", "GJLDAHCKFBI", ("min(k, left - 1)", "-1 - n"), "That is a block"),
]


@pytest.mark.parametrize("chapter, order, blanks, told", PUZZLES)
def test_a_puzzle_is_printed_shuffled_and_says_how_far_it_is_right(
    chapter, order, blanks, told, capsys
):
    puzzle = importlib.import_module(f"specdec_lib.lessons.ch{chapter[:2]}.puzzle")
    lesson_of(chapter).check_puzzle(order, *blanks)
    assert told in capsys.readouterr().out
    lesson_of(chapter).check_puzzle("", "", "")
    printed = re.findall(r"^([A-M])  ( *\S.*)$", capsys.readouterr().out, re.MULTILINE)
    assert dict(printed) == puzzle.LINES
    assert not any(pair in "ABCDEFGHIJKLM" for pair in re.findall("..", puzzle.ORDERS[0]))


# What a chapter's look() prints of its errata, and how its text writes the same.
LOOKED_AT = {
    "00_bottleneck": {
        "read 171.7 ms, product 1.12": "172 ms and 1.1 ms",
        "read 9.5 ms, product 0.06": "9.5 ms and 0.06 ms",
        "0 of text: 1.30 times": "1.3 times as long",
        "1000 of text: 1.00 times": "1,000 tokens of text, the pass takes no longer",
    },
    "01_draft_then_verify": {
        "row 0 prefers cat, row 3 prefers the": 'prefers "cat", and row 3 prefers "the"',
        "4 passes; without the bonus 5": "take 5 passes in place of 4",
    },
    "03_lossless": {
        "0.667 is accepted": "has 0.667",
    },
    "05_results": {
        "1.4 to 3.4": "1.4 to 3.4",
        "T5-small: 77 million": "with 77 and 250 million",
        "T5-base: 250 million": "with 77 and 250 million",
    },
    "07_connections": {"total variation 0.2": "law is 0.2 away", "c = 0.2: ": "`c = 0.2`"},
}


@pytest.mark.parametrize("chapter", LOOKED_AT)
def test_numbers_of_the_errata_are_those_that_the_cell_prints(chapter: str, capsys):
    lesson = lesson_of(chapter)
    tables = (papers.table("leviathan_2_4"), papers.table("t5_sizes"))
    arguments = {"05_results": tables, "07_connections": ({("lookup", 0.0): (2.0, 0.3)},)}
    lesson.look(*arguments.get(chapter, ()))
    printed = capsys.readouterr().out
    text = text_of(chapter).replace("\n# ", " ")
    wrong = [pair for pair in LOOKED_AT[chapter].items() if pair[0] not in printed]
    wrong += [pair for pair in LOOKED_AT[chapter].items() if pair[1] not in text]
    assert wrong == []
