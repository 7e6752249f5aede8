"""Checks before decoding begins. Every message names the input and says what to do about it."""

from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.errors import UsageError
from specdec_lib.models.protocol import Model, Texts
from specdec_lib.sampling import Choices, Greedy


def check_request(
    model: Model, prompts: Texts, settings: Settings, choices: Choices, k: int = 0
) -> int:
    """The positions that a cache needs for these prompts, with blocks of `k` draft tokens.

    Raises UsageError if a prompt is empty, too long or has unknown tokens, and if the choices are
    greedy and the temperature is not 0.
    """
    if isinstance(choices, Greedy) and settings.warp.temperature:
        raise UsageError(
            f"choices are Greedy and the temperature is {settings.warp.temperature}: take Uniforms"
        )
    check_prompts(prompts, model.vocab_size)
    longest = max(len(prompt) for prompt in prompts)
    # Rows of a batch draft as many tokens as the one with most left: room for k at a row's end.
    spare = k if len(prompts) > 1 else 0
    needed = longest + settings.max_new_tokens + spare
    batch = f" and, in a batch, {spare} for its drafts" if spare else ""
    what = f"{longest} tokens of prompt, {settings.max_new_tokens} new ones{batch}"
    check_room(what, needed, model, "model")
    return needed


def check_prompts(prompts: Texts, vocab_size: int) -> None:
    """Raise UsageError if there is no prompt, or one is empty or holds unknown tokens."""
    if not len(prompts):
        raise UsageError("there is no prompt; give a list of lists of token ids")
    for row, prompt in enumerate(prompts):
        if not len(prompt):
            raise UsageError(f"prompt {row} is empty; give at least one token")
        unknown = [token for token in prompt if not 0 <= token < vocab_size]
        if unknown:
            raise UsageError(
                f"prompt {row} has token {unknown[0]}, and the model knows 0 to "
                f"{vocab_size - 1}: encode it with this model's tokenizer"
            )


def check_block(k: int) -> None:
    """Raise UsageError if a block of `k` draft tokens drafts nothing."""
    if k < 1:
        raise UsageError(f"k is {k}; a block drafts at least 1 token (plain decoding drafts 0)")


def check_pair(target: Model, drafter: Drafter | Model, capacity: int) -> None:
    """Raise UsageError if the drafter, or a draft model, cannot follow the target.

    They go on for `capacity` positions.
    """
    if drafter.vocab_size != target.vocab_size:
        raise UsageError(
            f"the target has {target.vocab_size} tokens and the drafter {drafter.vocab_size}: "
            "they must share one tokenizer"
        )
    if drafter.device != target.device:
        raise UsageError(
            f"the target is on {target.device} and the drafter on {drafter.device}: "
            "load both on one"
        )
    check_room("the text and its drafts", capacity, drafter, "drafter")


def check_room(what: str, needed: int, model: Drafter | Model, name: str) -> None:
    """Raise UsageError if `what` needs more positions than max_length of `model`, called `name`."""
    longest, why = model.max_length, getattr(model, "why_max_length", "")
    if longest is not None and needed > longest:
        raise UsageError(
            f"{what} need {needed} positions, and the {name}'s max_length is {longest}{why}: "
            "shorten the prompt or ask for fewer tokens"
        )
