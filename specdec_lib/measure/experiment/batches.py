"""Several requests in one pass: tokens a second of the batch, by plain decoding and at every K."""

import pandas as pd

from specdec_lib.drafters.model import ModelDrafter
from specdec_lib.measure.compare import Decoder, compare, summary
from specdec_lib.measure.experiment.decoders import StudentDecoder, as_verifier
from specdec_lib.measure.experiment.survey import ExperimentMachine, pair_prompts
from specdec_lib.measure.library_decoders import SAMPLED, plain, speculative
from specdec_lib.progress import progress

BATCH_SIZES = (1, 2, 4, 8)
BATCH_KS = (2, 4)
BATCH_TOKENS = 16  # new ones of every row
BATCH_WARM_UP_TOKENS = 8  # so that a whole block of draft tokens is among them
BATCH_PLAIN = "plain decoding"
_ROUNDS = 2


def measure_batches(
    student: StudentDecoder, machine: ExperimentMachine, draft: str
) -> pd.DataFrame:
    """Every batch by plain decoding and at every K, by turns, at temperature 1.

    The student's verify_block judges the blocks.
    """
    drafter, rows = ModelDrafter(machine.drafts[draft]), []
    verifier = as_verifier(student.verify_block)

    def decoders_of(tokens: int) -> dict[str, Decoder]:
        decoders = {BATCH_PLAIN: plain(machine.target, SAMPLED, tokens, batch=True)}
        for k in BATCH_KS:
            decoders[f"K = {k}"] = speculative(
                machine.target, drafter, k, SAMPLED, tokens, verifier, batch=True
            )
        return decoders

    for batch in progress(BATCH_SIZES, "batches"):
        texts, rounds = [pair_prompts(machine.pair, batch)], machine.scaled(_ROUNDS)
        decoders, warm_up = decoders_of(BATCH_TOKENS), decoders_of(BATCH_WARM_UP_TOKENS)
        runs = compare(decoders, texts, rounds=rounds, warm_up=warm_up)
        for way, speed in summary(runs, BATCH_PLAIN).iterrows():
            rows.append((batch, way, speed.tokens_per_second))
    return pd.DataFrame(rows, columns=["batch", "way", "tokens a second"])
