"""What every chapter has: checks, hints, quizzes, predictions, figures, the parts of its text."""

import copy
import importlib
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from classes.chapter_cases import (
    ARGUMENTS,
    CHAPTERS,
    draw,
    figure_modules,
    figures_of,
    functions_of,
    lesson_of,
    text_of,
    unwritten,
)

from autograde.grade import grade
from autograde.submission import release_of
from autograde.tools.samples import filled, solutions_of
from autograde.wrong import misconceptions_of
from specdec_lib.lessons.common.examples import Different
from specdec_lib.measure import papers

EXERCISES = [(chapter, name) for chapter in CHAPTERS for name in lesson_of(chapter).HINTS]
TRUTHS = [(chapter, name) for chapter in CHAPTERS for name in lesson_of(chapter).TRUTHS]
FIGURES = [(chapter, name) for chapter in CHAPTERS for name in figures_of(chapter)]
DRAWN = [(c, name) for c, name in FIGURES if hasattr(figures_of(c)[name], "functions")]
WRONG = [(chapter, wrong) for chapter in CHAPTERS for wrong in misconceptions_of(chapter).all]
# What no exercise's examples all ask for.
VALUES = [
    *(None, [], 0, -1, 7, 0.1, 1.0, "1", {}, {"tokens": 9}, (1, True)),
    *(np.zeros(4), torch.zeros(3)),
]
WORDS = {"shapes", "found_in_the_text"}  # figures that show no number
PRINTS = {"on_real_text", "acceptance_table"}  # figures that also print


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
    exercises = dict.fromkeys(wrong.exercise for wrong in misconceptions_of(chapter).all)
    assert list(lesson.HINTS) == list(exercises)
    for name, texts in lesson.HINTS.items():
        assert len(texts) == 3 and repr(lesson.hints(functions[name])).count("Hint") >= 3


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_wrong_option_has_its_own_explanation(chapter):
    """The chapter's quizzes are answered together, so that three notebooks are graded, not more."""
    options = {
        name: [f'{name} = "{option}"' for option in "abcd" if f'"{option}"' not in right]
        for name, right in solutions_of(chapter).items()
        if name.startswith("quiz_")
    }
    rounds = [dict(zip(options, each, strict=True)) for each in zip(*options.values(), strict=True)]
    results = [grade(filled(release_of(chapter), answers), chapter) for answers in rounds]
    for name in options:
        assert len({text for r in results for text in r.exercises[name].messages}) == 3


@pytest.mark.parametrize("chapter, name", TRUTHS)
def test_a_prediction_is_revealed_only_after_a_guess(chapter, name, capsys):
    lesson, guess = lesson_of(chapter), 98765.5
    measured = (0.25,) if lesson.TRUTHS[name][0] is None else ()
    lesson.reveal(name, None, *measured)
    waiting = f"Write your guess into {name} first: this cell waits for it.\n"
    assert capsys.readouterr().out == waiting
    lesson.reveal(name, guess, *measured)
    assert capsys.readouterr().out.startswith(f"You said {guess:g}. It is ")
    assert f'lesson.reveal("{name}"' in text_of(chapter)


def test_every_figure_is_drawn_here():
    assert {chapter: set(figures_of(chapter)) for chapter in CHAPTERS} == {
        chapter: set(ARGUMENTS.get(chapter[:2], {})) for chapter in CHAPTERS
    }
    assert all(figure_modules(chapter) for chapter in CHAPTERS)


@pytest.mark.parametrize("chapter, name", FIGURES)
def test_figures_have_words_with_their_numbers(chapter, name, painted, capsys):
    draw(chapter, name)
    out = capsys.readouterr().out
    assert len(painted) == 1 and (out == "" or name in PRINTS) and "cannot be drawn" not in out
    assert re.search(r"\d", painted[0]) or name in WORDS
    assert plt.get_fignums() == []


@pytest.mark.parametrize("chapter, name", DRAWN)
def test_figures_wait_for_their_functions(chapter, name, shown, capsys):
    draw(chapter, name, **dict.fromkeys(figures_of(chapter)[name].functions, unwritten))
    assert shown == [] and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("chapter, wrong", WRONG, ids=lambda x: getattr(x, "name", x))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_figures_show_or_explain_a_wrong_function(chapter, wrong, shown, capsys):
    of_chapter = [name for c, name in DRAWN if c == chapter]
    names = [n for n in of_chapter if wrong.exercise in figures_of(chapter)[n].functions]
    kept = copy.deepcopy(ARGUMENTS[chapter[:2]])
    for name in names:
        draw(chapter, name, **{wrong.exercise: wrong.function})
    ARGUMENTS[chapter[:2]] = kept
    assert names and (shown or "cannot be drawn yet" in capsys.readouterr().out)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_production_code_that_the_cards_name_exists(chapter):
    text = text_of(chapter)
    cards = text.count("**In production.**")
    names = re.findall(r"\*\*In production\.\*\* `(transformers\.[\w.]+)`", text)
    assert cards == len(names) == text.count("# ### Exercise: ")
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_its_parts(chapter):
    text = text_of(chapter)
    for part in ("**Carry in.**", "**Work here.**", "**Carry out.**", "## Quiz", "## Sources"):
        assert part in text
    assert "## What you may read elsewhere" in text and "## The smallest example" in text
    assert len(re.findall(r"# \*\*You might read: ", text)) == text.count("*Look:*") >= 3
    assert len(re.findall(r'solution="prediction_', text)) >= 2
    assert 3 <= text.count("# ### Exercise: ") <= 7


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_headings_are_in_order(chapter):
    levels = [len(marks) for marks in re.findall(r"^# (#+) ", text_of(chapter), re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))


# What a chapter's look() prints of its errata, and how its text writes the same.
LOOKED_AT = {
    "00_bottleneck": {
        "read 171.7 ms, product 1.12": "172 ms and 1.1 ms",
        "read 9.5 ms, product 0.06": "9.5 ms and .06 ms",
        "0.031 ns; light goes 9.4 mm": ".03 ns, in which light travels 9 mm",
        "1.30 times": "takes 1.3 times as long",
    },
    "01_draft_then_verify": {
        "variation of 0.95": "variation of .95",
        "5.7%": "5.7%",
        "2.35 at K = 5, 0.95": "2.35 at `K = 5`, .95",
        "variation of 0.325": "variation of .325",
    },
    "03_lossless": {
        "[0.833 0.167]": "[.833, .167]",
        "0.667 is accepted": "has .667",
        "0.67 times": ".67 times",
    },
    "05_results": {
        "1.4 to 3.4": "1.4 to 3.4",
        "T5-small: 77 million": "with 77 and 250 million",
        "T5-base: 250 million": "with 77 and 250 million",
    },
    "07_connections": {"total variation 0.2": "law is .20 away", "0.3: False": "0.1 + 0.2 == 0.3"},
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
