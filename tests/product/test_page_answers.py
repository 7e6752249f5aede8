"""A chapter's page that is worked on, in Chromium: guesses, letters, code, and the notebook."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages.accessibility import NOT_OURS, faults, pictures_without_words
from pages.answer_page import opened, write_page
from pages.browsing import Visitor
from pages.serving import served
from pages.site_pages import made_site

from autograde.chapter import chapter_names
from autograde.grade import grade
from autograde.submission import take_in
from autograde.tools.browser import page_data
from autograde.tools.samples import solutions_of
from specdec_lib.lessons.common import answers
from specdec_lib.lessons.common.answers import Truth

pytestmark = pytest.mark.browser

CHAPTER = "02_rejection_sampling"
# As they are typed: the editor indents by itself, Shift+Tab goes back a step. Without a NumPy, p
# and q are lists of lists.
KEYS = (
    *("accepted = []", "Enter", "for i, token in enumerate(draft_tokens):", "Enter"),
    *("if r[i] * q[i][token] >= p[i][token] / 1:", "Enter", "break", "Enter", "Shift+Tab"),
    *("accepted.append(token)", "Enter", "Shift+Tab", "return accepted"),
)
LOOP = """def speculative_accept(draft_tokens, p, q, r):
    print("round and round")
    while True:
        pass
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of chapter 02 on loopback."""
    folder = tmp_path_factory.mktemp("page")
    page = write_page(folder, CHAPTER)
    with served(folder) as url:
        yield url + page.relative_to(folder).as_posix()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with opened(browser, address) as one:
        yield one


def place(page: Any, name: str) -> Any:
    """The place of an answer."""
    return page.locator(f'[data-answer="{name}"]')


def write(page: Any, name: str, code: str) -> Any:
    """Put code into an exercise's editor; returns its place."""
    at = place(page, name)
    at.scroll_into_view_if_needed()
    at.locator(".cm-content").fill(code)
    return at


def test_a_guess_and_a_letter_are_answered_and_kept(page: Any):
    guess, reveal = place(page, "prediction_02"), page.locator('[data-reveal="prediction_02"]')
    assert "waits for your guess" in reveal.text_content()
    guess.get_by_label("from 0 to 1").fill("half")
    guess.get_by_role("button").click()
    assert "Write a number from 0 to 1." in guess.get_by_role("status").text_content()
    guess.get_by_label("from 0 to 1").fill("0.5")
    guess.get_by_role("button").press("Enter")
    assert "0.5 is written down." in guess.get_by_role("status").text_content()
    assert reveal.text_content().startswith("You said 0.5. It is 0. 0.5 is what the target wants")
    quiz = place(page, "quiz_02")
    quiz.get_by_label("d", exact=True).check()
    quiz.get_by_role("button", name="Answer").click()
    assert "d is not right. The draft is surer" in quiz.get_by_role("status").text_content()
    page.reload()
    page.get_by_role("button", name="Download").wait_for()
    assert guess.get_by_label("from 0 to 1").input_value() == "0.5"
    assert "You said 0.5" in reveal.text_content() and quiz.get_by_label("d").is_checked()


