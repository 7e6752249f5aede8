"""The figures of chapter 01, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong.
"""

from collections.abc import Callable, Sequence

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
from specdec_lib.lessons.common.drawing import drawn_from, named_bars, picture, write_inside
from specdec_lib.lessons.common.lending import at_most
from specdec_lib.lessons.common.series import table
from specdec_lib.lessons.common.style import GREY, role, show
from specdec_lib.lessons.common.tokens import FIRST, arrow, board, boxes, fates, key, write

MANY = 200  # calls of a model, more than any right answer to a figure makes


@drawn_from("draft_block")
def drawn_block(draft: Callable, model: Callable, prefix: list[int], uniforms: np.ndarray) -> None:
    """Each draft token's distribution as a bar from 0 to 1, and the number that picks from it."""
    counted = at_most(MANY, model, "the draft", "a block of k tokens takes k calls")
    drafted, q = draft(counted, prefix, len(uniforms), uniforms)
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


def boxed(tokens: Sequence[int], kind: str) -> list[tuple[str, str]]:
    """The words of `tokens` as boxes of one kind."""
    return [(kind, WORDS[token]) for token in tokens]


@drawn_from("score_block")
def chosen_rows(score: Callable, model: Callable, prefix: list[int], drafted: list[int]) -> None:
    """All rows of the target's pass, and which of them the student's function returned."""
    read, whole = [*prefix, *drafted], model([*prefix, *drafted])
    counted = at_most(MANY, model, "the target", "one call gives all rows")
    out = np.asarray(score(counted, prefix, drafted), dtype=float)
    start = _where(out, whole)
    names = {} if start is None else {start + i: f"p[{i}]" for i in range(len(out))}
    ax = board(len(read) + 2.2, 3.2, 0.85, "The rows that your function returned")
    text_and_block = boxed(prefix, "plain") + boxed(drafted, "drafted")
    boxes(ax, 2.7, "the target\nreads", [*text_and_block, ("ahead", "next")])
    rows = [("chosen", f"row {i}\n{names[i]}") if i in names else ("plain", f"row {i}")
            for i in range(len(read))]  # fmt: skip
    boxes(ax, 1.5, "a row for\neach", rows)
    write(ax, 0.4, 0.6, "its\nfavourite", bold=True)
    favourites = [WORDS[int(np.argmax(row))] for row in whole]
    for i, favourite in enumerate(favourites):
        write(ax, FIRST + i, 0.6, favourite, bold=i in names)
        arrow(ax, (FIRST + i + 0.18, 1.83), (FIRST + i + 0.82, 2.4), bold=i in names)
    said = f"Your function returned an array of shape {out.shape}"
    said += "." if names else ", which are no rows of this pass."
    write(ax, len(read) / 2 + 1, 0.05, said)
    told = (f"{row} says {word}" for (_, row), word in zip(rows, favourites, strict=True))
    words = "; ".join(told).replace("\n", ", your ")
    show(ax.figure, f"{said} The target read '{text(read)}': {words}.")


def _where(out: np.ndarray, whole: np.ndarray) -> int | None:
    """The row of `whole` (N, V) that `out` (n, V) begins with; None if it is none of it."""
    if out.ndim != 2 or out.shape[1:] != whole.shape[1:] or not len(out):
        return None
    starts = range(len(whole) - len(out), -1, -1)
    return next((s for s in starts if np.array_equal(whole[s : s + len(out)], out)), None)


def what_the_pass_reads(prefix: list[int], drafted: list[int]) -> None:
    """What the cache holds, what the pass reads after it, and the row that each token gives."""
    held, k = len(prefix) - 1, len(drafted)
    read, after = [*prefix[-1:], *drafted], held + 0.6
    ax = board(held + k + 3.2, 3.3, 0.8, "With a cache, a pass reads K + 1 tokens")
    boxes(ax, 2.4, "tokens", boxed(prefix[:-1], "ahead"))
    boxes(ax, 2.4, "", boxed(prefix[-1:], "plain") + boxed(drafted, "drafted"), after)
    boxes(ax, 1.3, "rows", [("scored", f"p[{i}]") for i in range(k + 1)], after)
    gives = [*(f"judges\n{WORDS[token]}" for token in drafted), "the\nbonus"]
    for i, words in enumerate(gives):
        arrow(ax, (FIRST + after + i, 2.15), (FIRST + after + i, 1.55), bold=True)
        write(ax, FIRST + after + i, 0.75, words)
    write(ax, FIRST + (held - 1) / 2, 3.0, "in the cache", bold=True)
    said = f"one pass reads the last token and {k} drafts"
    write(ax, FIRST + after + k / 2, 3.0, said, bold=True)
    told = (f"after {WORDS[t]}, p[{i}]: {gives[i]}".replace("\n", " ") for i, t in enumerate(read))
    show(ax.figure, f"The cache holds '{text(prefix[:-1])}'; {said}. Rows {'; '.join(told)}.")


