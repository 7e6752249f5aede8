"""The figures of chapter 08 that are drawn from the student's functions, wrong ones too."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from specdec_lib.lessons.ch08 import checks as ch08
from specdec_lib.lessons.ch08 import computed
from specdec_lib.lessons.ch08.models import Pass, WatchedCache
from specdec_lib.lessons.common.drawing import CROSS, drawn_from, panels, picture
from specdec_lib.lessons.common.style import role, show
from specdec_lib.lessons.common.tokens import board, key, token_box, write

MOST_PASSES = 14  # that the picture of passes shows


@drawn_from("rollback")
def going_back(rollback: Callable) -> None:
    """The prediction's cache after its pass, and after the student's rollback."""
    read, k, accepted = ch08.READ, ch08.K, ch08.ACCEPTED
    held = read + 1 + k
    cache = WatchedCache(range(held))
    rollback(cache, read + 1 + accepted)
    kinds = ["plain"] * (read + 1) + ["accepted"] * accepted
    kinds += ["rejected"] + ["dropped"] * (k - accepted - 1)
    ax = board(held + 2.2, 2.6, 0.62)
    for y, words, count in ((1.8, "read", held), (0.7, "yours", len(cache.tokens))):
        write(ax, 0.5, y, words, bold=True)
        for position in range(count):
            token_box(ax, position + 2, y, kinds[position], str(position))
    key(ax, ("accepted", "rejected", "dropped"))
    show(
        ax.figure,
        f"The cache holds {held} positions after the pass: {read + 1} of the text, {accepted} "
        f"accepted, 1 rejected, {k - accepted - 1} dropped. After your rollback to "
        f"{read + 1 + accepted} it holds {len(cache.tokens)}.",
    )


@drawn_from("verify_block")
def law_of_blocks(verify_block: Callable) -> None:
    """Each position of a block of two: what is accepted, what is added, what is left open."""
    accepted, added, rows = computed.block_law(verify_block)
    axes, told = panels(3, (8.6, 3.4), ylabel="probability", sharey=True), []
    for i, ax in enumerate(axes):
        open_mass = max(0.0, 1 - (accepted + added)[i].sum()) * computed.P[i]
        parts = (("accepted", accepted[i]), ("residual", added[i]), ("draft", open_mass))
        _stacked(ax, parts)
        ax.plot(range(3), computed.P[i], color="black", **CROSS)
        ax.set_title(f"position {i + 1}")
        ax.set_xticks(range(3), ["token 0", "token 1", "token 2"])
        total = (accepted + added)[i] + open_mass
        told.append(f"position {i + 1}: {np.round(total, 4).tolist()}, p {computed.P[i].tolist()}")
    names = ("accepted", "correction or bonus", "left to the next block", "p, the target")
    axes[0].figure.legend(names[3:] + names[:3], loc="outside lower center", ncol=4)
    show(
        axes[0].figure,
        f"The distribution of your verify_block over {rows} rows. {'; '.join(told)}.",
    )


def _stacked(ax: plt.Axes, parts: tuple) -> None:
    """Bars on top of each other, each in the dress of its role."""
    base = np.zeros(3)
    for name, heights in parts:
        ax.bar(range(3), heights, 0.62, base, **role(name) | {"label": None})
        base = base + heights


@drawn_from("speculative_generate")
def passes(speculative_generate: Callable) -> None:
    """Which positions each pass of the example models reads, in the order of the passes."""
    target, draft = ch08.models()
    rng = np.random.default_rng(3)
    text = speculative_generate(target, draft, list(ch08.PROMPT), 3, ch08.TOKENS, 1.0, rng)
    shown = target.passes[:MOST_PASSES]
    whole = len(ch08.PROMPT) + len(text)
    longest = max(whole, *(each.start + len(each.tokens) for each in shown))
    ax = board(longest + 2.6, len(shown) * 0.5 + 0.9, 0.62)
    for number, each in enumerate(shown):
        _draw_pass(ax, each, 0.5 * (len(shown) - number) + 0.2)
    for position in range(whole):
        word = "prompt" if position < len(ch08.PROMPT) else str(position)
        write(ax, position + 2.4, 0.1, word, size=8)
    told = "; ".join(f"the {each.name} reads {_range(each)}" for each in shown)
    show(ax.figure, f"Passes of your loop in their order: {told}. The text: {text}.")


def _draw_pass(ax: plt.Axes, each: Pass, y: float) -> None:
    write(ax, 0.7, y, each.name, bold=each.name == "target")
    kind = "scored" if each.name == "target" else "drafted"
    for i, token in enumerate(each.tokens):
        token_box(ax, each.start + i + 2.4, y, kind, str(token))


def _range(each: Pass) -> str:
    last = each.start + len(each.tokens) - 1
    return f"position {each.start}" if last == each.start else f"positions {each.start} to {last}"


@drawn_from("speculative_generate")
def law_of_texts(speculative_generate: Callable) -> None:
    """The exact distribution of two tokens by the student's loop, beside plain decoding's."""
    law, runs = computed.text_law(speculative_generate)
    plain = computed.plain_law()
    apart = np.abs(law - plain).sum() / 2
    title = f"Two tokens, {runs} runs: total variation {apart:.1e}"
    ax = picture(title, "probability", size=(8.2, 3.4))
    names = [f"{a} {b}" for a in range(3) for b in range(3)]
    ax.bar(names, law.ravel(), 0.62, **role("accepted") | {"label": "your loop"})
    ax.plot(names, plain.ravel(), color="black", label="plain decoding", **CROSS)
    ax.legend()
    told = ", ".join(
        f"{name}: {mine:.4f} and {right:.4f}"
        for name, mine, right in zip(names, law.ravel(), plain.ravel(), strict=True)
    )
    lead = "Distribution of two tokens by your loop and by plain decoding"
    show(ax.figure, f"{lead}. {told}. Total variation {apart:.1e}.")
