"""A Hugging Face model and a worse one: a pair that agrees often, and not always."""

import torch
from transformers import PreTrainedModel


def worse(model: PreTrainedModel) -> PreTrainedModel:
    """The model with noise on its weights: it agrees often, and not always."""
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=random, dtype=weight.dtype)
            weight += 0.15 * weight.std(correction=0) * noise
    return model
