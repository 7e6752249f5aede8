"""`--help` of both programs: examples are lines that run, the usual order names real commands."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from autograde import cli as autograde
from autograde.chapter import chapter_names
from specdec_lib import cli as specdec

PROGRAMS = {"autograde": autograde.parser(), "specdec": specdec.parser()}


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


EVERY = [command for program in PROGRAMS.values() for command in commands(program)]


@pytest.mark.parametrize("command", EVERY, ids=lambda command: command.prog)
def test_an_example_is_a_line_that_the_command_takes(command: argparse.ArgumentParser):
    for program, *words in examples(command):
        options, others = PROGRAMS[program].parse_known_args(words)
        assert options.run is command.get_default("run")
        assert not others or options.run is specdec.run_start
        named = [word for word in words if re.match(r"\d\d_", word)]
        assert {word.removesuffix(".ipynb") for word in named} <= set(chapter_names())


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_usual_order_names_commands_that_there_are(name: str):
    parser = PROGRAMS[name]
    named = re.findall(rf"^  {name} (\w+)  ", parser.description, re.M)
    there = {command.prog.split()[1] for command in commands(parser)}
    assert named and set(named) <= there
