"""The small SPEED-Bench: what a batch is counted as, its budget, its record, table and picture."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from specdec_lib.decoding.state import Block, Generation
from specdec_lib.measure.core.interval import of_ratios
from specdec_lib.measure.speedbench import command
from specdec_lib.measure.speedbench.picture import in_words, page, picture
from specdec_lib.measure.speedbench.serving import LEAST, MOST, Row, measure, row_of, served

PAGE = Path(__file__).parents[4] / "docs" / "results.md"
TEXTS = {"code": [[i] for i in range(64)], "lists": [[i] for i in range(64)]}


class Clock:
    """Moved by the stand-in decoders alone."""

    def __init__(self) -> None:
        self.now, self.batches = 0.0, []

    def __call__(self) -> float:
        return self.now

    def decoder(self, seconds: float, kept: int):
        """A request takes `seconds` and as much again for each one beside it; reading takes 5."""

        def generate(prompts, settings) -> Generation:
            self.batches.append([prompt[0] for prompt in prompts])
            self.now += 5.0
            for row in range(len(prompts)):
                self.now += seconds
                settings.on_tokens(row, [1] * settings.max_new_tokens)
            blocks = settings.max_new_tokens // kept
            rows = [[Block([], [], 1, kept, False, [], [])] * blocks for _ in prompts]
            return Generation([], rows, blocks, seconds * len(prompts))

        return generate


def measured(seconds: float, batches=(1, 2, 4), said=None) -> list[Row]:
    clock = Clock()
    both = clock.decoder(0.2, 1), clock.decoder(0.1, 2)
    say = (said if said is not None else []).append
    return measure(both, TEXTS, batches, 4, seconds, say, clock)


def test_reading_the_prompts_is_not_counted():
    clock = Clock()
    found = served(clock.decoder(0.5, 2), [[1], [2], [3]], 4, clock)
    assert found.seconds == pytest.approx(1.5) and found.request == pytest.approx(1.0)
    assert found.kept == [4, 4, 4] and found.blocks == [2, 2, 2]


def test_a_row_has_throughput_latency_and_intervals():
    (code, lists), *_ = zip(*[iter(measured(1e6, (2,)))] * 2, strict=True)
    assert (code.kind, lists.kind, code.batch, code.rounds) == ("code", "lists", 2, MOST)
    assert code.plain_tokens_a_second == pytest.approx(2 * 4 / 0.4)
    assert code.tokens_a_second == pytest.approx(2 * 4 / 0.2)
    assert (code.plain_ms, code.ms) == (pytest.approx(75), pytest.approx(37.5))
    assert code.speedup == pytest.approx((2, 2, 2)) and code.tokens_a_block == (2, 2, 2)


def test_every_round_takes_other_prompts_and_both_sides_the_same():
    clock = Clock()
    measure((clock.decoder(0.1, 1),) * 2, {"code": TEXTS["code"]}, (4,), 4, 1e6, str, clock)
    rounds = clock.batches[2:]  # without the one that warms up
    assert rounds[0::2] == rounds[1::2] and len(rounds) == 2 * MOST
    assert rounds[0] == [0, 1, 2, 3] and rounds[2] == [4, 5, 6, 7]


def test_batches_that_do_not_fit_are_left_out_and_named():
    said = []
    rows = measured(150.0, (1, 2, 4, 8, 16), said)
    there = [row.batch for row in rows[::2]]
    assert there == [1, 2] and said[-1].startswith("Left out: batches from 4 on.")
    assert all(row.rounds >= LEAST for row in rows)
    assert measured(10.0) == []


def test_a_geometric_interval_holds_for_both_sides():
    value, low, high = of_ratios([2.0, 0.5, 1.5])
    assert low < value < high and value == pytest.approx(1.5 ** (1 / 3))
    assert of_ratios([0.5, 2.0, 1 / 1.5]) == pytest.approx((1 / value, 1 / high, 1 / low))
    logs_sd = 0.7316  # of log 2, log 0.5, log 1.5
    assert high / value == pytest.approx(2.718281828 ** (4.303 * logs_sd / 3**0.5), rel=1e-3)
    with pytest.raises(ValueError, match="1 ratios have no interval"):
        of_ratios([2.0])


def test_the_interval_of_many_ratios_narrows():
    few, many = (of_ratios([1.0, 2.0] * n) for n in (2, 50))
    assert many[2] - many[1] < (few[2] - few[1]) / 4


def test_the_record_is_read_back_as_it_was_written(tmp_path, capsys):
    rows = measured(1e6, (1, 4))
    record = json.loads(command.RECORDED.read_text("utf-8"))
    record["rows"] = [command.rounded(row) for row in rows]
    source, page, drawn = (tmp_path / name for name in ("a.json", "a.md", "a.svg"))
    source.write_text(json.dumps(record), "utf-8")
    options = ["--recorded", str(source), "--markdown", str(page), "--figure", str(drawn)]
    assert command.main(options) == 0
    assert command.recorded(source)[0] == command.rows_of(record)
    line = "| code | 4 | 2.00 (2.00 to 2.00) | 20 | 40 | 125.0 | 62.5 | 2.00 (2.00 to 2.00) | 12 |"
    assert line in capsys.readouterr().out and line in page.read_text("utf-8")
    assert ET.fromstring(drawn.read_text("utf-8")).tag.endswith("svg")


def test_what_cannot_be_is_named():
    for option, told in (("--k", "--k is 0"), ("--seconds", "--seconds is 0.0")):
        with pytest.raises(SystemExit, match=told):
            command.main([option, "0"])
    with pytest.raises(SystemExit, match="a batch has 1 request or more"):
        command.main(["--batches", "0", "4"])


def test_the_picture_has_a_mark_for_every_row_and_says_its_numbers():
    rows = command.recorded()[0]
    drawn = picture(rows, "a title")
    root = ET.fromstring(drawn)
    shapes = [each for each in root.iter() if each.tag.rpartition("}")[2] in ("polygon", "circle")]
    batches = {row.batch for row in rows}
    kinds = {row.kind for row in rows}
    assert len(shapes) == 2 * len(batches) + len(rows) + 2 + len(kinds)
    told = in_words(rows)
    assert all(f"{row.kind}, batch {row.batch}: {row.speedup[0]:.2f}" in told for row in rows)
    assert drawn in page(rows, "a title")
    assert told == root.get("aria-label")  # not a title, which pages take for a tooltip


def test_the_page_of_results_has_the_recorded_table_and_picture():
    rows, about = command.recorded()
    page = PAGE.read_text("utf-8")
    assert command.table(rows) in page and about in page
    drawn = (PAGE.parent / "results" / "speedbench.svg").read_text("utf-8")
    assert drawn == picture(rows, about)


def test_rows_of_rounds_keep_their_mean():
    pairs = []
    for seconds in (1.0, 3.0):
        clock = Clock()
        both = clock.decoder(2 * seconds, 1), clock.decoder(seconds, 2)
        prompts = [[1], [2]]
        pairs.append(type("P", (tuple,), {})(served(d, prompts, 4, clock) for d in both))
    row = row_of("code", 2, pairs, 4)
    assert row.tokens_a_second == pytest.approx(2 * 4 / 4.0) and row.speedup[0] == pytest.approx(2)
