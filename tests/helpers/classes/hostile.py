"""Text that tries to run in the browser of whoever looks at it, in every place that students fill.

A payload that runs calls `hits.push(NUMBER)`, one that loads something asks for `ELSEWHERE/NUMBER`;
the number stands for the place and the payload.
"""

import json

import nbformat
from classes.submitting import cell_of, right
from data_files import table
from nbformat import NotebookNode

ELSEWHERE = "http://127.0.0.1:9/hit"  # a port where nothing listens: to ask is enough

PAYLOADS = table("attacks/payloads.toml")
PLACES = table("attacks/places.toml")


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


def put_cells(notebook: NotebookNode, place: str, cells: str) -> None:
    """Each payload in a cell of that kind at the end."""
    new_cell = getattr(nbformat.v4, f"new_{cells}_cell")
    notebook.cells.extend(map(new_cell, payloads_of(place).values()))


def put_source(notebook: NotebookNode, place: str, source: str, name: str = "") -> None:
    """All payloads in an answer, or in a new cell of code."""
    if not name:
        notebook.cells.append(nbformat.v4.new_code_cell())
    cell = cell_of(notebook, name) if name else notebook.cells[-1]
    text = all_payloads(place)
    cell.source = source.format(text=text, literal=repr(text), before=cell.source)


def hostile_notebook() -> NotebookNode:
    """A notebook with every payload in every place."""
    hostile = right()
    for place, row in PLACES.items():
        if row:
            put = put_cells if "cells" in row else put_source
            put(hostile, place, **row)
    return hostile


def unreadable_file() -> str:
    """A file that cannot be read, the reason of which quotes it."""
    return json.dumps({"nbformat": all_payloads("file that cannot be read"), "cells": []})


def file_names(place: str) -> list[str]:
    """The payloads that can be the name of a file or a folder."""
    return [name for name in payloads_of(place).values() if "/" not in name]
