"""No hidden case gives a function what its card rules out."""

from collections.abc import Callable

import numpy as np
import pytest
from classes.chapter_cases import cases_with

from autograde.course import chapter_names
from autograde.hidden.material import material_of


def uniform(value: object) -> bool:
    """One number in [0, 1), or an array of them."""
    return bool(np.all((np.asarray(value) >= 0) & (np.asarray(value) < 1)))


def probabilities(value: object) -> bool:
    """Rows (..., V) that sum to 1, without a negative entry."""
    rows = np.asarray(value)
    return bool(np.all(rows >= 0) and np.allclose(rows.sum(axis=-1), 1, atol=1e-9))


def whole_from(least: int) -> Callable[[object], bool]:
    """Whether a value is a whole number from `least` on."""
    return lambda value: isinstance(value, int | np.integer) and value >= least


def positive(value: float) -> bool:
    """A number above 0."""
    return value > 0


def tokens(value: object) -> bool:
    """A list of whole numbers from 0 on."""
    return type(value) is list and all(map(whole_from(0), value))


def some_tokens(value: object) -> bool:
    """The same, with one token at least."""
    return tokens(value) and bool(value)


# What the cards say of an argument, by its name; `k` is a block's length. Where one card says
# something else, by the function and the name.
DOMAINS: dict[str | tuple[str, str], Callable[[object], bool]] = {
    **dict.fromkeys(("r", "u", "uniforms"), uniform),
    **dict.fromkeys(("p", "q"), probabilities),
    "alpha": lambda value: 0 <= value <= 1,
    **dict.fromkeys(("k", "max_new_tokens"), whole_from(0)),
    **dict.fromkeys(("n_tokens", "batch_size", "token"), whole_from(0)),
    **dict.fromkeys(("batch", "k_max", "max_ngram"), whole_from(1)),
    **dict.fromkeys(("bytes_per_param", "bandwidth", "peak_flops", "n_params"), positive),
    **dict.fromkeys(("kv_bytes_per_token", "verify_cost"), positive),
    **dict.fromkeys(("draft_tokens", "drafted", "tokens", "candidates"), tokens),
    **dict.fromkeys(("draft_token", "queue_length", "running", "context"), whole_from(0)),
    ("audit", "tokens"): positive,
    ("verify_block", "drafted"): lambda rows: tokens(rows.flatten().tolist()),
    **dict.fromkeys(("c", "alpha_error", "tokens_error"), lambda value: value >= 0),
    **dict.fromkeys(("prefix", "prompt"), some_tokens),
}


@pytest.mark.parametrize("chapter", chapter_names())
def test_every_argument_is_one_that_the_cards_allow(chapter: str):
    parameters, outside, looked_at = material_of(chapter).parameters, [], 0
    (cases,) = cases_with(chapter, {})
    for call in [call for case in cases for call in case.calls]:
        for name, value in zip(parameters.get(call.function, []), call.args, strict=False):
            domain = DOMAINS.get((call.function, name)) or DOMAINS.get(name)
            looked_at += domain is not None
            if domain and not domain(value):
                outside.append(f"{call.function}: {name} = {value!r}")
    assert looked_at > 40 and outside == []
