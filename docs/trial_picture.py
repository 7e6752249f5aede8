"""Draw the README's trial: `python docs/trial_picture.py` writes docs/_static/trial.png.

It is the figure of chapter 03 in which the judge of its exercise tries the acceptance code of the
transformers that is installed, with the judge of the chapter's own solution. The README's
alternative text is written anew with it.
"""

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from specdec_lib import exact
from specdec_lib.lessons.ch03 import figures
from specdec_lib.lessons.ch03.lesson import P, Q
from specdec_lib.lessons.drawing.style import use_course_style

ROOT = Path(__file__).parents[1]
PATH, README = ROOT / "docs" / "_static" / "trial.png", ROOT / "README.md"
CHAPTER = ROOT / "solutions" / "03_lossless.py"


def main() -> None:
    """Write the picture, and its words in the README."""
    matplotlib.use("agg")
    use_course_style()
    figure, words = drawn()
    figure.savefig(PATH, dpi=120)
    Image.open(PATH).convert("RGB").quantize(32).save(PATH, optimize=True)
    page = README.read_text(encoding="utf-8")
    README.write_text(retold(page, words), encoding="utf-8")
    print(f"The picture is made: {PATH}. Its alternative text: {words}")


def drawn() -> tuple[Figure, str]:
    """The figure, and the words that the chapter gives it."""
    with (
        mock.patch.object(figures, "show") as show,
        open(os.devnull, "w") as nothing,
        contextlib.redirect_stdout(nothing),
    ):
        names = "is_lossless", "argmax_draft_law"
        figures.library_on_trial(*map(solution, names), P, Q)
    return show.call_args.args


def solution(name: str) -> Callable[..., Any]:
    """A function of the chapter's solution."""
    text = CHAPTER.read_text(encoding="utf-8")
    code = re.search(rf"^def {name}\(.*?(?=^# %%)", text, re.M | re.S)[0]
    names = {"np": np, "exact": exact}
    exec(code, names)
    return names[name]


def retold(page: str, words: str) -> str:
    """`page` with the alternative text of the picture."""
    return re.sub(r'(trial\.png" width="\d+" alt=")[^"]*', lambda found: found[1] + words, page)


if __name__ == "__main__":
    main()
