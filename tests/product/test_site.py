"""The site: no answer on it, every link and picture there, formulas drawn, the lecture's slides."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from pages.browsing import Visitor
from pages.site_pages import built_site

from autograde.build.source import read_chapter
from autograde.course import NOTEBOOKS, ROOT, SOLUTIONS, AuthorError, chapter_names
from autograde.nbgrader.regions import solution_view
from autograde.tools.lecture import slides_page
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
    head, _, objectives = made.cells[0].source.partition("**After this chapter you can**\n\n")
    assert head and objectives.split("\n\n")[0].count("- ") in (2, 3)
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
def slides(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The lecture, with a stand-in for every figure; it is not made if a cell is not found."""
    folder = tmp_path_factory.mktemp("lecture")
    notebooks = {chapter: executed(chapter, folder) for chapter in chapter_names()[:4]}
    return slides_page((ROOT / "docs" / "slides.html").read_text(encoding="utf-8"), notebooks)


def test_a_slide_has_a_sentence_a_figure_notes_and_numbers_of_its_chapter(slides: str):
    made = BeautifulSoup(slides, "html.parser").find_all("section")
    assert len(made) == 16
    for slide in made:
        (title,), (figure,), (_,) = map(slide.find_all, ("h2", "figure", "details"))
        assert re.fullmatch(r"[A-Z].*\w\.", title.text) and len(title.text.split()) > 5, title
        assert "seen in" in figure.text or figure.find("table")
        chapter, lessons = figure["data-chapter"], ROOT / "specdec_lib" / "lessons"
        sources = SOLUTIONS / f"{chapter}.py", lessons / f"ch{chapter[:2]}" / "predictions.toml"
        known = "".join(path.read_text(encoding="utf-8") for path in sources)
        said = re.findall(r"\d[\d.,]*\d(?! min)", slide.get_text(" "))
        assert [number for number in said if number not in known] == [], title


@pytest.mark.browser
def test_arrow_keys_turn_the_slides_which_ask_no_other_machine(
    slides: str, tmp_path: Path, browser: Any
):
    assert re.findall(r'(?:href|src)="(?:\w+:|//)[^"]*', slides) == []
    (tmp_path / "_static").symlink_to(ROOT / "docs" / "_static")
    (tmp_path / "slides.html").write_text(slides, encoding="utf-8")
    with Visitor(browser).visit(tmp_path / "slides.html") as visitor:
        visitor.page.get_by_role("button", name="Open all notes").click()
        assert visitor.page.locator("details[open]").count() == 16
        for key in ("ArrowRight", "PageDown", "ArrowLeft"):
            visitor.page.keyboard.press(key)
        assert "Writing five tokens" in visitor.page.locator("section:focus").inner_text()


def test_a_figure_without_its_cell_or_with_many_is_named(tmp_path: Path):
    notebooks = {"00_bottleneck": executed("00_bottleneck", tmp_path)}
    for cell, count in (("figures.gone(", "0"), ("import ", "[2-9]")):
        page = f'<section><figure data-chapter="00_bottleneck" data-cell="{cell}"/></section>'
        fault = f"slide 1: .*{re.escape(cell)}.* {count} cells of 00_bottleneck"
        with pytest.raises(AuthorError, match=fault):
            slides_page(page, notebooks)
        with pytest.raises(AuthorError, match="slide 1: .*00_bottleneck.*the chapters are 09"):
            slides_page(page, {"09": tmp_path})


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
