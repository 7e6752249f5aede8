"""axe-core on a page: what it finds that is serious, and pictures without alternative text."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograde.course import BUILD
from autograde.intake.files import write_if_changed

VERSION = "4.14.1"
AXE = BUILD / f"axe-core-{VERSION}.js"
BAD = ("serious", "critical")
# On the site, the theme's search button is named "Search" and shows its keys too; the fold around
# what a prediction reveals is myst-nb's, whose name for it is not what it shows.
NOT_OURS = (".search-button-field", ".tag_hide-output > details > summary")
# A frame is looked at by itself: a simulator's may not talk to the page around it.
_RUN = """async (excluded) => {
  const found = await axe.run({ exclude: excluded.map((each) => [each]) },
    { resultTypes: ["violations"], iframes: false, rules: { "target-size": { enabled: true } } });
  return found.violations.flatMap(({ id, impact, nodes }) => nodes.map(
    ({ target, failureSummary }) => ({ id, impact, at: target.flat().join(" "), failureSummary })));
}"""
# What is drawn counts as a picture too, unless it is told to be decoration.
_NAMELESS = """() => [...document.querySelectorAll("img, svg, canvas, [role=img]")]
  .filter((each) => !each.closest("[aria-hidden=true], [role=presentation], [role=img] *"))
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute("alt") ?? each.getAttribute("aria-label")
    ?? each.getAttribute("title") ?? "").trim())
  .map((each) => each.outerHTML.slice(0, 200))"""


def faults(page: Any, excluded: Sequence[str] = ()) -> list[str]:
    """The serious and critical faults of the page and of its frames, a line each.

    `excluded` are selectors of what is not ours: each is named with its reason where it is used.
    """
    found = []
    for frame in page.frames:
        frame.evaluate(_axe())
        found += [each for each in frame.evaluate(_RUN, list(excluded)) if each["impact"] in BAD]
    return ["{impact} {id} at {at}: {failureSummary}".format(**each) for each in found]


def _axe() -> str:
    """axe-core, fetched once into build/; the test is skipped where npm cannot fetch it."""
    if AXE.is_file():
        return AXE.read_text()
    with tempfile.TemporaryDirectory() as aside:
        if shutil.which("npm"):
            subprocess.run(["npm", "pack", f"axe-core@{VERSION}"], cwd=aside)
        for archive in Path(aside).glob("*.tgz"):
            with tarfile.open(archive) as opened:
                write_if_changed(AXE, opened.extractfile("package/axe.min.js").read())
                return AXE.read_text()
    pytest.skip("npm cannot fetch axe-core")


def pictures_without_words(page: Any) -> list[str]:
    """The pictures of the page and of its frames that have no alternative text."""
    return [each for frame in page.frames for each in frame.evaluate(_NAMELESS)]
