"""Two methods that no serving engine of the table has by default, each folded, with its run."""

from collections.abc import Mapping
from html import escape

from specdec_lib.lessons.common.style import display_page

#: What is said of each, and the drafters whose runs follow.
DRAWER = {
    "Jacobi decoding: no draft at all": (
        "Guess K tokens, renew all of them with one pass, and repeat. The first place is right "
        "after one pass, since it depends on the text alone, and each further pass makes at least "
        "one more place right. Time is saved only where later places are right early. Below, the "
        "draft is what the last pass found most probable at each place.",
        ("the last pass's guesses",),
    ),
    "A draft with another tokenizer": (
        "Drop the draft's tokens that the target doesn't have, divide what is left by its sum, and "
        "draw from the result: it is a q like any other, so the rule needs no change. The residual "
        "writes the tokens that the draft can't propose. Below, the target is said to lack every "
        "other token of the draft.",
        ("a draft model", "the same, half of its tokens shared"),
    ),
}


def drawer(measured: Mapping[tuple[str, float], tuple[float, float]]) -> None:
    """Show both, each folded; `measured` has (tokens per pass, _) by (drafter, temperature)."""
    folds, told = [], []
    for title, (said, names) in DRAWER.items():
        runs = "; ".join(
            f"{name}: {measured[name, 0][0]:.2f} at temperature 0, {measured[name, 1][0]:.2f} at 1"
            for name in names
        )
        lines = [said, f"Tokens per pass on the built-in target: {runs}."]
        page = "".join(f"<p>{escape(line)}</p>" for line in lines)
        folds.append(f"<details><summary>{escape(title)}</summary>{page}</details>")
        told += [title, *lines]
    display_page("".join(folds), "\n".join(told))
