"""What starts fast: no transformers, whose import takes seconds, and no torch without need."""

import pkgutil
import subprocess
import sys

import pytest

import specdec_lib.measure.core as core

CORE = [f"specdec_lib.measure.core.{module.name}" for module in pkgutil.iter_modules(core.__path__)]
GENERATE = "from specdec_lib.cli import main; main(['generate', 'def f(', '--tokens', '2'])"


def brings(package: str, code: str) -> bool:
    """Whether `package` is imported in a fresh process after `code`."""
    code = f"{code}\nimport sys\nprint('\\n', {package!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()[-1] == "True"


def test_a_package_that_is_imported_is_seen():
    assert brings("tokenizers", "import specdec_lib.assets")


@pytest.mark.parametrize("code", [f"import {', '.join(CORE)}", GENERATE], ids=["core", "generate"])
def test_measuring_and_generating_do_without_transformers(code: str):
    assert len(CORE) > 3 and not brings("transformers", code)


@pytest.mark.parametrize(
    "code",
    [
        "import specdec_lib.assets as a; a.documents(); a.tokenizer()",
        "from specdec_lib.cli import main; main(['pairs'])",
        "import specdec_lib.measure.results",
        "import specdec_lib.sampling, specdec_lib.theory, specdec_lib.exact",
    ],
    ids=["assets", "specdec pairs", "specdec compare", "lessons"],
)
def test_what_needs_no_model_does_without_torch(code: str):
    assert not brings("torch", code)
