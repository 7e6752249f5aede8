"""axe-core finds nothing serious on our pages, every picture has words, and nothing is fetched.

The simulators, the feedback page and the answers on a page are looked at where they are tested.
"""

from pathlib import Path
from typing import Any

import pytest
from data_files import class_grades
from pages.accessibility import NOT_OURS, faults, pictures_without_words
from pages.browsing import Visitor
from pages.serving import serve_folder
from pages.site_pages import built_site

from autograde.report.class_page import class_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDE, NARROW = ({"viewport": {"width": width, "height": 900}} for width in (1280, 400))


@pytest.mark.parametrize("look", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_class_report_is_open_to_everybody(browser: Any, tmp_path: Path, look: dict):
    long = {"a-name-without-an-end" * 9: class_grades()["dan"]}
    (tmp_path / "report.html").write_text(class_page(class_grades() | long))
    with Visitor(browser, **look).visit(tmp_path / "report.html") as visitor:
        assert faults(visitor.page) == [] and pictures_without_words(visitor.page) == []
        shown = visitor.page.evaluate("document.documentElement.scrollWidth")
        assert shown == look["viewport"]["width"]  # nothing is wider than the window


def test_every_page_of_the_site_is_open_to_everybody(browser: Any):
    """Wide, and the start page and a chapter narrow too: the theme is one."""
    site = built_site()
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    pages = [page for page in pages if not page.startswith(("_static", "_sources"))]
    assert "index.html" in pages and any(page.startswith("chapters/") for page in pages)
    narrow = [(page, NARROW) for page in ("index.html", "chapters/05_results.html")]
    with serve_folder(site) as url:
        for page, look in [*((page, WIDE) for page in pages), *narrow]:
            with Visitor(browser, **look).visit(url + page) as visitor:
                seen = (faults(visitor.page, NOT_OURS), pictures_without_words(visitor.page))
                assert seen == ([], []), page
