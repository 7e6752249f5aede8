"""The share of the bound, and the cost model's error, on a machine that changes its speed."""

from itertools import count

import pytest
from decoders.stand_in_clock import Clock

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.bench import bound
from specdec_lib.measure.core import costs
from specdec_lib.measure.core.costs import in_turn
from specdec_lib.measure.core.timing import interleaved

V = {width: 1 + 0.1 * (width - 1) for width in range(1, 4)}
C, BLOCKS, BROUGHT = 0.2, 10, 2.0  # c, blocks of a text, tokens a block


class Drifting:
    """A machine that takes longer with every task; a decoder reaches `share` of its bound."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, share: float, drift: float) -> None:
        self.clock, self.share, self.drift = Clock(monkeypatch), share, drift
        self.tasks = count()
        monkeypatch.setattr(costs, "pass_tasks", self.passes)

    def takes(self, seconds: float) -> None:
        """A task of so many seconds, were the machine as fast as it was at first."""
        self.clock.now += seconds * (1 + self.drift * next(self.tasks))

    def passes(self, target: str, widths):
        """As `costs.pass_tasks`."""
        return {width: lambda width=width: self.takes(V[width]) for width in widths}

    def decoder(self, k: int):
        """Plain decoding, or blocks of K draft tokens."""

        def decode(prompt: list[int]) -> Generation:
            tokens = round(BLOCKS * BROUGHT)
            if not k:
                self.takes(tokens)
                return Generation([[1] * tokens], target_passes=tokens)
            self.takes(BLOCKS * (C * k + V[k + 1]) / self.share)
            return Generation([[1] * tokens], target_passes=BLOCKS)

        return decode


def test_a_share_comes_from_costs_and_decoding_of_the_same_minute(monkeypatch):
    """Nothing but drift takes these times apart: from costs of another time it would be 0.4."""
    machine = Drifting(monkeypatch, share=0.9, drift=0.005)
    steps = {bound.NAME: lambda: machine.takes(C)}
    passes = in_turn("target", steps, k_max=2)
    decoders = {k: machine.decoder(k) for k in range(3)}
    rounds = bound.shares_by_round(passes, decoders, [[1], [2], [3]])
    assert len(rounds) == 3
    for shares in (bound.medians(rounds), *(each.shares for each in rounds)):
        assert shares == pytest.approx({1: 0.9, 2: 0.9}, abs=0.05)
    for each in rounds:
        assert each.costs.c == pytest.approx(C, abs=0.01)
        assert each.costs.v == pytest.approx(V, abs=0.03)
    assert f"rounds: {len(rounds)}, c = 0.2" in bound.in_words("here", rounds)


def test_one_disturbed_round_of_three_is_not_in_the_share(monkeypatch):
    machine = Drifting(monkeypatch, share=0.9, drift=0.0)
    passes = in_turn("target", {bound.NAME: lambda: machine.takes(C)}, 2)
    decoders = {k: machine.decoder(k) for k in range(3)}
    speculative = decoders[2]

    def disturbed(prompt: list[int]) -> Generation:
        machine.takes(100.0 if prompt == [2] else 0.0)
        return speculative(prompt)

    rounds = bound.shares_by_round(passes, decoders | {2: disturbed}, [[1], [2], [3]])
    assert rounds[1].shares[2] < 0.5
    assert bound.medians(rounds) == pytest.approx({1: 0.9, 2: 0.9})


def test_the_error_of_the_cost_model_is_that_of_rounds_not_of_medians_apart(monkeypatch):
    """In every round a block takes a tenth more than its passes."""
    machine = Drifting(monkeypatch, share=1.0, drift=0.0)
    passes = {"draft": 0.2, "target": 1.2, "block": 1.1 * (2 * 0.2 + 1.2)}
    tasks = {key: lambda each=each: machine.takes(each) for key, each in passes.items()}
    assert bound.error_of(interleaved(tasks, 5), 2) == pytest.approx(0.1)
    drifted = {"draft": [0.2, 0.4, 0.2], "target": [1.2, 2.4, 9.9], "block": [1.76, 3.52, 1.76]}
    assert bound.error_of(drifted, 2) == pytest.approx(0.1)
