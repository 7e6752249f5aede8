"""The decoder against a plain one, row by row, pass by pass and token by token.

The models are lookup tables of dyadic probabilities. What is random comes from seeded generators
and is compared with what the reference makes of the same numbers.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from reference import reference_plain, reference_speculative
from torch import Tensor

from specdec_lib.decoding.plain import plain_generate
from specdec_lib.decoding.progress import Block, Generation, Settings
from specdec_lib.decoding.speculative import speculative_generate
from specdec_lib.drafters.adaptive import Fixed, MeasuredCost, Schedule
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.models.cache import KVCache, Lengths, TokenCache
from specdec_lib.models.table import TableModel
from specdec_lib.sampling import LAST, Choices, Greedy, Uniforms, Warp, choices_for
from specdec_lib.theory import Costs

V, EOS = 4, 3
GREEDY = Warp(0)


def dyadic(seed: int, dtype: torch.dtype = torch.float64) -> TableModel:
    """A model that looks at two tokens, with probabilities in sixteenths, some of them 0."""
    counts = np.random.default_rng(seed).multinomial(16, [0.3, 0.3, 0.3, 0.1], size=(V, V))
    return TableModel(torch.from_numpy(counts).to(dtype) / 16)


def chain(following: Sequence[int]) -> TableModel:
    """A model that is certain: token t is followed by following[t]."""
    return TableModel(torch.eye(len(following), dtype=torch.float64)[list(following)])


TARGET, DRAFT = dyadic(1), dyadic(2)
HALVES = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1]], dtype=torch.float64) / 2
LOW, HIGH = (TableModel(half.expand(V, V).clone()) for half in HALVES)  # disjoint supports
COUNTS = Counts(
    unigram=np.array([4, 2, 1, 1]),
    bigram=np.array([[0, 1, 3], [0, 2, 1], [1, 0, 2], [2, 2, 5]]),
    trigram=np.zeros((0, 4), dtype=int),
)
DRAFTERS: dict[str, Callable[[], Drafter]] = {
    "model": lambda: ModelDrafter(DRAFT),
    "model, stops when unsure": lambda: ModelDrafter(DRAFT, stop_below=0.4),
    "bigram": lambda: NgramDrafter(COUNTS, 2),
    "prompt lookup": lambda: PromptLookup(V),
}


def prompt_of(seed: int, length: int) -> list[int]:
    return np.random.default_rng([seed, length]).integers(V, size=length).tolist()


def uniforms(*seeds: int) -> Uniforms:
    return Uniforms([np.random.default_rng(seed) for seed in seeds])


def generate(
    prompts: Sequence[Sequence[int]],
    choices: Choices,
    k: int | Schedule = 3,
    count: int = 12,
    target: TableModel = TARGET,
    drafter: Drafter | None = None,
    **settings,
) -> Generation:
    drafter = drafter or ModelDrafter(DRAFT)
    return speculative_generate(target, drafter, prompts, k, Settings(count, **settings), choices)


class Counted:
    """A model that notes the positions and tokens that each pass feeds to its first row."""

    def __init__(self, model: TableModel) -> None:
        self.model, self.device = model, model.device
        self.vocab_size, self.max_length = model.vocab_size, model.max_length
        self.passes: list[dict[int, int]] = []

    def new_cache(self, batch: int = 1, capacity: int | None = None) -> TokenCache:
        return self.model.new_cache(batch, capacity)

    def forward(self, tokens: Tensor, cache: TokenCache) -> Tensor:
        self.passes.append(dict(enumerate(tokens[0].tolist(), start=int(cache.length[0]))))
        return self.model.forward(tokens, cache)

    @property
    def positions(self) -> list[list[int]]:
        return [list(fed) for fed in self.passes]


# The contract, against the reference.


@pytest.mark.parametrize("eos_id", [None, EOS])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_reference_writes_the_same_from_the_same_numbers(
    k: int, temperature: float, eos_id: int | None
):
    for seed in range(64 if temperature == 1 else 24):
        prompt = prompt_of(seed, 1 + seed % 5)
        ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
        choices = Uniforms([ours]) if temperature else Greedy()
        made = generate([prompt], choices, k, 10, warp=Warp(temperature), eos_id=eos_id)
        expected = reference_speculative(TARGET, DRAFT, prompt, k, 10, temperature, theirs, eos_id)
        assert made.tokens == [expected]
        assert ours.bit_generator.state == theirs.bit_generator.state


def test_the_reference_writes_the_same_in_float32():
    target, draft = dyadic(1, torch.float32), dyadic(2, torch.float32)
    for seed in range(16):
        made = generate([[1]], uniforms(seed), target=target, drafter=ModelDrafter(draft))
        rng = np.random.default_rng(seed)
        assert made.tokens == [reference_speculative(target, draft, [1], 3, 12, 1.0, rng)]


@pytest.mark.parametrize("eos_id", [None, EOS])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
def test_plain_decoding_writes_what_a_plain_loop_writes(temperature: float, eos_id: int | None):
    for seed in range(16):
        prompt = prompt_of(seed, 1 + seed % 5)
        rng = np.random.default_rng(seed)
        choices = uniforms(seed) if temperature else Greedy()
        made = plain_generate(
            TARGET, [prompt], Settings(10, Warp(temperature), eos_id), choices
        ).tokens
        assert made == [reference_plain(TARGET, prompt, 10, temperature, rng, eos_id)]


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_at_temperature_0_the_tokens_are_those_of_plain_decoding(k: int, name: str):
    for seed in range(8):
        prompts = [prompt_of(seed, length) for length in (1, 2, 7, 3)]
        plain = plain_generate(TARGET, prompts, Settings(12, GREEDY), Greedy())
        made = generate(prompts, Greedy(), k, drafter=DRAFTERS[name](), warp=GREEDY)
        assert made.tokens == plain.tokens


# Rows of a batch.

LENGTHS = (1, 2, 7, 3)
PROMPTS = [prompt_of(0, length) for length in LENGTHS]


@pytest.mark.parametrize("eos_id", [None, EOS])
@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("k", [1, 4])
def test_every_row_of_a_ragged_batch_gets_what_it_gets_alone(k: int, name: str, eos_id: int | None):
    ends = set()
    for seed in range(0, 24, 4):
        together = generate(
            PROMPTS,
            uniforms(*range(seed, seed + 4)),
            k,
            drafter=DRAFTERS[name](),
            eos_id=eos_id,
        )
        for row, prompt in enumerate(PROMPTS):
            alone = generate(
                [prompt], uniforms(seed + row), k, drafter=DRAFTERS[name](), eos_id=eos_id
            )
            assert together.tokens[row] == alone.tokens[0]
            assert untimed(together.blocks[row]) == untimed(alone.blocks[0])
        ends.add(len({len(blocks) for blocks in together.blocks}))
        assert together.target_passes == max(map(len, together.blocks))
    assert max(ends) > 1  # rows end at different times


def untimed(blocks: Sequence[Block]) -> list[tuple]:
    return [(b.drafted, b.accepted, b.token, b.kept, b.p, b.q) for b in blocks]


@pytest.mark.parametrize("eos_id", [None, EOS])
def test_every_row_of_a_plain_batch_gets_what_it_gets_alone(eos_id: int | None):
    settings = Settings(12, eos_id=eos_id)
    for seed in range(0, 24, 4):
        together = plain_generate(TARGET, PROMPTS, settings, uniforms(*range(seed, seed + 4)))
        for row, prompt in enumerate(PROMPTS):
            alone = plain_generate(TARGET, [prompt], settings, uniforms(seed + row))
            assert together.tokens[row] == alone.tokens[0]


def test_prompts_that_are_read_in_several_passes_give_what_they_give_alone():
    prompts = [prompt_of(1, length) for length in (600, 2, 257, 258)]
    together = generate(prompts, uniforms(0, 1, 2, 3))
    for row, prompt in enumerate(prompts):
        rng = np.random.default_rng(row)
        expected = reference_speculative(TARGET, DRAFT, prompt, 3, 12, 1.0, rng)
        assert together.tokens[row] == expected


def test_permuting_the_rows_permutes_the_results():
    order = [2, 0, 3, 1]
    made = generate(PROMPTS, uniforms(0, 1, 2, 3), eos_id=EOS)
    permuted = generate([PROMPTS[row] for row in order], uniforms(*order), eos_id=EOS)
    assert permuted.tokens == [made.tokens[row] for row in order]
    assert [untimed(blocks) for blocks in permuted.blocks] == [
        untimed(made.blocks[row]) for row in order
    ]


def test_the_same_seeds_give_the_same_and_others_something_else():
    made = [generate([[1, 2]], uniforms(seed), count=30).tokens for seed in (5, 5, 6)]
    assert made[0] == made[1] != made[2]


def test_a_drafter_can_be_used_again():
    drafter = ModelDrafter(DRAFT)
    first, second = (generate(PROMPTS, uniforms(0, 1, 2, 3), drafter=drafter) for _ in range(2))
    shorter = generate([[1]], uniforms(0), drafter=drafter)
    assert first.tokens == second.tokens
    assert shorter.tokens == generate([[1]], uniforms(0)).tokens


# How often the models are called, and with what.


@pytest.mark.parametrize("count", [1, 2, 9, 10, 11, 12])
@pytest.mark.parametrize("k", [1, 2, 4, 20])
def test_a_perfect_draft_takes_one_target_pass_for_k_plus_1_tokens(k: int, count: int):
    target = Counted(TARGET)
    made = generate([[1]], uniforms(0), k, count, target=target, drafter=ModelDrafter(TARGET))
    assert made.target_passes == len(target.passes) == math.ceil(count / (k + 1))
    assert len(made.tokens[0]) == count


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_draft_of_other_tokens_takes_a_target_pass_for_every_token(k: int):
    made = generate([[1]], uniforms(0), k, 10, target=LOW, drafter=ModelDrafter(HIGH))
    assert made.target_passes == 10
    assert {block.accepted for block in made.blocks[0]} == {0}
    assert set(made.tokens[0]) <= {0, 1}


@pytest.mark.parametrize("length", [1, 2, 3, 7, 300])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_target_is_fed_each_position_once_and_again_only_behind_a_rejection(
    k: int, length: int
):
    prompt = prompt_of(3, length)
    for seed in range(4):
        target = Counted(TARGET)
        made = generate([prompt], uniforms(seed), k, 15, target=target)
        expected = [list(range(i, min(i + 256, length - 1))) for i in range(0, length - 1, 256)]
        held = length - 1
        for block in made.blocks[0]:
            expected.append(list(range(held, held + 1 + len(block.drafted))))
            held += block.kept
        assert target.positions == expected
        fed = {position: token for each in target.passes for position, token in each.items()}
        text = [*prompt, *made.tokens[0]]
        assert [fed[position] for position in range(len(text) - 1)] == text[:-1]


@pytest.mark.parametrize("length", [1, 2, 3, 7])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_draft_is_fed_what_it_has_not_read_and_nothing_twice(k: int, length: int):
    prompt = prompt_of(3, length)
    for seed in range(4):
        draft = Counted(DRAFT)
        made = generate([prompt], uniforms(seed), k, 15, drafter=ModelDrafter(draft))
        expected = [list(range(length - 1))] if length > 1 else []
        held, unread = length, 1
        for block in made.blocks[0]:
            singles = [[at] for at in range(held, held + len(block.drafted) - 1)]
            expected += [list(range(held - unread, held)), *singles] if block.drafted else []
            unread = 2 if block.bonus else 1  # its last draft token was drawn and never fed
            held += block.kept
        assert draft.positions == expected
        assert len(draft.passes) - (length > 1) == sum(len(b.drafted) for b in made.blocks[0])
        prompts_own = [at for fed in draft.positions for at in fed if at < length]
        assert sorted(prompts_own) == list(range(length))  # every one exactly once


def test_nothing_is_generated_where_nothing_is_asked_for():
    made = generate(PROMPTS, uniforms(0, 1, 2, 3), count=0)
    assert made.tokens == [[], [], [], []] and made.blocks == [[], [], [], []]
    assert made.target_passes == 0
    plain = plain_generate(TARGET, PROMPTS, Settings(0), uniforms(0, 1, 2, 3))
    assert plain.tokens == [[], [], [], []] and plain.target_passes == 0


def test_a_single_token_takes_no_draft():
    target, draft = Counted(TARGET), Counted(DRAFT)
    made = generate([[1, 2]], uniforms(0), 4, 1, target=target, drafter=ModelDrafter(draft))
    rng = np.random.default_rng(0)
    assert made.tokens == [reference_plain(TARGET, [1, 2], 1, 1.0, rng)]
    assert draft.positions == [[0]] and target.positions == [[0], [1]]
    assert untimed(made.blocks[0]) == [([], 0, made.tokens[0][0], 1, [], [])]


def test_plain_decoding_takes_one_pass_over_one_token_each():
    target = Counted(TARGET)
    made = plain_generate(target, [[1, 2, 0]], Settings(10), uniforms(0))
    assert made.target_passes == 10
    assert target.positions == [[0, 1], *([at] for at in range(2, 12))]


# A draft that is the target.


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("temperature", [1.0, 0.7, 0.0])
@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_the_target_accepts_everything_from_itself(k: int, temperature: float, dtype: torch.dtype):
    model = dyadic(1, dtype)
    drafter, warp = ModelDrafter(model), Warp(temperature)
    choices = uniforms(0, 1, 2, 3) if temperature else Greedy()
    made = generate(PROMPTS, choices, k, 64, target=model, drafter=drafter, warp=warp)
    for blocks in made.blocks:
        assert [block.accepted for block in blocks] == [len(block.drafted) for block in blocks]
        assert len(blocks) == math.ceil(64 / (k + 1))


def test_the_acceptance_does_not_depend_on_k_where_the_draft_is_the_target():
    rates = []
    for k in (1, 4):
        made = generate([[1]], uniforms(0), k, 100, drafter=ModelDrafter(TARGET))
        drafted = sum(len(block.drafted) for block in made.blocks[0])
        rates.append(sum(block.accepted for block in made.blocks[0]) / drafted)
    assert rates == [1.0, 1.0]


def test_a_draft_errs_where_its_model_errs_and_nowhere_else_whatever_k_is():
    # The draft errs behind token 2 alone: a stale cache would make it err elsewhere.
    target, draft = chain([1, 2, 3, 4, 5, 0]), chain([1, 2, 4, 4, 5, 0])
    for k in (1, 2, 3, 4):
        made = generate(
            [[0]], Greedy(), k, 40, target=target, drafter=ModelDrafter(draft), warp=GREEDY
        )
        text = [0, *made.tokens[0]]
        held = 1
        for block in made.blocks[0]:
            wrong = 2 in text[held - 1 : held - 1 + len(block.drafted)]
            assert (block.accepted < len(block.drafted)) == wrong
            held += block.kept


# Where a sequence ends.

COUNTING = chain([1, 2, 3, 4, 5, 6, 7, 0])
WRONG_BEHIND_3 = chain([1, 2, 3, 0, 5, 6, 7, 0])


@pytest.mark.parametrize(
    ("eos_id", "blocks"),
    [
        (2, [(1, 1)]),  # the first draft token
        (3, [(2, 2)]),  # the second
        (4, [(2, 3)]),  # the correction
        (7, [(2, 3), (2, 3)]),  # the bonus of a block of two
        (1, [(2, 3), (2, 3), (2, 2)]),  # the prompt's own token, behind a whole turn
    ],
    ids=["first", "second", "correction", "bonus", "in the prompt"],
)
def test_nothing_stands_behind_the_end_of_sequence(eos_id: int, blocks: list[tuple[int, int]]):
    calls: list[tuple[int, list[int]]] = []
    k = 3 if eos_id in (2, 3, 4) else 2
    drafter = ModelDrafter(WRONG_BEHIND_3 if eos_id == 4 else COUNTING)
    made = generate(
        [[1]],
        Greedy(),
        k,
        20,
        target=COUNTING,
        drafter=drafter,
        warp=GREEDY,
        eos_id=eos_id,
        on_tokens=lambda row, tokens: calls.append((row, tokens)),
    )
    expected = list(range(2, 8)) + [0, 1]
    assert made.tokens == [expected[: expected.index(eos_id) + 1]]
    assert [(block.accepted, block.kept) for block in made.blocks[0]] == blocks
    assert made.target_passes == len(blocks)
    assert [len(tokens) for _, tokens in calls] == [kept for _, kept in blocks]
    assert sum((tokens for _, tokens in calls), []) == made.tokens[0]


def test_a_row_that_has_ended_is_left_alone_while_others_go_on():
    calls: list[int] = []
    made = generate(
        [[5], [0]],
        Greedy(),
        2,
        20,
        target=COUNTING,
        drafter=ModelDrafter(COUNTING),
        warp=GREEDY,
        eos_id=6,
        on_tokens=lambda row, tokens: calls.append(row),
    )
    assert made.tokens == [[6], [1, 2, 3, 4, 5, 6]]
    assert calls == [0, 1, 1]
    assert [len(blocks) for blocks in made.blocks] == [1, 2]


def test_plain_decoding_stops_at_the_end_of_sequence():
    settings = Settings(20, GREEDY, eos_id=5)
    made = plain_generate(COUNTING, [[1], [4], [5]], settings, Greedy())
    assert made.tokens == [[2, 3, 4, 5], [5], [6, 7, 0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("decoder", ["plain", "speculative"])
def test_the_callback_sees_every_token_once_in_order(decoder: str):
    seen: list[list[int]] = [[], [], [], []]
    calls: list[list[int]] = []

    def on_tokens(row: int, tokens: list[int]) -> None:
        calls.append(tokens)
        seen[row] += tokens

    if decoder == "plain":
        settings = Settings(12, eos_id=EOS, on_tokens=on_tokens)
        made = plain_generate(TARGET, PROMPTS, settings, uniforms(0, 1, 2, 3))
    else:
        made = generate(PROMPTS, uniforms(0, 1, 2, 3), eos_id=EOS, on_tokens=on_tokens)
    assert seen == made.tokens
    assert all(calls)


# The record of what happened.


def probability(model: TableModel, text: Sequence[int], token: int, warp: Warp) -> float:
    """Of `token` behind `text`, from one fresh pass."""
    logits = model.forward(torch.tensor([list(text)]), model.new_cache())
    return float(warp(logits)[0, -1, token])


@pytest.mark.parametrize("eos_id", [None, EOS])
@pytest.mark.parametrize("warp", [Warp(), Warp(0.5, top_k=3, top_p=0.9)], ids=["plain", "warped"])
def test_the_blocks_tell_what_happened(warp: Warp, eos_id: int | None):
    made = generate(PROMPTS, uniforms(0, 1, 2, 3), eos_id=eos_id, warp=warp)
    for prompt, tokens, blocks in zip(PROMPTS, made.tokens, made.blocks, strict=True):
        text = list(prompt)
        for block in blocks:
            n = len(block.drafted)
            assert len(block.p) == len(block.q) == n
            for i, token in enumerate(block.drafted):
                before = [*text, *block.drafted[:i]]
                assert block.p[i] == pytest.approx(probability(TARGET, before, token, warp))
                assert block.q[i] == pytest.approx(probability(DRAFT, before, token, warp))
            assert 0 <= block.accepted <= n <= 3
            assert block.bonus == (block.accepted == n and block.kept > n)
            assert 1 <= block.kept <= block.accepted + 1
            text += [*block.drafted[: block.accepted], block.token][: block.kept]
        assert text == [*prompt, *tokens]
        assert sum(block.kept for block in blocks) == len(tokens)
        assert all(block.kept == block.accepted + 1 for block in blocks[:-1])


def test_times_are_not_negative_and_blocks_are_not_longer_than_the_whole():
    made = generate(PROMPTS, uniforms(0, 1, 2, 3))
    longest = max(made.blocks, key=len)
    parts = [seconds for b in longest for seconds in (b.draft_seconds, b.verify_seconds)]
    assert min(parts) >= 0
    assert 0 < sum(parts) <= made.seconds
    assert plain_generate(TARGET, [[1]], Settings(2), uniforms(0)).seconds > 0


def test_the_arguments_are_not_changed():
    prompts = [list(prompt) for prompt in PROMPTS]
    generate(prompts, uniforms(0, 1, 2, 3))
    plain_generate(TARGET, prompts, Settings(5), uniforms(0, 1, 2, 3))
    assert prompts == PROMPTS


# How many tokens to draft.

COSTS = Costs(c=0.1, v={1: 1.0, 2: 1.05, 3: 1.2, 4: 1.3, 5: 1.45, 7: 1.6})


def brute_force_k(costs: Costs, accepted: float, judged: float) -> int:
    """The k whose tokens a unit of time are most, E being summed over every outcome."""
    alpha = accepted / judged

    def rate(k: int) -> float:
        tokens = sum((n + 1) * alpha**n * (1 - alpha) for n in range(k)) + (k + 1) * alpha**k
        return tokens / (costs.c * k + costs.v[k + 1])

    return max([1, 2, 3, 4, 6], key=rate)


def test_the_measured_costs_choose_what_brute_force_chooses():
    schedule = MeasuredCost(COSTS, alpha=0.6, trust=5)
    assert schedule.most == 6
    accepted, judged, chosen = 3.0, 5.0, set()
    rng = np.random.default_rng(0)
    for chance in np.repeat([1.0, 0.1, 0.9], 60):
        k = schedule.k
        assert k == brute_force_k(COSTS, accepted, judged)
        chosen.add(k)
        n = int((rng.random(k) < chance).cumprod().sum())
        schedule.record([(n, k), (0, 0)])  # the second row is done
        accepted, judged = accepted + n, judged + min(n + 1, k)
    assert len(chosen) > 2


def test_a_generation_drafts_as_many_as_the_measured_costs_say():
    made = generate([[1]], uniforms(0), MeasuredCost(COSTS, alpha=0.9, trust=2), 60)
    accepted, judged, left = 1.8, 2.0, 60
    for block in made.blocks[0]:
        assert len(block.drafted) == min(brute_force_k(COSTS, accepted, judged), left - 1)
        accepted += block.accepted
        judged += min(block.accepted + 1, len(block.drafted))
        left -= block.kept
    assert len({len(block.drafted) for block in made.blocks[0][:-2]}) > 1


def test_a_fixed_k_learns_nothing():
    schedule = Fixed(3)
    schedule.record([(0, 3)] * 50)
    assert schedule.k == schedule.most == 3


# What is refused, and what to do about it.


class Short(TableModel):
    """A model with room for eight tokens."""

    max_length = 8


class Elsewhere(ModelDrafter):
    """A drafter on another device."""

    def __init__(self, model: TableModel) -> None:
        super().__init__(model)
        self.device = torch.device("meta")


@pytest.mark.parametrize("k", [0, -1])
def test_a_block_drafts_at_least_one_token(k: int):
    with pytest.raises(ValueError, match=rf"k is {k}; a block drafts at least 1 token.*plain"):
        generate([[1]], uniforms(0), k)


@pytest.mark.parametrize(
    ("prompts", "message"),
    [
        ([], "no prompt; give a list of lists of token ids"),
        ([[1], []], "prompt 1 is empty; give at least one token"),
        ([[1], [0, 4]], "prompt 1 has token 4, and the model knows 0 to 3: encode it with"),
        ([[0, -1]], "prompt 0 has token -1, and the model knows 0 to 3: encode it with"),
    ],
)
def test_prompts_that_cannot_be_used_are_refused(prompts: list[list[int]], message: str):
    with pytest.raises(ValueError, match=message):
        generate(prompts, uniforms(*range(len(prompts))))
    with pytest.raises(ValueError, match=message):
        plain_generate(TARGET, prompts, Settings(3), uniforms(*range(len(prompts))))


def test_a_drafter_with_other_tokens_is_refused():
    with pytest.raises(ValueError, match="target has 4 tokens and the drafter 8.*one tokenizer"):
        generate([[1]], uniforms(0), drafter=ModelDrafter(COUNTING))


def test_a_drafter_elsewhere_is_refused():
    with pytest.raises(ValueError, match="target is on cpu and the drafter on meta: load both"):
        generate([[1]], uniforms(0), drafter=Elsewhere(DRAFT))


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("temperature", [1.0, 0.0], ids=["sampled", "greedy"])
def test_logits_that_are_not_finite_are_refused(value: float, temperature: float):
    warp = Warp(temperature)
    choices = choices_for(warp, [np.random.default_rng(0)])
    broken = dyadic(1)
    broken.logits = broken.logits.clone()
    broken.logits[..., 1] = value
    message = "target gave logits that are not finite: look at its weights.*bfloat16"
    with pytest.raises(ValueError, match=message):
        generate([[1, 2]], choices, target=broken, warp=warp)
    with pytest.raises(ValueError, match=message):
        plain_generate(broken, [[1, 2]], Settings(3, warp), choices)


def test_a_drafter_that_is_not_finite_is_refused():
    broken = dyadic(1)
    broken.logits = broken.logits.clone()
    broken.logits[..., 1] = math.nan
    with pytest.raises(ValueError, match="drafter gave probabilities that are not finite"):
        generate([[1, 2]], uniforms(0), drafter=ModelDrafter(broken))


def test_greedy_choices_at_another_temperature_are_refused():
    with pytest.raises(ValueError, match="choices are Greedy and the temperature is 0.7"):
        generate([[1, 2]], Greedy(), warp=Warp(0.7))


def test_a_row_without_a_generator_is_refused():
    with pytest.raises(ValueError, match="2 rows need as many generators, not 1"):
        generate([[1, 2], [1]], uniforms(0))


def test_blocks_without_drafts_may_stand_between_others():
    class Now(Fixed):
        """0, 0, 2, 0, 0, 2, .."""

        def record(self, counts):
            self.blocks = getattr(self, "blocks", 0) + 1
            self.k = 2 if self.blocks % 3 == 2 else 0

    for prompts in ([[1, 2]], [[1], [2, 3, 1, 0], [2]]):
        schedule = Now(2)
        schedule.k = 0
        seeds = uniforms(*range(len(prompts)))
        made = generate(prompts, seeds, k=schedule, drafter=ModelDrafter(TARGET))
        assert all(block.accepted == len(block.drafted) for row in made.blocks for block in row)
        assert {len(block.drafted) for row in made.blocks for block in row} >= {0, 2}


def test_a_drafter_with_a_shorter_context_is_refused():
    drafter = ModelDrafter(Short(DRAFT.logits.exp()))
    with pytest.raises(ValueError, match="needs 9 positions, and the drafter has 8"):
        generate([[1] * 5], uniforms(0), 3, 4, drafter=drafter)


def test_numpy_counts_and_no_fractions_are_a_k():
    assert (
        generate([[1]], uniforms(0), np.int64(3)).tokens == generate([[1]], uniforms(0), 3).tokens
    )
    with pytest.raises(TypeError):
        generate([[1]], uniforms(0), 2.5)


def test_a_token_that_is_ruled_out_is_no_reason_to_refuse():
    assert (TARGET.logits == -math.inf).any()
    assert len(generate([[1, 2]], uniforms(0)).tokens[0]) == 12


def test_more_than_the_model_has_room_for_is_refused():
    short = Short(TARGET.logits.exp())
    assert len(generate([[1] * 5], uniforms(0), 3, 3, target=short).tokens[0]) == 3
    message = "5 tokens of prompt, 4 new ones need 9 positions, and the model has 8: shorten"
    with pytest.raises(ValueError, match=message):
        generate([[1] * 5], uniforms(0), 3, 4, target=short)
    with pytest.raises(ValueError, match=message):
        plain_generate(short, [[1] * 5], Settings(4), uniforms(0))


def test_a_batch_needs_room_for_the_drafts_of_other_rows():
    short = Short(TARGET.logits.exp())
    assert len(generate([[1] * 3, [1]], uniforms(0, 1), 2, 3, target=short).tokens[0]) == 3
    with pytest.raises(ValueError, match="need 9 positions, and the model has 8"):
        generate([[1] * 3, [1]], uniforms(0, 1), 3, 3, target=short)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: Settings(-1), "max_new_tokens is -1; it must be 0 or more"),
        (lambda: Warp(-0.5), "temperature is -0.5; it must be 0 .greedy. or at least"),
        (lambda: Warp(math.inf), "temperature is inf"),
        (lambda: Warp(1e-40), "temperature is 1e-40"),
        (lambda: Warp(math.nan), "temperature is nan; it must be 0 .greedy. or at least"),
        (lambda: Warp(top_k=0), "top_k is 0; it must be 1 or more, or None"),
        (lambda: Warp(top_k=-2), "top_k is -2; it must be 1 or more, or None"),
        (lambda: Warp(top_p=0), "top_p is 0; it must be above 0 and at most 1"),
        (lambda: Warp(top_p=1.5), "top_p is 1.5; it must be above 0 and at most 1"),
        (lambda: Warp(top_p=math.nan), "top_p is nan; it must be above 0 and at most 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Callable, message: str):
    with pytest.raises(ValueError, match=message):
        settings()


def held(cache: Lengths) -> list[int]:
    return cache.length.tolist()


def test_a_cache_refuses_more_than_it_has_room_for():
    cache = Lengths(2, 4, "cpu")
    assert cache.advance(3).tolist() == [[0, 1, 2], [0, 1, 2]]
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=r"room for 4 positions, and 3 \+ 2 are asked.*shorten"):
        cache.advance(2)
    assert held(cache) == [3, 1]
    assert cache.advance(1).tolist() == [[3], [1]]


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (-1, "row 0 holds 3 positions and cannot be cut to -1"),
        ([3, 2], "row 1 holds 1 positions and cannot be cut to 2"),
        (2, "row 1 holds 1 positions and cannot be cut to 2"),
        (torch.tensor([0, -1]), "row 1 holds 1 positions and cannot be cut to -1"),
        ([1], "1 lengths for a cache of 2 rows"),
        (torch.tensor([1, 1, 1]), "3 lengths for a cache of 2 rows"),
    ],
)
def test_a_cache_cannot_be_cut_to_what_it_does_not_hold(length, message: str):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate([3, 1])
    with pytest.raises(ValueError, match=message):
        cache.truncate(length)
    assert held(cache) == [3, 1]


@pytest.mark.parametrize("length", [1, [1, 1], torch.tensor([1, 1])], ids=["int", "list", "tensor"])
def test_a_cache_is_cut_to_one_length_or_to_one_for_each_row(length):
    cache = Lengths(2, None, "cpu")
    cache.advance(3)
    cache.truncate(length)
    assert held(cache) == [1, 1] and cache.longest == 1


def test_what_lies_beyond_a_rows_length_is_written_over():
    cache = TokenCache(2)
    cache.append(torch.tensor([[1, 2, 3], [4, 5, 6]]))
    cache.truncate([3, 1])
    assert cache.append(torch.tensor([[7, 8], [9, 1]])).tolist() == [[3, 4], [1, 2]]
    assert cache.tokens[0].tolist() == [1, 2, 3, 7, 8]
    assert cache.tokens[1, : held(cache)[1]].tolist() == [4, 9, 1]


def test_keys_and_values_are_written_behind_each_rows_own_last():
    cache = KVCache(2, 2, 6, heads=1, width=1, device="cpu", dtype=torch.float64)
    for start, cut in ((0, [3, 1]), (10, None)):
        count = 3 if cut else 2
        new = torch.arange(start, start + 2 * count, dtype=torch.float64).reshape(2, count, 1, 1)
        positions = cache.advance(count)
        for layer in range(2):
            keys, values = cache.store(layer, positions, new + layer, -new - layer)
        if cut:
            cache.truncate(cut)
    assert keys.shape == (2, 1, 5, 1)
    assert keys[0, 0, :, 0].tolist() == [1, 2, 3, 11, 12]
    assert keys[1, 0, :3, 0].tolist() == [4, 13, 14]
    assert torch.equal(values, -keys)


def test_a_row_sees_its_own_positions_and_no_later_or_stale_ones():
    cache = KVCache(1, 2, 6, heads=1, width=1, device="cpu", dtype=torch.float64)
    assert cache.mask(cache.advance(1)) is None  # all rows alike, one token: nothing to hide
    cache.advance(2)
    cache.truncate([3, 1])
    mask = cache.mask(cache.advance(2))
    assert mask.shape == (2, 1, 2, 5)
    seen = (mask == 0).long()[:, 0].tolist()
    assert seen[0] == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert seen[1] == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]]
    cache.truncate([4, 2])
    ragged = cache.mask(cache.advance(1))
    assert (ragged == 0).long()[:, 0, 0].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def test_a_block_takes_its_numbers_in_order_and_none_for_an_ended_row():
    generators = [np.random.default_rng(0), np.random.default_rng(1)]
    choices = Uniforms(generators)
    choices.begin([2, -1])
    untouched = np.random.default_rng(1)
    assert generators[1].bit_generator.state == untouched.bit_generator.state
    numbers = np.random.default_rng(0).random(5)
    fine = torch.full((2, 1000), 1e-3, dtype=torch.float64)  # tells the numbers apart
    drawn = [int(choices.draw(fine, index)[0]) for index in (0, 1, LAST)]
    assert drawn == [int(1000 * u) for u in numbers[[0, 1, 4]]]
    for r in (numbers[2:4] - 1e-9, numbers[2:4] + 1e-9):
        accepted = choices.accept(torch.from_numpy(r).expand(2, 2), torch.ones(2, 2))
        assert accepted[0].tolist() == (numbers[2:4] < r).tolist()
