"""The figures of chapter 03 that are drawn from the student's formulas, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable

import numpy as np

from specdec_lib.lessons.ch02.checks import P, Q
from specdec_lib.lessons.ch03.checks import DRAFT, DRAWS, GRID_P, GRID_Q, TARGET
from specdec_lib.lessons.ch03.computed import (
    exact_rules,
    lenient,
    mixed_up,
    mixture,
    noise,
    plain_law,
    questions,
    rule_law,
    text_law,
)
from specdec_lib.lessons.ch03.measured import _distance, _sample
from specdec_lib.lessons.ch03.rules import (
    IMPOSTORS,
    SEEN,
    Named,
    one_coin,
    right_rule,
    sampler_match,
)
from specdec_lib.lessons.common.drawing import (
    HOLLOW,
    bars,
    drawn_from,
    legend_below,
    masses_by_path,
    named_rows,
    panels,
    picture,
    target_lines,
    token_axis,
    write_above,
    write_beside,
)
from specdec_lib.lessons.common.style import role, show
from specdec_lib.lessons.common.wording import TOKENS, by_token

SETTINGS = (
    ("temperature 1", (1.0, None, None)),
    ("temperature 0.5", (0.5, None, None)),
    ("top-k 3", (1.0, 3, None)),
    ("top-p 0.8", (1.0, None, 0.8)),
)


def best_question(p: np.ndarray, q: np.ndarray) -> None:
    """How much more often p (V,) than q (V,) says yes, for every yes-or-no question."""
    asked = questions(p, q)[::-1]
    names = [" or ".join(TOKENS[token] for token in yes) for yes, _, _ in asked]
    gaps = [by_p - by_q for _, by_p, by_q in asked]
    ax = picture("Is the token one of these?", size=(7.4, 3.6))
    y = named_rows(ax, names)
    ax.barh(y, gaps, 0.6, **role("residual"))
    told = [f"yes: {a:.2f} by p, {b:.2f} by q, {a - b:+.2f}" for _, a, b in asked]
    write_beside(ax, gaps, y, told)
    ax.set(xlabel="yes by p, less yes by q", xlim=(0, 2.4 * max(gaps)))
    rows = zip(names, told, strict=True)
    text = "; ".join(f"{name}? {words}" for name, words in rows)
    show(
        ax.figure,
        f"Questions about the token. {text}. For every other question a yes is as probable under "
        "q, or more.",
    )


def best_rules(pairs: tuple, steps: int = 60) -> None:
    """Every exact rule on two tokens, by its two chances to keep, and the one that keeps most."""
    row, texts = panels(len(pairs), (8.8, 3.6), ylabel="chance to keep token 1", sharey=True), []
    for ax, (p, q) in zip(row, pairs, strict=True):
        found = exact_rules(p, q, steps)
        keep0, keep1, most = found[found[:, 2].argmax()]
        ax.plot(*found[:, :2].T, ".", color="black", markersize=1.5)
        ax.plot(keep0, keep1, "o", markersize=12, clip_on=False, **HOLLOW)
        ax.set(xlim=(0, 1.05), ylim=(0, 1.05), xlabel="chance to keep token 0")
        ax.set_title(f"p = {_pair(p)}, q = {_pair(q)}\nkeeps at most {most:.2f}", fontsize=11)
        texts.append(
            f"p {_pair(p)} and q {_pair(q)}: {len(found)} exact rules; the one that keeps most "
            f"keeps token 0 with {keep0:.2f} and token 1 with {keep1:.2f}, in all {most:.2f}"
        )
    show(row[0].figure, f"A search over rules. {'; '.join(texts)}.")


def _pair(probs: np.ndarray) -> str:
    return "[" + ", ".join(f"{mass:g}" for mass in probs) + "]"


@drawn_from("total_variation")
def shared_mass(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """What p and q (V,) share and what each has beyond it, with the student's total variation."""
    found = distance(p.copy(), q.copy())
    overlap, x = np.minimum(p, q), np.arange(len(p))
    ax = picture(f"Total variation by your function: {found:.3g}", "probability")
    bars(ax, x, overlap, "accepted", label="shared")
    bars(ax, x, p - overlap, "residual", bottom=overlap, label="only p has it")
    bars(ax, x, q - overlap, "excess", bottom=overlap, label="only q has it")
    write_above(ax, x, np.maximum(p, q), (f"{difference:+.2f}" for difference in p - q))
    token_axis(ax, len(p), max(p.max(), q.max()))
    legend_below(ax)
    show(
        ax.figure,
        f"Target {by_token(p)}; draft {by_token(q)}. Shared: {by_token(overlap)}. Only the target "
        f"has {(p - overlap).sum():.3g}, only the draft {(q - overlap).sum():.3g}. Your function "
        f"says {found:.3g}.",
    )


