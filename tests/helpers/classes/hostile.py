"""Text that tries to run in the browser of whoever looks at it, in every place that students fill.

A payload that runs calls `hits.push(NUMBER)`, one that loads something asks for `ELSEWHERE/NUMBER`;
the number stands for the place and the payload.
"""

import json
from collections.abc import Callable

import nbformat
from classes.submitting import WRITTEN, cell_of, right
from data_files import table
from nbformat import NotebookNode

ELSEWHERE = "http://127.0.0.1:9/hit"  # a port where nothing listens: to ask is enough

PAYLOADS = table("attacks/payloads.toml")


def number_of(place: str, payload: str) -> int:
    """The number of a hit."""
    return 100 * (1 + list(PLACES).index(place)) + list(PAYLOADS).index(payload)


def name_of(number: int) -> str:
    """The place and the payload of a hit."""
    return f"{list(PLACES)[number // 100 - 1]}: {list(PAYLOADS)[number % 100]}"


def payloads_of(place: str) -> dict[str, str]:
    """Every payload, with the numbers of `place`."""
    texts = {}
    for name, text in PAYLOADS.items():
        number = number_of(place, name)
        texts[name] = text.format(run=f"hits.push({number})", url=f"{ELSEWHERE}/{number}", n=number)
    return texts


def all_payloads(place: str) -> str:
    """All of them in one text."""
    return "\n\n".join(payloads_of(place).values())


def payload_cells(kind: str) -> Callable[[NotebookNode, str], None]:
    """Each payload in a cell of that kind at the end."""

    def put(notebook: NotebookNode, place: str) -> None:
        cells = map(getattr(nbformat.v4, f"new_{kind}_cell"), payloads_of(place).values())
        notebook.cells.extend(cells)

    return put


def payloads_in(source: str, name: str | None = None) -> Callable[[NotebookNode, str], None]:
    """All payloads in an answer, or in a new cell of code.

    In `source`, {text} is their text, {literal} a Python literal, and {before} what stood there.
    """

    def put(notebook: NotebookNode, place: str) -> None:
        if name is None:
            notebook.cells.append(nbformat.v4.new_code_cell())
        cell = cell_of(notebook, name) if name else notebook.cells[-1]
        text = all_payloads(place)
        cell.source = source.format(text=text, literal=repr(text), before=cell.source)

    return put


RETURNED = "def speculative_accept(draft_tokens, p, q, r):\n    return [{literal}]"
RAISED = "    raise type({literal}, (Exception,), {{}})({literal})"
WARNED = "    import warnings\n    warnings.warn({literal})\n    return 1.0"


PLACES: dict[str, Callable[[NotebookNode, str], None]] = {
    "own text": payload_cells("markdown"),
    "own raw cell": payload_cells("raw"),
    "own code cell": payload_cells("code"),
    "written answer": payloads_in("{text}", WRITTEN),
    "stdout": payloads_in("print({literal})"),
    "error of a cell": payloads_in("raise type({literal}, (Exception,), {{}})({literal})"),
    "value returned": payloads_in(RETURNED, "speculative_accept"),
    "error of a function": payloads_in(
        f"def residual_distribution(p, q):\n{RAISED}", "residual_distribution"
    ),
    "code of an answer": payloads_in("{before}\nr'''{text}'''", "residual_distribution"),
    "warning of a function": payloads_in(
        f"def acceptance_probability(p, q, token):\n{WARNED}", "acceptance_probability"
    ),
    "error that keeps an answer out": payloads_in(
        "raise ValueError({literal})", "speculative_step"
    ),
    "quiz answer": payloads_in("quiz_02 = {literal}", "quiz_02"),
    "prediction": payloads_in("prediction_02 = {literal}", "prediction_02"),
    "name of a file": lambda notebook, place: None,  # these three stand beside the notebook
    "name of the student": lambda notebook, place: None,
    "file that cannot be read": lambda notebook, place: None,
}


def hostile_notebook() -> NotebookNode:
    """A notebook with every payload in every place."""
    hostile = right()
    for place, put in PLACES.items():
        put(hostile, place)
    return hostile


def unreadable_file() -> str:
    """A file that cannot be read, the reason of which quotes it."""
    return json.dumps({"nbformat": all_payloads("file that cannot be read"), "cells": []})


def file_names(place: str) -> list[str]:
    """The payloads that can be the name of a file or a folder."""
    return [name for name in payloads_of(place).values() if "/" not in name]
