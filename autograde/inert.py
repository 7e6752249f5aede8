"""Students' Markdown as text that is shown and does nothing.

nbgrader's pages make HTML of it as it stands: tags, links to `javascript:` and pictures from
anywhere would be live in the browser of whoever marks, who is logged in to Jupyter there.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

# U+2060 WORD JOINER has no width and means nothing to Markdown, HTML and TeX. Put into a construct
# it ends it, and the text looks as it was written, inside of code too.
JOINER = "\u2060"

_LIVE = re.compile(
    r"!\[(?P<text>[^\[\]\n]*)\]\(attachment:(?P<name>[^()\n]*)\)"  # a picture
    r"|<(?=[A-Za-z/!?])"  # only these make a tag of what follows (HTML standard, 13.2.5.6)
    r"|\](?=[(:])"  # makes a link, a picture or the address of one
    r"|\\(?=(?:href|cssId|class|style|require)(?![A-Za-z]))"  # MathJax's ways into the page
)


def inert(markdown: str, pictures: Mapping[str, str] | None = None) -> str:
    """The text without anything that acts; only `pictures`, from old to new name, are shown."""
    return _LIVE.sub(lambda match: _broken(match, pictures or {}), markdown)


def _broken(match: re.Match, pictures: Mapping[str, str]) -> str:
    if match["name"] is None:
        return match[0] + JOINER
    text, name = inert(match["text"]), unquote(match["name"].split(' "')[0])
    if name in pictures:
        return f"![{text}](attachment:{pictures[name]})"
    return f"![{text}]{JOINER}(attachment:{inert(match['name'])})"