@drawn_from("acceptance_rate")
def two_samplers(rate: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Plain rejection sampling under its envelope, beside the rule with the student's rate."""
    found, envelope = rate(p.copy(), q.copy()), float((p / q).max())
    left, right = panels(2, (8.6, 3.7), ylabel="probability", sharey=True)
    overlap, x = np.minimum(p, q), np.arange(len(p))
    bars(left, x, p, "accepted", label="accepted")
    bars(left, x, envelope * q - p, "excess", bottom=p, label="rejected, proposed again")
    bars(right, x, overlap, "accepted", label="accepted")
    bars(right, x, q - overlap, "excess", bottom=overlap, label="rejected, then one draw")
    left.set_title(f"Plain: under M q, M = {envelope:.3g}: {1 / envelope:.2f}")
    right.set_title(f"The rule: under q: {found:.3g}")
    for ax in (left, right):
        token_axis(ax, len(p), max((envelope * q).max(), p.max()))
        legend_below(ax, 2)
    show(
        left.figure,
        f"Left, plain rejection sampling: bars of the envelope {by_token(envelope * q)}, of which "
        f"{by_token(p)} is accepted, a share of {1 / envelope:.3g}. Right, the rule: bars of the "
        f"draft {by_token(q)}, of which {by_token(overlap)} is accepted. Your function says "
        f"{found:.3g}.",
    )


@drawn_from("two_paths")
def stacked_paths(paths: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The student's two masses of each token, one on the other, against the target (V,)."""
    accepted, corrected = (np.asarray(mass, float) for mass in paths(p.copy(), q.copy()))
    ax = picture("Two paths into each token, by your function", "probability")
    sums = (f"{a:.2f} + {c:.2f}" for a, c in zip(accepted, corrected, strict=True))
    labels = ("by acceptance", "by correction")
    words = masses_by_path(ax, (accepted, corrected), p, labels, sums)
    show(ax.figure, f"Mass {words}.")


@drawn_from("argmax_draft_law")
def laws_against_targets(law_of: Callable, pairs: tuple) -> None:
    """For each pair the student's distribution with an argmax draft, against the target."""
    row, texts = panels(len(pairs), (8.8, 3.5), ylabel="probability", sharey=True), []
    for ax, (p, q) in zip(row, pairs, strict=True):
        law = np.asarray(law_of(p.copy(), q.copy()), dtype=float)
        distance = np.abs(law - p).sum() / 2
        x = np.arange(len(law))
        bars(ax, x, law, "excess", label="by your function")
        target_lines(ax, p)
        write_above(ax, x, np.maximum(law, p), (f"{m:.3f}" for m in law))
        token_axis(ax, len(p), 1.0)
        ax.set(title=f"TV {distance:.3f}", xlabel=f"argmax of q: {TOKENS[int(np.argmax(q))]}")
        texts.append(
            f"target {by_token(p)}, draft {by_token(q)}, by your function {by_token(law)}, "
            f"total variation {distance:.3g}"
        )
    handles, labels = row[0].get_legend_handles_labels()
    row[0].figure.legend(handles, labels, loc="outside lower center", ncol=2)
    show(row[0].figure, f"Argmax drafts, full q. {'; '.join(texts)}.")


@drawn_from("warp")
def warped(warp: Callable, logits: np.ndarray) -> None:
    """The student's distribution of `logits` (V,) under each of SETTINGS."""
    row, texts = panels(len(SETTINGS), (8.8, 2.9), ylabel="probability", sharey=True), []
    for ax, (name, setting) in zip(row, SETTINGS, strict=True):
        probs = np.asarray(warp(logits.copy(), *setting), dtype=float)
        x = np.arange(len(probs))
        bars(ax, x, probs, "target")
        write_above(ax, x, np.maximum(probs, 0), (f"{m:.2f}" for m in probs))
        token_axis(ax, len(probs), 0.9)
        ax.set_title(name)
        texts.append(f"{name}: {by_token(probs)}")
    show(row[0].figure, f"By your function, {'; '.join(texts)}.")


@drawn_from("warp")
def filtered_draft(warp: Callable, target: np.ndarray, draft: np.ndarray) -> None:
    """Both sides sample with top-k; the draft hands over its q as filtered, or as it was before."""
    full = np.asarray(warp(draft.copy()), dtype=float)
    kept = list(range(len(draft), 1, -1))
    sides = [
        [np.asarray(warp(x.copy(), 1.0, k), dtype=float) for x in (target, draft)] for k in kept
    ]
    honest = [float(np.minimum(p, q).sum()) for p, q in sides]
    laws = [mixed_up(p, full, q) for p, q in sides]
    rates = [rate for _, rate in laws]
    errors = [np.abs(law - p).sum() / 2 for (law, _), (p, _) in zip(laws, sides, strict=True)]
    lines = (
        ("o-", rates, "accepted, with the unfiltered q"),
        ("^:", honest, "accepted, with the q drawn from"),
        ("s--", errors, "unfiltered q: TV of distribution to target"),
    )
    ax = picture("Both sides sample with top-k; which q is handed over?", "share", size=(7.4, 3.6))
    for dress, values, label in lines:
        ax.plot(kept, values, dress, label=label, **HOLLOW)
    ax.set_xticks(kept, [f"k = {k}" if k < len(draft) else "no filter" for k in kept])
    ax.invert_xaxis()
    ax.set_ylim(0, 1.1)
    legend_below(ax, 2)
    texts = [
        f"{k} of {len(draft)} tokens kept: accepted {rate:.3g} with the unfiltered q, {right:.3g} "
        f"with the filtered one, total variation of the former {error:.3g}"
        for k, rate, right, error in zip(kept, rates, honest, errors, strict=True)
    ]
    show(ax.figure, f"Top-k drafts, by your function. {'; '.join(texts)}.")


def whole_texts(target: np.ndarray, draft: np.ndarray, k: int, length: int) -> None:
    """The exact probability of every text of `length` tokens: a right decoder, and a wrong one."""
    plain = plain_law(target, length).ravel()
    decoders = {
        "right": text_law(target, draft, k, length).ravel(),
        "bonus from the row before": text_law(target, draft, k, length, stale=True).ravel(),
    }
    top = 1.1 * max(plain.max(), *(law.max() for law in decoders.values()))
    row, texts = panels(2, (8.6, 3.9), ylabel="by blocks of two", sharey=True), []
    for ax, (name, law) in zip(row, decoders.items(), strict=True):
        distance = np.abs(law - plain).sum() / 2
        ax.plot([0, top], [0, top], color="black", linewidth=1)
        ax.plot(plain, law, "o", **HOLLOW)
        ax.set(xlim=(0, top), ylim=(0, top), xlabel="by the target alone")
        ax.set_title(f"{name}: TV {distance:.2g}")
        texts.append(f"{name}: total variation {distance:.2g}")
    show(
        row[0].figure,
        f"Probability of each of {len(plain)} texts of {length} tokens, by the target alone and by "
        f"blocks of {k}. {'; '.join(texts)}.",
    )


def three_conditions(p: np.ndarray, q: np.ndarray) -> None:
    """Print, for each condition of losslessness, the distance with it and without it."""
    plain = plain_law(TARGET, 2)
    argmax, _ = mixed_up(p, q, np.eye(len(q))[np.argmax(q)])
    coin = rule_law(one_coin, p, q, cells=60)
    kept, _ = mixed_up(p, q, q)
    stale = text_law(TARGET, DRAFT, 1, 2, stale=True)
    rows = (
        ("the draft token is drawn from the q of the rule", kept, "argmax of q", argmax, p),
        ("coin and u are fresh numbers", rule_law(right_rule, p, q, cells=60), "u = r", coin, p),
        ("p belongs to exactly the text that stands", text_law(TARGET, DRAFT, 1, 2),
         "bonus from the row before", stale, plain),
    )  # fmt: skip
    print(f"{'condition':50}{'kept':>8}   broken by")
    for condition, right, how, wrong, target in rows:
        off = [float(np.abs(law - target).sum() / 2) for law in (right, wrong)]
        print(f"{condition:50}{off[0]:8.4f}   {how}: {off[1]:.4f}")


@drawn_from("is_lossless", "argmax_draft_law")
def library_on_trial(judge: Callable, formula: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The installed library's acceptance code as three rules, counted, and the verdicts."""
    from specdec_lib.lessons.ch03 import library

    cells = 420  # ratios in thirds and tenths, residuals in quarters and fourteenths
    said, laws = [], []
    for rule in library.RULES:
        verdict = judge(Named(rule), p.copy(), q.copy(), cells)
        said.append("lossless" if verdict else "impostor")
        laws.append(rule_law(rule, p, q, cells))
    errors = [float(np.abs(law - p).sum() / 2) for law in laws]
    names = ("drafts drawn from q", "its argmax generator", "argmax, one-hot q")
    ax = picture(f"transformers {library.version()}, counted", size=(8.0, 2.9))
    y = named_rows(ax, names)
    ax.barh(y, errors, 0.6, **role("excess"))
    told = [f"{error:.4f}  you: {word}" for error, word in zip(errors, said, strict=True)]
    write_beside(ax, errors, y, told)
    ax.set(xlabel="total variation to p", xlim=(0, 1.6 * max(errors)))
    same = float(np.abs(formula(p.copy(), q.copy()) - laws[1]).max())
    print(f"Its argmax generator writes {by_token(laws[1])}.")
    print(f"Your argmax_draft_law says the same to within {same:.0e}.")
    rows = "; ".join(f"{name}: {words}" for name, words in zip(names, told, strict=True))
    show(ax.figure, f"The acceptance code of transformers {library.version()}. {rows}.")


@drawn_from("is_lossless")
def line_up(judge: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Every rule of rules with its exact distance to p (V,) and the student's verdict."""
    rules = (right_rule, sampler_match, *IMPOSTORS)
    verdicts = [judge(Named(rule), p.copy(), q.copy()) for rule in rules]
    errors = [float(np.abs(rule_law(rule, p, q) - p).sum() / 2) for rule in rules]
    ax = picture("The line-up: distance to the target, and your verdict", size=(8.4, 4.2))
    names = [
        f"{r.__name__}\n({SEEN[r.__name__]})" if r.__name__ in SEEN else r.__name__ for r in rules
    ]
    y = named_rows(ax, names)
    ax.barh(y, errors, 0.6, **role("excess"))
    said = ["lossless" if verdict else "impostor" for verdict in verdicts]
    told = [f"{error:.3g}  you: {word}" for error, word in zip(errors, said, strict=True)]
    write_beside(ax, errors, y, told)
    ax.set(xlabel="total variation, counted", xlim=(0, 1.45 * max(errors)))
    rows = zip(rules, errors, said, strict=True)
    text = "; ".join(f"{r.__name__} {e:.4g}, {word}" for r, e, word in rows)
    show(ax.figure, f"Total variation of each rule, counted, and your verdict: {text}.")


@drawn_from("total_variation")
def price_of_acceptance(distance: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Accepted share against the student's distance of the distribution, for two lossy knobs."""
    rate, most = float(np.minimum(p, q).sum()), float(np.abs(p - q).sum() / 2)
    ax = picture("What acceptance costs", "total variation to p", size=(7.4, 3.8))
    ax.plot([rate, 1], [0, most], color="black", linewidth=1, label="cannot be cheaper")
    texts = []
    knobs = (
        ("lenience l", "o", lenient, (1, 0.9, 0.8, 0.7, 0.6)),
        ("ensemble weight w", "s", mixture, (0.9, 0.6, 0.3)),
    )
    for name, marker, knob, values in knobs:
        laws = [knob(p, q, value) for value in values]
        x = [share for _, share in laws]
        y = [distance(law.copy(), p.copy()) for law, _ in laws]
        ax.plot(x, y, marker, markersize=8, label=name, **HOLLOW)
        for value, a, b in zip(values, x, y, strict=True):
            side, align = ((8, -12), "left") if marker == "o" else ((-10, 9), "right")
            text = f"{name[-1]} = {value:g}"
            ax.annotate(text, (a, b), side, textcoords="offset points", ha=align)
            texts.append(f"{text}: accepted {a:.3g}, total variation {b:.3g}")
    ax.set(xlabel="accepted share", xlim=(rate - 0.03, 1.03))
    ax.legend(loc="upper left")
    show(ax.figure, f"Price of acceptance, by your function. {'; '.join(texts)}.")


@drawn_from("two_paths", "is_lossless")
def witnesses(paths: Callable, judge: Callable) -> None:
    """Print what the four witnesses of the claim say; the first two are the student's."""
    rng = np.random.default_rng(11)
    pairs = [rng.dirichlet(np.ones(8), 2) for _ in range(1000)]
    off = max(float(np.abs(sum(paths(p, q)) - p).max()) for p, q in pairs)
    _say("equation", f"your two paths add up to p within {off:.0e} on 1,000 pairs", off < 1e-12)
    kept = judge(Named(right_rule), GRID_P, GRID_Q)
    caught = sum(not judge(Named(rule), GRID_P, GRID_Q) for rule in IMPOSTORS)
    what = f"the rule in code is lossless: {kept}; impostors seen: {caught} of {len(IMPOSTORS)}"
    _say("code", what, bool(kept) and caught == len(IMPOSTORS))
    off = float(np.abs(text_law(TARGET, DRAFT, 2, 3) - plain_law(TARGET, 3)).max())
    _say("enumeration", f"27 texts of three tokens, every branch, off by {off:.0e}", off < 1e-12)
    seen, floor = _distance(_sample(right_rule, P, Q, DRAWS, rng), P), noise(P, DRAWS)
    what = f"{DRAWS:,} draws are {seen:.4f} from p, noise {floor:.4f}"
    _say("simulator", what, seen < 3 * floor)
    broken, _ = mixed_up(P, Q, np.eye(len(Q))[np.argmax(Q)])
    off = float(np.abs(broken - P).sum() / 2)
    print(f"without the first condition (drafts by argmax, full q) it is off by TV {off:.3f}")


def _say(witness: str, what: str, holds: bool) -> None:
    print(f"{witness:12}{'holds' if holds else 'FAILS'}   {what}")
