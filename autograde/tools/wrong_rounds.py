"""Wrong answers that are graded in one notebook, where neither can change what the other gets.

A misconception changes one exercise, and what another answers may hang on that one, because its
solution calls it. Two misconceptions share a notebook only where neither's exercise hangs on the
other's, near or far, and they are not of one belief, which is refuted once.
"""

import ast
from functools import cache

from autograde.tools.samples import solutions_of
from autograde.wrong import Misconception, misconceptions_of

UNWRITTEN = "def {name}(*args):\n    raise NotImplementedError('{name}: not written yet')"


def answers_beside(chapter: str, wrong: Misconception) -> dict[str, str]:
    """The answers, by exercise, that are not the solution's in the notebook with `wrong`."""
    shared = next(group for group in rounds_of(chapter) if wrong in group)
    return without_others(chapter, {each.exercise: each.code for each in shared})


def without_others(chapter: str, answers: dict[str, str]) -> dict[str, str]:
    """These answers, and every other that none of them calls unwritten.

    It could tell nothing about them: what hangs on a wrong one would only fail, and slowly.
    """
    needs = needs_of(chapter)
    near = set().union(*(needs[name] | needs.keys() & used(answers[name]) for name in answers))
    kept = near.union(*(needs[name] for name in near), answers)
    return {name: UNWRITTEN.format(name=name) for name in needs.keys() - kept} | answers


@cache
def rounds_of(chapter: str) -> list[list[Misconception]]:
    """All misconceptions of the chapter, each in the first round that has room for it."""
    needs, rounds = needs_of(chapter), []
    for wrong in misconceptions_of(chapter).all:
        free = (group for group in rounds if all(apart(needs, wrong, each) for each in group))
        group = next(free, None)
        if group is None:
            rounds.append(group := [])
        group.append(wrong)
    return rounds


def apart(needs: dict[str, set[str]], one: Misconception, other: Misconception) -> bool:
    """Whether neither's exercise is the other's, or hangs on it, and their beliefs are two."""
    if one.thought == other.thought:
        return False
    first, second = one.exercise, other.exercise
    return first != second and first not in needs[second] and second not in needs[first]


@cache
def needs_of(chapter: str) -> dict[str, set[str]]:
    """For each exercise all others that it calls, near or far."""
    answers = solutions_of(chapter)
    names = {wrong.exercise for wrong in misconceptions_of(chapter).all}
    needs = {name: names & used(answers[name]) for name in names}
    for _ in names:  # each pass goes one step further
        needs = {name: near.union(*(needs[each] for each in near)) for name, near in needs.items()}
    return {name: near - {name} for name, near in needs.items()}


def used(code: str) -> set[str]:
    """The names that occur in an answer."""
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
