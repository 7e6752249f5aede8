"""Chapter 06: its visible side, its figures, the recorded blocks, and its hidden tests' parts."""

import copy
import re

import numpy as np
import pytest
from classes.chapter_cases import functions_of, text_of

from autograde.bugs import answers_of
from autograde.chapters.ch06_tests import RemoteCoins, Seeded
from autograde.chapters.expected import ch06_expected
from autograde.tools.proof import judged
from specdec_lib.lessons.ch00.checks import KV_BYTES, MODELS
from specdec_lib.lessons.ch06 import budget, computed, figures, service
from specdec_lib.lessons.ch06 import checks as ch06
from specdec_lib.lessons.common import recorded
from specdec_lib.lessons.common.examples import Different
from specdec_lib.theory import expected_tokens, walltime_speedup

CHAPTER = "06_simulator"
FUNCTIONS = functions_of(CHAPTER)
TEXT = re.sub(r"\s+", " ", re.sub(r"\n# ?", "\n", text_of(CHAPTER)))  # in one line


def test_coins_are_handed_out_once_and_counted():
    coins = ch06.Coins([0.1, 0.2, 0.3])
    assert coins.random(2).tolist() == [0.1, 0.2] and coins.random() == 0.3 and coins.used == 3
    assert coins.random(0).shape == (0,)
    with pytest.raises(ValueError, match="after 3 of its 3 numbers 1 more were asked for"):
        coins.random()
    assert "0.1, 0.2, 0.3" in repr(coins)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.85, 1.0])
@pytest.mark.parametrize("k", [0, 1, 2, 8])
def test_block_law_has_the_formulas_mean(alpha: float, k: int):
    law = computed.block_law(alpha, k)
    assert law.sum() == pytest.approx(1, abs=1e-12) and len(law) == k + 1
    assert computed.mean_and_variance(alpha, k)[0] == pytest.approx(expected_tokens(alpha, k))


def test_request_law_is_that_of_all_coins():
    """Three tokens with K = 2: every outcome of at most three blocks, one by one."""
    alpha, law = 0.6, np.zeros(4)
    block = computed.block_law(alpha, 2)

    def walk(written: int, blocks: int, weight: float) -> None:
        if written >= 3:
            law[blocks] += weight
            return
        for accepted, share in enumerate(block):
            walk(written + accepted + 1, blocks + 1, weight * share)

    walk(0, 0, 1.0)
    np.testing.assert_allclose(computed.request_law(alpha, 2, 3), law, rtol=0, atol=1e-12)


def test_quantiles_do_not_depend_on_rounding():
    law = np.array([0.0, 0.5, 0.45, 0.05])
    assert [computed.quantile(law, share) for share in (0.5, 0.95, 0.99)] == [1, 2, 3]
    values = np.arange(1, 101)
    assert [computed.of_sample(values, s) for s in (0.01, 0.5, 0.99, 1)] == [1, 50, 99, 100]


@pytest.mark.parametrize(
    ("alpha", "k", "rows"), [(0.8, 5, 1), (0.8, 5, 8), (0.5, 2, 3), (1.0, 3, 4)]
)
def test_lockstep_is_the_mean_block_of_a_rarer_coin(alpha: float, k: int, rows: int):
    assert ch06_expected.slowest(alpha, k, rows) == pytest.approx(expected_tokens(alpha**rows, k))


def test_what_is_expected_is_what_the_cards_say():
    assert ch06_expected.accepted(0.7, ch06.COINS) == 2
    assert ch06_expected.decoded(0.7, 0.1, 4, 8, ch06.THREE_BLOCKS) == (9, 3, pytest.approx(4.2))
    laws = [[0, 1.0], [0, 0, 0.5, 0, 0.5]]
    assert [ch06_expected.quantile(laws, [0.5, 0.5], share) for share in (0.75, 0.8)] == [2, 4]
    assert ch06_expected.slowest(0.5, 1, 2) == 1.25
    assert ch06_expected.worth_drafting(0.5, ch06.TWO_ROWS[1]) == [1, 2]
    assert f"at least {ch06_expected.ENOUGH} times the most tokens in a millisecond" in TEXT
    with pytest.raises(ValueError, match="12 coins are too few for 10 tokens with k = 4"):
        ch06_expected.decoded(0.7, 0.1, 4, 10, ch06.THREE_BLOCKS)


