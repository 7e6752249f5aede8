"""Several requests in one pass: tokens a second of the batch, by plain decoding and at every K."""

import pandas as pd

from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.experiment.decoders import Loop
from specdec_lib.measure.experiment.survey import Machine
from specdec_lib.measure.prompts import prompts
from specdec_lib.measure.runs import SAMPLED, plain, speculative
from specdec_lib.progress import progress

BATCHES = (1, 2, 4, 8)
KS = (2, 4)
PROMPT, TOKENS, ROUNDS = 16, 16, 2  # tokens of a prompt, and those after it
WARM_UP = 8  # tokens, so that a whole block of draft tokens is among them
PLAIN = "plain decoding"


def measure(loop: Loop, machine: Machine, draft: str) -> pd.DataFrame:
    """Every batch by plain decoding and at every K, by turns, at temperature 1.

    The loop's verify_block judges the blocks.
    """
    drafter, found = ModelDrafter(machine.drafts[draft]), []

    def ways(tokens: int) -> dict[str, Decoder]:
        made = {PLAIN: plain(machine.target, SAMPLED, tokens, batch=True)}
        for k in KS:
            asked = (machine.target, drafter, k, SAMPLED, tokens, loop.verifier)
            made[f"K = {k}"] = speculative(*asked, batch=True)
        return made

    for batch in progress(BATCHES, "batches"):
        texts, rounds = [prompts(batch, PROMPT)], machine.times(ROUNDS)
        runs = compare(ways(TOKENS), texts, rounds=rounds, warm_up=ways(WARM_UP))
        for way, row in summary(runs, PLAIN).iterrows():
            speed = {"tokens a second": row.tokens_per_second}
            found.append({"batch": batch, "way": way} | speed)
    return pd.DataFrame(found)
