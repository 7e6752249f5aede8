"""How many tokens a block drafts."""

from decoders.decoding_cases import generate, uniforms

from specdec_lib.drafters.adaptive import MeasuredCost
from specdec_lib.theory import Costs

COSTS = Costs(c=0.1, v={1: 1.0, 2: 1.05, 3: 1.2, 4: 1.3, 5: 1.45, 7: 1.6})


def brute_force_k(costs: Costs, accepted: float, judged: float) -> int:
    """The k whose tokens a unit of time are most, E being summed over every outcome."""
    alpha = accepted / judged

    def rate(k: int) -> float:
        tokens = sum((n + 1) * alpha**n * (1 - alpha) for n in range(k)) + (k + 1) * alpha**k
        return tokens / (costs.c * k + costs.v[k + 1])

    return max([1, 2, 3, 4, 6], key=rate)


def test_a_generation_drafts_as_many_as_the_measured_costs_say():
    made = generate([[1]], uniforms(0), MeasuredCost(COSTS, alpha=0.9, trust=2), 60)
    accepted, judged, left = 1.8, 2.0, 60
    for block in made.blocks[0]:
        assert len(block.drafted) == min(brute_force_k(COSTS, accepted, judged), left - 1)
        accepted += block.accepted
        judged += min(block.accepted + 1, len(block.drafted))
        left -= block.kept
    assert len({len(block.drafted) for block in made.blocks[0][:-2]}) > 1
