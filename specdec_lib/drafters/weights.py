"""The files of weights that read a target's states (medusa.py, eagle.py)."""

from pathlib import Path
from typing import NamedTuple

from safetensors.torch import load_file, save_file
from torch import Tensor

from specdec_lib.models.llama import Llama


def write_tensors(weights: NamedTuple, path: Path) -> None:
    """Write `weights` (medusa.Heads, eagle.EagleWeights) as float16 to a safetensors file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: each.half().contiguous() for name, each in weights._asdict().items()}, path)


def read_tensors(path: Path | str, target: Llama) -> dict[str, Tensor]:
    """The tensors of a safetensors file, on the device and in the dtype of `target`."""
    tensors = load_file(path, device=str(target.device))
    return {name: tensor.to(target.dtype) for name, tensor in tensors.items()}


def check_width(path: Path | str, found: int, target: Llama) -> None:
    """Raise ValueError if heads for states of width `found` cannot read those of `target`."""
    width = target.shape.width
    if width % found:
        raise ValueError(
            f"{path}: these weights read states of width {found}, and the target's have {width}: "
            "load them with the target that they were trained on"
        )
