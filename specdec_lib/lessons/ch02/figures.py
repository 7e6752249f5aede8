"""The figures of chapter 02, drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

import html
import inspect
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from specdec_lib import exact
from specdec_lib.lessons.ch02 import computed
from specdec_lib.lessons.ch02.models import P_AFTER, TEMPERATURE, draft_model
from specdec_lib.lessons.checking.answers import read_tables
from specdec_lib.lessons.data.distributions import total_variation
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.race import COLOUR_KEY, race_css
from specdec_lib.lessons.drawing.series import series_figure, series_text
from specdec_lib.lessons.drawing.style import GREY, display_page, role, show
from specdec_lib.lessons.drawing.tokens import draw_blocks, token_outcomes
from specdec_lib.lessons.drawing.wording import TOKEN_NAMES, by_token

_SECONDS_A_BLOCK = 0.15  # so that a text is read as it is written
_ALGORITHM = read_tables(__package__, "algorithm.toml")  # the paper's lines by function


def kept_of_100(keep: Sequence[int], p: np.ndarray, q: np.ndarray) -> None:
    """100 proposals of the draft (V,): how many the reader keeps, and what is missing after that.

    A choice that cannot be made gets a line that says why.
    """
    proposed, wanted = np.round(100 * q).astype(int), np.round(100 * p).astype(int)
    n_kept = np.asarray(keep)
    numbers = n_kept.shape == q.shape and n_kept.dtype.kind in "iuf"
    if not numbers or (n_kept < 0).any() or (n_kept > proposed).any():
        most = ", ".join(map(str, proposed))
        print(f"keep is {keep}: write {len(q)} numbers from 0, at most {most}.")
        return
    left, right = axes.panels(2, (8.6, 3.6), ylabel="of 100 proposals")
    counts = (f"{some} of {most}" for some, most in zip(n_kept, proposed, strict=True))
    parts = {"kept": n_kept, "dropped": proposed - n_kept}
    axes.stacked_token_bars(left, parts, ("accepted", "excess"), counts, target=wanted)
    left.set_title(f"You keep {n_kept.sum()} of 100")
    _draw_missing(right, wanted - n_kept)
    words = f"Proposed {by_token(proposed)}. You keep {by_token(n_kept)}, {n_kept.sum()} in all."
    show(right.figure, f"{words} Missing, or too many if negative: {by_token(wanted - n_kept)}.")


def broken_rule(rule: str, p: np.ndarray, q: np.ndarray) -> None:
    """The exact output of a rule of RULES, by its two paths, next to the target (V,)."""
    if rule not in computed.RULES:
        names = ", ".join(map(repr, computed.RULES))
        print(f"There is no rule {rule!r} here. Choose one of: {names}.")
        return
    masses = computed.paths(rule, p, q)
    off = masses.sum(axis=0) - p
    ax = axes.chart(f"The rule: {rule}", "probability")
    texts = (f"{mass:.4f}\n({error:+.4f})" for mass, error in zip(off + p, off, strict=True))
    far = total_variation(off + p, p)
    ax.set_xlabel(f"too much, added up: {far:.3f} of the probability")
    words = axes.masses_by_path(ax, masses, p, texts, ("accepted", "written otherwise"))
    ax.set_ylim(0, 1.3 * max(p.max(), (off + p).max()))
    show(ax.figure, f"The rule {rule!r}. Mass {words}. Too much, added up: {far:.3f}.")


@axes.uses_student_functions("acceptance_probability")
def accepted_heights(accept: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The draft's bars (V,), cut where the student's acceptance probability cuts them."""
    share = np.array([accept(p, q, token) for token in range(len(p))], dtype=float)
    parts = {"accepted by your function": share * q, "rejected": np.maximum(q - share * q, 0)}
    title = "Accepted height over the whole height of the draft's bar"
    ax = axes.chart(title, "probability")
    words = axes.stacked_token_bars(ax, parts, ("accepted", "excess"), target=p)
    texts = (f"{ratio:.2f}{', above 1' if ratio > 1 else ''}" for ratio in share)
    axes.write_above(ax, range(len(p)), q * np.maximum(share, 1), texts)
    shares = f"Shares {by_token(share)}, in all {share @ q:.3g}; the target {by_token(p)}"
    show(ax.figure, f"{title}. {words}. {shares}.")


