"""What must hold before a pair is loaded: one vocabulary, and enough memory."""

import os
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    PreTrainedTokenizerBase,
)

from specdec_lib.models.hub import PairError

MEMINFO = Path("/proc/meminfo")


def require_same_vocabulary(
    target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase, names: tuple[str, str]
) -> None:
    """Raise PairError unless both tokenizers give every string the same id.

    Equal sizes are not enough: with other strings, an accepted id would stand for another text.
    `names` are the target's and the draft's, for the message.
    """
    ours, theirs = target.get_vocab(), draft.get_vocab()
    strings = sorted(ours.keys() | theirs.keys())
    different = [each for each in strings if ours.get(each) != theirs.get(each)]
    if different:
        raise PairError(
            f"{names[0]} and {names[1]} have different vocabularies: {len(different)} of "
            f"{len(strings)} entries differ, such as {different[0]!r} (ids {ours.get(different[0])}"
            f" and {theirs.get(different[0])}). Choose a draft of the target's own family, or map "
            "the draft's distribution to the shared tokens"
        )


def common_columns(columns: tuple[int, int], tokenizer: PreTrainedTokenizerBase) -> int:
    """How many columns of logits two models share, given the columns of each.

    Some families fill the embedding up to a round number, another one for every size (Qwen2.5: 0.5B
    has 151,936, 7B has 152,064, the tokenizer fewer). Raises PairError where the smaller number
    leaves out a token.
    """
    common, last = min(columns), max(tokenizer.get_vocab().values())
    if last >= common:
        raise PairError(
            f"the models give {columns[0]} and {columns[1]} logits, too few for the tokenizer's "
            f"token {last}: model and tokenizer are not of one family"
        )
    return common


def parameters_of(folder: Path) -> int:
    """The number of parameters of the Hugging Face model in `folder`, from its config.json."""
    config = AutoConfig.from_pretrained(folder)
    auto = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    with torch.device("meta"):  # shapes without memory
        model = auto.from_config(config)
    return sum(weight.numel() for weight in model.parameters())


def require_memory(parameters: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise PairError where `device` has less memory free than these weights take.

    Nothing is raised where the free memory cannot be known.
    """
    needed, free = parameters * dtype.itemsize, free_memory(device)
    if free is not None and needed > free:
        raise PairError(
            f"the weights take {needed / 1e9:.1f} GB as {str(dtype).removeprefix('torch.')}, and "
            f"{free / 1e9:.1f} GB are free on {device}. Choose a smaller pair, dtype="
            "torch.bfloat16, or a device with more memory"
        )


def free_memory(device: torch.device) -> int | None:
    """Bytes that can be had on `device`; None where that cannot be known.

    On Linux what the kernel calls available, on other systems of the same kind all memory.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type != "cpu":
        return None
    if MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows; a name that the system lacks
        return None
