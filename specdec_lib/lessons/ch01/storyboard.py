"""One greedy block in frames that open after a question: draft, score, accept, correct or bonus.

The block is the one that the exercises of the chapter work on, with the intern as the draft and the
partner as the target.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from specdec_lib.lessons.ch01.figures import boxed
from specdec_lib.lessons.ch01.lesson import ALONE, DRAFT_BLOCK, PREFIX, target_rows
from specdec_lib.lessons.ch01.models import DRAFT, WORDS, text
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing.race import race_css
from specdec_lib.lessons.drawing.series import show_table
from specdec_lib.lessons.drawing.style import display_page, image
from specdec_lib.lessons.drawing.tokens import FIRST_X, board, boxes, token_outcomes

_WANTED = target_rows(PREFIX, DRAFT_BLOCK)[:-1].argmax(axis=1).tolist()
_LUCKY, _BONUS = ALONE[:4], ALONE[4:5]  # a block that the partner would have written
_N = next(i for i, token in enumerate(DRAFT_BLOCK) if token != _WANTED[i])  # accepted


def frames() -> Iterator[tuple[str, str, str, list]]:
    """Name, question, answer, and the rows of boxes, each with its name and the place it begins."""
    start, known, drafted = len(PREFIX), boxed(PREFIX, "plain"), boxed(DRAFT_BLOCK, "drafted")
    wanted = ("partner\nwould write", boxed(_WANTED, "scored"), start)
    judged = [
        (kind, WORDS[token]) for kind, token in zip(token_outcomes(_N, 4), DRAFT_BLOCK, strict=True)
    ]
    written = [*boxed(DRAFT_BLOCK[:_N], "accepted"), ("corrected", WORDS[_WANTED[_N]])]
    rows = {
        "Draft": [("text", known, 0), ("intern", drafted, start)],
        "Score": [("proposal", known + drafted, 0), wanted],
        "Accept": [("intern", judged, start), wanted],
        "Correct": [("text", known + written, 0)],
        "Bonus": [("text", known + boxed(_LUCKY, "accepted") + boxed(_BONUS, "bonus"), 0)],
    }
    words = {"before": PREFIX, "draft": DRAFT_BLOCK, "wanted": _WANTED, "kept": DRAFT_BLOCK[:_N]}
    words |= {"wrong": DRAFT_BLOCK[_N : _N + 1], "later": DRAFT_BLOCK[_N + 1 :]}
    words |= {"lucky": _LUCKY, "bonus": _BONUS}
    given = {name: text(tokens) for name, tokens in words.items()}
    given |= {"count": len(written), "written": " ".join(word for _, word in written)}
    for name, texts in read_tables(__package__, "storyboard.toml").items():
        yield name, texts["question"].format(**given), texts["answer"].format(**given), rows[name]


def storyboard() -> None:
    """Show the intern's habits and the questions; each question opens its frame."""
    habits = {word: WORDS[int(DRAFT.row([i]).argmax())] for i, word in enumerate(WORDS)}
    show_table(pd.DataFrame(habits, ["the intern writes"]).rename_axis(columns="after"))
    folds, lines = [], []
    for number, (name, question, words, rows) in enumerate(frames(), 1):
        ax = board(FIRST_X + len([*PREFIX, *_LUCKY, *_BONUS]), 0.3 + 0.9 * len(rows), 0.75)
        for i, (label, row, start) in enumerate(rows):
            boxes(ax, 0.9 * (len(rows) - i) - 0.3, label, row, start)
        folds.append(
            f"<details><summary style='padding: .3em 0'><b>{number}. {name}.</b> "
            f"{escape(question)}</summary><p>{escape(words)}</p>{image(ax.figure, words)}</details>"
        )
        lines.append(f"{number}. {name}. {question} {words}")
        plt.close(ax.figure)
    display_page("".join(folds), "\n".join(lines))


def two_blocks() -> None:
    """Play two blocks of the small models: a rejection in one, and one that is accepted whole."""
    file = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    words, page = file.removeprefix("<!--").split("-->", 1)  # what terminals print, and the page
    display_page(page.replace("$css", race_css()), words.strip())
