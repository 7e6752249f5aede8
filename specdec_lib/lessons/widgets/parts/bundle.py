"""One ES module of a simulator's file and of the files that it imports, without an import line.

A file imports by name, `import { svg, html } from "./parts/elements.js";`, what the other exports.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.\.?/[\w/]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
_AT_THE_TOP = re.compile(
    r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+|\[[^\]]*\]|\{[^}]*\})",
    re.MULTILINE,
)


def bundle(file: Path) -> str:
    """The text of `file` after that of every file it needs, each of them once.

    ValueError, naming the file, for an import of what the other file does not export, for a line
    of import or export in another form, and for a name that two files define.
    """
    texts: dict[Path, str] = {}
    _collect(file.resolve(), texts)
    _require_one_home(texts)
    return "\n".join(_IMPORT.sub("", text) for text in texts.values())


def _collect(file: Path, texts: dict[Path, str], above: tuple[Path, ...] = ()) -> None:
    """Add `file` to `texts` after the files that it imports. `above` are those that need it."""
    if file in texts or file in above:
        return
    text = file.read_text(encoding="utf-8")
    _require_known_forms(file.name, text)
    for names, other in _IMPORT.findall(text):
        source = (file.parent / other).resolve()
        if not source.is_file():
            raise ValueError(f"{file.name} imports from {other}, which is no file beside it")
        exported = _EXPORT.findall(source.read_text(encoding="utf-8"))
        missing = [name for name in re.findall(r"\w+", names) if name not in exported]
        if missing:
            raise ValueError(
                f"{file.name} imports {', '.join(missing)} from {other}, which exports no such "
                f"name: write `export` before it there, or correct the name"
            )
        _collect(source, texts, (*above, file))
    texts[file] = text


def _require_known_forms(name: str, text: str) -> None:
    rest = _EXPORT.sub("", _IMPORT.sub("", text)).replace("export default { render };", "")
    other = re.search(r"^\s*(?:import|export)\b.*", rest, re.MULTILINE)
    if other or re.search(r"import \{[^}]* as ", text):
        line = other[0].strip() if other else "import { ... as ... }"
        raise ValueError(
            f'{name}: `{line}` is not understood here; write import {{ name }} from "./file.js"; '
            "and export before a function, const, let or class"
        )


def _require_one_home(texts: dict[Path, str]) -> None:
    """ValueError if two files define the same name at their top level."""
    home: dict[str, Path] = {}
    for file, text in texts.items():
        for declared in _AT_THE_TOP.findall(text):
            for name in re.findall(r"\w+", declared):
                if home.setdefault(name, file) != file:
                    one, other = (f"{path.parent.name}/{path.name}" for path in (home[name], file))
                    raise ValueError(f"{name} is defined in {one} and in {other}: rename one")
