"""Formulas of the exported pages and of the site are those that TeX would draw."""

import re
import xml.etree.ElementTree as ET

import pytest
from classes.chapter_cases import CHAPTERS, text_of

from autograde.report.formulas import mathml

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\$\\])\$([^$\n]+?)\$(?!\$)", re.DOTALL)


def tree(tex: str) -> ET.Element:
    """The formula as elements without a namespace."""
    text = mathml(tex, as_block=True).replace("&ApplyFunction;", "")
    return ET.fromstring(text.replace(f' xmlns="{NAMESPACE[1:-1]}"', ""))


def words(element: ET.Element) -> str:
    return "".join(text.strip() for text in element.itertext())


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
    (fraction,) = tree(tex).iter("mfrac")
    assert [words(part) for part in fraction] == parts


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_formulas_of_the_chapters_keep_their_parts(chapter: str):
    """Each fraction has its two parts, each sum its index below it, each brace its label."""
    text = re.sub(r"^# ?", "", text_of(chapter), flags=re.MULTILINE)
    for block, line in FORMULA.findall(text):
        tex = block or line
        elements = list(tree(tex).iter())
        fractions = [e for e in elements if e.tag == "mfrac"]
        assert len(fractions) == len(re.findall(r"\\[dt]?frac", tex)), tex
        assert all(len(f) == 2 and words(f[0]) and words(f[1]) for f in fractions), tex
        sums = [e for e in elements if e.tag in ("munder", "munderover")]
        below = re.findall(r"\\(?:sum|prod)_|\\under(?:brace|set)|\\max_", tex)
        assert len(sums) == len(below) + len(re.findall(r"\\underbrace\{", tex)), tex
