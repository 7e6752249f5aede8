"""What IPython runs, the grader runs: the same names, values and errors, in any kind of cell."""

import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import data_files
import pytest
from classes.sessions import session, value_of
from IPython.core.inputtransformer2 import TransformerManager

from autograde.sandbox import isolation
from autograde.sandbox.inside import magics
from autograde.sandbox.inside.cells import MAX_COMMANDS, Cells, plain_python
from autograde.sandbox.session import Cell, NotDefined, Session
from autograde.sandbox.workers import Limits

# By name, the cells of a notebook: IPython itself runs them too.
CELLS = data_files.table("notebooks.toml")
INPUTS = data_files.table("sessions.toml")["cells"]
WRONG = ("what stands before an error", "error in the middle", "not Python")  # of these notebooks
# Runs every notebook in a namespace of its own, by IPython or by us, and tells what is there then.
PROGRAM = (Path(data_files.__file__).parent / "run_notebooks.txt").read_text(encoding="utf-8")


def run_by(whom: str, home: str) -> dict:
    """What `PROGRAM` tells of all notebooks."""
    command = [sys.executable, "-c", PROGRAM, str(isolation.PROGRAM), whom]
    how = {"cwd": home, "env": os.environ | {"IPYTHONDIR": home}, "text": True, "check": True}
    done = subprocess.run(command, input=json.dumps(CELLS), stdout=subprocess.PIPE, **how)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    """What IPython makes of all notebooks, and what the grader makes of them."""
    return [run_by(whom, str(tmp_path_factory.mktemp(whom))) for whom in ("ipython", "ours")]


@pytest.mark.parametrize("name", CELLS)
def test_cells_run_as_in_ipython(name: str, found: list[dict]):
    theirs, ours = found
    assert ours[name] == theirs[name]


@pytest.mark.isolation
def test_cells_run_in_the_sandbox_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "mode", lambda: isolation.BUBBLEWRAP)
    notebooks = [CELLS[name] for name in CELLS if name not in ("texts", *WRONG)]
    with session(*chain(*notebooks), limits=Limits(total_seconds=60)) as s:
        errors = [report["error"] for report in s.reports.values() if report["error"]]
    assert errors == []


def new_notebook() -> Cells:
    """Cells in this process."""
    notebook = Cells({})
    magics.install(notebook, for_imports=False)
    return notebook


INVALID = f"not valid in Python {sys.version_info[0]}.{sys.version_info[1]}, which grades ({{}})"


@pytest.mark.parametrize("above", INPUTS["above"])
@pytest.mark.parametrize("wrong", ["1 / 0", "return 1", "int('x') if 1 else 2"])
def test_an_error_stands_in_the_students_own_line(above: str, wrong: str):
    error = new_notebook().run(above + wrong, "f")["error"]
    assert (error["line"], error["cell"]) == (above.count("\n") + 1, "f")
    assert wrong != "return 1" or error["text"] == INVALID.format("'return' outside function")


@pytest.mark.parametrize(
    "code", ["def f() return 1", "x = {'a': 1", "  y = 1\n z = 2", "nonlocal x"]
)
def test_a_function_in_a_cell_that_cannot_be_compiled_names_the_version(code: str):
    refused = pytest.raises(
        NotDefined, match=r"Error in line \d: not valid in Python 3\.\d+, which"
    )
    with Session([Cell("f", f"x = 0\n{code}\ndef f(): return 1", 9.0)]) as s, refused:
        s.call("f", ())


@pytest.mark.parametrize("source", INPUTS["programs"])
def test_no_program_is_started(source: str, tmp_path: Path):
    assert new_notebook().run(source.format(f"touch {tmp_path}/started"), "f")["error"] is None
    assert not list(tmp_path.iterdir())


def test_plain_python_does_not_wait_for_ipython():
    code = "import sys\nx = 5 % 3\ndef f(): return 'IPy' + 'thon' in sys.modules"
    assert value_of(code) is False


def test_a_cell_of_any_number_of_commands_costs_the_grader_little(monkeypatch: pytest.MonkeyPatch):
    looks = []
    once = TransformerManager.do_one_token_transform
    monkeypatch.setattr(
        TransformerManager, "do_one_token_transform", lambda *a: looks.append(1) or once(*a)
    )
    assert plain_python("%time 1\n" * 500).startswith("get_ipython()")
    assert len(looks) <= MAX_COMMANDS
