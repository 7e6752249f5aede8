"""The figures of chapter 08 that are drawn from the student's functions, wrong ones too."""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch08 import computed
from specdec_lib.lessons.ch08 import lesson as ch08
from specdec_lib.lessons.ch08.models import ModelPass, WatchedCache
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, series_text
from specdec_lib.lessons.drawing.style import role, show
from specdec_lib.lessons.drawing.tokens import FIRST_X, board, box_legend, boxes, write_at

WITH_A_WHOLE_BLOCK = 17  # the generator's seed in that picture: one block is accepted whole

# The smallest example: the text before a block, and its draft tokens.
BEFORE, _BLOCK = "ab", "cd"
_WORDS = read_tables(__package__, "figures.toml")
_PATHS = _WORDS["paths"]  # how a token comes into its place, and its role


def two_caches() -> None:
    """What both caches hold after a block that is rejected, and after one that is not."""
    ax, parts = board(8.4, 5.9, 0.75), []
    for top, (title, accepted, last) in zip((5.6, 2.6), _WORDS["two_blocks"], strict=True):
        text, end = BEFORE + _BLOCK[:accepted] + last, ("corrected", "bonus")[accepted - 1]
        kinds = ["plain"] * len(BEFORE) + ["accepted"] * accepted + [end]
        write_at(ax, 4.0, top, title, bold=True)
        boxes(ax, top - 0.6, "the text", zip(kinds, text, strict=True))
        parts.append(title)
        for y, name, read in ((top - 1.3, "target", len(_BLOCK)), (top - 2.0, "draft", 1)):
            held = BEFORE + _BLOCK[:read]
            n_cached = min(len(held), len(text) - 1)
            row = [("plain", token) for token in text[:n_cached]]
            row += [("chosen", token) for token in text[n_cached:]]
            boxes(ax, y, f"{name}'s\ncache", row)
            parts.append(f"the {name} holds {held[:n_cached]} and reads {text[n_cached:]} next")
            if lost := held[n_cached:]:
                write_at(ax, 5.6, y, f"✗ {lost} forgotten")
                parts.append(f"it forgot {lost}")
    write_at(ax, 4.0, 0.0, "thin frame: in the cache; thick frame: the next pass reads it")
    show(ax.figure, f"The text before the block is {BEFORE}. {'; '.join(parts)}.")


@axes.uses_student_functions("rollback")
def going_back(rollback: Callable) -> None:
    """The prediction's cache after its pass, and after the student's rollback."""
    read, k, accepted = ch08.READ_TOKENS, ch08.BLOCK_SIZE, ch08.N_ACCEPTED
    held = read + 1 + k
    cache = WatchedCache(range(held))
    rollback(cache, read + 1 + accepted)
    kinds = ["plain"] * (read + 1) + ["accepted"] * accepted
    kinds += ["rejected"] + ["dropped"] * (k - accepted - 1)
    ax = board(held + 1.7, 2.6, 0.62)
    row = [(kind, str(position)) for position, kind in enumerate(kinds)]
    boxes(ax, 1.8, "read", row)
    boxes(ax, 0.7, "yours", row[: len(cache.tokens)])
    box_legend(ax, ("accepted", "rejected", "dropped"))
    show(
        ax.figure,
        f"The cache holds {held} positions after the pass: {read + 1} of the text, {accepted} "
        f"accepted, 1 rejected, {k - accepted - 1} dropped. After your rollback to "
        f"{read + 1 + accepted} it holds {len(cache.tokens)}.",
    )


@axes.uses_student_functions("verify_block")
def distribution_of_blocks(verify_block: Callable) -> None:
    """Each position of a block of two: what is accepted, what is added, what is left open."""
    accepted, added, rows = computed.verdict_law(verify_block)
    thirds, parts = axes.panels(3, (8.6, 3.4), ylabel="probability", sharey=True), []
    for i, ax in enumerate(thirds):
        p = computed.LAW_P[i]
        open_mass = max(0.0, 1 - (accepted + added)[i].sum()) * p
        masses = dict(zip(_PATHS, (accepted[i], added[i], open_mass), strict=True))
        axes.pile_bars(ax, range(3), masses, list(_PATHS.values()))
        ax.plot(range(3), p, color="black", label="p, the target", **axes.CROSS)
        ax.set_title(f"position {i + 1}")
        ax.set_xticks(range(3), ["token 0", "token 1", "token 2"])
        total = (accepted + added)[i] + open_mass
        parts.append(f"position {i + 1}: {np.round(total, 4).tolist()}, p {p.tolist()}")
    paths = (role(name) | {"label": label} for label, name in _PATHS.items())
    handles = [*thirds[0].lines, *axes.swatches(paths)]
    thirds[0].figure.legend(handles=handles, loc="outside lower center", ncol=4)
    show(
        thirds[0].figure,
        f"The distribution of your verify_block over {rows} rows. {'; '.join(parts)}.",
    )


