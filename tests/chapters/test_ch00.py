"""Chapter 00: what its own functions and simulator hold, beyond what every chapter has."""

import pytest
from classes.chapter_cases import functions_of

from autograde.submission import release_of
from specdec_lib.lessons.ch00 import checks as ch00
from specdec_lib.lessons.ch00.checks import MACHINES, MODELS
from specdec_lib.lessons.ch00.figures import count_free
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

CHAPTER = "00_bottleneck"
FUNCTIONS = functions_of(CHAPTER)


def test_run_all_shows_the_race_before_the_first_cell_that_waits():
    sources = [cell.source for cell in release_of(CHAPTER).cells if cell.cell_type == "code"]
    (race,) = [i for i, source in enumerate(sources) if "show_race(" in source]
    assert race < min(i for i, source in enumerate(sources) if "committed(" in source)


def test_predictions_are_held_against_computed_truths():
    h100 = MACHINES["H100"].limits.values()
    forward = FUNCTIONS["forward_time"]
    ratio = forward(5, 7e9, 2, *h100) / forward(1, 7e9, 2, *h100)
    assert ch00.TRUTHS["prediction_00"].value == ratio
    caches = FUNCTIONS["kv_cache_bytes"](2000, *MODELS["Llama 2 7B"][1:], 2, 64)
    assert ch00.TRUTHS["prediction_00_c"].value == pytest.approx(caches / 14e9)
    assert round(caches / 1e9) == 67 and round(caches / 14e9, 1) == 4.8


def test_numbers_of_the_text_are_those_of_the_functions():
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    a100, h100, tpu = (tuple(machine.limits.values()) for machine in MACHINES.values())
    assert [free(2, *limits) for limits in (a100, h100, tpu)] == [153, 295, 229]
    assert round(1e3 * forward(1, 7e9, 2, *h100), 2) == 4.18
    assert [round(1e3 * forward(1, 175e9, 2, *limits)) for limits in (a100, h100)] == [172, 104]
    sixteen = tuple(16 * limit for limit in tpu)
    assert round(1e3 * forward(1, 70e9, 2, *sixteen), 1) == 7.3
    eighteen = tuple(18 * limit for limit in a100)
    assert round(1e3 * forward(1, 175e9, 2, *eighteen), 1) == 9.5
    assert round(forward(6 * 64, 7e9, 2, *h100) / forward(1, 7e9, 2, *h100), 1) == 1.3
    assert [forward(n, 100, 1, 100, 1000) for n in (1, 5, 6)] == [1.0, 1.0, 1.2]
    cache = FUNCTIONS["kv_cache_bytes"]
    assert (
        cache(1, *MODELS["Llama 2 70B"][1:], 2) == 327_680 < cache(1, *MODELS["Llama 2 7B"][1:], 2)
    )


def test_numbers_of_the_second_quiz_are_those_of_pass_time():
    pass_time, cache = FUNCTIONS["pass_time"], FUNCTIONS["kv_cache_bytes"]
    h100 = tuple(MACHINES["H100"].limits.values())
    kept = {name: cache(1, *MODELS[name][1:], 2) for name in ch00.KV_BYTES}
    assert kept == ch00.KV_BYTES
    model = (7e9, 2, kept["Llama 2 7B"], *h100)
    one, four = (pass_time(n, 128, 250, *model) for n in (1, 4))
    assert one == four and round(1e3 * four, 1) == 9.2
    assert round(128 * 250 * kept["Llama 2 7B"] / 1e9, 1) == 16.8
    arithmetic = [pass_time(n, 128, 0, 7e9, 0, 0, *h100) for n in (1, 4)]
    assert [round(1e3 * seconds, 1) for seconds in arithmetic] == [1.8, 7.2]
    without_text = [pass_time(n, 128, 0, *model) for n in (1, 4)]
    assert round(without_text[1] / without_text[0], 2) == 1.73


def test_a_thousand_tokens_of_text_make_eleven_new_ones_free():
    """The rise of the map, which does not depend on the rows."""
    h100 = tuple(MACHINES["H100"].limits.values())
    kept = ch00.KV_BYTES["Llama 2 7B"]
    assert int(1000 * kept * h100[1] / (2 * 7e9 * h100[0])) == 11
    for batch in (64, 512):
        free = 295 // batch + 11
        times = [
            FUNCTIONS["pass_time"](n, batch, 1000, 7e9, 2, kept, *h100) for n in (1, free, free + 2)
        ]
        assert times[0] == times[1] < times[2]


def test_tokens_that_take_no_longer_than_one_are_counted(capsys):
    count_free(FUNCTIONS["forward_time"], (100, 1, 100, 1000), (100, 2, 100, 1000))
    count_free(lambda *args: 1.0, (100, 1, 100, 1000), most=20)
    counts = [line.split()[4:] for line in capsys.readouterr().out.splitlines()]
    assert counts[1:3] == [["5"], ["10"]] and counts[4] == ["20", "or", "more"]


@pytest.mark.browser
def test_numbers_of_the_simulator_are_those_of_the_functions(module):
    call = module(bottleneck_simulator())
    rows = [[name, *machine.limits.values()] for name, machine in MACHINES.items()]
    assert call("MACHINES") == rows
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    for _, bandwidth, peak in [*rows, ["", 5e10, 4e11], ["", 1e14, 1e9]]:
        for size in (0.5, 1, 2, 4):
            s = bottleneck_simulator(bandwidth, peak, 7e9, size).state
            assert call("freeTokens", s) == free(size, bandwidth, peak)
            for n in (1, 2, 7, 64, 512):
                assert call("passTime", n, s) == forward(n, 7e9, size, bandwidth, peak)
                intensity = FUNCTIONS["arithmetic_intensity"](n, size)
                assert call("intensity", n, size) == intensity
                reach = 2 * n * 7e9 / forward(n, 7e9, size, bandwidth, peak)
                assert call("reach", intensity, s) == pytest.approx(reach, rel=1e-12)


@pytest.mark.browser
def test_numbers_are_written_with_three_digits(module):
    call = module(bottleneck_simulator())
    for value, text in ((3.35e12, "3.35 T"), (989.5e12, "990 T"), (1e9, "1 G"), (1000, "1 k")):
        assert call("prefixed", value) == text
    for value, text in ((0.00418, "4.18 ms"), (2.5, "2.5 s"), (14e-6, "14 µs")):
        assert call("duration", value) == text


@pytest.mark.browser
def test_reader_sees_the_h100_and_moves_it(reader):
    page = reader(bottleneck_simulator())
    assert page.numbers() == ["33.4 ms", "4.18 ms", "295", "8"]
    assert page.verdict().startswith("Free: checking 8 tokens")
    for _ in range(36):
        page.slider("arithmetic").press("ArrowLeft")
    assert page.numbers()[2] == "4"
    assert page.verdict().startswith("Not free: checking 8 tokens")
    page.press("A100")
    assert page.numbers()[2] == "153"
    page.slider("bytes/weight").press("Home")
    assert page.numbers()[2] == "38"
    page.press("Back to the start")
    assert page.numbers() == ["33.4 ms", "4.18 ms", "295", "8"]


@pytest.mark.browser
def test_pictures_are_described(reader):
    page = reader(bottleneck_simulator(tokens=5))
    lanes, roof = page.description(0), page.description(1)
    assert "Writing 5 tokens takes 5 passes and 20.9 ms; checking them takes 1 pass" in lanes
    assert "up to 295 FLOP per byte" in roof and "check: 5 FLOP per byte, 16.8 TFLOP/s" in roof
