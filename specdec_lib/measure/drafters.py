"""Every drafter beside plain decoding, in one table: `python -m specdec_lib.measure.drafters`.

A trial on a few prompts gives the alpha and the c of every chain of draft tokens; with the target's
v the cost model chooses its K. Trees have one shape, SHAPE. Then all of them and plain decoding
take turns on other held-out prompts, at temperature 1. The table has the slow drafters too.

With `--target-cost` the target has the same distribution and costs more (scale.py): the drafters
that read its states and layers are made for it, and the draft models stay as they are. Its added
layers add nothing, so an early exit keeps its alpha and costs less beside the target.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import torch
from tokenizers import Tokenizer

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS, tokenizer
from specdec_lib.decoding.block_verification import verify_whole_block
from specdec_lib.decoding.generate import tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.verify import Verifier, verify
from specdec_lib.drafters.eagle import Eagle, EagleTree, load_head
from specdec_lib.drafters.early_exit import EarlyExit
from specdec_lib.drafters.jacobi import Jacobi
from specdec_lib.drafters.lookup import PromptLookup
from specdec_lib.drafters.medusa import Medusa, MedusaTree, load_heads
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.ngram import Counts, NgramDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import PICKS, Candidates, TreeDrafter
from specdec_lib.drafters.vocabulary import OtherVocabulary
from specdec_lib.measure.compare import compare, summary
from specdec_lib.measure.core.costs import pass_tasks
from specdec_lib.measure.core.held_out import prompts
from specdec_lib.measure.core.models import draft, target
from specdec_lib.measure.core.runs import SAMPLED, Decoder, Prompts, decoder, plain, speculative
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.models.scale import COSTS
from specdec_lib.sampling import choices_for
from specdec_lib.theory import Costs, acceptance_from_counts

PLAIN = "plain decoding"
TRIALS, TRIED_K, MOST_K = 3, 3, 5  # prompts of the trial, its K, and the largest K that is chosen
SHAPE = (2, 1)  # of trees: candidates a level
OTHER_TOKENS = 1024  # in the vocabulary of the draft that has another one
ROUNDS = 12  # of bare passes

ByK = Callable[[int], Decoder]


class Entry(NamedTuple):
    """A drafter as it runs in the table; alpha and c are those of the trial."""

    setting: str
    decode: Decoder
    alpha: float = float("nan")
    c: float = float("nan")


def chains(model: Llama, tokens: int) -> dict[str, ByK]:
    """Chains of draft tokens by name, for the built-in target or that one grown."""
    counts, one = Counts.load(ASSETS / "ngrams.npz"), partial(chain, model, tokens)
    layers = read_shape(ASSETS / "target").layers  # grown: the others add nothing
    return {
        **{f"{name} draft": one(ModelDrafter(draft(name))) for name in BUILT_IN_DRAFTS},
        "large draft, block verification": one(ModelDrafter(draft("large")), verify_whole_block),
        "small draft, other vocabulary": one(other_vocabulary(draft("small"))),
        "unigram": one(NgramDrafter(counts, 1)),
        "bigram": one(NgramDrafter(counts, 2)),
        "trigram": one(NgramDrafter(counts, 3)),
        "prompt lookup": one(PromptLookup(model.vocab_size)),
        **{f"early exit after {n}": one(EarlyExit(model, n)) for n in range(1, layers)},
        "Jacobi": one(Jacobi(model)),
        "Jacobi with a pool": one(Jacobi(model, pool=True)),
        "Medusa heads": one(Medusa(model, load_heads(model))),
        "EAGLE head": one(Eagle(model, load_head(model))),
    }


def trees(model: Llama, tokens: int) -> dict[str, Decoder]:
    """Trees of the shape SHAPE by name."""
    small = draft("small")
    drafters = {f"tree of the small draft, {how}": Candidates(small, SHAPE, how) for how in PICKS}
    drafters["tree of Medusa heads"] = MedusaTree(model, load_heads(model), SHAPE)
    drafters["tree of the EAGLE head"] = EagleTree(model, load_head(model), SHAPE)
    return {
        name: decoder(partial(one_tree, model, each), SAMPLED, tokens)
        for name, each in drafters.items()
    }


def chain(model: Llama, tokens: int, drafter: Drafter, verifier: Verifier = verify) -> ByK:
    """Speculative decoding by K."""
    return lambda k: speculative(model, drafter, k, SAMPLED, tokens, verifier)


def one_tree(
    model: Llama, drafter: TreeDrafter, prompts: Prompts, settings: Settings, rngs: list
) -> Generation:
    """Trees after the one prompt."""
    (prompt,), drawn = prompts, choices_for(settings.warp, rngs)
    return tree_generate(model, drafter, prompt, len(SHAPE), settings, drawn)


def other_vocabulary(model: Llama) -> OtherVocabulary:
    """`model` with a smaller vocabulary: its first OTHER_TOKENS tokens, with their merges.

    It reads texts in more tokens than those that it was trained on, and drafts only tokens that
    both vocabularies have.
    """
    return OtherVocabulary.between(model, first_tokens(tokenizer(), OTHER_TOKENS), tokenizer())


def first_tokens(whole: Tokenizer, most: int) -> Tokenizer:
    """The byte-level BPE of the first `most` tokens of `whole`: a merge makes a later token."""
    described = json.loads(whole.to_str())
    bpe = described["model"]
    bpe["vocab"] = {token: number for token, number in bpe["vocab"].items() if number < most}
    bpe["merges"] = [pair for pair in bpe["merges"] if "".join(pair) in bpe["vocab"]]
    return Tokenizer.from_str(json.dumps(described))


def chosen(by_k: ByK, v: dict[int, float], token: float, texts: Sequence[list[int]]) -> Entry:
    """A chain with the best K by the cost model; a plain token takes `token` seconds."""
    run = by_k(TRIED_K)
    blocks = [block for text in texts for block in run(text).blocks[0] if block.drafted]
    counts = [(block.accepted, len(block.drafted)) for block in blocks]
    accepted, judged = acceptance_from_counts(counts)
    alpha = accepted / max(judged, 1)
    steps = [block.draft_seconds / len(block.drafted) for block in blocks]
    c = statistics.median(steps) / token if steps else float("nan")
    k = max(1, Costs(c, v).best_k(alpha))
    return Entry(f"K = {k}", by_k(k), alpha, c)


def table(model: Llama, tokens: int, texts: Sequence[list[int]]) -> pd.DataFrame:
    """A row for each drafter, the fastest first; the first TRIALS of `texts` are for the trial."""
    times = interleaved(pass_tasks(model, range(1, MOST_K + 2)), ROUNDS)
    seconds = {width: statistics.median(each) for width, each in times.items()}
    v = {width: each / seconds[1] for width, each in seconds.items()}
    trial = partial(chosen, v=v, token=seconds[1], texts=texts[:TRIALS])
    entries = {PLAIN: Entry("", plain(model, SAMPLED, tokens))}
    entries |= {name: trial(by_k) for name, by_k in chains(model, tokens).items()}
    shape = "x".join(map(str, SHAPE))
    entries |= {name: Entry(shape, decode) for name, decode in trees(model, tokens).items()}
    frame = compare({name: entry.decode for name, entry in entries.items()}, texts[TRIALS:])
    columns = pd.DataFrame.from_dict(entries, "index", columns=Entry._fields).drop(columns="decode")
    return columns.join(summary(frame, PLAIN)).sort_values("speedup", ascending=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    command = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("--prompts", type=int, default=8, help="prompts that count (8)")
    command.add_argument("--tokens", type=int, default=64, help="new tokens a prompt (64)")
    command.add_argument("--target-cost", choices=list(COSTS), help="make the target this costly")
    options = command.parse_args(arguments)
    model = target(options.target_cost, torch.float32)
    found = table(model, options.tokens, prompts(options.prompts + TRIALS))
    print(found.to_string(float_format="{:.3g}".format, na_rep=""))


if __name__ == "__main__":
    main()
