"""What starting kernels costs: drafts by size and depth, and kernels counted."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from decoders.stand_in_clock import Clock
from torch import Tensor

from specdec_lib.assets import ASSETS
from specdec_lib.lessons.ch08 import measured
from specdec_lib.measure.core import kernels as counting
from specdec_lib.measure.core.limits import weights_read
from specdec_lib.measure.experiment import launches
from specdec_lib.models.checkpoint import read_shape
from specdec_lib.models.llama import Llama

CPU = torch.device("cpu")
SIZES = [(share, depth) for share in launches.SIZES.values() for depth in launches.DEPTHS.values()]


@pytest.fixture(scope="module")
def target() -> Llama:
    shape = replace(read_shape(ASSETS / "target"), layers=10)
    return launches.random_llama(shape, CPU, torch.float32)


@pytest.mark.parametrize(("share", "depth"), SIZES)
def test_a_draft_has_its_share_of_weights_and_of_layers(share: float, depth: float):
    """For a target of 7B, whose head and embedding are small beside its layers."""
    large = SimpleNamespace(
        shape=replace(read_shape(ASSETS / "target"), width=4096, layers=32, heads=64, mlp=11008)
    )
    shape = launches.shape_for(large, share, depth)
    assert weights_read(SimpleNamespace(shape=shape)) / weights_read(large) == pytest.approx(
        share, rel=0.2
    )
    assert shape.layers == round(32 * depth)


def test_every_draft_is_timed_both_ways(target: Llama):
    found = list(launches.measure(target, rounds=1))
    assert [each.name for each in found] == [
        "a tenth, deep", "a tenth, shallow", "a hundredth, deep", "a hundredth, shallow",
    ]  # fmt: skip
    assert all(each.launched > 0 and each.replayed > 0 for each in found)
    _, *lines = launches.table(found).splitlines()
    assert all(each.name in line for each, line in zip(found, lines, strict=True))


def test_c_is_of_passes_and_no_capture_is_in_it(target: Llama, monkeypatch):
    """By a clock on which a layer takes a second where the host starts it, and a capture a year."""
    clock = Clock(monkeypatch)

    def pass_task(model: Llama, tokens: int):
        return clock.task(model.shape.layers)

    def graph_task(model: Llama, tokens: int):
        clock.task(3e7)()
        return clock.task(launches.REPLAYS * weights_read(model))

    monkeypatch.setattr(launches, "pass_task", pass_task)
    monkeypatch.setattr(launches, "graph_task", graph_task)
    for each in launches.measure(target, rounds=2):
        assert each.launched == pytest.approx(each.layers)
        assert each.replayed == pytest.approx(each.weights)


FULL = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of "
    "which 1.00 GiB is free."
)


def full_for(refused: Callable[[Llama], bool], monkeypatch) -> None:
    """A card that has no room to capture some models."""
    real = launches.graph_task

    def graph_task(model: Llama, tokens: int):
        if refused(model):
            raise torch.OutOfMemoryError(FULL)
        return real(model, tokens)

    monkeypatch.setattr(launches, "graph_task", graph_task)


def test_a_draft_that_does_not_fit_is_left_out_with_a_line(target: Llama, monkeypatch):
    said: list[str] = []
    full_for(lambda model: model.shape.layers == 8, monkeypatch)
    found = list(launches.measure(target, rounds=1, say=said.append))
    assert [each.name for each in found] == ["a tenth, shallow", "a hundredth, shallow"]
    assert said == [
        f"A draft of {size} of the weights, deep, does not fit: 26.8 of 25.8 GB"
        for size in launches.SIZES
    ]


def test_where_the_target_itself_cannot_be_captured_there_is_a_line_and_no_figure(
    target: Llama, monkeypatch
):
    said: list[str] = []
    full_for(lambda model: model is target, monkeypatch)
    assert list(launches.measure(target, rounds=1, say=said.append)) == []
    assert said == ["What captures a pass of the target does not fit: 26.8 of 25.8 GB"]
    measured.launches([])


def test_only_what_computes_is_counted():
    x = torch.ones(4, 4)

    def run() -> None:
        y = torch.nn.functional.linear(x, x).view(16).unflatten(0, (4, 4)).transpose(0, 1)
        y[0].add_(1)
        torch.empty(3)

    assert counting.kernels(run) == 2


def test_the_page_has_the_operators_that_a_layer_of_ours_calls_on_a_card():
    """In float64, for which a processor has no steps of its own."""
    shape = replace(read_shape(ASSETS / "target"), layers=2)
    model = launches.random_llama(shape, CPU, torch.float64)
    for norm in [each for x in model.layers for each in (x.norm_attention, x.norm_mlp)]:
        norm.one_kernel = True  # as on a card

    def passes(tokens: int) -> Callable[[int], Callable[[], object]]:
        def run(layers: int) -> Tensor:
            cache = model.new_fixed_cache(1, 128)
            return model.forward(torch.zeros(1, tokens, dtype=torch.long), cache, layers)

        return lambda layers: partial(run, layers)

    one, several = (counting.kernels_a_layer(passes(tokens)) for tokens in (1, 5))
    assert one == several
    page = (Path(__file__).parents[4] / "docs" / "gpu.md").read_text()
    assert f"a layer calls {one} operators that compute" in page
    assert f"32 layers call\n{32 * one}" in page


def test_a_t5_of_eight_layers_is_no_fiftieth_of_one_of_24():
    found = launches.t5_passes(kernels=50)
    assert found["small"].seconds / found["xxl"].seconds == pytest.approx(8 / 24)
    assert found["small"].reading / found["xxl"].reading < 0.02
    words = launches.t5_in_words()
    assert "50 kernels a layer" in words and "c is 0.33" in words
