"""Chapter 04, choosing the draft: its examples and the visible checks on them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from specdec_lib.lessons.checking import answers, examples
from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.comparing import coerce_like
from specdec_lib.lessons.checking.describing import describe, distinct_texts, type_name
from specdec_lib.lessons.checking.examples import Different, visible_check
from specdec_lib.lessons.checking.kinds import is_tensor
from specdec_lib.lessons.checking.pasting import format_call
from specdec_lib.lessons.checking.tables import check_of, expect_tables
from specdec_lib.sampling import softmax

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["committed"]

# The grid of the map of best K, a text in words, and pairs of distributions and of logits.
_TOYS = answers.read_tables(__package__, "toys.toml")
MAP_ALPHAS, MAP_COSTS, LOOKUP_WORDS = _TOYS["alphas"], _TOYS["costs"], _TOYS["text"].split()
_P, _Q, _NARROW = _TOYS["p"], _TOYS["q"], _TOYS["narrow"]

# What a student reads if the loss has no gradient.
NO_GRAD = (
    "distillation_loss returned a tensor that no gradient flows through. Use torch all the way, "
    "as in torch.minimum: item(), detach(), NumPy and a new torch.tensor cut it off."
)

TRUTHS = truths_of(__package__, prediction_04=(1 - 0.7**6) / (1 - 0.7), prediction_04_c=None)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)

check_expected_tokens = check_of(globals(), "expected_tokens")
check_walltime_speedup = check_of(globals(), "walltime_speedup", check_expected_tokens)
check_best_k = check_of(globals(), "best_k", check_walltime_speedup)
check_prompt_lookup = check_of(globals(), "prompt_lookup")


def logits_of_pair() -> "tuple[Tensor, Tensor]":
    """Logits of three positions (3, 4) each, of the target and of the draft."""
    import torch

    return torch.tensor(_P).log(), torch.tensor(_Q).log()


@visible_check
def check_distillation_loss(function: Callable) -> None:
    """The calls in checks.toml, and the gradient for training."""
    expect_tables(function, globals(), "distillation_loss")
    p, draft = logits_of_pair()
    draft.requires_grad_()
    try:
        function(p, draft).backward()
    except RuntimeError as error:
        raise Different(NO_GRAD) if is_cut(error) else error from None
    if draft.grad is None:  # of a loss that begins anew, in a tensor of its own
        raise Different(NO_GRAD)
    expect_gradient(draft.grad.double().numpy(), p.numpy(), draft.detach().numpy())


def is_cut(error: Exception) -> bool:
    """Whether torch says that a tensor which does or does not require a gradient is in the way."""
    return "require" in str(error) and "grad" in str(error)


def expect_loss(
    function: Callable,
    p: "Tensor",
    q: "Tensor",
    gives: float,
    hint: str = "",
    form: bool = True,
    asks: Sequence[tuple[float, str]] = (),
) -> None:
    """`expect` for a loss: logits (..., V) in, a floating-point tensor () within 1e-6 out.

    Without `form` any one number will do.
    """
    call = format_call(function, (p, q))
    try:
        loss = function(p, q)
    except Exception as error:
        examples.reraise_for_student(error)
        happened = getattr(error, "what_happened", None) or f"raised {error!r}"
        raise Different(f"{call} {happened}; expected {gives:.5g}.") from None
    number = loss if form else coerce_like(gives, loss)
    remark = "" if isinstance(number, int | float) and not form else loss_flaw(loss)
    if remark:
        raise Different(f"{call} returned {type_name(loss)}, expected {gives:.5g} ({remark}).")
    value = float(loss.detach() if is_tensor(loss) else loss)
    if not abs(value - gives) <= 1e-6:
        came, wanted = distinct_texts(value, gives)
        question = next((ask for wrong, ask in asks if abs(value - wrong) < 1e-4), "")
        raise Different(f"{call} returned {came}, expected {wanted}.", question or hint)
    shapes = f"target logits {tuple(p.shape)}, draft logits {tuple(q.shape)}"
    examples.record_agreement(f"distillation_loss({shapes})", describe(value))


def loss_flaw(loss: object) -> str:
    """What keeps `loss` from being a floating-point tensor of shape (); empty if nothing does."""
    if type(loss).__name__ != "Tensor":
        return "it should be a tensor of shape ()"
    if tuple(loss.shape):
        return f"its shape is {tuple(loss.shape)}, it should be (): the mean over all positions"
    is_float = loss.dtype.is_floating_point
    return "" if is_float else f"its dtype is {loss.dtype}, it should be a float"


def expect_gradient(got: np.ndarray, p_logits: np.ndarray, q_logits: np.ndarray) -> None:
    """Raise Different unless `got` is the loss's gradient in the draft's logits, within 1e-6."""
    right = loss_gradient(p_logits, q_logits)
    if got.shape != right.shape or not np.abs(got - right).max() <= 1e-6:
        came, wanted = np.round(got, 4).tolist(), np.round(right, 4).tolist()
        gradient = "the gradient of distillation_loss in the draft's logits"
        raise Different(f"{gradient} is {came}, expected {wanted}.")
    examples.record_agreement("its gradient in the draft's logits", describe(got))


def loss_gradient(p_logits: np.ndarray, q_logits: np.ndarray) -> np.ndarray:
    """The gradient (..., V) of the loss in the draft's logits, worked out by hand, in float64.

    With I = 1 if q < p, the shared mass grows by q_j (I_j - sum_x q_x I_x) in logit j.
    """
    p, q = softmax(p_logits.astype(float)), softmax(q_logits.astype(float))
    below = (q < p).astype(float)
    shared = q * (below - (q * below).sum(-1, keepdims=True))
    return -shared / (q.size / q.shape[-1])
