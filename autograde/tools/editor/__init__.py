"""The editor of the chapters' pages: CodeMirror 6 from npm, bundled into one file of docs/_static.

`package-lock.json` pins every package by its digest, so the same bytes come out wherever it is run.
The file is committed, and `make site` needs no npm.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from autograde.chapter import BUILD, ROOT

HERE = Path(__file__).parent
BUNDLED = ROOT / "docs" / "_static" / "answers" / "codemirror.mjs"
SOURCES = ("package.json", "package-lock.json", "editor.js")
ESBUILD = ("--bundle", "--format=esm", "--minify", "--target=es2022", "--legal-comments=none")
NOTICE = """/* Made by `python -m autograde.tools.editor` of these packages of npm: {packages}.

{licence}*/
"""


def bundled() -> bytes:
    """The editor as one ES module, with the licence of what is in it.

    Raises FileNotFoundError without npm, CalledProcessError if npm cannot fetch the packages.
    """
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        folder = Path(name)
        for source in SOURCES:
            shutil.copy(HERE / source, folder)
        _run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        _run(folder, "node_modules/.bin/esbuild", "editor.js", "--outfile=out.mjs", *ESBUILD)
        return (_notice(folder / "node_modules") + (folder / "out.mjs").read_text()).encode()


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)


def _notice(modules: Path) -> str:
    """The packages that are in the bundle, and their licences, each text once."""
    found = sorted(path.parent for path in modules.rglob("LICENSE"))
    found = [folder for folder in found if "esbuild" not in folder.as_posix()]
    names = ", ".join(folder.relative_to(modules).as_posix() for folder in found)
    texts = {(folder / "LICENSE").read_text().strip() for folder in found}
    return NOTICE.format(packages=names, licence="\n\n".join(sorted(texts)) + "\n")
