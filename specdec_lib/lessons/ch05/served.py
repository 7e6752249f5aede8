"""One request, or many: a picture that was recorded once, on 23 November 2026."""

import re
from html import unescape
from pathlib import Path

_DRAWN = Path(__file__).with_name("served.svg").read_text(encoding="utf-8")
# On a narrow page it is moved sideways and stays legible.
PAGE = (
    '<div style="overflow-x:auto" tabindex="0"><div style="min-width:675px;max-width:900px">'
    f"{_DRAWN}</div></div>"
)
# The alternative text: the numbers of both panels.
WORDS = unescape(re.search('aria-label="(.*?)"', _DRAWN)[1])
