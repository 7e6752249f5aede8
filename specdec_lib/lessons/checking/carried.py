"""The student's functions of an earlier chapter, from the notebook beside the present one."""

import ast
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DEFINE = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def carried(chapter: str, name: str, work: Path = Path("..")) -> Callable:
    """The function `name` of `chapter` in the folder `work`: what its cells define is run.

    If it is not there, a line says so, and what is returned raises NotImplementedError.
    """
    path, names = work / chapter / f"{chapter}.ipynb", {}
    cells = [{"source": f"def {name}(*args):\n    raise NotImplementedError"}]
    try:
        cells += json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        print(f"There is no notebook {path}. Put yours there, or define {name} in a cell here.")
    for cell in cells:
        if "demo" not in cell.get("metadata", {}).get("tags", []):
            with suppress(Exception):  # of text, and of cells that cannot run
                tree = ast.parse("".join(cell["source"]))
                tree.body = [each for each in tree.body if isinstance(each, _DEFINE)]
                exec(compile(tree, path, "exec"), names)
    return names[name]
