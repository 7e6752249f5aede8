"""Chapter 04, choosing the draft: its examples and the visible checks on them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from specdec_lib.lessons.checking.answers import committed, make_answered, make_reveal, truths_of
from specdec_lib.lessons.checking.comparing import coerce_like
from specdec_lib.lessons.checking.describing import describe, distinct_texts, type_name
from specdec_lib.lessons.checking.examples import (
    Different,
    expect,
    helpers_first,
    record_agreement,
    reraise_for_student,
    visible_check,
)
from specdec_lib.lessons.checking.pasting import format_call

__all__ = ["committed"]

# The grid of the map of best K.
ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
COSTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)

# A text in words, for the figure of the draft without a model.
_TEXT = "the cat sat on the mat and the cat ran to the cat sat"
WORDS = _TEXT.split()

# The pair of chapter 02, and two more positions.
P = [[0.45, 0.30, 0.15, 0.10], [0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]]
Q = [[0.30, 0.45, 0.20, 0.05], [0.50, 0.20, 0.15, 0.15], [0.70, 0.10, 0.10, 0.10]]

# Logits that bfloat16 holds exactly, of a target and of a draft.
NARROW = [[1.25, -0.5, 0.25, 2.0, -1.75], [0.75, 0.5, -0.25, 1.0, -0.5]]

# What a student reads if the loss has no gradient.
CUT = (
    "distillation_loss returned a tensor that no gradient flows through. Stay with operations on "
    "tensors from end to end: item(), detach(), NumPy and a new torch.tensor cut it off."
)

# The true values that predictions.toml does not hold; None is measured in the chapter.
TRUTHS = truths_of(
    __package__,
    prediction_04=(1 - 0.7**6) / (1 - 0.7),
    prediction_04_c=None,
)

answered = make_answered(__package__)
reveal = make_reveal(TRUTHS)


# Wrong numbers for alpha = 0.5 and k = 3, each with its question.
TOKEN_SLIPS = (
    (0.875, "These are the accepted draft tokens. Which token does the target add?"),
    (1.75, "Does your sum end one token too early?"),
    (1.9375, "Does your sum end one token too late?"),
    (2.5, "Does a draft token count after a rejected one?"),
    (1.5, "Does a draft token count after a rejected one? And where is the target's own token?"),
    (2.0, "Is that a block without an end? This one has 3 draft tokens.", ((0.5, 2), 2.0)),
    (2.0, "Does a draft token count after a rejected one?", ((0.5, 2), 1.5)),
    (1.0, "A whole block ends with the bonus. Which token does the target add to the others?"),
    (
        1.375,
        "Do only whole blocks count? One that is rejected at its second token keeps the first.",
    ),
)


@visible_check
def check_expected_tokens(function: Callable) -> None:
    """Three tokens and two, no draft at all, and both ends of alpha."""
    hint = "The second draft token counts only if the first was accepted too."
    expect(function, 0.5, 3, gives=1.875, hint=hint, asks=TOKEN_SLIPS)
    expect(function, 0.5, 2, gives=1.75, hint=hint)
    expect(function, 0.5, 0, gives=1.0, hint="Without a draft a block is one pass, one token.")
    expect(function, 0.0, 4, gives=1.0, hint="Nothing is accepted, and the target still writes.")
    expect(function, 1.0, 4, gives=5.0, hint="Everything is accepted, and the bonus follows.")


@visible_check
@helpers_first(check_expected_tokens)
def check_walltime_speedup(function: Callable) -> None:
    """The card's numbers, and a draft that is never accepted."""
    hint = "A block takes k draft steps and one verification."
    slips = [
        (1.75 / 1.1, "Did you pay for one draft step only? A block takes k of them."),
        (1.75 / 1.075, "Did you pay for the accepted draft tokens only? All k were drafted."),
        (1.75 / 1.3, "Did you pay for k + 1 draft steps? The last token of a block is no draft's."),
        (1.75 / 3.2, "Did you pay verify_cost for each token? It is the time of the whole pass."),
        (1.2 / 1.75, "That is the time of a token. Times as fast is one over it."),
        (1.75, "Drafting takes time too."),
        (1.75 / 0.2, "The verification takes time too."),
    ]
    expect(function, 0.5, 0.1, 2, gives=1.75 / 1.2, hint=hint, asks=slips)
    hint = "verify_cost is the whole v(k + 1), and the two draft steps take 0.2 beside it."
    expect(function, 0.5, 0.1, 2, 1.3, gives=1.75 / 1.5, hint=hint)
    expect(function, 0.0, 0.1, 5, gives=1 / 1.5, hint="Below 1 is a slow-down; do not hide it.")


