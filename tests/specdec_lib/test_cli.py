"""`specdec`: examples that run, bad input told in a line, and no import without need."""

import json
import re
import shlex
import subprocess
import sys
from contextlib import nullcontext
from unittest.mock import Mock

import pytest
import typer
from data_files import table

from specdec_lib import cli
from specdec_lib.errors import SpecdecError

COMMANDS = typer.main.get_command(cli.specdec).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_an_example_is_a_line_that_the_command_takes(name: str, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("mine.json", "theirs.json"):
        (tmp_path / file).write_text("{}")
    assert cli.main([name, "--help"]) == 0
    (example,) = re.findall(r"^  Example: specdec (.*)", capsys.readouterr().out, re.M)
    command, *words = shlex.split(example)
    assert command == name and COMMANDS[name].make_context(name, words)


def test_without_a_command_there_is_the_help(capsys):
    assert cli.main([]) == 0
    message = capsys.readouterr().out
    assert all(f"\n  {name} " in message for name in COMMANDS)


@pytest.mark.parametrize("words, named", table("commands.toml")["specdec"].items())
def test_bad_input_is_named_in_a_line_before_anything_is_loaded(words, named, capsys, monkeypatch):
    for loads in ("models.pairs.load_pair", "measure.race.turns.run_race"):
        monkeypatch.setattr(f"specdec_lib.{loads}", None)
    assert cli.main(shlex.split(words)) == 2
    message = capsys.readouterr().err
    assert message.startswith("specdec: ") and named in message and message.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (SpecdecError("k is 0"), 2, "specdec: k is 0"),
        (OSError(28, "No space left on device"), 2, "specdec: No space left on device"),
        (OSError(2, "No such file", "a.json"), 2, "specdec: a.json: No such file"),
        (OSError("closed"), 2, "specdec: closed"),
        (KeyboardInterrupt(), 130, ""),
        (ValueError("not enough values to unpack"), None, ""),
        (KeyError("row"), None, ""),
    ],
)
def test_only_what_the_user_can_mend_is_told_in_a_line(error, code, message, capsys, monkeypatch):
    monkeypatch.setattr("specdec_lib.cli_race.show_in_terminal", Mock(side_effect=error))
    with nullcontext() if code else pytest.raises(type(error)):
        assert cli.main(["race", "--recorded"]) == code
    assert capsys.readouterr().err.strip() == message


NOTEBOOK = ["anywidget", "ipywidgets", "matplotlib", "IPython"]
# In this order, in one process: what is run, and what must not have been imported after it.
STEPS = [
    ("from specdec_lib.cli import main; main(['--help'])", ["numpy", "rich", "torch"]),
    ("main(['pairs'])", ["numpy", "rich", "torch"]),
    ("from specdec_lib.lessons.widgets import linked_simulator; linked_simulator()", NOTEBOOK),
    ("import specdec_lib.assets as a; a.held_out_documents(); a.tokenizer()", ["torch"]),
    ("import specdec_lib.sampling, specdec_lib.theory, specdec_lib.exact", ["torch"]),
    ("import specdec_lib.measure.results", ["torch"]),  # of `specdec compare`
    ("main(['race', '--recorded'])", ["torch"]),
    ("main(['generate', 'def f(', '--tokens', '2'])", ["transformers"]),
]
SEEN = "torch"  # by the last step


def test_nothing_is_imported_before_it_is_needed():
    lines = ["import json, sys", "found = []"]
    for code, absent in STEPS:
        lines += [code, f"found.append([each for each in {absent} if each in sys.modules])"]
    lines.append(f"print('\\n' + json.dumps([found, {SEEN!r} in sys.modules]))")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [[[]] * len(STEPS), True]
