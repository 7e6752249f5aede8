"""The executed solution view."""

import sys
from pathlib import Path

import nbformat
import pytest
from classes.builder_fixtures import TINY, changed, write_chapter

from autograde.build import execute as executing
from autograde.build.execute import execute
from autograde.build.source import read_chapter
from autograde.chapter import AuthorError
from autograde.nbgrader.regions import solution_view

SHOWS = """
# %%
import sys

print(sys.executable)


class Both:
    def _repr_mimebundle_(self, **_):
        return {"text/plain": "plain", "text/html": "<b>page</b>",
                "application/vnd.jupyter.widget-view+json": {"model_id": "1", "version_major": 2}}


Both()
"""


BUSY = """
# %%
from IPython.display import display

line = display({"text/plain": "turn 1 of 2"}, raw=True, display_id=True)
line.update({"text/plain": "", "text/html": ""}, raw=True)
print("done")
"""


def chapter(folder: Path, text: str = TINY, name: str = "01_tiny") -> Path:
    return write_chapter(folder, text, name) / f"{name}.py"


def test_a_line_of_progress_leaves_nothing_on_the_page(tmp_path: Path) -> None:
    (run,) = execute([chapter(tmp_path, TINY + BUSY)], tmp_path / "out")
    cells = nbformat.read(run.notebook, as_version=4).cells
    assert [output.get("text") for output in cells[-1].outputs] == ["done\n"]


def test_the_view_keeps_answers_and_hides_the_rest(tmp_path: Path) -> None:
    source = read_chapter(chapter(tmp_path))
    before = nbformat.writes(source)
    view = {cell.id: cell.source for cell in solution_view(source).cells}
    assert view["square"].endswith("    # why this is so\n    return product_of_both")
    assert view["quiz_01"] == 'quiz_01 = "c"'
    assert view["test_square"].endswith("\ncheck(square)")
    assert "BEGIN" not in "".join(view.values())
    assert nbformat.writes(source) == before


def test_a_chapter_is_executed_once_by_this_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "library_folders", list)  # nobody edits the library meanwhile
    path, out = chapter(tmp_path, TINY + SHOWS), tmp_path / "out"
    (first,) = execute([path], out)
    assert first.ran
    cells = nbformat.read(first.notebook, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert [output.text for output in outputs[:2]] == ["9\n", f"{sys.executable}\n"]
    (again,) = execute([path], out)
    assert not again.ran


def test_what_makes_a_result_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "theory.py").write_text("")
    monkeypatch.setattr(executing, "library_folders", lambda: [library])
    monkeypatch.setattr(executing, "_run", lambda *_: None)
    path, out = chapter(tmp_path), tmp_path / "out"
    assert [execute([path], out)[0].ran for _ in range(2)] == [True, False]
    (library / "theory.py").write_text("changed")
    assert [execute([path], out)[0].ran for _ in range(2)] == [True, False]
    chapter(tmp_path, changed("Some text.", "Some more text."))
    assert [execute([path], out)[0].ran for _ in range(2)] == [True, False]


def test_a_failure_names_chapter_and_exception_and_the_others_run(tmp_path: Path) -> None:
    bad = chapter(tmp_path, changed("return product_of_both", "return x + 1"), "02_bad")
    slow = chapter(tmp_path, changed("print(square(3))", "while True: pass"), "03_slow")
    good = chapter(tmp_path)
    out = tmp_path / "out"
    with pytest.raises(AuthorError) as caught:
        execute([bad, slow, good], out, timeout=4)
    first, second = str(caught.value).split("\n\n03_slow: ")
    assert first.startswith("02_bad: ") and "AssertionError: 3" in first and "\x1b" not in first
    assert "while True: pass" in second
    assert [path.name for path in out.iterdir()] == ["01_tiny.ipynb"]
