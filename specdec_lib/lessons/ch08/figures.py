"""The figures of chapter 08 that are drawn from the student's functions, wrong ones too."""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from matplotlib.axes import Axes

from specdec_lib import exact
from specdec_lib.lessons.ch08 import computed
from specdec_lib.lessons.ch08 import lesson as ch08
from specdec_lib.lessons.ch08.models import Pass, WatchedCache
from specdec_lib.lessons.drawing.axes import (
    CROSS_MARKER,
    chart,
    panels,
    pile_bars,
    swatches,
    uses_student_functions,
)
from specdec_lib.lessons.drawing.series import draw_series, series_in_words
from specdec_lib.lessons.drawing.style import role, show
from specdec_lib.lessons.drawing.tokens import board, box_legend, boxes, token_box, write_at

WITH_A_WHOLE_BLOCK = 17  # the generator's seed in that picture: one block is accepted whole


# The smallest example: the text before a block, its draft tokens, and how each of two blocks ends.
BEFORE, BLOCK = "ab", "cd"
ENDS = (
    ("d is rejected, and x is written", 1, "x"),
    ("c and d are accepted, and e is the bonus", 2, "e"),
)


def two_caches() -> None:
    """What both caches hold after a block that is rejected, and after one that is not."""
    ax, told = board(8.4, 5.9, 0.75), []
    for top, (title, accepted, last) in zip((5.6, 2.6), ENDS, strict=True):
        text, end = BEFORE + BLOCK[:accepted] + last, ("corrected", "bonus")[accepted - 1]
        kinds = ["plain"] * len(BEFORE) + ["accepted"] * accepted + [end]
        write_at(ax, 4.0, top, title, bold=True)
        boxes(ax, top - 0.6, "the text", zip(kinds, text, strict=True))
        told.append(title)
        for y, name, read in ((top - 1.3, "target", len(BLOCK)), (top - 2.0, "draft", 1)):
            held = BEFORE + BLOCK[:read]
            kept = min(len(held), len(text) - 1)
            row = [("plain", each) for each in text[:kept]]
            row += [("chosen", each) for each in text[kept:]]
            boxes(ax, y, f"{name}'s\ncache", row)
            told.append(f"the {name} holds {held[:kept]} and reads {text[kept:]} next")
            if lost := held[kept:]:
                write_at(ax, 5.6, y, f"✗ {lost} forgotten")
                told.append(f"it forgot {lost}")
    write_at(ax, 4.0, 0.0, "thin frame: in the cache; thick frame: the next pass reads it")
    show(ax.figure, f"The text before the block is {BEFORE}. {'; '.join(told)}.")


@uses_student_functions("rollback")
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
        write_at(ax, 0.5, y, words, bold=True)
        for position in range(count):
            token_box(ax, position + 2, y, kinds[position], str(position))
    box_legend(ax, ("accepted", "rejected", "dropped"))
    show(
        ax.figure,
        f"The cache holds {held} positions after the pass: {read + 1} of the text, {accepted} "
        f"accepted, 1 rejected, {k - accepted - 1} dropped. After your rollback to "
        f"{read + 1 + accepted} it holds {len(cache.tokens)}.",
    )


@uses_student_functions("verify_block")
def law_of_blocks(verify_block: Callable) -> None:
    """Each position of a block of two: what is accepted, what is added, what is left open."""
    accepted, added, rows = computed.block_law(verify_block)
    axes, told = panels(3, (8.6, 3.4), ylabel="probability", sharey=True), []
    for i, ax in enumerate(axes):
        open_mass = max(0.0, 1 - (accepted + added)[i].sum()) * computed.P[i]
        masses = dict(zip(_PATHS, (accepted[i], added[i], open_mass), strict=True))
        pile_bars(ax, range(3), masses, list(_PATHS.values()))
        ax.plot(range(3), computed.P[i], color="black", label="p, the target", **CROSS_MARKER)
        ax.set_title(f"position {i + 1}")
        ax.set_xticks(range(3), ["token 0", "token 1", "token 2"])
        total = (accepted + added)[i] + open_mass
        told.append(f"position {i + 1}: {np.round(total, 4).tolist()}, p {computed.P[i].tolist()}")
    paths = (role(name) | {"label": label} for label, name in _PATHS.items())
    handles = [*axes[0].lines, *swatches(paths)]
    axes[0].figure.legend(handles=handles, loc="outside lower center", ncol=4)
    show(
        axes[0].figure,
        f"The distribution of your verify_block over {rows} rows. {'; '.join(told)}.",
    )


