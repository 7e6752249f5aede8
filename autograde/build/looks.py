"""The style of a chapter: boxes around exercises and questions, machinery folded away.

An author writes headings and tags; the HTML works in JupyterLab, VS Code, pages and the site.
"""

import ast
import re
from collections.abc import Iterator

from nbformat.notebooknode import NotebookNode

# JupyterLab's own boxes, such as alert-info, have a pale text and background in its dark theme. On
# a weak tint the page's own text colour is readable in any theme.
BLUE = "0, 151, 167"
GREEN = "56, 142, 60"
TINT = {"exercise": BLUE, "prediction": GREEN, "question": BLUE}
# The text below these headings is put in a box, and so is a quiz's question with its options.
BOX_BY_HEADING = {
    "### Exercise: ": "exercise",
    "### Commit first": "prediction",
    "### In your own words": "question",
}
QUIZ = re.compile(r"\*\*Question \d+\.\*\* ")
HEADING = re.compile(r"#{1,6} ")
SOURCES = "## Sources"
_NEXT = "**Next.**"
FENCE = re.compile(r"```|~~~")
DOUBT = (
    "<details><summary>Before you go on: which sentence do you still doubt?</summary>\n\n"
    "Write it into a cell of your own, with the number that would settle it and where you would "
    "get that number: from a cell here, another chapter or a source. Nobody grades this.\n\n"
    "</details>"
)
# JupyterLab scrolls to the end of a chapter after "Run All Cells", wherever that has stopped.
STOPPED = (
    "<details><summary>Has 'Run All Cells' brought you here?</summary>\n\n"
    "It has stopped further up, at the first answer that is not written yet.\n\n</details>"
)
# JupyterLab leaves no space below a fold and below code; an empty paragraph works everywhere.
_SPACER = "<p></p>"
# JupyterLab and VS Code read the first, Colab the second.
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}


def apply_style(cell: NotebookNode) -> None:
    """Style a cell of a source notebook, in place: graded text is unchanged."""
    graded = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "markdown" and not graded:
        cell.source = _spaced("\n\n".join(map(_style_section, _sections(cell.source))))
    elif graded.get("grade") and cell.cell_type == "code":
        cell.source = f"{check_line(graded)}\n{cell.source}"
    elif cell.cell_type == "code" and not graded and is_machinery(cell):
        cell.metadata.update(FOLDED)


def check_line(graded: NotebookNode) -> str:
    """The comment at the beginning of a check cell."""
    points = graded.points
    worth = "1 point" if points == 1 else f"{points:g} points"
    return f"# Check of {graded.grade_id.removeprefix('test_')}, {worth}: run this cell."


def is_machinery(cell: NotebookNode) -> bool:
    """Whether a cell only imports, or only calls functions that draw or reveal.

    A cell with the tag `shown` is not machinery.
    """
    tags = cell.metadata.get("tags", [])
    if "shown" in tags:
        return False
    statements = [type(statement) for statement in ast.parse(cell.source).body]
    rest = {kind for kind in statements if kind not in (ast.Import, ast.ImportFrom)}
    only_calls = "demo" in tags and rest == {ast.Expr}
    return bool(statements) and (not rest or only_calls)


def _sections(source: str) -> Iterator[str]:
    """The parts of a text that begin with a heading or with a quiz's question."""
    part: list[str] = []
    fenced = False
    for line in source.split("\n"):
        fenced ^= bool(FENCE.match(line))
        if part and not fenced and (HEADING.match(line) or QUIZ.match(line)):
            yield "\n".join(part).strip("\n")
            part = []
        part.append(line)
    yield "\n".join(part).strip("\n")


def _style_section(section: str) -> str:
    """A section, in a box if its heading asks for one."""
    if QUIZ.match(section):
        return _box(section, "question")
    heading, _, text = section.partition("\n")
    if heading.startswith(SOURCES):
        return f"{heading}\n\n{_fold(text.strip())}"
    kinds = [kind for start, kind in BOX_BY_HEADING.items() if heading.startswith(start)]
    return f"{heading}\n\n{_box(text.strip(), kinds[0])}" if kinds and text.strip() else section


def _spaced(source: str) -> str:
    """`source` with a spacer below folds and below code, if more text follows."""
    lines: list[str] = []
    in_code = needs_spacer = False
    for line in source.split("\n"):
        if needs_spacer and line.strip():
            lines += [] if line.startswith("</") else [_SPACER, ""]
            needs_spacer = False
        is_fence = bool(FENCE.match(line))
        needs_spacer |= line == "</details>" or (is_fence and in_code)
        in_code ^= is_fence
        lines.append(line)
    return "\n".join(lines)


def _box(text: str, kind: str) -> str:
    # Between the blank lines the text is read as Markdown.
    tint = TINT[kind]
    style = f"background-color: rgba({tint}, 0.14); border-left: 4px solid rgb({tint})"
    return f'<div class="alert alert-block alert-{kind}" style="{style}">\n\n{text}\n\n</div>'


def _fold(text: str) -> str:
    """The sources folded, and the link to the next chapter open below them."""
    sources, label, link = text.partition(_NEXT)
    summary = "<summary>What this chapter rests on, and what each source supports</summary>"
    folded = f"<details>{summary}\n\n{sources.strip()}\n\n</details>"
    return f"{folded}\n\n{DOUBT}\n\n{(label + link).strip()}\n\n{STOPPED}"