@visible_check
@helpers_first(check_walltime_speedup)
def check_best_k(function: Callable) -> None:
    """An optimum inside, a limit, a draft that never pays, and a draft that costs nothing."""
    hint = "Which K from 0 to k_max has the largest speed-up?"
    cheap, dear = (0.9, 0.01, 10), (0.05, 0.3, 10)
    late = "Is that one too many? After K draft tokens the next one adds alpha^(K + 1)."
    folk = "Is that 1/(1 - alpha)? It does not ask what a draft token costs."
    place = "np.argmax gives a place in your list. Does the list begin with K = 0?"
    many = "The largest block writes the most tokens. Does it take the least time for each?"
    slips = [  # almost each thought gives another number here
        (4, late, ((0.5, 1.2, 10), 0), (dear, 1)),
        (5, folk, (dear, 1)),
        (6, "Token 6 yields 1.05, above 1. But the block is 1.64 times as fast without it."),
        (15, "K = 15 is the last that is faster than plain decoding. Which K is the fastest?"),
        (20, many, (cheap, 10)),
        (2, place, (cheap, 9), (dear, 0)),
    ]
    expect(function, 0.8, 0.25, 20, gives=3, hint=hint, asks=slips)
    expect(function, 0.5, 0.1, 10, gives=2, hint="The card's table has its top at K = 2.")
    expect(function, 0.9, 0.01, 10, gives=10, hint="k_max itself may be the answer.")
    expect(function, 0.05, 0.3, 10, gives=0, hint="Plain decoding, K = 0, has the speed-up 1.")
    hint = "A draft that costs nothing always pays. If you divide by c, multiply instead."
    expect(function, 0.5, 0.0, 10, gives=10, hint=hint)


@visible_check
def check_prompt_lookup(function: Callable) -> None:
    """The card's text, two occurrences, two lengths, an overlap, and nothing to be found."""
    hint = "[5, 6] stands at 1, and 9, 5, 6 follow it. At the end it stands too: that is itself."
    begin = "Yours begin with the suffix. What follows it there?"
    asks = [([5, 6, 9, 5, 6], begin), ([5, 6, 9], begin)]
    asks += [([9], "What follows may run into the suffix at the end.")]
    expect(function, [4, 5, 6, 9, 5, 6], 3, 2, gives=[9, 5, 6], hint=hint, asks=asks)
    asks = [([], "If the longest suffix, [9, 5, 6], isn't found, try a shorter one.")]
    expect(function, [4, 5, 6, 9, 5, 6], 3, gives=[9, 5, 6], hint=hint, asks=asks)
    asks = [([], "Does your search reach position 0, and try one token alone?")]
    asks += [([8, 7], "At most k tokens are drafted, here 1.")]
    expect(function, [7, 8, 7], 1, 1, gives=[8], hint="[7] stands at 0.", asks=asks)
    hint = "[1, 2] stands at 0 and at 3; the latest earlier occurrence counts."
    expect(function, [1, 2, 7, 1, 2, 8, 1, 2], 1, gives=[8], hint=hint)
    hint = "[1, 2] stands at 0. The shorter suffix [2] stands later, but the longest one counts."
    expect(function, [1, 2, 7, 2, 8, 1, 2], 1, gives=[7], hint=hint)
    hint = "[7, 7, 7] ends the text and stands one earlier too, overlapping it: one token follows."
    expect(function, [7, 7, 7, 7, 7], 3, gives=[7], hint=hint)
    expect(function, [1, 2, 3], 2, gives=[], hint="3 does not occur before.")


