"""Rules for one position that go wrong, and the right one, each with what it puts out."""

import numpy as np

RULES = (
    "accept everything",
    "accept only where p >= q",
    "draw the correction from p",
    "draft again until one passes",
    "the rule of this chapter",
)


def paths(rule: str, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """What a rule of RULES puts out (2, V): by acceptance, and in place of rejected tokens.

    `p` and `q` (V,) are distributions that overlap and differ. The two rows together sum to 1.
    Raises KeyError if there is no such rule.
    """
    overlap = np.minimum(p, q)
    lacking = (p - overlap) / (p - overlap).sum()
    accepted, replacement = {
        "accept everything": (q, p),
        "accept only where p >= q": (np.where(p >= q, q, 0.0), lacking),
        "draw the correction from p": (overlap, p),
        "draft again until one passes": (overlap, overlap / overlap.sum()),
        "the rule of this chapter": (overlap, lacking),
    }[rule]
    return np.array([accepted, (1 - accepted.sum()) * replacement])
