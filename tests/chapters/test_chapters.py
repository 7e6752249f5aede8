"""What every chapter has: checks, hints, quizzes, predictions, figures, the parts of its text."""

import ast
import re
import traceback

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from classes.chapter_cases import (
    ANSWERS,
    CHAPTERS,
    EXERCISES,
    cases_with,
    check_of,
    draw_figure,
    figures_of,
    functions_of,
    lesson_of,
    text_of,
    unwritten,
    visible_message,
)
from data_files import table

from autograde.hidden.causes import bugs_of
from autograde.hidden.exercise import Case
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of
from specdec_lib.lessons.checking import examples
from specdec_lib.lessons.checking.answers import QUIZ_OPTIONS, quizzes_of
from specdec_lib.lessons.checking.examples import Different

TRUTHS = [(c, name) for c, name in ANSWERS if name.startswith("prediction_")]
QUIZZES = [(c, name) for c, name in ANSWERS if name.startswith("quiz_")]
FIGURES = [(chapter, name) for chapter in CHAPTERS for name in figures_of(chapter)]
DRAWN = [(c, name) for c, name in FIGURES if hasattr(figures_of(c)[name], "functions")]


def figures_with(chapter: str, function: str) -> list[str]:
    """The figures of a chapter that call a function of the student's."""
    names = [name for c, name in DRAWN if c == chapter]
    return [name for name in names if function in figures_of(chapter)[name].functions]


SEEN_WRONG = [(c, bug) for c in CHAPTERS for bug in bugs_of(c) if figures_with(c, bug.exercise)]
# Of each exercise the first bug, and the others when there is time.
FIRST_WRONG = list({bug.exercise: (c, bug) for c, bug in reversed(SEEN_WRONG)}.values())
OTHER_WRONG = [
    pytest.param(*row, marks=pytest.mark.slow) for row in SEEN_WRONG if row not in FIRST_WRONG
]

# The head of a chapter: what it holds in four lines, and what a reader brings and takes away.
HEAD = (
    *("**Intuition**", "**Mathematics**", "**Code**", "**Demo**"),
    *("**You come with**", "**You build**", "**You leave with**"),
)

# What no exercise's examples all ask for.
VALUES = [None, [], 7, 0.1, "1", {"tokens": 9}, (1, True), np.zeros(4), torch.zeros(3)]
# By chapter the known bugs that a visible check passes, with a reason. Hidden tests alone count the
# uses of torch's functions, which show what a loop costs.
UNSEEN = {
    "08_full_generation": ["verify_block: a loop over the rows is clearer and costs nothing."]
}
# What measures or loads a model.
SLOW = re.compile(
    r"specdec_lib\.(measure\.\w+\.|models)|load_\w+\(|machine_limits|trained_"
    "|DraftBenchmark|get_ipython"
)
WORDS = {"drafted_after_text", "two_caches"}  # figures that show no number
NOT_DRAWN = "cannot be used yet|There is no picture"
PRINTS = {  # print as well
    *("ladder", "line_up", "library_on_trial", "contest"),
    *("library_repaired", "promise_and_clock", "show_learning_curve"),
}
FIGURE_TEXTS = table("figures.toml")  # what some figures say among other things
# A figure with a wrong function in place of its own, and what it then says.
SAID_OF_WRONG = [
    ("01_draft_then_verify", "chosen_rows", lambda *args: np.zeros((2, 3)), "no rows of this pass"),
    ("05_results", "read_logs", lambda *log: (7.0, np.ones(3)), "7.00 tokens per block, rates 1"),
    ("05_results", "audit_rows", lambda *row: "so", "T5-large, T = 1: so."),
    ("06_simulator", "mixed_requests", lambda *args: 20, "by your function: 20 blocks"),
    ("08_full_generation", "going_back", lambda cache, n: cache.truncate(10), "it holds 10."),
]


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
def test_visible_checks_say_call_got_and_expected(chapter, name, value, monkeypatch):
    monkeypatch.setattr(examples, "RERUN_LIMITS", (0, 0.0))  # a constant is the same again
    with pytest.raises(Different, match=r"(?s).*\(.*\) (returned|called) .*, expected .*"):
        check_of(chapter, name)(lambda *args: value)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_visible_checks_see_every_known_bug_but_those_with_a_reason(chapter, monkeypatch):
    # They refuse it, whether or not it is steady.
    monkeypatch.setattr(examples, "RERUN_LIMITS", (0, 0.0))
    bugs = [bug for bug in bugs_of(chapter) if not visible_message(chapter, bug.exercise, bug.code)]
    assert [f"{bug.exercise}: {bug.think}" for bug in bugs] == UNSEEN.get(chapter, [])


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


@pytest.mark.parametrize("chapter, name", QUIZZES)
def test_a_quiz_tells_at_once_what_grading_tells(chapter, name, capsys):
    told = quizzes_of(lesson_of(chapter).__package__)[name]
    assert lesson_of(chapter).answered(name, told.right) is None
    said = " ".join(capsys.readouterr().out.split())
    assert f"{told.right} is right. {told.explanations[told.right]}" in said
    for letter in set(QUIZ_OPTIONS) - {told.right}:
        with pytest.raises(Different) as wrong:
            lesson_of(chapter).answered(name, letter)
        assert f"{letter} is not right. {told.explanations[letter]}" in str(wrong.value)
    assert f'"{told.right}"' in material_of(chapter).answers[name]
    assert len({told.explanations[letter] for letter in QUIZ_OPTIONS}) == len(QUIZ_OPTIONS)


