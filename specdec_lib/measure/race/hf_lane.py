"""Hugging Face's assisted generation as a lane of a race. It brings transformers."""

import time
from typing import Any

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.hugging import CountedModel, hf_generate
from specdec_lib.measure.race.lanes import LaneMaker
from specdec_lib.measure.timing import PassRecorder, RecordedPass
from specdec_lib.sampling import Warp


def assisted_lane(target: CountedModel, draft: CountedModel, k: int) -> LaneMaker:
    """Assisted generation, its passes recorded as everybody's; it takes one text at a time."""

    def make_decoder(recorder: PassRecorder, warp: Warp, tokens: int) -> Decoder:
        def record_pass(module: Any, args: Any, kwargs: dict, output: Any) -> None:
            after = output.past_key_values.get_seq_length()
            before = after - kwargs["input_ids"].shape[1]
            recorder.passes.append(RecordedPass(time.perf_counter(), before, after))

        def decoder(prompts: list[list[int]]) -> Generation:
            with target.model.register_forward_hook(record_pass, with_kwargs=True):
                return hf_generate(target, list(prompts[0]), tokens, draft, k, warp)

        return decoder

    return make_decoder
