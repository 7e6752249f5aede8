"""What a chapter's page has, and what Python says there of an answer; without a browser."""

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pages.npm_packages import PYODIDE, npm, package

from autograde.chapter import ROOT, chapter_names
from autograde.submission import is_answer, release_of
from autograde.tools.browser import NEEDS_TORCH, page_data, payload
from autograde.tools.editor import BUNDLED, bundled
from autograde.tools.samples import solutions_of
from specdec_lib.lessons.common import in_browser

CHAPTER = "02_rejection_sampling"
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
for number, name, cells in json.load(sys.stdin):
    result = in_browser.check(number, name, cells)
    assert result["passed"] and result["started"], (name, result["text"])
"""
RIGHT = """def speculative_accept(draft_tokens, p, q, r):
    accepted = []
    for i, token in enumerate(draft_tokens):
        if r[i] * q[i][token] >= p[i][token]:
            break
        accepted.append(token)
    return accepted
"""
STUB = next(cell.source for cell in release_of(CHAPTER).cells if cell.id == "speculative_accept")
TAUGHT = RIGHT.replace("accepted = []", "print('I am here')\n    accepted = []")


def cells_of(chapter: str) -> list[dict]:
    """The cells that the page of a chapter knows."""
    return json.loads(page_data(chapter))["cells"]


def run_cells(chapter: str, name: str, **answers: str) -> list[tuple[str, str]]:
    """What the page would run to check an exercise: stubs, but for the `answers` by name."""
    run = [each for each in cells_of(chapter) if each["kind"] in ("given", "function")]
    names = [each.get("name", "") for each in run]
    sources = [each.get("source") or answers.get(each["name"], each["stub"]) for each in run]
    end = names.index(name) + 1
    return list(zip(names, sources, strict=True))[:end]


def test_every_exercise_that_needs_no_torch_is_checked_with_numpy_alone(tmp_path: Path):
    """One process for all of them, as on a page, with the files of the library that it has."""
    library = zipfile.ZipFile(io.BytesIO(payload()))
    library.extractall(tmp_path)
    answers = [
        (chapter[:2], cell["name"], run_cells(chapter, cell["name"], **solutions_of(chapter)))
        for chapter in chapter_names()
        for cell in cells_of(chapter)
        if cell["kind"] == "function"
    ]
    assert len({number for number, *_ in answers}) == 8
    command = [sys.executable, "-c", NEAR, ",".join(FAR)]
    given = json.dumps(answers)
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("chapter", chapter_names())
def test_a_page_has_every_answer_of_its_chapter_and_its_points(chapter: str):
    graded = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in release_of(chapter).cells
        if "nbgrader" in cell.metadata
    }
    wanted = [name for name, cell in graded.items() if is_answer(cell)]
    listed = [cell for cell in cells_of(chapter) if cell["kind"] != "given"]
    assert [cell["name"] for cell in listed] == wanted
    points = sum(cell.metadata.nbgrader.get("points", 0) for cell in graded.values())
    assert sum(cell["points"] for cell in listed) == points
    torch = {cell["name"] for cell in listed if cell["kind"] == "torch"}
    assert torch == set(NEEDS_TORCH) & set(wanted)


def test_what_the_browser_gets_is_python_only_and_always_the_same():
    names = zipfile.ZipFile(io.BytesIO(payload())).namelist()
    assert "specdec_lib/lessons/ch02/checks.py" in names
    assert {Path(name).suffix for name in names} == {".py", ".json"}
    assert payload() == payload()


@pytest.mark.parametrize(
    "answer, passed, text",
    [
        (STUB, False, "speculative_accept: not written yet. This cell waits for it."),
        (RIGHT.replace("break", "continue"), False, "Did you go on after the first rejection?"),
        (RIGHT, True, "speculative_accept: all 5 examples agree."),
        (TAUGHT, True, "I am here"),
        (TAUGHT.replace("break", "continue"), False, "I am here"),
        ("other = 1", False, "speculative_accept is not defined: keep the function's name"),
        (
            RIGHT.replace("break", "brake()"),
            False,
            "raised NameError: name 'brake' is not defined, at `brake()`;",
        ),
        (RIGHT.replace("= []", "= ["), False, 'File "<speculative_accept>", line 2'),
        (RIGHT + "raise SystemExit\n", False, "line 8, in <module>\n    raise SystemExit"),
        (RIGHT + "1 / 0\n", False, 'File "<speculative_accept>", line 8, in <module>\n    1 / 0'),
    ],
)
def test_an_answer_is_told_as_in_the_notebook(answer: str, passed: bool, text: str):
    cells = run_cells(CHAPTER, "speculative_accept", speculative_accept=answer)
    told = in_browser.check("02", "speculative_accept", cells)
    assert told["passed"] is passed and text in told["text"]
    assert "in_browser.py" not in told["text"]  # no frame of ours
    assert told["started"] is (answer not in (STUB, "other = 1") and "line " not in text)


def test_an_earlier_answer_that_cannot_run_is_named():
    broken = {"acceptance_probability": "def acceptance_probability(p, q, token)\n    return 1"}
    cells = run_cells(CHAPTER, "speculative_accept", speculative_accept=RIGHT, **broken)
    told = in_browser.check("02", "speculative_accept", cells)["text"]
    assert told.startswith("Your acceptance_probability, above, cannot run: SyntaxError:")


def test_what_is_printed_without_end_is_cut():
    talks = TAUGHT.replace("'I am here'", "'x' * 100_000")
    cells = run_cells(CHAPTER, "speculative_accept", speculative_accept=talks)
    assert len(in_browser.check("02", "speculative_accept", cells)["text"]) < 21_000


def test_the_guide_names_what_the_page_loads_and_how_long_it_waits():
    guide = (ROOT / "docs" / "try.md").read_text()
    sources = {file.name: file.read_text() for file in BUNDLED.parent.glob("python*.mjs")}
    assert f"/pyodide/v{PYODIDE}/full/" in sources["python-worker.mjs"]
    (seconds,) = re.findall(r"const SECONDS = (\d+);", sources["python.mjs"])
    assert f"Pyodide {PYODIDE}" in guide and f"Code that runs for {seconds} s is stopped" in guide
    lock = json.loads((package("pyodide", PYODIDE) / "pyodide-lock.json").read_text())
    assert f"NumPy {lock['packages']['numpy']['version']}" in guide


@pytest.mark.slow
def test_the_editor_is_what_its_recipe_makes():
    npm()
    assert bundled() == BUNDLED.read_bytes()
