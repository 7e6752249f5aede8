"""The student's functions of an earlier chapter, from the notebook beside the present one."""

import ast
import json
import linecache
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

#: What a value may be made of that nothing has to be computed for.
_PLAIN = ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp | ast.unaryop | ast.expr_context


def carried(chapter: str, name: str, work: Path = Path("..")) -> Callable:
    """The function `name` of `chapter` in the folder `work`: what its cells define is run.

    A line names each cell with a function that cannot run. If the function is not there, what is
    returned raises NotImplementedError.
    """
    path, names = work / chapter / f"{chapter}.ipynb", {}
    cells = [{"source": f"def {name}(*args):\n    raise NotImplementedError({name!r})"}]
    try:
        cells += json.loads(path.read_text(encoding="utf-8"))["cells"]
    except FileNotFoundError:
        print(f"There is no notebook {path}. Put yours there.")
    except (OSError, ValueError, LookupError, TypeError):
        print(f"{path} cannot be read as a notebook. Save it in Jupyter again.")
    for number, cell in enumerate(cells):
        source, tags = "".join(cell["source"]), cell.get("metadata", {}).get("tags", [])
        if cell.get("cell_type") == "markdown" or "demo" in tags:
            continue
        place = f"{path}, cell {number}" if number else str(path)
        linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
        try:
            _run(re.sub(r"(?m)^[%!].*", "", source), place, names)  # without %time and !pip
        except Exception as error:  # whatever a half-written cell does
            if own := ", ".join(re.findall(r"def (\w+)", source)):
                print(f"A cell of {path} does not run, so {own} is missing here: {error}")
    return names[name]


def _run(source: str, place: str, names: dict[str, Any]) -> None:
    """Run what `source` defines, without values of names that are not there."""
    for statement in filter(_defines, ast.parse(source, place).body):
        is_value = isinstance(statement, ast.Assign | ast.AnnAssign)
        with suppress(*(NameError, AttributeError) if is_value else ()):
            exec(compile(ast.Module([statement], []), place, "exec"), names)


def _defines(statement: ast.stmt) -> bool:
    """Whether it defines something and computes nothing, as `SIZE = 3` does."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if not isinstance(target, ast.Name) or isinstance(statement.value, ast.Lambda):
            return isinstance(target, ast.Name)
        return all(isinstance(part, _PLAIN) for part in ast.walk(statement.value or target))
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
