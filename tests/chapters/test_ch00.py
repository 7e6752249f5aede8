"""Chapter 00: the numbers that its text, its predictions and its simulator tell."""

import pytest
from classes.chapter_cases import functions_of

from autograde.submission import release_of
from specdec_lib.lessons.ch00 import checks as ch00
from specdec_lib.lessons.ch00 import figures
from specdec_lib.lessons.ch00.checks import MACHINES, MODELS
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

CHAPTER = "00_bottleneck"
FUNCTIONS = functions_of(CHAPTER)
A100, H100, TPU = (tuple(machine.limits.values()) for machine in MACHINES.values())


def test_run_all_shows_the_race_before_the_first_cell_that_waits():
    sources = [cell.source for cell in release_of(CHAPTER).cells if cell.cell_type == "code"]
    (race,) = [i for i, source in enumerate(sources) if "show_race(" in source]
    assert race < min(i for i, source in enumerate(sources) if "committed(" in source)


def test_predictions_are_held_against_computed_truths():
    forward, cache = FUNCTIONS["forward_time"], FUNCTIONS["kv_cache_bytes"]
    assert ch00.TRUTHS["prediction_00"].value == forward(5, 7e9, 2, *H100) / forward(
        1, 7e9, 2, *H100
    )
    caches = cache(2000, *MODELS["Llama 2 7B"][1:], 2, 64)
    assert ch00.TRUTHS["prediction_00_c"].value == pytest.approx(caches / 14e9)


def test_numbers_of_the_text_are_those_of_the_functions():
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    assert [free(2, *limits) for limits in (A100, H100, TPU)] == [153, 295, 229]
    assert round(1e3 * forward(1, 7e9, 2, *H100), 2) == 4.18
    sixteen = tuple(16 * limit for limit in TPU)
    assert round(1e3 * forward(1, 70e9, 2, *sixteen), 1) == 7.3
    assert [forward(n, 100, 1, 100, 1000) for n in (1, 5, 6)] == [1.0, 1.0, 1.2]
    kept = {name: FUNCTIONS["kv_cache_bytes"](1, *MODELS[name][1:], 2) for name in ch00.KV_BYTES}
    assert kept == ch00.KV_BYTES


def test_a_thousand_tokens_of_text_make_eleven_new_ones_free():
    """The rise of the map, which does not depend on the rows."""
    model = (7e9, 2, ch00.KV_BYTES["Llama 2 7B"], *H100)
    for batch in (64, 512):
        free = 295 // batch + 11
        times = [FUNCTIONS["pass_time"](n, batch, 1000, *model) for n in (1, free, free + 2)]
        assert times[0] == times[1] < times[2]


def test_tokens_that_take_no_longer_than_one_are_counted(monkeypatch):
    counted = []
    monkeypatch.setattr(figures, "table", counted.extend)
    figures.count_free(FUNCTIONS["forward_time"], (100, 1, 100, 1000), (100, 2, 100, 1000))
    assert [row.popitem()[1] for row in counted] == ["5", "10"]


@pytest.mark.browser
def test_numbers_of_the_simulator_are_those_of_the_functions(module):
    call = module(bottleneck_simulator())
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    for size, limits in ((0.5, A100), (1, H100), (2, TPU), (4, (1e14, 1e9))):
        state = bottleneck_simulator(*limits, 7e9, size).state
        assert call("freeTokens", state) == free(size, *limits)
        for n in (1, 7, 512):
            assert call("passTime", n, state) == forward(n, 7e9, size, *limits)
            assert call("intensity", n, size) == FUNCTIONS["arithmetic_intensity"](n, size)
