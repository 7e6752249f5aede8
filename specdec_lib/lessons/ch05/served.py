"""One request, or many: a picture that was recorded once, on 23 November 2026."""

import re
from html import unescape
from pathlib import Path

from specdec_lib.lessons.common.style import display_page

PICTURE = Path(__file__).with_name("served.svg")


def show() -> None:
    """The picture; on a narrow page it is moved sideways and stays legible."""
    drawn = PICTURE.read_text(encoding="utf-8")
    inner = f'<div style="min-width:675px;max-width:900px">{drawn}</div>'
    display_page(f'<div style="overflow-x:auto" tabindex="0">{inner}</div>', in_words())


def in_words() -> str:
    """The alternative text: the numbers of both panels."""
    return unescape(re.search('aria-label="(.*?)"', PICTURE.read_text(encoding="utf-8"))[1])
