"""Published pairs: two models of the hub, as protocol.py asks for them, and their tokenizer."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedTokenizerBase,
)

from specdec_lib.models import hf, hub
from specdec_lib.models.catalogue import PUBLISHED, PairError, require_known
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.pair import Pair, in_words, require_memory


class SourcePair(Pair):
    """A pair of encoder-decoder models, which read a source and start from a token of their own."""

    def prompt(self, text: str) -> list[int]:
        """Make `text` the source of both; returns the token ids that decoding starts from.

        Each reads it when it first decodes: plain decoding does not wait for the draft's encoder.
        """
        ids = self.tokenizer.encode(text)
        for model in (self.target, self.draft):
            model.set_source(ids)
        return self.target.prompt


def load(
    name: str, draft: str | None, device: torch.device, dtype: torch.dtype, yes: bool = False
) -> Pair:
    """A published pair with one of its drafts, by default the first; `yes` as in `load_all`."""
    known = tuple(PUBLISHED["pairs"][name]["drafts"])
    draft = draft or known[0]
    require_known(f"draft of {name} called", draft, known)
    return load_all(name, device, dtype, (draft,), yes)[draft]


def load_all(
    name: str,
    device: torch.device,
    dtype: torch.dtype,
    drafts: Sequence[str] | None = None,
    yes: bool = False,
) -> dict[str, Pair]:
    """A published pair with each of its drafts, by name: the target is loaded once for all.

    All that can be refused is refused before the weights are fetched: other vocabularies, too
    little memory, too small a disk. Then the student is asked, unless `yes`. Raises PairError.
    """
    entry = PUBLISHED["pairs"][name]
    drafts = tuple(drafts or entry["drafts"])
    names = [entry["target"], *(entry["drafts"][each] for each in drafts)]
    tokenizer = tokenizer_of(name, names)
    counts = checked_counts(names, device, dtype)
    target, *small = (load_model(folder, device, dtype) for folder in hub.weights(names, yes))
    columns = common_columns([each.vocab_size for each in (target, *small)], tokenizer)
    for model in (target, *small):
        model.cut_vocabulary(columns)
    kind = SourcePair if isinstance(target, hf.EncoderDecoder) else Pair
    ratios = [f"{in_words(counts[0] / each)} pair by parameters" for each in counts[1:]]
    labels = [f"{names[0]} with {n}: {r}" for n, r in zip(names[1:], ratios, strict=True)]
    return {
        each: kind(name, target, model, tokenizer, label, tokenizer.eos_token_id)
        for each, model, label in zip(drafts, small, labels, strict=True)
    }


def checked_counts(names: Sequence[str], device: torch.device, dtype: torch.dtype) -> list[int]:
    """The parameters of a target and its drafts. Raises PairError if the memory is short."""
    counts = [parameters_of(hub.texts(each)) for each in names]
    require_memory(sum(counts), dtype, device)
    if not is_ours(hub.texts(names[0])):  # transformers fills the model on the CPU, then moves it
        require_memory(counts[0], dtype, torch.device("cpu"))
    return counts


def load_model(
    folder: Path, device: torch.device, dtype: torch.dtype
) -> Llama | hf.Causal | hf.EncoderDecoder:
    """The model of `folder`: our own Llama if it is one or a relative, else transformers' own.

    Raises ValueError if neither can run it.
    """
    if is_ours(folder):
        return Llama.from_folder(folder, device, dtype)
    return hf.load(folder, device, dtype)  # what transformers does not know either, hf.py says


def is_ours(folder: Path) -> bool:
    """Whether the configuration in `folder` is of a form that our own Llama runs."""
    try:
        read_shape(folder)
    except ValueError:
        return False
    return True


def tokenizer_of(name: str, repositories: Sequence[str]) -> PreTrainedTokenizerBase:
    """The tokenizer that target and drafts share; raises PairError if they have two.

    Some repositories hold their vocabulary as a SentencePiece file only, which transformers reads
    with a package that the course does not install. Their pair names a repository that holds the
    same vocabulary as tokenizer.json, and the same SentencePiece file.
    """
    shared = PUBLISHED["pairs"][name].get("tokenizer")
    for draft in repositories[1:]:
        require_shared_vocabulary(shared or repositories[0], repositories[0], draft)
    return tokenizer_in(shared or repositories[0])


def tokenizer_in(repository: str) -> PreTrainedTokenizerBase:
    """The tokenizer of a repository that holds a tokenizer.json."""
    return AutoTokenizer.from_pretrained(hub.texts(repository, "tokenizer.json"))


def require_shared_vocabulary(tokenizer: str, target: str, draft: str) -> None:
    """Raise PairError unless two repositories have the vocabulary of the one named `tokenizer`.

    By SentencePiece's file where each has one, by all entries of the tokenizers otherwise.
    """
    others = [each for each in (target, draft) if each != tokenizer]
    folders = [hub.texts(tokenizer, "tokenizer.json"), *map(hub.texts, others)]
    pieces = set(map(sentence_pieces, folders))
    if len(pieces) == 1 and None not in pieces:
        return
    vocabularies = [tokenizer_in(each) for each in (tokenizer, *others)]
    for other in vocabularies[1:]:
        require_same_vocabulary(vocabularies[0], other, (target, draft))


def sentence_pieces(folder: Path) -> str | None:
    """The digest of SentencePiece's file in `folder`, None if there is none."""
    files = [folder / each for each in ("tokenizer.model", "spiece.model")]
    held = next((each for each in files if each.exists()), None)
    return held and sha256(held.read_bytes()).hexdigest()


def parameters_of(folder: Path) -> int:
    """The number of parameters of the Hugging Face model in `folder`, from its config.json."""
    config = AutoConfig.from_pretrained(folder)
    auto = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    with torch.device("meta"):  # shapes without memory
        model = auto.from_config(config)
    return sum(weight.numel() for weight in model.parameters())


def require_same_vocabulary(
    target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase, names: Sequence[str]
) -> None:
    """Raise PairError unless both tokenizers give every string the same id.

    Equal sizes are not enough: with other strings, an accepted id would stand for another text.
    `names` are the target's and the draft's, for the message.
    """
    ours, theirs = target.get_vocab(), draft.get_vocab()
    strings = sorted(ours.keys() | theirs.keys())
    different = [each for each in strings if ours.get(each) != theirs.get(each)]
    if different:
        raise PairError(
            f"{names[0]} and {names[1]} have different vocabularies: {len(different)} of "
            f"{len(strings)} entries differ, such as {different[0]!r} (ids {ours.get(different[0])}"
            f" and {theirs.get(different[0])}). Choose a draft of the target's own family, or map "
            "the draft's distribution to the shared tokens"
        )


def common_columns(columns: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> int:
    """How many columns of logits models share, given the columns of each.

    Some families fill the embedding up to a round number, another one for every size (Qwen2.5: 0.5B
    has 151,936, 7B has 152,064, the tokenizer fewer). Raises PairError if the smaller number
    leaves out a token.
    """
    common, last = min(columns), max(tokenizer.get_vocab().values())
    if last >= common:
        raise PairError(
            f"the models give {' and '.join(map(str, columns))} logits, too few for the "
            f"tokenizer's token {last}: model and tokenizer are not of one family"
        )
    return common
