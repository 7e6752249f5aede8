"""Sanitise a submission: rebuild the release notebook with the student's answers in it.

One malformed cell stops nbgrader for a whole class, so nothing of a submission's metadata is used:
the texts of the student's cells, in their order, are moved into a fresh copy of the release.
"""

import copy
import json
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.course import Chapter
from autograde.intake import bounds
from autograde.intake.files import NothingThere, UnsafePath, read_untrusted

MAX_BYTES = 20 * 2**20
MAX_CELLS = 2000  # a release has fewer than 100
MAX_LISTS = 500_000  # lists and objects in the file: Python needs up to 200 bytes for each
GRADERS_IDS = ("extra-", "intake-", "course-")  # beginnings of the ids of cells that are added

# The text of an answer cell whose name a cell of the student's own binds.
DEFINED_ELSEWHERE = (
    "# {name} is defined in another cell of this notebook, and graded as it is there."
)


class Unreadable(Exception):
    """A submission that cannot be read; the text says why, for student and instructor."""


@dataclass(frozen=True)
class Submission:
    """The rebuilt notebook. If it is the blank release, `reason` says why."""

    notebook: NotebookNode
    reason: str | None = None


@cache
def release_of(chapter: str) -> NotebookNode:
    """The student release of a chapter. Raises FileNotFoundError if there is none."""
    return nbformat.read(Chapter(chapter).release, as_version=4)


@cache
def solution_of(chapter: str) -> NotebookNode:
    """The instructor's notebook of a chapter. Raises FileNotFoundError if there is none."""
    return nbformat.read(Chapter(chapter).solution, as_version=4)


def sanitise(root: Path, path: Path, chapter: str) -> Submission:
    """The sanitised submission at `path`, relative to the folder `root` of submissions."""
    release = release_of(chapter)
    try:
        return Submission(rebuild(parse(read_submitted(root, path)), release))
    except Unreadable as error:
        return Submission(_blank_with_reason(release, str(error)), str(error))


def read_submitted(root: Path, path: Path) -> bytes:
    """The bytes of a student's file, read by `read_untrusted`. Raises Unreadable."""
    try:
        return read_untrusted(root, path, MAX_BYTES)
    except NothingThere:
        raise Unreadable(f"nothing was handed in under the name {path.name}") from None
    except UnsafePath as error:
        raise Unreadable(
            f"{error}; hand in the notebook file itself, its outputs cleared"
        ) from None


def parse(data: bytes) -> NotebookNode:
    """The cells of the notebook in `data`, as `_plain_cell`s. Raises Unreadable."""
    if data.count(b"[") + data.count(b"{") > MAX_LISTS:
        raise Unreadable(
            f"the file holds more than {MAX_LISTS:,} lists and objects; clear the outputs and save"
        )
    try:
        plain = json.loads(data)
        return nbformat.from_dict({"cells": [_plain_cell(cell) for cell in _cells_of(plain)]})
    except Unreadable:
        raise
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise Unreadable("the file is not valid JSON; is it empty or cut off?") from None
    except Exception as error:  # a student's file may hold anything
        raise Unreadable(f"the file is not a notebook that can be read ({error})") from None


def _cells_of(plain: object) -> list:
    """The cells of a notebook in format 4, unvalidated. Raises Unreadable."""
    if not isinstance(plain, dict) or plain.get("nbformat") != 4:
        raise Unreadable(
            "the file is not in notebook format 4; save it in JupyterLab, then hand it in"
        )
    cells = plain.get("cells")
    if not isinstance(cells, list):
        raise Unreadable("the file has no list of cells; save it in JupyterLab, then hand it in")
    if len(cells) > MAX_CELLS:
        raise Unreadable(
            f"the file has {len(cells):,} cells, {MAX_CELLS:,} are allowed; "
            "remove the cells that are not needed"
        )
    return [cell for cell in cells if isinstance(cell, dict)]


def _plain_cell(cell: dict) -> dict:
    """The kind, names and text of a submitted cell, each of a valid type."""
    return {
        "kind": str(cell.get("cell_type")),
        "id": str(cell.get("id")),
        "grade_id": _grade_id(cell),
        "source": _text_of(cell),
    }


def _text_of(cell: dict) -> str:
    """A cell's text, which a file may hold line by line; everything but text is dropped."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.encode("utf-8", "replace").decode()


def _grade_id(cell: dict) -> str | None:
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return grade_id if isinstance(grade_id, str) else None


def rebuild(submitted: NotebookNode, release: NotebookNode) -> NotebookNode:
    """The release with the student's cells in it, in the student's order, as Jupyter runs them.

    A submitted cell is matched to a release cell by its grade_id, its id or its code. If several
    are matched to one, the best takes its place (`_priority`); the others run where they are, like
    the student's own cells. A missing cell is put back below the cell above it. A stub is left out
    if the student's code defines its name elsewhere. Long texts are truncated, answers last.
    Raises Unreadable if the notebook answers nothing of the chapter.
    """
    cells = submitted.cells
    _annotate(cells, release)
    defined = {name for cell in cells if cell.kind == "code" for name in cell.defined_answers}
    matches = _best_matches(cells, release, defined)
    foreign = any(cell.grade_id and cell.release_id is None for cell in cells)
    answered = any(is_answer(cell) and cell.id in matches for cell in release.cells)
    if not answered and (foreign or not defined):
        raise Unreadable("none of this chapter's answer cells is in it; is it another chapter?")
    notebook = nbformat.from_dict({**release, "cells": []})
    notebook.cells = _assemble(cells, release, matches, defined)
    return notebook


def _assemble(cells: list, release: NotebookNode, matches: dict, defined: set[str]) -> list:
    """The cells of the rebuilt notebook, without second copies of unedited release cells."""
    release_cells = {cell.id: cell for cell in release.cells}
    rebuilt: list[NotebookNode] = []
    for cell in cells:
        if matches.get(cell.release_id) is cell:
            rebuilt.append(_fill(release_cells[cell.release_id], cell, defined))
        elif cell.is_edited or _is_editable_code(release_cells[cell.release_id]):
            rebuilt.append(_extra_cell(cell))
    for above, cell in pairwise([None, *release.cells]):
        if cell.id not in matches:
            position = [c.id for c in rebuilt].index(above.id) + 1 if above else 0
            rebuilt.insert(position, _fill(cell, None, defined))
    return rebuilt


def is_answer(cell: NotebookNode) -> bool:
    """Whether this cell of the release is an answer cell, for marks."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def is_from_release(cell: NotebookNode) -> bool:
    """Whether this cell of a rebuilt notebook holds nothing of the student's."""
    return not is_answer(cell) and not cell.id.startswith(("extra-", "intake-"))


def is_demo(cell: NotebookNode) -> bool:
    """Whether the cell only measures, draws or trains: grading does not run it."""
    return "demo" in cell.metadata.get("tags", [])


def _release_ids(release: NotebookNode) -> dict[str, str]:
    """From every key of a cell, which is its id, its grade_id or its code, to its id."""
    ids = {cell.id: cell.id for cell in release.cells}
    for cell in release.cells:
        if cell.cell_type == "code":
            ids[cell.source.strip()] = cell.id
        if "nbgrader" in cell.metadata:
            ids[cell.metadata.nbgrader.grade_id] = cell.id
    return ids


def _annotate(cells: list[NotebookNode], release: NotebookNode) -> None:
    """Match each submitted cell to the release, in place, and truncate long texts.

    `release_id` is the id of the matching release cell, or None; `is_edited` says whether its text
    differs; `defined_answers` are the answers in code whose names its text binds.
    """
    ids = _release_ids(release)
    texts = {cell.id: cell.source.strip() for cell in release.cells}
    answers = {cell.id for cell in release.cells if is_answer(cell)}
    code_answers = {c.id for c in release.cells if is_answer(c) and c.cell_type == "code"}
    for position, cell in enumerate(cells):
        code = cell.source.strip() if cell.kind == "code" else None
        cell.position = position
        cell.release_id = ids.get(cell.grade_id) or ids.get(cell.id) or ids.get(code)
        cell.is_edited = cell.source.strip() != texts.get(cell.release_id)
    bounds.truncate_cells(sorted(cells, key=lambda cell: _truncation_order(cell, answers)))
    for cell in cells:  # only now: all texts together are short
        cell.defined_answers = code_answers & bound_names(cell.source) if cell.is_edited else set()


def _truncation_order(cell: NotebookNode, answers: set[str]) -> tuple[int, int]:
    """The sort key of a cell for truncation: the last copies of answers come first."""
    if cell.release_id in answers:
        return 0, -cell.position
    return 1 if any(name in cell.source for name in answers) else 2, cell.position


def _best_matches(cells: list, release: NotebookNode, defined: set[str]) -> dict[str, NotebookNode]:
    """The submitted cell that takes the place of each release cell, by id, if there is one.

    An answer that became text is turned back into code, unless code binds its name. A cell of the
    release with an answer written into it counts as the student's own.
    """
    matches: dict[str, NotebookNode] = {}
    candidates: dict[str | None, list[NotebookNode]] = {}
    for cell in cells:
        candidates.setdefault(cell.release_id, []).append(cell)
    for release_cell in release.cells:
        editable = is_answer(release_cell) or _is_editable_code(release_cell)
        copies = candidates.get(release_cell.id, [])
        copies = [cell for cell in copies if editable or not cell.defined_answers]
        if release_cell.id in defined:
            copies = [cell for cell in copies if cell.kind == "code"]
        if copies:
            matches[release_cell.id] = max(copies, key=partial(_priority, release_cell))
    return matches


def _priority(cell: NotebookNode, submitted: NotebookNode) -> tuple:
    """The sort key of a submitted copy of the release's `cell`: the greatest takes its place.

    That is the last copy that answers, in code by binding the name. Without one it is a copy that
    mentions the name, the stub, or any.
    """
    is_attempt = is_answer(cell) and submitted.is_edited
    answers = is_attempt and (cell.cell_type == "markdown" or cell.id in submitted.defined_answers)
    mentions_name = is_attempt and cell.id in submitted.source
    same_kind = submitted.kind == cell.cell_type
    return answers, same_kind, mentions_name, not submitted.is_edited, submitted.position


def _is_editable_code(cell: NotebookNode) -> bool:
    """Whether a cell of the release is code for the student to run, and to change."""
    return cell.cell_type == "code" and "nbgrader" not in cell.metadata and not is_demo(cell)


def _fill(cell: NotebookNode, submitted: NotebookNode | None, defined: set[str]) -> NotebookNode:
    """A copy of a release's cell, with the submitted text if the student may write there."""
    cell = copy.deepcopy(cell)
    if submitted is not None and submitted.is_edited:
        if cell.cell_type == "markdown" and is_answer(cell):
            cell.source = sanitise_markdown(submitted.source)
        elif is_answer(cell) or (_is_editable_code(cell) and submitted.kind == "code"):
            cell.source = submitted.source
    elif cell.id in defined:
        cell.source = DEFINED_ELSEWHERE.format(name=cell.id)
    return cell


def _extra_cell(cell: NotebookNode) -> NotebookNode:
    """A cell of the student's own: code stays code, all else becomes text that cannot run."""
    name = f"extra-{cell.position}"
    if cell.kind == "code":
        return nbformat.v4.new_code_cell(cell.source, id=name)
    return nbformat.v4.new_markdown_cell(sanitise_markdown(cell.source), id=name)


def _blank_with_reason(release: NotebookNode, reason: str) -> NotebookNode:
    notebook = copy.deepcopy(release)
    text = f"**This submission could not be read, so the blank notebook stands here.** {reason}"
    note = nbformat.v4.new_markdown_cell(sanitise_markdown(text), id="intake-note")
    notebook.cells.insert(0, note)
    return notebook


# U+2060 WORD JOINER has no width, and no meaning in Markdown, HTML and TeX. Inside a construct it
# ends that construct, and the text looks unchanged, in code too.
JOINER = "\u2060"

_ACTIVE_MARKUP = re.compile(
    r"<(?=[A-Za-z/!?])"  # only these begin a tag (HTML standard, 13.2.5.6)
    r"|\](?=[(:])"  # makes a link, a picture or the address of one
    r"|\\(?=(?:href|cssId|class|style|require|mmlToken|bbox)(?![A-Za-z]))"  # MathJax's commands
    r"|&(?=#|bsol;|dollar;)"  # character references, which the browser resolves before MathJax
)


def sanitise_markdown(markdown: str) -> str:
    """A student's Markdown without active markup.

    nbgrader's pages turn it into HTML unchanged: tags, links to `javascript:` and remote pictures
    would be active in the browser of the marker, who is logged in to Jupyter there.
    """
    return _ACTIVE_MARKUP.sub(lambda match: match[0] + JOINER, markdown)


_FILE = "<a submitted cell>"
warnings.filterwarnings("ignore", module=re.escape(_FILE))  # such as a student's "\d"

# IPython's syntax. Its own transformer needs minutes for 20,000 characters of `x=!a`, and this runs
# in the grader's process: so a line of IPython's binds only the names on the left of `=`.
_PROMPT = re.compile(r"^[ \t]*+(?:>>>|\.\.\.|In \[\d+\]:) ?", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?].*|[^#\n]*\?)[ \t]*$", re.MULTILINE)
_RIGHT_SIDE = re.compile(r"(?<==)[ \t]*+[%!].*$", re.MULTILINE)


def bound_names(source: str) -> set[str]:
    """The names that a cell binds in the notebook; none if it is not valid Python.

    They include a function's `global` names. `from module import *` binds nothing here.
    """
    for text in (source, _without_ipython(source)):
        try:
            return set(_names_bound_in(symtable.symtable(text, _FILE, "exec")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return set()


def _without_ipython(source: str) -> str:
    text = _PROMPT.sub("", textwrap.dedent(source))
    return _RIGHT_SIDE.sub(" None", _MAGIC.sub(r"\1pass", text))


def _names_bound_in(table: symtable.SymbolTable) -> Iterator[str]:
    """The notebook's names that a scope or a scope within it binds."""
    is_module = table.get_type() == "module"
    for symbol in table.get_symbols():
        binds = symbol.is_assigned() or symbol.is_imported()
        if binds and (is_module or symbol.is_declared_global()):
            yield symbol.get_name()
    for scope in table.get_children():
        yield from _names_bound_in(scope)
