"""axe-core on a page: what it finds that is serious, and pictures without alternative text."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pages.browsing import script

from autograde.course import BUILD
from autograde.intake.files import write_if_changed

VERSION = "4.14.1"
AXE = BUILD / f"axe-core-{VERSION}.js"
BAD = ("serious", "critical")
# On the site, the theme's search button is named "Search" and shows its keys too; the fold around
# what a prediction reveals is myst-nb's, whose name for it is not what it shows.
NOT_OURS = (".search-button-field", ".tag_hide-output > details > summary")
_RUN = script("accessibility_faults")
_NAMELESS = script("pictures_without_words")


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
