"""Which chain or tree of which draft is fastest, from acceptance and the costs of bare passes.

Tokens a block are computed (expected.py). Drafting costs a pass of the draft for every level, and
verifying one of the target over all nodes and the text's last token. Both are measured on bare
passes, in plain passes of the target: what a decoder adds is not in them. So E over their sum is
what the passes allow, and no decoder with these drafts does better.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import NamedTuple

import torch

from specdec_lib.assets import BUILT_IN_DRAFTS
from specdec_lib.decoding.generate import tree_generate
from specdec_lib.decoding.state import Generation, Settings
from specdec_lib.drafters.eagle import Eagle, EagleTree, load_head
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.drafters.protocol import Drafter
from specdec_lib.drafters.tree import Candidates, TreeDrafter, full_tree
from specdec_lib.measure.core.costs import CONTEXT, Task, pass_task, pass_tasks, random_text
from specdec_lib.measure.core.models import draft, target
from specdec_lib.measure.core.runs import GREEDY, Decoder, Prompts, decoder, plain, speculative
from specdec_lib.measure.core.timing import interleaved
from specdec_lib.measure.drafters.expected import (
    DEPTH,
    Along,
    Chances,
    along_model,
    along_states,
    chances,
    tokens_a_block,
    written,
)
from specdec_lib.models.cache import Tree
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp, choices_for

EAGLE = "EAGLE head"
CHAINS = tuple((1,) * k for k in range(1, DEPTH + 1))
# Candidates for each level: one level, then trees that are wide at the root, then full ones.
TREES = ((2,), (3,), (4,), (2, 1), (2, 1, 1), (3, 1, 1), (2, 2), (2, 2, 1), (2, 1, 1, 1), (2, 2, 2))
ROUNDS = 12

PassCosts = Mapping[tuple[str, int], float]  # seconds by (draft or "target", tokens)


class Draft(NamedTuple):
    """A draft beside one target, in every form that is compared."""

    chain: Drafter
    tree: Callable[[Sequence[int], str], TreeDrafter]
    step: Callable[[int], Task]  # a bare pass over so many tokens
    along: Along


class Option(NamedTuple):
    """A draft and the candidates for each level; a chain has one for each."""

    draft: str
    widths: tuple[int, ...]

    @property
    def nodes(self) -> int:
        """Draft tokens in a whole block."""
        return full_tree(self.widths)

    @property
    def is_chain(self) -> bool:
        """One candidate for every place."""
        return max(self.widths) == 1

    @property
    def setting(self) -> str:
        """In words."""
        return f"K = {self.nodes}" if self.is_chain else "tree " + "x".join(map(str, self.widths))

    @property
    def reads(self) -> list[int]:
        """The tokens of every pass of the draft: the text's last one, then level by level."""
        return [math.prod(self.widths[:level]) for level in range(len(self.widths))]


class Expected(NamedTuple):
    """What an option comes to; times are in plain passes of the target."""

    option: Option
    tokens: float  # a block
    drafting: float
    verifying: float  # v of all nodes and one

    @property
    def speed(self) -> float:
        """Over plain decoding, if nothing but passes took time."""
        return self.tokens / (self.drafting + self.verifying)


def drafts_for(model: Llama) -> dict[str, Draft]:
    """The drafts that are compared beside `model`, the built-in target or that one grown."""
    found = {}
    for name in BUILT_IN_DRAFTS:
        small = draft(name)
        tree = partial(Candidates, small)
        found[f"{name} draft"] = Draft(
            ModelDrafter(small), tree, partial(pass_task, small), along_model(small)
        )
    head, built_in = load_head(model), target(None, torch.float32)
    eagle, reader = Eagle(model, head), Eagle(built_in, load_head(built_in))
    found[EAGLE] = Draft(
        eagle, partial(EagleTree, model, head), partial(eagle_task, eagle), along_states(reader)
    )
    return found


