"""The family of methods, one entry each: the table and the timeline of chapter 07 are made of it.

`reported` is what the source says of its own setting, in its own words as far as numbers go. It is
empty if no figure was found in a source that could be read.
"""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

#: What happens to the target's distribution, in the words of table and timeline.
KEPT = {
    "law": "kept at every temperature",
    "greedy": "the greedy text is kept",
    "choice": "kept or not, by how it is verified",
}


@dataclass(frozen=True)
class Method:
    """One method; `month` is 1 to 12, of the first paper or post that `source` names."""

    name: str
    year: int
    month: int
    drafts: str
    verifies: str
    kept: str  # a key of KEPT
    training: str
    relation: str
    reported: str
    source: str


FAMILY = [
    Method(
        "Blockwise parallel decoding", 2018, 11,
        "extra heads of the target", "the target's argmax, longest prefix",
        "greedy", "heads",
        "Predict, verify, accept: the idea of drafting, before sampling was possible.",
        "up to 2x fewer iterations without loss; 7x, and up to 4x in time, with some loss",
        "Stern, Shazeer, Uszkoreit, arXiv 1811.03115",
    ),
    Method(
        "Speculative decoding", 2022, 11,
        "a smaller model", "min(1, p/q) and the residual",
        "law", "none",
        "The acceptance rule: any draft, any temperature, one distribution.",
        "2.6x and 3.4x, T5-XXL with T5-small, English to German, temperature 1 and 0",
        "Leviathan, Kalman, Matias, arXiv 2211.17192, Table 2",
    ),
    Method(
        "Speculative sampling", 2023, 2,
        "a smaller model", "min(1, p/q) and the residual",
        "law", "none",
        "The same rule, found independently.",
        "1.92x to 2.46x, Chinchilla 70B with a 4B draft",
        "Chen et al., arXiv 2302.01318, Table 1",
    ),
    Method(
        "SpecInfer", 2023, 5,
        "one or several small models, as a tree", "the residual rule along the tree",
        "law", "none needed",
        "Many candidates a position, all scored in one pass under a tree mask.",
        "",
        "Miao et al., arXiv 2305.09781",
    ),
    Method(
        "Jacobi decoding", 2023, 5,
        "the target's own last pass", "a fixed point of the target's argmax",
        "greedy", "none",
        "No draft: all positions are guessed and renewed together.",
        "up to 38%, nearly 2x on parallel hardware, machine translation",
        "Santilli et al., arXiv 2305.10427",
    ),
    Method(
        "Draft & Verify", 2023, 9,
        "the target with layers skipped", "the full target",
        "law", "none",
        "Self-speculation: the draft is a part of the target.",
        "up to 1.99x (first version: 1.73x), LLaMA-2 family",
        "Zhang et al., arXiv 2309.08168",
    ),
    Method(
        "SpecTr", 2023, 10,
        "a smaller model, several candidates", "a transport of candidates to the target",
        "law", "none",
        "How much several candidates can bring at best, and a rule that comes near it.",
        "2.13x; 1.37x over speculative decoding",
        "Sun et al., arXiv 2310.15141",
    ),
    Method(
        "Prompt lookup", 2023, 11,
        "n-grams of the text so far", "accept with p(x): q is one-hot",
        "law", "none",
        "A draft without a model.",
        "2x to 4x on input-grounded tasks, Mistral-7B, greedy, one A100",
        "Saxena, github.com/apoorvumang/prompt-lookup-decoding",
    ),
    Method(
        "Lookahead decoding", 2023, 11,
        "n-grams of Jacobi trajectories", "the target, in the same pass",
        "law", "none",
        "Keeps what Jacobi iteration throws away.",
        "up to 1.8x on MT-bench",
        "Fu et al., arXiv 2402.02057; post of November 2023",
    ),
    Method(
        "Medusa", 2024, 1,
        "extra heads, each for one position", "typical acceptance, or exact",
        "choice", "heads; Medusa-2 the target too",
        "Heads again, with a tree of their guesses.",
        "2.2x to 3.6x",
        "Cai et al., arXiv 2401.10774",
    ),
    Method(
        "EAGLE", 2024, 1,
        "one layer on the target's features", "the residual rule along a tree",
        "law", "the layer",
        "The head sees the token before: drafts depend on one another again.",
        "2.7x to 3.5x, LLaMA2-Chat 70B",
        "Li et al., arXiv 2401.15077",
    ),
    Method(
        "Block verification", 2024, 3,
        "any", "the block as a whole",
        "law", "none",
        "A better verifier for the same draft.",
        "5% to 8% over token verification",
        "Sun et al., arXiv 2403.10444",
    ),
    Method(
        "LayerSkip", 2024, 4,
        "the target's first layers (early exit)", "the remaining layers",
        "law", "the target",
        "Trains the target so that its early layers can draft.",
        "up to 2.16x, summaries of CNN/DM",
        "Elhoushi et al., arXiv 2404.16710",
    ),
    Method(
        "Multi-token prediction", 2024, 4,
        "heads or a module trained with the target", "the target",
        "law", "with the target",
        "Drafting becomes part of pre-training.",
        "up to 3x; DeepSeek-V3: second token accepted 85% to 90%, 1.8x tokens a second",
        "Gloeckle et al., arXiv 2404.19737; DeepSeek-V3, arXiv 2412.19437, section 5.4.3",
    ),
    Method(
        "SLEM and TLI", 2025, 1,
        "any model, with any tokenizer", "text by text, or over the shared tokens",
        "law", "none",
        "Target and draft need not share a vocabulary.",
        "up to 2.8x",
        "Timor et al., arXiv 2502.05202",
    ),
    Method(
        "EAGLE-3", 2025, 3,
        "one layer on features of several depths", "the residual rule along a tree",
        "law", "the layer",
        "Predicts tokens, not features; trained on its own outputs.",
        "up to 6.5x; 1.38x throughput at batch 64 in SGLang",
        "Li et al., arXiv 2503.01840",
    ),
    Method(
        "P-EAGLE", 2026, 2,
        "EAGLE's layer, all depths in one pass", "the target",
        "law", "the layer",
        "Takes the K draft steps down to one.",
        "up to 1.69x over EAGLE-3 on one B200",
        "arXiv 2602.01469; AWS post of 13 March 2026",
    ),
    Method(
        "DFlash", 2026, 2,
        "a block-diffusion model on the target's features", "the target",
        "law", "the drafter",
        "The whole block in one pass of a diffusion model.",
        "over 6x; up to 2.5x EAGLE-3's speed-up",
        "Chen, Liang, Liu, arXiv 2602.06036",
    ),
    Method(
        "Speculative speculative decoding", 2026, 3,
        "a model on other hardware, for likely outcomes", "the target, meanwhile",
        "law", "none needed",
        "Drafts while the target verifies.",
        "up to 2x over optimised speculation, 5x over plain",
        "Kumar, Dao, May, arXiv 2603.03251",
    ),
    Method(
        "DSpark", 2026, 6,
        "a parallel drafter with a small sequential head", "as many tokens as the load allows",
        "law", "the drafter",
        "Verifies by confidence and by how busy the server is.",
        "accepted length 27% to 31% over EAGLE-3, 16% to 18% over DFlash",
        "DSpark paper, github.com/deepseek-ai/DeepSpec",
    ),
]  # fmt: skip


def of(name: str) -> Method:
    """The entry called `name`. Raises KeyError if there is none."""
    return {method.name: method for method in FAMILY}[name]


def as_data() -> list[dict[str, Any]]:
    """The entries as plain data, in order of time, with what is kept in words too."""
    entries = sorted(FAMILY, key=lambda method: (method.year, method.month))
    return [asdict(entry) | {"keptText": KEPT[entry.kept]} for entry in entries]


class FamilyTable:
    """The table of the family: HTML in a notebook, Markdown elsewhere."""

    HEAD = ("method", "year", "what drafts", "what verifies", "target's distribution", "training")

    def rows(self) -> list[tuple[str, ...]]:
        """One row a method, in order of time."""
        return [
            (m["name"], str(m["year"]), m["drafts"], m["verifies"], m["keptText"], m["training"])
            for m in as_data()
        ]

    def _repr_html_(self) -> str:
        left = 'style="text-align: left"'
        head = "".join(f'<th scope="col" {left}>{escape(cell)}</th>' for cell in self.HEAD)
        body = "".join(
            "<tr>" + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __repr__(self) -> str:
        lines = [self.HEAD, ("---",) * len(self.HEAD), *self.rows()]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)
