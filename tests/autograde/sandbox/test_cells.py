"""What IPython runs, the grader runs: the same names, values and errors, in any kind of cell."""

import json
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from classes.sessions import session, value_of
from IPython.core.inputtransformer2 import TransformerManager

from autograde.sandbox import bwrap, isolation
from autograde.sandbox.inside import magics
from autograde.sandbox.inside.cells import MAX_COMMANDS, Cells, plain_python
from autograde.sandbox.session import Cell, NotDefined, Session
from autograde.sandbox.workers import Limits

# By name, the cells of a notebook: IPython itself runs them too.
CELLS = {
    "help": ["def f():\n    '''?'''\nf?\nf??\n?f\nx = 1"],
    "shell": ["!true\nfiles = !true\nn = [files.n, files.l, files.s]\nif n:\n    !true\nx = 2"],
    "shell by name": ["x = get_ipython().getoutput('true')\nget_ipython().system('true')"],
    "exit code": ["!true", "x = _exit_code"],
    "script": ["%%bash --out listing\ntrue", "x = listing"],
    "timeit into a name": ["a = [1]\nt = %timeit -o -n1 -r1 sum(a)\nx = t.average >= 0 <= t.best"],
    "timeit with -v": ["%timeit -q -n 1 -r 1 -v result x = 1"],
    "timeit keeps its names": ["seen = []", "%%timeit -n1 -r1 y = 2\nz = y\nseen.append(z)"],
    "timeit in a function": ["a = 5\ndef f(a):\n    %timeit -n1 -r1 a\n    return a", "x = f(3)"],
    "time binds": ["%time x = 3", "y = %time x + 1", "%time x", "z = _"],
    "time of a cell": ["%%time\ndef f():\n    return 4\nf()", "x = _ + f()"],
    "time in a function": ["def f(a):\n    b = %time a + 1\n    return b", "x = f(1)"],
    "profile": ["%prun -q x = 5", "%%prun -q\ny = x"],
    "capture": ["%%capture out\nprint(1)\nx = 2", "text = out.stdout + out.stderr"],
    "capture a value": ["%%capture --no-stderr out\n6", "x = out.outputs[0].data['text/plain']"],
    "cell magics in one another": ["%%capture\n%%time\nx = 7"],
    "texts of other languages": ["%%html\n<b>\n", "%%latex\n$x$", "%%javascript\nx = {", "y = 8"],
    "magic by name": ["get_ipython().run_line_magic('precision', '3')\nx = 9"],
    "code by name": ["s = get_ipython()\ns.ex('x = 1')\ns.push({'y': 2})\nz = s.ev('x + y')"],
    "a magic of one's own": [
        "from IPython.core.magic import register_line_magic\n"
        "@register_line_magic\ndef double(line):\n    return 2 * line",
        "x = %double ab",
    ],
    "get_ipython by import": ["import IPython\nx = IPython.get_ipython() is get_ipython()"],
    "continued magic": ["%precision \\\n  3\nx = 1"],
    "modulo beside a magic": ["%precision 3\nx = (7\n     % 4)\ny = '''\n%precision\n!ls?'''"],
    "await": ["import asyncio\nasync def f(n): await asyncio.sleep(0)", "await f(3)\nx = 1"],
    "value of await": ["async def f():\n    return 4", "x = await f()", "await f()", "y = _"],
    "async for and with": [
        "import contextlib\nasync def g():\n    yield 1\n    yield 2\n"
        "@contextlib.asynccontextmanager\nasync def c():\n    yield 3",
        "seen = [n async for n in g()]\nasync for n in g():\n    seen.append(n)",
        "async with c() as value:\n    pass",
    ],
    "a task between cells": [
        "import asyncio\nasync def f():\n    return 5\nawait f()\nqueue = asyncio.Queue()",
        "await queue.put(6)\ntask = asyncio.ensure_future(f())\nawait asyncio.sleep(0)",
        "x = await queue.get(), await task",
    ],
    "indented": ["    def f():\n        return 1\n    x = f()", "\n\n  y = 2\n  if y:\n    z = 3"],
    "pasted": [">>> def f():\n...     return 1\n>>> x = f()\n", "In [3]: y = 2\n   ...: z = y"],
    "future imports": [
        "from __future__ import annotations",
        "def f(a: Never): pass\nx = str(f.__annotations__)",
    ],
    "future import below": ["x = 1\nfrom __future__ import annotations\ny: Never = 2"],
    "what stands before an error": ["x = 1\nreturn x"],
    "error in the middle": ["x = 1\n1 / 0\ny = 2", "z = 3"],
    "not Python": ["x = = 3", "y = 1"],
    "text of a function": [
        "import inspect\n@inspect.getsource\ndef g():\n    return 1",
        "def h(): pass\nx = inspect.getsource(h), inspect.getsourcelines(h)[1]",
        "  def k(): return 2\n  y = inspect.getsource(k)",
    ],
    "own classes": [
        "import pickle\nclass A:\n    pass\nx = type(pickle.loads(pickle.dumps(A()))) is A",
        "import __main__\ny = __main__.A is A, __name__, A.__module__",
    ],
    "data classes": [
        "from __future__ import annotations\nimport dataclasses, typing",
        "@dataclasses.dataclass\nclass A:\n    n: typing.ClassVar[int] = 3\n    b: list[B] = None",
        "class B:\n    pass\nx = len(dataclasses.fields(A)), str(typing.get_type_hints(A))",
    ],
    "tests of the notebook": [
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"
        "x = unittest.main(argv=[''], exit=False).result.testsRun",
    ],
    "one line by letters": ["def f(*a): return a\n/f 1\n", ",f a b", "x = _", ";f a b", "y = _"],
    "built-in names": ["x = __builtins__.abs(-1)\ny = __builtins__.__name__"],
    "last values": ["5", "x = _", "6", "7", "y = _ + __ + ___", "a, _ = 1, 2", "8", "z = _"],
    "a value that is not shown": ["5", "6;\n", "None", "x = 3", "y = _"],
    "texts": ["x = 1", "y = _i, In[1], len(In)", "6", "z = Out[3]"],
    "display": ["display(1, display_id=True).update(2)\nx = 1"],
}  # fmt: skip
WRONG = ("what stands before an error", "error in the middle", "not Python")  # of these notebooks
# Runs every notebook in a namespace of its own, by IPython or by us, and tells what is there then.
PROGRAM = """
import contextlib, gc, io, json, sys
sys.path.insert(0, sys.argv[1])
plain = (int, float, bool, str, list, tuple, type(None))

def told(value):
    return repr(value) if type(value) in plain else value.__class__.__name__

def ipython():
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    gc.freeze()  # `reset` would look at all objects again
    shell.reset()
    shell.compile.reset_compiler_flags()
    def run(source, key):
        result = shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        return type(error).__name__ if error else ""
    return shell.user_ns, run

def ours():
    import worker
    cells = worker.new_notebook()
    return cells.namespace, lambda *cell: (cells.run(*cell)["error"] or {"name": ""})["name"]

def after(sources, start):
    names, run = start()
    before = set(names)
    errors = [run(source, f"cell-{number}") for number, source in enumerate(sources)]
    return [errors, {n: told(names[n]) for n in set(names) - before if n[0] != "_"}]

with contextlib.redirect_stdout(io.StringIO()):
    notebooks, start = json.load(sys.stdin), globals()[sys.argv[2]]
    found = {name: after(sources, start) for name, sources in notebooks.items()}
print(json.dumps(found))
"""


def run_by(whom: str, home: str) -> dict:
    """What `PROGRAM` tells of all notebooks."""
    command = [sys.executable, "-c", PROGRAM, str(bwrap.PROGRAM), whom]
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


@pytest.mark.parametrize(
    "above",
    [
        "",
        "\n \n",
        "%time 1\n",
        "%time 1 + \\\n  1\n",
        "x = !ls \\\n  -l\n\n",
        "%%time\n",
    ]
    + ["\n%%capture\n%%time\n\n", ">>> 1\n", "In [1]: 1\n", "@property\ndef f(self): 1\n\n?f\n"],
)
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


@pytest.mark.parametrize(
    "source",
    [
        "!{}",
        "x = !{}",
        "x = %sx {}",
        "%%bash\n{}",
        "%%sh --out x\n{}",
        "%system {}",
        "!!{}",
        "%pip {}",
    ]
    + [f"get_ipython().{name}('{{}}')" for name in ("system", "getoutput", "system_raw", "magic")],
)
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
