"""The looks of a chapter: boxes, folded machinery, and nothing that grading reads is touched."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograde.build.looks import BLUE, GREEN, dress
from autograde.build.source import read_chapter
from autograde.chapter import SOLUTIONS, chapter_names
from autograde.report.offline import is_folded

STYLE = "background-color: rgba({0}, 0.14); border-left: 4px solid rgb({0})"
BOX = f'<div class="alert alert-block alert-{{1}}" style="{STYLE}">'
INFO, GUESS = BOX.format(BLUE, "exercise"), BOX.format(GREEN, "prediction")
QUESTION = BOX.format(BLUE, "question")


def dressed(source: str) -> str:
    cell = new_markdown_cell(source)
    dress(cell)
    return cell.source


@pytest.mark.parametrize(
    ("source", "looks"),
    [
        ("Some text.", "Some text."),
        ("### Exercise: f\n\nA.\n\nB.", f"### Exercise: f\n\n{INFO}\n\nA.\n\nB.\n\n</div>"),
        (
            "### Commit first\n\nGuess.\n\n## Next\n\nText.",
            f"### Commit first\n\n{GUESS}\n\nGuess.\n\n</div>\n\n## Next\n\nText.",
        ),
        (
            "## Quiz\n\n**Question 1.** Why?\n\n- a: A",
            f"## Quiz\n\n{QUESTION}\n\n**Question 1.** Why?\n\n- a: A\n\n</div>",
        ),
        (
            "### In your own words\n\n```\n# no heading\n```",
            f"### In your own words\n\n{QUESTION}\n\n```\n# no heading\n```\n\n</div>",
        ),
        (
            "<details><summary>A</summary>\n\nB.\n\n</details>\n\nC.",
            "<details><summary>A</summary>\n\nB.\n\n</details>\n\n<p></p>\n\nC.",
        ),
    ],
)
def test_what_is_asked_stands_in_a_box_and_there_is_room_below_a_fold(source: str, looks: str):
    assert dressed(source) == looks


def test_sources_are_folded_and_the_way_on_is_not():
    looks = dressed("## Sources\n\n- A.\n- B.\n\nNone says more.\n\n**Next.** Go on.")
    folded, open_ = looks.split("</details>")
    assert folded.startswith("## Sources\n\n<details><summary>") and "None says more." in folded
    assert open_ == "\n\n<p></p>\n\n**Next.** Go on."


@pytest.mark.parametrize(
    ("code", "tags", "folded"),
    [
        ("import numpy as np\nfrom a import b", [], True),
        ("import numpy as np\nx = 1", [], False),
        ("from a import figures\n\nfigures.draw(f)", ["demo"], True),
        ("hints(f)", [], False),
        ("x = measure()\nprint(x)", ["demo"], False),
        ("draw(f)", ["demo", "shown"], False),
    ],
)
def test_machinery_is_folded(code: str, tags: list[str], folded: bool):
    cell = new_code_cell(code, metadata={"tags": tags})
    dress(cell)
    assert is_folded(cell) is folded


@pytest.mark.parametrize("chapter", chapter_names())
def test_every_chapter_has_its_boxes_and_no_folded_cell_asks_for_an_answer(chapter: str):
    cells = read_chapter(SOLUTIONS / f"{chapter}.py").cells
    text = "\n".join(cell.source for cell in cells)
    asked = text.count("### Exercise: ") + text.count("**Question ")
    boxes = text.count(INFO) + text.count(QUESTION)
    assert boxes == asked + text.count("### In your own words") >= 5
    assert text.count(GUESS) == text.count("### Commit first") >= 2
    assert text.count("<div") == text.count("</div>")
    assert not [cell.id for cell in cells if is_folded(cell) and "nbgrader" in cell.metadata]
    checks = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("locked")]
    assert all(cell.source.startswith("# Check of ") for cell in checks)
