"""A hub of our own making, with tiny models in its repositories."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

WORDS = ["</s>", "a", "b", "c", "d", "e"]


def write_tokenizer(folder: Path, words: list[str] = WORDS) -> None:
    """A tokenizer that gives each of `words` its place as id and ends every text with </s>."""
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=words[-1]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 0)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    fast.save_pretrained(folder)


def write_llama(folder: Path, width: int, layers: int = 2, heads: int = 2, mlp: int = 24) -> None:
    """A tiny Llama without a tokenizer, its embedding the output matrix too."""
    torch.manual_seed(width)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=width,
        intermediate_size=mlp,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=32,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def write_gpt2(folder: Path, width: int, columns: int, words: list[str] = WORDS) -> None:
    """A tiny GPT-2 with its tokenizer; `columns` is the width of the logits."""
    torch.manual_seed(width)
    sizes = {"vocab_size": columns, "n_embd": width, "n_layer": 1, "n_head": 2, "n_positions": 16}
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(folder)
    write_tokenizer(folder, words)


def write_t5(folder: Path, width: int) -> None:
    """A tiny T5 without a tokenizer."""
    torch.manual_seed(width)
    sizes = {"d_model": width, "d_kv": 4, "d_ff": 8, "num_heads": 2, "num_layers": 1}
    config = T5Config(vocab_size=len(WORDS), **sizes, decoder_start_token_id=0)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    (folder / "spiece.model").write_bytes(b"pieces")


@dataclass
class Hub:
    """A hub whose repositories are folders below `root`; `log` tells what was asked of it."""

    root: Path
    cache: Path
    commit: str = "a" * 40
    unit: int = 1  # what a byte of a file counts
    failing: Exception | None = None
    log: list[str] = field(default_factory=list)

    def model_info(self, repository: str, revision: str | None, files_metadata: bool):
        self.log.append(f"info {repository} {revision}")
        if self.failing:
            raise self.failing
        files = [
            SimpleNamespace(rfilename=path.name, size=path.stat().st_size * self.unit)
            for path in (self.root / repository).iterdir()
        ]
        tags = ["pytorch", "license:mit"]
        return SimpleNamespace(sha=revision or self.commit, siblings=files, tags=tags)

    def snapshot_download(self, repository: str, revision: str, allow_patterns: list[str]) -> str:
        self.log.append(f"download {repository} {revision} {' '.join(sorted(allow_patterns))}")
        folder = self.cache / f"models--{repository.replace('/', '--')}/snapshots/{revision}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in allow_patterns:
            shutil.copy(self.root / repository / name, folder)
        return str(folder)

    def weights_fetched(self) -> list[str]:
        return [line.split()[1] for line in self.log if "model.safetensors" in line]