def test_numbers_in_the_text_are_right():
    assert walltime_speedup(0.7, 0.1, 5) == pytest.approx(1.96, abs=5e-3)
    assert expected_tokens(0.7, 5) == pytest.approx(2.94, abs=5e-3)
    tails = {k: computed.request_law(0.7, k, 128) for k in (1, 3, 4, 12)}
    p99 = {k: computed.quantile(law, 0.99) for k, law in tails.items()}
    p50 = {k: computed.quantile(law, 0.5) for k, law in tails.items()}
    coins = computed.request_law(ch06.ALPHA, ch06.K, 128)
    assert [computed.quantile(coins, share) for share in (0.5, 0.99)] == [44, 54]
    assert "p50 would be 44 blocks, and p99 would be 54 blocks" in TEXT
    assert round(100 * p99[1] / p50[1]) == 108 and round(100 * p99[12] / p50[12]) == 131
    assert "`K = 1` p99 is 8% above p50. At `K = 12` p99 is 31% above" in TEXT
    means = {k: walltime_speedup(0.7, 0.1, k) for k in range(1, 13)}
    found = {k: computed.quantile(computed.request_law(0.7, k, 128), 0.99) for k in means}
    best = max(means, key=means.__getitem__), min(found, key=lambda k: found[k] * (0.1 * k + 1))
    assert "the mean is best at `K = {}`, and p99 is best at `K = {}`".format(*best) in TEXT
    speeds = recorded.speeds(lambda k: 0.1 * k + 1)
    best = max(speeds, key=speeds.__getitem__)
    assert f"fastest at `K = {best}`: {speeds[best][0]:.2f} times" in TEXT
    seen = recorded.requests()[8]
    assert f"{len(seen.blocks)} requests of {recorded.record()['request_tokens']} tokens" in TEXT
    assert len(recorded.runs(5)) == 12 and "twelve recorded runs" in TEXT
    first = 1 - seen.accepted[0] / seen.accepted.sum()
    law = computed.request_law(seen.alpha, 8, 128)
    tail = computed.of_sample(seen.blocks, 0.99), computed.quantile(law, 0.99)
    assert f"their p99 is {tail[0]:.0f} blocks, and coins say {tail[1]}" in TEXT
    step = service.measured(context=64)[4]
    assert f"takes {step[3] / step[0]:.2f} times as long with `K = 3`" in TEXT
    assert first < seen.alpha and "The first position is the worst" in TEXT


def test_the_record_is_small_and_whole():
    assert recorded.PATH.stat().st_size <= 300_000
    record = recorded.record()
    assert record["columns"] == list(recorded.Block._fields)
    ks = [each["k"] for each in record["requests"]]
    assert {run["k"] for run in record["runs"]} == set(ks) and ks == sorted(ks)
    for each in record["requests"]:
        assert len(each["accepted"]) == each["k"] + 1
    for run in record["runs"]:
        blocks = [recorded.Block(*block) for block in run["blocks"]]
        assert all(len(block.drafted) == run["k"] for block in blocks)
        assert sum(block.accepted + 1 for block in blocks) >= 40


def test_every_verdict_follows_from_the_recorded_coin():
    for k in recorded.requests():
        for run in recorded.runs(k):
            for block in run:
                assert recorded.verdict(block) == block.accepted
                assert len(block.p) == len(block.q) == len(block.r) == min(block.accepted + 1, k)


def test_the_record_agrees_with_a_fresh_computation():
    from specdec_lib.models.pairs import load_pair
    from specdec_lib.training.recording import recomputed

    pair, record = load_pair(draft=recorded.record()["draft"]), recorded.record()
    assert pair.label == record["pair"]
    for run in record["runs"][5::34]:  # K of 1, 4, 8 and 16
        sample = run | {"blocks": run["blocks"][:6]}
        for block, (p, q) in zip(sample["blocks"], recomputed(pair, sample), strict=True):
            np.testing.assert_allclose(block[1], p, rtol=2e-3, atol=1e-6)
            np.testing.assert_allclose(block[2], q, rtol=2e-3, atol=1e-6)


def test_a_recorded_run_can_be_made_again():
    """With the same seed the first block drafts the same tokens and judges them alike."""
    from specdec_lib.models.pairs import load_pair
    from specdec_lib.training import recording

    run = recorded.record()["runs"][-1]
    pair = load_pair(draft=recording.DRAFT)
    made = recording.run_of(pair, run["passage"], run["seed"], run["k"])["blocks"][0]
    assert made[0] == run["blocks"][0][0] and made[4:] == run["blocks"][0][4:]
    assert made[3] == run["blocks"][0][3]


def test_digits_are_added_where_a_verdict_needs_them():
    from specdec_lib.decoding.state import Block
    from specdec_lib.training.recording import block_record

    block = Block([7, 8], [7], 9, 2, False, p=[0.30001, 0.1], q=[0.60002, 0.9])
    _, p, q, r, accepted, token = block_record(block, [0.4999999, 0.5])
    assert (accepted, token) == (1, 9) and r[0] * q[0] < p[0] and len(p) == 2


