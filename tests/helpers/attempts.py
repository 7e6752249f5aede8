"""Wrong answers as students write them, each with words of the causes that it may be told.

A failed test group is told a known bug's thought that has such words, or none: a wrong cause is
worse than none.
"""

from dataclasses import dataclass

from autograde.bugs import answers_of
from autograde.chapter import chapter_names


@dataclass(frozen=True)
class Attempt:
    """A wrong answer to an exercise, with words of what its failed test groups may be told."""

    exercise: str
    name: str
    causes: list[str]
    code: str

    @property
    def chapter(self) -> str:
        return chapter_of(self.exercise)


def chapter_of(exercise: str) -> str:
    """The chapter that asks for it: no two have an exercise of one name."""
    (chapter,) = [each for each in chapter_names() if exercise in answers_of(each)]
    return chapter


def with_slips(exercise: str, *slips: tuple[str, str]) -> str:
    """The solution's answer with the new text of each slip for the old, which stands there once."""
    code = answers_of(chapter_of(exercise))[exercise]
    for old, new in slips:
        assert code.count(old) == 1, (exercise, old)
        code = code.replace(old, new)
    return code


UNGUARDED = ("residual_distribution(residual, q)", "(d := np.maximum(residual - q, 0)) / d.sum()")

# By exercise and what is wrong: words of the causes, and the slips in the solution's answer.
SLIPS = {
    ("forward_time", "no parameters in the time of calculating"): (
        ["two FLOP"],
        ("n_tokens * n_params", "n_tokens"),
    ),
    ("greedy_speculative_decode", "takes an eos of 0 for none"): (
        [],
        ("if eos in block", "if eos and eos in block"),
    ),
    ("greedy_speculative_decode", "asks the target once more for every bonus token"): (
        ["pass", "call"],
        ("int(np.argmax(p[m]))", "int(np.argmax(target_model([*prefix, *drafted[:m]])[-1]))"),
    ),
    ("greedy_speculative_decode", "writes whole blocks past the limit, and drops eos"): (
        ["last block", "eos"],
        ("min(k, max_new_tokens - len(written) - 1)", "k"),
        ("block.index(eos) + 1", "block.index(eos)"),
    ),
    ("acceptance_probability", "takes the smaller of p and q"): (
        ["smaller", "min("],
        ("min(1.0, float(p[token] / q[token]))", "float(min(p[token], q[token]))"),
    ),
    ("speculative_accept", "keeps above the ratio"): (["above", "below"], (">=", "<=")),
    ("speculative_accept", "stops below the ratio"): (["above", "below"], (">=", "<")),
    ("speculative_accept", "stops below the ratio, and looks at the zeros first"): (
        ["above", "below"],
        ("r[i] >=", "p[i, token] == 0 or r[i] <="),
    ),
    ("speculative_accept", "goes on after a rejection, and keeps p = 0 where r = 0"): (
        ["rejection", "r = 0"],
        (">=", ">"),
        ("break", "continue"),
    ),
    ("speculative_accept", "counts the tokens that pass and takes as many from the front"): (
        ["rejection"],
        ("break", "continue"),
        ("return accepted", "return draft_tokens[: len(accepted)]"),
    ),
    ("residual_distribution", "takes |p - q|, and divides by 0 where the two are equal"): (
        ["|p - q|", "divide by"],
        ("np.maximum(p - q, 0)", "abs(p - q)"),
        ("\n    if total == 0:\n        return p.copy()", ""),
    ),
    ("speculative_step", "ends every block with a token from row K"): (
        ["row K"],
        ("sample_from(last, u)]", "sample_from(last, u), *[sample_from(p[k], u)][: k - n]]"),
    ),
    ("speculative_step", "takes the residual of the row before the rejected one"): (
        ["last accepted", "before"],
        ("(p[n], q[n])", "(p[n - 1], q[n - 1])"),
    ),
    ("argmax_draft_law", "does not cap the ratio, and divides by 0 where nothing is missing"): (
        ["accepted share", "ratio"],
        ("min(1.0, p[token] / q[token])", "p[token] / q[token]"),
        ("if accepted < 1", "if True"),
    ),
    ("repair", "reports 1 and 0, as if they were not passed through a softmax"): (
        ["the library takes probabilities"],
        ("choices.choose(softmax(logits))", "int(np.argmax(logits))"),
        ("return token, logits", "return token, np.eye(len(logits))[token]"),
    ),
    ("distillation_loss", "computes the value without a gradient"): (
        ["loss"],
        ("torch.minimum(p, q).sum(-1).mean()", "torch.minimum(p, q).double().sum(-1).mean().data"),
    ),
    ("alpha_from_blocks", "divides by all that was drafted, and refuses nothing"): (
        ["every drafted token"],
        ("not accepted or min(accepted) < 0 or max(accepted) > k", "False"),
        ("sum(min(n + 1, k) for n in accepted)", "(k * len(accepted))"),
    ),
    ("audit", "knows the limit by alpha, and forgets that a block ends after its bonus"): (
        ["only a wrong position"],
        ("fewest <= 1 / max(1 - highest, 1 / (k + 1))", "fewest * (1 - highest) <= 1"),
    ),
    ("paired_speedup", "divides the sums, and refuses nothing"): (
        ["total"],
        (
            "len(baseline_seconds) != len(speculative_seconds) or len(baseline_seconds) == 0",
            "False",
        ),
        ("np.array(baseline_seconds) / np.array", "[sum(baseline_seconds) / sum"),
        ("(speculative_seconds)\n", "(speculative_seconds)]\n"),
    ),
    ("simulate_decode", "cuts the last block at n_tokens"): (
        ["reports n"],
        ('"tokens": tokens', '"tokens": min(tokens, n_tokens)'),
    ),
    ("one_hot_accept", "draws the correction from p"): (
        ["the target itself"],
        ("rest / rest.sum()", "p"),
    ),
    ("multi_candidate_accept", "judges each candidate against p, and divides by 0 at an edge"): (
        ["judged against"],
        ("residual[token]", "p[token]"),
        UNGUARDED,
    ),
    ("multi_candidate_accept", "draws from p where all are rejected"): (
        ["all are rejected"],
        ("sample_from(residual, u)", "sample_from(p, u)"),
        UNGUARDED,
    ),
    ("rollback", "removes `length` positions"): (
        ["how many positions"],
        ("if length < held", "if length"),
        ("truncate(length)", "truncate(held - length)"),
    ),
    ("verify_block", "counts all tokens that pass, also those behind a rejection"): (
        ["wherever"],
        (".cumprod(-1)", ""),
    ),
}

