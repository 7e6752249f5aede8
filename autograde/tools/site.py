"""`make site`: chapters, guides and slides as web pages in build/site/, without any download."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from autograde.build.bundle import without_links_to_code
from autograde.build.execute import execute
from autograde.build.release import build_chapters
from autograde.course import BUILD, ROOT, Chapter, chapters, exit_code
from autograde.intake.files import files_below, write_if_changed
from autograde.tools.lecture import slides_page
from autograde.tools.pages import chapter_page

DOCS = ROOT / "docs"
SITE_SOURCE = BUILD / "site-source"
SITE = BUILD / "site"
# Pages at the repository's root; they link to the licences.
ROOT_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "LICENSE-text.md")


def make_site() -> int:
    """Gather the pages in build/site-source, then run Sphinx on them. Returns its exit code."""
    build_chapters()
    executed = execute([chapter.source for chapter in chapters()])
    gather_sources({path.stem: path for path in executed})
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    process = subprocess.run([*command, str(SITE_SOURCE), str(SITE)])
    if process.returncode == 0:
        print(f"The site is made: {SITE / 'index.html'}")
    return process.returncode


def gather_sources(executed: dict[str, Path]) -> None:
    """Write Sphinx's input below SITE_SOURCE, and remove obsolete files there.

    `executed` has the path of every chapter's executed solution. Unchanged files keep their time,
    so that Sphinx rebuilds only changed pages.
    """
    files = {path.relative_to(DOCS).as_posix(): path.read_bytes() for path in files_below(DOCS)}
    for name in filter(lambda name: name.endswith(".md"), files):
        files[name] = files[name].replace(b"](../CONTRIBUTING.md", b"](CONTRIBUTING.md")
        files[name] = without_links_to_code(files[name])
    for name in ROOT_PAGES:  # beside the guides there
        files[name] = (ROOT / name).read_bytes().replace(b"](docs/", b"](")
    slides = files.pop("slides.html").decode()
    files["_extra/slides.html"] = slides_page(slides, executed).encode()  # as it is, for Sphinx
    for chapter, notebook in executed.items():
        page = nbformat.writes(chapter_page(chapter, notebook))
        files[f"chapters/{chapter}.ipynb"] = page.encode()
        files[f"_static/notebooks/{chapter}.ipynb"] = Chapter(chapter).release.read_bytes()
    for name, data in files.items():
        write_if_changed(SITE_SOURCE / name, data)
    current = {SITE_SOURCE / name for name in files}
    obsolete = [path for path in files_below(SITE_SOURCE) if path not in current]
    for path in obsolete:
        path.unlink()
    if obsolete:  # Sphinx would leave their pages
        shutil.rmtree(SITE, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(exit_code(make_site))
