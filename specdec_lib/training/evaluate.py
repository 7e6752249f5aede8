"""What the trained models are worth on held-out text."""

from dataclasses import asdict
from pathlib import Path

from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.measure.core.acceptance import (
    acceptance,
    bits_per_byte,
    model_reader,
    ngram_reader,
)
from specdec_lib.measure.core.held_out import all_tokens
from specdec_lib.models.llama import Llama

MODELS = ("target", "small", "base", "large")


def evaluate(assets: Path) -> dict[str, dict[str, float]]:
    """Bits a byte of every model and the acceptance of every draft, on novel lines only."""
    texts = all_tokens(assets)
    readers = {name: model_reader(Llama.from_folder(assets / name)) for name in MODELS}
    found = {name: {"bits_per_byte": bits_per_byte(read, texts)} for name, read in readers.items()}
    counts = Counts.load(assets / "ngrams.npz")
    for order, name in enumerate(("unigram", "bigram", "trigram"), 1):
        readers[name] = ngram_reader(NgramDrafter(counts, order))
        found[name] = {}
    target = readers.pop("target")
    for name, read in readers.items():
        found[name] |= asdict(acceptance(target, read, texts))
    return found
