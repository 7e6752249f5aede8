"""What the drafters share that were trained on the target's states (medusa.py, eagle.py)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from specdec_lib.models.cache import Hidden
from specdec_lib.models.llama import Llama


def newest(hidden: Hidden | None, sequences: Sequence[Sequence[int]]) -> list[int]:
    """For each sequence the column of `hidden` with the state that gave its last token.

    That is the state at position len - 2: the last token has not been read yet. -1 where it is not
    there: behind a prompt of one token, and behind one that ended before the last chunk that was
    read for its mates in the batch.
    """
    if hidden is None:
        return [-1] * len(sequences)
    starts, width = hidden.positions[:, 0].tolist(), hidden.positions.shape[1]
    columns = [len(sequence) - 2 - start for sequence, start in zip(sequences, starts, strict=True)]
    return [column if 0 <= column < width else -1 for column in columns]


def at(states: Tensor, columns: Sequence[int]) -> Tensor:
    """The state (B, width) of each row of `states` (B, T, width) in its column; any at -1."""
    rows = torch.arange(len(states), device=states.device)
    return states[rows, torch.tensor(columns, device=states.device)]


def reading(weight: Tensor, width: int) -> Tensor:
    """`weight` (..., w), which reads states of width w, for a target with states of `width`.

    A target that was grown (models/scale.py) holds every state of the original r times in a row.
    """
    r = width // weight.shape[-1]
    return weight.repeat(*[1] * (weight.ndim - 1), r) / r


def writing(weight: Tensor, width: int) -> Tensor:
    """`weight` (..., w, n), which writes states of width w, as in `reading`."""
    return weight.repeat(*[1] * (weight.ndim - 2), width // weight.shape[-2], 1)


def check_width(path: Path, found: int, target: Llama) -> None:
    """Raise ValueError where heads for states of width `found` cannot read those of `target`."""
    width = target.shape.width
    if width % found:
        raise ValueError(
            f"{path}: these weights read states of width {found}, and the target's have {width}: "
            "load them with the target that they were trained on"
        )


def write_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    """Write `tensors` as float16 to a safetensors file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: each.half().contiguous() for name, each in tensors.items()}, path)


def read_tensors(path: Path, names: Sequence[str], target: Llama) -> dict[str, Tensor]:
    """The tensors `names` of a safetensors file, on the device and in the dtype of `target`.

    Raises ValueError where there is no such file, or one without these tensors.
    """
    if not path.is_file():
        raise ValueError(f"{path}: no such file; `python -m specdec_lib.training` makes it")
    try:
        with safe_open(path, framework="pt", device=str(target.device)) as file:
            missing = sorted(set(names) - set(file.keys()))
            if missing:
                raise ValueError(f"{path}: the file lacks {', '.join(missing)}")
            return {name: file.get_tensor(name).to(target.dtype) for name in names}
    except SafetensorError as error:
        raise ValueError(f"{path}: this is no safetensors file: {error}") from error
