"""A text, each token shaded by how rarely a draft is accepted in its place."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from specdec_lib.lessons.ch02.answer import Place
from specdec_lib.lessons.drawing.style import display_page, in_both_themes

RARE = 0.25  # what is accepted less often is underlined too
SHADE = 50  # percent, where nothing is accepted: text is easy to read on it in both themes
_FOLDER = Path(__file__).parent
_STYLE = (_FOLDER / "paragraph.css").read_text(encoding="utf-8")
_PAGE = Template((_FOLDER / "paragraph.html").read_text(encoding="utf-8"))
_TOKEN = Template((_FOLDER / "paragraph_token.html").read_text(encoding="utf-8"))


def coloured_paragraph(places: Sequence[Place]) -> None:
    """Show the tokens of a text. Each tells its numbers to a pointer, a finger or the Tab key."""
    display_page(paragraph_page(places), paragraph_in_words(places))


def paragraph_page(places: Sequence[Place]) -> str:
    """The shaded text, under it the scale, what the picture says in words, and a table."""
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in _cells(place)) for place in places)
    return _PAGE.substitute(
        style=in_both_themes(".sd-shaded") + _STYLE,
        text="".join(_token(place) for place in places),
        scale=" ".join(_span(f"{share:.2f}", share) for share in (1, 0.75, 0.5, 0.25, 0)),
        rare=RARE,
        kinds="".join(
            f"<tr><td>{kind}</td><td>{len(some)}</td><td>{sum(some) / len(some):.2f}</td></tr>"
            for kind, some in by_kind(places).items()
        ),
        words=escape(paragraph_in_words(places)),
        rows="".join(f"<tr>{row}</tr>" for row in rows),
    )


def paragraph_in_words(places: Sequence[Place]) -> str:
    """The mean of all tokens and of each kind, and how many are accepted rarely."""
    means = (f"{kind} {sum(some) / len(some):.2f}" for kind, some in by_kind(places).items())
    rare = [place for place in places if place.accepted < RARE]
    sure = sum(place.p > 0.5 for place in rare)
    return (
        f"A draft token is accepted with probability: {', '.join(means)}. It is below {RARE} in "
        f"{len(rare)} of {len(places)} places; in {sure} of them the target gives the token more "
        "than 0.5."
    )


def by_kind(places: Sequence[Place]) -> dict[str, list[float]]:
    """The acceptance probabilities of the tokens of each kind, and of all."""
    accepted, words = defaultdict(list), set[str]()
    for i, place in enumerate(places):
        word, begins = place.piece.strip().lower(), not i or place.piece[0].isspace()
        whole = "words that came before" if word in words else "new words"
        kind = "punctuation" if not word.isalpha() else whole if begins else "inside a word"
        words |= {word} if begins else set()
        accepted[kind].append(place.accepted)
    return {**accepted, "all tokens": [place.accepted for place in places]}


def _cells(place: Place) -> list[str]:
    """A token's text in quotes and its three numbers."""
    name = f"“{place.piece.strip()}”" if place.piece.strip() else "line break"
    return [name, *(f"{x:.3f}" if x >= 0.01 else f"{x:.1g}" for x in place[1:])]


def _token(place: Place) -> str:
    """A token that can be reached and then tells its numbers."""
    name, accepted, p, q = map(escape, _cells(place))
    tip = f'<span class="sd-tip">{name}: accepted {accepted}; p {p}, q {q}</span>'
    return _span(place.piece, place.accepted, 'tabindex="0"', tip)


def _span(text: str, accepted: float, attributes: str = "", tip: str = "") -> str:
    kind, shade = "sd-rare" if accepted < RARE else "", f"{SHADE * (1 - accepted):.0f}"
    parts = {"kind": kind, "shade": shade, "attributes": attributes, "tip": tip}
    return _TOKEN.substitute(parts, text=escape(text))
