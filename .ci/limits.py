"""The limits of size in CONTRIBUTING.md, "The budget": `make lint` runs this program.

It prints a line for each limit that is exceeded, and exits with 1 if there is one. It looks at the
files that git knows: `git add` a new file first.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `([\w*./]+)` \| ([\d,]+) (lines|words)\b", re.MULTILINE)
# What nobody reads from top to bottom: folds, code, formulas and tables.
NOT_PROSE = re.compile(
    r"<details>.*?</details>|```.*?```|\$\$.*?\$\$|^\|.*?$", re.DOTALL | re.MULTILINE
)
TAG = re.compile(r"</?[A-Za-z][^>]*>")  # and no "<" of a comparison, which hides what follows
WORD = re.compile(r"[A-Za-z][\w’'-]*")


def tracked_files(pattern: str) -> list[Path]:
    """The files of the repository that match a pattern of git."""
    command = ["git", "ls-files", "-z", "--", pattern]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).exists()]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def words_of_prose(notebook: Path) -> int:
    """The words that a student reads in a notebook from top to bottom."""
    cells = json.loads(text_of(notebook))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return len(WORD.findall(TAG.sub("", NOT_PROSE.sub("", "\n\n".join(texts)))))


def sizes_of(name: str) -> Iterator[tuple[str, int]]:
    """What a row of the table limits, with its size: one folder, all guides, or each chapter."""
    if name == "*.md":
        yield name, sum(len(text_of(path).split()) for path in tracked_files(name))
    elif name.endswith(".ipynb"):
        yield from ((path.stem, words_of_prose(path)) for path in tracked_files(name))
    else:
        yield name, sum(text_of(path).count("\n") for path in tracked_files(f"{name}/*.py"))


def excesses(guide: str) -> Iterator[str]:
    """A line for each limit of the guide's table that is exceeded."""
    for name, most, unit in ROW.findall(guide):
        limit = int(most.replace(",", ""))
        for what, size in sizes_of(name):
            if size > limit:
                over = size - limit
                yield f"{what} has {size:,} {unit}, {over:,} more than CONTRIBUTING.md allows"


def main() -> int:
    """The exit code: 1 if a limit is exceeded."""
    exceeded = list(excesses(text_of(ROOT / "CONTRIBUTING.md")))
    for line in exceeded:
        print(line)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
