"""Figures that are drawn from a reader's own function."""

import numpy as np
from classes.chapter_cases import draw, unwritten

from specdec_lib.lessons.ch05 import measured as ch05
from specdec_lib.lessons.ch08 import measured as ch08
from specdec_lib.lessons.common.drawing import drawn_from
from specdec_lib.sampling import sample_from


def test_a_figure_gives_copies():
    def halved_in_place(p):
        p /= 2

    row = np.array([1.0, 2.0])
    drawn_from("f")(lambda function, given: function(given))(halved_in_place, row)
    assert row.tolist() == [1.0, 2.0]


def test_figures_wait_for_their_function(capsys):
    @drawn_from("f")
    def figure(function):
        function()

    figure(unwritten)
    figure(lambda: 1 / 0)
    out = capsys.readouterr().out
    assert "Write it first" in out and "cannot be used yet: ZeroDivisionError" in out


def test_figures_tell_what_a_wrong_function_returned(shown: list[str]):
    def no_stop(tokens, p, q, r):
        return [3, 2]

    draw("02_rejection_sampling", "walk_through_block", speculative_accept=no_stop)
    assert "token 2" in shown[0] and "in your list" in shown[0] and "returned [3, 2]" in shown[0]

    def wrong(p, q, token, r, u):
        kept = r * q[token] <= p[token]
        return (token, True) if kept else (sample_from(p, u), False)

    draw("02_rejection_sampling", "two_masses", correct_token=wrong)
    assert "together A 0.39, B 0.36, C 0.18, D 0.07" in shown[1]


def test_a_position_that_no_block_reached_stops_no_figure(shown: list[str], capsys):
    ch05.by_position(lambda accepted, k: 0.25, {"code": [0, 1, 0]}, 4)
    ch05.by_position(lambda accepted, k: 0.0, {"code": [0, 0]}, 4)
    ch08.by_position([(0, 4), (1, 4)], 4)
    assert len(shown) == 3 and all("position 4" in words for words in shown)
    assert "cannot be drawn" not in capsys.readouterr().out
