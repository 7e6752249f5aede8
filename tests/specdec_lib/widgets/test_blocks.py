"""The pictures of recorded blocks (chapters 06 and 08) and of a batch, in Chromium."""

import numpy as np
import pytest
import torch

from specdec_lib.decoding.verify import accepts
from specdec_lib.lessons.data import recorded
from specdec_lib.lessons.widgets import batch_simulator, generation_simulator, trace_picture
from specdec_lib.theory import expected_tokens, walltime_speedup

pytestmark = pytest.mark.browser

ROUNDED = 0.0051  # what two decimals leave open, ties included
PICTURE = trace_picture(
    "def f(x):\n    ",
    [
        {"drafted": ["return", " x"], "p": [0.5, 0.25], "q": [0.75, 0.25]}
        | {"accepted": 2, "token": "\n"},
        {"drafted": ["def", "class"], "p": [0.3, 0.0], "q": [0.2, 0.5]}
        | {"accepted": 1, "token": " g"},
    ],
)


# ---- the rule, and what became of every token --------------------------------------------------


def test_verdicts_equal_the_librarys(module):
    call = module(generation_simulator())
    rng = np.random.default_rng(1)
    for k in (1, 2, 4, 7):
        for _ in range(20):
            p, q, r = rng.random((3, k))
            p[rng.random(k) < 0.1] = 0.0
            accepted = accepts(*(torch.tensor(part) for part in (p, q, r)))
            block = {"p": p.tolist(), "q": q.tolist(), "r": r.tolist()}
            assert call("acceptedOf", block) == int(accepted.cumprod(-1).sum())
    edges = {(0, 0.5, 0): False, (0.5, 0, 0.9): True, (0, 0, 0): False, (0.25, 0.5, 0.5): False}
    assert {edge: call("isAccepted", *edge) for edge in edges} == edges


def kinds(k: int, accepted: int) -> list[str]:
    """What became of each draft token of a block, and last what ended the block."""
    judged = ["accepted"] * accepted + ["rejected"] * (accepted < k)
    return [*judged, *["dropped"] * (k - accepted - 1), "corrected" if accepted < k else "bonus"]


def test_recorded_blocks_come_out_as_recorded(module):
    call, record = module(generation_simulator()), recorded.data()
    pieces = {"pieces": record["pieces"]}
    for run in record["runs"][::70]:
        for raw in run["blocks"]:
            block = recorded.RecordedBlock(*raw)
            fates = call("fates", call("blockOf", pieces, raw))
            assert [each["kind"] for each in fates] == kinds(run["k"], block.accepted)
            ids = [*block.drafted, block.token]
            assert [each["text"] for each in fates] == [record["pieces"][str(id)] for id in ids]
    for piece in ("def", " not", "\n", "\n    y", "a  b\t"):
        assert call("visible", piece) == recorded.visible(piece)


def test_kinds_differ_in_more_than_colour(reader):
    page = reader(generation_simulator())
    outlines = page.evaluate(
        "() => [...document.querySelectorAll('.sd-key [data-kind]')].map((box) => box.textContent +"
        "[...box.children].map((part) => `${part.tagName} ${part.getAttribute('rx')} "
        "${(part.getAttribute('style') ?? '').includes('dash')}`).join(';'))"
    )
    assert len(outlines) == len(set(outlines)) == 6


# ---- chapter 06: a clock -----------------------------------------------------------------------


def test_speeds_and_counts_equal_the_librarys(module):
    call, batch = module(generation_simulator()), module(batch_simulator())
    for alpha in (0.0, 0.614, 1.0):
        for k in (1, 5, 16):
            for rows in (1, 8):
                want = expected_tokens(alpha**rows, k)
                assert batch("lockstepTokens", alpha, k, rows) == pytest.approx(want, abs=1e-12)
    want = walltime_speedup(0.7, 0.02, 5, 1.4)
    assert call("speed", 7 * expected_tokens(0.7, 5), 7, 5, 0.02, 1.4) == pytest.approx(want)
    plain = [{"k": each["k"], "accepted": each["accepted"]} for each in recorded.data()["requests"]]
    assert call("alphaOf", plain) == pytest.approx(recorded_alpha(), abs=1e-12)
    for each in plain:
        found, tokens = call("summaryOf", each), accepted_of(each) + 1
        error = tokens.std(ddof=1) / len(tokens) ** 0.5
        assert found["mean"] == pytest.approx(tokens.mean(), abs=1e-12)
        assert error < 0.03  # as the panel says, smaller than a circle, which is 0.07 of a token


def accepted_of(request: dict) -> np.ndarray:
    """The accepted draft tokens of every block of a recorded request."""
    return np.repeat(np.arange(request["k"] + 1), request["accepted"])