@axes.uses_student_functions("speculative_generate")
def tokens_read(speculative_generate: Callable) -> None:
    """Which tokens each pass of the example models reads, in the order of the passes."""
    target, draft = ch08.example_models()
    rng = np.random.default_rng(WITH_A_WHOLE_BLOCK)
    prompt = ch08.EXAMPLES[1][1].prompt
    text = speculative_generate(target, draft, list(prompt), 3, 9, 1.0, rng)
    shown, whole = target.passes, [*prompt, *text]
    longest = max(len(whole), *(len(model_pass.held) for model_pass in shown))
    title = f"What your loop reads in each pass, for {len(text)} tokens"
    ax = board(longest + 1.7, len(shown) * 0.5 + 1.5, 0.62, title)
    for number, model_pass in enumerate(shown, 1):
        kind = "scored" if model_pass.name == "target" else "drafted"
        row, y = [(kind, str(token)) for token in model_pass.tokens], 0.5 * (len(shown) - number)
        boxes(ax, y + 1.3, model_pass.name, row, model_pass.start)
    boxes(ax, 0.65, "the text", [("plain", str(token)) for token in whole])
    write_at(ax, 0.4, 0.15, "position", size=8)
    for position in range(len(whole)):
        write_at(ax, FIRST_X + position, 0.15, str(position), size=8)
    dresses = (role(name) | {"label": words} for name, words in _WORDS["readers"].items())
    ax.legend(handles=axes.swatches(dresses), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=2)
    words = "; ".join(f"the {model_pass.name} reads {_range(model_pass)}" for model_pass in shown)
    show(ax.figure, f"Passes of your loop in their order: {words}. The text: {text}.")


def _range(model_pass: ModelPass) -> str:
    first = model_pass.start
    last = first + len(model_pass.tokens) - 1
    return f"position {first}" if last == first else f"positions {first} to {last}"


@axes.uses_student_functions("speculative_generate")
def distribution_of_texts(speculative_generate: Callable) -> None:
    """The exact distribution of short texts by the student's loop, beside plain decoding's."""
    law, plain = computed.text_law(speculative_generate), computed.plain_law()
    apart = exact.total_variation_distance(law, plain)
    title = f"All texts of three tokens: total variation {apart:.1g}"
    ax = axes.chart(title, "probability", size=(8.2, 3.4))
    texts = list(product(range(2), repeat=computed.TEXT_LENGTH))
    names = [" ".join(map(str, text)) for text in texts]
    yours = [law.get(text, 0.0) for text in texts]
    theirs = [plain.get(text, 0.0) for text in texts]
    words = draw_series(ax, names, {"your loop": yours}, kind="bars", roles=("accepted",))
    ax.plot(range(len(names)), theirs, color="black", label="plain decoding", **axes.CROSS)
    ax.legend()
    other = series_text(names, {"plain decoding": theirs})
    show(ax.figure, f"Distribution of texts. {words}; {other}. Total variation {apart:.1g}.")


def broken_decoders(costs: Mapping[str, tuple[float, float, float]]) -> None:
    """What each forgotten step costs: tokens per pass, and at the right the texts' distance."""
    left, right = axes.panels(2, (8.6, 4.0))
    names = [forgotten.replace(" ", "\n") for forgotten in costs]
    itself, usual, apart = zip(*costs.values(), strict=True)
    tokens = {"the target is its own draft": itself, "the draft is base": usual}
    distances = {"distance": apart}
    words = [draw_series(left, names, tokens, kind="bars", text=".2f")]
    words += [draw_series(right, names, distances, kind="bars", roles=("excess",), text=".2f")]
    left.set_title("Tokens per pass")
    right.set_title("Distance from plain decoding's texts")
    for ax in (left, right):
        ax.set(xlim=(-0.6, len(names) - 0.4), xlabel="what was forgotten")
        ax.tick_params(axis="x", labelsize=9)
    left.figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncol=2)
    show(left.figure, f"Tokens per pass and distance, by what was forgotten. {'; '.join(words)}.")
