"""Hugging Face transformers' own code as rules: what a judge of rules can count.

The code is that of the installed transformers, by names that another version need not have. It
asks torch for chance in two places, `torch.rand_like` for the coin and `torch.multinomial` for the
token. Here `choices` decides both, so the library's code is asked about every branch, and nothing
is sampled. It runs in float64, so that rounding hides nothing.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any
from unittest import mock

import numpy as np

from specdec_lib import exact
from specdec_lib.errors import dependency_error
from specdec_lib.lessons.ch03.rules import Rule
from specdec_lib.sampling import softmax

_NEVER = -1e4  # a logit whose probability is 0 in float64


def require_library() -> None:
    """Raise DependencyError unless the installed transformers answers when asked as it is below."""
    half = np.array([0.5, 0.5])
    print("Loading transformers and judging it: about 10 s.", flush=True)
    try:
        for draws, rule in zip((3, 2, 3, 3, 3), LIBRARY_RULES.values(), strict=True):
            rule(half, half, tape := exact.Tape())
            if len(tape.branch_taken) != draws:
                raise LookupError(f"it left {len(tape.branch_taken)} of {draws} draws to the tape")
    except Exception as error:  # of another version, whatever it may be
        raise dependency_error("transformers", error) from None


def drafted_by(draft: Callable, weight: float | None = None) -> Rule:
    """Its rule, with `assistant_ensemble_weight`, on what `draft(logits, choices)` returns."""

    def rule(p, q, choices):
        import torch
        from transformers.generation import utils

        token, reported = draft(log(q), choices)
        logits = torch.as_tensor(np.asarray(reported, dtype=float))[None, None]
        target = torch.as_tensor(log(p)).expand(1, 2, -1)  # the second row is of a bonus
        block = torch.tensor([[token]]), logits, 1, target, *filter(None, [weight])
        with _decided_by(choices):
            return int(utils._speculative_sampling(*block)[0][0, 0])

    return rule


def generated(step: int) -> Rule:
    """`generate` with a draft of another tokenizer, listed by id or, with -1, backwards."""

    def rule(p, q, choices):
        import torch
        from transformers.generation import utils

        target, options = _two_tokenizers(tuple(p), tuple(q), step)
        prompt = torch.tensor([[len(p)]])  # "start"
        with _decided_by(choices), mock.patch.object(utils, "logger"):
            text = target.generate(prompt, do_sample=True, max_new_tokens=2, **options)
        return int(text[0, 1])

    return rule


def _drawn(logits: np.ndarray, choices: exact.Tape) -> tuple[int, np.ndarray]:
    return choices.choose(softmax(logits)), logits


LIBRARY_RULES = {
    "its rule, draft drawn from q": drafted_by(_drawn),
    "its rule, argmax draft": drafted_by(lambda logits, _: (int(np.argmax(logits)), logits)),
    "generate, another tokenizer": generated(step=-1),
    "generate, listed by id": generated(step=1),
    "its rule, assistant_ensemble_weight 0.5": drafted_by(_drawn, weight=0.5),
}


def _decided_by(choices: exact.Tape) -> Any:
    """Patches of torch that ask `choices` for every coin and draw; float64 stands for float32."""
    import torch

    def coin(ratio: torch.Tensor) -> torch.Tensor:
        accepted = min(1.0, float(ratio))
        return torch.full_like(ratio, 2 * choices.choose([accepted, 1 - accepted]))  # 2 rejects

    def token(probs: torch.Tensor, num_samples: int) -> torch.Tensor:
        return torch.tensor([[choices.choose(probs.ravel().tolist())]])

    doubles = {"float32": torch.float64, "full": partial(torch.full, dtype=torch.float64)}
    return mock.patch.multiple(torch, rand_like=coin, multinomial=token, **doubles)


@lru_cache(4)  # a judge asks for every branch anew
def _two_tokenizers(p: tuple[float, ...], q: tuple[float, ...], step: int) -> tuple[Any, dict]:
    """A target with p (V,) after "start", and what `generate` needs of a draft with q.

    The draft has a word that the target lacks. The order of its vocabulary would be a hash's.
    """
    words = [*map(str, range(len(p))), "start", "own"]
    target_words, draft_words = word_tokenizer(words[:-1]), word_tokenizer(words)
    draft_words.get_vocab = lambda: {word: words.index(word) for word in words[::step]}
    draft = {"assistant_model": _llama([*q, 0.0, 0.2], len(p)), "assistant_tokenizer": draft_words}
    return _llama([*p, 0.0], len(p)), draft | {"tokenizer": target_words}


def word_tokenizer(words: list[str]) -> Any:
    """A tokenizer of whole words; the ids are their places."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def _llama(probs: list[float], start: int) -> Any:
    """A Llama that gives `probs` (V,), over their sum, after `start`, and token 0 after others."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"vocab_size": len(probs), "hidden_size": 2, "num_attention_heads": 1}
    config = LlamaConfig(num_hidden_layers=1, rms_norm_eps=0.0, eos_token_id=None, **sizes)
    model = LlamaForCausalLM(config).double()
    for weight in model.parameters():
        weight.data.zero_()
    model.model.norm.weight.data[:] = 0.5**0.5
    model.model.embed_tokens.weight.data[:, 1] = 1
    model.model.embed_tokens.weight.data[start] = torch.tensor([1.0, 0.0])
    model.lm_head.weight.data[:, 0] = torch.tensor(np.maximum(log(np.array(probs)), _NEVER))
    model.lm_head.weight.data[1:, 1] = _NEVER
    return model


def log(probs: np.ndarray) -> np.ndarray:
    """The logits (V,) of a distribution; minus infinity for what it rules out."""
    return np.log(probs, out=np.full(len(probs), -np.inf), where=probs > 0)
