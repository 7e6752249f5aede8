"""The author's guide and the instructor's private fork, followed in copies of the repository."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classes.submitting import CHAPTER

from autograde.chapter import Chapter, chapter_names

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "author.md").read_text(encoding="utf-8")
INSTRUCTOR = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`([\w/.]+)`\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDED = ("autograde", "notebooks", "solutions", "specdec_lib", "tests")
NEEDED_FILES = ("nbgrader_config.py", "pyproject.toml")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the repository."""
    for name in NEEDED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in NEEDED_FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(line: str, repository: Path) -> None:
    """A command of the guide: `autograde` and `pytest` are the copy's, under this interpreter."""
    words = shlex.split(line)
    if words[0] in ("autograde", "pytest"):
        words = [sys.executable, "-m", *words]
    environment = os.environ | {"PYTHONPATH": str(repository)}
    done = subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
def test_the_guide_goes_from_an_empty_file_to_a_mark(repository: Path):
    for name, text in FILE.findall(GUIDE):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    lines = [line for block in COMMANDS.findall(GUIDE) for line in block.splitlines()]
    assert len(FILE.findall(GUIDE)) == 5 and len(lines) == 5
    for line in lines:
        run(line, repository)
    grades = json.loads((repository / "build" / "try.json").read_text())["students"]
    result = grades["ada"]["09_example"]
    assert (result["score"], result["max_score"]) == (0.0, 2.0)
    (message,) = result["exercises"]["tokens_a_block"]["messages"]
    assert message == "tokens_a_block: not written yet"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


