"""An exported page in a narrow window: no word is cut, and what is wide scrolls by itself."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from pages.accessibility import faults

from autograde.report.offline import Page

SAID = "Grading looks at more cases than these, " * 4
TEXT = """\
A long name `transformers.generation.configuration_utils.GenerationConfig` in a box.

| what it is | what it costs | when it is taken | where it stands | who wrote it |
| --- | --- | --- | --- | --- |
| distributions | distributions | distributions | distributions | distributions |
"""
# The lines of a text: the words at their ends are whole if a blank or the end comes after them.
CUT_WORDS = r"""pre => {
  const text = pre.firstChild, range = document.createRange(), cut = [];
  const top = i => { range.setStart(text, i); range.setEnd(text, i + 1);
    return range.getBoundingClientRect().top; };
  for (let i = 1; i < text.length; i++)
    if (/\w/.test(text.data[i - 1]) && /\w/.test(text.data[i]) && top(i) > top(i - 1) + 2)
      cut.push(text.data.slice(i - 5, i + 5));
  return cut; }"""
OUTSIDE = """() => [...document.querySelectorAll('code:not(td code), .wide')].filter(
  each => each.getBoundingClientRect().right > innerWidth).map(each => each.textContent)"""


@pytest.mark.browser
def test_a_narrow_page_cuts_no_word_and_no_table(browser: Any, tmp_path: Path):
    said = nbformat.v4.new_output("stream", text=SAID)
    cells = [nbformat.v4.new_markdown_cell(TEXT), nbformat.v4.new_code_cell("f()", outputs=[said])]
    path = tmp_path / "page.html"
    path.write_text(Page().from_notebook_node(nbformat.v4.new_notebook(cells=cells))[0])
    page = browser.new_page(viewport={"width": 400, "height": 900})
    page.goto(path.as_uri())
    output = page.locator(".jp-OutputArea-output pre")
    assert output.evaluate("pre => pre.getClientRects()[0].height") > 40  # several lines
    assert output.evaluate(CUT_WORDS) == []
    assert page.evaluate(OUTSIDE) == []
    table = page.locator(".wide")
    assert table.evaluate("wide => wide.scrollWidth > wide.clientWidth")
    assert not [fault for fault in faults(page) if "scrollable-region" in fault]
    page.close()
