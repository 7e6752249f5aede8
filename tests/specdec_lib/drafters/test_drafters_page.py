"""docs/drafters.md describes every drafter."""

import re
from pathlib import Path

from decoders.exact_drafters import NO_DRAFTERS

from specdec_lib import drafters

PAGE = Path(__file__).parents[3] / "docs" / "drafters.md"


def test_the_page_describes_every_drafter():
    files = {path.name for path in Path(drafters.__file__).parent.glob("*.py")} - NO_DRAFTERS
    links = re.findall(r"^\| \[(\w+\.py)\]\(\.\./specdec_lib/drafters/\1\)", PAGE.read_text(), re.M)
    assert set(links) == files
