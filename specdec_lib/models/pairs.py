"""A target and a draft by name, in one call.

`stdlib` is the built-in pair, trained on the Python standard library's source; it needs no network.
The others are published models, fetched from the Hugging Face hub (hub.py).
"""

import torch
from tokenizers import Tokenizer

from specdec_lib import assets
from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype
from specdec_lib.models.catalogue import BUILT_IN, PUBLISHED, PairError, require_known
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair, in_words, require_memory
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled

BUILT_IN_EOS = 0


class BuiltInTokenizer:
    """The tokenizer of the built-in models by the tokenizers package alone.

    It gives what transformers gives for the same file, without the seconds of that import.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`."""
        return self.tokenizer.encode(text).ids

    def decode(self, ids: list[int]) -> str:
        """The text of `ids`; the end-of-text token is shown as it is written."""
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def load_pair(
    name: str = BUILT_IN,
    draft: str | None = None,
    target_cost: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
    yes: bool = False,
) -> Pair:
    """Load the pair `name` with one of its drafts, by default its first.

    `target_cost` (a name in scale.COSTS) makes the built-in target as slow as a model of that size
    without changing its distribution. The device is by default CUDA if there is a GPU. The dtype
    is by default float32 on a CPU, where built-in drafts run in nothing narrower; on CUDA
    bfloat16, or float16 before compute capability 8.0. What has to be fetched is shown and asked
    for, unless `yes`. Raises PairError if a name is unknown, memory or disk are short, the
    vocabularies differ, the hub gives no files or the answer is no.
    """
    device = torch.device(device or default_device())
    dtype = dtype or default_dtype(device)
    if name == BUILT_IN:
        return built_in(draft or BUILT_IN_DRAFTS[0], target_cost, device, dtype)
    require_known("pair", name, (BUILT_IN, *PUBLISHED["pairs"]))
    if target_cost is not None:
        raise PairError(f"target_cost is for the built-in pair; {name} has the cost that it has")
    # Only here, since it brings transformers, whose import takes seconds.
    from specdec_lib.models import published

    return published.load(name, draft, device, dtype, yes)


def built_in(draft: str, cost: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The built-in pair; with `cost`, its target made as slow as a larger one."""
    require_known("built-in draft", draft, BUILT_IN_DRAFTS)
    if cost is not None:
        require_known("target_cost", cost, tuple(COSTS))
    folder = ASSETS / "target"
    plain, small = read_shape(folder), read_shape(ASSETS / draft)
    shape = grown_shape(plain, COSTS[cost]) if cost else plain
    require_memory(parameters(shape) + parameters(small), dtype, device)
    if cost:
        target = scaled(folder, cost, device, dtype)
        label = cost_label(cost, draft)
    else:
        target = Llama.from_folder(folder, device, dtype)
        label = (
            f"the built-in pair with its {draft} draft: {ratio(plain, small)} pair by parameters"
        )
    model = Llama.from_folder(ASSETS / draft, device, draft_dtype(device, dtype))
    tokenizer = BuiltInTokenizer(assets.tokenizer(ASSETS))
    return Pair(BUILT_IN, target, model, tokenizer, label, BUILT_IN_EOS)


def ratio(target: Shape, draft: Shape) -> str:
    """How much larger `target` is, in words: "a 16:1".

    Counted are the weights that a pass reads, which is all but the table of embeddings. If that
    is the output matrix too, as in the built-in models, these are the parameters.
    """
    read = [parameters(each) - each.vocab_size * each.width for each in (target, draft)]
    return in_words(read[0] / read[1])


def cost_label(cost: str, *drafts: str) -> str:
    """What the target at `cost`, a name in COSTS, is beside each of `drafts`, in words."""
    plain = read_shape(ASSETS / "target")
    grown = grown_shape(plain, COSTS[cost])
    small = [read_shape(ASSETS / draft) for draft in drafts]
    before, after = (" or ".join(ratio(each, s) for s in small) for each in (plain, grown))
    return (
        f"acceptance of {before} pair, cost of {after} pair (target to draft, by parameters): the "
        "built-in target was slowed down, so its acceptance stays what it was"
    )
