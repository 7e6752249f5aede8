"""Chapter 06's simulators: their JavaScript in Chromium."""

import numpy as np
import pytest

from specdec_lib.lessons.common import recorded
from specdec_lib.lessons.widgets.batch import batch_simulator
from specdec_lib.lessons.widgets.generation import generation_simulator
from specdec_lib.theory import Costs, expected_tokens, walltime_speedup

pytestmark = pytest.mark.browser

COSTS = Costs(c=0.2, v={m: 1 + 0.1 * (m - 1) for m in range(1, 18)})
ROUNDED = 0.0051  # what two decimals leave open, ties included


def test_formulas_equal_the_librarys(module):
    generation, batch = module(generation_simulator()), module(batch_simulator())
    for alpha in (0.0, 0.3, 0.614, 0.85, 1.0):
        for k in (1, 2, 5, 16):
            assert generation("expectedTokens", alpha, k) == pytest.approx(
                expected_tokens(alpha, k), abs=1e-12
            )
            for rows in (1, 2, 8, 16):
                want = expected_tokens(alpha**rows, k)
                assert batch("lockstepTokens", alpha, k, rows) == pytest.approx(want, abs=1e-12)
    for c, v in ((0.1, 1.0), (0.02, 1.4)):
        tokens = expected_tokens(0.7, 5)
        want = walltime_speedup(0.7, c, 5, v)
        assert generation("speed", 7 * tokens, 7, 5, c, v) == pytest.approx(want, abs=1e-12)


def test_verdicts_and_counts_equal_the_librarys(module):
    call = module(generation_simulator())
    record = recorded.record()
    for run in record["runs"][::7]:
        for raw in run["blocks"]:
            block = recorded.Block(*raw)
            assert call("acceptedOf", block.p, block.q, block.r) == recorded.verdict(block)
            boxes = call("boxesOf", raw)
            assert [kind for kind, _ in boxes].count("accepted") == block.accepted
            assert [token for _, token in boxes] == [*block.drafted, block.token]
            assert boxes[-1][0] == ("bonus" if block.accepted == run["k"] else "correction")
        written = sum(recorded.Block(*raw).accepted + 1 for raw in run["blocks"][:4])
        assert call("writtenBy", run["blocks"], 4) == written
    requests = [{"k": each["k"], "accepted": each["accepted"]} for each in record["requests"]]
    assert call("alphaOf", requests) == pytest.approx(recorded.alpha(), abs=1e-12)
    for each in requests:
        found, request = call("summaryOf", each), recorded.requests()[each["k"]]
        assert [found["mean"], found["error"]] == pytest.approx(request.tokens, abs=1e-12)
        assert found["judged"] == request.judged


def test_batches_equal_a_plain_count(module):
    call = module(batch_simulator())
    for alpha, k, rows, seed in (
        (0.8, 5, 4, 1),
        (0.3, 2, 16, 7),
        (0.95, 16, 3, 2**32 - 1),
        (1, 1, 1, 0),
    ):
        wrote = np.array(call("wroteBy", alpha, k, rows, 24, seed))
        coins = np.array(call("uniforms", seed, rows * 24 * k)).reshape(rows, 24, k)
        assert ((coins >= 0) & (coins < 1)).all()
        assert (wrote == (coins < alpha).cumprod(axis=2).sum(axis=2) + 1).all()
        slowest = wrote.min(axis=0)
        passes = [int(np.searchsorted(np.cumsum(row), 24)) + 1 for row in (slowest, *wrote)]
        run = call("compare", wrote.tolist(), 24)
        assert (run["steps"], run["ends"]) == (passes[0], passes[1:])
        assert run["lost"] == (wrote - slowest)[:, : passes[0]].sum()
        assert run["idle"] == sum(max(passes[1:]) - end for end in passes[1:])


def test_coins_of_the_batch_are_uniform_enough(module):
    """Not a sampled law: a fixed list of numbers, whose mean and spread are what they are."""
    coins = np.array(module(batch_simulator())("uniforms", 1, 20_000))
    assert abs(coins.mean() - 0.5) < 0.01 and abs(coins.std() - 12**-0.5) < 0.01


def speed_of(run: list[recorded.Block], k: int, c: float, v: float) -> tuple[float, float]:
    """Speed and tokens a pass of a run."""
    tokens = sum(block.accepted + 1 for block in run)
    return tokens / (len(run) * (c * k + v)), tokens / len(run)


