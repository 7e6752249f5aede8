"""The page "Try it here": its exercises need NumPy only, and it works in a browser."""

import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pages.accessibility import faults, pictures_without_words
from pages.npm_packages import PYODIDE, package
from pages.serving import served

from autograde.chapter import ROOT, chapter_names
from autograde.tools.browser import NEEDS_TORCH, exercises, exercises_json, payload
from autograde.tools.samples import solutions_of
from specdec_lib.lessons.common import in_browser

PAGE, STATIC = ROOT / "docs" / "try.md", ROOT / "docs" / "_static"
CHAPTER = "02_rejection_sampling"
CDN = "https://cdn.jsdelivr.net/pyodide/"
# Packages that a browser does not have, or that would be megabytes there.
FAR = ("torch", "transformers", "matplotlib", "anywidget", "tqdm", "IPython", "safetensors")
NEAR = """
import json, sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ImportError(name)
# Nor has it the files of this folder, which the environment knows.
sys.meta_path[:] = [Nowhere(), *(each for each in sys.meta_path if "Editable" not in repr(each))]
from specdec_lib.lessons.common import in_browser
for number, name, sources in json.load(sys.stdin):
    result = in_browser.check(number, name, sources, sys.argv[2])
    assert result["passed"], (name, result["message"])
"""
RIGHT = """def speculative_accept(draft_tokens, p, q, r):
    accepted = []
    for i, token in enumerate(draft_tokens):
        if r[i] * q[i][token] >= p[i][token]:
            break
        accepted.append(token)
    return accepted
"""
WRONG = RIGHT.replace("break", "continue")
ENDLESS = "def speculative_accept(draft_tokens, p, q, r):\n    while True:\n        pass\n"


def solved(chapter: str) -> list[tuple[str, str, list[str]]]:
    """What the page would check where every answer of a chapter is right."""
    solutions, listed = solutions_of(chapter), exercises(chapter)
    found = []
    for i, each in enumerate(listed):
        answers = [solutions[other["name"]] for other in listed[: i + 1]]
        found.append((chapter[:2], each["name"], [*each["above"], *answers]))
    return found


def test_every_exercise_of_the_page_needs_numpy_only(tmp_path: Path):
    """One process for all of them, as on the page, with the files of the library that it has."""
    library = zipfile.ZipFile(io.BytesIO(payload()))
    names = [name for name in library.namelist() if name.startswith("specdec_lib/")]
    library.extractall(tmp_path / "page", names)
    command = [sys.executable, "-c", NEAR, ",".join(FAR), str(tmp_path)]
    answers = [each for chapter in chapter_names() for each in solved(chapter)]
    assert len({number for number, *_ in answers}) == 8
    given = json.dumps(answers)
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, cwd=tmp_path / "page"
    )
    assert done.returncode == 0, done.stderr


def test_the_page_has_every_exercise_but_those_with_torch():
    functions = {
        name
        for chapter in chapter_names()
        for name, source in solutions_of(chapter).items()
        if source.startswith("def ")
    }
    listed = json.loads(exercises_json(chapter_names()))
    names = [entry["name"] for entries in listed.values() for entry in entries]
    assert len(set(names)) == len(names) and functions - set(names) == set(NEEDS_TORCH)


def test_what_the_browser_gets_is_python_only_and_always_the_same():
    names = zipfile.ZipFile(io.BytesIO(payload())).namelist()
    assert "specdec_lib/lessons/ch02/checks.py" in names and "_pytest/python.py" in names
    assert {Path(name).suffix for name in names} == {".py", ".json"}
    assert payload() == payload()


@pytest.mark.parametrize(
    "answer, passed, message",
    [
        (None, False, "speculative_accept: not written yet"),
        (WRONG, False, "Did you go on after the first rejection?"),
        (RIGHT, True, "speculative_accept: all 5 examples agree."),
        ("other = 1", False, "speculative_accept is not defined: keep the function's name"),
    ],
)
def test_an_answer_is_told_as_in_the_notebook(tmp_path: Path, answer, passed, message):
    (entry,) = [e for e in exercises(CHAPTER) if e["name"] == "speculative_accept"]
    sources = [*entry["above"], answer or entry["stub"]]
    told = in_browser.check("02", "speculative_accept", sources, str(tmp_path))
    assert told["passed"] is passed and message in told["message"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page on loopback, as the site has it, without the site around it."""
    folder = tmp_path_factory.mktemp("try")
    shutil.copytree(STATIC, folder / "_static")
    (folder / "_static" / "exercises.json").write_bytes(exercises_json(chapter_names()))
    (folder / "_static" / "library.zip").write_bytes(payload())
    (html,) = re.findall(r"```{raw} html\n(.*?)```", PAGE.read_text(), re.DOTALL)
    head = '<!DOCTYPE html><html lang="en"><title>Try it here</title>'
    (folder / "index.html").write_text(f"{head}<body>{html}</body></html>")
    with served(folder) as url:
        yield url


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page; what it asks of the network comes from Pyodide's npm package, or is not there."""
    pyodide = package("pyodide", PYODIDE)
    context = browser.new_context()
    away: list[str] = []

    def from_package(route: Any) -> None:
        name = urlsplit(route.request.url).path.split("/full/")[-1]
        path = pyodide / name
        if not route.request.url.startswith(f"{CDN}v{PYODIDE}/full/"):
            away.append(route.request.url)
        route.fulfill(path=path) if path.is_file() else route.fulfill(status=404)

    context.route(lambda url: not url.startswith(address), from_package)
    opened = context.new_page()
    opened.goto(address)
    opened.locator("#try-check:enabled").wait_for()  # the exercises are there
    yield opened
    assert away == []
    context.close()


def checked(page: Any, answer: str, expected: str) -> str:
    """Write an answer, press Check, and wait for a result with these words."""
    page.get_by_label("Your code").fill(answer)
    page.get_by_role("button", name="Check").click()
    result = page.get_by_role("status")
    result.filter(has_text=expected).wait_for(timeout=90_000)
    return result.text_content()


@pytest.mark.slow
@pytest.mark.browser
def test_an_answer_is_checked_in_the_browser(page: Any):
    assert page.get_by_label("Your code").input_value().startswith("def speculative_accept")
    assert faults(page) == [] and pictures_without_words(page) == []
    wrong = checked(page, WRONG, "Not yet.")
    assert faults(page) == []  # with a message on it
    assert "returned [3, 2], expected [3]" in wrong and "after the first rejection?" in wrong
    assert "Right. speculative_accept: all 5 examples agree" in checked(page, RIGHT, "Right.")
    assert "a loop that never ends?" in checked(page, ENDLESS, "was stopped")
    assert "Right." in checked(page, RIGHT, "Right.")  # with a new Python
    page.reload()
    page.locator("#try-check:enabled").wait_for()
    assert page.get_by_label("Your code").input_value() == RIGHT  # kept
    page.get_by_role("button", name="Start again").click()
    assert "NotImplementedError" in page.get_by_label("Your code").input_value()


@pytest.mark.browser
def test_an_exercise_that_needs_numpy_says_so_where_there_is_none(page: Any):
    page.get_by_label("Exercise").select_option("00_bottleneck/free_tokens")
    told = checked(page, "def free_tokens(bytes_per_param, bandwidth, peak_flops): ...", "Not yet.")
    assert "free_tokens needs NumPy, which could not be loaded" in told
