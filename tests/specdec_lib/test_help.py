"""`specdec COMMAND --help`: examples are lines that run, the usual order names real commands."""

import argparse
import re
import shlex

import pytest

from autograde.chapter import chapter_names
from specdec_lib import cli

PARSER = cli.parser()
(COMMANDS,) = (
    action.choices.values()
    for action in PARSER._actions
    if isinstance(action, argparse._SubParsersAction)
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.prog)
def test_an_example_is_a_line_that_the_command_takes(command: argparse.ArgumentParser):
    for line in re.findall(r"^  specdec (.*)", command.epilog or "", re.M):
        options, others = PARSER.parse_known_args(shlex.split(line))
        assert options.run is command.get_default("run")
        assert not others or options.run is cli.run_start
        named = re.findall(r"\b\d\d_\w+", line)
        assert set(named) <= set(chapter_names())


def test_the_usual_order_names_commands_that_there_are():
    named = re.findall(r"^  specdec (\w+)  ", PARSER.description, re.M)
    assert named and set(named) <= {command.prog.split()[1] for command in COMMANDS}