NEW_RIDGE = "RIDGE = (96, 2, (64, 384))\nRIDGE_TOKENS = [2, 5, 6, 7, 9]"
# By chapter: numbers of its file, and what a class's own fork may have in their place.
CHANGES = {
    "00_bottleneck": [
        ("LAPTOP = (5e10, 4e11)", "LAPTOP = (8e10, 9e11)"),
        ("LLAMA_7B = (7e9, 2, 524_288)", "LLAMA_7B = (6e9, 2, 600_000)"),
        ("[(2, 4), (5, 2), (7, 4),", "[(3, 4), (6, 2), (9, 4),"),
        ("RIDGE = (64, 2, (128, 512))\nRIDGE_TOKENS = [1, 3, 4, 5, 6, 8]", NEW_RIDGE),
        ("(1, (4, 128))", "(1, (4, 256))"),
        ("(7, 2, 3, 4, 1)", "(9, 3, 5, 2, 1)"),
    ],
    "01_draft_then_verify": [
        ("([0, 5], [0.2, 0.95, 0.5])", "([4, 5, 0], [0.15, 0.9, 0.6])"),
        ("SCORE_SEED = 7", "SCORE_SEED = 8"),
        ("([4, 0, 4, 0], [4, 1, 4, 1, 4])", "([4, 0, 4, 0, 3], [4, 0, 1, 0, 3, 2])"),
        ("(23, (4, 7, 8, 13), [5, 3], 4, 12)", "(43, (5, 8, 9, 12), [5, 0, 3], 3, 11)"),
        ("EOS_COUNT = [1, 3], 4, 12", "EOS_COUNT = [2, 3], 4, 11"),
        ("LIMITED = (41, [2, 5], 4)", "LIMITED = (44, [3], 5)"),
    ],
    "02_rejection_sampling": [
        ("P = np.array([0.45, 0.30, 0.15, 0.10])", "P = np.array([0.40, 0.20, 0.16, 0.24])"),
        ("Q = np.array([0.30, 0.45, 0.20, 0.05])", "Q = np.array([0.25, 0.40, 0.20, 0.15])"),
        ("pairs(2, 5, 9, seed=11)", "pairs(3, 4, 8, seed=12)"),
        ("([0.5, 0.1, 0.6], [0.4, 0.5, 0.3], [0.7,", "([0.6, 0.2, 0.5], [0.3, 0.4, 0.2], [0.8,"),
        ("REPLACING = [0.0, 0.3, 0.45, 0.99]", "REPLACING = [0.0, 0.2, 0.55, 0.97]"),
        ("TARGET = np.array([[0.5, 0.3, 0.2]", "TARGET = np.array([[0.6, 0.1, 0.3]"),
    ],
    "03_lossless": [
        ("P = np.array([0.45, 0.30, 0.15, 0.10])", "P = np.array([0.40, 0.25, 0.20, 0.15])"),
        ("Q = np.array([0.30, 0.45, 0.20, 0.05])", "Q = np.array([0.25, 0.40, 0.30, 0.05])"),
        ("pairs(2, 5, 40, seed=31)", "pairs(3, 6, 20, seed=41)"),
        ("([0.6, 0.4], [0.8, 0.2])", "([0.7, 0.3], [0.9, 0.1])"),
        ("[1.5, -0.5, 2.0, 0.25, 1.0, -2.0]", "[0.5, 2.25, -1.0, 1.75, 1.25, -1.5]"),
        (
            "[-3.0, -0.92, -2.3, -1.39, -1.61]",
            "[-2.3, -1.05, -3.0, -1.2, -1.61]",
        ),
        (
            "GRID = (np.array([0.375, 0.25, 0.125, 0.25])",
            "GRID = (np.array([0.375, 0.125, 0.25, 0.25])",
        ),
        ("np.array([0.1875, 0.5, 0.0625, 0.25]))", "np.array([0.1875, 0.0625, 0.5, 0.25]))"),
        ("SEEDS = [0, 1]", "SEEDS = [2, 3]"),
    ],
    "04_choosing_the_draft": [
        ("(0.7, 5), (0.9, 2), (0.3, 8)", "(0.6, 4), (0.85, 2), (0.4, 7)"),
        ("(0.8, 0.05, 5, 2.0), (0.7, 0.0, 3, 1.25)", "(0.75, 0.04, 6, 1.5), (0.6, 0.0, 2, 1.2)"),
        ("(0.7, 0.01), (0.7, 0.02)", "(0.8, 0.01), (0.8, 0.03)"),
        ("(0.5, 0.25, 0.75, 0.375)", "(0.5, 0.3, 0.6, 0.7)"),
        ("([1, 2, 7, 1, 2, 8, 1, 2, 9, 1, 2]", "([2, 3, 9, 2, 3, 1, 2, 3, 7, 2, 3]"),
        ("[0, 1, 2, 0, 1, 1, 3, 0, 1, 2, 2, 0]", "[1, 0, 2, 1, 0, 0, 3, 1, 0, 2, 2, 1]"),
        ("seed=11), logits(*s, seed=12)", "seed=21), logits(*s, seed=22)"),
    ],
    "05_results": [
        ("([0, 1, 0, 2, 0], 5)", "([2, 1, 0, 3, 0], 6)"),
        ("(0.62, 0.02, 5), (0.9, 1.0, 3)", "(0.55, 0.3, 4), (0.85, 0.6, 3)"),
        ("(14.1, 1.8, 4)\nCHEN_TIMES = [7.52, 7.0, 5.73]", "(20, 1.5, 6)\nCHEN_TIMES = [9.0, 6.1]"),
        ("[8.0, 7.1, 2.0, 2.3]", "[9.5, 7.2, 2.2, 1.9]"),
        ("VERDICTS = [[1, 1, 0, 1, 1, 0]", "VERDICTS = [[0, 1, 1, 1, 0, 0]"),
        ("([3.0, 1.5, 0.9, 2.2], [1.1, 1.0,", "([2.8, 1.7, 0.6, 3.1], [1.2, 0.9,"),
    ],
    "06_simulator": [
        ("STOPS_ALPHA = 0.7", "STOPS_ALPHA = 0.65"),
        ("*(0.25, 0.5, 0.875, 0.125),  # 2 are accepted", "*(0.25, 0.875, 0.5, 0.125),"),
        ("COUNTS = [1, 3, 4, 9, 11, 15]", "COUNTS = [1, 2, 3, 8, 10, 14]"),
        ("UNCUT = [2, 5, 8, 10, 12]", "UNCUT = [4, 5, 6, 9, 12]"),
        ("EASY, HARD, SLOW = [0, 0.5, 0.25, 0.25],", "EASY, HARD, SLOW = [0, 0.25, 0.5, 0.25],"),
        ("(0.5, 1, 2), (0.8, 5, 2)", "(0.6, 1, 2), (0.75, 6, 2)"),
        ("(25, [(30, 900, 64)", "(35, [(30, 950, 60)"),
    ],
    "07_connections": [
        ("P = np.array([0.45, 0.30, 0.15, 0.10])", "P = np.array([0.43, 0.30, 0.15, 0.12])"),
        ("(two_back(8), [1], [0, 0, 0, 0, 0, 0, 0])", "(two_back(5), [2], [1, 0, 3, 0, 0, 4, 0])"),
        ("([2, 2, 0], [0.9, 0.1, 0.5], 0.5)", "([2, 2, 0], [0.8, 0.2, 0.6], 0.45)"),
        ("[-1, 0, -1, 2, 1, 3, 5, 4]", "[-1, 0, -1, 2, 0, 3, 4, 5]"),
        ("ROWS_P = np.array([[0.3, 0.6, 0.1],", "ROWS_P = np.array([[0.32, 0.57, 0.11],"),
        ("([0.5, 0.3, 0.2], [2, -1, 0], 4)", "([0.3, 0.3, 0.4], [3, -1, 1], 5)"),
    ],
    "08_full_generation": [
        ("CUTS = [(14, 11), (9, 2),", "CUTS = [(12, 7), (10, 3),"),
        ("REFUSED = [(5, 6), (5, 12),", "REFUSED = [(4, 5), (4, 9),"),
        ("[(0, 1, 1), (1, 1, 4), (2, 6, 2),", "[(20, 1, 1), (21, 1, 3), (22, 7, 2),"),
        ("EVEN], [EVEN], [0], [0.5], 0.5),", "EVEN], [EVEN], [0], [0.5], 0.3),"),
        ("SAMPLED = list(range(22))", "SAMPLED = list(range(60, 84))"),
        ('30, "prompt": [2], "eos": 2,', '36, "prompt": [1], "eos": 1,'),
        ("READING = [40, 41, 42, 43, 44, 45]", "READING = [50, 51, 52, 53, 54, 55]"),
        ("READING_TOKENS = 14", "READING_TOKENS = 16"),
    ],
}


