"""Hugging Face `generate`, plain and assisted, on the same weights, with its passes counted."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig, PreTrainedModel
from transformers.utils import logging

from specdec_lib.assets import ASSETS
from specdec_lib.decoding.state import Generation
from specdec_lib.measure.core.models import target_weights
from specdec_lib.models.checkpoint import LayerWeights, Weights, configuration, named_tensors
from specdec_lib.models.linear import Linear
from specdec_lib.models.llama import Llama


class Counted:
    """A transformers model that counts its passes."""

    def __init__(self, model: PreTrainedModel) -> None:
        logging.set_verbosity_error()  # each assisted call warns of its own draft's settings
        self.model = model.eval()
        self.model.register_forward_pre_hook(self._count)
        self.passes = 0

    @classmethod
    def of_folder(
        cls, folder: Path, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> "Counted":
        """The model of `folder`, on `device`."""
        logging.disable_progress_bar()
        return cls(AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).to(device))

    @classmethod
    def of_target(cls, size: str, dtype: torch.dtype) -> "Counted":
        """The target called "built-in", or it at the cost of a larger `size`, on the CPU."""
        if size == "built-in":
            return cls.of_folder(ASSETS / "target", dtype)
        return cls.of_weights(target_weights(size, dtype))

    @classmethod
    def of_weights(cls, weights: Weights) -> "Counted":
        """A model on the very tensors of `weights`: no number is copied, whatever the device."""
        config = AutoConfig.for_model(**configuration(weights.shape, weights.embedding.dtype))
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(config)
        model.load_state_dict(named_tensors(weights), assign=True)
        # The rotation's frequencies are no weights: they are computed, here on the device.
        rotation = type(model.model.rotary_emb)(config)
        model.model.rotary_emb = rotation.to(weights.embedding.device)
        return cls(model)

    @classmethod
    def of_llama(cls, model: Llama) -> "Counted":
        """As `of_weights`, on the tensors of `model`. ValueError if those are packed, on a CPU."""
        return cls.of_weights(weights_of(model))

    def _count(self, *_: object) -> None:
        self.passes += 1


def weights_of(model: Llama) -> Weights:
    """The tensors that `model` multiplies by. Raises ValueError if it has packed them."""
    layers = [
        LayerWeights(
            layer.norm_attention.plain, weight_of(layer.qkv), weight_of(layer.out),
            layer.norm_mlp.plain, weight_of(layer.gate_up), weight_of(layer.down),
        )
        for layer in model.layers
    ]  # fmt: skip
    head = weight_of(model.head)
    return Weights(model.shape, model.embedding, layers, model.norm.plain, head)


def weight_of(product: Linear) -> Tensor:
    """The matrix of a product. Raises ValueError if it is held in a layout of the processor's."""
    if product.weight is None:
        raise ValueError("the matrices are packed: load the model's folder with Counted.of_folder")
    return product.weight


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

    An encoder-decoder takes the prompt as its source.
    With `draft`, assisted generation: with `k` draft tokens in every block, or without `k` as many
    as its own heuristic decides.
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
    output = target.model.generate(ids, attention_mask=mask, pad_token_id=0, **options)
    # An encoder-decoder reads the prompt and writes a text of its own, after one token to start.
    given = 1 if target.model.config.is_encoder_decoder else len(prompt)
    return Generation([output[0, given:].tolist()], target_passes=target.passes - before)


@torch.inference_mode()
def translations(
    model: PreTrainedModel, sources: Sequence[list[int]], tokens: int, sample: bool, seed: int
) -> list[list[int]]:
    """What an encoder-decoder writes after each source, as one batch: up to its end, and with it.

    At most `tokens` tokens each, greedy or sampled at temperature 1.
    """
    padding, end = model.config.pad_token_id, model.config.eos_token_id
    width = max(map(len, sources))
    ids = [[*source, *[padding] * (width - len(source))] for source in sources]
    mask = [[1] * len(source) + [0] * (width - len(source)) for source in sources]
    options = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} if sample else {}
    torch.manual_seed(seed)
    output = model.generate(
        torch.tensor(ids, device=model.device),
        attention_mask=torch.tensor(mask, device=model.device),
        do_sample=sample, max_new_tokens=tokens, eos_token_id=end, pad_token_id=padding, **options,
    )  # fmt: skip
    texts = output[:, 1:].tolist()
    return [text[: text.index(end) + 1] if end in text else text for text in texts]


def drafting(k: int | None) -> GenerationConfig:
    """Always `k` draft tokens and no early stop; None: the defaults of transformers."""
    if k is None:
        return GenerationConfig()
    return GenerationConfig(
        num_assistant_tokens=k,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )
