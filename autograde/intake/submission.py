"""Whatever was handed in becomes the release notebook with the student's answers in it.

One odd cell stops nbgrader for a whole class, so nothing of a submission's metadata survives: the
texts of the student's cells, in their order, are moved into a fresh copy of the release.
"""

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde.course import Chapter
from autograde.intake import bounds
from autograde.intake.binding import bound_names
from autograde.intake.files import UnsafePath, read_untrusted

MAX_BYTES = 20 * 2**20
MAX_CELLS = 2000  # a release has about 60
MAX_LISTS = 500_000  # lists and objects in the file: Python needs up to 200 bytes for each

# Stands where a stub would, if a cell of the student's own binds the name.
ELSEWHERE = "# {name} is defined in another cell of this notebook, and graded as it is there."


class InvalidSubmission(Exception):
    """A submission that cannot be read; the text says why, for student and instructor."""


@dataclass(frozen=True)
class Submission:
    """The rebuilt notebook; if it is only the blank release, `reason` says why."""

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
    """The submission at `path`, a path relative to the folder `root` of submissions."""
    release = release_of(chapter)
    try:
        return Submission(rebuild(parse(read_submitted(root, path)), release))
    except InvalidSubmission as refusal:
        return Submission(_blank(release, str(refusal)), str(refusal))


def read_submitted(root: Path, path: Path) -> bytes:
    """The bytes of a student's file, read by `read_untrusted`. Raises InvalidSubmission."""
    try:
        return read_untrusted(root, path, MAX_BYTES)
    except UnsafePath as unsafe:
        raise InvalidSubmission(
            f"{unsafe}; hand in the notebook file itself, its outputs cleared"
        ) from None


def parse(data: bytes) -> NotebookNode:
    """The cells of the notebook in `data`, as `_plain_cell`s. Raises InvalidSubmission."""
    if data.count(b"[") + data.count(b"{") > MAX_LISTS:
        raise InvalidSubmission(
            f"the file holds more than {MAX_LISTS:,} lists and objects; clear the outputs and save"
        )
    try:
        plain = json.loads(data)
        return nbformat.from_dict({"cells": [_plain_cell(cell) for cell in _cells_of(plain)]})
    except InvalidSubmission:
        raise
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise InvalidSubmission("the file is not valid JSON; is it empty or cut off?") from None
    except Exception as error:  # a student's file may hold anything
        raise InvalidSubmission(f"the file is not a notebook that can be read ({error})") from None


def _cells_of(plain: object) -> list:
    """The cells of a notebook in format 4. Raises InvalidSubmission.

    Nothing but cells is looked at: nbformat would copy and validate all the rest.
    """
    if not isinstance(plain, dict) or plain.get("nbformat") != 4:
        raise InvalidSubmission(
            "the file is not in notebook format 4; save it in JupyterLab, then hand it in"
        )
    cells = plain.get("cells")
    if not isinstance(cells, list):
        raise InvalidSubmission(
            "the file has no list of cells; save it in JupyterLab, then hand it in"
        )
    if len(cells) > MAX_CELLS:
        raise InvalidSubmission(
            f"the file has {len(cells):,} cells, {MAX_CELLS:,} are allowed; "
            "remove the cells that are not needed"
        )
    return [cell for cell in cells if isinstance(cell, dict)]


def _plain_cell(cell: dict) -> dict:
    """What is kept of a submitted cell: its kind, names and text, each of a sane type."""
    return {
        "kind": str(cell.get("cell_type")),
        "id": str(cell.get("id")),
        "grade_id": _grade_id(cell),
        "source": _text_of(cell),
    }


def _text_of(cell: dict) -> str:
    """A cell's text, which a file may hold line by line; whatever is no text is dropped."""
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

    A cell is the release's own, or a copy of it, by its grade_id, its id or its code. Of several
    copies one stands in its place (`_merit`); the others run where they are, as cells of the
    student's own do. What is missing is put back below the cell above it. A stub that the student's
    code makes needless is left out, wherever that code stands. What is too long is cut, answers
    last. Raises InvalidSubmission if the notebook answers nothing of the chapter.
    """
    cells = submitted.cells
    _read(cells, release)
    bound = {name for cell in cells if cell.kind == "code" for name in cell.binds}
    standing = _standing(cells, release, bound)
    foreign = any(cell.grade_id and cell.home is None for cell in cells)
    answered = any(is_answer(cell) and cell.id in standing for cell in release.cells)
    if not answered and (foreign or not bound):
        raise InvalidSubmission(
            "none of this chapter's answer cells is in it; is it another chapter?"
        )
    notebook = nbformat.from_dict({**release, "cells": []})
    notebook.cells = _laid_out(cells, release, standing, bound)
    return notebook


def _laid_out(cells: list, release: NotebookNode, standing: dict, bound: set[str]) -> list:
    """The cells of the rebuilt notebook. Of what is not the student's, no copy is kept."""
    ours, laid = {cell.id: cell for cell in release.cells}, []
    for cell in cells:
        if standing.get(cell.home) is cell:
            laid.append(_filled(ours[cell.home], cell, bound))
        elif cell.written or _is_given(ours[cell.home]):
            laid.append(_extra(cell))
    for above, cell in pairwise([None, *release.cells]):
        if cell.id not in standing:
            place = [each.id for each in laid].index(above.id) + 1 if above else 0
            laid.insert(place, _filled(cell, None, bound))
    return laid


def is_answer(cell: NotebookNode) -> bool:
    """Whether this cell of the release is one that the student answers in, for marks."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def is_ours(cell: NotebookNode) -> bool:
    """Whether nothing in this cell of a rebuilt notebook is the student's."""
    return not is_answer(cell) and not cell.id.startswith(("extra-", "intake-"))


