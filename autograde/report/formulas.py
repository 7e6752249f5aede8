"""TeX as MathML, for pages and for the site: browsers draw it themselves, so no script is fetched.

docutils does the work. The package latex2mathml would too, but it lets links through, which a
student may write, and knows neither `aligned` nor `\\arg`.
"""

import re

from docutils.utils.math.latex2mathml import tex2mathml

FIRST_DIGIT = re.compile(r"(\\[dt]?frac)\s*(\d)")
SECOND_DIGIT = re.compile(r"(\\[dt]?frac\{\d\})\s*(\d)")


def mathml(tex: str, as_block: bool = False) -> str:
    r"""The formula as MathML. Raises docutils' MathError for TeX that it does not know.

    A fraction's part without braces is one character; docutils would take 12 of \frac12 for one.
    """
    braced = SECOND_DIGIT.sub(r"\1{\2}", FIRST_DIGIT.sub(r"\1{\2}", tex))
    return tex2mathml(braced, as_block)
