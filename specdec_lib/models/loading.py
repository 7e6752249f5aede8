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

POINTER = b"version https://git-lfs"  # how Git LFS begins the file that stands for a large one
AGAIN = "choose another model, or download it again if its files may not be whole"


@contextmanager
def explained(model: str) -> Iterator[None]:
    """Raise a PairError about `model` for whatever transformers raises; nothing is printed."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    except PairError as error:
        raise PairError(f"{model}: {error}") from error
    except Exception as error:  # of all kinds: of transformers, safetensors, torch and json
        said = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        raise PairError(f"{model} cannot be loaded ({said}): {AGAIN}") from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def outline(model: str, folder: Path) -> Causal | EncoderDecoder:
    """The model as its config.json describes it, without weights.

    Raises PairError if it could not be loaded, or would not be exact.
    """
    with explained(model):
        require_files(folder)
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        require_full_precision(config)
        with torch.device("meta"):
            return adapted(auto_class(config).from_config(config))


def load(
    model: str, folder: Path, device: torch.device | str, dtype: torch.dtype
) -> Causal | EncoderDecoder:
    """The model in `folder`. Raises PairError if its files do not hold all of its weights."""
    with explained(model):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        loaded, report = auto_class(config).from_pretrained(
            folder, dtype=dtype, trust_remote_code=False,
            ignore_mismatched_sizes=True, output_loading_info=True,  # refused just below
        )  # fmt: skip
        require_all_weights(loaded, report)
        return adapted(loaded.to(device))


def load_tokenizer(model: str, folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer in `folder`. Raises PairError if there is none that decodes token by token."""
    with explained(f"the tokenizer of {model}"):
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


def adapted(model: PreTrainedModel) -> Causal | EncoderDecoder:
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
            if file.read(len(POINTER)) == POINTER:
                raise PairError(f"{name} is only a pointer of Git LFS: run `git lfs pull` there")


def require_full_precision(config: PreTrainedConfig) -> None:
    """Raise PairError if the weights are quantised."""
    for each in (config, config.get_text_config()):
        found = getattr(each, "quantization_config", None)
        if found:
            how = found.get("quant_method") if isinstance(found, dict) else found.quant_method
            raise PairError(
                f"the weights are quantised ({how}): choose a model in float32, bfloat16 or float16"
            )


def require_all_weights(loaded: PreTrainedModel, report: dict) -> None:
    """Raise PairError if transformers filled in weights itself, at random: `report` tells."""
    missing = sorted(report["missing_keys"] & dict(loaded.named_parameters()).keys())
    if missing:
        raise PairError(f"there are no weights for {missing[0]} ({len(missing)} missing): {AGAIN}")
    for name, in_file, by_config in sorted(report["mismatched_keys"]):
        raise PairError(
            f"{name} has shape {tuple(in_file)} in its file and {tuple(by_config)} by config.json: "
            f"{AGAIN}"
        )
