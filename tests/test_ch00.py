"""Chapter 00: what its own functions, figures and simulator hold, beyond what every chapter has."""

import base64
import copy
import html
import json
import math
import re

import matplotlib.pyplot as plt
import pytest

from autograde.grading.engine import grade
from autograde.grading.misconceptions import misconceptions_of
from autograde.intake import release_of
from autograde.paths import SOLUTIONS
from autograde.submissions import filled, solutions_of
from specdec_lib.lessons import ch00, ch00_figures, ch00_machines
from specdec_lib.lessons.ch00 import MACHINES, MODELS, Passes
from specdec_lib.lessons.examples import Different
from specdec_lib.lessons.widgets.bottleneck import bottleneck_simulator

CHAPTER = "00_bottleneck"
TEXT = (SOLUTIONS / f"{CHAPTER}.py").read_text(encoding="utf-8")


def functions_of_the_solution() -> dict:
    namespace: dict = {}
    for source in solutions_of(CHAPTER).values():
        if source.startswith("def "):
            exec(source, namespace)
    return namespace


FUNCTIONS = functions_of_the_solution()


def stub(*args):
    raise NotImplementedError("not written yet")


# --- checks, hints, predictions ---------------------------------------------------------------


@pytest.mark.parametrize("name", ch00.HINTS)
def test_visible_checks_pass_on_the_solution_and_print_no_mark(name: str, capsys):
    assert getattr(ch00, f"check_{name}")(FUNCTIONS[name]) is None
    captured = capsys.readouterr()
    assert captured.err == "" and name in captured.out


@pytest.mark.parametrize("name", ch00.HINTS)
@pytest.mark.parametrize("value", [None, [], 0, 1.0])
def test_visible_checks_say_call_got_and_expected(name: str, value: object):
    with pytest.raises(NotImplementedError):
        getattr(ch00, f"check_{name}")(stub)
    with pytest.raises(Different, match=r".*\(.*\) returned .*, expected .*"):
        getattr(ch00, f"check_{name}")(lambda *args: value)


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
def test_visible_checks_catch_what_they_can(wrong):
    """All misconceptions but those that only a finer case tells from the right answer."""
    only_graded = {"strictly_shorter", "rounded"}
    try:
        getattr(ch00, f"check_{wrong.exercise}")(wrong.function)
    except Different:
        return
    assert wrong.name in only_graded


def test_every_function_has_three_hints():
    exercises = dict.fromkeys(wrong.exercise for wrong in misconceptions_of(CHAPTER).all)
    assert list(ch00.HINTS) == list(exercises)
    assert all(len(texts) == 3 for texts in ch00.HINTS.values())


def test_predictions_are_held_against_computed_truths():
    h100, a100 = MACHINES["H100"].limits.values(), MACHINES["A100"].limits.values()
    forward = FUNCTIONS["forward_time"]
    ratio = forward(5, 7e9, 2, *h100) / forward(1, 7e9, 2, *h100)
    assert ch00.TRUTHS["prediction_00"][0] == ratio
    chips = forward(1, 175e9, 2, *a100) / 0.01
    assert ch00.TRUTHS["prediction_00_c"][0] == pytest.approx(chips, abs=0.05)


@pytest.mark.parametrize("name", ["quiz_00", "quiz_00_b"])
def test_every_wrong_option_has_its_own_explanation(name: str):
    right = solutions_of(CHAPTER)[name]
    texts = set()
    for option in "abcd":
        if f'"{option}"' not in right:
            answers = solutions_of(CHAPTER) | {name: f'{name} = "{option}"'}
            (text,) = grade(filled(release_of(CHAPTER), answers), CHAPTER).exercises[name].messages
            texts.add(text)
    assert len(texts) == 3


# --- the numbers of the text --------------------------------------------------------------------