def is_demo(cell: NotebookNode) -> bool:
    """Whether the cell only measures, draws or trains, so that grading leaves it out."""
    return "demo" in cell.metadata.get("tags", [])


def _names(release: NotebookNode) -> dict[str, str]:
    """From all that a cell is known by, its id, its grade_id or its code, to its id."""
    names = {cell.id: cell.id for cell in release.cells}
    for cell in release.cells:
        if cell.cell_type == "code":
            names[cell.source.strip()] = cell.id
        if "nbgrader" in cell.metadata:
            names[cell.metadata.nbgrader.grade_id] = cell.id
    return names


def _read(cells: list[NotebookNode], release: NotebookNode) -> None:
    """Note in each submitted cell what it is, and cut what is too long.

    `home` is the id of the release's cell that it is or was copied from, or None; `written` whether
    its text is another; `binds` holds the answers in code that its text defines.
    """
    names, texts = _names(release), {cell.id: cell.source.strip() for cell in release.cells}
    answers = {cell.id for cell in release.cells if is_answer(cell)}
    coded = {cell.id for cell in release.cells if is_answer(cell) and cell.cell_type == "code"}
    for number, cell in enumerate(cells):
        code = cell.source.strip() if cell.kind == "code" else None
        cell.number = number
        cell.home = names.get(cell.grade_id) or names.get(cell.id) or names.get(code)
        cell.written = cell.source.strip() != texts.get(cell.home)
    bounds.truncate_cells(sorted(cells, key=lambda cell: _rank(cell, answers)))
    for cell in cells:  # only now: all texts together are short
        cell.binds = coded & bound_names(cell.source) if cell.written else set()


def _rank(cell: NotebookNode, answers: set[str]) -> tuple[int, int]:
    """Where a cell stands when texts are cut: the last copies of answers are kept first."""
    if cell.home in answers:
        return 0, -cell.number
    return 1 if any(name in cell.source for name in answers) else 2, cell.number


def _standing(cells: list, release: NotebookNode, bound: set[str]) -> dict[str, NotebookNode]:
    """The submitted cell that stands in the place of each cell of the release, where one does.

    An answer that became text is turned back, unless code binds its name. A cell of ours with an
    answer written into it is the student's own.
    """
    standing, copies_of = {}, {}
    for each in cells:
        copies_of.setdefault(each.home, []).append(each)
    for cell in release.cells:
        free = is_answer(cell) or _is_given(cell)
        copies = [each for each in copies_of.get(cell.id, []) if free or not each.binds]
        if cell.id in bound:
            copies = [each for each in copies if each.kind == "code"]
        if copies:
            standing[cell.id] = max(copies, key=lambda each, cell=cell: _merit(each, cell))
    return standing


def _merit(copied: NotebookNode, cell: NotebookNode) -> tuple:
    """Of the copies of a release's cell, the one of the greatest merit stands in its place.

    That is the last one that answers, which in code is to bind the name. Else one that tries to,
    the stub, or any.
    """
    tries = is_answer(cell) and copied.written
    answers = tries and (cell.cell_type == "markdown" or cell.id in copied.binds)
    tries = tries and cell.id in copied.source
    return answers, copied.kind == cell.cell_type, tries, not copied.written, copied.number


def _is_given(cell: NotebookNode) -> bool:
    """Whether a cell of the release is code for the student to run, and to change."""
    return cell.cell_type == "code" and "nbgrader" not in cell.metadata and not is_demo(cell)


def _filled(cell: NotebookNode, taken: NotebookNode | None, bound: set[str]) -> NotebookNode:
    """A copy of a release's cell, with the text of `taken` if the student may write in it."""
    cell = copy.deepcopy(cell)
    if taken is not None and taken.written:
        if cell.cell_type == "markdown" and is_answer(cell):
            cell.source = inert(taken.source)
        elif is_answer(cell) or (_is_given(cell) and taken.kind == "code"):
            cell.source = taken.source
    elif cell.id in bound:
        cell.source = ELSEWHERE.format(name=cell.id)
    return cell


def _extra(cell: NotebookNode) -> NotebookNode:
    """A cell of the student's own: code stays code, all else becomes text that cannot run."""
    name = f"extra-{cell.number}"
    if cell.kind == "code":
        return nbformat.v4.new_code_cell(cell.source, id=name)
    return nbformat.v4.new_markdown_cell(inert(cell.source), id=name)


def _blank(release: NotebookNode, reason: str) -> NotebookNode:
    notebook = copy.deepcopy(release)
    text = f"**This submission could not be read, so the blank notebook stands here.** {reason}"
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(inert(text), id="intake-note"))
    return notebook


# U+2060 WORD JOINER has no width and means nothing to Markdown, HTML and TeX. Put into a construct
# it ends it, and the text looks as it was written, inside of code too.
JOINER = "\u2060"

_LIVE = re.compile(
    r"<(?=[A-Za-z/!?])"  # only these make a tag of what follows (HTML standard, 13.2.5.6)
    r"|\](?=[(:])"  # makes a link, a picture or the address of one
    r"|\\(?=(?:href|cssId|class|style|require|mmlToken|bbox)(?![A-Za-z]))"  # MathJax's ways in
    r"|&(?=#|bsol;|dollar;)"  # names of characters, which the browser puts in before MathJax reads
)


def inert(markdown: str) -> str:
    """A student's Markdown with nothing that acts.

    nbgrader's pages make HTML of it as it stands: tags, links to `javascript:` and pictures from
    anywhere would be live in the browser of whoever marks, who is logged in to Jupyter there.
    """
    return _LIVE.sub(lambda match: match[0] + JOINER, markdown)
