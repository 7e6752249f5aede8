"""Published pairs: two models of the hub, as protocol.py asks for them, and their tokenizer."""

from collections.abc import Sequence
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


def load(name: str, draft: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """A pair of the hub; all that can be refused is refused before the weights are fetched."""
    names = repositories_of(name, draft)
    tokenizer = tokenizer_of(name, names)
    counts = [parameters_of(hub.texts(each)) for each in names]
    require_memory(sum(counts), dtype, device)
    target, small = (hf.load(folder, device, dtype) for folder in hub.weights(names))
    columns = common_columns((target.vocab_size, small.vocab_size), tokenizer)
    for model in (target, small):
        model.cut_vocabulary(columns)
    label = f"{names[0]} with {names[1]}: {in_words(counts[0] / counts[1])} pair by parameters"
    kind = SourcePair if isinstance(target, hf.EncoderDecoder) else Pair
    return kind(name, target, small, tokenizer, label, tokenizer.eos_token_id)


def repositories_of(name: str, draft: str | None) -> list[str]:
    """The repositories of the target and of the draft of a published pair."""
    pair = PUBLISHED["pairs"][name]
    draft = draft or next(iter(pair["drafts"]))
    require_known(f"draft of {name} called", draft, tuple(pair["drafts"]))
    return [pair["target"], pair["drafts"][draft]]


def tokenizer_of(name: str, repositories: list[str]) -> PreTrainedTokenizerBase:
    """The tokenizer that target and draft share; raises PairError if they have two."""
    shared = PUBLISHED["pairs"][name].get("tokenizer")
    sources = [shared] if shared else repositories
    folders = [hub.texts(each, "tokenizer.json") for each in sources]
    tokenizers = [AutoTokenizer.from_pretrained(folder) for folder in folders]
    require_same_vocabulary(tokenizers[0], tokenizers[-1], repositories)
    return tokenizers[0]


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


def common_columns(columns: tuple[int, int], tokenizer: PreTrainedTokenizerBase) -> int:
    """How many columns of logits two models share, given the columns of each.

    Some families fill the embedding up to a round number, another one for every size (Qwen2.5: 0.5B
    has 151,936, 7B has 152,064, the tokenizer fewer). Raises PairError if the smaller number
    leaves out a token.
    """
    common, last = min(columns), max(tokenizer.get_vocab().values())
    if last >= common:
        raise PairError(
            f"the models give {columns[0]} and {columns[1]} logits, too few for the tokenizer's "
            f"token {last}: model and tokenizer are not of one family"
        )
    return common