def test_numbers_of_the_text_are_those_of_the_functions():
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    a100, h100, tpu = (tuple(machine.limits.values()) for machine in MACHINES.values())
    assert [free(2, *limits) for limits in (a100, h100, tpu)] == [153, 295, 229]
    assert round(1e3 * forward(1, 7e9, 2, *h100), 2) == 4.18
    assert [round(1e3 * forward(1, 175e9, 2, *limits)) for limits in (a100, h100)] == [172, 104]
    chips = (ch00.CHEN_CHIPS * limit for limit in tpu)
    bound = forward(1, ch00.CHEN_PARAMS, 2, *chips)
    assert round(1e3 * bound, 1) == 7.3 and 0.5 < bound / ch00.CHEN_SECONDS < 0.55
    eighteen = tuple(18 * limit for limit in a100)
    assert round(1e3 * forward(1, 175e9, 2, *eighteen), 1) == 9.5
    assert round(forward(6 * 64, 7e9, 2, *h100) / forward(1, 7e9, 2, *h100), 1) == 1.3
    assert round(forward(4 * 128, 7e9, 2, *h100) / forward(128, 7e9, 2, *h100), 1) == 1.7
    assert [forward(n, 100, 1, 100, 1000) for n in (1, 5, 6)] == [1.0, 1.0, 1.2]
    cache = FUNCTIONS["kv_cache_bytes"]
    assert (
        cache(1, *MODELS["Llama 2 70B"][1:], 2) == 327_680 < cache(1, *MODELS["Llama 2 7B"][1:], 2)
    )


# --- figures --------------------------------------------------------------------------------------

SECONDS = {n: [0.01 * n, 0.011 * n, 0.012 * n] for n in (1, 2, 4, 8, 16, 64)}
PASSES = [
    Passes((size, dtype), 10**7, width, 1e11, SECONDS)
    for size in ("40m", "built-in")
    for dtype, width in (("float32", 4), ("bfloat16", 2))
]
SEVEN = (7e9, 2)
FIGURES = {
    "roofline": ("arithmetic_intensity", (MACHINES["H100"], 2)),
    "pass_times": ("forward_time", (MACHINES, *SEVEN)),
    "free_by_machine": ("free_tokens", (MACHINES, (2, 1, 0.5))),
    "measured_passes": ("forward_time", (PASSES, 25e9)),
    "published_times": ("forward_time", (MACHINES, MODELS)),
    "four_rows": ("forward_time", (MACHINES["A100"], 175e9, 2, (1, 18))),
    "cache_beside_weights": ("kv_cache_bytes", (MODELS, 64)),
    "busy_and_idle": ("forward_time", (MACHINES["H100"], MODELS["Llama 2 7B"], 8, 60)),
}