# How a token comes into its place, and its role.
_PATHS = {
    "accepted": "accepted",
    "correction or bonus": "residual",
    "left to the next block": "draft",
}


@uses_student_functions("speculative_generate")
def passes(speculative_generate: Callable) -> None:
    """Which tokens each pass of the example models reads, in the order of the passes."""
    target, draft = ch08.models()
    rng = np.random.default_rng(WITH_A_WHOLE_BLOCK)
    text = speculative_generate(target, draft, list(ch08.PROMPT), 3, ch08.TOKENS, 1.0, rng)
    shown, whole = target.passes, [*ch08.PROMPT, *text]
    longest = max(len(whole), *(len(each.held) for each in shown))
    title = f"What your loop reads in each pass, for {len(text)} tokens"
    ax = board(longest + 2.6, len(shown) * 0.5 + 1.5, 0.62, title)
    for number, each in enumerate(shown, 1):
        _draw_pass(ax, each, 0.5 * (len(shown) - number) + 1.3)
    write_at(ax, 0.7, 0.65, "the text", bold=True)
    write_at(ax, 0.7, 0.15, "position", size=8)
    for position, token in enumerate(whole):
        token_box(ax, position + 2.4, 0.65, "plain", str(token))
        write_at(ax, position + 2.4, 0.15, str(position), size=8)
    dresses = (role(name) | {"label": words} for name, words in _READERS)
    ax.legend(handles=swatches(dresses), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=2)
    told = "; ".join(f"the {each.name} reads {_range(each)}" for each in shown)
    show(ax.figure, f"Passes of your loop in their order: {told}. The text: {text}.")


_READERS = (
    ("draft", "striped: read by the draft"),
    ("target", "filled: read by the target"),
)


def _draw_pass(ax: Axes, each: Pass, y: float) -> None:
    write_at(ax, 0.7, y, each.name, bold=each.name == "target")
    kind = "scored" if each.name == "target" else "drafted"
    for i, token in enumerate(each.tokens):
        token_box(ax, each.start + i + 2.4, y, kind, str(token))


def _range(each: Pass) -> str:
    last = each.start + len(each.tokens) - 1
    return f"position {each.start}" if last == each.start else f"positions {each.start} to {last}"


@uses_student_functions("speculative_generate")
def law_of_texts(speculative_generate: Callable) -> None:
    """The exact distribution of short texts by the student's loop, beside plain decoding's."""
    law, plain = computed.text_law(speculative_generate), computed.plain_law()
    apart = exact.distance(law, plain)
    title = f"All texts of three tokens: total variation {apart:.1g}"
    ax = chart(title, "probability", size=(8.2, 3.4))
    texts = list(product(range(2), repeat=computed.LENGTH))
    names = [" ".join(map(str, text)) for text in texts]
    yours = [law.get(text, 0.0) for text in texts]
    theirs = [plain.get(text, 0.0) for text in texts]
    told = draw_series(ax, names, {"your loop": yours}, kind="bars", roles=("accepted",))
    ax.plot(range(len(names)), theirs, color="black", label="plain decoding", **CROSS_MARKER)
    ax.legend()
    other = series_in_words(names, {"plain decoding": theirs})
    show(ax.figure, f"Distribution of texts. {told}; {other}. Total variation {apart:.1g}.")


def broken_decoders(found: Mapping[str, tuple[float, float, float]]) -> None:
    """What each forgotten step costs: tokens per pass, and at the right the texts' distance."""
    left, right = panels(2, (8.6, 4.0))
    names = [forgotten.replace(" ", "\n") for forgotten in found]
    itself, usual, apart = zip(*found.values(), strict=True)
    tokens = {"the target is its own draft": itself, "the draft model drafts": usual}
    distances = {"distance": apart}
    told = [draw_series(left, names, tokens, kind="bars", text=".2f")]
    told += [draw_series(right, names, distances, kind="bars", roles=("excess",), text=".2f")]
    left.set_title("Tokens per pass")
    right.set_title("Distance from plain decoding's texts")
    for ax in (left, right):
        ax.set(xlim=(-0.6, len(names) - 0.4), xlabel="what was forgotten")
        ax.tick_params(axis="x", labelsize=9)
    left.figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncol=2)
    show(left.figure, f"Tokens per pass and distance, by what was forgotten. {'; '.join(told)}.")
