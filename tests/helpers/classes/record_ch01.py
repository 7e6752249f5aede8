"""Makes what the animation of chapter 01 shows: `python -m classes.record_ch01` writes its JSON.

Five blocks of the built-in pair behind a Python prompt, in float64, so that every machine records
the same. The seed was chosen so that a short record holds every case: a block accepted whole, and
blocks stopped at their first token, in the middle and at their last.
"""

import json
from pathlib import Path

import numpy as np
import torch

import specdec_lib.lessons
from specdec_lib.decoding.generate import speculative_generate
from specdec_lib.decoding.state import Settings
from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.models.pair import Pair
from specdec_lib.models.pairs import load_pair
from specdec_lib.sampling import Warp, choices_for

FILE = Path(specdec_lib.lessons.__file__).with_name("ch01") / "blocks.json"
PROMPT = 'def read_lines(path):\n    """Return the lines of a text file."""\n    with open(path'
K, BLOCKS, SEED = 4, 5, 25


def load() -> Pair:
    """The built-in pair in float64."""
    return load_pair(dtype=torch.float64, device="cpu")


def record(pair: Pair, seed: int = SEED) -> dict:
    """The prompt and the first blocks: token strings, p, q, coins, and what became of them."""
    tokens = BLOCKS * (K + 1) + K + 1  # so many that every block drafts K
    warp = Warp(1.0)
    choices = choices_for(warp, [np.random.default_rng(seed)])
    prompt = [pair.prompt(PROMPT)]
    settings = Settings(tokens, warp)
    made = speculative_generate(pair.target, ModelDrafter(pair.draft), prompt, K, settings, choices)
    again = np.random.default_rng(seed)  # sampling.Uniforms: K for the draft, K coins, one more
    blocks = []
    for block in made.blocks[0][:BLOCKS]:
        coins = again.random(2 * K + 1)[K : 2 * K]
        blocks.append(
            {
                "drafted": [pair.tokenizer.decode([token]) for token in block.drafted],
                "p": [shortened(x) for x in block.p],
                "q": [shortened(x) for x in block.q],
                "r": [shortened(x) for x in coins.tolist()],
                "accepted": block.accepted,
                "token": pair.tokenizer.decode([block.token]),
            }
        )
    return {"pair": pair.label, "prompt": PROMPT, "blocks": blocks}


def shortened(x: float) -> float:
    """`x` with nine significant digits."""
    return float(f"{x:.9g}")


if __name__ == "__main__":
    FILE.write_text(json.dumps(record(load()), indent=1) + "\n", encoding="utf-8")
