"""The text that the built-in models learn from, Python's own standard library, as token ids.

It is the source files and documentation topics of the interpreter that runs the script, under the
PSF licence. A document is held out by a hash of its name, so the split is the same everywhere.
"""

import hashlib
import sysconfig
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import ByteLevelBPETokenizer

# Tables of characters, and files that are wrong on purpose: neither reads as Python.
EXCLUDED_PATHS = ("site-packages", "encodings", "lib2to3/tests/data", "test/encoded_modules")
HELD_OUT_OF = 20  # one document in 20
VOCAB_SIZE = 2048
END_OF_TEXT = "<|endoftext|>"  # before every document; id 0


class LibraryDocument(NamedTuple):
    """One file or topic; `name` is its path below the library, with forward slashes."""

    name: str
    text: str

    @property
    def held_out(self) -> bool:
        """Whether it is kept from training."""
        return _hash(self.name) % HELD_OUT_OF == 0

    @property
    def is_test(self) -> bool:
        """Whether it is one of the library's own tests."""
        return any("test" in part for part in Path(self.name).parts)


def library_documents() -> list[LibraryDocument]:
    """Every document, in the order of a hash of its name."""
    return sorted(_sources() + _topics(), key=lambda document: _hash("order " + document.name))


def _sources() -> list[LibraryDocument]:
    """The library's .py files that are UTF-8, are not empty and are not in EXCLUDED_PATHS."""
    library = Path(sysconfig.get_path("stdlib"))
    sources = []
    for path in sorted(library.rglob("*.py")):
        name = path.relative_to(library).as_posix()
        if name.startswith(EXCLUDED_PATHS) or name == "pydoc_data/topics.py":
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if text.strip():
            sources.append(LibraryDocument(name, text))
    return sources


def _topics() -> list[LibraryDocument]:
    """The pages of the language reference that `help()` shows."""
    from pydoc_data.topics import topics

    return [LibraryDocument(f"topics/{name}.txt", text) for name, text in sorted(topics.items())]


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def train_tokenizer(texts: list[str]) -> ByteLevelBPETokenizer:
    """A byte-level BPE (Sennrich et al., 2016; bytes as in GPT-2) of VOCAB_SIZE on `texts`."""
    tokenizer = ByteLevelBPETokenizer()
    options = {"min_frequency": 0, "special_tokens": [END_OF_TEXT], "length": len(texts)}
    tokenizer.train_from_iterator(texts, VOCAB_SIZE, **options)
    return tokenizer


def encode_corpus(tokenizer: ByteLevelBPETokenizer, corpus: list[LibraryDocument]) -> np.ndarray:
    """All documents one after the other, each after END_OF_TEXT: uint16 ids."""
    encodings = tokenizer.encode_batch([document.text for document in corpus])
    return np.concatenate([np.array([0, *text.ids], dtype=np.uint16) for text in encodings])


def prepare(folder: Path) -> None:
    """Write tokenizer.json and train.npy to `folder`, unless they are there."""
    if (folder / "train.npy").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    training = [document for document in library_documents() if not document.held_out]
    tokenizer = train_tokenizer([document.text for document in training])
    tokenizer.save(str(folder / "tokenizer.json"))
    half = folder / ".train.half.npy"
    np.save(half, encode_corpus(tokenizer, training))
    half.replace(folder / "train.npy")