def right_value(chapter: str, name: str) -> object:
    """The value that the solution gives a quiz or a prediction."""
    answer = material_of(chapter).answers[name]
    return ast.literal_eval(answer.partition("=")[2].partition("#")[0].strip())


def cases_of(chapter: str, names: list[str]) -> dict[tuple[str, object], Case]:
    """The case of each quiz or prediction with its right answer, with none, with each option."""
    pairs = [
        (name, value)
        for name in names
        for value in {right_value(chapter, name), None, *QUIZ_OPTIONS}
        if name.startswith("quiz_") or value not in QUIZ_OPTIONS
    ]
    cases = cases_with(chapter, *({name: f"{name} = {value!r}"} for name, value in pairs))
    return {pair: case for pair, (case,) in zip(pairs, cases, strict=True)}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_after_grading_the_right_answer_and_each_wrong_option_are_told_why(chapter: str):
    names = [n for n in material_of(chapter).points if n.startswith(("quiz_", "prediction_"))]
    assert len(names) >= 4
    cases = cases_of(chapter, names)
    for name in names:
        value = right_value(chapter, name)
        case, quiz = cases[name, value], name.startswith("quiz_")
        said = f"You chose {value}. " if quiz else "You said "
        assert case.error is None and case.pass_message.startswith(said), name
        assert len(case.pass_message) > len(said) + 20, name
        assert cases[name, None].pass_message == ""  # there is no answer
        told = {cases[name, letter].error for letter in QUIZ_OPTIONS if quiz}
        assert not quiz or (len(told) == len(QUIZ_OPTIONS) and None in told), name


@pytest.mark.parametrize("chapter, name", FIGURES)
def test_figures_have_words_with_their_numbers(chapter, name, painted, capsys):
    draw_figure(chapter, name)
    out = capsys.readouterr().out
    assert len(painted) == 1 and (out == "" or name in PRINTS) and not re.search(NOT_DRAWN, out)
    assert re.search(r"\d", painted[0]) or name in WORDS
    assert FIGURE_TEXTS[chapter[:2]].get(name, "") in painted[0]
    assert plt.get_fignums() == []


def test_each_text_of_the_table_is_of_a_figure():
    texts = [(number, name) for number, row in FIGURE_TEXTS.items() for name in row]
    assert set(texts) <= {(chapter[:2], name) for chapter, name in FIGURES}


@pytest.mark.parametrize("chapter, name, wrong, said", SAID_OF_WRONG)
def test_figures_tell_what_a_wrong_function_returned(chapter, name, wrong, said, shown):
    (function,) = figures_of(chapter)[name].functions
    draw_figure(chapter, name, **{function: wrong})
    assert said in shown[0]


@pytest.mark.parametrize("chapter, name", DRAWN)
def test_figures_wait_for_their_functions(chapter, name, shown, capsys):
    draw_figure(chapter, name, **dict.fromkeys(figures_of(chapter)[name].functions, unwritten))
    assert shown == [] and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_cell_of_an_untouched_chapter_shows_a_traceback_of_the_library(chapter: str):
    """Cells that measure or load a model are left out."""
    names: dict[str, object] = {}
    cells = [cell.source for cell in release_of(chapter).cells if cell.cell_type == "code"]
    sources = [source for source in cells if not SLOW.search(source)]
    assert len(sources) > len(cells) / 2
    for source in sources:
        try:
            exec(source, names)
        except Exception as error:
            files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            plain = hasattr(error, "_render_traceback_")
            assert plain or not any("specdec_lib" in file for file in files), source


@pytest.mark.parametrize("chapter, wrong", FIRST_WRONG + OTHER_WRONG)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_figures_show_or_explain_a_wrong_function(chapter, wrong, shown, capsys):
    for name in figures_with(chapter, wrong.exercise):
        shown.clear()
        function = material_of(chapter).solved.defined(wrong.exercise, wrong.code)
        draw_figure(chapter, name, **{wrong.exercise: function})
        assert shown or re.search(NOT_DRAWN, capsys.readouterr().out), name


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_line_of_a_paragraph_begins_as_a_list_does(chapter):
    begun = re.findall(r"^# [\w*`(\[].*\n# (?:[-+*] |\d+[.)] ).*", text_of(chapter), re.MULTILINE)
    assert not [lines for lines in begun if not re.match(r"# (?:\d+[.)] |%%)", lines)]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_has_all_its_parts(chapter):
    text = text_of(chapter)
    assert all(part in text for part in HEAD)
    assert "## Quiz" in text and "## Sources" in text
    assert "## What you may read elsewhere" in text and "## The smallest example" in text
    numbers = len(re.findall(r"\*(?:Look|For example):\*", text))
    assert len(re.findall(r"# \*\*You might read: ", text)) == numbers >= 2
    assert len(re.findall(r'solution="prediction_', text)) >= 2
    assert 3 <= text.count("# ### Exercise: ") <= 7


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_headings_are_in_order(chapter):
    levels = [len(marks) for marks in re.findall(r"^# (#+) ", text_of(chapter), re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
