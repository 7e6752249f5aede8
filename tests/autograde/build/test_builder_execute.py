"""The executed solution view."""

import sys
from pathlib import Path

import nbformat
import pytest
from classes.builder_fixtures import TINY, tiny_with, write_chapter

from autograde.build.execute import execute
from autograde.course import AuthorError


def chapter(folder: Path, text: str = TINY, name: str = "01_tiny") -> Path:
    return write_chapter(folder, text, name) / f"{name}.py"


def test_a_chapter_is_executed_by_this_interpreter(tmp_path: Path) -> None:
    text = f"{TINY}\n# %%\nimport sys\n\nprint(sys.executable)\n"
    (path,) = execute([chapter(tmp_path, text)], tmp_path / "out")
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert [output.text for output in outputs] == ["9\n", f"{sys.executable}\n"]


def test_a_failure_names_the_chapter_and_the_exception(tmp_path: Path) -> None:
    bad = chapter(tmp_path, tiny_with("return product_of_both", "return x + 1"), "02_bad")
    out = tmp_path / "out"
    with pytest.raises(AuthorError, match="02_bad: (.|\n)*AssertionError"):
        execute([chapter(tmp_path), bad], out)
    assert [path.name for path in out.iterdir()] == ["01_tiny.ipynb"]