def test_spaces_can_be_seen():
    pieces = ("\n        ", " def", "\n\n    ", "x", "\t", "  a b")
    assert [*map(recorded.visible, pieces)] == ["↵·8", "·def", "↵↵·4", "x", "⇥", "·2a·b"]


def test_a_copy_of_what_was_lent_begins_again():
    coins, generator = RemoteCoins([0.1, 0.2]), Seeded(3)
    assert coins.random(2).tolist() == copy.deepcopy(coins).random(2).tolist()
    first = generator.random(4)
    assert np.array_equal(first, copy.deepcopy(generator).random(4))
    assert np.array_equal(first, np.random.default_rng(3).random(4))


# Each block writes a token more only after a rejection, so one without draft tokens writes none.
NO_BONUS = """
def simulate_decode(alpha, c, k, n_tokens, rng):
    tokens = passes = 0
    while tokens < n_tokens:
        n = simulate_block(alpha, k, rng.random(k))
        tokens += n + (n < k)
        passes += 1
    return {"tokens": tokens, "target_passes": passes, "time": passes * (c * k + 1)}
"""


def test_a_wrong_count_costs_no_time_and_a_wrong_time_no_count():
    right = answers_of(CHAPTER)["simulate_decode"]
    free = right.replace("passes * (c * k + 1)", "float(passes)")
    lost = {}
    for name, code in (("count", NO_BONUS), ("time", free)):
        exercise = judged(CHAPTER, simulate_decode=code)["simulate_decode"]
        lost[name] = [each.name for each in exercise.groups if not each.passed]
    edges = "the edges: nothing wanted, alpha 0 and 1"
    assert lost["time"] == ["the time of every block is c k + 1", edges]
    assert len(lost["count"]) == 3 and not any("time" in name for name in lost["count"])


def test_a_bonus_that_is_counted_after_a_whole_block_is_told_so():
    code = answers_of(CHAPTER)["simulate_block"].replace("return k", "return k + 1")
    exercise = judged(CHAPTER, simulate_block=code)["simulate_block"]
    causes = {each.cause for each in exercise.groups if not each.passed}
    assert causes == {"what a block writes is what it has accepted."}


def test_a_run_that_writes_nothing_is_ended_in_check_and_figures(capsys):
    def endless(alpha, c, k, n_tokens, rng):
        while n_tokens > 0:
            rng.random(0)

    with pytest.raises(Different, match="does every block write a token"):
        ch06.check_simulate_decode(endless)
    figures.tails(endless, 0.7, 0.1, 16)
    assert "every block writes a token, so 16 tokens take 16 blocks" in capsys.readouterr().out


def test_the_services_numbers_in_the_text_are_those_of_its_simulation():
    """Of the solution's policy, the best constant, K = 0 and the oracle, on the chapter's day."""
    costs, load = service.gpu(0), service.DAY
    yours = service.p99(service.policy(FUNCTIONS["choose_k"], load.alpha, costs), load, costs)
    best, oracle = (
        service.best_constant(load, costs),
        service.p99(service.oracle(costs), load, costs),
    )
    plain = service.p99(service.constant(0), load, costs)
    said = f"p99 of {yours:.0f} ms here. The best constant has {best.p99:.0f} ms, and `K = 0` has"
    assert f"{said} {plain:.0f} ms." in TEXT and f"It has {oracle:.0f} ms" in TEXT
    assert oracle < yours < 0.7 * best.p99 and best.p99 < plain
    alone = expected_tokens(load.alpha, 4) * costs[1, 0] / costs[1, 4]
    assert f"One request alone is {alone:.1f} times as fast with `K = 4`" in TEXT


def test_a_service_serves_every_request_and_none_before_it_arrives():
    """Two requests and one row: the second waits for the first, at two tokens a step and at one."""
    costs = np.array([[0.0, 0.0], [10.0, 12.0]])
    both = service.Traffic([service.Request(0.0, (1, 0)), service.Request(5.0, (0, 0, 0))], 0.5)
    assert service.serve(service.constant(0), both, costs).tolist() == [20.0, 45.0]
    assert service.serve(service.constant(1), both, costs).tolist() == [12.0, 43.0]
    late = service.Traffic([service.Request(100.0, (0,))], 0.5)
    assert service.serve(service.constant(0), late, costs).tolist() == [10.0]