def test_the_editor_comes_when_its_place_is_near_and_keeps_what_is_written(page: Any):
    exercise = place(page, "acceptance_probability")
    names = "performance.getEntriesByType('resource').map((each) => each.name)"
    assert not any("codemirror" in name for name in page.evaluate(names))  # a light page
    write(page, "acceptance_probability", "def acceptance_probability(p, q, token):\n    return 1")
    page.reload()
    exercise.scroll_into_view_if_needed()
    assert "return 1" in exercise.locator(".cm-content").text_content()
    exercise.get_by_role("button", name="Back to the stub").click()
    assert "NotImplementedError" in exercise.locator(".cm-content").text_content()
    page.on("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.get_by_role("button", name="Clear this page").click()
    assert page.evaluate("localStorage.length") == 0


def test_a_browser_without_storage_says_so_and_the_page_works(browser: Any, address: str):
    shut = "Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })"
    context = browser.new_context()
    context.add_init_script(shut)
    page = context.new_page()
    page.goto(address)
    page.get_by_text("keeps nothing for this page").wait_for()
    place(page, "prediction_02").get_by_label("from 0 to 1").fill("1")
    page.keyboard.press("Enter")
    assert "You said 1." in page.locator('[data-reveal="prediction_02"]').text_content()
    context.close()


def test_the_page_is_open_to_everybody_and_is_no_wider_than_the_window(browser, address):
    """In the light; in the dark the site itself is looked at, below."""
    with opened(browser, address, viewport={"width": 400, "height": 900}) as page:
        exercise = place(page, "speculative_accept")
        exercise.scroll_into_view_if_needed()
        exercise.locator(".cm-content").wait_for()
        assert faults(page) == [] and pictures_without_words(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


# What is said of guesses: the truths, the typical wrong numbers, what is near them, and others.
ALL_TRUTHS = [
    cell for chapter in chapter_names() for cell in json.loads(page_data(chapter))["cells"]
]
JUDGE = """async ([url, close, cells]) => { const { judged } = await import(url);
  return cells.map(([told, guess]) => judged(guess, told, close)); }"""


def test_a_guess_is_judged_as_in_the_notebook(page: Any, capsys: pytest.CaptureFixture):
    told = [cell["told"] for cell in ALL_TRUTHS if cell["kind"] == "prediction" and cell["told"]]
    assert len(told) > 15
    asked, wanted = [], []
    for each in told:
        typical = {number["value"]: number["thought"] for number in each["typical"]}
        truth = Truth(each["is"]["value"], each["why"], typical)
        for number in (truth.value, *typical, 0.1234567890123, 1234567.5):
            for guess in (
                number,
                number * 1.004,
                number * 1.006,
                number * 1.2,
                float(f"{number:.2g}"),
            ):
                answers.reveal("prediction", guess, truth)
                asked.append([each, guess])
                wanted.append(" ".join(capsys.readouterr().out.split()))
    url = page.url.replace(f"chapters/{CHAPTER}.html", "_static/answers/judged.mjs")
    said = page.evaluate(JUDGE, [url, answers.CLOSE, asked])
    assert [" ".join(each.split()) for each in said] == wanted


def test_the_downloaded_notebook_gets_its_points_from_a_classs_grader(page: Any, tmp_path: Path):
    right = solutions_of(CHAPTER)
    for name in ("acceptance_probability", "speculative_accept", "speculative_step"):
        write(page, name, right[name])
    for name, guess in (("prediction_02", "0.5"), ("prediction_02_b", "1e-3")):
        place(page, name).get_by_role("textbox").fill(guess)
        page.keyboard.press("Enter")
    for name, letter in (("quiz_02", "b"), ("quiz_02_b", "a")):
        place(page, name).get_by_label(letter, exact=True).check()
        place(page, name).get_by_role("button", name="Answer").click()
    place(page, "why_residual").get_by_role("textbox").fill("Because $&, it lacks 0.25 \\ <b>.")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == f"{CHAPTER}.ipynb"
    taken = take_in(tmp_path, Path(file.name), CHAPTER)
    assert taken.reason is None
    result = grade(taken.notebook, CHAPTER)
    points = {name: each.score for name, each in result.exercises.items()}
    assert points == {
        **{"acceptance_probability": 3, "speculative_accept": 4, "residual_distribution": 0},
        **{"correct_token": 0, "speculative_step": 4, "quiz_02": 1, "quiz_02_b": 0},
        **{"prediction_02": 1, "prediction_02_b": 1},
    }
    assert result.pending == ["why_residual"]
    (written,) = [cell for cell in taken.notebook.cells if cell.id == "why_residual"]
    assert written.source.startswith("Because $&, it lacks 0.25 \\ <")


def test_python_that_cannot_be_loaded_is_said_and_can_be_asked_for_again(browser, address):
    with opened(browser, address, reachable=False) as page:
        at = place(page, "correct_token")
        for _ in range(2):
            at.get_by_role("button", name="Run and check").click()
            told = result_of(at, "Not checked.")
            assert "It comes from cdn.jsdelivr.net: is that reachable?" in told
        assert "some 15 MB" in at.inner_text()  # nothing was loaded yet


def tab_to(page: Any, name: str) -> None:
    """Press Tab until the focus is on what has this name, as somebody without a mouse does."""
    at = "(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate(at) == name:
            return
    raise AssertionError(f"Tab does not lead to {name}")


def result_of(at: Any, words: str) -> str:
    """The result of a run, once it has these words."""
    result = at.locator(".own-result").filter(has_text=words)
    result.wait_for(timeout=90_000)
    return result.inner_text()


@pytest.mark.slow
def test_an_exercise_is_solved_with_the_keyboard_alone(page: Any):
    at = place(page, "speculative_accept")
    tab_to(page, "Your code for speculative_accept")
    at.locator(".cm-content").wait_for()
    page.keyboard.press("Control+Enter")
    assert "speculative_accept: not written yet" in result_of(at, "Not yet.")
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Home")
    for key in KEYS:
        page.keyboard.press(key) if key in ("Enter", "Shift+Tab") else page.keyboard.type(key)
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run and check"
    page.keyboard.press("Enter")
    told = result_of(at, "Right.")
    assert "speculative_accept: all 5 examples agree. Grading looks at more" in told
    assert faults(page) == []
    tab_to(page, "Hint 2")  # the hints are open now


@pytest.mark.slow
def test_every_place_of_the_site_is_filled_and_its_keys_are_no_shortcuts(browser: Any):
    with served(made_site()) as url:
        for chapter in chapter_names():
            look = {"viewport": {"width": 400, "height": 900}, "color_scheme": "dark"}
            with Visitor(browser, **look).visit(f"{url}chapters/{chapter}.html") as visitor:
                fill_all(visitor.page)
                assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 400
                if chapter == CHAPTER:
                    editor = place(visitor.page, "speculative_accept").locator(".cm-content")
                    editor.press("/")
                    assert "/" in editor.text_content()  # and not in the search of the site
                    assert faults(visitor.page, NOT_OURS) == []


def fill_all(page: Any) -> None:
    """Scroll to every place, until there is something in it; to editors, until they are there."""
    page.get_by_role("button", name="Download").wait_for()
    places = page.locator(".own[data-answer]").all()
    assert len(places) >= 6
    assert page.locator("[data-instead] + *:visible").count() == 0  # the stub is not there twice
    for each in places:
        each.scroll_into_view_if_needed()
        if each.locator(".own-result").count():
            each.locator(".cm-content").wait_for()
        assert each.locator("input, textarea, .cm-content").count(), each.inner_html()


@pytest.mark.slow
def test_code_that_never_ends_is_stopped_and_the_next_run_has_a_new_python(page: Any):
    at = write(page, "speculative_accept", LOOP)
    at.get_by_role("button", name="Run and check").click()
    result_of(at, "Checking ...")
    place(page, "correct_token").get_by_role("button", name="Run and check").click()
    assert "running already" in result_of(place(page, "correct_token"), "A check")
    at.get_by_role("button", name="Stop").click()
    assert "You stopped it." in result_of(at, "Stopped.")
    page.clock.install()
    at.get_by_role("button", name="Run and check").click()
    result_of(at, "Checking ...")
    page.clock.run_for(21_000)
    assert "Is there a loop that never ends?" in result_of(at, "Stopped.")
    at = write(page, "acceptance_probability", "def acceptance_probability(p, q, token): ...")
    at.get_by_role("button", name="Run and check").click()
    assert "needs NumPy, which could not be loaded" in result_of(at, "Not yet.")
