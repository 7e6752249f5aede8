"""How a chapter looks: boxes around what the reader is asked, machinery folded away.

An author writes headings and tags, and the builder makes of them what JupyterLab, VS Code, exported
pages and the site show. Where nothing of it is known the text stays plain text.
"""

import ast
import re
from collections.abc import Iterator

from nbformat.notebooknode import NotebookNode

# JupyterLab's own boxes, alert-info and the like, are pale in its dark theme too, and so is their
# text. On a little tint the page's own colour can be read in any theme.
BLUE, GREEN = "0, 151, 167", "56, 142, 60"
TINT = {"exercise": BLUE, "prediction": GREEN, "question": BLUE}
# The text below these headings, and a quiz's question with its options, stand in a box.
BOXED = {
    "### Exercise: ": "exercise",
    "### Commit first": "prediction",
    "### In your own words": "question",
}
QUIZ = re.compile(r"\*\*Question \d+\.\*\* ")
HEADING = re.compile(r"#{1,6} ")
SOURCES, NEXT = "## Sources", "**Next.**"
FENCE = re.compile(r"```|~~~")
# JupyterLab shows the end of a chapter after "Run All Cells", wherever that has stopped.
STOPPED = (
    "<details><summary>Has 'Run All Cells' brought you here?</summary>\n\n"
    "It has stopped further up, at the first answer that is not written yet.\n\n</details>"
)
# JupyterLab leaves no room below a fold and below code; an empty paragraph is room everywhere.
ROOM = "<p></p>"
# JupyterLab and VS Code read the first, Colab the second.
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}


def dress(cell: NotebookNode) -> None:
    """Give a cell of a source notebook its looks; what is graded of it stays as it is."""
    graded = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "markdown" and not graded:
        cell.source = _spaced("\n\n".join(map(_dressed, _sections(cell.source))))
    elif graded.get("grade") and cell.cell_type == "code":
        cell.source = f"{check_line(graded)}\n{cell.source}"
    elif cell.cell_type == "code" and not graded and is_machinery(cell):
        cell.metadata.update(FOLDED)


def check_line(graded: NotebookNode) -> str:
    """The comment that a check begins with."""
    points = graded.points
    worth = "1 point" if points == 1 else f"{points:g} points"
    return f"# Check of {graded.grade_id.removeprefix('test_')}, {worth}: run this cell."


def is_machinery(cell: NotebookNode) -> bool:
    """Whether a cell only imports, or only calls what draws or reveals.

    A cell with the tag `shown` is none.
    """
    tags = cell.metadata.get("tags", [])
    if "shown" in tags:
        return False
    kinds = [type(statement) for statement in ast.parse(cell.source).body]
    rest = [kind for kind in kinds if kind not in (ast.Import, ast.ImportFrom)]
    return bool(kinds) and (not rest or ("demo" in tags and set(rest) == {ast.Expr}))


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


def _dressed(section: str) -> str:
    """A section with its box, if it is one that has one."""
    if QUIZ.match(section):
        return _box(section, "question")
    heading, _, text = section.partition("\n")
    if heading.startswith(SOURCES):
        return f"{heading}\n\n{_fold(text.strip())}"
    kinds = [kind for start, kind in BOXED.items() if heading.startswith(start)]
    return f"{heading}\n\n{_box(text.strip(), kinds[0])}" if kinds and text.strip() else section


def _spaced(source: str) -> str:
    """`source` with room below what is folded and below code, if more text follows."""
    lines: list[str] = []
    fenced = low = False  # inside a block of code; below an end that needs room
    for line in source.split("\n"):
        if low and line.strip():
            lines += [] if line.startswith("</") else [ROOM, ""]
            low = False
        fence = bool(FENCE.match(line))
        low |= line == "</details>" or (fence and fenced)
        fenced ^= fence
        lines.append(line)
    return "\n".join(lines)


def _box(text: str, kind: str) -> str:
    # The blank lines have what is inside read as Markdown.
    tint = TINT[kind]
    style = f"background-color: rgba({tint}, 0.14); border-left: 4px solid rgb({tint})"
    return f'<div class="alert alert-block alert-{kind}" style="{style}">\n\n{text}\n\n</div>'


def _fold(text: str) -> str:
    """The sources folded, and the way to the next chapter open below them."""
    sources, sign, way = text.partition(NEXT)
    summary = "<summary>What this chapter rests on, and what each source supports</summary>"
    folded = f"<details>{summary}\n\n{sources.strip()}\n\n</details>"
    return f"{folded}\n\n{(sign + way).strip()}\n\n{STOPPED}"
