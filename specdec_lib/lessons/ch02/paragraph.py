"""A text, each token shaded by how rarely a draft is accepted in its place."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specdec_lib.lessons.drawing.style import display_page, in_both_themes

RARE = 0.25  # what is accepted less often is underlined too
SHADE = 50  # percent, where nothing is accepted: text is easy to read on it in both themes
SHEET = Path(__file__).with_name("paragraph.css")


def coloured_paragraph(places: Sequence[Any]) -> None:
    """Show the tokens of a text as measure.acceptance.places gives them.

    `accepted` is sum min(p, q) at a token's position; its own p and q are in its tooltip.
    """
    display_page(paragraph_page(places), paragraph_in_words(places))


def paragraph_page(places: Sequence[Any]) -> str:
    """The shaded text, under it the scale and what the picture says in words."""
    text = "".join(_span(each.piece, each.accepted, _told(each)) for each in places)
    scale = " ".join(_span(f"{share:.2f}", share) for share in (1, 0.75, 0.5, 0.25, 0))
    style = in_both_themes(".sd-shaded") + SHEET.read_text(encoding="utf-8")
    return (
        f'<figure class="sd-shaded"><style>{style}</style><pre>{text}</pre><figcaption>'
        f"<p>Accepted with probability {scale}, underlined below {RARE}.</p>"
        f"<p>{html.escape(paragraph_in_words(places))}</p></figcaption></figure>"
    )


def paragraph_in_words(places: Sequence[Any]) -> str:
    """The mean, and the tokens in whose places a draft is accepted least and most."""
    mean = sum(each.accepted for each in places) / len(places)
    rare = [each for each in places if each.accepted < RARE]
    sure = sum(each.p > 0.5 for each in rare)
    ordered = sorted(places, key=lambda each: each.accepted)
    return (
        f"{len(places)} tokens; the draft is accepted with probability {mean:.2f} on average. "
        f"It is below {RARE} in {len(rare)} places; in {sure} of them the target gives the token "
        f"more than 0.5. Least: {_named(ordered)}. Most: {_named(ordered[::-1])}."
    )


def _named(ordered: Sequence[Any]) -> str:
    """The first three tokens, each text once."""
    told: dict[str, str] = {}
    for each in ordered:
        told.setdefault(each.piece.strip(), _told(each))
    return ", ".join(list(told.values())[:3])


def _told(place: Any) -> str:
    name = f"“{place.piece.strip()}”" if place.piece.strip() else "line break"
    p, q = (f"{x:.3f}" if x >= 0.01 else f"{x:.1g}" for x in (place.p, place.q))
    return f"{name} {place.accepted:.3f} (p {p}, q {q})"


def _span(text: str, accepted: float, title: str = "") -> str:
    rare = ' class="sd-rare"' if accepted < RARE else ""
    shade = (
        f"background:color-mix(in srgb,var(--sd-excess) {SHADE * (1 - accepted):.0f}%,transparent)"
    )
    return f'<span{rare} style="{shade}" title="{html.escape(title)}">{html.escape(text)}</span>'
