"""The figures of chapter 01, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from specdec_lib.lessons.ch01 import models
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.drawing import tokens as draw
from specdec_lib.lessons.drawing.axes import chart, named_bars, uses_student_functions
from specdec_lib.lessons.drawing.style import show

_MAX_CALLS = 200  # calls of a model, more than any right answer to a figure makes


def boxed(tokens: Sequence[int], kind: str) -> list[tuple[str, str]]:
    """The words of `tokens` as boxes of one kind."""
    return [(kind, models.WORDS[token]) for token in tokens]


@uses_student_functions("score_block")
def chosen_rows(score: Callable, model: Callable, prefix: list[int], drafted: list[int]) -> None:
    """All rows of the target's pass, and which of them the student's function returned."""
    read, whole = [*prefix, *drafted], model([*prefix, *drafted])
    out = np.asarray(score(model, prefix, drafted), dtype=float)
    places = reversed(range(len(read)))
    start = next((s for s in places if np.array_equal(whole[s : s + len(out)], out)), None)
    names = {} if start is None else {start + i: f"p[{i}]" for i in range(len(out))}
    ax = draw.board(len(read) + 2.2, 3.2, 0.85, "The rows that your function returned")
    text_and_block = boxed(prefix, "plain") + boxed(drafted, "drafted")
    draw.boxes(ax, 2.7, "the target\nreads", [*text_and_block, ("ahead", "next")])
    rows = [("chosen", f"row {i}\n{names[i]}") if i in names else ("plain", f"row {i}")
            for i in range(len(read))]  # fmt: skip
    draw.boxes(ax, 1.5, "a row for\neach", rows)
    draw.write_at(ax, 0.4, 0.6, "its\nfavourite", bold=True)
    favourites = [models.WORDS[int(np.argmax(row))] for row in whole]
    for i, favourite in enumerate(favourites):
        x = draw.FIRST_X + i
        draw.write_at(ax, x, 0.6, favourite, bold=i in names)
        draw.arrow(ax, (x + 0.18, 1.83), (x + 0.82, 2.4), bold=i in names)
    summary = f"Your function returned an array of shape {out.shape}"
    summary += "." if names else ", which are no rows of this pass."
    draw.write_at(ax, len(read) / 2 + 1, 0.05, summary)
    parts = (f"{row} says {word}" for (_, row), word in zip(rows, favourites, strict=True))
    words = "; ".join(parts).replace("\n", ", your ")
    show(ax.figure, f"{summary} The target read '{models.text(read)}': {words}.")


@uses_student_functions("greedy_prefix")
def greedy_walk(count: Callable, drafted: list[int], p: np.ndarray) -> None:
    """The draft over the target's favourites, and what the student's count makes of them."""
    n, k = int(count(drafted, p)), len(drafted)
    wanted = [int(token) for token in np.argmax(p, axis=1)]
    judged = [
        (kind, models.WORDS[token])
        for kind, token in zip(draw.token_outcomes(n, k), drafted, strict=True)
    ]
    ax = draw.board(len(wanted) + 1.5, 4.0, 0.8, "The draft tokens that your function accepts")
    draw.boxes(ax, 3.6, "draft", boxed(drafted, "drafted"))
    draw.boxes(ax, 2.6, "target's\nfavourite", boxed(wanted, "plain"))
    draw.boxes(ax, 1.5, "your\nverdict", judged)
    for i, token in enumerate(drafted):
        draw.write_at(ax, draw.FIRST_X + i, 3.1, "=" if token == wanted[i] else "≠", size=14)
    last = ("corrected" if n < k else "bonus", models.WORDS[wanted[min(n, k)]])
    written = [*boxed(drafted[:n], "accepted"), last]
    draw.boxes(ax, 0.5, "the pass\nwrites", written)
    draw.box_legend(ax, ("drafted", "accepted", "rejected", "dropped", "corrected", "bonus"))
    pairs = zip(judged, wanted, strict=False)
    parts = [f"draft {word}, target {models.WORDS[w]}, {kind}" for (kind, word), w in pairs]
    show(
        ax.figure,
        f"Accepted tokens, by your function: {n}. {'; '.join(parts)}. "
        f"So the pass writes {', '.join(f'{word} ({kind})' for kind, word in written)}.",
    )


@uses_student_functions("greedy_speculative_decode")
def block_fates(decode: Callable, prompt: list[int], k: int, max_new_tokens: int) -> None:
    """What each pass of the small target wrote by the student's function, and what fell out."""
    out, calls = _run(decode, models.TARGET, models.DRAFT.row, prompt, k, max_new_tokens)
    rows = [*_fates(calls.blocks, len(prompt), out)]
    most, low = max(len(new) for new, _ in rows), max(len(lost) for _, lost in rows)
    width, height = draw.FIRST_X + most + low + 0.3, 0.95 * len(rows) + 0.9
    ax = draw.board(width, height, 0.75, "What became of every block, by your function")
    for i, (new, lost) in enumerate(rows):
        draw.boxes(ax, height - 0.95 - 0.95 * i, f"pass {i + 1}", new)
        draw.boxes(ax, height - 0.95 - 0.95 * i, "", lost, most + 0.3)
    draw.write_at(ax, draw.FIRST_X + (most - 1) / 2, height - 0.3, "into the text", bold=True)
    if low:
        draw.write_at(ax, draw.FIRST_X + most + 0.3 + (low - 1) / 2, height - 0.3, "out", bold=True)
    own = models.greedy_decode(models.TARGET, prompt, max_new_tokens)
    end = f"stops after {len(own)}" if out[: len(own)] == own[: len(out)] else "writes another text"
    summary = f"{len(out)} tokens in {len(rows)} passes and {calls.drafted} draft calls; "
    summary += f"the target alone {'writes the same' if out == own else end}"
    draw.write_at(ax, width / 2, 0.35, summary)
    draw.box_legend(ax, ("accepted", "corrected", "bonus", "rejected", "dropped"))
    parts = [" ".join(f"{word} ({kind})" for kind, word in [*new, *lost]) for new, lost in rows]
    show(ax.figure, f"{summary}. Pass by pass: {'; '.join(parts)}.")


