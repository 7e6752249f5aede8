"""A target and a draft by name, in one call.

`stdlib` is the built-in pair, trained on the Python standard library's source; it needs no network.
The others are published models, fetched from the Hugging Face hub (hub.py).
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from specdec_lib.models import hf, hub
from specdec_lib.models.checkpoint import Shape, read_shape
from specdec_lib.models.checks import (
    common_columns,
    parameters_of,
    require_memory,
    require_same_vocabulary,
)
from specdec_lib.models.hub import PUBLISHED, PairError
from specdec_lib.models.llama import Llama
from specdec_lib.models.protocol import Model
from specdec_lib.models.scale import COSTS, grown_shape, parameters, scaled

ASSETS = Path(__file__).with_name("assets")
BUILT_IN = "stdlib"
BUILT_IN_DRAFTS = ("large", "base", "small")  # the first one is the default
BUILT_IN_EOS = 0


@dataclass(frozen=True)
class Pair:
    """A target, its draft, and the tokenizer of both; `label` says in one line what they are.

    `tokenizer.encode(text)` gives token ids, `tokenizer.decode(ids)` text. `eos_id` ends a text,
    None where the tokenizer has no such token.
    """

    name: str
    target: Model
    draft: Model
    tokenizer: PreTrainedTokenizerBase
    label: str
    eos_id: int | None

    def prompt(self, text: str) -> list[int]:
        """The token ids that decoding starts from, to go on after `text`.

        Encoder-decoder models read `text` as their source here, and start from a token of its own.
        """
        ids = self.tokenizer.encode(text)
        if not isinstance(self.target, hf.EncoderDecoder):
            return ids
        for model in (self.target, self.draft):
            model.set_source(ids)
        return self.target.prompt


def catalogue() -> list[str]:
    """A line for each pair: its target, its drafts, and about how large each is."""
    lines = [f"{BUILT_IN}: built in, nothing is fetched; drafts {', '.join(BUILT_IN_DRAFTS)}"]
    for name, pair in PUBLISHED["pairs"].items():
        sized = [f"{draft} ({gigabytes(each)})" for draft, each in pair["drafts"].items()]
        target = f"{pair['target']} ({gigabytes(pair['target'])})"
        lines.append(f"{name}: {target}; drafts {', '.join(sized)}")
    return lines


def gigabytes(repository: str) -> str:
    """About how large the weights of `repository` are."""
    return f"{PUBLISHED['repositories'][repository]['gigabytes']:g} GB"


def load_pair(
    name: str = BUILT_IN,
    draft: str | None = None,
    target_cost: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> Pair:
    """Load the pair `name` with one of its drafts, by default its first.

    `target_cost` (a name in scale.COSTS) makes the built-in target as slow as a model of that size
    without changing its distribution. The device is by default CUDA where there is one. The dtype
    is by default float32 on a CPU, where built-in drafts run in nothing narrower; on CUDA
    bfloat16, or float16 before compute capability 8.0. Raises PairError where a name is unknown,
    the memory is short, the vocabularies differ or the hub gives no files.
    """
    device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    dtype = dtype or default_dtype(device)
    if name == BUILT_IN:
        return built_in(draft or BUILT_IN_DRAFTS[0], target_cost, device, dtype)
    require_known("pair", name, (BUILT_IN, *PUBLISHED["pairs"]))
    if target_cost is not None:
        raise PairError(f"target_cost is for the built-in pair; {name} has the cost that it has")
    return published(name, draft, device, dtype)


def default_dtype(device: torch.device) -> torch.dtype:
    """The dtype that `device` is fast in and the models are good in."""
    if device.type != "cuda":
        return torch.float32
    return torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16


def require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise PairError unless `name` is one of `known`."""
    if name not in known:
        raise PairError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")


def built_in(draft: str, cost: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
    """The built-in pair; with `cost`, its target made as slow as a larger one."""
    require_known("built-in draft", draft, BUILT_IN_DRAFTS)
    if cost is not None:
        require_known("target_cost", cost, tuple(COSTS))
    folder = ASSETS / "target"
    plain, small = read_shape(folder), read_shape(ASSETS / draft)
    shape = grown_shape(plain, COSTS[cost]) if cost else plain
    require_memory(parameters(shape) + parameters(small), dtype, device)
    if cost:
        target = scaled(folder, cost, device, dtype)
        label = cost_label(cost, draft)
    else:
        target = Llama.from_folder(folder, device, dtype)
        label = (
            f"the built-in pair with its {draft} draft: {ratio(plain, small)} pair by parameters"
        )
    if device.type == "cpu":  # a matrix as small as a draft's is fastest there in float32
        dtype = torch.promote_types(dtype, torch.float32)
    model = Llama.from_folder(ASSETS / draft, device, dtype)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    return Pair(BUILT_IN, target, model, tokenizer, label, BUILT_IN_EOS)


def ratio(target: Shape, draft: Shape) -> str:
    """How much larger `target` is, in words: "a 16:1".

    Counted are the weights that a pass reads, which is all but the table of embeddings. Where that
    is the output matrix too, as in the built-in models, these are the parameters.
    """
    read = [parameters(each) - each.vocab_size * each.width for each in (target, draft)]
    return in_words(read[0] / read[1])


def cost_label(cost: str, *drafts: str) -> str:
    """What the target at `cost`, a name in COSTS, is beside each of `drafts`, in words."""
    plain = read_shape(ASSETS / "target")
    grown = grown_shape(plain, COSTS[cost])
    small = [read_shape(ASSETS / draft) for draft in drafts]
    before, after = (" or ".join(ratio(each, s) for s in small) for each in (plain, grown))
    return (
        f"acceptance of {before} pair, cost of {after} pair; a real pair that far apart "
        "accepts less (T5-XXL/small, 143:1: .62)"
    )


def in_words(value: float) -> str:
    """16.2 -> "a 16:1", 8.1 -> "an 8:1"."""
    whole = f"{value:.0f}"
    article = "an" if whole.startswith("8") or whole in ("11", "18") else "a"
    return f"{article} {whole}:1"


def published(name: str, draft: str | None, device: torch.device, dtype: torch.dtype) -> Pair:
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
    return Pair(name, target, small, tokenizer, label, tokenizer.eos_token_id)


def repositories_of(name: str, draft: str | None) -> list[str]:
    """The repositories of the target and of the draft of a published pair."""
    pair = PUBLISHED["pairs"][name]
    draft = draft or next(iter(pair["drafts"]))
    require_known(f"draft of {name} called", draft, tuple(pair["drafts"]))
    return [pair["target"], pair["drafts"][draft]]


def tokenizer_of(name: str, repositories: list[str]) -> PreTrainedTokenizerBase:
    """The tokenizer that target and draft share; raises PairError where they have two."""
    shared = PUBLISHED["pairs"][name].get("tokenizer")
    sources = [shared] if shared else repositories
    folders = [hub.texts(each, "tokenizer.json") for each in sources]
    tokenizers = [AutoTokenizer.from_pretrained(folder) for folder in folders]
    require_same_vocabulary(tokenizers[0], tokenizers[-1], repositories)
    return tokenizers[0]
