#!/bin/sh
# IPython 9.18.1: a cell with 500 lines of magics or shell commands, each of which is right, cannot
# be run: its TransformerManager changes one line a pass, and after 500 passes raises RuntimeError
# "Input transformation still changing after 500 iterations. Aborting." Every pass tokenizes the
# whole cell, so a cell with n such lines takes time that grows with n squared: whoever passes other
# people's cells through it needs a deadline.
#
# Seen on 2026-11-28: 499 lines are transformed, 500 raise; 400 lines take over 8 times as long as
# 100.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipython==9.18.1
"$folder/venv/bin/python" - <<'P'
import time

from IPython.core.inputtransformer2 import TransformerManager


def seconds(lines: int) -> float:
    began = time.perf_counter()
    TransformerManager().transform_cell("%a\n" * lines)
    return time.perf_counter() - began


ratio = seconds(400) / seconds(100)
print(f"400 lines take {ratio:.1f} times as long as 100")
seconds(499)
try:
    seconds(500)
    print("500 lines are transformed")
    raised = False
except RuntimeError as error:
    print("500 lines:", error)
    raised = "still changing" in str(error)
assert raised and ratio > 8, "the behaviour has changed"
P
echo "IPython 9.18.1 behaves as described"
