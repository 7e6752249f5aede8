"""The papers' figures: every table has its rows, and the formulas meet what is printed."""

import json
from pathlib import Path

import pytest

from specdec_lib.measure import papers
from specdec_lib.theory import walltime_speedup

RAW = json.loads(Path(papers.__file__).with_name("papers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RAW)
def test_every_table_has_whole_rows_and_says_where_it_is_printed(name: str):
    first, *others = rows = papers.paper_table(name)
    assert len(set(rows)) == len(rows) and first._fields == tuple(RAW[name]["columns"])
    for row in others:
        for value, other in zip(row, first, strict=True):
            assert isinstance(value, str) == isinstance(other, str)
    assert RAW[name]["title"] and RAW[name]["note"]
    assert any(word in RAW[name]["source"] for word in ("arXiv", "github.com"))


def test_three_expected_values_are_not_the_exact_ones():
    exact = {
        row: walltime_speedup(row.alpha, row.c, row.k)
        for row in papers.paper_table("leviathan_2_4")
    }
    off = [(r.task, r.draft, r.temperature) for r, x in exact.items() if abs(x - r.expected) > 0.05]
    assert off == [("EnDe", "T5-base", 1), ("EnDe", "T5-large", 1), ("CNNDM", "T5-large", 1)]


def test_chens_first_quotient_is_not_the_printed_one():
    first, *others = papers.paper_table("chen_1")
    assert first.plain_ms / first.speculative_ms == pytest.approx(1.875)
    assert first.speedup == 1.92
    for row in others:
        assert row.plain_ms / row.speculative_ms == pytest.approx(row.speedup, abs=0.005)
