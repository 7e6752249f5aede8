"""Whatever was handed in becomes the release notebook with the student's answers in it.

One odd cell stops nbgrader for a whole class, so nothing of a submission's structure or metadata
survives: answers are moved into a fresh copy of the release, and everything else is dropped.
"""

import copy
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograde import bounds
from autograde.chapter import Chapter
from autograde.files import Trap, read_untrusted

MAX_BYTES = 20 * 2**20
MAX_CELLS = 2000  # a release has about 60
MAX_LISTS = 500_000  # lists and objects in the file: Python needs up to 200 bytes for each


class Refused(Exception):
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


def take_in(root: Path, path: Path, chapter: str) -> Submission:
    """The submission at `path`, a path relative to the folder `root` of submissions."""
    release = release_of(chapter)
    try:
        return Submission(rebuild(parse(read_submitted(root, path)), release))
    except Refused as refusal:
        return Submission(_blank(release, str(refusal)), str(refusal))


def read_submitted(root: Path, path: Path) -> bytes:
    """The bytes of a student's file, opened as `files.read_untrusted` does. Raises Refused."""
    try:
        return read_untrusted(root, path, MAX_BYTES)
    except Trap as trap:
        raise Refused(f"{trap}; hand in the notebook file itself, its outputs cleared") from None


def parse(data: bytes) -> NotebookNode:
    """The cells of the notebook in `data`, as `_plain_cell` keeps them. Raises Refused."""
    if data.count(b"[") + data.count(b"{") > MAX_LISTS:
        raise Refused(
            f"the file holds more than {MAX_LISTS:,} lists and objects; clear the outputs and save"
        )
    try:
        plain = json.loads(data)
        return nbformat.from_dict({"cells": [_plain_cell(cell) for cell in _cells_of(plain)]})
    except Refused:
        raise
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise Refused("the file is not valid JSON; is it empty or cut off?") from None
    except Exception as error:  # a student's file may hold anything
        raise Refused(f"the file is not a notebook that can be read ({error})") from None


def _cells_of(plain: object) -> list:
    """The cells of a notebook in format 4. Raises Refused.

    Nothing but cells is looked at: nbformat would copy and validate all the rest.
    """
    if not isinstance(plain, dict) or plain.get("nbformat") != 4:
        raise Refused(
            "the file is not in notebook format 4; save it in JupyterLab, then hand it in"
        )
    if len(plain["cells"]) > MAX_CELLS:
        raise Refused(
            f"the file has {len(plain['cells']):,} cells, {MAX_CELLS:,} are allowed; "
            "remove the cells that are not needed"
        )
    return [cell for cell in plain["cells"] if isinstance(cell, dict)]


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
    """The release with the answers of `submitted` in it, and the student's own cells in place.

    An answer is found by grade_id, then by cell id; of several copies the first that is not the
    stub counts. What is too long is cut, other cells before the answers. Raises Refused if no
    answer cell of the release is there.
    """
    names = _names(release)
    homes = [names.get(cell.grade_id) or names.get(cell.id) for cell in submitted.cells]
    answers = _choose(submitted, homes, release)
    graded = {id(answers[c.id]) for c in release.cells if is_answer(c) and c.id in answers}
    if not graded:
        raise Refused("none of this chapter's answer cells is in it; is it another chapter?")
    bounds.share_out(sorted(submitted.cells, key=lambda cell: id(cell) not in graded))
    extras = _extras(submitted, homes, answers)
    notebook = copy.deepcopy(release)
    cells = []
    for cell in notebook.cells:
        cells += [*extras.get(cell.id, []), _filled(cell, answers)]
    notebook.cells = cells + extras[None]
    return notebook


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
    """From every name of a cell, its grade_id or its id, to its id in the release."""
    names = {cell.id: cell.id for cell in release.cells}
    for cell in release.cells:
        if "nbgrader" in cell.metadata:
            names[cell.metadata.nbgrader.grade_id] = cell.id
    return names


def _choose(submitted: NotebookNode, homes: list, release: NotebookNode) -> dict[str, NotebookNode]:
    """For each cell of the release that is there, the submitted cell to take its text from."""
    stubs = {cell.id: cell.source.strip() for cell in release.cells}
    kinds = {cell.id: cell.cell_type for cell in release.cells}
    chosen: dict[str, NotebookNode] = {}
    for cell, home in zip(submitted.cells, homes, strict=True):
        if home is None or cell.kind != kinds[home]:
            continue
        if home not in chosen or chosen[home].source.strip() == stubs[home]:
            chosen[home] = cell
    return chosen


def _extras(submitted: NotebookNode, homes: list, answers: dict) -> dict[str | None, list]:
    """The student's own cells, by the id of the known cell that follows them (None: the end)."""
    extras: dict[str | None, list] = {}
    waiting: list[NotebookNode] = []
    for number, (cell, home) in enumerate(zip(submitted.cells, homes, strict=True)):
        if home is not None and answers.get(home) is cell:
            extras[home] = extras.get(home, []) + waiting
            waiting = []
        elif home not in answers or cell.source.strip() != answers[home].source.strip():
            waiting.append(_extra(cell, f"extra-{number}", home))
    extras[None] = waiting
    return extras


def _extra(cell: NotebookNode, name: str, home: str | None) -> NotebookNode:
    """A cell of the student's own: code stays code, all else becomes text that cannot run."""
    if cell.kind == "code" and home is None:
        return nbformat.v4.new_code_cell(cell.source, id=name)
    extra = nbformat.v4.new_markdown_cell(inert(cell.source), id=name)
    if home is not None:
        body = "\n".join("    " + line for line in extra.source.splitlines())
        lead = f"Another copy of `{home}` was in the submission; it was not graded"
        extra.source = bounds.cut("markdown", f"{lead}:\n\n{body}")
    return extra


def _filled(cell: NotebookNode, answers: dict[str, NotebookNode]) -> NotebookNode:
    """A cell of the release with the student's text, if the student may write in it."""
    locked = cell.metadata.get("nbgrader", {}).get("locked", False)
    answer = answers.get(cell.id)
    if answer is None or locked or is_demo(cell):
        return cell
    if cell.cell_type == "code":
        cell.source = answer.source
    elif is_answer(cell):
        cell.source = inert(answer.source)
    return cell


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
