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
from specdec_lib.lessons.common.drawing import (
    drawn_from,
    named_rows,
    picture,
    write_beside,
    write_inside,
)
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
    ax = board(len(read) + 1.8, 3.2, 0.85, "The rows that your function returned")
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


def what_the_pass_reads(prefix: list[int], drafted: list[int]) -> None:
    """What the cache holds, what the pass reads after it, and the row that each token gives."""
    held, k = len(prefix) - 1, len(drafted)
    ax = board(held + k + 3.2, 3.3, 0.8, "With a cache, a pass reads K + 1 tokens")
    read = [prefix[-1], *drafted]
    for x, token in enumerate(prefix[:-1]):
        token_box(ax, x + 1.6, 2.4, "ahead", WORDS[token])
    for i, token in enumerate(read):
        x = held + i + 2.2
        token_box(ax, x, 2.4, "drafted" if i else "plain", WORDS[token])
        arrow(ax, (x, 2.15), (x, 1.55), bold=True)
        token_box(ax, x, 1.3, "scored", f"p[{i}]")
        write(ax, x, 0.75, f"judges\n{WORDS[drafted[i]]}" if i < k else "the\nbonus")
    write(ax, 0.5, 2.4, "tokens")
    write(ax, 0.5, 1.3, "rows")
    write(ax, 1.6 + (held - 1) / 2, 3.0, "in the cache", bold=True)
    write(ax, held + 2.2 + k / 2, 3.0, f"one pass reads the last token and {k} drafts", bold=True)
    told = ", ".join(
        f"after {WORDS[token]!r} row p[{i}], which "
        + (f"judges {WORDS[drafted[i]]!r}" if i < k else "gives the bonus")
        for i, token in enumerate(read)
    )
    show(
        ax.figure,
        f"The cache holds '{text(prefix[:-1])}'. One pass reads {k + 1} tokens, the last of the "
        f"text and {k} drafts, and gives {k + 1} rows: {told}.",
    )


@drawn_from("greedy_prefix")
def greedy_walk(count: Callable, drafted: list[int], p: np.ndarray) -> None:
    """The draft over the target's favourites, and what the student's count makes of them."""
    n, k = int(count(list(drafted), p.copy())), len(drafted)
    wanted = [int(token) for token in np.argmax(p, axis=1)]
    kinds = ["accepted"] * n + ["rejected"] * (n < k) + ["dropped"] * (k - n - 1)
    ax = board(k + 2.3, 3.0, 0.85, "The draft tokens that your function accepts")
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
    width, height = max([k + 1, *map(len, rows)]) + 2.0, 0.95 * len(rows) + 0.7
    ax = board(width, height, 0.75, "What each pass wrote, by your function")
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
def ladder(
    decode: Callable, target: Callable, draft: Callable, prompt: list[int], read: Callable
) -> None:
    """The student's function on a real target with four drafters: the text, and passes of each.

    The models give rows (N, V), `read` gives text.
    """
    new, k = 24, 4
    alone = greedy_decode(target, prompt, new)
    print(f"The prompt:\n\n{read(prompt)}\nThe target alone goes on, in {new} passes:\n")
    print(f"{read(alone)}\n")
    print(f"{'drafter':22}{'passes':>8}{'draft calls':>13}   text")
    found = {}
    for name, drafter in _drafters(draft, prompt, alone, target(prompt[:1]).shape[1]).items():
        calls = Calls(targets=MANY, in_a_block=MANY)
        out = list(decode(_counted(target, calls), _drafting(drafter, calls), [*prompt], k, new))
        found[name] = len(calls.blocks)
        same = "the same" if out == alone else "another text"
        print(f"{name:22}{len(calls.blocks):8}{calls.drafts:13}   {same}")
    _passes_by_drafter(found, new)


def _drafters(
    draft: Callable, prompt: list[int], alone: list[int], vocab_size: int
) -> dict[str, Callable]:
    """Four drafters by name, each from a list of tokens to a distribution (V,).

    `alone` is what the target writes after `prompt`; `draft` gives rows (N, V).
    """
    start, rng = len(prompt), np.random.default_rng(0)

    def certain(token: int) -> np.ndarray:
        return np.eye(1, vocab_size, token)[0]

    return {
        "oracle": lambda seen: certain(alone[len(seen) - start]),
        "draft model": lambda seen: draft(seen)[-1],
        "copy from the text": lambda seen: certain(_copied(seen)),
        "random tokens": lambda seen: certain(int(rng.integers(vocab_size))),
    }


def _copied(seen: list[int], longest: int = 3) -> int:
    """What followed the last time that `seen` ended as it does now; else its last token."""
    for size in range(min(longest, len(seen) - 1), 0, -1):
        for start in range(len(seen) - size - 1, -1, -1):
            if seen[start : start + size] == seen[-size:]:
                return seen[start + size]
    return seen[-1]


def _counted(target: Callable, calls: Calls) -> Callable:
    def counted(tokens: list[int]) -> np.ndarray:
        calls.of_target(len(tokens))
        return target(tokens)

    return counted


def _drafting(drafter: Callable, calls: Calls) -> Callable:
    def drafting(tokens: list[int]) -> np.ndarray:
        calls.of_draft()
        return drafter(tokens)

    return drafting


def _passes_by_drafter(found: dict[str, int], new: int) -> None:
    """Passes of the target as bars, plain decoding on top."""
    rows = {"no draft": new} | found
    ax = picture(f"The same {new} tokens: passes of the target", size=(7.0, 2.8))
    y = named_rows(ax, list(rows))
    ax.barh(y, list(rows.values()), 0.6, **role("target") | {"label": None})
    write_beside(ax, list(rows.values()), y, [f"{count}" for count in rows.values()])
    ax.set_xlim(0, 1.1 * new)
    listed = ", ".join(f"{name} {count}" for name, count in rows.items())
    show(ax.figure, f"Passes of the target for the same {new} tokens: {listed}.")
