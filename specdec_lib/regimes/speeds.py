"""What a block costs in today's uses, by formulas. Times are of one H100, limited by its memory
or by its arithmetic, as in chapter 00; prompts and waiting are left out.
"""

from dataclasses import dataclass

from specdec_lib.lessons.ch00.checks import MACHINES
from specdec_lib.lessons.ch07.experts import MIXTURES, Mixture
from specdec_lib.theory import expected_tokens

H100 = MACHINES["H100"]
BYTES = 2  # a parameter or a value of a cache, in bfloat16


@dataclass(frozen=True)
class Draft:
    """A draft by its acceptance rate, tokens a block, and the cost of a step in target passes."""

    alpha: float = 0.7
    k: int = 4
    c: float = 0.05

    @property
    def tokens(self) -> float:
        """Tokens a block writes on average."""
        return expected_tokens(self.alpha, self.k)

    def speed(self, v: float = 1.0, more: float = 0.0) -> float:
        """Times plain decoding, if verifying takes `v` passes and a block waits `more` of them."""
        return self.tokens / (self.c * self.k + v + more)


DRAFT = Draft()


def expected_experts(n_tokens: int, n_experts: int, active: int) -> float:
    """Mean number of different experts of a layer that `n_tokens` tokens choose, `active` each.

    All choices are taken to be equally likely, and tokens to choose independently.
    """
    return n_experts * (1 - (1 - active / n_experts) ** n_tokens)


@dataclass(frozen=True)
class Served:
    """A model on the H100: billions of parameters, and bytes of its cache for a token of text."""

    name: str
    parameters: float | Mixture
    cache_bytes: int

    def seconds(self, n_tokens: int, batch: int, context: float) -> float:
        """The time of a pass over `n_tokens` tokens in each of `batch` rows of `context` tokens."""
        size = self.parameters
        dense = not isinstance(size, Mixture)
        read = size if dense else size.read(expected_experts, batch * n_tokens)
        computed = size if dense else size.one_token
        moved = BYTES * 1e9 * read + batch * context * self.cache_bytes
        flop = 2e9 * computed * n_tokens * batch
        return max(moved / H100.bandwidth, flop / H100.peak_flops)


#: Layers, heads and sizes from the published config.json of the two models.
QWEN3_32B = Served("Qwen3-32B", 32.8, 2 * 64 * 8 * 128 * BYTES)
QWEN3_30B_A3B = Served("Qwen3-30B-A3B", MIXTURES[1], 2 * 48 * 4 * 128 * BYTES)
TRACE, PROMPT, SAMPLES = 16_384, 1_024, 16  # tokens that are written, tokens before, samples


def trace_seconds(model: Served, samples: int, draft: Draft | None = None) -> float:
    """Seconds for TRACE tokens after PROMPT, written as `samples` rows of one batch."""
    each = TRACE // samples
    context = PROMPT + each / 2
    plain = model.seconds(1, samples, context)
    if draft is None:
        return each * plain
    verify = model.seconds(draft.k + 1, samples, context)
    return each / draft.tokens * (draft.c * draft.k * plain + verify)


@dataclass(frozen=True)
class Hybrid:
    """A model with recurrent layers: parameters, and numbers of a state and of a token's inputs.

    A state is kept in float32, the inputs that update it in bfloat16.
    """

    parameters: float
    layers: int
    state_numbers: int
    input_numbers: int

    @property
    def state_bytes(self) -> int:
        """One state of a sequence, all layers."""
        return self.layers * self.state_numbers * 4

    @property
    def input_bytes(self) -> int:
        """What updates the states by one token, all layers."""
        return self.layers * self.input_numbers * BYTES

    def seconds(self, n_tokens: float, batch: int, moved: float) -> float:
        """A pass over `n_tokens` tokens a row, in which each row moves `moved` bytes of states."""
        read = BYTES * self.parameters + batch * moved
        flop = 2 * self.parameters * n_tokens * batch
        return max(read / H100.bandwidth, flop / H100.peak_flops)


#: 24 Mamba-2 layers with 128 heads of 64 by 128 numbers; x (128 x 64), B (8 x 128) and dt (128).
NEMOTRON_H = Hybrid(8e9, 24, 128 * 64 * 128, 128 * 64 + 8 * 128 + 128)


def rollback(model: Hybrid, batch: int, draft: Draft = DRAFT) -> dict[str, tuple[float, float]]:
    """By way of going back: bytes kept for a sequence, and the speed over plain decoding."""
    state, inputs, n = model.state_bytes, model.input_bytes, draft.k + 1
    plain = model.seconds(1, batch, 2 * state)
    again = (1 - draft.alpha**draft.k) * model.seconds(draft.tokens, batch, 2 * state)
    ways = {
        "a state for every token of the block": (
            n * state, model.seconds(n, batch, (n + 1) * state)),
        "one state; accepted tokens are read again in a pass of their own": (
            2 * state, model.seconds(n, batch, 2 * state) + again),
        "one state; accepted tokens are read again in the next pass": (
            state, model.seconds(draft.k + draft.tokens, batch, 2 * state)),
        "one state and every token's inputs; the update is done again": (
            state + n * inputs, model.seconds(n, batch, 2 * state + 2 * n * inputs)),
    }  # fmt: skip
    return {way: (kept, draft.speed(time / plain)) for way, (kept, time) in ways.items()}


def apart(round_trip: float, draft: Draft = DRAFT) -> float:
    """Times plain decoding, if the draft's machine is `round_trip` target passes away."""
    return draft.speed(more=round_trip)


def best_apart(round_trip: float, draft: Draft = DRAFT, k_max: int = 16) -> Draft:
    """`draft` with the K that is fastest at this round trip."""
    choices = [Draft(draft.alpha, k, draft.c) for k in range(1, k_max + 1)]
    return max(choices, key=lambda choice: apart(round_trip, choice))


def ahead(round_trip: float, draft: Draft = DRAFT, foreseen: float = 0.9) -> float:
    """Times plain decoding, if the next block is drafted while the target verifies this one.

    Where the outcome was not foreseen, drafting and round trip are paid again.
    """
    drafting = draft.c * draft.k + round_trip
    return draft.tokens / (max(drafting, 1.0) + (1 - foreseen) * drafting)


def largest_round_trip(draft: Draft = DRAFT) -> float:
    """The round trip, in target passes, at which drafting elsewhere is as slow as no draft."""
    return draft.tokens - 1 - draft.c * draft.k


VOCABULARY, KEPT_IDS = 128_256, 64  # tokens of Llama 3, and of a draft that is cut to so many


def sent_bytes(k: int = DRAFT.k) -> dict[str, int]:
    """Bytes from the draft's machine to the target's for a block of `k`, by what is sent."""
    token = 4  # an id
    return {
        "all of q": k * (token + VOCABULARY * BYTES),
        f"the {KEPT_IDS} largest of q, with their ids": k * (token + KEPT_IDS * (token + BYTES)),
        "tokens alone (q one-hot)": k * token,
    }
