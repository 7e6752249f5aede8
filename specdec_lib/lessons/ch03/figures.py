"""The figures of chapter 03 that are drawn from the student's functions, each with its words.

They show what the function does, even if it is wrong: nothing drawn assumes the right answer.
"""

from collections.abc import Callable, Mapping

import numpy as np

from specdec_lib import exact
from specdec_lib.lessons.ch02.answer import RecordedAnswer
from specdec_lib.lessons.ch02.lazy_uniforms import LazyGenerator
from specdec_lib.lessons.ch03 import computed, library, rules
from specdec_lib.lessons.ch03.rules import PUBLIC_CODE, Rule
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.checking.lending import limit_calls
from specdec_lib.lessons.data.distributions import total_variation
from specdec_lib.lessons.drawing import axes
from specdec_lib.lessons.drawing.series import draw_series, series_figure
from specdec_lib.lessons.drawing.style import show
from specdec_lib.lessons.drawing.wording import TOKEN_NAMES, by_token

SETTINGS = {"temperature 1": (1.0, None, None), "temperature 0.5": (0.5, None, None)}
SETTINGS |= {"top-k 3": (1.0, 3, None), "top-p 0.8": (1.0, None, 0.8)}
TEMPERATURES, TOP_P = (0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4), 0.95
MAX_BRANCHES = 20_000
ONCE = "exact.distribution asks it once for each branch, and these rules have fewer"


