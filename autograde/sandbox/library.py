"""The library as a student's process sees it: what answers an exercise of the chapter is not in it.

The process gets a copy of the library in which the body of each such function is one line that
raises. Files that hold none of them are shared with the original by hard links. Copies are kept: a
change to the library makes a new one.
"""

import ast
import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from autograde.chapter import BUILD, library_folders
from autograde.files import files_below

FOLDER = BUILD / "cache" / "libraries"
_STUB = """
def stub(*args, **kwargs):
    raise RuntimeError({text!r})
"""
_CLASS = """
class stub:
    def __new__(cls, *args, **kwargs):
        raise RuntimeError({text!r})
"""


@cache
def without(names: tuple[str, ...]) -> Path | None:
    """The folder of a copy of the library without the functions `names`, and of nothing else.

    None: the course has no library.

    A name is "package.module.function", "package.module.Class" or "package.module.Class.method".
    Raises LookupError if the library has no such function.
    """
    for original in library_folders():
        target = _shelf() / _fingerprint(original, names)
        if not target.is_dir():
            _put(original, target, names)
        return target
    return None


def _put(original: Path, target: Path, names: tuple[str, ...]) -> None:
    """Make the copy, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=_shelf()) as folder:
        new = Path(folder, "new")
        _copy(original, new / original.name, names)
        for each in (new, *(path for path in new.rglob("*") if path.is_dir())):
            each.chmod(0o755)  # root reads it as nobody
        with contextlib.suppress(OSError):  # another process has just made it
            new.rename(target)


def _copy(original: Path, copy: Path, names: tuple[str, ...]) -> None:
    """A copy of the library's folder in which the functions `names` raise."""
    closed: dict[Path, list[str]] = {}
    for name in names:
        module, _ = split_name(name)
        closed.setdefault(_file_of(original, module), []).append(name)
    for path in files_below(original):
        place = copy / path.relative_to(original)
        if path in closed:
            text = stubbed(path.read_text(encoding="utf-8"), closed[path])
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        else:
            _share(path, place)
            if path.suffix == ".py" and os.path.exists(cache_from_source(path)):
                _share(Path(cache_from_source(path)), Path(cache_from_source(place)))


def _share(path: Path, place: Path) -> None:
    """A second name for a file, or a copy of it where that cannot be had."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, place)
    except OSError:
        shutil.copy2(path, place)


def _file_of(original: Path, module: str) -> Path:
    """The file of a module of the library."""
    path = original.parent.joinpath(*module.split("."))
    files = [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    if not files:
        raise LookupError(f"the library has no module {module}")
    return files[0]


def split_name(name: str) -> tuple[str, str]:
    """The module of a name, and the rest of it: "function", "Class" or "Class.method"."""
    module, _, function = name.rpartition(".")
    package, _, last = module.rpartition(".")
    return (package, f"{last}.{function}") if last[:1].isupper() else (module, function)


def stubbed(source: str, names: list[str]) -> str:
    """A module's source in which the functions `names` only raise."""
    tree = ast.parse(source)
    for name in names:
        body, *within = tree.body, *split_name(name)[1].split(".")
        for part in within:
            kinds = ast.FunctionDef | ast.ClassDef
            found = [each for each in body if isinstance(each, kinds) and each.name == part]
            if not found:
                raise LookupError(f"the library has no {name}")
            body = found[0].body
        _empty(found[0], f"{name} answers this exercise; the answer has to be your own work")
    return ast.unparse(tree)


def _empty(node: ast.FunctionDef | ast.ClassDef, text: str) -> None:
    """Leave nothing of a function or a class but its name, its decorators and an exception."""
    is_class = isinstance(node, ast.ClassDef)
    (stub,) = ast.parse((_CLASS if is_class else _STUB).format(text=text)).body
    node.body = stub.body
    if is_class:
        node.decorator_list, node.bases, node.keywords = [], [], []
    else:
        node.args, node.returns = stub.args, None


def _fingerprint(folder: Path, names: tuple[str, ...]) -> str:
    """What a copy depends on: the names, this module, and what says that a file has changed."""
    digest = hashlib.sha256("\0".join([*names, Path(__file__).read_text()]).encode())
    for path in files_below(folder):
        status = path.stat()
        digest.update(f"\0{path}\0{status.st_size}\0{status.st_mtime_ns}".encode())
    return digest.hexdigest()


@cache
def _shelf() -> Path:
    """Where copies are kept; where nothing can be kept, a folder of this process."""
    with contextlib.suppress(OSError):
        FOLDER.mkdir(parents=True, exist_ok=True)
    if os.access(FOLDER, os.W_OK):
        return FOLDER
    folder = tempfile.TemporaryDirectory(prefix="specdec-library-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
