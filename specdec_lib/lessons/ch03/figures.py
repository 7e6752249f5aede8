"""The figures of chapter 03 that are drawn from the student's formulas, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from specdec_lib import exact
from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch03 import computed, rules
from specdec_lib.lessons.ch03.checks import DRAFT, TARGET
from specdec_lib.lessons.ch03.forgery import DRAWS, GRID_P, GRID_Q
from specdec_lib.lessons.ch03.rules import IMPOSTORS, SEEN, Rule, right_rule
from specdec_lib.lessons.common.distributions import distance_of, overlap, total_variation
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    drawn_from,
    masses_by_path,
    named_bars,
    panels,
    picture,
    stacked,
    token_axis,
)
from specdec_lib.lessons.common.series import draw, in_words, series_figure, table
from specdec_lib.lessons.common.style import show
from specdec_lib.lessons.common.wording import TOKENS, by_token

SETTINGS = {
    "temperature 1": (1.0, None, None),
    "temperature 0.5": (0.5, None, None),
    "top-k 3": (1.0, 3, None),
    "top-p 0.8": (1.0, None, 0.8),
}


def best_question(p: np.ndarray, q: np.ndarray) -> None:
    """How much more often p (V,) than q (V,) says yes, for every yes-or-no question."""
    asked = computed.questions(p, q)[::-1]
    gaps = {" or ".join(TOKENS[token] for token in yes): a - b for yes, a, b in asked}
    told = [f"yes: {a:.2f} by p, {b:.2f} by q, {a - b:+.2f}" for _, a, b in asked]
    ax = picture("Is the token one of these?", size=(7.4, 3.6))
    words = named_bars(ax, gaps, told, "residual")
    ax.set(xlabel="yes by p, less yes by q", xlim=(0, 2.4 * max(gaps.values())))
    note = "For every other question a yes is as probable under q, or more."
    show(ax.figure, f"Is the token one of these? {words}. {note}")


def best_rules(pairs: tuple, steps: int = 60) -> None:
    """Every exact rule on two tokens, by its two chances to keep, and the one that keeps most."""
    row, told = panels(len(pairs), (8.8, 3.6), ylabel="chance to keep token 1", sharey=True), []
    for ax, (p, q) in zip(row, pairs, strict=True):
        found = computed.exact_rules(p, q, steps)
        keep0, keep1, most = found[found[:, 2].argmax()]
        ax.plot(*found[:, :2].T, ".", color="black", markersize=1.5)
        ax.plot(keep0, keep1, "o", markersize=12, clip_on=False, **HOLLOW)
        ax.set(xlim=(0, 1.05), ylim=(0, 1.05), xlabel="chance to keep token 0")
        title = f"p = {_pair(p)}, q = {_pair(q)}\nkeeps at most {most:.2f}"
        ax.set_title(title, fontsize=11)
        told.append(f"{title}, if it keeps token 0 with {keep0:.2f}, token 1 with {keep1:.2f}")
    words = "; ".join(told).replace("\n", ": an exact rule ")
    show(row[0].figure, f"A search over rules. {words}.")


def _pair(probs: np.ndarray) -> str:
    return "[" + ", ".join(f"{mass:g}" for mass in probs) + "]"


@drawn_from("total_variation")
def shared_mass(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """What p and q (V,) share and what each has beyond it, with the student's total variation."""
    both = np.minimum(p, q)
    parts = {"shared": both, "only p has it": p - both, "only q has it": q - both}
    ax = picture(f"Total variation by your function: {distance(p, q):.3g}", "probability")
    roles, gaps = ("accepted", "residual", "excess"), (f"{gap:+.2f}" for gap in p - q)
    words = stacked(ax, parts, roles, gaps)
    show(ax.figure, f"{ax.get_title(loc='left')}. {words}.")


