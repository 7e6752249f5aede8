"""Figures: drawn from a reader's own function, and with words for all that they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup

from specdec_lib.lessons.ch02 import paragraph
from specdec_lib.lessons.drawing import series
from specdec_lib.lessons.drawing.axes import chart, uses_student_functions
from specdec_lib.measure.acceptance import Place

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


def test_the_words_of_a_figure_have_its_errors():
    ax = chart("Speeds")
    words = series.draw_series(ax, [1, 8], {"plain": [1.0, 2.25]}, errors=[0.5, 0.25])
    (intervals,) = ax.collections
    ends = [path.vertices[:, 1].tolist() for path in intervals.get_paths()]
    assert ends == [[0.5, 1.5], [2.0, 2.5]] and words == "plain: 1 ± 0.5 at 1, 2.25 ± 0.25 at 8"
    plt.close("all")


def test_a_coloured_paragraph_tells_the_mean_and_the_ends_and_every_token_its_p_and_q():
    rows = [(" self", 0.96, 0.9, 0.8), ("name", 0.03, 0.99, 0.0002), ("<", 0.2, 0.4, 0.01)]
    places = [Place(*row) for row in [*rows, ("\n  ", 0.93, 0.9, 0.9), ("name", 0.08, 0.7, 0.1)]]
    told = paragraph.in_words(places)
    assert "5 tokens; the draft is accepted with probability 0.44 on average" in told
    assert "below 0.25 in 3 places; in 2 of them the target" in told
    assert "Least: “name” 0.030 (p 0.990, q 0.0002), “<” 0.200 (" in told
    assert "Most: “self” 0.960 (p 0.900, q 0.800), line break 0.930 (" in told
    spans = BeautifulSoup(paragraph.as_page(places), "html.parser").pre.find_all("span")
    assert [each.get_text() for each in spans] == [each.piece for each in places]
    assert [bool(each.get("class")) for each in spans] == [False, True, True, False, True]
    assert spans[1]["title"] == "“name” 0.030 (p 0.990, q 0.0002)"


def test_a_figure_gives_copies():
    def halved_in_place(p):
        p /= 2

    row = np.array([1.0, 2.0])
    uses_student_functions("f")(lambda function, given: function(given))(halved_in_place, row)
    assert row.tolist() == [1.0, 2.0]
