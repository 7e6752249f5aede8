"""TeX to MathML, for pages and for the site: browsers render it without any script.

docutils converts it. The package latex2mathml allows links, which a student may write, and supports
neither `aligned` nor `\\arg`.
"""

import re

from docutils.utils.math.latex2mathml import tex2mathml

_NUMERATOR = re.compile(r"(\\[dt]?frac)\s*(\d)")
_DENOMINATOR = re.compile(r"(\\[dt]?frac\{\d\})\s*(\d)")


def tex_to_mathml(tex: str, as_block: bool = False) -> str:
    r"""The formula as MathML. Raises docutils' MathError for TeX that it does not support.

    A part of a fraction without braces is one character; docutils would take the 12 of \frac12.
    """
    braced = _DENOMINATOR.sub(r"\1{\2}", _NUMERATOR.sub(r"\1{\2}", tex))
    return tex2mathml(braced, as_block)
