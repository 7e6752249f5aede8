"""A chapter's page as one works on it, without the site around it; and what it asks the network."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
from pages.npm_packages import PYODIDE, package

from autograde.chapter import ROOT, Chapter
from autograde.tools.browser import page_data, payload
from autograde.tools.pages import page

STATIC = ROOT / "docs" / "_static"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
RAW = re.compile(r"```{raw} html\n(.*?)```", re.DOTALL)
HEAD = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>A chapter</title>
<link rel="stylesheet" href="../_static/site.css"><style>pre { overflow-x: auto; }</style>
<body><h1>A chapter</h1>"""


def write_page(folder: Path, chapter: str) -> Path:
    """Write the page of a chapter below `folder`, with all that it loads from its own site."""
    shutil.copytree(STATIC, folder / "_static")
    (folder / "_static" / "answers" / f"{chapter}.json").write_bytes(page_data(chapter))
    (folder / "_static" / "answers" / "library.zip").write_bytes(payload())
    (folder / "_static" / "notebooks").mkdir()
    shutil.copy(Chapter(chapter).release, folder / "_static" / "notebooks")
    # The release has no outputs, and this page needs none.
    cells = page(chapter, Chapter(chapter).release).cells
    target = folder / "chapters" / f"{chapter}.html"
    target.parent.mkdir()
    target.write_text(HEAD + "\n".join(map(_html, cells)) + "</body></html>", encoding="utf-8")
    return target


def _html(cell: nbformat.NotebookNode) -> str:
    """A cell: its own HTML, or its text as it stands."""
    own = "".join(RAW.findall(cell.source)) if cell.cell_type == "markdown" else ""
    return own or f'<div class="cell"><pre tabindex="0">{escape(cell.source)}</pre></div>'


@contextmanager
def opened(browser: Any, url: str, reachable: bool = True, **look: Any) -> Iterator[Any]:
    """The page at `url`, with Pyodide from its npm package in the place of the CDN.

    At the end nothing else may have been asked of the network. If the CDN is not `reachable`,
    nothing of it comes.
    """
    pyodide = package("pyodide", PYODIDE)
    context = browser.new_context(**look)
    away: list[str] = []

    def from_package(route: Any) -> None:
        if not route.request.url.startswith(CDN):
            away.append(route.request.url)
        file = pyodide / urlsplit(route.request.url).path.split("/full/")[-1]
        there = reachable and file.is_file()
        route.fulfill(path=file) if there else route.fulfill(status=404)

    context.route(lambda asked: urlsplit(asked).hostname != "127.0.0.1", from_package)
    visited = context.new_page()
    visited.goto(url)
    visited.get_by_role("button", name="Download").wait_for()
    yield visited
    assert away == []
    context.close()
