"""The figures of chapter 01, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong.
"""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch01.models import (
    DRAFT,
    TARGET,
    WORDS,
    Calls,
    DraftModel,
    TargetModel,
    greedy_decode,
    text,
)
from specdec_lib.lessons.common.drawing import bars, drawn_from, picture, write_inside
from specdec_lib.lessons.common.lending import at_most
from specdec_lib.lessons.common.style import GREY, role, show
from specdec_lib.lessons.common.tokens import arrow, board, key, token_box, write

MANY = 200  # calls of a model, more than any right answer to a figure makes


@drawn_from("draft_block")
def drawn_block(draft: Callable, model: Callable, prefix: list[int], uniforms: np.ndarray) -> None:
    """Each draft token's distribution as a bar from 0 to 1, and the number that picks from it."""
    counted = at_most(MANY, model, "the draft", "a block of k tokens takes k calls")
    drafted, q = draft(counted, list(prefix), len(uniforms), uniforms.copy())
    title = "Your block: the number (triangle) picks from each distribution"
    ax, parts = picture(title, size=(7.0, 0.8 + 0.75 * len(drafted))), []
    for i, (token, row) in enumerate(zip(drafted, q, strict=True)):
        y, left = len(drafted) - 1 - i, 0.0
        for word in np.flatnonzero(row):
            plain = {"facecolor": "white", "edgecolor": GREY}
            dress = role("draft") | {"label": None} if word == token else plain
            ax.barh(y, row[word], left=left, height=0.5, **dress)
            write_inside(ax, left + row[word] / 2, y, WORDS[word])
            left += row[word]
        ax.plot(uniforms[i], y + 0.36, "v", color="black", markersize=9)
        seen = text(prefix) if i == 0 else "... " + WORDS[drafted[i - 1]]
        parts.append(f"after '{seen}' the number {uniforms[i]:g} gives {WORDS[token]}")
    ax.set_yticks(range(len(drafted)), [WORDS[token] for token in drafted[::-1]])
    ax.set_xlim(0, 1)
    ax.grid(False)
    show(ax.figure, f"Draft tokens by your function: {'; '.join(parts)}.")


@drawn_from("score_block")
def chosen_rows(score: Callable, model: Callable, prefix: list[int], drafted: list[int]) -> None:
    """All rows of the target's pass, and which of them the student's function returned."""
    read, whole = [*prefix, *drafted], model([*prefix, *drafted])
    counted = at_most(MANY, model, "the target", "one call gives all rows")
    out = np.asarray(score(counted, list(prefix), list(drafted)), dtype=float)
    start = _where(out, whole)
    ax = board(len(read) + 1.8, 3.4, 0.85)
    for y, words in ((2.7, "the target\nreads"), (1.5, "a row for\neach"), (0.6, "its\nfavourite")):
        write(ax, 0.05, y, words)
    token_box(ax, len(read) + 1.1, 2.7, "ahead", "next")
    parts = []
    for i, token in enumerate(read):
        x = i + 1.1
        token_box(ax, x, 2.7, "drafted" if i >= len(prefix) else "plain", WORDS[token])
        name = f"p[{i - start}]" if start is not None and 0 <= i - start < len(out) else ""
        token_box(ax, x, 1.5, "chosen" if name else "plain", f"row {i}" + f"\n{name}" * bool(name))
        favourite = WORDS[int(np.argmax(whole[i]))]
        write(ax, x, 0.6, favourite, bold=bool(name))
        arrow(ax, (x + 0.18, 1.83), (x + 0.82, 2.4), bold=bool(name))
        about = (
            f"speaks of {WORDS[read[i + 1]]!r}" if i + 1 < len(read) else "speaks of what is next"
        )
        parts.append(f"row {i} {about}, says {favourite!r}" + f", is your {name}" * bool(name))
    said = f"Your function returned an array of shape {out.shape}"
    said += "." if start is not None else ", which are no rows of this pass."
    write(ax, len(read) / 2 + 0.6, 0.05, said)
    show(ax.figure, f"{said} The target read '{text(read)}': {'; '.join(parts)}.")


def _where(out: np.ndarray, whole: np.ndarray) -> int | None:
    """The row of `whole` (N, V) that `out` (n, V) begins with; None if it is none of it."""
    if out.ndim != 2 or out.shape[1:] != whole.shape[1:] or not len(out):
        return None
    starts = range(len(whole) - len(out), -1, -1)
    return next((s for s in starts if np.array_equal(whole[s : s + len(out)], out)), None)