def _run(
    decode: Callable, target: Callable, draft: Callable, prompt: list[int], k: int, new: int
) -> tuple[list[int], models.Calls]:
    """What the student's function writes with these models, and the calls that it made of them."""
    calls = models.Calls(targets=_MAX_CALLS, in_a_block=_MAX_CALLS)

    def counted(tokens: list[int]) -> np.ndarray:
        calls.of_target(list(tokens))
        return target(tokens)

    return list(decode(counted, models.DraftModel(draft, calls), prompt, k, new)), calls


def _fates(blocks: list[tuple[int, list[int]]], prompt: int, out: list[int]) -> Iterator[tuple]:
    """For each pass the boxes that came into the text, and those of the draft tokens that did not.

    `blocks` are as in `Calls`, `out` the new tokens that a prompt of so many tokens got.
    """
    starts = [len(read) - drafted - prompt for drafted, read in blocks]
    if not starts:
        raise Different("it never calls the target.")
    for (drafted, read), start, end in zip(blocks, starts, [*starts[1:], len(out)], strict=True):
        block, written = read[len(read) - drafted :], out[max(start, 0) : end]
        pairs = zip(block, written, strict=False)
        n = next((i for i, (a, b) in enumerate(pairs) if a != b), min(drafted, len(written)))
        last = "bonus" if n == drafted else "corrected"
        yield (
            boxed(written[:n], "accepted") + boxed(written[n:], last),
            boxed(block[n : n + 1], "rejected") + boxed(block[n + 1 :], "dropped"),
        )


@uses_student_functions("greedy_speculative_decode")
def ladder(
    decode: Callable,
    target: Callable,
    draft: Callable,
    lookup: Callable,
    prompt: list[int],
    read: Callable,
) -> None:
    """The student's function on a real target with four drafters: the text, and passes of each.

    The models give rows (N, V), `lookup` gives the tokens that it copies, `read` gives text.
    """
    new, k = 24, 3
    alone = models.greedy_decode(target, prompt, new)
    print(f"The prompt:\n\n{read(prompt)}\nThe target alone goes on, in {new} passes:\n")
    print(read(alone))
    n_passes = {"no draft": new}
    vocab_size = target(prompt[:1]).shape[1]
    for name, drafter in _drafters(draft, lookup, prompt, alone, vocab_size).items():
        out, calls = _run(decode, target, drafter, prompt, k, new)
        same = "the same text" if out == alone else "another text"
        n_passes[f"{name},\n{same}"] = len(calls.blocks)
    title = f"{new} tokens by your function, K = {k}: passes of the target"
    ax = chart(title, size=(7.0, 3.2))
    words = named_bars(ax, n_passes, [f"{passes}" for passes in n_passes.values()], "target")
    show(ax.figure, f"{title}. {words}.".replace("\n", " "))


def _drafters(
    draft: Callable, lookup: Callable, prompt: list[int], alone: list[int], vocab_size: int
) -> dict[str, Callable]:
    """Four drafters by name, each from a list of tokens to a distribution (V,).

    `alone` is what the target writes after `prompt`; `draft` gives rows (N, V).
    """
    rng = np.random.default_rng(0)

    def certain(token: int) -> np.ndarray:
        return np.eye(1, vocab_size, token)[0]

    return {
        "oracle": lambda tokens: certain(alone[len(tokens) - len(prompt)]),
        "draft model": lambda tokens: draft(tokens)[-1],
        "copy from the text": lambda tokens: certain(*(lookup(tokens, 1, 3) or tokens[-1:])),
        "random tokens": lambda tokens: certain(int(rng.integers(vocab_size))),
    }