# The same with the whole answer.
ANSWERS = {
    ("is_lossless", "samples a thousand tokens"): (
        [],
        """
def is_lossless(rule, p, q):
    rng = np.random.default_rng(1)

    class Choices:
        def choose(self, probabilities):
            return int(rng.choice(len(probabilities), p=probabilities))

    counts = np.bincount([rule(p, q, Choices()) for _ in range(1000)], minlength=len(p))
    return bool(np.abs(counts / 1000 - p).max() < 0.06)
""",
    ),
    ("is_lossless", "counts the branches that write each token, whatever their probability"): (
        ["every branch counts alike"],
        """
def is_lossless(rule, p, q):
    ways = [token for token, _ in exact.branches(lambda choices: rule(p, q, choices))]
    law = np.bincount(ways, minlength=len(p)) / len(ways)
    return bool(np.abs(law - p).max() < 1e-12)
""",
    ),
    ("prompt_lookup", "takes the second latest occurrence"): (
        [],
        """
def prompt_lookup(tokens, k, max_ngram=3):
    tokens = list(tokens)
    for n in range(max_ngram, 0, -1):
        if len(tokens) <= n:
            continue
        hits = [i for i in range(len(tokens) - n) if tokens[i : i + n] == tokens[-n:]]
        if hits:
            i = hits[-2] if len(hits) > 1 else hits[-1]
            return tokens[i + n : i + n + k]
    return []
""",
    ),
    ("implied_alpha", "searches a grid of ten thousandths"): (
        ["decimals"],
        """
def implied_alpha(seconds_per_token, target_seconds, draft_seconds, k):
    wanted = (k * draft_seconds + target_seconds) / seconds_per_token
    if wanted < 1 - 1e-9 or wanted > k + 1 + 1e-9:
        raise ValueError("impossible")
    grid = np.linspace(0, 1, 10001)
    tokens = sum(grid**i for i in range(k + 1))
    return float(grid[np.argmin(np.abs(tokens - wanted))])
""",
    ),
}
ATTEMPTS = [
    *(Attempt(*which, row[0], with_slips(which[0], *row[1:])) for which, row in SLIPS.items()),
    *(Attempt(*which, *answer) for which, answer in ANSWERS.items()),
]
