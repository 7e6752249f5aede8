"""Layers that torch.compile takes whole, and what happens if it does not."""

import pytest
import torch
from decoders.families import FAMILIES, make

from specdec_lib.decoding.fixed_shape.compiled import compiled
from specdec_lib.decoding.fixed_shape.graph import GraphDecoder
from specdec_lib.decoding.state import Settings
from specdec_lib.models.llama import Llama
from specdec_lib.sampling import Warp


def test_the_layers_compile_whole_and_once_a_shape(models, monkeypatch):
    target, _ = models
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    made = compiled(target, mode=None, backend="eager")
    assert made.run is not None and made.reason == "layers compiled with eager"
    decoders = [GraphDecoder(*models, 1, 60, 2, Warp(0), run) for run in (None, made.run)]
    texts = [each.generate([[5, 9]], Settings(12, Warp(0)), []).tokens for each in decoders]
    assert texts[0] == texts[1]
    # Passes over 1, 2 and 3 tokens; two layers of two models of one size share what is compiled.
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 3


def test_layers_with_biases_and_norms_of_heads_compile_whole(tmp_path):
    make(FAMILIES["Qwen3 with biases"]).save_pretrained(tmp_path)
    model = Llama.from_folder(tmp_path, dtype=torch.float64)
    torch._dynamo.reset()
    made = compiled(model, mode=None, backend="eager")
    assert made.run is not None, made.reason
    found = [
        model.forward(torch.tensor([[1, 2, 3]]), model.new_fixed_cache(1, 128), run=run)
        for run in (None, made.run)
    ]
    torch.testing.assert_close(found[1], found[0], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_layers_compile_to_kernels(models):
    target, _ = models
    made = compiled(target, mode=None)
    assert made.run is not None, made.reason
    caches = [target.new_fixed_cache(2, 128) for _ in range(2)]
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    with torch.inference_mode():
        found = [
            target.forward(tokens, cache, run=run)
            for cache, run in zip(caches, (None, made.run), strict=True)
        ]
    torch.testing.assert_close(found[1], found[0], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(caches[1].keys, caches[0].keys, rtol=1e-9, atol=1e-9)


def test_layers_that_do_not_compile_run_as_they_are_and_say_why(models):
    def backend(graph, inputs):
        raise RuntimeError("no compiler here\nand more")

    torch._dynamo.reset()
    made = compiled(models[0], mode=None, backend=backend)
    assert made.run is None and made.reason.startswith("not compiled: BackendCompilerFailed")
