"""Two models of the Hugging Face hub as a pair: downloaded after one question, run by transformers.

huggingface_hub resumes downloads and keeps them in a cache, which needs no network. The models in
published.json are pinned to the commits that it names. What can be known without the weights is
checked before they are downloaded: the tokenizer, the architecture, the memory.
"""

from pathlib import Path

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import DryRunError, HFValidationError
from huggingface_hub.utils import validate_repo_id
from transformers import PreTrainedTokenizerBase

from specdec_lib.models.catalogue import PUBLISHED, PairError, confirm, repositories_of
from specdec_lib.models.hf import Causal
from specdec_lib.models.pair import Pair, require_memory
from specdec_lib.models.protocol import eos_ids
from specdec_lib.models.published import loading

# Configuration and tokenizer: a few megabytes, which are downloaded unasked.
SMALL_FILES = ["*.json", "*.txt", "*.model"]
WEIGHT_FILES = ["model*.safetensors", "pytorch_model*.bin"]


def load_hub_pair(
    name: str, draft: str | None, device: torch.device, dtype: torch.dtype, yes: bool, limit: float
) -> Pair:
    """The pair of two models; arguments and errors as in `load_pair`."""
    names = repositories_of(name, draft)
    folders = [(repository, folder_of(repository)) for repository in names]
    meta_models = [loading.load_meta_model(*folder) for folder in folders]
    tokenizer = tokenizer_of(name, folders)
    require_logits(tokenizer, names, meta_models)
    sizes = [meta.model.num_parameters() * dtype.itemsize for meta in meta_models]
    require_memory(sum(sizes), dtype, device)
    # A model for a GPU is first read into the machine's own memory.
    require_memory(max(sizes), dtype, torch.device("cpu"))
    download(names, yes, limit)
    target, small = (loading.load_model(*folder, device, dtype) for folder in folders)
    # Some families pad the logits differently in every model: Qwen2.5 to 151,936 in 0.5B, and to
    # 152,064 in 7B.
    target.vocab_size = small.vocab_size = min(target.vocab_size, small.vocab_size)
    ratio = target.model.num_parameters() / small.model.num_parameters()
    label = f"{names[0]} with {names[1]}, {ratio:.0f}:1 by parameters"
    ends = eos_ids(tokenizer.eos_token_id) | eos_ids(target.model.generation_config.eos_token_id)
    return Pair(name, target, small, tokenizer, label, ends)


def require_logits(
    tokenizer: PreTrainedTokenizerBase, names: tuple[str, str], meta_models: list[Causal]
) -> None:
    """Raise PairError if the tokenizer has a token for which a model has no logit."""
    token, number = max(tokenizer.get_vocab().items(), key=lambda item: item[1])
    for name, model in zip(names, meta_models, strict=True):
        if number >= model.vocab_size:
            raise PairError(
                f"the tokenizer's token {token!r} has the number {number}, and {name} has logits "
                f"for 0 to {model.vocab_size - 1}: choose a model with its own tokenizer"
            )


def folder_of(model: str) -> Path:
    """The folder of a model with its configuration and tokenizer, downloaded if need be."""
    if Path(model).is_dir():
        return Path(model)
    try:
        validate_repo_id(model)
    except HFValidationError:
        raise PairError(
            f"there is no folder {model}, and the hub names its models OWNER/NAME: look at the name"
        ) from None
    return Path(snapshot(model, allow_patterns=SMALL_FILES))


def download(models: tuple[str, str], yes: bool, limit: float) -> None:
    """Download the missing weights, after one question for both models.

    Raises PairError if they are larger than `limit` gigabytes, or if nobody agrees.
    """
    missing = {model: files for model in models if (files := missing_weights(model))}
    size = sum(sum(files.values()) for files in missing.values()) / 1e9
    if size > limit:
        raise PairError(
            f"{size:.1f} GB are over the limit of {limit:g} GB: raise --limit, or limit= in Python"
        )
    if missing and not yes:
        confirm(f"Download {' and '.join(missing)}, {size:.1f} GB? [y/N] ")
    for model, files in missing.items():
        snapshot(model, allow_patterns=list(files))


def missing_weights(model: str) -> dict[str, int]:
    """The sizes in bytes of a model's weight files that are not on this machine.

    They are safetensors, or PyTorch's own if there are none. Without a network the dict is empty.
    """
    if Path(model).is_dir():
        return {}
    files = snapshot(model, allow_patterns=WEIGHT_FILES, dry_run=True)
    top = [file for file in files if "/" not in file.filename]
    safe = [file for file in top if file.filename.endswith(".safetensors")]
    return {file.filename: file.file_size or 0 for file in safe or top if file.will_download}


def snapshot(model: str, **options) -> str | list:
    """`snapshot_download` at the model's commit. Raises PairError with the hub's own words."""
    revision = PUBLISHED["repositories"].get(model, {}).get("revision")
    try:
        return snapshot_download(model, revision=revision, **options)
    except DryRunError:  # no network: use what is in the cache
        return []
    except Exception as error:  # a lost connection is no OSError in huggingface_hub 2.4.0
        raise PairError(
            f"{model} cannot be downloaded: {error}\nWithout a network, use the built-in pair or "
            "one that was loaded before"
        ) from error


def tokenizer_of(name: str, folders: list[tuple[str, Path]]) -> PreTrainedTokenizerBase:
    """The tokenizer of both models. Raises PairError unless they give every token the same id.

    Vicuna has no tokenizer.json: published.json names a repository that has it.
    """
    shared = PUBLISHED["pairs"].get(name, {}).get("tokenizer")
    if shared:
        return loading.load_tokenizer(shared, folder_of(shared))
    tokenizer, other = (loading.load_tokenizer(*folder) for folder in folders)
    differ = tokenizer.get_vocab().items() ^ other.get_vocab().items()
    if differ:
        raise PairError(
            f"the two models have different vocabularies, for example at {min(differ)[0]!r}: "
            "choose a draft of the target's own family"
        )
    return tokenizer
