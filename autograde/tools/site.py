"""`make site`: the chapters and the guides as web pages, in build/site/. Nothing is fetched."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from autograde.build.execute import execute
from autograde.build.release import build
from autograde.course import BUILD, ROOT, Chapter, chapters, exit_code
from autograde.intake.files import files_below, write_if_changed
from autograde.tools.pages import page
from specdec_lib.lessons.widgets import linked_simulator

DOCS = ROOT / "docs"
SOURCE = BUILD / "site-source"
SITE = BUILD / "site"
# Pages that stand at the repository's root; they link to the licences.
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "LICENSE-text.md")
# A link of a guide to a file of the repository, which is no page of the site.
_CODE = re.compile(rb"\[([^\]]+)\]\(\.\./[^)]+\)")


def main() -> int:
    """Gather the pages in build/site-source, then have Sphinx make build/site of them."""
    build()
    executed = execute([chapter.source for chapter in chapters()])
    gather({path.stem: path for path in executed})
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run([*command, str(SOURCE), str(SITE)])
    if done.returncode == 0:
        print(f"The site is made: {SITE / 'index.html'}")
    return done.returncode


def gather(executed: dict[str, Path]) -> None:
    """Write everything that Sphinx reads below SOURCE, and remove what no longer belongs there.

    Files that have not changed keep their time, so that Sphinx makes only what is new.
    """
    wanted = {path.relative_to(DOCS).as_posix(): path.read_bytes() for path in files_below(DOCS)}
    for name in filter(lambda name: name.endswith(".md"), wanted):
        wanted[name] = _CODE.sub(rb"`\1`", wanted[name])
    for name in ROOT_PAGES:  # beside the guides there
        wanted[name] = (ROOT / name).read_bytes().replace(b"](docs/", b"](")
    for chapter, notebook in executed.items():
        wanted[f"chapters/{chapter}.ipynb"] = nbformat.writes(page(chapter, notebook)).encode()
        wanted[f"_static/notebooks/{chapter}.ipynb"] = Chapter(chapter).release.read_bytes()
    wanted["simulator.html"] = linked_simulator().frame().encode()
    for name, data in wanted.items():
        write_if_changed(SOURCE / name, data)
    kept = {SOURCE / name for name in wanted}
    gone = [path for path in files_below(SOURCE) if path not in kept]
    for path in gone:
        path.unlink()
    if gone:  # Sphinx would leave their pages
        shutil.rmtree(SITE, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(exit_code(main))