def recorded_alpha() -> float:
    """The acceptance rate of all recorded requests."""
    found = recorded.data()["requests"]
    counts = [(int(n), each["k"]) for each in found for n in accepted_of(each)]
    return sum(n for n, _ in counts) / sum(min(n + 1, k) for n, k in counts)


def speed_of(run: list[recorded.RecordedBlock], k: int, c: float, v: float) -> tuple[float, float]:
    """Speed and tokens per pass of a run."""
    tokens = sum(block.accepted + 1 for block in run)
    return tokens / (len(run) * (c * k + v)), tokens / len(run)


def test_generate_plays_recorded_runs_with_a_clock(reader):
    page = reader(generation_simulator(k=5, c=0.1, v=1.0), motion="reduce")
    alpha = recorded_alpha()
    predicted = expected_tokens(alpha, 5) / 1.5
    assert page.numbers() == ["–", f"{predicted:.2f}", "–", f"{alpha:.3f}"]
    assert page.verdict() == "Press Generate."  # the best K is the reader's to guess
    for run in recorded.runs(5)[:2]:
        page.press("Generate")
        speed, tokens = speed_of(run, 5, 0.1, 1.0)
        want = [speed, predicted, tokens, alpha]
        assert [float(text) for text in page.numbers()] == pytest.approx(want, abs=ROUNDED)
        passed = page.description(0).count(" accepted")
        assert passed == sum(block.accepted for block in run)
    page.slider("c time of a draft step").press("End")
    shown = [float(text) for text in page.numbers()]
    assert [shown[0], shown[2]] == pytest.approx(speed_of(run, 5, 0.5, 1.0), abs=ROUNDED)
    page.slider("α acceptance rate of coins").press("End")
    assert page.numbers() == ["1.71", "1.71", "6.00", "1.000"]  # 6 tokens in 5 x 0.5 + 1 passes
    assert "16 blocks" in page.verdict()
    page.press("Recorded text")
    assert page.numbers()[3] == f"{alpha:.3f}"
    page.press("Next step")
    assert page.verdict() == "The draft has proposed; the next step judges it."
    page.press("Next step")
    assert " in 1 block: " in page.verdict()


def test_blocks_of_coins_end_at_the_first_coin_that_fails(module):
    call = module(generation_simulator())
    for alpha, k, seed in ((0.6, 5, 0), (0.0, 3, 1), (1.0, 2, 7)):
        coins = np.array(call("uniforms", seed, 16 * k)).reshape(16, k)
        blocks = call("coinBlocks", alpha, k, seed)
        assert [call("acceptedOf", block) for block in blocks] == list(
            (coins < alpha).cumprod(axis=1).sum(axis=1)
        )


# ---- chapter 06: a batch -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "k", "rows", "seed"),
    [(0.8, 5, 4, 1), (0.3, 2, 16, 7), (0.95, 16, 3, 2**32 - 1), (1, 1, 1, 0)],
)
def test_batches_equal_a_plain_count(module, alpha, k, rows, seed):
    call = module(batch_simulator())
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


def test_batch_says_what_it_shows(reader):
    page = reader(batch_simulator(alpha=0.8, k=5, rows=8), motion="reduce")
    want = [expected_tokens(0.8**8, 5), expected_tokens(0.8, 5)]
    assert page.numbers() == [f"{value:.2f}" for value in want]
    before = page.description(0)
    page.press("New coins")
    assert page.description(0) != before
    page.slider("rows of the batch").press("Home")
    assert page.numbers() == [f"{want[1]:.2f}"] * 2
    assert "0 accepted tokens thrown away" in page.verdict()


# ---- chapter 08: a text ------------------------------------------------------------------------


def test_tokens_of_a_text_have_their_fate_and_their_numbers(module):
    call = module(PICTURE)
    tokens = call("tokensOf", PICTURE.state["blocks"])
    assert [(token["kind"], token["text"]) for token in tokens] == [
        *(("accepted", "return"), ("accepted", " x"), ("bonus", "\n")),
        *(("accepted", "def"), ("corrected", " g")),
    ]
    story = call("storyOf", tokens[4])
    assert "proposed class (p = 0, q = 0.5), accepted with probability 0; it was rejected" in story
    assert call("storyOf", tokens[2]).startswith("Block 1, position 3: bonus.")
    assert call("numbersOf", tokens[4]) == ["0", "0.5", "0"] and call("shareOf", tokens) == "0.75"


def test_a_text_is_stepped_and_hovered(reader):
    page = reader(PICTURE)
    assert page.numbers() == ["0.5", "0.75", "0.667", "0.75"]
    page.frame.get_by_role("slider").focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    assert "it was rejected" in page.verdict()
    page.frame.locator(".sd-chart [data-kind=bonus]").hover()
    assert "bonus" in page.verdict()
    assert page.description(0).startswith("5 tokens: return accepted, ·x accepted, ↵ bonus")
