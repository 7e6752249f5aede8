"""The looks of a chapter: boxes, folded machinery, and nothing that grading reads is touched."""

import pytest
from nbformat.v4 import new_markdown_cell

from autograde.build.looks import dress

EXERCISE, GUESS, QUESTION = (f"alert-{kind}" for kind in ("exercise", "prediction", "question"))


def dressed(source: str) -> str:
    cell = new_markdown_cell(source)
    dress(cell)
    return cell.source


@pytest.mark.parametrize(
    ("above", "inside", "below", "box"),
    [
        ("### Exercise: f", "A.\n\nB.", "", EXERCISE),
        ("### Commit first", "Guess.", "## Next\n\nText.", GUESS),
        ("## Quiz", "**Question 1.** Why?\n\n- a: A", "", QUESTION),
        ("### In your own words", "```\n# no heading\n```", "", QUESTION),
    ],
)
def test_what_is_asked_stands_in_a_box(above: str, inside: str, below: str, box: str):
    source = "\n\n".join(filter(None, [above, inside, below]))
    first, end = dressed(source).split(f"\n\n{inside}\n\n</div>")
    assert first.startswith(f"{above}\n\n<div") and box in first
    assert end.strip() == below


def test_sources_are_folded_and_the_way_on_is_not():
    looks = dressed("## Sources\n\n- A.\n- B.\n\nNone says more.\n\n**Next.** Go on.")
    folded, open_ = looks.split("</details>")
    assert folded.startswith("## Sources\n\n<details><summary>") and "None says more." in folded
    assert open_ == "\n\n<p></p>\n\n**Next.** Go on."
