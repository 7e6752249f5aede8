"""Chapter 06: recorded blocks, its service, and the numbers that its text prints."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from classes.chapter_cases import functions_of, text_of

from specdec_lib.lessons.ch00.lesson import LLAMA
from specdec_lib.lessons.ch06 import budget, computed, experts, figures, lesson, service
from specdec_lib.lessons.checking.examples import Different
from specdec_lib.lessons.data import recorded

CHAPTER = "06_simulator"
FUNCTIONS = functions_of(CHAPTER)
TEXT = re.sub(r"\s+", " ", re.sub(r"\n# ?", "\n", text_of(CHAPTER)))  # in one line


def test_request_law_is_that_of_all_coins():
    """Three tokens with K = 2: every outcome of at most three blocks, one by one."""
    law, block = np.zeros(4), [0.4, 0.6 * 0.4, 0.6 * 0.6]

    def walk(written: int, blocks: int, weight: float) -> None:
        if written >= 3:
            law[blocks] += weight
            return
        for accepted, share in enumerate(block):
            walk(written + accepted + 1, blocks + 1, weight * share)

    walk(0, 0, 1.0)
    np.testing.assert_allclose(computed.request_law(0.6, 2, 3), law, rtol=0, atol=1e-12)


def test_numbers_of_coins_and_record_are_those_in_the_text():
    laws = [computed.request_law(rate, 5, 128) for rate in (0.95, 0.45, 0.7)]
    p99 = FUNCTIONS["mixture_quantile"](laws[:2], [0.5, 0.5], 0.99)
    assert lesson.TRUTHS["prediction_06"].value == p99
    assert f"p99 would be {computed.quantile(laws[2], 0.99)} blocks" in TEXT
    means = np.array([sum(rate**i for i in range(6)) for rate in (0.95, 0.45)])
    shares = (1 / means) / sum(1 / means)  # of all blocks, those of each kind
    first, tokens = shares @ [0.95, 0.45], shares @ means
    assert f"{first:.0%} of the first draft tokens accepted, and {tokens:.2f} tokens" in TEXT
    seen = recorded.requests()[8]
    assert f"{len(seen.blocks)} recorded requests" in TEXT
    law = computed.request_law(seen.alpha, 8, 128)
    tail = np.quantile(seen.blocks, 0.95, method="inverted_cdf"), computed.quantile(law, 0.95)
    assert f"recorded p95 is {tail[0]:.0f} blocks, and coins predict {tail[1]}" in TEXT


def test_every_verdict_follows_from_the_recorded_coin():
    for block in (block for k in recorded.requests() for run in recorded.runs(k) for block in run):
        rows = zip(block.p, block.q, block.r, strict=True)
        assert [*(r * q < p for p, q, r in rows), False].index(False) == block.accepted


def test_a_policy_that_gives_no_number_is_told_in_one_line(capsys):
    figures.policies(lambda *state: None)
    assert len(capsys.readouterr().out.splitlines()) == 1
    with pytest.raises(Different):  # the race
        lesson.checked_k(lambda *state: None, 0, 2, 0.7, service.cpu(service.SHORT_TEXT))


def test_who_tries_all_answers_is_stopped():
    with pytest.raises(Different, match="a million lines"):
        lesson.check_spend(lambda *_: all(True for _ in itertools.count()))


def test_the_services_numbers_in_the_text_are_those_of_its_simulation():
    """Of the solution's policy, the best constant, K = 0 and the oracle, on the chapter's day."""
    costs, load = service.gpu(0), service.DAY
    rules = FUNCTIONS["choose_k"], lambda queue_length, *_: 0 if queue_length else 4
    policies = [service.policy(each, load.alpha, costs) for each in rules]
    policies += [service.constant(0), service.oracle(costs)]
    yours, blind, plain, oracle = (service.p99(each, load, costs) for each in policies)
    best = service.best_fixed_k(load, costs).p99
    rush = service.traffic(1, [(300, 5.7, 16)])
    drafted, without = (service.p99(service.constant(k), rush, costs) for k in (4, 0))
    assert f"p99 is {drafted / without:.1f} times as long" in TEXT
    said = f"p99 of {yours:.0f} ms here, the best constant {best:.0f} ms, and `K = 0` {plain:.0f}"
    assert said in TEXT and f"will pass has {oracle:.0f} ms" in TEXT
    assert f"else 4` has {blind:.0f} ms" in TEXT and oracle < yours < 0.7 * best


def test_a_service_serves_every_request_and_none_before_it_arrives():
    """Two requests and one row: the second waits for the first, at two tokens a step and at one."""
    costs = np.array([[0.0, 0.0], [10.0, 12.0]])
    both = service.Traffic([service.Arrival(0.0, (1, 0)), service.Arrival(5.0, (0, 0, 0))], 0.5)
    assert service.simulate(service.constant(0), both, costs).tolist() == [20.0, 45.0]
    assert service.simulate(service.constant(1), both, costs).tolist() == [12.0, 43.0]


def test_costs_are_those_of_chapter_00s_pass_time():
    pass_time = functions_of("00_bottleneck")["pass_time"]
    size, (bandwidth, peak, _) = (LLAMA.n_params, 2, LLAMA.kv_bytes), service.GPU
    flops = 2 * LLAMA.n_params
    for rows, k, context in ((1, 3, 0), (16, 2, 0), (16, 5, 2000), (7, 0, 100)):
        # Attention's share of the arithmetic is lost for the weights, as in chapter 00's map.
        limits = bandwidth, peak * flops / (flops + context * LLAMA.attention_flops)
        target = pass_time(k + 1, rows, context, *size, *limits)
        draft = pass_time(1, rows, context, *size, *limits) * service.DRAFT_COST_RATIO
        costs = service.roofline(context, 16, 8, service.GPU)
        assert costs[rows, k] == pytest.approx(1000 * (target + k * draft))


def test_numbers_of_the_costs_are_those_in_the_text():
    choose, step = FUNCTIONS["choose_k"], service.cpu(service.SHORT_TEXT)[2]
    assert f"takes {step[6] / step[0]:.1f} times as long with `K = 6`" in TEXT
    assert f"and {step[2] / step[0]:.1f} times with `K = 2`" in TEXT
    assert choose(0, 2, 0.7, service.cpu(service.SHORT_TEXT)) == 2
    many = [choose(0, 256, 0.7, service.roofline(n, 256, 8)) for n in (0, 250)]
    assert many == [0, 1] and "drafting stops at 256 rows. With 250 tokens" in TEXT


def test_what_a_mixture_of_experts_reads_is_told_as_computed():
    """The sentences after the exercise: K = 4 loses, the policy's K does not, one card beats it."""
    read, choose = FUNCTIONS["expected_experts"], FUNCTIONS["choose_k"]
    costs = {each.name: each.costs(read) for each in experts.MIXTURES}
    tokens = sum(0.7**i for i in range(5))
    assert sum(tokens / each[1, 4] < 1 for each in costs.values()) == 3
    chosen = {name: choose(0, 1, 0.7, each) for name, each in costs.items()}
    assert chosen["Qwen3-30B-A3B"] == chosen["DeepSeek-V3"] == 1 and chosen["Mixtral 8x7B"] == 0
    seen = {rows: drafted / plain for rows, (_, drafted, plain) in experts.MEASURED.items()}
    alone = {n: experts.bound(read, n) for n in (*seen, 256, 1024)}
    assert seen[1] > alone[1] > alone[8] < seen[8] and alone[8] < alone[64] > seen[64]
    assert alone[64] < alone[256] > alone[1024]  # then the arithmetic is full
    above = f"allow {alone[1]:.2f} and {alone[8]:.2f} times plain decoding, and the head reached"
    assert f"{above} {seen[1]:.2f} and {seen[8]:.2f}" in TEXT
    assert f"gains most, {seen[64]:.2f} times" in TEXT and max(seen.values()) == seen[64]
    assert f"already reads {read(64, 128, 4):.0f} of the 128 experts" in TEXT
    page = (Path(__file__).parents[2] / "docs" / "regimes.md").read_text(encoding="utf-8")
    assert "K = 3 was {:.2f}, {:.2f} and {:.2f} times as fast".format(*seen.values()) in page
    pass_ms, gb = 1000 / experts.MEASURED[1][2], experts.GPT_OSS.read(read, 1)
    reads = f"an H100 reads the {gb:.1f} GB of such a pass in {gb / 3.35:.1f} ms"
    assert f"took {pass_ms:.1f} ms, and {reads}" in TEXT


def test_the_budgets_rule_beats_the_same_for_all():
    same = max(budget.tokens_a_ms(budget.same_of_all(k)) for k in range(budget.N_DRAFTED + 1))
    yours = budget.tokens_a_ms(lambda step: FUNCTIONS["spend"](step, budget.pass_ms()))
    assert f"from {same:.2f}, with the best number for all rows, to {yours:.2f}" in TEXT
