"""The slides of the lecture: docs/slides.html with what the executed chapters have drawn."""

from collections.abc import Mapping
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup, Tag

from autograde.course import AuthorError
from autograde.report.formulas import tex_to_mathml


def slides_page(source: str, executed: Mapping[str, Path]) -> str:
    """The page of the slides; `executed` has the path of every chapter's executed solution.

    A figure with `data-chapter` and `data-cell` receives what the one cell of the chapter with
    this text has drawn, and each element of the class `math` the formula of its TeX. Raises
    AuthorError for a figure that has no chapter or no such cell.
    """
    page = BeautifulSoup(source, "html.parser")
    for number, slide in enumerate(page.find_all("section"), start=1):
        for figure in slide.find_all("figure"):
            try:
                _fill(figure, executed)
            except AuthorError as error:
                raise AuthorError(f"docs/slides.html, slide {number}: {error}") from error
    for formula in page.find_all(class_="math"):
        tex = formula.get_text()
        formula.clear()
        formula.append(_parsed(tex_to_mathml(tex, as_block=True)))
    return str(page)


def _fill(figure: Tag, executed: Mapping[str, Path]) -> None:
    """Put a cell's output into the figure, if it names a cell, and a link to its chapter."""
    chapter = figure.get("data-chapter")
    if chapter not in executed:
        known = ", ".join(executed)
        raise AuthorError(f"a figure has data-chapter={chapter!r}; the chapters are {known}")
    if "data-cell" in figure.attrs:
        figure.insert(0, _parsed(_drawing(figure["data-cell"], chapter, executed[chapter])))
    source = f'From <a href="chapters/{chapter}.html">chapter {chapter[:2]}</a>'
    figure.append(_parsed(f"<figcaption>{source}</figcaption>"))


def _drawing(text: str, chapter: str, notebook: Path) -> str:
    """The HTML that a cell of the notebook shows: the only cell with this text that shows any.

    Line breaks and indents of the cell do not count.
    """
    cells = nbformat.read(notebook, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    shown = {" ".join(cell.source.split()): html for cell in code if (html := _html(cell))}
    matches = [html for source, html in shown.items() if text in source]
    if len(matches) != 1:
        ends = "".join(f"\n  ... {source[-70:]}" for source in shown)
        raise AuthorError(
            f"data-cell={text!r} stands in {len(matches)} cells of {chapter} that show a figure, "
            f"and must stand in one. These cells end with:{ends}"
        )
    return matches[0]


def _html(cell: nbformat.NotebookNode) -> str:
    return "".join(each.get("data", {}).get("text/html", "") for each in cell.outputs)


def _parsed(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")
