"""Chapter 06: recorded blocks, its service, fair marks, and the numbers that its text prints."""

import re

import numpy as np
import pytest
from classes.chapter_cases import functions_of, text_of

from autograde.bugs import answers_of
from autograde.tools.proof import judged
from specdec_lib.lessons.ch00.checks import KV_BYTES, MODELS
from specdec_lib.lessons.ch06 import budget, checks, computed, figures, service
from specdec_lib.lessons.common import recorded
from specdec_lib.lessons.common.examples import Different
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "06_simulator"
FUNCTIONS = functions_of(CHAPTER)
TEXT = re.sub(r"\s+", " ", re.sub(r"\n# ?", "\n", text_of(CHAPTER)))  # in one line


def test_request_law_is_that_of_all_coins():
    """Three tokens with K = 2: every outcome of at most three blocks, one by one."""
    law, block = np.zeros(4), computed.block_law(0.6, 2)

    def walk(written: int, blocks: int, weight: float) -> None:
        if written >= 3:
            law[blocks] += weight
            return
        for accepted, share in enumerate(block):
            walk(written + accepted + 1, blocks + 1, weight * share)

    walk(0, 0, 1.0)
    np.testing.assert_allclose(computed.request_law(0.6, 2, 3), law, rtol=0, atol=1e-12)


def test_numbers_of_the_coins_are_those_in_the_text():
    means = {k: walltime_speedup(0.7, 0.1, k) for k in range(1, 13)}
    laws = {k: computed.request_law(0.7, k, 128) for k in means}
    p50, p99 = ({k: computed.quantile(laws[k], share) for k in laws} for share in (0.5, 0.99))
    assert f"p50 would be {p50[5]} blocks, and p99 would be {p99[5]} blocks" in TEXT
    assert round(100 * p99[1] / p50[1]) == 108 and round(100 * p99[12] / p50[12]) == 131
    assert "`K = 1` p99 is 8% above p50. At `K = 12` p99 is 31% above" in TEXT
    best = max(means, key=means.get), min(p99, key=lambda k: p99[k] * (0.1 * k + 1))
    assert "the mean is best at `K = {}`, and p99 is best at `K = {}`".format(*best) in TEXT


def test_numbers_of_the_record_are_those_in_the_text():
    speeds = recorded.speeds(lambda k: 0.1 * k + 1)
    best = max(speeds, key=speeds.get)
    assert f"fastest at `K = {best}`: {speeds[best][0]:.2f} times" in TEXT
    seen = recorded.requests()[8]
    assert f"{len(seen.blocks)} requests of {recorded.record()['request_tokens']} tokens" in TEXT
    law = computed.request_law(seen.alpha, 8, 128)
    tail = computed.of_sample(seen.blocks, 0.99), computed.quantile(law, 0.99)
    assert f"their p99 is {tail[0]:.0f} blocks, and coins say {tail[1]}" in TEXT


def test_every_verdict_follows_from_the_recorded_coin():
    runs = [run for k in recorded.requests() for run in recorded.runs(k)]
    assert all(recorded.verdict(block) == block.accepted for run in runs for block in run)


def test_the_record_agrees_with_a_fresh_computation():
    from specdec_lib.models.pairs import load_pair

    record = recorded.record()
    pair = load_pair(draft=record["draft"])
    for run in record["runs"][5::34]:  # K of 1, 4, 8 and 16
        text = list(record["passages"][run["passage"]])
        for drafted, p, q, _, accepted, token in run["blocks"][:6]:
            for model, known in ((pair.target, p), (pair.draft, q)):
                found = fresh(model, text, drafted[: len(p)])
                np.testing.assert_allclose(known, found, rtol=2e-3, atol=1e-6)
            text += [*drafted[:accepted], token]


def fresh(model, text: list[int], drafted: list[int]) -> list[float]:
    """The model's probability of each of `drafted` after `text`, from one pass."""
    import torch

    tokens = torch.tensor([text + drafted])
    probs = model.forward(tokens, model.new_cache(1, tokens.shape[1]))[0].softmax(-1)
    return [float(probs[len(text) - 1 + i, token]) for i, token in enumerate(drafted)]


def lost(code: str) -> list[str]:
    """The groups that this simulate_decode loses."""
    exercise = judged(CHAPTER, simulate_decode=code)["simulate_decode"]
    return [each.name for each in exercise.groups if not each.passed]


def test_a_wrong_count_costs_no_time_and_a_wrong_time_no_count():
    right = answers_of(CHAPTER)["simulate_decode"]
    edges = "the edges: nothing wanted, alpha 0 and 1"
    free = right.replace("passes * (c * k + 1)", "float(passes)")
    assert lost(free) == ["the time of every block is c k + 1", edges]
    short = right.replace("rng.random(k)) + 1", "rng.random(k))")
    assert lost(short) == ["every token of whole blocks, until there are enough", edges]


