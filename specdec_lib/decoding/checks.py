"""Checks before decoding begins. Every message names the input and says what to do about it."""

from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.errors import SpecdecError
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import Greedy, RandomSource


def required_capacity(
    model: Model, prompts: Texts, settings: Settings, random_source: RandomSource, k: int = 0
) -> int:
    """The positions that a cache needs for these prompts, with blocks of `k` draft tokens.

    Raises SpecdecError if a prompt is empty, too long or has unknown tokens, and if the random
    source is greedy and the temperature is not 0.
    """
    temperature = settings.warp.temperature
    if isinstance(random_source, Greedy) and temperature:
        raise SpecdecError(
            f"random_source is Greedy and the temperature is {temperature}: take Uniforms"
        )
    check_prompts(prompts, model.vocab_size)
    longest = max(len(prompt) for prompt in prompts)
    # Rows of a batch draft as many tokens as the one with most left: room for k at a row's end.
    spare = k if len(prompts) > 1 else 0
    capacity = longest + settings.max_new_tokens + spare
    batch = f" and, in a batch, {spare} for its drafts" if spare else ""
    contents = f"{longest} tokens of prompt, {settings.max_new_tokens} new ones{batch}"
    check_capacity(contents, capacity, model, "model")
    return capacity


def check_prompts(prompts: Texts, vocab_size: int) -> None:
    """Raise SpecdecError if there is no prompt, or one is empty or holds unknown tokens."""
    if not len(prompts):
        raise SpecdecError("there is no prompt; give a list of lists of token ids")
    for row, prompt in enumerate(prompts):
        if not len(prompt):
            raise SpecdecError(f"prompt {row} is empty; give at least one token")
        unknown = [token for token in prompt if not 0 <= token < vocab_size]
        if unknown:
            raise SpecdecError(
                f"prompt {row} has token {unknown[0]}, and the model knows 0 to "
                f"{vocab_size - 1}: encode it with this model's tokenizer"
            )


def check_pair(target: Model, drafter: Drafter | Model, capacity: int) -> None:
    """Raise SpecdecError if the drafter, or a draft model, cannot follow the target.

    They go on for `capacity` positions.
    """
    if drafter.vocab_size != target.vocab_size:
        raise SpecdecError(
            f"the target has {target.vocab_size} tokens and the drafter {drafter.vocab_size}: "
            "they must share one tokenizer"
        )
    if drafter.device != target.device:
        raise SpecdecError(
            f"the target is on {target.device} and the drafter on {drafter.device}: "
            "load both on one"
        )
    check_capacity("the text and its drafts", capacity, drafter, "drafter")


def check_capacity(contents: str, needed: int, model: Drafter | Model, name: str) -> None:
    """Raise SpecdecError if `contents` need more positions than `model`, called `name`, takes."""
    max_length, reason = model.max_length, getattr(model, "why_max_length", "")
    if max_length is not None and needed > max_length:
        raise SpecdecError(
            f"{contents} need {needed} positions, and the {name}'s max_length is "
            f"{max_length}{reason}: shorten the prompt or ask for fewer tokens"
        )
