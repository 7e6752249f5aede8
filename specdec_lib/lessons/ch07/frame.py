"""The frame of chapter 07: four boxes, what each exercise puts into them, and the static map."""

import textwrap
from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from specdec_lib.lessons.ch07.family import FAMILY, FRAME, KEPT
from specdec_lib.lessons.common.drawing import picture
from specdec_lib.lessons.common.style import ACCEPTED, GREY, PALE, show

BOXES = ("Who drafts", "In which shape", "Who verifies", "When")
FIRST = (
    "a small model:\nx is drawn from q",
    "a chain of K tokens",
    "a coin against p/q,\nelse the residual",
    "draft, then verify",
)
AT = (0.12, 1.5, 2.48)  # where the terms stand
TERMS = ("E: 1 + α + ... + α^K", "D: c K", "v: v(K + 1)")

#: By name: what the boxes hold in place of FIRST, by position, and the terms of the formula.
CHANGES: dict[str, tuple[Mapping[int, str], Mapping[int, str]]] = {
    "speculative decoding": ({}, {}),
    "a draft without a model": (
        {0: "the text itself:\nq is 1 on x"},
        {0: "E: α is p(x), on average", 1: "D: nearly 0"},
    ),
    "no draft at all": (
        {
            0: "the target's\nown last pass",
            1: "K places,\nall at once",
            2: "equality with\nthe argmax",
            3: "each pass drafts\nand verifies",
        },
        {0: "E: what is right early", 1: "D: 0"},
    ),
    "several candidates": (
        {1: "n candidates\nfor one place", 2: "in turn, against\nwhat is left"},
        {0: "E: 1 + a1 + ... + an", 1: "D: c", 2: "v: v(n + 1)"},
    ),
    "a tree": (
        {1: "candidates\nat every depth", 2: "in turn,\ndown the tree"},
        {0: "E: 1 + sum over the nodes", 1: "D: c × levels", 2: "v: v(nodes + 1)"},
    ),
    "block verification": (
        {2: "the product of\nthe ratios so far"},
        {0: "E: a little more"},
    ),
    "another tokenizer": (
        {0: "a model with other\ntokens, q moved over"},
        {0: "E: α is what both can say"},
    ),
}

COLUMNS = {"chain": 0.0, "candidates": 3.2, "tree": 5.0}  # where a shape stands in the map
SIGNS = {"law": "●", "greedy": "■", "choice": "▲", "lossy": "◆"}


def frame(name: str) -> None:
    """The four boxes, and the terms of the speed-up, with what `name` changes in them set off.

    KeyError for a name that CHANGES does not hold.
    """
    boxes, terms = CHANGES[name]
    ax = picture(f"The frame: {name}", size=(8.6, 2.3))
    held = [boxes.get(i, text) for i, text in enumerate(FIRST)]
    plain = GREY if boxes else "black"
    for i, text in enumerate(held):
        _box(ax, i, BOXES[i], text, i in boxes, plain)
    for i, text in enumerate(TERMS):
        new = i in terms
        look = {"fontweight": "bold", "color": ACCEPTED} if new else {"color": plain}
        ax.text(AT[i], -0.95, ("▶ " if new else "") + terms.get(i, text), **look)
    ax.text(-0.48, -0.95, "E / (D + v)")
    ax.set(xlim=(-0.5, 3.5), ylim=(-1.2, 0.85))
    ax.axis("off")
    told = [f"{box}: {' '.join(text.split())}" for box, text in zip(BOXES, held, strict=True)]
    news = [BOXES[i] for i in boxes] + [terms[i] for i in terms]
    show(
        ax.figure,
        f"Four boxes. {'; '.join(told)}. The speed-up is E/(D + v). "
        + (f"Changed: {'; '.join(news)}." if news else "This is the method of the first paper."),
    )


def _box(ax: Axes, i: int, title: str, text: str, new: bool, plain: str) -> None:
    look = {"edgecolor": ACCEPTED, "linewidth": 2.6} if new else {"edgecolor": GREY}
    ax.add_patch(plt.Rectangle((i - 0.46, -0.6), 0.92, 1.02, facecolor="white", **look))
    ax.text(i, 0.55, ("▶ " if new else "") + title, ha="center", fontweight="bold")
    ax.text(i, -0.1, text, ha="center", va="center", color="black" if new else plain)


def static_map() -> None:
    """All methods by who drafts and in which shape, for pages where nothing can be clicked."""
    ax = picture("The map of the field: a sign says what becomes of the law", size=(8.6, 8.8))
    for shape, x in COLUMNS.items():
        name = textwrap.fill(FRAME["shape"][shape].name, 13)
        ax.text(x, 0.3, name, fontweight="bold", va="bottom")
    told, top = [], 0.0
    for drafter, option in FRAME["drafter"].items():
        ax.text(-0.15, top - 0.1, textwrap.fill(option.name, 14), ha="right", va="top")
        lines = 2
        for shape, x in COLUMNS.items():
            methods = [m for m in FAMILY if (m.drafter, m.shape) == (drafter, shape)]
            for line, method in enumerate(methods):
                name = f"{SIGNS[method.kept]} {method.name}"
                ax.text(x, top - 0.1 - 0.5 * line, name, fontsize=9, va="top")
                told.append(f"{option.name}, {FRAME['shape'][shape].name}: {method.name}")
            lines = max(lines, len(methods))
        top -= 0.5 * lines + 0.25
        ax.plot([-1.4, 6.8], [top + 0.1] * 2, color=PALE)
    signs = "\n".join(f"{SIGNS[kept]} {words}" for kept, words in KEPT.items())
    ax.text(-1.4, top - 0.1, signs, fontsize=9, va="top", linespacing=1.6)
    ax.set(xlim=(-1.45, 6.9), ylim=(top - 1.9, 1.2))
    ax.axis("off")
    show(ax.figure, f"The map. {'; '.join(told)}.")
