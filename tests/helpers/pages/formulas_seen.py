"""TeX that a reader of a page sees, where a formula should have been drawn."""

import re

from bs4 import BeautifulSoup

# A command of two letters or more: `\n` stands in code. A formula's signs stand around it.
COMMAND = re.compile(r"\\[a-zA-Z]{2,}|\$\$")
UNSEEN = ("script", "style", "title", "annotation", "iframe", "pre", "code")


def tex_seen(page: str | BeautifulSoup) -> list[str]:
    """The TeX commands in the visible text of a page, code left out."""
    soup = page if isinstance(page, BeautifulSoup) else BeautifulSoup(page, "html.parser")
    pieces = soup.body.find_all(string=True) if soup.body else soup.find_all(string=True)
    seen = [str(piece) for piece in pieces if not piece.find_parents(UNSEEN)]
    return COMMAND.findall(" ".join(seen))
