#!/bin/sh
# IPython 9.18.1: `%timeit` inside of a function puts that function's local variables into the
# notebook's global names, where they stay. A later cell then finds a name that no cell has bound,
# and works in the notebook but not as a program. IPython restores only the names that were there
# before the call.
#
# Seen on 2026-11-28: no `a` before f(3), and a == 3 after it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipython==9.18.1
IPYTHONDIR="$folder" "$folder/venv/bin/python" - <<'P'
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("def f(a):\n    %timeit -n1 -r1 a + 1\n    return a")
assert "a" not in shell.user_ns
shell.run_cell("f(3)")
print("a is", shell.user_ns.get("a", "not there"), "after the call of f")
assert shell.user_ns.get("a") == 3, "the behaviour has changed"
P
echo "IPython 9.18.1 behaves as described"