@drawn_from("greedy_prefix")
def greedy_walk(count: Callable, drafted: list[int], p: np.ndarray) -> None:
    """The draft over the target's favourites, and what the student's count makes of them."""
    n, k = int(count(drafted, p)), len(drafted)
    wanted = [int(token) for token in np.argmax(p, axis=1)]
    judged = [(kind, WORDS[token]) for kind, token in zip(fates(n, k), drafted, strict=True)]
    ax = board(k + 2.5, 3.0, 0.85, "The draft tokens that your function accepts")
    boxes(ax, 2.6, "draft", boxed(drafted, "drafted"))
    boxes(ax, 1.6, "target's\nfavourite", boxed(wanted, "plain"))
    boxes(ax, 0.5, "your\nverdict", judged)
    for i, token in enumerate(drafted):
        write(ax, FIRST + i, 2.1, "=" if token == wanted[i] else "≠", size=14)
    key(ax, ("drafted", "accepted", "rejected", "dropped"))
    pairs = zip(judged, wanted, strict=False)
    told = [f"draft {word}, target {WORDS[w]}, {kind}" for (kind, word), w in pairs]
    show(ax.figure, f"Your function counts {n} accepted tokens. {'; '.join(told)}.")


@drawn_from("greedy_speculative_decode")
def passes(decode: Callable, prompt: list[int], k: int, max_new_tokens: int) -> None:
    """What each pass of the small target wrote, by the student's function."""
    calls = Calls(targets=MANY, in_a_block=MANY)
    models = TargetModel(TARGET.row, calls), DraftModel(DRAFT.row, calls)
    out = list(decode(*models, prompt, k, max_new_tokens))
    rows = _written(calls.blocks, len(prompt), out)
    width, height = max([k + 1, *map(len, rows)]) + 2.0, 0.95 * len(rows) + 0.7
    ax = board(width, height, 0.75, "What each pass wrote, by your function")
    for i, row in enumerate(rows):
        boxes(ax, height - 0.65 - 0.95 * i, f"pass {i + 1}", row)
    same = out == greedy_decode(TARGET, prompt, max_new_tokens)
    said = f"{len(out)} tokens in {len(rows)} passes and {calls.drafted} draft calls; "
    said += f"the target alone writes {'the same' if same else 'another text'}"
    write(ax, width / 2, 0.35, said)
    key(ax, ("accepted", "corrected", "bonus"))
    told = [" ".join(f"{word} ({kind})" for kind, word in row) for row in rows]
    show(ax.figure, f"{said}. Pass by pass: {'; '.join(told)}.")


def _written(
    blocks: list[tuple[int, int]], prompt: int, out: list[int]
) -> list[list[tuple[str, str]]]:
    """For each pass the words that it added, each after its kind."""
    starts = [reads - drafted - prompt for drafted, reads in blocks]
    ends = [*starts[1:], len(out)]
    rows = []
    for (drafted, _), start, end in zip(blocks, starts, ends, strict=True):
        words = [WORDS[token] for token in out[max(start, 0) : end]]
        last = "bonus" if len(words) > drafted else "corrected"
        rows.append([("accepted", word) for word in words[:-1]] + [(last, w) for w in words[-1:]])
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
    print(read(alone))
    rows = [{"drafter": "no draft", "passes": new, "draft calls": 0, "text": "the same"}]
    for name, drafter in _drafters(draft, prompt, alone, target(prompt[:1]).shape[1]).items():
        calls = Calls(targets=MANY, in_a_block=MANY)
        out = list(decode(_counted(target, calls), DraftModel(drafter, calls), prompt, k, new))
        same = "the same" if out == alone else "another text"
        counts = {"passes": len(calls.blocks), "draft calls": calls.drafted}
        rows.append({"drafter": name, **counts, "text": same})
    found = {row["drafter"]: row["passes"] for row in rows}
    title = f"The same {new} tokens: passes of the target"
    ax = picture(title, size=(7.0, 2.8))
    words = named_bars(ax, found, [f"{count}" for count in found.values()], "target")
    ax.set_xlim(0, 1.1 * new)
    show(ax.figure, f"{title}. {words}.")
    table(rows)


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
