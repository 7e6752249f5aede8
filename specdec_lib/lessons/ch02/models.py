"""Chapter 02: two models over the tokens A, B and C.

At TEMPERATURE the models' rows are multiples of 1/4.
"""

from collections.abc import Sequence

import numpy as np

from specdec_lib.lessons.checking.lending import read_only, token_list

TEMPERATURE = 0.5
# Row t follows token t.
P_AFTER = read_only([[0.0, 0.5, 0.5], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
Q_AFTER = read_only([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
# Logits whose softmax at TEMPERATURE are these rows.
_P_LOGITS, _Q_LOGITS = (
    np.where(rows > 0, TEMPERATURE * np.log(np.maximum(rows, 1e-9)), -1000.0)
    for rows in (P_AFTER, Q_AFTER)
)


def target_logits(tokens: Sequence[int]) -> np.ndarray:
    """The target's logits (len(tokens), 3)."""
    return _P_LOGITS[token_list(tokens)]


def draft_logits(tokens: Sequence[int]) -> np.ndarray:
    """The draft's logits (len(tokens), 3)."""
    return _Q_LOGITS[token_list(tokens)]


def draft_model(tokens: Sequence[int]) -> np.ndarray:
    """The draft's distribution (3,) after the last token."""
    return Q_AFTER[token_list(tokens)[-1]].copy()


for _model in (target_logits, draft_logits, draft_model):
    _model.code = f"lesson.{_model.__name__}"
