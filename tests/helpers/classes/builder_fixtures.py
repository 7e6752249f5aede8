"""A tiny chapter in the percent format, and the same with one thing changed."""

from pathlib import Path

TINY = Path(__file__).with_name("tiny_chapter.txt").read_text(encoding="utf-8")


def write_chapter(folder: Path, text: str = TINY, name: str = "01_tiny") -> Path:
    """FOLDER/solutions/NAME.py; returns the solutions folder."""
    solutions = folder / "solutions"
    solutions.mkdir(parents=True, exist_ok=True)
    (solutions / f"{name}.py").write_text(text, encoding="utf-8")
    return solutions


def tiny_with(old: str, new: str) -> str:
    """TINY with its only `old` replaced, so that a case cannot silently change nothing."""
    assert TINY.count(old) == 1, old
    return TINY.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The number of the first line that holds `part`."""
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)
