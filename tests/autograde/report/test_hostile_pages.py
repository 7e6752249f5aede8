"""Nothing that a student writes runs in the browser of whoever marks, or of whoever reads feedback.

A class of hostile submissions goes through nbgrader's own commands; every page of formgrader and
every feedback page is then opened in Chromium.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from classes import hostile
from classes.submitting import CHAPTER, hand_in, right, run_nbgrader, text
from nbgrader.api import Gradebook
from pages.browsing import script
from pages.jupyter_lab import InstructorServer

from autograde.build.release import release_into

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LISTS = (
    *("manage_assignments", f"manage_submissions/{CHAPTER}", "manage_students", "gradebook"),
    *(f"gradebook/{CHAPTER}", f"gradebook/{CHAPTER}/{CHAPTER}", "manage_students/mallory"),
)
DEAD_LINKS = """[...document.querySelectorAll('#notebook a[href^="#"]')]
  .map((link) => link.hash.slice(1)).filter((id) => !document.getElementById(id))"""
PATIENCE = 60  # seconds for anything that loads
POKE = script("poke_everything")
# Where a text is shown: in the others nothing of it is left.
SHOWN = {place for place in hostile.PLACES if not place.startswith(("name of", "file that"))}


class Watched:
    """A page that notes which scripts of a student run in it, and which addresses it asks for."""

    def __init__(self, browser, **look) -> None:
        self.page = browser.new_page(**look)
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.add_init_script("window.hits = []")
        self.asked: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.route(re.compile(r"^https?://(?!127\.0\.0\.1:(?!9/))"), self._keep_here)
        self.loaded: set[int] = set()

    def _keep_here(self, route) -> None:
        """End a request that would leave, and note whose it is. The page's policy comes before."""
        if found := re.search(r"/hit/(\d+)", route.request.url):
            self.loaded.add(int(found[1]))
        route.abort()

    def visit(self, url: str) -> set[int]:
        """Open a page, wait until it is whole, point and click; the numbers of what ran."""
        self.asked.clear()
        self.loaded.clear()
        answer = self.page.goto(url, wait_until="load")
        assert answer is None or answer.ok, (url, answer.status)
        self.page.wait_for_function("() => !document.body.innerText.includes('Loading, please')")
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate(POKE)
        return self.loaded | set(self.page.evaluate("hits"))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class, graded and with its feedback."""
    course = tmp_path_factory.mktemp("course")
    release_into(course, [CHAPTER])
    folder = hand_in(course / "submitted", "mallory", text(hostile.hostile_notebook())).parent
    for name in hostile.file_names("name of a file"):
        (folder / name).write_text(name)
        (folder / f"{name}.html").write_text(name)
    hand_in(course / "submitted", "oscar", hostile.unreadable_file())
    for name in hostile.file_names("name of the student"):
        hand_in(course / "submitted", name, text(right()))
    for command in ("autograde", "generate_feedback"):
        said = run_nbgrader(course, command, CHAPTER)
        assert ("is left out: rename this folder" in said) == (command == "autograde")
    return course


@pytest.fixture(scope="module")
def formgrader(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of formgrader, in a server of its own."""
    with InstructorServer(tmp_path_factory.mktemp("server"), course).running() as server:
        yield f"{server.url}/formgrader"


@pytest.fixture
def watched(browser) -> Iterator[Watched]:
    page = Watched(browser)
    yield page
    page.page.close()


def told(numbers: set[int]) -> list[str]:
    return [hostile.name_of(number) for number in sorted(numbers)]


def shown(watched: Watched) -> set[str]:
    """The places whose payloads can be read in the page, what is folded away opened."""
    watched.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    numbers = re.findall(r"hits\.push\((\d+)\)", watched.page.inner_text("body"))
    return {hostile.name_of(int(number)).split(":")[0] for number in numbers}


def submissions(course: Path) -> dict[str, str]:
    """The id of everybody's notebook in the gradebook, by student."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.assignment_submissions(CHAPTER)
        return {each.student.id: each.notebooks[0].id for each in found}


def test_students_whose_name_is_markup_stop_nobody(course: Path):
    graded = {"mallory", "oscar"}
    assert set(submissions(course)) == graded
    assert {path.parent.parent.name for path in course.glob("feedback/*/*/*")} == graded


@pytest.mark.parametrize("place", LISTS)
def test_lists_of_formgrader(formgrader: str, watched: Watched, place: str):
    assert told(watched.visit(f"{formgrader}/{place}")) == []


def test_submissions_in_formgrader(formgrader: str, watched: Watched, course: Path):
    places = {}
    for student, one in submissions(course).items():
        assert told(watched.visit(f"{formgrader}/submissions/{one}/")) == [], student
        places[student] = shown(watched)
        assert watched.page.evaluate(DEAD_LINKS) == []
    assert places["mallory"] == SHOWN and places["oscar"] <= {"file that cannot be read"}


def test_feedback_pages(watched: Watched, course: Path):
    places = {}
    for page in course.glob(f"feedback/*/{CHAPTER}/*.html"):
        assert page.name == f"{CHAPTER}.html"
        assert told(watched.visit(page.as_uri())) == [], page
        assert watched.asked == [page.as_uri()]  # nothing at all was fetched
        places[page.parent.parent.name] = shown(watched)
    assert places["mallory"] == SHOWN


def test_the_policy_of_a_feedback_page_stops_what_would_get_past(watched: Watched, course: Path):
    """With every payload put into the page as it is, none of them runs."""
    page = course / "feedback" / "mallory" / CHAPTER / f"{CHAPTER}.html"
    live = page.read_text().replace("<main>", "<main>" + hostile.all_payloads("own text"))
    tampered = course / "tampered.html"
    tampered.write_text(live)
    assert told(watched.visit(tampered.as_uri())) == []
    tampered.write_text(re.sub("<meta[^>]*Content-Security[^>]*>", "", live))
    assert len(watched.visit(tampered.as_uri())) > 5
