"""What the built-in models' cards say."""

from specdec_lib.assets import ASSETS


def said(name: str, what: str) -> float:
    """A number of the model's card."""
    rows = (ASSETS / name / "README.md").read_text(encoding="utf-8").splitlines()
    (row,) = [row for row in rows if row.startswith(f"| {what}")]
    return float(row.split("|")[2].split()[0].replace(",", ""))
