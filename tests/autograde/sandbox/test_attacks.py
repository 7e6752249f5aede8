"""Hostile submissions earn nothing and reach nothing; their honest twins are graded as ever.

Each is a notebook that passes intake and is graded in the sandbox.
"""

import copy
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from attacks import protocol
from attacks.kinds import LISTENER, Attack, Twin, attacks, twins
from attacks.notebooks import CHANGES, Change
from classes.submitting import CHAPTER, FULL, hand_in, right, text
from nbformat import NotebookNode

from autograde.grading import grade
from autograde.grading.result import Result
from autograde.hidden.material import material_of
from autograde.intake.submission import release_of, sanitise
from autograde.sandbox import isolation
from autograde.sandbox.isolation import BUBBLEWRAP
from autograde.tools.samples import fill_answers

PREDICTIONS = ["prediction_02", "prediction_02_b", "prediction_02_c"]  # any number is right
HONEST = ["acceptance_probability", "residual_distribution", *PREDICTIONS]
# What these do to the functions of their own process may cost their author the points for them.
SPOILS_ITSELF = ("tampering", "frames", "checker", "protocol")
pytestmark = pytest.mark.isolation


def apart(tries: list) -> list:
    """Each of these in a notebook of its own, under its name."""
    return [pytest.param([each], id=each.name) for each in tries]


# What only looks around can stand in one notebook: a cell's output says whose it is.
LOOKS = [each for each in attacks() if each.group == "reach"]
ATTACKS = [*(each for each in attacks() if each not in LOOKS), *protocol.ATTACKS]
HABITS = [each for each in twins() if not each.answers]
OTHER_ANSWERS = [each for each in twins() if each.answers]


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> Iterator[None]:
    """The isolation that is used by everything below."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isolation, "mode", lambda: BUBBLEWRAP)
        yield


def limit_own_cells(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Little time for a cell that never ends."""
    material = material_of(CHAPTER)
    hurried = replace(material, limits=replace(material.limits, extra_cell_seconds=seconds))
    monkeypatch.setattr(grade, "material_of", lambda chapter: hurried)


@pytest.fixture(scope="module")
def listener() -> Iterator[None]:
    """A socket of the grader's machine that an attack tries to reach by its name."""
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(f"\0{LISTENER}")
        ours.listen(1)
        yield


def graded(folder: Path, notebook: NotebookNode, grader: Callable = grade.grade_now) -> Result:
    """The result of a notebook handed in as a file; by default not taken from the cache."""
    path = hand_in(folder, f"s{len(list(folder.iterdir()))}", text(notebook))
    submission = sanitise(folder, path.relative_to(folder), CHAPTER)
    assert submission.reason is None
    return grader(submission.notebook, CHAPTER)


def with_cells(notebook: NotebookNode, *sources: str) -> NotebookNode:
    """The notebook with cells of the student's own before all others."""
    notebook = copy.deepcopy(notebook)
    notebook.cells[:0] = map(nbformat.v4.new_code_cell, sources)
    return notebook


def own_cells(result: Result) -> list[dict]:
    """What is reported of the student's own cells."""
    return [report for key, report in result.cells.items() if key.startswith("extra-")]


@pytest.fixture(scope="module")
def earned(sandbox: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The points of the honest half of every attacker's notebook, by exercise."""
    result = graded(tmp_path_factory.mktemp("honest"), half())
    points = {name: exercise.score for name, exercise in result.exercises.items()}
    assert 0 < sum(points.values()) < FULL
    return points


def half(**answers: str) -> NotebookNode:
    """A notebook with two right functions and, beside them, `answers`."""
    right_ones = {name: material_of(CHAPTER).answers[name] for name in HONEST}
    return fill_answers(release_of(CHAPTER), right_ones | answers)


@pytest.mark.parametrize("tried", [pytest.param(LOOKS, id="reach"), *apart(ATTACKS)])
def test_an_attack_earns_and_reaches_nothing(
    tried: list[Attack], earned, listener, tmp_path, monkeypatch
):
    attack = tried[0]
    limit_own_cells(monkeypatch, 1.5 if attack.loses else 4.0)  # some may come to their end
    if attack.before:
        before = Attack("before", attack.group, attack.before)
        graded(tmp_path, with_cells(release_of(CHAPTER), before.source))
    result = graded(tmp_path, with_cells(half(**attack.answers), *(each.source for each in tried)))
    points = {name: exercise.score for name, exercise in result.exercises.items()}
    honest = {name: 0.0 if name in attack.answers else earned[name] for name in earned}
    assert all(points[name] <= honest[name] for name in honest)
    assert points == honest or attack.group in SPOILS_ITSELF
    printed = [report["printed"] for report in result.cells.values()]
    assert [text for text in printed if "REACHED" in text] == []
    # A busy machine ends some sooner.
    every = [each for each in own_cells(result) if "TRIED" in each["printed"]]
    assert attack.loses or result.limited or len(every) == len(tried)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_an_edited_notebook_earns_nothing(change: Change, tmp_path: Path):
    """Of most edits nothing is left: such notebooks are the same one, and are graded once."""
    notebook = copy.deepcopy(release_of(CHAPTER))
    change(notebook)
    result = graded(tmp_path, json.loads(json.dumps(notebook)), grade.grade)
    assert result.score == 0 and result.max_score == FULL


KEEPS_BFLOAT16 = """def distillation_loss(target_logits, draft_logits):
    rows = target_logits.softmax(-1), draft_logits.softmax(-1)
    return 1 - torch.minimum(*rows).sum(-1).mean()"""
WIDENS = """_given = loss_and_gradient
def loss_and_gradient(target_logits, draft_logits, dtype):
    return _given(target_logits, draft_logits, "float64")"""


def test_a_given_function_that_is_defined_anew_earns_nothing():
    chapter = "04_choosing_the_draft"
    answers = material_of(chapter).answers | {"distillation_loss": KEEPS_BFLOAT16}
    notebook = fill_answers(release_of(chapter), answers)
    honest = grade.grade(notebook, chapter).exercises["distillation_loss"]
    notebook.cells.append(nbformat.v4.new_code_cell(WIDENS, id="extra-99"))
    widened = grade.grade(notebook, chapter).exercises["distillation_loss"]
    assert widened.score == honest.score < honest.max_score


@pytest.mark.parametrize("shown", [pytest.param(HABITS, id="habits"), *apart(OTHER_ANSWERS)])
def test_a_twin_is_graded_as_ever(shown: list[Twin], tmp_path: Path):
    cells = [each.cell for each in shown]
    result = graded(tmp_path, with_cells(right(**shown[0].answers), *cells))
    messages = {name: e.messages for name, e in result.exercises.items() if e.messages}
    assert messages == {} and result.score == FULL
    for twin, report in zip(shown, own_cells(result), strict=True):
        assert report["error"] is None or "error in" in twin.name, twin.name
