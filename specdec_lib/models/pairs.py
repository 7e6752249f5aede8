"""A target and a draft by name, in one call: the built-in pair, or two models of the hub."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Tokenizer

from specdec_lib import assets
from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype, free_memory, dtype_name
from specdec_lib.errors import library_error
from specdec_lib.models.catalogue import BUILT_IN, LIMIT, PairError, require_known
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled
from specdec_lib.text_stream import TextStream

BUILT_IN_EOS = frozenset([0])


@dataclass(frozen=True)
class Pair:
    """A target, its draft and the tokenizer of both; `label` describes them in one line.

    Each token of `eos_id` ends a text: the tokenizer's end, and those of generation_config.json.
    """

    name: str
    target: Model
    draft: Model
    tokenizer: Any  # of transformers, or a BuiltInTokenizer
    label: str
    eos_id: frozenset[int]

    @property
    def has_source(self) -> bool:
        """Whether the models read a text, as encoder-decoders do, and write one of their own."""
        return hasattr(self.target, "set_source")

    def prompt(self, text: str) -> list[int]:
        """The token ids that decoding starts from, to continue `text`.

        An encoder-decoder model gets the text as its source, and starts from a token of its own.
        """
        ids = self.tokenizer.encode(text)
        if not self.has_source:
            return ids
        for model in (self.target, self.draft):
            model.set_source(ids)
        return self.target.prompt

    def stream(self, prompt_ids: Sequence[int]) -> TextStream:
        """The text that is written after `prompt_ids`, token by token."""
        before = () if self.has_source else prompt_ids
        return TextStream(self.tokenizer.backend_tokenizer, before)


class BuiltInTokenizer:
    """The tokenizer of the built-in models, without the seconds that importing transformers takes.

    The ids and the texts are those that transformers gives for the same file.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.backend_tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`."""
        return self.backend_tokenizer.encode(text).ids

    def decode(self, ids: list[int]) -> str:
        """The text of `ids`; the end-of-text token is shown as it is written."""
        return self.backend_tokenizer.decode(ids, skip_special_tokens=False)


def load_pair(
    name: str = BUILT_IN,
    draft: str | None = None,
    target_cost: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
    yes: bool = False,
    limit: float = LIMIT,
) -> Pair:
    """The pair called `name` with one of its drafts, by default its first.

    `name` is "stdlib" (built in, no network), a pair of published.json, or a model of the hub as
    "owner/name"; then `draft` is another one with the same tokenizer. Either may be a folder.
    `target_cost` (a name in scale.COSTS) makes the built-in target as slow as a model of that size
    without changing its distribution. The defaults are CUDA and bfloat16 with a GPU (float16 before
    compute capability 8.0), else the CPU and float32. It asks before a download, unless `yes`, and
    downloads at most `limit` gigabytes. Raises PairError if the pair cannot be loaded,
    and LibraryError without the transformers that it needs.
    """
    device = torch.device(device or default_device())
    dtype = dtype or default_dtype(device)
    if name == BUILT_IN:
        return built_in(draft or BUILT_IN_DRAFTS[0], target_cost, device, dtype)
    if target_cost is not None:
        raise PairError(f"target_cost is for the built-in pair; {name} has its own cost")
    # Imported only here, because it imports transformers, which takes seconds.
    try:
        from specdec_lib.models import hub
    except ImportError as error:
        raise library_error("transformers", error) from error
    return hub.load(name, draft, device, dtype, yes, limit)


def built_in(draft: str, cost: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The built-in pair; with `cost`, its target made as slow as a larger one."""
    require_known("built-in draft", draft, BUILT_IN_DRAFTS)
    if cost is not None:
        require_known("target_cost", cost, tuple(COSTS))
    plain, small = read_shape(ASSETS / "target"), read_shape(ASSETS / draft)
    shape = grown_shape(plain, COSTS[cost]) if cost else plain
    require_memory((parameters(shape) + parameters(small)) * dtype.itemsize, dtype, device)
    label = f"the built-in pair with its {draft} draft, {ratio(plain, small)} by parameters"
    if cost:
        target = scaled(ASSETS / "target", cost, device, dtype)
        label += f"; slowed down to a cost of {ratio(shape, small)}, with the same distribution"
    else:
        target = Llama.from_folder(ASSETS / "target", device, dtype)
    model = Llama.from_folder(ASSETS / draft, device, draft_dtype(device, dtype))
    tokenizer = BuiltInTokenizer(assets.tokenizer(ASSETS))
    return Pair(BUILT_IN, target, model, tokenizer, label, BUILT_IN_EOS)


def require_memory(needed: int, dtype: torch.dtype, device: torch.device) -> None:
    """Raise PairError if `needed` bytes of weights in `dtype` are more than is free on `device`."""
    free = free_memory(device)
    if free is not None and needed > free:
        raise PairError(
            f"the weights take {needed / 1e9:.1f} GB in {dtype_name(dtype)}, and "
            f"{free / 1e9:.1f} GB are free on {device}: choose a smaller pair, or free some memory"
        )


def ratio(target: Shape, draft: Shape) -> str:
    """How many times the weights of `draft` a pass of `target` reads: "16:1".

    The embedding is also the output matrix in the built-in models, so it counts once.
    """
    read = [parameters(each) - each.vocab_size * each.width for each in (target, draft)]
    return f"{read[0] / read[1]:.0f}:1"
