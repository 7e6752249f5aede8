"""TeX as MathML, for pages and for the site: browsers draw it themselves, so no script is fetched.

docutils does the work. What it reads otherwise than TeX is first written in the way that it takes.
"""

import re

from docutils.utils.math.latex2mathml import tex2mathml

# TeX takes one character where a fraction's part has no braces; docutils takes a whole number.
_SHORT_FRACTION = re.compile(r"\\([dt]?frac)\s*(\{|[^\s{}\\])")
_BRACES = {"underbrace": ("_", "underset"), "overbrace": ("^", "overset")}
_BRACE = re.compile(r"\\(underbrace|overbrace)\s*(?=\{)")


def mathml(tex: str, as_block: bool = False) -> str:
    """The formula as MathML. Raises docutils' MathError for TeX that it does not know."""
    return tex2mathml(_labelled_braces(_whole_fractions(tex)), as_block)


def _whole_fractions(tex: str) -> str:
    r"""The formula with both parts of every fraction in braces: \frac12 is \frac{1}{2}."""
    start = 0
    while found := _SHORT_FRACTION.search(tex, start):
        top, after = _argument(tex, found.start(2))
        bottom, end = _argument(tex, after)
        whole = rf"\{found[1]}{{{top}}}{{{bottom}}}"
        tex = tex[: found.start()] + whole + tex[end:]
        start = found.start() + len(found[1]) + 1  # a part may hold further fractions
    return tex


def _labelled_braces(tex: str) -> str:
    r"""The formula with the label of each brace below or above it, and not beside it."""
    start = 0
    while found := _BRACE.search(tex, start):
        (sign, command), start = _BRACES[found[1]], found.end()
        held, end = _argument(tex, found.end())
        rest = tex[end:].lstrip()
        if rest.startswith(sign):
            label, after = _argument(rest, 1)
            braced = rf"\{command}{{{label}}}{{\{found[1]}{{{held}}}}}"
            tex = tex[: found.start()] + braced + rest[after:]
            start = tex.index(rf"\{found[1]}", found.start()) + len(found[1])
    return tex


def _argument(tex: str, start: int) -> tuple[str, int]:
    """The argument that begins at `start`, without its braces, and where it ends.

    It is a group in braces, a command, or one character; the rest, if a group has no end.
    """
    blank = len(tex[start:]) - len(tex[start:].lstrip())
    start += blank
    if tex[start : start + 1] != "{":
        one = re.compile(r"\\[A-Za-z]+|\\.|.|$", re.DOTALL).match(tex, start)
        return one[0], one.end()
    depth = 0
    for i in range(start, len(tex)):
        if tex[i - 1 : i] != "\\":
            depth += (tex[i] == "{") - (tex[i] == "}")
        if depth == 0:
            return tex[start + 1 : i], i + 1
    return tex[start + 1 :], len(tex)