def test_generate_plays_recorded_runs_with_a_clock(reader):
    page = reader(generation_simulator(k=5, c=0.1, v=1.0), motion="reduce")
    predicted, alpha = expected_tokens(recorded.alpha(), 5) / 1.5, recorded.alpha()
    assert page.numbers() == ["–", f"{predicted:.2f}", "–", f"{alpha:.3f}"]
    for run in recorded.runs(5)[:2]:
        page.press("Generate")
        speed, tokens = speed_of(run, 5, 0.1, 1.0)
        want = [speed, predicted, tokens, alpha]
        assert [float(text) for text in page.numbers()] == pytest.approx(want, abs=ROUNDED)
        passed = page.description(0).count("accepted ")
        assert passed == sum(block.accepted for block in run)
    page.slider("c time of a draft step").press("End")
    shown = [float(text) for text in page.numbers()]
    assert [shown[0], shown[2]] == pytest.approx(speed_of(run, 5, 0.5, 1.0), abs=ROUNDED)


def test_a_block_is_drafted_in_grey_and_then_judged(reader):
    page = reader(generation_simulator(k=4), motion="reduce")
    page.press("Next step")
    first = recorded.runs(4)[0][0]
    assert page.description(0).count("drafted ") == 4 and page.numbers()[0] == "–"
    page.press("Next step")
    assert "drafted " not in page.description(0)
    assert page.numbers()[2] == f"{first.accepted + 1:.2f}"


def test_it_plays_by_itself_where_motion_is_wanted(reader):
    page = reader(generation_simulator(k=16), motion="no-preference")
    page.hold_clock()
    page.press("Generate")
    assert page.frame.get_by_text("tokens in").count() == 0
    page.page.clock.run_for(30_000)
    page.frame.get_by_text("tokens in").wait_for()
    want = speed_of(recorded.runs(16)[0], 16, 0.1, 1.0)[0]
    assert float(page.numbers()[0]) == pytest.approx(want, abs=ROUNDED)


def test_past_the_optimum_is_said(reader):
    page = reader(generation_simulator(k=5), motion="reduce")
    page.slider("K draft tokens a block").press("End")
    request = recorded.requests()[16]
    unjudged = 1 - request.judged / (16 * request.accepted.sum())
    assert (
        f"K = 16 is past the best, K = 3: of its draft tokens {100 * unjudged:.0f}% are never"
        in page.verdict()
    )
    mean = request.tokens[0] / 2.6
    assert f"K = 16: {mean:.2f}" in page.description(1) and "Now K = 16" in page.description(1)


def test_another_k_shows_the_whole_run_of_that_k(reader):
    page = reader(generation_simulator(k=4), motion="reduce")
    page.slider("K draft tokens a block").press("End")
    speed, tokens = speed_of(recorded.runs(16)[0], 16, 0.1, 1.0)
    shown = [float(text) for text in page.numbers()]
    assert [shown[0], shown[2]] == pytest.approx([speed, tokens], abs=ROUNDED)
    assert f"in {len(recorded.runs(16)[0])} blocks" in page.verdict()


def test_measured_times_are_used_when_asked_for(reader):
    page = reader(generation_simulator(k=4, costs=COSTS), motion="reduce")
    page.frame.get_by_role("checkbox").press("Space")
    want = walltime_speedup(recorded.alpha(), COSTS.c, 4, COSTS.v[5])
    assert page.numbers()[1] == f"{want:.2f}"
    page.slider("v time of a verification").press("Home")
    assert not page.frame.get_by_role("checkbox").is_checked()


def test_batch_says_what_it_shows(reader):
    page = reader(batch_simulator(alpha=0.8, k=5, rows=8), motion="reduce")
    want = [expected_tokens(0.8**8, 5), expected_tokens(0.8, 5)]
    assert page.numbers() == [f"{value:.2f}" for value in want]
    before = page.description(0)
    page.press("New coins")
    assert page.description(0) != before
    page.slider("B rows of the batch").press("Home")
    assert (
        page.numbers() == [f"{want[1]:.2f}"] * 2
        and "0 accepted tokens thrown away" in page.verdict()
    )
    page.slider("α acceptance rate of a coin").press("End")
    assert page.numbers() == ["6.00", "6.00"]