@drawn_from("greedy_prefix")
def greedy_walk(count: Callable, drafted: list[int], p: np.ndarray) -> None:
    """The draft over the target's favourites, and what the student's count makes of them."""
    n, k = int(count(list(drafted), p.copy())), len(drafted)
    wanted = [int(token) for token in np.argmax(p, axis=1)]
    kinds = ["accepted"] * n + ["rejected"] * (n < k) + ["dropped"] * (k - n - 1)
    ax = board(k + 2.3, 3.2, 0.85)
    for y, words in ((2.6, "draft"), (1.6, "target's\nfavourite"), (0.5, "your\nverdict")):
        write(ax, 0.2, y, words)
    for i, token in enumerate(drafted):
        token_box(ax, i + 1.3, 2.6, "drafted", WORDS[token])
        write(ax, i + 1.3, 2.1, "=" if token == wanted[i] else "≠", size=14)
        token_box(ax, i + 1.3, 1.6, "plain", WORDS[wanted[i]])
        token_box(ax, i + 1.3, 0.5, kinds[i], WORDS[token])
    token_box(ax, k + 1.3, 1.6, "plain", WORDS[wanted[k]])
    pairs = zip(drafted, wanted, kinds, strict=False)
    parts = [f"draft {WORDS[d]}, target {WORDS[w]}, {kind}" for d, w, kind in pairs]
    key(ax, ("drafted", "accepted", "rejected", "dropped"))
    show(ax.figure, f"Your function counts {n} accepted tokens. {'; '.join(parts)}.")


@drawn_from("greedy_speculative_decode")
def passes(decode: Callable, prompt: list[int], k: int, max_new_tokens: int) -> None:
    """What each pass of the small target wrote, by the student's function."""
    calls = Calls(targets=MANY, in_a_block=MANY)
    models = TargetModel(TARGET.row, calls), DraftModel(DRAFT.row, calls)
    out = list(decode(*models, list(prompt), k, max_new_tokens))
    rows = _written(calls.blocks, len(prompt), out)
    ax = board(max([k + 1, *map(len, rows)]) + 2.0, 0.95 * len(rows) + 1.0, 0.75)
    for i, row in enumerate(rows):
        y = 0.95 * (len(rows) - 1 - i) + 1.0
        write(ax, 0.5, y, f"pass {i + 1}")
        for j, (word, kind) in enumerate(row):
            token_box(ax, j + 1.7, y, kind, word)
    same = out == greedy_decode(TARGET, prompt, max_new_tokens)
    said = f"{len(out)} tokens in {len(rows)} passes and {calls.drafts} draft calls; "
    said += "the target alone writes the same" if same else "the target alone writes another text"
    write(ax, (k + 2) / 2 + 0.5, 0.35, said)
    told = [" ".join(f"{word} ({kind})" for word, kind in row) for row in rows]
    key(ax, ("accepted", "corrected", "bonus"))
    show(ax.figure, f"{said}. Pass by pass: {'; '.join(told)}.")


def _written(
    blocks: list[tuple[int, int]], prompt: int, out: list[int]
) -> list[list[tuple[str, str]]]:
    """For each pass the words that it added, each with its kind."""
    starts = [reads - drafted - prompt for drafted, reads in blocks]
    ends = [*starts[1:], len(out)]
    rows = []
    for (drafted, _), start, end in zip(blocks, starts, ends, strict=True):
        words = [WORDS[token] for token in out[max(start, 0) : end]]
        last = "bonus" if len(words) > drafted else "corrected"
        rows.append([(word, "accepted") for word in words[:-1]] + [(w, last) for w in words[-1:]])
    return rows


@drawn_from("greedy_speculative_decode")
def on_real_text(
    decode: Callable, target: Callable, draft: Callable, prompt: list[int], read: Callable
) -> None:
    """The student's function on two real models; both give rows (N, V), `read` gives text."""
    new, k, calls = 32, 4, Calls(targets=MANY, in_a_block=MANY)

    def counted(tokens: list[int]) -> np.ndarray:
        calls.of_target(len(tokens))
        return target(tokens)

    def drafting(tokens: list[int]) -> np.ndarray:
        calls.of_draft()
        return draft(tokens)[-1]

    alone = greedy_decode(target, prompt, new)
    out = list(decode(counted, drafting, list(prompt), k, new))
    print(read(prompt) + "|" + read(out))
    print(f"\nAs the target alone: {out == alone}. {new} tokens: {new} passes alone,", end=" ")
    print(f"{len(calls.blocks)} in blocks of up to {k}, with {calls.drafts} calls of the draft.")
    _tokens_a_pass(calls.blocks, len(prompt), len(out))


def _tokens_a_pass(blocks: list[tuple[int, int]], prompt: int, total: int) -> None:
    starts = [reads - drafted - prompt for drafted, reads in blocks]
    written = np.diff([*starts, total])
    ax = picture("Tokens that each pass wrote, on real text", size=(7.0, 2.6))
    bars(ax, np.arange(1, len(written) + 1), written, "target", width=0.8)
    ax.set_xlabel("pass of the target")
    show(ax.figure, f"Tokens written by each pass of the target: {written.tolist()}.")
