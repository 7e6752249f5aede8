"""The limits of size that `make lint` holds: each kind of them can fail."""

import runpy

from autograde.course import ROOT, chapter_names

LIMITS = runpy.run_path(str(ROOT / ".ci" / "limits.py"))
SMALL = (
    "| `docs` | 1 lines |\n| `*.md` | 1 words in all |\n| `notebooks/*/*.ipynb` | 1 words each |\n"
)


def test_what_exceeds_a_limit_is_named():
    named = [line.split()[0] for line in LIMITS["excesses"](SMALL)]
    assert named == ["docs", "*.md", *chapter_names()]


def test_the_guide_has_a_limit_for_each_package_the_guides_and_the_chapters():
    rows = LIMITS["ROW"].findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert [unit for _, _, unit in rows] == ["lines"] * 4 + ["words"] * 2
