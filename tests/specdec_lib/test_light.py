"""What starts fast: no transformers, whose import takes seconds, and no torch without need."""

import json
import subprocess
import sys

# In this order, in one process: what is run, and what must not have been imported after it.
STEPS = [
    ("from specdec_lib.cli import main; main(['--help'])", ["numpy", "rich", "torch"]),
    ("main(['pairs'])", ["numpy", "rich", "torch"]),
    ("import specdec_lib.assets as a; a.documents(); a.tokenizer()", ["torch"]),
    ("import specdec_lib.sampling, specdec_lib.theory, specdec_lib.exact", ["torch"]),
    ("import specdec_lib.measure.results", ["torch"]),  # of `specdec compare`
    ("main(['race', '--recorded'])", ["torch"]),
    ("main(['generate', 'def f(', '--tokens', '2'])", ["transformers"]),
]
SEEN = "torch"  # by the last step


def test_nothing_is_imported_before_it_is_needed():
    lines = ["import json, sys", "found = []"]
    for code, absent in STEPS:
        lines += [code, f"found.append([each for each in {absent} if each in sys.modules])"]
    lines.append(f"print('\\n' + json.dumps([found, {SEEN!r} in sys.modules]))")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [[[]] * len(STEPS), True]
