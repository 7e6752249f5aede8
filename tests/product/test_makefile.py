"""The Makefile's own promises, on a stand-in for Python that only writes down what it is asked."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ["course", "test", "lab", "grader", "build", "solutions", "grade", "bench", "site"]
TARGETS += ["lint", "clean", "help"]
CPU_INDEX = "--no-deps --index-url https://download.pytorch.org/whl/cpu torch=="

# `-m venv` copies the stand-in to where the environment's Python would be.
STAND_IN = """#!/bin/sh
echo "$*" >> "$LOG"
[ -z "$PYTHONDONTWRITEBYTECODE" ] || echo "compiles and keeps nothing" >> "$LOG"
case "$*" in
  *version_info*) exit "${WRONG_VERSION:-0}" ;;
  *urlopen*) exit "${NO_INDEX:-0}" ;;
  *compileall*) exit "${ODD_FILE:-0}" ;;
  "-m venv"*)
    mkdir -p .venv/bin
    cp "$0" .venv/bin/python
    echo "$PWD/.venv" > .venv/bin/activate ;;
  "-m jupyter lab") echo "settings: $JUPYTER_CONFIG_PATH" ;;
  -V) echo "Python 3.9.0" ;;
esac
"""


def script(path: Path, text: str) -> None:
    """Write an executable file."""
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the Makefile, what it reads, and the stand-ins under bin/."""
    folder = tmp_path.resolve() / "a course"  # the space is part of the test
    (folder / "bin").mkdir(parents=True)
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    script(folder / "bin" / "python3", STAND_IN)
    script(folder / "bin" / "nvidia-smi", "#!/bin/sh\nexit ${NO_DRIVER:-0}\n")
    return folder


def make(folder: Path, *targets: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run make in `folder` with its stand-ins in front, none of the caller's make settings left."""
    env = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    env |= {"PATH": f"{folder / 'bin'}{os.pathsep}{env['PATH']}", "LOG": str(folder / "log")}
    command = ["make", *targets]
    return subprocess.run(command, cwd=folder, env=env | settings, capture_output=True, text=True)


def log(folder: Path) -> str:
    """What the stand-ins were asked, one call a line; empty again afterwards."""
    path = folder / "log"
    text = path.read_text() if path.exists() else ""
    path.write_text("")
    return text


def test_twelve_targets_at_most_each_with_its_line_of_help(copy: Path):
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z]+):", text, flags=re.MULTILINE)
    assert targets == TARGETS
    assert set(re.search(r"\.PHONY: (.+)", text)[1].split()) == set(targets)
    listed = re.findall(r"^  make ([a-z]+) +\S", make(copy).stdout, flags=re.MULTILINE)
    assert listed == targets


def test_setup_takes_the_cpu_build_without_a_driver_and_happens_once(copy: Path):
    first = make(copy, "test", NO_DRIVER="1")
    calls = log(copy)
    assert first.returncode == 0, first.stderr
    if sys.platform == "linux":
        assert "the CPU build" in first.stdout and CPU_INDEX in calls
    assert calls.index("torch==") < calls.index("-e .[course,instructor,dev]")
    assert make(copy, "test", NO_DRIVER="1", PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert log(copy) == "-m pytest -n 3 --dist loadfile --no-loadscope-reorder\n"


def test_setup_compiles_once_on_every_core_and_minds_no_odd_file(copy: Path):
    assert make(copy, "course", ODD_FILE="1").returncode == 0
    calls = log(copy).splitlines()
    assert all("--no-compile" in call for call in calls if "pip install" in call)
    compiled = [i for i, call in enumerate(calls) if "compileall" in call and "-j 0" in call]
    assert len(compiled) == 1
    assert "-e .[course,instructor,dev]" in calls[compiled[0] - 1]
    assert calls[compiled[0] + 1] == "-m autograde.tools.demo"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one build only")
@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "there is an NVIDIA driver"),
        ({"NO_DRIVER": "1", "NO_INDEX": "1"}, "does not answer"),
    ],
)
def test_setup_takes_the_default_build_and_says_why(copy: Path, settings: dict, why: str):
    done = make(copy, "test", **settings)
    assert "the build of the default index" in done.stdout and why in done.stdout
    assert "--index-url" not in log(copy)


def test_setup_follows_a_change_of_the_lock_and_a_move_of_the_folder(copy: Path):
    make(copy, "test")
    log(copy)
    later = (copy / ".venv" / ".ready").stat().st_mtime + 10
    os.utime(copy / "constraints.txt", (later, later))
    make(copy, "test")
    calls = log(copy)
    assert "-e .[course,instructor,dev]" in calls and "-m venv" not in calls
    os.utime(copy / "constraints.txt", (0, 0))
    moved = copy.rename(copy.parent / "moved")
    make(moved, "test")
    assert "-m venv" in log(moved)


def test_what_the_site_needs_is_installed_once(copy: Path):
    make(copy, "site")
    assert "-e .[site]" in log(copy)
    make(copy, "site")
    assert log(copy) == "-m autograde.tools.site\n"


def test_an_unsuitable_python_is_named(copy: Path):
    done = make(copy, "test", WRONG_VERSION="1")
    assert done.returncode != 0
    assert "needs Python 3.11 to 3.13, and python3 is Python 3.9.0" in done.stdout
    missing = make(copy, "test", "PYTHON=no-such-python")
    assert "no-such-python is missing" in missing.stdout


def test_clean_removes_build_and_nothing_else(copy: Path):
    for name in ("build", "course", "work"):
        (copy / name).mkdir()
    assert make(copy, "clean").returncode == 0
    assert not (copy / "build").exists()
    assert (copy / "course").is_dir() and (copy / "work").is_dir()


def test_grader_adds_its_settings_and_keeps_the_instructors(copy: Path):
    done = make(copy, "grader", NO_DRIVER="1", JUPYTER_CONFIG_PATH="/theirs")
    assert f"settings: {copy / 'autograde' / 'jupyter'}:/theirs\n" in done.stdout
    assert list((ROOT / "autograde" / "jupyter").glob("labconfig/*.json"))
