"""Formulas of pages and of the site are those that TeX would draw."""

import xml.etree.ElementTree as ET

import pytest

from autograde.report.formulas import tex_to_mathml


@pytest.mark.parametrize(
    ("tex", "parts"),
    [
        (r"\frac12 \sum_x", ["1", "2"]),
        (r"\frac1n", ["1", "n"]),
        (r"\frac{a}3", ["a", "3"]),
        (r"\frac\alpha2", ["α", "2"]),
    ],
)
def test_a_fraction_has_the_parts_that_tex_gives_it(tex: str, parts: list[str]):
    (fraction,) = ET.fromstring(tex_to_mathml(tex)).iter(
        "{http://www.w3.org/1998/Math/MathML}mfrac"
    )
    assert ["".join(part.itertext()).strip() for part in fraction] == parts
