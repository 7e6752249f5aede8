"""The boxes of docs/jupyterhub.md: who runs each, and what; and the steps of hub/Containerfile."""

import re
from dataclasses import dataclass

from autograde.chapter import ROOT

PAGE = ROOT / "docs" / "jupyterhub.md"
RECIPE = ROOT / "hub" / "Containerfile"
CPU_BUILD = "https://download.pytorch.org/whl/cpu"  # asked by one box, for those who want it


@dataclass(frozen=True)
class Box:
    """Commands that `who` runs; `when` is what else its first line says."""

    who: str
    when: str
    commands: str


def boxes() -> list[Box]:
    """Every box of the page, in order. ValueError for one whose first line names nobody."""
    found = re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return [_box(text) for text in found]


def _box(text: str) -> Box:
    first, _, commands = text.partition("\n")
    match = re.fullmatch(r"# (root|kim)(?:, (.*))?", first)
    if match is None:
        raise ValueError(f"a box begins with {first!r}, and must say who runs it")
    return Box(match[1], match[2] or "", commands)


def box(who: str, holding: str) -> Box:
    """The one box of `who` that holds these words."""
    (found,) = [each for each in boxes() if each.who == who and holding in each.commands]
    return found


def steps() -> list[str]:
    """What the recipe of the image runs, step by step, less what apt-get installs."""
    text = RECIPE.read_text(encoding="utf-8")
    written = re.findall(r"^RUN (?:<<'STEP'\n((?:.*\n)*?)STEP$|(.*)$)", text, re.M)
    return [block or line for block, line in written if not line.startswith("apt-get")]
