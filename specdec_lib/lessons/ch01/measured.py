"""The figures of chapter 01 that show recorded blocks of the built-in pair, each with its words."""

from matplotlib.axes import Axes

from specdec_lib.lessons.ch01.checks import outcomes, shown
from specdec_lib.lessons.common.style import GREY, show
from specdec_lib.lessons.common.tokens import board, key, token_box, write


def recorded_blocks(record: dict, first: int = 0, count: int | None = None) -> None:
    """Recorded blocks: the draft, the gates of the one target pass, and what was written."""
    blocks = record["blocks"][first:][:count]
    k = max(len(block["drafted"]) for block in blocks)
    ax = board(k + 1.9, 2.1 * len(blocks) + 0.5, 0.62)
    told = []
    for i, block in enumerate(blocks):
        told.append(_recorded_block(ax, block, first + i, 2.1 * (len(blocks) - 1 - i) + 0.5))
    key(ax, ("accepted", "rejected", "dropped", "corrected", "bonus"))
    show(ax.figure, f"Blocks of the built-in pair after {record['prompt']!r}. " + " ".join(told))


def _recorded_block(ax: Axes, block: dict, number: int, y: float) -> str:
    """Draw one block with its lower edge at `y`; what it shows, in words."""
    kinds, k = outcomes(block), len(block["drafted"])
    write(ax, 0.4, y + 1.5, f"block {number + 1}", bold=True)
    write(ax, 0.4, y + 0.85, "one pass")
    write(ax, 0.4, y + 0.2, "written")
    ax.plot([0.95, k + 1.9], [y + 0.85] * 2, color=GREY, linewidth=1.2, zorder=0)
    parts = []
    for i, token in enumerate(block["drafted"]):
        x = i + 1.4
        token_box(ax, x, y + 1.5, kinds[i], shown(token))
        write(ax, x, y + 0.85, _gate(block, i, kinds[i]), size=8.5, boxed=True)
        if kinds[i] == "accepted":
            token_box(ax, x, y + 0.2, kinds[i], shown(token))
        parts.append(f"{token!r} {kinds[i]} ({_gate(block, i, kinds[i])})".replace("\n", ", "))
    end = block["accepted"]
    token_box(ax, end + 1.4, y + 0.2, kinds[-1], shown(block["token"]))
    write(ax, k + 1.4, y + 0.85, "row K" + ("" if end == k else "\nnot used"), size=8.5, boxed=True)
    return f"Block {number + 1}: {'; '.join(parts)}; {block['token']!r} {kinds[-1]}."


def _gate(block: dict, i: int, kind: str) -> str:
    """What the gate of draft token `i` compares, in two lines."""
    p, q, r = block["p"][i], block["q"][i], block["r"][i]
    first = f"p {p:.2g}, q {q:.2g}"
    sign = {"accepted": "≤", "rejected": ">"}.get(kind)
    return f"{first}\n" + (f"r {r:.2f} {sign} {min(1, p / q):.2f}" if sign else "not looked at")
