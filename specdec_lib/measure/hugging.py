"""Hugging Face `generate`, plain and assisted, on the same weights, with its passes counted."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedModel
from transformers.utils import logging

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core.models import target_weights
from specdec_lib.measure.core.runs import Decoder, decoder
from specdec_lib.models.checkpoint import configuration, named_tensors

if TYPE_CHECKING:
    from specdec_lib.measure.race.contestants import Contestant


class Counted:
    """A transformers model that counts the passes of `generate`."""

    def __init__(self, model: PreTrainedModel) -> None:
        logging.set_verbosity_error()  # each assisted call warns of its own draft's settings
        self.model, self.passes = model.eval(), 0

    @classmethod
    def of_folder(
        cls, folder: Path, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "Counted":
        """The model of `folder`."""
        logging.disable_progress_bar()
        return cls(AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device))

    @classmethod
    def of_target(
        cls, size: str, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "Counted":
        """The target called "built-in", or it at the cost of a larger `size`."""
        if size == "built-in":
            return cls.of_folder(ASSETS / "target", dtype, device)
        weights = target_weights(size, dtype, device)
        config = AutoConfig.for_model(**configuration(weights.shape, dtype))
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
        model.load_state_dict(named_tensors(weights), assign=True)
        # The rotary frequencies are computed, not loaded.
        model.model.rotary_emb = type(model.model.rotary_emb)(config)
        return cls(model.to(device))

    def generate(self, ids: torch.Tensor, **options: Any) -> torch.Tensor:
        """What the model's own `generate` gives. The model itself is left as it was."""
        counting = self.model.register_forward_pre_hook(self._count)
        try:
            return self.model.generate(ids, **options)
        finally:
            counting.remove()

    def _count(self, *_: object) -> None:
        self.passes += 1


@torch.inference_mode()
def generate(
    target: Counted,
    prompt: list[int],
    new_tokens: int,
    draft: Counted | None = None,
    k: int | None = None,
    sample: bool = False,
) -> Generation:
    """`new_tokens` tokens after `prompt`, greedy or sampled at temperature 1, no early end.

    With `draft`, assisted generation with `k` draft tokens in every block, or without `k` as many
    as its own heuristic decides. An encoder-decoder takes the prompt as its source.
    """
    ids = torch.tensor([prompt], device=target.model.device)
    options: dict = {"do_sample": sample, "max_new_tokens": new_tokens}
    if sample:
        options |= {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
    if draft is not None:
        draft.model.generation_config = drafting(k)
        options["assistant_model"] = draft.model
    target.model.generation_config.eos_token_id = None
    before, mask = target.passes, torch.ones_like(ids)
    output = target.generate(ids, attention_mask=mask, pad_token_id=0, **options)
    # An encoder-decoder writes a text of its own, after one token to start.
    given = 1 if target.model.config.is_encoder_decoder else len(prompt)
    return Generation([output[0, given:].tolist()], target_passes=target.passes - before)


def drafting(k: int | None) -> GenerationConfig:
    """Always `k` draft tokens and no early stop; None: the defaults of transformers."""
    if k is None:
        return GenerationConfig()
    return GenerationConfig(
        num_assistant_tokens=k,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )


def assisted(theirs: Counted, draft: Counted, k: int) -> "Contestant":
    """Assisted generation as a lane of a race, in which its passes are noted as everybody's."""

    def contestant(watched: Any, warp: Any, tokens: int) -> Decoder:
        def note(module: Any, args: Any, how: dict, output: Any) -> None:
            after = output.past_key_values.get_seq_length()
            before = after - how["input_ids"].shape[1]
            watched.passes.append((time.perf_counter(), before, after))

        def write(prompts: Any, settings: Any, rngs: Any) -> Generation:
            noting = theirs.model.register_forward_hook(note, with_kwargs=True)
            try:
                return generate(theirs, list(prompts[0]), tokens, draft, k, warp.temperature > 0)
            finally:
                noting.remove()

        return decoder(write, warp, tokens, batch=True)

    return contestant
