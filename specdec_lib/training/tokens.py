"""The byte-level BPE tokenizer that the built-in models share, and the corpus as token ids."""

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from specdec_lib.training.corpus import Document

VOCAB_SIZE = 2048
END = "<|endoftext|>"  # before every document; id 0


def train_tokenizer(texts: list[str]) -> Tokenizer:
    """A byte-level BPE (Sennrich et al., 2016; bytes as in GPT-2) of VOCAB_SIZE on `texts`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=True,
    )
    tokenizer.train_from_iterator(texts, trainer, length=len(texts))
    return tokenizer


def encode(tokenizer: Tokenizer, corpus: list[Document]) -> np.ndarray:
    """All documents one after the other, each after END: uint16 ids."""
    encoded = tokenizer.encode_batch([document.text for document in corpus])
    return np.concatenate([np.array([0, *each.ids], dtype=np.uint16) for each in encoded])


def prepare(folder: Path, corpus: list[Document]) -> None:
    """Write tokenizer.json and train.npy to `folder`, unless they are there."""
    if (folder / "train.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    training = [document for document in corpus if not document.held_out]
    tokenizer = train_tokenizer([document.text for document in training])
    tokenizer.save(str(folder / "tokenizer.json"))
    np.save(folder / "train.npy", encode(tokenizer, training))
