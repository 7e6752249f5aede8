"""The drafters that family.py compares: how each is made for a target, and the settings tried."""

import inspect
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tokenizers import Tokenizer

from specdec_lib.assets import ASSETS, BUILT_IN_DRAFTS, tokenizer
from specdec_lib.decoding.generate import tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.decoding.variants.block_verification import verify_whole_block
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
from specdec_lib.measure.core.models import draft
from specdec_lib.measure.core.runs import SAMPLED, Decoder, Prompts, decoder, speculative
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import choices_for

TRIED_K = (1, 2, 3, 5)
SHAPES = ((2,), (2, 1), (2, 2), (3, 1, 1))  # of trees: candidates a level
OTHER_TOKENS = 1024  # in the vocabulary of the draft that has another one


class Variant(NamedTuple):
    """A drafter with one K, or with one shape of tree."""

    setting: str
    depth: int  # draft steps a block
    decode: Decoder


class Member(NamedTuple):
    """A way to decode: the object whose file is counted, and the variants that are tried."""

    made_of: object
    variants: list[Variant]

    @property
    def file(self) -> str:
        """The file that it is written in."""
        known = inspect.isfunction(self.made_of)
        return inspect.getfile(self.made_of if known else type(self.made_of))


def family(model: Llama, tokens: int) -> dict[str, Member]:
    """All of them by name, for the built-in target or that one grown, `tokens` new ones a call."""
    one, several = partial(chain, model, tokens), partial(tree, model, tokens)
    heads, head, small = load_heads(model), load_head(model), draft("small")
    members = {f"{name} draft": one(ModelDrafter(draft(name))) for name in BUILT_IN_DRAFTS}
    members["large draft, block verification"] = one(
        ModelDrafter(draft("large")), verify_whole_block
    )
    members["small draft, other vocabulary"] = one(other_vocabulary(small))
    counts = Counts.load(ASSETS / "ngrams.npz")
    for order, name in enumerate(("unigram", "bigram", "trigram"), start=1):
        members[name] = one(NgramDrafter(counts, order))
    members["prompt lookup"] = one(PromptLookup(model.vocab_size))
    for layers in range(1, read_shape(ASSETS / "target").layers):  # grown: the others add nothing
        members[f"early exit after {layers}"] = one(EarlyExit(model, layers))
    members["Jacobi"] = one(Jacobi(model))
    members["Jacobi with a pool"] = one(Jacobi(model, pool=True))
    members["Medusa heads"] = one(Medusa(model, heads))
    members["EAGLE head"] = one(Eagle(model, head))
    for how in PICKS:
        members[f"tree of the small draft, {how}"] = several(partial(Candidates, small, how=how))
    members["tree of Medusa heads"] = several(partial(MedusaTree, model, heads))
    members["tree of the EAGLE head"] = several(partial(EagleTree, model, head))
    return members


def chain(model: Llama, tokens: int, drafter: Drafter, verifier: Verifier = verify) -> Member:
    """Speculative decoding with every K that is tried."""
    variants = []
    for k in TRIED_K:
        decode = speculative(model, drafter, k, SAMPLED, tokens, verifier)
        variants.append(Variant(f"K = {k}", k, decode))
    return Member(drafter if verifier is verify else verifier, variants)


def tree(model: Llama, tokens: int, make: Callable[[Sequence[int]], TreeDrafter]) -> Member:
    """Speculative decoding with every shape of tree that is tried."""
    variants = []
    for widths in SHAPES:
        generate = partial(one_tree, model, make(widths), len(widths))
        setting = "x".join(map(str, widths))
        variants.append(Variant(setting, len(widths), decoder(generate, SAMPLED, tokens)))
    return Member(make(SHAPES[0]), variants)


def one_tree(
    model: Llama, drafter: TreeDrafter, depth: int, prompts: Prompts, settings: Settings, rngs: list
) -> Generation:
    """Trees of `depth` levels after the one prompt."""
    (prompt,), drawn = prompts, choices_for(settings.warp, rngs)
    return tree_generate(model, drafter, prompt, depth, settings, drawn)


def other_vocabulary(model: Llama) -> OtherVocabulary:
    """`model` with a smaller vocabulary: its first OTHER_TOKENS tokens, with their merges.

    It reads texts that are cut into more tokens than those that it was trained on, and drafts only
    what both vocabularies have.
    """
    return OtherVocabulary.between(model, first_tokens(tokenizer(), OTHER_TOKENS), tokenizer())


def first_tokens(whole: Tokenizer, most: int) -> Tokenizer:
    """The byte-level BPE of the first `most` tokens of `whole`: a merge makes a later token."""
    described = json.loads(whole.to_str())
    bpe = described["model"]
    bpe["vocab"] = {token: number for token, number in bpe["vocab"].items() if number < most}
    bpe["merges"] = [pair for pair in bpe["merges"] if "".join(pair) in bpe["vocab"]]
    return Tokenizer.from_str(json.dumps(described))
