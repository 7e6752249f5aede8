"""The figures of chapter 03 that are drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: no bar, label or text assumes the right
answer.
"""

from collections.abc import Callable, Mapping

import numpy as np

from specdec_lib.lessons.ch03 import computed, rules
from specdec_lib.lessons.ch03.rules import PUBLIC_CODE, Rule
from specdec_lib.lessons.checking.lending import limit_calls
from specdec_lib.lessons.data.distributions import total_variation
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.wording import TOKEN_NAMES, by_token

SETTINGS = {
    "temperature 1": (1.0, None, None),
    "temperature 0.5": (0.5, None, None),
    "top-k 3": (1.0, 3, None),
    "top-p 0.8": (1.0, None, 0.8),
}
MAX_BRANCHES = 20_000
ONCE = "exact.distribution asks it once for each branch, and these rules have fewer"


@axes.uses_student_functions("acceptance_rate")
def kept_and_rejected(rate: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The draft q (V,), cut where the target p (V,) ends, with the student's acceptance rate."""
    both = np.minimum(p, q)
    title = f"By your function a lossless rule keeps {rate(p, q):.3g} at most"
    ax = axes.chart(title, "probability")
    parts = {"both have it": both, "only q has it": q - both}
    words = axes.stacked_token_bars(ax, parts, ("accepted", "excess"), target=p)
    show(ax.figure, f"{title}. {words}; target {by_token(p)}.")


@axes.uses_student_functions("two_paths")
def both_paths(paths: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The student's two masses of each token, one on the other, against the target (V,)."""
    accepted, corrected = (np.asarray(mass, dtype=float) for mass in paths(p, q))
    ax = axes.chart("Two paths into each token, by your function", "probability")
    texts = (f"{one:.2f} + {other:.2f}" for one, other in zip(accepted, corrected, strict=True))
    words = axes.masses_by_path(ax, (accepted, corrected), p, texts)
    show(ax.figure, f"Mass {words}.")


@axes.uses_student_functions("argmax_draft_law")
def laws_against_targets(law_of: Callable, pairs: tuple) -> None:
    """For each pair the student's distribution with an argmax draft, against the target."""
    row, parts = axes.panels(len(pairs), (8.8, 3.5), ylabel="probability", sharey=True), []
    for ax, (p, q) in zip(row, pairs, strict=True):
        law = np.asarray(law_of(p, q), dtype=float)
        title = f"TV {total_variation(law, p):.3f}"
        ax.set(title=title, xlabel=f"argmax of q: {TOKEN_NAMES[int(np.argmax(q))]}")
        words = axes.stacked_token_bars(ax, {"your function": law}, ("excess",), target=p)
        for x, mass in enumerate(law):
            axes.write_inside(ax, x, 0.05, f"{mass:.3f}", fontsize=8)  # below every line
        axes.token_axis(ax, len(p), 1.0)
        if ax is not row[len(row) // 2]:
            ax.get_legend().remove()
        parts.append(f"{title}: target {by_token(p)}, draft {by_token(q)}, {words}")
    show(row[0].figure, f"Argmax drafts, full q. {'; '.join(parts)}.")


@axes.uses_student_functions("is_lossless")
def line_up(judge: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Every rule of rules with its exact distance to p (V,) and the student's verdict."""
    suspects = (*rules.LOSSLESS, *rules.MISTAKES)
    found = [f"{rule.__name__} {PUBLIC_CODE.get(rule.__name__, '')}".strip() for rule in suspects]
    _verdicts("The line-up", judge, dict(zip(found, suspects, strict=True)), p, q)
    print("\n".join(f"{rule.__name__}: {rule.__doc__}" for rule in suspects))


@axes.uses_student_functions("is_lossless", "argmax_draft_law")
def library_on_trial(judge: Callable, formula: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The installed library's acceptance code, with a drawn draft and with its own argmax draft."""
    from specdec_lib.lessons.ch03 import library

    library.require_library()
    _verdicts("The library on trial", judge, library.LIBRARY_RULES, p, q)
    written = computed.rule_law(library.LIBRARY_RULES["its rule, its own argmax draft"], p, q)
    off = np.abs(formula(p, q) - written).max()
    print(f"With its argmax draft it writes {by_token(written)}.")
    differs = f"differs from that by up to {off:.2g}" if off > 1e-9 else "says the same"
    print(f"Your argmax_draft_law {differs}.")


@axes.uses_student_functions("is_lossless", "repair")
def library_repaired(judge: Callable, repair: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The same trial with the student's draft as well."""
    from specdec_lib.lessons.ch03 import library

    library.require_library()
    suspects = library.LIBRARY_RULES | {"its rule, your draft": library.drafted_by(repair)}
    _verdicts("The trial again, with your repair", judge, suspects, p, q)


def _verdicts(
    title: str, judge: Callable, suspects: Mapping[str, Rule], p: np.ndarray, q: np.ndarray
) -> None:
    """A bar for each rule's exact distance to p (V,), and the student's verdict on it."""
    counts = {name: computed.rule_law(rule, p, q) for name, rule in suspects.items()}
    off = {name: total_variation(written, p) for name, written in counts.items()}
    labels = []
    for name, rule in suspects.items():
        lent = limit_calls(MAX_BRANCHES, rule, "the rule", ONCE)
        verdict, right = bool(judge(lent, p, q)), off[name] < 1e-12
        said = f"you: {'' if verdict else 'not '}lossless{'' if verdict == right else ' (wrong)'}"
        labels.append(f"{'0' if right else f'{off[name]:.2g}'}  {said}")
    ax = axes.chart(title, size=(8.4, 1.3 + 0.3 * len(suspects)))
    ax.set(xlabel="total variation from p, counted", xlim=(0, 1.6 * max(off.values())))
    words = axes.named_bars(ax, off, labels, "excess")
    show(ax.figure, f"{title}. {words}.")


@axes.uses_student_functions("warp")
def warped(warp: Callable, logits: np.ndarray) -> None:
    """The student's distribution of `logits` (V,) under each of SETTINGS."""
    row, parts = axes.panels(len(SETTINGS), (8.8, 2.9), ylabel="probability", sharey=True), []
    for ax, (name, setting) in zip(row, SETTINGS.items(), strict=True):
        probs = np.asarray(warp(logits, *setting), dtype=float)
        names = TOKEN_NAMES[: len(probs)]
        parts.append(draw_series(ax, names, {name: probs}, kind="bars", text=".2f"))
        axes.token_axis(ax, len(probs), 0.9)
        ax.set(title=name, xlim=(-0.6, len(probs) - 0.4))
    show(row[0].figure, f"By your function. {'; '.join(parts)}.")


def forged(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int = 200_000) -> None:
    """Print how far a rule is from p (V,): counted, and sampled, with a perfect sampler's noise.

    To draw from what was counted is to run the rule as often, and takes no time.
    """
    written, noise = computed.rule_law(rule, p, q), computed.noise(p, draws)
    off = total_variation(written, p)
    sample = np.random.default_rng(0).multinomial(draws, written) / draws
    print(f"target {p}, sample {np.round(sample, 4)}")
    print(f"Counted: {off:.5f} from p.")
    print(f"{draws:,} samples: {total_variation(sample, p):.5f} from p. ", end="")
    print(f"A perfect sampler: {noise:.5f} on average.")
    lossless = "Your rule is lossless, so there is nothing to notice."
    notice = f"{draws:,} samples would {'' if off > 3 * noise else 'not '}notice."
    print(lossless if off < 1e-12 else notice)