@drawn_from("acceptance_rate")
def two_samplers(rate: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Plain rejection sampling under its envelope, beside the rule with the student's rate."""
    envelope, both = float((p / q).max()), np.minimum(p, q)
    row = panels(2, (8.6, 3.7), ylabel="probability", sharey=True)
    titles = (
        f"Plain: under M q, M = {envelope:.3g}: {1 / envelope:.2f}",
        f"The rule: under q: {rate(p, q):.3g}",
    )
    parts = (
        {"accepted": p, "rejected, proposed again": envelope * q - p},
        {"accepted": both, "rejected, then one draw": q - both},
    )
    words = [stacked(ax, each, ("accepted", "excess")) for ax, each in zip(row, parts, strict=True)]
    for ax, title in zip(row, titles, strict=True):
        ax.set_title(title)
        token_axis(ax, len(p), (envelope * q).max())
    told = (f"{title}. {each}" for title, each in zip(titles, words, strict=True))
    show(row[0].figure, f"{'. '.join(told)}.")


@drawn_from("two_paths")
def stacked_paths(paths: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The student's two masses of each token, one on the other, against the target (V,)."""
    masses = [np.asarray(mass, dtype=float) for mass in paths(p, q)]
    ax = picture("Two paths into each token, by your function", "probability")
    sums = (f"{a:.2f} + {c:.2f}" for a, c in zip(*masses, strict=True))
    words = masses_by_path(ax, masses, p, ("by acceptance", "by correction"), sums)
    show(ax.figure, f"Mass {words}.")


@drawn_from("argmax_draft_law")
def laws_against_targets(law_of: Callable, pairs: tuple) -> None:
    """For each pair the student's distribution with an argmax draft, against the target."""
    row, told = panels(len(pairs), (8.8, 3.5), ylabel="probability", sharey=True), []
    for ax, (p, q) in zip(row, pairs, strict=True):
        found = np.asarray(law_of(p, q), dtype=float)
        title = f"TV {total_variation(found, p):.3f}"
        ax.set(title=title, xlabel=f"argmax of q: {TOKENS[int(np.argmax(q))]}")
        masses = (f"{mass:.3f}" for mass in found)
        words = stacked(ax, {"your function": found}, ("excess",), masses, target=p)
        token_axis(ax, len(p), 1.0)
        told.append(f"{title}: target {by_token(p)}, draft {by_token(q)}, {words}")
    show(row[0].figure, f"Argmax drafts, full q. {'; '.join(told)}.")


@drawn_from("warp")
def warped(warp: Callable, logits: np.ndarray) -> None:
    """The student's distribution of `logits` (V,) under each of SETTINGS."""
    row, told = panels(len(SETTINGS), (8.8, 2.9), ylabel="probability", sharey=True), []
    for ax, (name, setting) in zip(row, SETTINGS.items(), strict=True):
        probs = np.asarray(warp(logits, *setting), dtype=float)
        names = TOKENS[: len(probs)]
        told.append(draw(ax, names, {name: probs}, kind="bars", text=".2f"))
        token_axis(ax, len(probs), 0.9)
        ax.set_title(name)
    show(row[0].figure, f"By your function. {'; '.join(told)}.")


@drawn_from("warp")
def filtered_draft(warp: Callable, target: np.ndarray, draft: np.ndarray) -> None:
    """Both sides sample with top-k; the draft hands over its q as filtered, or as it was before."""
    full = np.asarray(warp(draft), dtype=float)
    names = ["no filter", *(f"{k}" for k in range(len(draft) - 1, 1, -1))]
    rows = []
    for k in range(len(draft), 1, -1):
        p, q = (np.asarray(warp(logits, 1.0, k), dtype=float) for logits in (target, draft))
        written, rate = computed.mixed_up(p, full, q)
        rows.append((rate, overlap(p, q), total_variation(written, p)))
    labels = ("accepted, unfiltered q", "accepted, filtered q", "unfiltered q: TV to target")
    values = dict(zip(labels, np.round(np.transpose(rows), 9), strict=True))
    title = "Both sides sample with top-k: the share by the q that is handed over"
    series_figure(title, names, values, xlabel="k", ylabel="by your function", size=(7.4, 3.6))


def whole_texts(target: np.ndarray, draft: np.ndarray, k: int, length: int) -> None:
    """The exact probability of every text of `length` tokens: a right decoder, and a wrong one."""
    plain = computed.texts(target, draft, 0, length)
    row, told = panels(2, (8.6, 3.9), ylabel="by blocks of two", sharey=True), []
    for ax, stale in zip(row, (False, True), strict=True):
        found = computed.texts(target, draft, k, length, stale)
        name = "bonus from the row before" if stale else "right"
        top = 1.1 * max(*plain.values(), *found.values())
        ax.plot([0, top], [0, top], color="black", linewidth=1)
        ax.plot(list(plain.values()), [found.get(text, 0.0) for text in plain], "o", **HOLLOW)
        ax.set(xlim=(0, top), ylim=(0, top), xlabel="by the target alone")
        ax.set_title(f"{name}: TV {exact.distance(found, plain):.2g}")
        told.append(ax.get_title(loc="left"))
    show(
        row[0].figure,
        f"Probability of each of {len(plain)} texts of {length} tokens, by the target alone and by "
        f"blocks of {k}. {'; '.join(told)}.",
    )


def three_conditions(p: np.ndarray, q: np.ndarray) -> None:
    """Show, for each condition of losslessness, the distance with it and without it."""
    import pandas as pd

    greedy = np.eye(len(q))[np.argmax(q)]
    by_draft = [total_variation(computed.mixed_up(p, q, drawn)[0], p) for drawn in (q, greedy)]
    judged = [computed.counted(rule, p, q, 60) for rule in (right_rule, rules.one_coin)]
    by_coin = [total_variation(written, p) for written in judged]
    plain, *blocks = (computed.texts(TARGET, DRAFT, *how) for how in ((0, 2), (1, 2), (1, 2, True)))
    by_text = [exact.distance(found, plain) for found in blocks]
    rows = [
        ("the draft token is drawn from the q of the rule", *by_draft, "argmax of q"),
        ("coin and u are fresh numbers", *by_coin, "u = r"),
        ("p belongs to exactly the text that stands", *by_text, "bonus from the row before"),
    ]
    frame = pd.DataFrame(rows, columns=("condition", "kept", "broken", "by")).round(4)
    table(frame, "Total variation to the target", digits=4)


@drawn_from("is_lossless", "argmax_draft_law")
def library_on_trial(judge: Callable, formula: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The installed library's acceptance code as three rules, counted, and the verdicts."""
    import transformers

    from specdec_lib.lessons.ch03 import library

    cells = 420  # ratios in thirds and tenths, residuals in quarters and fourteenths
    names = ("drafts drawn from q", "its argmax generator", "argmax, one-hot q")
    title = f"transformers {transformers.__version__}, counted"
    ax = picture(title, size=(8.0, 2.9))
    words = _verdicts(ax, judge, dict(zip(names, library.RULES, strict=True)), p, q, cells)
    written = computed.counted(library.library_argmax, p, q, cells)
    print(f"Its argmax generator writes {by_token(written)}.")
    off = np.abs(formula(p, q) - written).max()
    print(f"Your argmax_draft_law says the same to within {off:.0e}.")
    show(ax.figure, f"The acceptance code of {title}. {words}.")


@drawn_from("is_lossless")
def line_up(judge: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Every rule of rules with its exact distance to p (V,) and the student's verdict."""
    suspects = {rule.__name__: rule for rule in (right_rule, rules.sampler_match, *rules.IMPOSTORS)}
    told = {name: f"{name}\n({SEEN[name]})" if name in SEEN else name for name in suspects}
    title = "The line-up: distance to the target, and your verdict"
    ax = picture(title, size=(8.4, 4.2))
    words = _verdicts(ax, judge, {told[name]: rule for name, rule in suspects.items()}, p, q)
    show(ax.figure, f"{title}. {words}.")


def _verdicts(
    ax: Axes, judge: Callable, suspects: dict[str, Rule], p: np.ndarray, q: np.ndarray, cells=64
) -> str:
    """Bars of each rule's counted distance to p (V,), and the verdict; returns all in words."""
    written = [computed.counted(rule, p, q, cells) for rule in suspects.values()]
    off = [total_variation(each, p) for each in written]
    verdicts = [judge(rule, p, q, cells) for rule in suspects.values()]
    said = ["lossless" if verdict else "impostor" for verdict in verdicts]
    told = [f"{error:.4f}  you: {word}" for error, word in zip(off, said, strict=True)]
    ax.set(xlabel="total variation to p", xlim=(0, 1.5 * max(off)))
    return named_bars(ax, dict(zip(suspects, off, strict=True)), told, "excess").replace("\n", " ")


@drawn_from("total_variation")
def price_of_acceptance(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Accepted share against the student's distance of the distribution, for two lossy knobs."""
    rate, most = overlap(p, q), total_variation(p, q)
    ax = picture("What acceptance costs", "total variation to p", size=(7.4, 3.8))
    ax.plot([rate, 1], [0, most], color="black", linewidth=1, label="cannot be cheaper")
    right, left = {"xytext": (8, -12), "ha": "left"}, {"xytext": (-10, 9), "ha": "right"}
    knobs = (
        ("lenience l", "o", computed.lenient, (1, 0.9, 0.8, 0.7, 0.6), right),
        ("ensemble weight w", "s", computed.mixture, (0.9, 0.6, 0.3), left),
    )
    told = []
    for name, marker, knob, values, place in knobs:
        found = [knob(p, q, value) for value in values]
        shares = [share for _, share in found]
        off = [distance(written, p) for written, _ in found]
        names = [f"{name[-1]} = {value:g}" for value in values]
        ax.plot(shares, off, marker, markersize=8, label=name, **HOLLOW)
        for text, at in zip(names, zip(shares, off, strict=True), strict=True):
            ax.annotate(text, at, textcoords="offset points", **place)
        told.append(in_words(names, {"accepted": shares, "total variation": np.round(off, 9)}))
    ax.set(xlabel="accepted share", xlim=(rate - 0.03, 1.03), ylim=(-0.02, None))
    ax.legend(loc="upper left")
    show(ax.figure, f"What acceptance costs, by your function. {'. '.join(told)}.")


@drawn_from("two_paths", "is_lossless")
def witnesses(paths: Callable, judge: Callable) -> None:
    """Print what the four witnesses of the claim say; the first two are the student's."""
    rng = np.random.default_rng(11)
    pairs = [rng.dirichlet(np.ones(8), 2) for _ in range(1000)]
    off = max(float(np.abs(sum(paths(p, q)) - p).max()) for p, q in pairs)
    _say("equation", f"your two paths add up to p within {off:.0e} on 1,000 pairs", off < 1e-12)
    kept = judge(right_rule, GRID_P, GRID_Q)
    caught = sum(not judge(rule, GRID_P, GRID_Q) for rule in IMPOSTORS)
    what = f"the rule in code is lossless: {kept}; impostors seen: {caught} of {len(IMPOSTORS)}"
    _say("code", what, bool(kept) and caught == len(IMPOSTORS))
    off = exact.distance(computed.texts(TARGET, DRAFT, 2, 3), computed.texts(TARGET, DRAFT, 0, 3))
    _say("enumeration", f"27 texts of three tokens, every branch, off by {off:.0e}", off < 1e-12)
    seen = distance_of(computed.sample(right_rule, P, Q, DRAWS, rng), P)
    floor = computed.noise(P, DRAWS)
    what = f"{DRAWS:,} draws are {seen:.4f} from p, noise {floor:.4f}"
    _say("simulator", what, seen < 3 * floor)
    broken, _ = computed.mixed_up(P, Q, np.eye(len(Q))[np.argmax(Q)])
    off = total_variation(broken, P)
    print(f"without the first condition (drafts by argmax, full q) it is off by TV {off:.3f}")


def _say(witness: str, what: str, holds: bool) -> None:
    print(f"{witness:12}{'holds' if holds else 'FAILS'}   {what}")
