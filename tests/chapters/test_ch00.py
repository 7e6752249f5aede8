"""Chapter 00: the numbers that its text, its predictions and its simulator tell."""

import subprocess
import sys

import pytest
from classes.chapter_cases import functions_of, text_of

from autograde.intake.submission import release_of
from specdec_lib.lessons.ch00 import figures, lesson
from specdec_lib.lessons.ch00.lesson import LLAMA, MACHINES
from specdec_lib.lessons.widgets import bottleneck_simulator

CHAPTER = "00_bottleneck"
FUNCTIONS = functions_of(CHAPTER)
A100, H100, B200, TPU = (machine[:2] for machine in MACHINES.values())


def test_run_all_shows_a_race_at_once_and_another_before_the_first_cell_that_waits():
    sources = [cell.source for cell in release_of(CHAPTER).cells if cell.cell_type == "code"]
    recorded, live = (i for i, source in enumerate(sources) if "show_race(" in source)
    assert live < min(i for i, source in enumerate(sources) if "committed(" in source)
    code = f"{sources[recorded]}\nimport sys\nassert 'torch' not in sys.modules"
    assert "Recorded on" in subprocess.check_output([sys.executable, "-c", code], text=True)


def test_numbers_of_the_text_are_those_of_the_functions():
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    assert [free(2, *limits) for limits in (A100, H100, B200)] == [153, 295, 281]
    assert round(1e3 * forward(1, 8e9, 2, *H100), 2) == 4.78 and round(1 / 295.4, 3) == 0.003
    assert [forward(n, 100, 1, 100, 1000) for n in (1, 5, 6)] == [1.0, 1.0, 1.2]
    assert LLAMA.kv_bytes == 131_072 and 64 * 2000 * LLAMA.kv_bytes > 16e9
    assert 120_000 < lesson.TRUTHS["prediction_00_b"].value < 131_072
    served = [FUNCTIONS["pass_time"](n, 128, 1000, 8e9, 2, 131_072, *H100) for n in (1, 4, 5)]
    assert [round(1e3 * each, 1) for each in served] == [9.8, 9.8, 10.3]
    ((one, *_, five, _),) = figures.RECORDED.values()
    assert f"took\n# {five / one:.2f} times as long as one" in text_of(CHAPTER)


def test_long_texts_bring_every_row_near_the_free_tokens_of_the_cache(painted):
    assert LLAMA.attention_flops == 4 * LLAMA.kv_bytes == 524_288
    batches, texts = (1, 256, 512), (0, 8000, 10**8)
    figures.free_map(FUNCTIONS["pass_time"], MACHINES["H100"], LLAMA, batches, texts)
    limit = "73 at 100,000,000"
    rows = ("1: 295 at 0, 249 at 8,000", "256: 1 at 0, 16 at 8,000", "512: 1 at 0, 15 at 8,000")
    said = painted[0].replace("*", "")
    assert all(f"{row}, {limit}" in said for row in rows)


def test_a_machine_with_a_zero_is_told_and_not_the_function(capsys):
    figures.count_free(FUNCTIONS["forward_time"], (100, 1, 0, 1300))
    assert capsys.readouterr().out.startswith("Your line (100, 1, 0, 1300) is no machine")


@pytest.mark.parametrize("value", [None, -1.0, float("nan")])
def test_a_wrong_stopwatch_is_told_and_notes_no_time(value, capsys):
    figures.passes_and_tokens(lambda *args: value, print, (1, 2), seconds := {})
    assert seconds == {} and "time_pass cannot be used yet" in capsys.readouterr().out


@pytest.mark.browser
def test_numbers_of_the_simulator_are_those_of_the_functions(module):
    call = module(bottleneck_simulator())
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    for size, limits in ((0.5, A100), (1, H100), (2, TPU), (4, (1e14, 1e9))):
        state = bottleneck_simulator(*limits, 7e9, size).state
        assert call("freeTokens", state) == free(size, *limits)
        for n in (1, 7, 512):
            assert call("passTime", n, state) == forward(n, 7e9, size, *limits)
            assert call("intensity", n, size) == 2 * n / size
