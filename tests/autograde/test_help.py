"""`--help` of both programs: every command says what it does, shows it, and names its codes."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from autograde import cli as autograde
from autograde.chapter import chapter_names
from specdec_lib import cli as specdec
from specdec_lib.models.scale import COSTS

PROGRAMS = {"autograde": autograde.parser(), "specdec": specdec.parser()}
WIDTH = 80


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Every command below `parser`, with those below them."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from commands(command)


def examples(command: argparse.ArgumentParser) -> list[list[str]]:
    """The words of the example lines in its epilog, the program's name first."""
    text = (command.epilog or "").replace("\\\n", " ")
    program = command.prog.split()[0]
    return [shlex.split(line) for line in text.splitlines() if line.startswith(f"  {program} ")]


def codes(text: str | None) -> list[str]:
    """The numbers after `Exit codes:`."""
    return re.findall(r"\b\d+\b", (text or "").partition("Exit codes:")[2])


def problems(command: argparse.ArgumentParser) -> Iterator[str]:
    """What the help of `command` lacks."""
    sentences = re.findall(r"\.(?=\s|$)", command.description or "")
    if not 1 <= len(sentences) <= 3:
        yield f"a description of {len(sentences)} sentences"
    if not 1 <= len(examples(command)) <= 2:
        yield f"{len(examples(command))} examples"
    if not {"0", "2"} <= set(codes(command.epilog)):
        yield "no exit codes"
    lines = f"{command.description}\n{command.epilog}".splitlines()
    yield from (f"too long: {line}" for line in lines if len(line) > WIDTH)
    for action in command._actions:
        name = "/".join(action.option_strings) or action.dest
        text = (action.help or "") % vars(action)
        if not text:
            yield f"{name}: no help"
        elif not action.required and action.nargs != 0 and "default" not in text:
            yield f"{name}: no default"


EVERY = [command for program in PROGRAMS.values() for command in commands(program)]


@pytest.mark.parametrize("command", EVERY, ids=lambda command: command.prog)
def test_a_command_says_what_it_does(command: argparse.ArgumentParser):
    assert list(problems(command)) == []
    assert set(codes(command.epilog)) <= set(codes(PROGRAMS[command.prog.split()[0]].epilog))


@pytest.mark.parametrize("command", EVERY, ids=lambda command: command.prog)
def test_an_example_is_a_line_that_the_command_takes(command: argparse.ArgumentParser):
    for program, *words in examples(command):
        options, others = PROGRAMS[program].parse_known_args(words)
        assert options.run is command.get_default("run")
        assert not others or options.run is specdec.run_start
        named = [word for word in words if re.match(r"\d\d_", word)]
        assert {word.removesuffix(".ipynb") for word in named} <= set(chapter_names())


def test_a_command_without_help_is_named():
    top = argparse.ArgumentParser(prog="autograde")
    bare = top.add_subparsers().add_parser("bare")
    bare.add_argument("file")
    bare.add_argument("--count", type=int, help="how many")
    assert list(commands(top)) == [bare]
    assert list(problems(bare)) == [
        "a description of 0 sentences",
        "0 examples",
        "no exit codes",
        "file: no help",
        "--count: no default",
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_lines_say_what_the_program_is_for_and_the_usual_order(name: str):
    """And the order names commands that there are, but for the commands of others."""
    parser = PROGRAMS[name]
    purpose, order = parser.description.split("\n\n", 1)
    assert purpose.endswith(".") and "--help" not in purpose and "The usual order" in order
    named = re.findall(rf"^  {name} (\w+)  ", order, re.M)
    there = {command.prog.split()[1] for command in commands(parser)}
    assert set(named) <= there and len(named) == len(set(named)) >= 5


def test_the_order_has_nbgraders_steps_where_they_belong():
    named = re.findall(r"^  (nbgrader|autograde|make) (\w+)", autograde.PURPOSE, re.M)
    steps = [("nbgrader", "generate_assignment"), ("autograde", "bundle"), ("autograde", "grade")]
    steps += [("nbgrader", "autograde"), ("make", "grader"), ("nbgrader", "generate_feedback")]
    assert [step for step in named if step in steps] == steps


def test_the_sizes_that_a_target_can_cost_are_all_named():
    generate = next(command for command in EVERY if command.prog == "specdec generate")
    text = next(action.help for action in generate._actions if action.dest == "target_cost")
    assert all(re.search(rf"\b{size}\b", text) for size in COSTS)