def test_the_policy_sees_who_waits_before_they_are_taken_in():
    asked = []

    def note(queue_length, running, ahead):
        asked.append((queue_length, running, list(ahead)))
        return 0

    requests = [
        service.Request(0.0, (1, 0)),
        service.Request(5.0, (0,)),
        service.Request(6.0, (0,)),
    ]
    costs = np.array([[0.0, 0.0], [10.0, 12.0], [11.0, 14.0]])
    service.serve(note, service.Traffic(requests, 0.5), costs)
    assert asked == [(1, 0, [1]), (2, 1, [0, 0]), (1, 0, [0])]


def test_traffic_is_the_same_each_time_and_passes_as_often_as_it_says():
    one, again = (service.traffic(3, [(500, 10.0, 40)], alpha=0.7) for _ in range(2))
    assert one == again and len(one.requests) == 500
    firsts = [request.ahead[0] > 0 for request in one.requests]
    assert np.mean(firsts) == pytest.approx(0.7, abs=0.05)
    for ahead in (request.ahead for request in one.requests[:20]):
        assert all(now in (0, after + 1) for now, after in zip(ahead, (*ahead[1:], 0), strict=True))


def test_costs_are_those_of_chapter_00s_pass_time():
    pass_time = functions_of("00_bottleneck")["pass_time"]
    size = (MODELS["Llama 2 7B"].n_params, 2, KV_BYTES["Llama 2 7B"])
    limits = service.GPU.limits.values()
    for rows, k, context in ((1, 3, 0), (16, 2, 0), (16, 5, 2000), (7, 0, 100)):
        target = pass_time(k + 1, rows, context, *size, *limits)
        draft = pass_time(1, rows, context, *size, *limits) * service.DRAFT
        costs = service.computed(context, 16, 8, service.GPU)
        assert costs[rows, k] == pytest.approx(1000 * (target + k * draft))
    assert not service.gpu(0)[0].any()


def test_the_small_gpu_has_the_free_tokens_that_the_text_says():
    free = functions_of("00_bottleneck")["free_tokens"](2, *service.GPU.limits.values())
    assert f"So {free} tokens are free" in TEXT and "draft step takes a twentieth" in TEXT
    assert "reads 3.35 TB a second" in TEXT and service.GPU.bandwidth == 3.35e12
    assert service.DRAFT == 1 / 20 and service.GPU.peak_flops * 20 == service.H100.peak_flops


def test_the_long_texts_of_the_figure_fit_and_change_the_answer():
    """The longest text of Llama 2 is 4,096 tokens, and the room's caches must fit beside it."""
    assert figures.MUCH_TEXT <= 4096 and service.fits(figures.MUCH_TEXT, service.ROOM)
    choose = FUNCTIONS["choose_k"]
    full = [choose(0, service.ROOM, 0.7, service.gpu(n)) for n in (0, figures.MUCH_TEXT)]
    assert full[0] == 0 < full[1] and f"{figures.MUCH_TEXT:,} tokens of text" in TEXT


def test_measured_costs_are_the_recorded_passes():
    found = service.passes()["contexts"]["64"]
    costs, long = service.measured(service.SHORT), service.measured(service.LONG)
    short_step, long_step = (each[8, 1] / each[8, 0] for each in (costs, long))
    assert f"takes {short_step:.2f} times as long with `K = 1`: no" in TEXT
    assert f"takes {long_step:.2f} times as long: yes" in TEXT
    assert short_step > expected_tokens(0.7, 1) == 1.7 > long_step
    assert costs.shape == (9, 7) and not costs[0].any() and not costs.flags.writeable
    assert costs[3, 2] == pytest.approx(found["target"][2][2] + 2 * found["draft"][2])


def test_a_large_batch_drafts_again_if_its_texts_are_long():
    """The verdict that the text draws from the map."""
    best = {
        text: FUNCTIONS["choose_k"](0, 256, 0.7, service.computed(text, 256, 8))
        for text in (0, 125)
    }
    assert best[0] == 0 and best[125] > 0 and service.fits(125, 256)
    assert "drafting stops at 256 rows" in TEXT and best[125] == 2 and "with 125 tokens" in TEXT


def test_a_policy_that_keeps_no_rule_is_told_what_came_back():
    def half(queue_length, running, alpha, costs):
        return 0.5

    with pytest.raises(Different, match=r"returned 0.5, expected an int from 0 to 8"):
        ch06.p99_of(half, service.RUSH, service.gpu(0))


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


def test_a_budget_that_no_pass_can_check_is_told(capsys):
    budget.try_spend(lambda confidences, pass_ms: [7] * 8)
    assert "expected 8 whole numbers from 0 to 6" in capsys.readouterr().out
    budget.try_spend(lambda confidences, pass_ms: confidences[9])
    assert "cannot be used yet: list index out of range" in capsys.readouterr().out