def eagle_task(eagle: Eagle, tokens: int) -> Task:
    """A step of the head over `tokens` tokens after CONTEXT others, each time the same."""
    text = random_text(eagle.target, 1, tokens)
    states = torch.zeros(1, CONTEXT, eagle.width, dtype=eagle.target.dtype)
    level = Tree.of([0] * tokens, read=1) if tokens > 1 else None

    def run() -> None:
        eagle.head(eagle.next_states(states[:, :tokens], text, level))
        eagle.cache.truncate(CONTEXT)

    eagle.start([[0]], Warp(), CONTEXT + tokens)
    eagle.next_states(states, random_text(eagle.target, 1, CONTEXT))
    return run


def options(drafts: Iterable[str]) -> list[Option]:
    """Every chain and every tree of every draft."""
    return [Option(name, widths) for name in drafts for widths in (*CHAINS, *TREES)]


def best_option(
    drafts: Mapping[str, Draft], costs: PassCosts, prompts: Prompts, tokens: int, warp: Warp
) -> Expected:
    """The fastest that the costs of all options and the acceptance on `prompts` allow."""
    found = all_chances(drafts, prompts, tokens, warp)
    each = (expected(option, found, costs) for option in options(drafts))
    return max(each, key=lambda row: row.speed)


def all_chances(
    drafts: Mapping[str, Draft], prompts: Prompts, tokens: int, warp: Warp
) -> dict[str, Chances]:
    """The chances of every draft on the texts that the built-in target writes after `prompts`.

    A grown target has the same distribution, and so the same chances.
    """
    model = target(None, torch.float32)
    decode = plain(model, warp, tokens)
    texts = [written(model, prompt, decode(list(prompt)).tokens[0]) for prompt in prompts]
    with torch.inference_mode():
        return {name: chances(texts, each.along, warp == GREEDY) for name, each in drafts.items()}


def pass_costs(model: Llama, drafts: Mapping[str, Draft], compared: Sequence[Option]) -> PassCosts:
    """Seconds of bare passes by (draft, tokens), and of the target by ("target", tokens).

    Interleaved, a step of a draft after each pass of the target: it has pushed the draft's weights
    out of the processor's cache, as in a block.
    """
    widths = sorted({1, *(1 + option.nodes for option in compared)})
    steps = sorted({(option.draft, read) for option in compared for read in option.reads})
    verify = pass_tasks(model, widths)
    pairs = zip(cycle(widths), steps) if len(steps) > len(widths) else zip(widths, cycle(steps))
    tasks: dict[tuple, Task] = {}
    for turn, (width, (name, read)) in enumerate(pairs):
        tasks["target", width, turn] = verify[width]
        tasks[name, read, turn] = drafts[name].step(read)
    times: dict[tuple[str, int], list[float]] = {}
    for (name, count, _), seconds in interleaved(tasks, ROUNDS).items():
        times.setdefault((name, count), []).extend(seconds)
    return {key: statistics.median(each) for key, each in times.items()}


def expected(option: Option, found: Mapping[str, Chances], costs: PassCosts) -> Expected:
    """Tokens a block of `option`, and its passes in plain passes of the target."""
    one = costs["target", 1]
    return Expected(
        option,
        tokens_a_block(found[option.draft], option.widths),
        sum(costs[option.draft, read] for read in option.reads) / one,
        costs["target", 1 + option.nodes] / one,
    )


def decoder_of(
    option: Option, drafts: Mapping[str, Draft], model: Llama, warp: Warp, tokens: int
) -> Decoder:
    """The decoder that does what `option` says."""
    made = drafts[option.draft]
    if option.is_chain:
        return speculative(model, made.chain, option.nodes, warp, tokens)
    how = "top" if warp == GREEDY else "independent"
    generate = partial(one_tree, model, made.tree(option.widths, how), len(option.widths))
    return decoder(generate, warp, tokens)


def one_tree(
    model: Llama, drafter: TreeDrafter, depth: int, prompts: Prompts, settings: Settings, rngs: list
) -> Generation:
    """Trees of `depth` levels after the one prompt."""
    (prompt,), drawn = prompts, choices_for(settings.warp, rngs)
    return tree_generate(model, drafter, prompt, depth, settings, drawn)