@axes.uses_student_functions("draft_block")
def drawn_block(draft: Callable, uniforms: np.ndarray) -> None:
    """Each draft token's distribution as a bar from 0 to 1, and the number that picks from it."""
    drafted, q = draft(draft_model, [0], len(uniforms), uniforms)
    title = "Your block: each number (triangle) picks a token"
    ax, parts = axes.chart(title, size=(7.0, 0.8 + 0.75 * len(drafted))), []
    for i, (token, row) in enumerate(zip(drafted, q, strict=True)):
        y, left = len(drafted) - 1 - i, 0.0
        for other in np.flatnonzero(row):
            plain = {"facecolor": "white", "edgecolor": GREY}
            dress = role("draft") | {"label": None} if other == token else plain
            ax.barh(y, row[other], left=left, height=0.5, **dress)
            axes.write_inside(ax, left + row[other] / 2, y, TOKEN_NAMES[other])
            left += row[other]
        ax.plot(uniforms[i], y + 0.36, "v", color="black", markersize=9)
        parts.append(
            f"after {TOKEN_NAMES[[0, *drafted][i]]} {uniforms[i]:g} gives {TOKEN_NAMES[token]}"
        )
    names = [f"after {TOKEN_NAMES[before]}" for before in [0, *drafted[:-1]]]
    ax.set_yticks(range(len(drafted)), names[::-1])
    ax.set_xlim(0, 1)
    ax.grid(False)
    show(ax.figure, f"Draft tokens by your function: {'; '.join(parts)}.")


@axes.uses_student_functions("speculative_accept")
def walk_through_block(
    accept: Callable, tokens: list[int], p: np.ndarray, q: np.ndarray, r: np.ndarray
) -> None:
    """Each position's acceptance probability and coin, and the student's verdict below them."""
    out = list(accept(tokens, p, q, r))
    ratios = np.array([min(1.0, p[i, t] / q[i, t]) for i, t in enumerate(tokens)])
    ax = axes.chart("The walk through the block, by your function", "p/q, at most 1")
    x = np.arange(len(tokens))
    axes.bars(ax, x, ratios, "accepted", width=0.5, label="acceptance probability")
    ax.plot(x, r, "D", color="black", markersize=9, label="coin r")
    verdicts = ["in your list" if token in out else "not in your list" for token in tokens]
    ax.set_xticks(x, [f"token {t}\n{v}" for t, v in zip(tokens, verdicts, strict=True)])
    ax.set(xlabel=f"your function returned {out}", ylim=(0, 1.1))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    parts = [
        f"token {t}: acceptance probability {ratios[i]:.2g}, coin {r[i]:.2g}, {verdicts[i]}"
        for i, t in enumerate(tokens)
    ]
    show(ax.figure, f"A block of draft tokens. {'; '.join(parts)}. Your function returned {out}.")