@axes.uses_student_functions("argmax_draft_law")
def argmax_draft(law_of: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Target p (V,), draft q (V,), and the student's distribution with an argmax draft."""
    law = np.asarray(law_of(p, q), dtype=float)
    title = f"Argmax draft, full q: {total_variation(law, p):.3f} is on the wrong tokens"
    values = {"target p": p, "draft q": q, "written, by your function": law}
    options = {"kind": "bars", "roles": ("target", "draft", "excess"), "text": ".2f"}
    series_figure(title, TOKEN_NAMES[: len(p)], values, ylabel="probability", **options)


@axes.uses_student_functions("is_lossless")
def line_up(judge: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Every rule of rules with its exact distance to p (V,) and the student's verdict."""
    suspects = (*rules.LOSSLESS, *rules.MISTAKES)
    names = [f"{rule.__name__} {PUBLIC_CODE.get(rule.__name__, '')}".strip() for rule in suspects]
    _verdicts("The line-up", judge, dict(zip(names, suspects, strict=True)), p, q)
    print("\n".join(f"{rule.__name__}: {rule.__doc__}" for rule in suspects))


@axes.uses_student_functions("is_lossless", "argmax_draft_law")
def library_on_trial(judge: Callable, formula: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """The installed library's acceptance code and its `generate`, with several drafts."""
    library.require_library()
    rules = library.LIBRARY_RULES
    _verdicts("The library on trial", judge, rules, p, q)
    written = computed.rule_law(rules["its rule, argmax draft"], p, q)
    off = np.abs(formula(p, q) - written).max()
    print(f"With an argmax draft it writes {by_token(written)}.")
    differs = f"differs from that by up to {off:.2g}" if off > 1e-9 else "says the same"
    print(f"Your argmax_draft_law {differs}.")
    mixed = computed.rule_law(rules["its rule, assistant_ensemble_weight 0.5"], p, q)
    print(f"With weight 0.5 it writes {by_token(mixed)}; 0.5 p + 0.5 q is {by_token((p + q) / 2)}.")
    for _ in range(3):
        words = library.word_tokenizer([*TOKEN_NAMES[:4], "own"])
        print(f"A draft with a word of its own: get_vocab() lists {list(words.get_vocab())}.")


@axes.uses_student_functions("is_lossless", "repair")
def library_repaired(judge: Callable, repair: Callable, p: np.ndarray, q: np.ndarray) -> None:
    """Its acceptance code with the student's draft, and with the argmax draft."""
    library.require_library()
    argmax = "its rule, argmax draft"
    mended = {"its rule, your draft": library.drafted_by(repair)}
    suspects = mended | {argmax: library.LIBRARY_RULES[argmax]}
    _verdicts("The trial again, with your repair", judge, suspects, p, q)


@axes.uses_student_functions("speculative_sample", "warp", "is_lossless")
def own_decoder(
    sample: Callable, warp: Callable, judge: Callable, p: np.ndarray, q: np.ndarray, sampler: tuple
) -> None:
    """The student's decoder behind `warp` with a `sampler` of (temperature, top_k, top_p)."""

    def decoded(*rows: np.ndarray) -> Rule:
        models = [lambda text, row=row: np.tile(library.log(row), (len(text), 1)) for row in rows]

        def rule(_p: np.ndarray, _q: np.ndarray, choices: exact.Tape) -> int:
            got = sample(*models, [0], 1, 2, 1.0, LazyGenerator(choices))
            if np.shape(got) != (2,):
                raise Different(f"speculative_sample returned {got!r}, expected two tokens.")
            return int(got[0]) * len(p) + int(got[1])

        return rule

    target, draft = (warp(np.log(each), *sampler) for each in (p, q))
    sides = {"both sides": (target, draft), "the target alone": (target, q)}
    sides["the draft alone"] = p, draft
    suspects = {f"warp on {name}": decoded(*rows) for name, rows in sides.items()}
    title, texts = "Your decoder of chapter 02: texts of two tokens", np.outer(target, target)
    _verdicts(title, judge, suspects, texts.ravel(), draft)


def _verdicts(
    title: str, judge: Callable, suspects: Mapping[str, Rule], p: np.ndarray, q: np.ndarray
) -> None:
    """A bar for each rule's exact distance to p (V,), and the student's verdict on it."""
    laws = {name: computed.rule_law(rule, p, q) for name, rule in suspects.items()}
    off = {name: total_variation(law, p) for name, law in laws.items()}
    labels = []
    for name, rule in suspects.items():
        lent = limit_calls(MAX_BRANCHES, rule, "the rule", ONCE)
        verdict, right = bool(judge(lent, p, q)), off[name] < 1e-12
        yours = f"you: {'' if verdict else 'not '}lossless{'' if verdict == right else ' (wrong)'}"
        labels.append(f"{'0' if right else f'{off[name]:.2g}'}  {yours}")
    ax = axes.chart(title, size=(8.4, 1.3 + 0.3 * len(suspects)))
    ax.set(xlabel="total variation from p, counted", xlim=(0, 1.6 * max(0.01, *off.values())))
    words = axes.named_bars(ax, off, labels, "excess")
    show(ax.figure, f"{title}. {words}.")


@axes.uses_student_functions("warp")
def warped(warp: Callable, logits: np.ndarray) -> None:
    """The student's distribution of `logits` (V,) under each of SETTINGS."""
    laws = {name: np.asarray(warp(logits, *each), dtype=float) for name, each in SETTINGS.items()}
    names = TOKEN_NAMES[: len(logits)]
    series_figure("By your function", names, laws, ylabel="probability", kind="bars")


@axes.uses_student_functions("warp")
def alpha_by_temperature(warp: Callable) -> None:
    """Alpha along chapter 02's recorded answer, over the tokens that either model has there."""
    places = [rows[:, rows.max(axis=0) > rows.min()] for rows in RecordedAnswer().logits()]

    def alpha(target: tuple, draft: tuple) -> float:
        pairs = ((warp(p, *target), warp(q, *draft)) for p, q in places)
        return float(np.mean([np.minimum(*np.array(pair, float)).sum() for pair in pairs]))

    values = {
        "both sides warped": [alpha((t,), (t,)) for t in TEMPERATURES],
        f"both, and top-p {TOP_P}": [alpha(*2 * [(t, None, TOP_P)]) for t in TEMPERATURES],
        "draft left at temperature 1": [alpha((t,), (1,)) for t in TEMPERATURES],
    }
    same, _, left = values.values()
    title = f"At temperature 0 alpha is {same[0]:.2f}; with the draft left at 1 it is {left[0]:.2f}"
    ax = axes.chart(title, "alpha, by your warp")
    words = draw_series(ax, TEMPERATURES, values)
    ax.set(xlabel="temperature", ylim=(0, None))
    axes.legend_below(ax)
    show(ax.figure, f"{title}. On {len(places)} tokens of a recorded answer: {words}.")


@axes.uses_student_functions("my_rule")
def forged(rule: Rule, p: np.ndarray, q: np.ndarray, draws: int = 200_000) -> None:
    """Print how far a rule is from p (V,), counted, and how far a perfect sampler's sample is."""
    law, noise = computed.rule_law(rule, p, q), computed.noise(p, draws)
    branches = len(list(exact.branches(lambda choices: rule(p, q, choices))))
    if any((computed.rule_law(rule, p, q) != law).any() for _ in range(MAX_BRANCHES // branches)):
        raise Different("its runs differ: let `choices` make every draw, or it cannot be counted.")
    off = total_variation(law, p)
    print(f"Counted: {off:.5f} from p.")
    print(f"{draws:,} samples of a perfect sampler: {noise:.5f} from p on average.")
    lossless = "Counted, your rule is lossless, so there is nothing to notice."
    notice = f"{draws:,} samples would {'' if off > 3 * noise else 'not '}notice."
    print(lossless if off < 1e-12 else notice)