def change_numbers(repository: Path, chapter: str) -> None:
    """Change the numbers of a chapter in a fork."""
    for old, new in CHANGES[chapter]:
        change(repository / Chapter(chapter).numbers.relative_to(ROOT), old, new)


def commands_of_the_fork() -> list[str]:
    """The commands that the instructor's guide gives after a change, for a chapter NN_topic."""
    commands = re.search(r"^```\n(autograde build\n.*?)^```$", INSTRUCTOR, re.M | re.S)[1]
    return commands.splitlines()


HEAVY = ("07_connections", "08_full_generation")  # they take as long as all others


@pytest.mark.slow
@pytest.mark.parametrize("heavy", [False, True])
def test_a_private_fork_has_numbers_and_points_of_its_own(repository: Path, heavy: bool):
    """The gates hold with other numbers and points, of several chapters in one copy."""
    for chapter in CHANGES:
        change_numbers(repository, chapter)
    change(
        repository / "solutions" / f"{CHAPTER}.py",
        'test="correct_token" points=4',
        'test="correct_token" points=6',
    )
    build, gates = commands_of_the_fork()
    run(build, repository)
    chapters = [chapter for chapter in CHANGES if (chapter in HEAVY) == heavy]
    run(gates.replace("NN_topic", " ".join(chapters)), repository)


def test_every_chapter_has_other_numbers_to_try():
    """Each number is found once in its file, and is another."""
    assert list(CHANGES) == chapter_names()
    for chapter, changes in CHANGES.items():
        text = Chapter(chapter).numbers.read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1 and old != new, (chapter, old)
