"""Models and tokenizers of transformers from their folders.

Whatever goes wrong here is a PairError, which names the model and what to do. No model is returned
whose weights are not all in its files, and none whose text would not be exact.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from specdec_lib.models.catalogue import PairError
from specdec_lib.models.hf import Causal, EncoderDecoder

LFS_POINTER = b"version https://git-lfs"  # how Git LFS begins the file that stands for a large one
_REMEDY = "choose another model, or download it again if its files may not be whole"


@contextmanager
def quiet_transformers(level: int = logging.ERROR) -> Iterator[None]:
    """Nothing below `level` in transformers' log and no progress bar; afterwards as it was."""
    verbosity, has_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(level)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if has_bar:
            logging.enable_progress_bar()


@contextmanager
def as_pair_error(model: str) -> Iterator[None]:
    """Raise a PairError about `model` for whatever transformers raises; nothing is printed."""
    try:
        with quiet_transformers(logging.CRITICAL):
            yield
    except PairError as error:
        raise PairError(f"{model}: {error}") from error
    except Exception as error:  # of all kinds: of transformers, safetensors, torch and json
        first_line = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise PairError(f"{model} cannot be loaded ({first_line}): {_REMEDY}") from error


def load_meta_model(model: str, folder: Path) -> Causal | EncoderDecoder:
    """The model that config.json describes on the meta device: shapes, but no weights.

    Raises PairError if it could not be loaded, or would not be exact.
    """
    with as_pair_error(model):
        require_files(folder)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        require_full_precision(config)
        with torch.device("meta"):
            return to_protocol(auto_class(config).from_config(config))


def load_model(
    model: str, folder: Path, device: torch.device | str, dtype: torch.dtype
) -> Causal | EncoderDecoder:
    """The model in `folder`. Raises PairError if its files do not hold all of its weights."""
    with as_pair_error(model):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        loaded, report = auto_class(config).from_pretrained(
            folder, dtype=dtype, trust_remote_code=False,
            ignore_mismatched_sizes=True, output_loading_info=True,  # refused just below
        )  # fmt: skip
        require_all_weights(loaded, report)
        return to_protocol(loaded.to(device))


def load_tokenizer(model: str, folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer in `folder`. Raises PairError if there is none that decodes token by token."""
    with as_pair_error(f"the tokenizer of {model}"):
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        if not hasattr(tokenizer, "backend_tokenizer"):
            raise PairError(
                f"a {type(tokenizer).__name__} cannot decode token by token: choose a model with a "
                "tokenizer.json"
            )
        return tokenizer


def auto_class(config: PreTrainedConfig) -> type:
    """The class of transformers that makes models of this configuration."""
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


def to_protocol(model: PreTrainedModel) -> Causal | EncoderDecoder:
    """The model by the protocol."""
    return EncoderDecoder(model) if model.config.is_encoder_decoder else Causal(model)


def require_files(folder: Path) -> None:
    """Raise PairError if `folder` holds no model, or an adapter, or pointers to files elsewhere."""
    files = {path.name: path for path in folder.iterdir() if path.is_file()}
    if "adapter_config.json" in files:
        raise PairError("this is an adapter: merge it into its base model, and load that")
    if "config.json" not in files:
        raise PairError(
            "there is no config.json, as with GGUF files: choose a model in transformers' format"
        )
    for name, path in sorted(files.items()):
        with path.open("rb") as file:
            if file.read(len(LFS_POINTER)) == LFS_POINTER:
                raise PairError(f"{name} is only a pointer of Git LFS: run `git lfs pull` there")


def require_full_precision(config: PreTrainedConfig) -> None:
    """Raise PairError if the weights are quantised."""
    for part in (config, config.get_text_config()):
        quantisation = getattr(part, "quantization_config", None)
        if quantisation:
            is_dict = isinstance(quantisation, dict)
            method = quantisation.get("quant_method") if is_dict else quantisation.quant_method
            raise PairError(
                f"the weights are quantised ({method}): choose a model in float32, bfloat16 or "
                "float16"
            )


def require_all_weights(loaded: PreTrainedModel, report: dict) -> None:
    """Raise PairError if transformers filled in weights itself, at random: `report` tells."""
    missing = sorted(report["missing_keys"] & dict(loaded.named_parameters()).keys())
    if missing:
        raise PairError(
            f"there are no weights for {missing[0]} ({len(missing)} missing): {_REMEDY}"
        )
    for name, in_file, by_config in sorted(report["mismatched_keys"]):
        raise PairError(
            f"{name} has shape {tuple(in_file)} in its file and {tuple(by_config)} by config.json: "
            f"{_REMEDY}"
        )
