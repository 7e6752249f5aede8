"""Hugging Face `generate`, plain and assisted, on the same weights, with its passes counted.

A checkpoint's own settings have no part in a call: `generation_config` makes all of them.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    GenerationConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)
from transformers.generation import candidate_generator
from transformers.modeling_outputs import ModelOutput

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.device import without_cudnn_attention
from specdec_lib.measure.library_decoders import GREEDY
from specdec_lib.models.catalogue import SMOLLM2
from specdec_lib.models.checkpoint import configuration, named_tensors
from specdec_lib.models.cut_vocabulary import CutVocabulary, widened
from specdec_lib.models.published.fetch import fetched_folder
from specdec_lib.models.published.loading import quiet_transformers
from specdec_lib.models.scale import target_weights
from specdec_lib.sampling import Warp


class AssistantSettings(NamedTuple):
    """How assisted generation drafts, by transformers' own names for its settings.

    A block has `num_assistant_tokens` draft tokens, or fewer where the draft gives one of them a
    probability below the threshold. A threshold of 0 never stops a block.
    """

    num_assistant_tokens: int
    assistant_confidence_threshold: float
    num_assistant_tokens_schedule: str = "constant"

    @classmethod
    def of(cls, k: int | None) -> "AssistantSettings":
        """Always `k` draft tokens; None: as transformers drafts by default."""
        return DEFAULT_ASSISTANT if k is None else cls(k, 0.0)

    def __str__(self) -> str:
        threshold = self.assistant_confidence_threshold
        stop = f"stop below confidence {threshold:g}" if threshold else "no early stop"
        text = f"K = {self.num_assistant_tokens}, {self.num_assistant_tokens_schedule}, {stop}"
        return f"transformers' default: {text}" if self == DEFAULT_ASSISTANT else text


DEFAULT_ASSISTANT = AssistantSettings(20, 0.4)  # of transformers 5.23.0


class CutLlama(LlamaForCausalLM):
    """A draft with a cut vocabulary as assisted generation takes one: with the target's columns."""

    cut: CutVocabulary  # the same weights in our own form; only its maps are used

    @wraps(LlamaForCausalLM.forward)
    def forward(self, input_ids: Tensor, **options: Any) -> ModelOutput:
        """The logits over the target's vocabulary, -inf for tokens that are left out."""
        output = super().forward(self.cut.t2d[input_ids], **options)
        output.logits = widened(output.logits, self.cut.d2t, self.cut.vocab_size, float("-inf"))
        return output


class CountedModel:
    """A transformers model that counts the passes of `generate`.

    `vocab_size` is the number of columns of its logits; a smaller number cuts the others off.
    """

    def __init__(self, model: PreTrainedModel, vocab_size: int | None = None) -> None:
        self.model, self.passes = model.eval(), 0
        self.vocab_size = vocab_size or model.get_output_embeddings().weight.shape[0]

    @classmethod
    def from_folder(
        cls, folder: Path, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "CountedModel":
        """The model of `folder`."""
        with quiet_transformers():
            return cls(AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device))

    @classmethod
    def from_size(
        cls, size: str, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "CountedModel":
        """The fetched target, the "built-in" one, or the built-in one at the cost of a `size`."""
        if size == SMOLLM2:
            return cls.from_folder(fetched_folder(), dtype, device)
        if size == "built-in":
            return cls.from_folder(ASSETS / "target", dtype, device)
        weights = target_weights(size, dtype, device)
        config = AutoConfig.for_model(**configuration(weights.shape, dtype))
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
        model.load_state_dict(named_tensors(weights), assign=True)
        # The rotary frequencies are computed, not loaded.
        model.model.rotary_emb = type(model.model.rotary_emb)(config)
        return cls(model.to(device))

    @classmethod
    def from_cut_folder(
        cls, folder: Path, vocab_size: int, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "CountedModel":
        """The draft of `folder`, whose vocabulary is cut, for a target of `vocab_size` tokens."""
        with quiet_transformers():
            model = CutLlama.from_pretrained(folder, dtype=dtype)
        model.cut = CutVocabulary.from_folder(folder, vocab_size, device, dtype)
        return cls(model.to(device), vocab_size)

    @contextmanager
    def configured(self, config: GenerationConfig, vocab_size: int) -> Iterator[None]:
        """With no settings but `config`, `vocab_size` columns and a count; then as it was."""

        def count_and_cut(module: Any, args: Any, output: ModelOutput) -> None:
            self.passes += 1
            output.logits = output.logits[..., :vocab_size]

        shared = self.model.config.get_text_config()  # transformers compares it with the draft's
        with (
            temporary_attribute(self.model, "generation_config", config),
            temporary_attribute(shared, "vocab_size", vocab_size),
            without_cudnn_attention(),
            self.model.register_forward_hook(count_and_cut),
        ):
            yield


@contextmanager
def temporary_attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute of `owner` at `value`; afterwards as it was."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@torch.inference_mode()
def hf_generate(
    target: CountedModel,
    prompt: list[int],
    new_tokens: int,
    draft: CountedModel | None = None,
    k: int | None = None,
    warp: Warp = GREEDY,
) -> Generation:
    """`new_tokens` tokens after `prompt`; no token ends the text.

    With `draft`, assisted generation that drafts as `AssistantSettings.of(k)` says, on as many
    columns of the logits as both models have. An encoder-decoder takes the prompt as its source.
    Both models are left as they were, so no call depends on an earlier one.
    """
    ids = torch.tensor([prompt], device=target.model.device)
    models = [target] if draft is None else [target, draft]
    options = {} if draft is None else {"assistant_model": draft.model}
    if draft is not None and target.model.config.is_encoder_decoder:
        # Without a mask the draft would read again, in every block, what its cache holds already.
        options["decoder_attention_mask"] = torch.ones_like(ids[:, :1])
    vocab_size = min(model.vocab_size for model in models)
    passes_before = target.passes
    with ExitStack() as stack:
        stack.enter_context(quiet_transformers())  # it warns of settings that are off
        config = generation_config(target.model, new_tokens, AssistantSettings.of(k), warp)
        for model in models:
            stack.enter_context(model.configured(config, vocab_size))
        # With scikit-learn in reach, the threshold would be fitted anew after each block.
        without = candidate_generator, "is_sklearn_available", lambda: False
        stack.enter_context(temporary_attribute(*without))
        mask = torch.ones_like(ids)
        output = target.model.generate(ids, config, attention_mask=mask, **options)
    # An encoder-decoder writes a text of its own, after one token to start.
    start = 1 if target.model.config.is_encoder_decoder else len(prompt)
    return Generation([output[0, start:].tolist()], target_passes=target.passes - passes_before)


def generation_config(
    model: PreTrainedModel, new_tokens: int, assistant: AssistantSettings, warp: Warp
) -> GenerationConfig:
    """All settings of a call, for the target and its draft: what is not named here is off.

    There is no padding token: wherever it stood in the text, the draft would not see it.
    """
    return GenerationConfig(
        max_new_tokens=new_tokens,
        do_sample=warp.temperature > 0,
        temperature=warp.temperature or 1.0,
        top_k=warp.top_k or 0,
        top_p=warp.top_p,
        decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
        **assistant._asdict(),
    )