KL = "Is that the Kullback-Leibler divergence? The total variation is asked for."
VOCABULARY = "Did you divide by the number of tokens too? Sum over the vocabulary first."
MEAN = "The mean over the positions is asked for, and not the sum."
RAW = "Are these probabilities? Softmax gives them; logits and log_softmax are none."
AXIS = "Does your softmax go over another axis than the last?"
# Wrong losses of the three positions, each with its question.
LOSS_SLIPS = (
    (0.7, "That is alpha, which training would make smaller. The loss is what is rejected."),
    (0.6, "Is each moved bit of mass counted twice?"),
    *((wrong, KL) for wrong in (0.21820, 0.22607)),
    *((wrong, VOCABULARY) for wrong in (0.825, 0.075, 0.15)),
    *((wrong, MEAN) for wrong in (0.9, -1.1)),
    *((wrong, RAW) for wrong in (8.46161, 1.25141)),
    *((wrong, AXIS) for wrong in (-0.06810, 0.26521, -3.0, 0.0)),
    (0.475, "The vocabulary is the last axis: sum over that one."),
)


@visible_check
def check_distillation_loss(function: Callable) -> None:
    """Three positions, the pair, equal models, narrow logits, and the gradient for training."""
    import torch

    p, q = torch.tensor(P).log(), torch.tensor(Q).log()
    hint = "The three positions have 0.20, 0.25 and 0.45: take their mean."
    expect_loss(function, p[:, None], q[:, None], gives=0.3, hint=hint, asks=LOSS_SLIPS)
    hint = "One position with four tokens: the last axis is the vocabulary, and 0.80 is shared."
    expect_loss(function, p[:1], q[:1], gives=0.2, hint=hint)
    expect_loss(function, p + 3, p + 2, gives=0.0, hint="Logits may be shifted: softmax first.")
    shared = np.minimum(*_softmax(np.array(NARROW))).sum()
    hint = "These logits are bfloat16: turn them into float32 before the softmax."
    narrow = torch.tensor(NARROW, dtype=torch.bfloat16)
    expect_loss(function, *narrow, gives=float(1 - shared), hint=hint)
    draft = q.clone().requires_grad_()
    try:
        function(p, draft).backward()
    except RuntimeError as error:
        raise Different(CUT) if is_cut(error) else error from None
    expect_gradient(draft.grad.double().numpy(), p.numpy(), q.numpy())


def is_cut(error: Exception) -> bool:
    """Whether torch says that a tensor which does or does not require a gradient is in the way."""
    return "require" in str(error) and "grad" in str(error)


def expect_loss(
    function: Callable,
    p: Any,
    q: Any,
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
        reraise_for_student(error)
        happened = getattr(error, "what_happened", None) or f"raised {error!r}"
        raise Different(f"{call} {happened}; expected {gives:.5g}.") from None
    number = loss if form else coerce_like(gives, loss)
    remark = "" if isinstance(number, int | float) and not form else not_a_loss(loss)
    if remark:
        raise Different(f"{call} returned {type_name(loss)}, expected {gives:.5g} ({remark}).")
    if not abs(float(loss) - gives) <= 1e-6:
        came, wanted = distinct_texts(float(loss), gives)
        asked = next((ask for wrong, ask in asks if abs(float(loss) - wrong) < 1e-4), "")
        raise Different(f"{call} returned {came}, expected {wanted}.", asked or hint)
    shapes = f"target logits {tuple(p.shape)}, draft logits {tuple(q.shape)}"
    record_agreement(f"distillation_loss({shapes})", describe(float(loss)))


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
    right, what = loss_gradient(p_logits, q_logits), "gradient of distillation_loss"
    if got.shape != right.shape or not np.abs(got - right).max() <= 1e-6:
        came, wanted = np.round(got, 4).tolist(), np.round(right, 4).tolist()
        raise Different(f"the {what} in the draft's logits is {came}, expected {wanted}.")
    record_agreement("its gradient in the draft's logits", describe(got))


def loss_gradient(p_logits: np.ndarray, q_logits: np.ndarray) -> np.ndarray:
    """The gradient (..., V) of the loss in the draft's logits, worked out by hand, in float64.

    With I = 1 if q < p, the shared mass grows by q_j (I_j - sum_x q_x I_x) in logit j.
    """
    p, q = _softmax(p_logits), _softmax(q_logits)
    below = (q < p).astype(float)
    shared = q * (below - (q * below).sum(-1, keepdims=True))
    return -shared / (q.size / q.shape[-1])


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(np.asarray(logits, dtype=float))
    return powers / powers.sum(-1, keepdims=True)
