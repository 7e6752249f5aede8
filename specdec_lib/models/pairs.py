"""A target and a draft by name, in one call: built in, fetched, or two models of the hub."""

import torch

from specdec_lib import assets
from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS
from specdec_lib.device import default_device, default_dtype, draft_dtype
from specdec_lib.errors import dependency_error
from specdec_lib.models import scale
from specdec_lib.models.catalogue import BUILT_IN, DOWNLOAD_LIMIT, SMOLLM2, PairError, require_known
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair, require_memory
from specdec_lib.models.smollm2 import load_smollm2
from specdec_lib.models.tokenizer import FileTokenizer

BUILT_IN_EOS = frozenset([0])


def load_pair(
    name: str = BUILT_IN,
    draft: str | None = None,
    target_cost: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
    yes: bool = False,
    limit: float = DOWNLOAD_LIMIT,
) -> Pair:
    """The pair called `name` with one of its drafts, by default its first.

    `name` is "stdlib" (built in, no network), "smollm2-135m" (after `specdec fetch`), a pair of
    published.json, or a model of the hub as "owner/name"; then `draft` is another one with the same
    tokenizer. Either may be a folder.
    `target_cost` (a name in scale.TARGET_COSTS) makes the built-in target as slow as a model of
    that size without changing its distribution. The defaults are CUDA and bfloat16 with a GPU
    (float16 before compute capability 8.0), else the CPU and float32. It asks before a download,
    unless `yes`, and downloads at most `limit` gigabytes. Raises PairError if the pair cannot be
    loaded, and DependencyError without the transformers that it needs.
    """
    device = torch.device(device or default_device())
    dtype = dtype or default_dtype(device)
    if name == BUILT_IN:
        return load_built_in(draft or BUILT_IN_DRAFTS[0], target_cost, device, dtype)
    if target_cost is None and name == SMOLLM2:
        return load_smollm2(draft, device, dtype)
    if target_cost is not None:
        raise PairError(f"target_cost is for the built-in pair; {name} has its own cost")
    # Imported only here, because it imports transformers, which takes seconds.
    try:
        from specdec_lib.models.published import hub
    except ImportError as error:
        raise dependency_error("transformers", error) from error
    return hub.load_hub_pair(name, draft, device, dtype, yes, limit)


def load_built_in(name: str, cost: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The built-in pair; with `cost`, its target made as slow as a larger one."""
    require_known("built-in draft", name, BUILT_IN_DRAFTS)
    if cost is not None:
        require_known("target_cost", cost, tuple(scale.TARGET_COSTS))
    plain, small = read_shape(ASSETS / "target"), read_shape(ASSETS / name)
    shape = scale.grow_shape(plain, scale.TARGET_COSTS[cost]) if cost else plain
    weights = scale.parameter_count(shape) + scale.parameter_count(small)
    require_memory(weights * dtype.itemsize, dtype, device)
    ratio = scale.size_ratio(plain, small)
    label = f"the built-in pair with its {name} draft, {ratio} by parameters"
    if cost:
        slowed = f"slowed down to a cost of {scale.size_ratio(shape, small)}"
        label += f"; {slowed}, with the same distribution"
    target = Llama(scale.target_weights(cost, dtype, device))
    draft = Llama.from_folder(ASSETS / name, device, draft_dtype(device, dtype))
    tokenizer = FileTokenizer(assets.tokenizer())
    return Pair(BUILT_IN, target, draft, tokenizer, label, BUILT_IN_EOS)
