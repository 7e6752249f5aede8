"""What chapter 04 holds against a distillation loss: its value, and the gradient that flows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from specdec_lib.lessons.common.examples import Different, pass_missing_answers, type_name

# What a student reads whose loss has no gradient.
CUT = (
    "distillation_loss returned a tensor that no gradient flows through. Stay with operations on "
    "tensors from end to end: item(), detach(), NumPy and a new torch.tensor cut it off."
)


def is_cut(error: Exception) -> bool:
    """Whether torch says that a tensor which does or does not require a gradient is in the way."""
    return "require" in str(error) and "grad" in str(error)


def expect_loss(function: Callable, p: Any, q: Any, gives: float, hint: str = "") -> None:
    """`expect` for a loss: logits (..., V) in; a floating-point tensor () within 1e-6 out."""
    call = f"distillation_loss(logits of {_probs(p)}, logits of {_probs(q)})"
    try:
        loss = function(p, q)
    except Exception as error:
        pass_missing_answers(error)
        happened = getattr(error, "what_happened", None) or f"raised {error!r}"
        raise Different(f"{call} {happened}; expected {gives:.5g}.") from None
    remark = not_a_loss(loss)
    if remark:
        raise Different(f"{call} returned {type_name(loss)}, expected {gives:.5g} ({remark}).")
    if not abs(float(loss) - gives) <= 1e-6:
        raise Different(f"{call} returned {float(loss):.5g}, expected {gives:.5g}. {hint}".strip())


def not_a_loss(loss: object) -> str:
    """What keeps `loss` from being a floating-point tensor of shape (); empty if nothing does."""
    if type(loss).__name__ != "Tensor":
        return "it should be a tensor of shape ()"
    if tuple(loss.shape):
        return f"its shape is {tuple(loss.shape)}, it should be (): the mean over all positions"
    return (
        "" if loss.dtype.is_floating_point else f"its dtype is {loss.dtype}, it should be a float"
    )


def expect_gradient(got: np.ndarray, p_logits: np.ndarray, q_logits: np.ndarray) -> None:
    """Raise Different unless `got` is the loss's gradient in the draft's logits, within 1e-6."""
    right = loss_gradient(p_logits, q_logits)
    if got.shape != right.shape or not np.abs(got - right).max() <= 1e-6:
        told = np.round(got, 4).tolist(), np.round(right, 4).tolist()
        raise Different(
            f"the gradient of distillation_loss in the draft's logits is {told[0]}, expected "
            f"{told[1]}."
        )


def loss_gradient(p_logits: np.ndarray, q_logits: np.ndarray) -> np.ndarray:
    """The gradient (..., V) of the loss in the draft's logits, worked out by hand, in float64.

    With I = 1 where q < p, the shared mass grows by q_j (I_j - sum_x q_x I_x) in logit j.
    """
    p, q = _softmax(p_logits), _softmax(q_logits)
    below = (q < p).astype(float)
    shared = q * (below - (q * below).sum(-1, keepdims=True))
    return -shared / (q.size / q.shape[-1])


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(np.asarray(logits, dtype=float))
    return powers / powers.sum(-1, keepdims=True)


def _probs(logits: Any) -> list:
    return np.round(_softmax(logits.detach().double().numpy()), 4).tolist()