ONE_BY_ONE = """
def simulate_decode(alpha, c, k, n_tokens, rng):
    tokens, passes, time = 0, 0, 0.0
    while tokens < n_tokens:
        coins = [rng.random() for _ in range(k)]
        tokens += [*(coin < alpha for coin in coins), False].index(False) + 1
        passes, time = passes + 1, time + k * c + 1
    return {"time": time, "target_passes": passes, "tokens": tokens}
"""


def test_coins_that_are_drawn_one_by_one_earn_all_points():
    assert lost(ONE_BY_ONE) == []


def test_a_run_that_writes_nothing_is_ended_in_check_and_figures(capsys):
    def endless(alpha, c, k, n_tokens, rng):
        while n_tokens > 0:
            rng.random(0)

    with pytest.raises(Different, match="does every block write a token"):
        checks.check_simulate_decode(endless)
    figures.tails(endless, 0.7, 0.1, 16)
    assert "every block writes a token, so 16 tokens take 16 blocks" in capsys.readouterr().out


def test_the_services_numbers_in_the_text_are_those_of_its_simulation():
    """Of the solution's policy, the best constant, K = 0 and the oracle, on the chapter's day."""
    costs, load = service.gpu(0), service.DAY
    policies = service.policy(FUNCTIONS["choose_k"], load.alpha, costs), service.constant(0)
    yours, plain, oracle = (
        service.p99(each, load, costs) for each in (*policies, service.oracle(costs))
    )
    best = service.best_constant(load, costs).p99
    said = f"p99 of {yours:.0f} ms here. The best constant has {best:.0f} ms, and `K = 0` has"
    assert f"{said} {plain:.0f} ms." in TEXT and f"It has {oracle:.0f} ms" in TEXT
    assert oracle < yours < 0.7 * best < 0.7 * plain


def test_a_service_serves_every_request_and_none_before_it_arrives():
    """Two requests and one row: the second waits for the first, at two tokens a step and at one."""
    costs = np.array([[0.0, 0.0], [10.0, 12.0]])
    both = service.Traffic([service.Request(0.0, (1, 0)), service.Request(5.0, (0, 0, 0))], 0.5)
    assert service.serve(service.constant(0), both, costs).tolist() == [20.0, 45.0]
    assert service.serve(service.constant(1), both, costs).tolist() == [12.0, 43.0]


def test_costs_are_those_of_chapter_00s_pass_time():
    pass_time = functions_of("00_bottleneck")["pass_time"]
    size = (MODELS["Llama 2 7B"].n_params, 2, KV_BYTES["Llama 2 7B"])
    limits = service.GPU[:2]
    for rows, k, context in ((1, 3, 0), (16, 2, 0), (16, 5, 2000), (7, 0, 100)):
        target = pass_time(k + 1, rows, context, *size, *limits)
        draft = pass_time(1, rows, context, *size, *limits) * service.DRAFT
        costs = service.computed(context, 16, 8, service.GPU)
        assert costs[rows, k] == pytest.approx(1000 * (target + k * draft))


def test_numbers_of_the_costs_are_those_in_the_text():
    choose, step = FUNCTIONS["choose_k"], service.measured(context=64)[4]
    assert f"takes {step[3] / step[0]:.2f} times as long with `K = 3`" in TEXT
    short, long = (service.measured(each)[8] for each in (service.SHORT, service.LONG))
    assert f"takes {short[1] / short[0]:.2f} times as long with `K = 1`: no" in TEXT
    assert f"takes {long[1] / long[0]:.2f} times as long: yes" in TEXT
    assert short[1] / short[0] > expected_tokens(0.7, 1) > long[1] / long[0]
    room = [choose(0, service.ROOM, 0.7, service.gpu(n)) for n in (0, figures.MUCH_TEXT)]
    many = [choose(0, 256, 0.7, service.computed(n, 256, 8)) for n in (0, 125)]
    assert room[0] == many[0] == 0 < room[1] and many[1] == 2
    assert "drafting stops at 256 rows" in TEXT and "with 125 tokens" in TEXT


def test_the_budgets_rule_of_the_text_is_between_the_same_for_all_and_the_oracle(capsys):
    def by_product(confidences, pass_ms):
        rows = len(confidences)
        each = [(float(p), i) for i, row in enumerate(confidences) for p in np.cumprod(row)]
        ranked = sorted(each, reverse=True)
        wrote = rows + np.append(0.0, np.cumsum([p for p, _ in ranked]))
        most = max(range(len(wrote)), key=lambda n: wrote[n] / pass_ms[rows + n])
        return np.bincount([i for _, i in ranked[:most]], minlength=rows)

    budget.try_spend(by_product)
    out = " ".join(capsys.readouterr().out.split())
    yours, same, oracle = map(float, re.findall(r"(?:yours|row|oracle) ([\d.]+)", out))
    assert same < yours < oracle and f"writes {yours:.2f} tokens in a" in TEXT
