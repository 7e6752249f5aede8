"""The files of weights that read a target's states (medusa.py, eagle.py)."""

from collections.abc import Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from specdec_lib.models.llama import Llama


def check_width(path: Path, found: int, target: Llama) -> None:
    """Raise ValueError if heads for states of width `found` cannot read those of `target`."""
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

    Raises ValueError if there is no such file, or one without these tensors.
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
