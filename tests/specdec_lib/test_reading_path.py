"""README's list of files to read is short, and decoder.py comes first."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_list_names_four_files_of_450_lines_at_most():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("meant to be read, in this order:")[1].strip().split("\n\n")[0]
    files = re.findall(r"^\| \[.*?\]\((.*?)\)", table, re.M)
    assert files[0] == "specdec_lib/decoder.py" and len(files) <= 4
    lines = [len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files]
    assert sum(lines) <= 450
