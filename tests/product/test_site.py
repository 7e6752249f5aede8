"""The site: no answer on it, every link and picture there, formulas drawn."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from pages.site_pages import built_site

from autograde.build.source import read_chapter
from autograde.course import NOTEBOOKS, ROOT, SOLUTIONS, chapter_names
from autograde.nbgrader.regions import solution_view
from autograde.tools.pages import chapter_page

SILENT = re.compile(r"lesson\.|# Check of |.*globals\(\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# A command of TeX has two letters or more: `\n` stands in code. A formula's signs stand around it.
TEX = re.compile(r"\\[a-zA-Z]{2,}|\$\$")
FORMULA = re.compile(r"(\$\$?)[^$]+\1")
UNSEEN = ("script", "style", "title", "annotation", "iframe", "pre", "code")
GUIDES = sorted((ROOT / "docs").glob("*.md"))
ROOT_PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def tex_seen(soup: BeautifulSoup) -> list[str]:
    """The TeX that a reader of the page sees where a formula should have been drawn."""
    pieces = (soup.body or soup).find_all(string=True)
    return TEX.findall(" ".join(str(piece) for piece in pieces if not piece.find_parents(UNSEEN)))


def executed(chapter: str, folder: Path) -> Path:
    """The solution view of a chapter; every code cell says that it has run."""
    notebook = solution_view(read_chapter(SOLUTIONS / f"{chapter}.py"))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            seen = {"text/plain": "plain", "text/html": f"<p>seen in {cell.id}</p>"}
            cell.outputs = [nbformat.v4.new_output("display_data", seen)]
    path = folder / f"{chapter}.ipynb"
    nbformat.write(notebook, path)
    return path


def own_lines(chapter: str) -> set[str]:
    """The lines of the solutions that students do not get, those of a few letters left out."""
    solved = solution_view(read_chapter(SOLUTIONS / f"{chapter}.py"))
    given = nbformat.read(NOTEBOOKS / chapter / f"{chapter}.ipynb", as_version=4)
    lines = {line.strip() for cell in solved.cells for line in cell.source.splitlines()}
    known = "\n".join(cell.source for cell in given.cells)  # the cards name calls to make
    return {line for line in lines if len(line) > 15 and line not in known}


@pytest.mark.parametrize("chapter", chapter_names())
def test_a_page_has_stubs_folded_reveals_and_the_outputs_of_the_solution(chapter: str, tmp_path):
    made = chapter_page(chapter, executed(chapter, tmp_path))
    text = "\n".join(cell.source for cell in made.cells)
    assert own_lines(chapter) and not any(line in text for line in own_lines(chapter))
    for cell in made.cells:
        assert "nbgrader" not in cell.metadata
        if cell.cell_type == "code" and not SILENT.match(cell.source):
            (output,) = cell.outputs
            assert output.data == {"text/html": f"<p>seen in {cell.id}</p>"}
    reveals = [cell for cell in made.cells if "lesson.reveal" in cell.source]
    assert len(reveals) >= 2 and all(cell.metadata.tags[-1] == "hide-output" for cell in reveals)
    silent = [c for c in made.cells if c.id.startswith("test_")]
    assert silent and not any(cell.outputs for cell in silent)


@pytest.mark.parametrize("path", [*GUIDES, *ROOT_PAGES], ids=lambda path: path.name)
def test_relative_links_of_the_text_files_lead_somewhere(path: Path):
    for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
        if urlsplit(link).scheme or link.startswith("#"):
            continue
        name = urlsplit(link).path
        # The site puts chapters and the root's pages beside the guides.
        places = [path.parent / name, ROOT / name, SOLUTIONS / Path(name).stem / Path(name).name]
        assert any(place.exists() for place in places), f"{path.name}: {link}"


@pytest.fixture(scope="module")
def site() -> dict[Path, BeautifulSoup]:
    """Every page of the site."""
    files = [path for path in built_site().rglob("*.html") if "_static" not in path.parts]
    return {path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser") for path in files}


def broken(path: Path, link: str, pages: dict[Path, BeautifulSoup]) -> bool:
    """Whether a link on the page leads to no file or to no anchor of the site."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.exists():
        return True
    return bool(parts.fragment) and target in pages and not pages[target].find(id=parts.fragment)


@pytest.mark.slow
def test_links_and_pictures_of_the_site_are_there(site: dict[Path, BeautifulSoup]):
    for path, soup in site.items():
        links = [tag["href"] for tag in soup.find_all(href=True)]
        links += [tag["src"] for tag in soup.find_all(src=True)]
        own = [link for link in links if not urlsplit(link).scheme and not link.startswith("//")]
        assert [link for link in own if broken(path, link, site)] == [], path.name


@pytest.mark.slow
def test_a_formula_is_drawn_and_its_tex_is_not_shown(site: dict[Path, BeautifulSoup]):
    drawn = {path.stem: len(soup.find_all("math")) for path, soup in site.items()}
    for chapter in chapter_names():
        cells = read_chapter(SOLUTIONS / f"{chapter}.py").cells
        text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
        assert drawn[chapter] == len(FORMULA.findall(CODE.sub("", text))), chapter
    assert {path.name: seen for path, soup in site.items() if (seen := tex_seen(soup))} == {}


@pytest.mark.slow
def test_no_solution_stands_on_the_site(site: dict[Path, BeautifulSoup]):
    pages = {path.stem: soup.get_text() for path, soup in site.items()}
    for chapter in chapter_names():
        assert [line for line in own_lines(chapter) if line in pages[chapter]] == []
