"""What a student reads after grading: one refutation for one belief."""

import re
import xml.etree.ElementTree as ET

import pytest
from bs4 import BeautifulSoup
from classes.submitting import CHAPTER, POINTS, TOTAL, WRITTEN, cell_of, right, text
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from pages.accessibility import faults, pictures_without_words

from autograde.grading.result import Exercise, GroupResult
from autograde.hidden.material import material_of
from autograde.intake import bounds
from autograde.intake.submission import parse, rebuild, release_of
from autograde.nbgrader.plugin import Grade
from autograde.report.feedback import exercise_html
from autograde.report.feedback_page import FeedbackPage
from autograde.report.formulas import tex_to_mathml

# Known bugs of three exercises; speculative_accept builds on the first of them, and is right.
WRONG = {
    "acceptance_probability": """def acceptance_probability(p, q, token):
    return min(p[token], q[token])""",
    "residual_distribution": "def residual_distribution(p, q):\n    return p.copy()",
    "speculative_step": """def speculative_step(draft_tokens, p, q, r, u):
    accepted = speculative_accept(draft_tokens, p[:-1], q, r)
    return [*accepted, sample_from(p[len(accepted)], u)]""",
}


def test_a_value_cannot_turn_the_text_after_it():
    exercise = Exercise(1.0, [GroupResult("a", False, "returned \u202ea\u2066\x9b; expected 1")])
    assert "returned a; expected 1" in exercise_html(exercise)


def marked(notebook: NotebookNode, **by_hand: float) -> NotebookNode:
    """A graded notebook with what nbgrader's gradebook adds to it."""
    notebook, _ = Grade().preprocess(notebook, {"nbgrader": {"assignment": CHAPTER}})
    for cell in notebook.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if nbgrader.get("grade"):
            outputs = [o for o in cell.get("outputs", ()) if o.output_type == "execute_result"]
            tests = float(outputs[0].data["text/plain"]) if outputs else 0.0
            nbgrader["score"] = by_hand.get(nbgrader["grade_id"], tests)
        if nbgrader.get("grade_id") == WRITTEN:
            nbgrader["comment"] = "Right, *but* $p < q$\n\n- see section 2"
    return notebook


def page_of(notebook: NotebookNode, late_penalty: float = 0.0) -> str:
    told = {"notebook": CHAPTER, "score": 9.5, "max_score": TOTAL, "late_penalty": late_penalty}
    told["student"] = "ada <b>-101"
    return FeedbackPage().from_notebook_node(notebook, {"nbgrader": told})[0]


@pytest.fixture(scope="module")
def page() -> BeautifulSoup:
    """The page of somebody with three bugs, points by hand, a comment and a late penalty."""
    written = {WRITTEN: "The missing mass, $\\frac{1}{2}$, and $\\nothing{known}$."}
    made = marked(right(**WRONG, **written), **{WRITTEN: 1.5}, test_quiz_02=0.0)
    return BeautifulSoup(page_of(made, late_penalty=0.5), "html.parser")


def test_the_page_starts_with_the_score_and_every_exercise(page: BeautifulSoup):
    head = page.header.get_text(" ", strip=True)
    assert f"{CHAPTER}: 9.5 of {TOTAL:g} points" in head and "0.5 points were taken off" in head
    assert f"{WRITTEN} : 1.5 of " in head
    assert "ada <b>-101" in head and page.header.find("b") is None
    rows = {row.a.get_text(): row.get_text() for row in page.find(class_="summary").find_all("li")}
    assert set(material_of(CHAPTER).parameters) < set(rows)
    name = "acceptance_probability"
    first = page.find(id=f"test_{name}").find(class_="wrong").strong.get_text()
    assert rows[name].endswith(f"; {first}") and first.startswith("not yet: ")
    full = f"{POINTS['speculative_accept']:g}"
    assert rows["speculative_accept"] == f"speculative_accept: {full} of {full} points"


def test_what_is_right_and_the_chapters_text_are_folded_away(page: BeautifulSoup):
    """A student met the whole chapter again, 5,000 words, around what was for them."""
    sections = {name: page.find(id=f"test_{name}") for name in material_of(CHAPTER).parameters}
    opened = {name for name, section in sections.items() if not section.find_parent("details")}
    assert opened == set(WRONG)
    for name in WRONG:  # the mark stands right below the answer
        assert f"Your answer: {name}" in sections[name].find_previous_sibling().get_text()
    answers = [each for each in page.select("section.answer") if not each.find_parent("details")]
    shown = [each.find(class_="label").span.get_text() for each in answers]
    assert shown == [f"Your answer: {name}" for name in (*WRONG, "quiz_02", WRITTEN)]
    assert all(h2.find_parent("details") for h2 in page.find_all("h2"))
    folds = [each.get_text() for each in page.find_all("summary")]
    assert any(each.startswith("Right: ") and "speculative_accept" in each for each in folds)


