"""A text, each token shaded by how rarely a draft is accepted in its place."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from specdec_lib.lessons.drawing.style import display_page, in_both_themes

if TYPE_CHECKING:
    from specdec_lib.measure.acceptance import TokenAcceptance

RARE = 0.25  # what is accepted less often is underlined too
SHADE = 50  # percent, where nothing is accepted: text is easy to read on it in both themes
_FOLDER = Path(__file__).parent
_STYLE = (_FOLDER / "paragraph.css").read_text(encoding="utf-8")
_PAGE = Template((_FOLDER / "paragraph.html").read_text(encoding="utf-8"))
_TOKEN = Template((_FOLDER / "paragraph_token.html").read_text(encoding="utf-8"))


def coloured_paragraph(places: "Sequence[TokenAcceptance]") -> None:
    """Show the tokens of a text as measure.acceptance.places gives them.

    `accepted` is sum min(p, q) at a token's position; its own p and q are in its tooltip.
    """
    display_page(paragraph_page(places), paragraph_in_words(places))


def paragraph_page(places: "Sequence[TokenAcceptance]") -> str:
    """The shaded text, under it the scale and what the picture says in words."""
    return _PAGE.substitute(
        style=in_both_themes(".sd-shaded") + _STYLE,
        text="".join(_span(place.piece, place.accepted, _summary(place)) for place in places),
        scale=" ".join(_span(f"{share:.2f}", share) for share in (1, 0.75, 0.5, 0.25, 0)),
        rare=RARE,
        words=escape(paragraph_in_words(places)),
    )


def paragraph_in_words(places: "Sequence[TokenAcceptance]") -> str:
    """The mean, and the tokens in whose places a draft is accepted least and most."""
    mean = sum(place.accepted for place in places) / len(places)
    rare = [place for place in places if place.accepted < RARE]
    sure = sum(place.p > 0.5 for place in rare)
    ordered = sorted(places, key=lambda place: place.accepted)
    return (
        f"{len(places)} tokens; the draft is accepted with probability {mean:.2f} on average. "
        f"It is below {RARE} in {len(rare)} places; in {sure} of them the target gives the token "
        f"more than 0.5. Least: {_first_three(ordered)}. Most: {_first_three(ordered[::-1])}."
    )


def _first_three(ordered: "Sequence[TokenAcceptance]") -> str:
    """The first three tokens, each text once."""
    summaries: dict[str, str] = {}
    for place in ordered:
        summaries.setdefault(place.piece.strip(), _summary(place))
    return ", ".join(list(summaries.values())[:3])


def _summary(place: "TokenAcceptance") -> str:
    name = f"“{place.piece.strip()}”" if place.piece.strip() else "line break"
    p, q = (f"{x:.3f}" if x >= 0.01 else f"{x:.1g}" for x in (place.p, place.q))
    return f"{name} {place.accepted:.3f} (p {p}, q {q})"


def _span(text: str, accepted: float, title: str = "") -> str:
    kind = "sd-rare" if accepted < RARE else ""
    shade = f"{SHADE * (1 - accepted):.0f}"
    return _TOKEN.substitute(kind=kind, shade=shade, title=escape(title), text=escape(text))
