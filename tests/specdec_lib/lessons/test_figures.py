"""Figures: drawn from a reader's own function, and with words for all that they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup

from specdec_lib.lessons.ch02 import paragraph
from specdec_lib.lessons.ch02.answer import Place
from specdec_lib.lessons.drawing import series
from specdec_lib.lessons.drawing.axes import chart, uses_student_functions

VALUES = {"plain": [1.0, 2.25], "speculative": [1.5, 3.125]}


@pytest.mark.parametrize("kind", ["lines", "marks", "bars"])
def test_the_words_of_a_figure_have_every_value_that_is_drawn(kind: str):
    ax = chart("Speeds")
    words = series.draw_series(ax, [1, 8], VALUES, kind=kind)
    drawn = [y for line in ax.lines for y in line.get_ydata()]
    drawn += [bar.get_height() for bar in ax.patches]
    assert sorted(drawn) == [1.0, 1.5, 2.25, 3.125]
    assert all(f"{number:.3g}" in words for number in drawn)
    plt.close("all")


PLACES = [
    Place(" cook", 0.9, 0.9, 0.8), Place("name", 0.03, 0.99, 0.0002), Place("<", 0.2, 0.4, 0.01),
    Place("\n  ", 0.92, 0.9, 0.9), Place("name", 0.15, 0.7, 0.1),
]  # fmt: skip


def test_a_coloured_paragraph_tells_the_means_and_every_token_its_p_and_q():
    told = paragraph.paragraph_in_words(PLACES)
    assert "new words 0.90, inside a word 0.09, punctuation 0.56, all tokens 0.44. It is" in told
    assert "below 0.25 in 3 of 5 places; in 2 of them the target" in told
    assert paragraph.by_kind([PLACES[0]] * 2)["words that came before"] == [0.9]
    page = BeautifulSoup(paragraph.paragraph_page(PLACES), "html.parser")
    rows = [[cell.get_text() for cell in row("td")] for row in page("tbody")[1]("tr")]
    assert rows[1] == ["“name”", "0.030", "0.990", "0.0002"] and len(rows) == len(PLACES)
    spans = page.pre.find_all("span", tabindex="0")
    assert [bool(each.get("class")) for each in spans] == [False, True, True, False, True]


@pytest.mark.browser
def test_a_token_tells_its_numbers_to_a_pointer_a_key_and_a_finger(browser):
    page = browser.new_context(has_touch=True).new_page()
    page.set_content(paragraph.paragraph_page(PLACES))
    told = page.locator(".sd-tip:visible")
    page.locator("pre > span").first.hover()
    assert told.inner_text().startswith("“cook”")
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert told.inner_text() == "“name”: accepted 0.030; p 0.990, q 0.0002"
    page.locator("pre > span").nth(2).tap()
    assert told.inner_text().startswith("“<”")


def test_a_figure_gives_copies():
    def halved_in_place(p):
        p /= 2

    row = np.array([1.0, 2.0])
    uses_student_functions("f")(lambda function, given: function(given))(halved_in_place, row)
    assert row.tolist() == [1.0, 2.0]