def test_what_is_wrong_is_shown_wherever_it_was_typed_or_moved():
    notebook = right(**WRONG)
    typed, moved = (cell_of(notebook, n) for n in ("residual_distribution", "speculative_step"))
    notebook.cells = [each for each in notebook.cells if each not in (typed, moved)]
    own = new_code_cell(f"# typed anew\n{typed.source}")
    notebook.cells += [own, new_code_cell("# my notes"), moved]
    rebuilt = rebuild(parse(text(notebook).encode()), release_of(CHAPTER))
    page = BeautifulSoup(page_of(marked(rebuilt)), "html.parser")
    where = {line: page.find(string=re.compile(line)) for line in ("# typed anew", "# my notes")}
    assert where["# typed anew"].find_parent("details") is None
    assert where["# my notes"].find_parent("details")
    mark = page.find(id="test_speculative_step")
    assert "Your answer: speculative_step" in mark.find_previous_sibling().get_text()


@pytest.mark.parametrize("waits, shown", [(True, "to be marked"), (False, "0 of ")])
def test_a_written_answer_is_to_be_marked_until_it_has_a_mark(waits: bool, shown: str):
    notebook = marked(right(**{WRITTEN: "The missing mass."}), **{WRITTEN: 0.0})
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "why_residual":
            cell.metadata.nbgrader["to_be_marked"] = waits
    page = BeautifulSoup(page_of(notebook), "html.parser")
    assert f"{WRITTEN} : {shown}" in page.header.get_text(" ", strip=True)
    total = page.find(class_="total").get_text()
    assert total.endswith(" still to be marked") == waits
    assert total.endswith(f"9.5 of {TOTAL:g} points") != waits
    assert shown in page.find(id=WRITTEN).find(class_="label").get_text()


def test_every_link_of_the_page_leads_to_a_place_in_it(page: BeautifulSoup):
    places = [tag["id"] for tag in page.find_all(id=True)]
    links = [tag["href"] for tag in page.find_all("a", href=True)]
    inner = {link[1:] for link in links if link.startswith("#")}
    assert inner <= set(places) and len(places) == len(set(places))
    assert all(link.startswith(("#", "https://")) for link in links)


def test_a_failed_exercise_names_group_call_and_cause(page: BeautifulSoup):
    grade = page.find(id="test_acceptance_probability")
    text = grade.get_text(" ", strip=True)
    assert "not yet: " in text and "You may have assumed that" in text
    assert "acceptance_probability(p=" in text and "returned" in text and "expected" in text
    assert grade.find(class_="again") is None
    second = page.find(id="test_speculative_step").find(class_="again")
    assert second.get_text().startswith("Read first: ")
    right_by_itself = page.find(id="test_speculative_accept")
    assert "Read first: acceptance_probability" in right_by_itself.get_text()  # it builds on it
    assert right_by_itself.find(class_="right") and not right_by_itself.find(class_="wrong")


@pytest.mark.slow
def test_a_page_that_takes_too_long_has_all_but_what_the_student_wrote(monkeypatch):
    slow, usual = marked(right()), marked(right())
    slow.cells.append(new_markdown_cell(f"mine a{' ' * 100_000}b", id="extra-0"))
    usual.cells.append(new_markdown_cell("mine", id="extra-0"))
    with monkeypatch.context() as patch:
        patch.setattr(bounds, "CPU_SECONDS", 4)  # the rest of the page takes one to three
        page = page_of(slow)
    assert "mine" not in page and "What you wrote is left out here" in page
    assert f"9.5 of {TOTAL:g} points" in page and "test_speculative_step" in page
    assert "mine" in page_of(usual)


def test_formulas_are_there_without_a_script_and_what_is_no_formula_is_text(page: BeautifulSoup):
    prose = "".join(cell.source for cell in right().cells if cell.cell_type == "markdown")
    drawn = page.find_all("math", display="block")
    assert page.find("script") is None and len(drawn) == prose.count("$$") // 2 > 0
    answer = page.find(id=WRITTEN)
    assert answer.find("mfrac") and answer.find("code").get_text() == r"\nothing{known}"
    comment = answer.find(class_="comment")
    assert comment.find("em") and comment.find("math")
    assert comment.get_text(" ", strip=True).startswith("Comment: Right, but")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_fits_its_window_and_is_open_to_everybody(browser, page: BeautifulSoup, width: int):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.set_content(str(page))
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert faults(tab) == [] and pictures_without_words(tab) == []
    tab.close()


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
