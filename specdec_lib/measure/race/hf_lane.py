"""Hugging Face's `generate` as a lane of a race. It brings transformers."""

import time
from typing import Any

from specdec_lib.decoding.state import Generation
from specdec_lib.measure.compare import Decoder
from specdec_lib.measure.hugging import CountedModel, hf_generate
from specdec_lib.measure.race.lanes import LaneMaker
from specdec_lib.measure.timing import PassRecorder, RecordedPass
from specdec_lib.sampling import Warp


def generate_lane(target: CountedModel, draft: CountedModel | None = None, k: int = 0) -> LaneMaker:
    """`generate`, with `draft` assisted, its passes recorded as everybody's; one text at a time."""

    def make_decoder(recorder: PassRecorder, warp: Warp, tokens: int) -> Decoder:
        def record_pass(module: Any, args: Any, kwargs: dict, output: Any) -> None:
            after = output.past_key_values.get_seq_length()
            ids = kwargs.get("decoder_input_ids", kwargs.get("input_ids"))
            before = after - ids.shape[1]
            recorder.passes.append(RecordedPass(time.perf_counter(), before, after))

        def decoder(prompts: list[list[int]]) -> Generation:
            with target.model.register_forward_hook(record_pass, with_kwargs=True):
                return hf_generate(target, list(prompts[0]), tokens, draft, k, warp)

        return decoder

    return make_decoder