def draw(name: str, *arguments) -> None:
    """Draw the figure of that name, in whichever of the two modules it is."""
    module = ch00_figures if hasattr(ch00_figures, name) else ch00_machines
    getattr(module, name)(*arguments)


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The alternative texts of the figures that a test draws."""
    texts: list[str] = []
    for module in (ch00_figures, ch00_machines):
        monkeypatch.setattr(module, "show", lambda figure, alt: texts.append(alt))
    return texts


@pytest.mark.parametrize("name", FIGURES)
def test_figures_draw_the_solution_and_wait_for_a_stub(name: str, shown: list[str], capsys):
    function, arguments = FIGURES[name]
    draw(name, FUNCTIONS[function], *arguments)
    assert len(shown) == 1 and capsys.readouterr().out == ""
    draw(name, stub, *arguments)
    assert len(shown) == 1 and "Write it first" in capsys.readouterr().out
    assert plt.get_fignums() == []


@pytest.mark.parametrize("wrong", misconceptions_of(CHAPTER).all, ids=lambda w: w.name)
def test_figures_show_or_explain_a_wrong_function(wrong, shown: list[str], capsys):
    for name, (function, arguments) in FIGURES.items():
        if function == wrong.exercise:
            draw(name, wrong.function, *copy.deepcopy(arguments))
    assert shown or "cannot be drawn yet" in capsys.readouterr().out


def test_words_of_the_figures_hold_their_numbers(shown: list[str]):
    ch00_figures.serial_and_parallel(5)
    ch00_figures.hundred_tokens(100, 0.05)
    for name, (function, arguments) in FIGURES.items():
        draw(name, FUNCTIONS[function], *arguments)
    text = "\n".join(shown)
    for words in (
        "pass 5 reads tokens 1 to 4",
        "100 passes of 50 ms one after the other end at 5 s",
        "flat at 989.5 TFLOP/s",
        "H100: 4.18 ms for 1 token, 58 ms for 4096",
        "weights of 4 bits: A100 38, H100 73, TPU v4 57",
        "40m, float32: for 1 11 ms, line 1.6, for 8 88 ms",
        "GPT-3 175B, 1 A100 172 ms",
        "70B, 16 TPU v4 7.29 ms. Chen et al. measured 14.1 ms",
        "18 A100: read the weights 9.54 ms, calculate one token 0.0623 ms",
        "Llama 2 70B, 64 row(s): 5.37",
        "As it is: write 33.4 ms, check 4.18 ms",
        "With 1/60 of its arithmetic: write 33.4 ms, check 6.79 ms",
    ):
        assert words in text


def test_figures_show_what_a_wrong_function_says(shown: list[str]):
    wrong = {w.name: w.function for w in misconceptions_of(CHAPTER).all}
    draw("four_rows", wrong["read_n_times"], *FIGURES["four_rows"][1])
    assert "check five tokens 858 ms" in shown[0]
    draw("free_by_machine", wrong["format_ignored"], *FIGURES["free_by_machine"][1])
    assert "weights of 4 bits: A100 153" in shown[1]


def test_measured_passes_are_told_after_the_guess(capsys):
    ch00.reveal_passes("prediction_00_b", None, PASSES[:1], tokens=8)
    assert "8.00" not in capsys.readouterr().out
    ch00.reveal_passes("prediction_00_b", 2, PASSES[:1], tokens=8)
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("You said 2. It is 8. That is your machine")
    times = "2 tokens 2.00, 4 tokens 4.00, 8 tokens 8.00, 16 tokens 16.00, 64 tokens 64.00"
    assert told[1:] == [f"40m, float32: 11.00 ms; {times}"]


# --- the simulator --------------------------------------------------------------------------------


def test_simulator_is_one_module_without_network_or_motion():
    simulator = bottleneck_simulator()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', simulator.frame())[1])
    assert simulator.module in page and page.count("</script>") == 1
    assert set(re.findall(r"\w+://[^\"'\s]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|@import|<link", page)
    assert not re.search(r"transition|animation:|requestAnimationFrame|<animate", page)


def test_simulator_starts_where_it_is_told():
    simulator = bottleneck_simulator(**MACHINES["A100"].limits, tokens=5.0)
    state = {"bandwidth": 2.039e12, "peak_flops": 312e12, "n_params": 7e9, "bytes_per_param": 2.0}
    assert simulator.state == state | {"tokens": 5} and isinstance(simulator.state["tokens"], int)
    json.dumps(simulator.state)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bandwidth": 0}, "bandwidth is 0; this simulator takes 1e\\+09 to 1e\\+14"),
        ({"peak_flops": math.nan}, "peak_flops is nan"),
        ({"tokens": 600}, "tokens is 600"),
        ({"bytes_per_param": "two"}, "bytes_per_param is 'two', which is not a number"),
    ],
)
def test_what_no_slider_shows_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        bottleneck_simulator(**arguments)


@pytest.fixture
def module(browser):
    """`module(name, *arguments)` calls an exported function of bottleneck.js."""
    page = browser.new_page()
    source = base64.b64encode(bottleneck_simulator().module.encode()).decode()
    page.evaluate(
        "url => import(url).then(m => { window.lesson = m; })",
        f"data:text/javascript;base64,{source}",
    )
    yield lambda name, *given: page.evaluate(
        "([name, given]) => typeof window.lesson[name] === 'function' "
        "? window.lesson[name](...given) : window.lesson[name]",
        [name, list(given)],
    )
    page.close()


@pytest.mark.browser
def test_numbers_of_the_simulator_are_those_of_the_functions(module):
    rows = [[name, *machine.limits.values()] for name, machine in MACHINES.items()]
    assert module("MACHINES") == rows
    forward, free = FUNCTIONS["forward_time"], FUNCTIONS["free_tokens"]
    for _, bandwidth, peak in [*rows, ["", 5e10, 4e11], ["", 1e14, 1e9]]:
        for size in (0.5, 1, 2, 4):
            s = {
                "bandwidth": bandwidth,
                "peak_flops": peak,
                "n_params": 7e9,
                "bytes_per_param": size,
            }
            assert module("freeTokens", s) == free(size, bandwidth, peak)
            for n in (1, 2, 7, 64, 512):
                assert module("passTime", n, s) == forward(n, 7e9, size, bandwidth, peak)
                intensity = FUNCTIONS["arithmetic_intensity"](n, size)
                assert module("intensity", n, size) == intensity
                reach = 2 * n * 7e9 / forward(n, 7e9, size, bandwidth, peak)
                assert module("reach", intensity, s) == pytest.approx(reach, rel=1e-12)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("prefixed", 3.35e12, "3.35 T"),
        ("prefixed", 989.5e12, "990 T"),
        ("prefixed", 1e9, "1 G"),
        ("prefixed", 1000, "1 k"),
        ("duration", 0.00418, "4.18 ms"),
        ("duration", 2.5, "2.5 s"),
        ("duration", 14e-6, "14 µs"),
    ],
)
def test_numbers_are_written_with_three_digits(module, name, value, text):
    assert module(name, value) == text


@pytest.fixture
def reader(browser):
    """Opens the simulator at a width; at the end there is no error on the console."""
    opened, errors = [], []

    def show(simulator, width=900):
        page = browser.new_page(viewport={"width": width, "height": 1600})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: line.type == "error" and errors.append(line.text))
        page.set_content(f"<!DOCTYPE html><body style='margin:0'>{simulator.frame()}</body>")
        frame = page.frame_locator("iframe.specdec-simulator")
        frame.locator(".sd-chart svg").first.wait_for()
        opened.append(page)
        return page, frame

    yield show
    for page in opened:
        page.close()
    assert errors == []


@pytest.mark.browser
def test_reader_sees_the_h100_and_moves_it(reader):
    page, frame = reader(bottleneck_simulator())
    assert frame.locator(".sd-number").all_text_contents() == ["33.4 ms", "4.18 ms", "295", "8"]
    assert frame.locator(".sd-verdict").text_content().startswith("Free: checking 8 tokens")
    frame.get_by_role("slider", name="arithmetic").focus()
    for _ in range(36):
        page.keyboard.press("ArrowLeft")
    assert frame.locator(".sd-number").all_text_contents()[2] == "4"
    assert frame.locator(".sd-verdict").text_content().startswith("Not free: checking 8 tokens")
    frame.get_by_role("button", name="A100").press("Enter")
    assert frame.locator(".sd-number").all_text_contents()[2] == "153"
    frame.get_by_role("slider", name="bytes/weight").press("Home")
    assert frame.locator(".sd-number").all_text_contents()[2] == "38"
    frame.get_by_role("button", name="Back to the start").press("Enter")
    assert frame.locator(".sd-number").all_text_contents() == ["33.4 ms", "4.18 ms", "295", "8"]


@pytest.mark.browser
def test_pictures_are_described(reader):
    _, frame = reader(bottleneck_simulator(tokens=5))
    lanes, roof = (frame.locator(".sd-chart svg[role=img]").nth(i) for i in range(2))
    text = lanes.get_attribute("aria-label")
    assert "Writing 5 tokens takes 5 passes and 20.9 ms; checking them takes 1 pass" in text
    text = roof.get_attribute("aria-label")
    assert "up to 295 FLOP per byte" in text and "check: 5 FLOP per byte, 16.8 TFLOP/s" in text


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 400, 900])
@pytest.mark.parametrize("peak", [1e9, 1e16])
def test_simulator_fits_its_width(reader, width, peak):
    page, frame = reader(bottleneck_simulator(peak_flops=peak, tokens=512), width)
    assert page.frames[1].evaluate("document.documentElement.scrollWidth") == width
    for drawing in frame.locator(".sd-chart svg[role=img]").all():
        assert "NaN" not in drawing.inner_html()
