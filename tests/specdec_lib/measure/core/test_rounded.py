"""Rounded weights: how far they move the built-in target."""

import pytest
import torch

from specdec_lib.measure.core.rounded import moved, rounded_target, to_bits


def test_bits_are_steps_of_every_row():
    matrix = torch.tensor([[1.0, -0.5, 0.02], [127.0, 1.4, 0.0]])
    rounded = to_bits(matrix, 8)
    assert rounded[1].tolist() == [127.0, 1.0, 0.0]
    assert rounded[0].tolist() == pytest.approx([1.0, -64 / 127, 3 / 127])
    assert to_bits(torch.zeros(2, 3), 8).abs().sum() == 0


def test_fewer_bits_move_the_target_further():
    found = moved(
        {str(bits): rounded_target(lambda m, bits=bits: to_bits(m, bits)) for bits in (4, 8)}
        | {"none": rounded_target(lambda matrix: matrix)},
        texts=1,
    )
    assert found["none"] == pytest.approx(0, abs=1e-6)
    assert 1e-4 < found["8"] < 0.05 < found["4"] < 0.5
