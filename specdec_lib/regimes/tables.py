"""The tables of docs/regimes.md as Markdown, by the name of their place in the page."""

from collections.abc import Callable

from specdec_lib.lessons.ch07.experts import MIXTURES
from specdec_lib.measure.core.pages import markdown
from specdec_lib.regimes import laws, speeds
from specdec_lib.regimes.speeds import DRAFT

ROUND_TRIPS = (0.0, 0.1, 0.5, 1.0, 2.0, 5.0)  # in target passes


def experts() -> str:
    """v and speed of mixtures of experts, at one request and more."""
    head = ("model", "experts, active", "v(2)", "v(5)", "v(9)", "speed, 1 request", "8", "64")
    rows = []
    for mixture in MIXTURES:
        passes = [mixture.v(speeds.expected_experts, n) for n in (2, 5, 9)]
        blocks = [mixture.v(speeds.expected_experts, DRAFT.k + 1, batch) for batch in (1, 8, 64)]
        rows.append([mixture.name, f"{mixture.n_experts}, {mixture.active}"]
                    + [f"{v:.2f}" for v in passes]
                    + [f"{DRAFT.speed(v):.2f}" for v in blocks])  # fmt: skip
    dense = ["without experts", "", *["1.00"] * 3, *[f"{DRAFT.speed():.2f}"] * 3]
    return markdown(head, [*rows, dense])


def test_time() -> str:
    """One reasoning trace, written as one answer or as samples, without and with experts."""
    head = ("how", "plain, s", "with a draft, s", "times faster")
    rows = []
    for model in (speeds.QWEN3_32B, speeds.QWEN3_30B_A3B):
        for samples in (1, speeds.SAMPLES):
            each = speeds.TRACE // samples
            name = f"{samples} samples of {each:,} tokens" if samples > 1 else "one long answer"
            plain, drafted = (speeds.trace_seconds(model, samples, d) for d in (None, DRAFT))
            rows.append((f"{model.name}: {name}", f"{plain:.1f}", f"{drafted:.1f}",
                         f"{plain / drafted:.2f}"))  # fmt: skip
    return markdown(head, rows)


def grammar() -> str:
    """Acceptance under a grammar, by what it allows and whether the draft is masked too."""
    head = ("allowed", "p under the grammar", "accepted, draft not masked", "draft masked too")
    rows = []
    for allowed in laws.GRAMMARS:
        p = ", ".join(f"{probability:.2f}" for probability in laws.masked(laws.P, allowed))
        rows.append((", ".join(allowed), f"[{p}]",
                     *(f"{share:.2f}" for share in laws.acceptance_under(allowed))))  # fmt: skip
    return markdown(head, rows)


def rollback() -> str:
    """Ways of going back in a model with recurrent layers, by what they keep and cost."""
    batches = (1, 32, 128)
    found = {batch: speeds.rollback(speeds.NEMOTRON_H, batch) for batch in batches}
    head = ("way", "kept for a sequence, MB", *(f"speed, batch {batch}" for batch in batches))
    rows = [
        (way, f"{kept / 1e6:.0f}", *(f"{found[batch][way][1]:.2f}" for batch in batches))
        for way, (kept, _) in found[1].items()
    ]
    return markdown(head, rows)


def rollouts() -> str:
    """What rules of acceptance do to the gradient of a learner who takes their texts for p's."""
    head = ("rule", "total variation", "mean reward", "bias of the gradient",
            "rollouts until the bias is larger than the noise")  # fmt: skip
    rows = []
    for name, law in laws.rules().items():
        exact = laws.distance(law) < 1e-12
        limit = "never" if exact else f"{laws.rollouts_until_bias(law):,.0f}"
        rows.append((name, f"{laws.distance(law):.3f}", f"{law @ laws.REWARDS:.3f}",
                     f"{laws.bias(law):.1%}", limit))  # fmt: skip
    return markdown(head, rows)


def round_trips() -> str:
    """Speed with the draft on another machine, by the round trip."""
    head = ("round trip, target passes", f"K = {DRAFT.k}", "at the best K", "drafted ahead")
    rows = []
    for trip in ROUND_TRIPS:
        best = speeds.best_apart(trip)
        rows.append((f"{trip:g}", f"{speeds.apart(trip):.2f}",
                     f"{speeds.apart(trip, best):.2f} (K = {best.k})",
                     f"{speeds.ahead(trip):.2f}"))  # fmt: skip
    return markdown(head, rows)


def sent() -> str:
    """What the draft's machine sends for a block, and how long it takes on two links."""
    head = ("what is sent", "bytes a block", "1 Gb/s, ms", "100 Gb/s, ms")
    rows = [
        (what, f"{count:,}", *(_short(8e3 * count / (gigabits * 1e9)) for gigabits in (1, 100)))
        for what, count in speeds.sent_bytes().items()
    ]
    return markdown(head, rows)


def _short(milliseconds: float) -> str:
    return f"{milliseconds:.3f}" if milliseconds >= 0.001 else "below 0.001"


TABLES: dict[str, Callable[[], str]] = {
    "experts": experts,
    "one trace, three prices": test_time,
    "a grammar": grammar,
    "going back": rollback,
    "rollouts": rollouts,
    "a round trip": round_trips,
    "what is sent": sent,
}