@axes.uses_student_functions("residual_distribution")
def residual_bars(residual: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """What the target (V,) has above the draft, and next to it the student's residual."""
    answer = np.asarray(residual(p, q), dtype=float)
    values = {"missing after acceptance": np.maximum(p - q, 0), "your residual": answer}
    remark = "has entries below 0" if (answer < 0).any() else f"sums to {answer.sum():.2f}"
    title = f"The missing part, and your residual, which {remark}"
    text = "" if (answer < 0).any() else ".2f"  # above bars that hang, labels overlap
    options = {"kind": "bars", "roles": ("target", "residual"), "text": text}
    series_figure(title, TOKEN_NAMES[: len(p)], values, ylabel="probability", **options)


@axes.uses_student_functions("speculative_step")
def two_masses(step: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The exact distribution of a step of one token, by its two paths, and the target (V,)."""
    masses = computed.exact_paths(computed.single_position(step), p, q)
    total = masses.sum(axis=0)
    ax = axes.chart("Two paths into each token, by your function", "probability")
    words = axes.masses_by_path(ax, masses, p, (f"{mass:.3f}" for mass in total))
    show(ax.figure, f"Mass {words}. The largest difference is {np.abs(total - p).max():.2g}.")


@axes.uses_student_functions("speculative_sample")
def blocks_written(sample: Callable, seed: int) -> None:
    """The blocks of a text on the small models, by the student's function."""
    rng = np.random.default_rng(seed)
    blocks = computed.decoded_blocks(sample, *computed.lent_models(), [0], 3, 9, TEMPERATURE, rng)
    rows = []
    for drafted, new, n in blocks:
        last = "corrected" if n < len(drafted) else "bonus"
        kinds = [*token_outcomes(n, len(drafted)), *[last] * len(new[n:])]
        names = [TOKEN_NAMES[token] for token in (*drafted, *new[n:])]
        rows.append([*zip(kinds, names, strict=True)])
    ax = axes.chart("The text after A, by your function", size=(8.2, 0.8 + 0.44 * len(rows)))
    draw_blocks(ax, rows, [f"block {i + 1}" for i in range(len(rows))])
    parts = (", ".join(f"{word} {kind}" for kind, word in row) for row in rows)
    words = "; ".join(f"block {i + 1} {part}" for i, part in enumerate(parts))
    show(ax.figure, f"{len(blocks)} blocks after A: {words}.")


@axes.uses_student_functions("speculative_sample")
def real_text(
    sample: Callable,
    target: Callable,
    draft: Callable,
    prompt: list[int],
    read: Callable,
    eos: int,
    k: int,
    temperature: float,
    seed: int,
    count: int,
) -> None:
    """A text of real models by the student's function, block by block, its accepted tokens marked.

    `read` gives the text of tokens.
    """
    settings = k, count, temperature, np.random.default_rng(seed), eos
    blocks = computed.decoded_blocks(sample, target, draft, prompt, *settings)
    written = [token for _, new, _ in blocks for token in new]
    spans = [f'<span class="sd-prompt">{html.escape(read(prompt))}</span>']
    for i, (_, new, n) in enumerate(blocks):
        for kind, part in (("draft", new[:n]), ("own", new[n:])):
            late = f'class="sd-{kind} sd-t" style="--t:{i * _SECONDS_A_BLOCK:.2f}s"'
            spans.append(f"<span {late}>{html.escape(read(part))}</span>")
    accepted, passes = sum(n for _, _, n in blocks), len(blocks)
    counts = (
        f"Your function wrote {len(written)} tokens in {passes} passes of the target, "
        f"{len(written) / passes:.2f} tokens per pass; {accepted} were drafted and accepted. "
        f"Temperature {temperature:g}."
    )
    text = f'<pre class="sd-written">{"".join(spans)}</pre>'
    page = f"<style>{race_css()}</style>{text}<p>{counts} {COLOUR_KEY}</p>"
    display_page(f'<div class="sd-race">{page}</div>', f"{read(prompt)}{read(written)}\n\n{counts}")


@axes.uses_student_functions("speculative_sample")
def every_text(sample: Callable, k: int, count: int = 3) -> None:
    """The exact probability of every text by the student's function, and by the target alone."""
    wanted = computed.plain_text_law(lambda tokens: P_AFTER[tokens[-1]], [0], count)
    own_law = computed.every_text_of(sample, k, count)
    texts = sorted(own_law | wanted)
    yours, target = (np.array([law.get(text, 0.0) for text in texts]) for law in (own_law, wanted))
    names = ["".join(TOKEN_NAMES[token] for token in text) for text in texts]
    ax = axes.chart(f"All texts of {count} tokens after A, K = {k}", "probability", (9.4, 3.8))
    parts = {"your function": np.minimum(yours, target), "too much": np.maximum(yours - target, 0)}
    x = np.arange(len(texts))
    axes.pile_bars(ax, x, parts, ("accepted", "excess"))
    ax.hlines(target, x - 0.4, x + 0.4, color="black", linewidth=2.5, label="the target alone")
    ax.set_xticks(x, names, fontsize=9 if len(names) <= 18 else 7)
    off = exact.total_variation_distance(own_law, wanted)
    worst = int(np.abs(yours - target).argmax())
    words = f"too much, added up: {off:.3f} of the probability"
    if off > 1e-9:
        words += f"; {names[worst]} has {yours[worst]:.4f} instead of {target[worst]:.4f}"
    ax.set_xlabel(words)
    axes.legend_below(ax)
    show(ax.figure, f"{words}. {series_text(names, {'your function': yours, 'target': target})}.")


def beside_the_paper(notebook: Mapping[str, object]) -> None:
    """The functions of the notebook, its globals(), as one listing beside Algorithm 1's lines."""
    codes = {name: _own_source(notebook.get(name)) for name in _ALGORITHM}
    missing = [name for name, code in codes.items() if not code or f"{name}: not written" in code]
    head = f"Still to be written: {', '.join(missing)}." if missing else "All six are here."
    both = [("\n".join(_ALGORITHM[name]), code) for name, code in codes.items()]
    rows = (f"<pre>{html.escape(a)}</pre><pre>{html.escape(b)}</pre>" for a, b in both)
    page = f'<style>{race_css()}</style><p>{head}</p><div class="sd-listing">{"".join(rows)}</div>'
    display_page(f'<div class="sd-race">{page}</div>', "\n\n".join([head, *map("\n".join, both)]))


def _own_source(function: object) -> str:
    """The source of a student's function, without the build's marks; "" where it can't be read."""
    try:
        return re.sub(r"(?m)^ *### .*\n", "", inspect.getsource(function))
    except (OSError, TypeError):  # what is not defined, and what no cell defines
        return ""


def _draw_missing(ax: Axes, missing: np.ndarray) -> None:
    """What each token (V,) still lacks, upwards, or has too often, downwards."""
    x, lacking, over = np.arange(len(missing)), missing.clip(0), -missing.clip(None, 0)
    axes.bars(ax, x, lacking, "residual", label="missing")
    axes.bars(ax, x, -over, "excess", label="too many")
    axes.write_above(ax, x, lacking, (f"{n}" if n else "" for n in lacking))
    axes.write_above(ax, x, -over, (f"{n}" if n else "" for n in over), gap=-14)
    ax.axhline(0, color="black", linewidth=1)
    ax.set_title(f"Missing {lacking.sum()}, too many {over.sum()}")
    axes.token_axis(ax, len(missing), max(lacking.max(), 5), 1.4 * min(-over.max(), -5))
    axes.legend_below(ax)
