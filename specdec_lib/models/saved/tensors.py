"""The tensors of a saved model, in one file or in several, each read when it is asked for.

No file is held in memory: it is mapped, and a tensor goes from the disk to its device and dtype.
"""

import json
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError

import torch
from safetensors import safe_open
from torch import Tensor

# What transformers writes, in the order in which it looks for them; each may be in parts, which
# <name>.index.json lists.
NAMES = ("model.safetensors", "pytorch_model.bin")


class TensorFiles:
    """The tensors of `folder` by name, read to `device` as `dtype`."""

    def __init__(self, folder: Path, device: torch.device | str, dtype: torch.dtype) -> None:
        """Raises ValueError if there are no weights here, or a part of them is missing."""
        self.device, self.dtype = device, dtype
        self.file_of = files_by_tensor(folder)  # name -> path
        self.readers: dict[Path, Callable[[str], Tensor]] = {}

    def __call__(self, name: str) -> Tensor:
        """The tensor called `name`."""
        path = self.file_of[name]
        if path not in self.readers:
            self.readers[path] = opened(path, self.device)[1]
        return self.readers[path](name).to(self.device, self.dtype)


def files_by_tensor(folder: Path) -> dict[str, Path]:
    """In which file of `folder` each tensor is. Raises ValueError if a file is missing."""
    for name in NAMES:
        if (folder / name).is_file():
            return dict.fromkeys(opened(folder / name, "cpu")[0], folder / name)
        index = folder / f"{name}.index.json"
        if index.is_file():
            parts = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
            missing = [
                part for part in sorted(set(parts.values())) if not (folder / part).is_file()
            ]
            if missing:
                raise ValueError(f"{index} names {missing[0]}, which is not there: fetch it again")
            return {tensor: folder / part for tensor, part in parts.items()}
    raise ValueError(
        f"{folder}: no {' here, no '.join(NAMES)}, and no .index.json of either: name the folder "
        "of a saved model"
    )


def opened(path: Path, device: torch.device | str) -> tuple[list[str], Callable[[str], Tensor]]:
    """The names of the tensors in a file, and what reads one. Raises ValueError if it cannot."""
    if path.suffix == ".safetensors":
        file = safe_open(path, framework="pt", device=str(device))
        return list(file.keys()), file.get_tensor
    try:
        tensors = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except (RuntimeError, UnpicklingError) as error:
        raise ValueError(
            f"{path} cannot be mapped ({str(error).splitlines()[0]}): if it was saved before "
            "PyTorch 1.6, load it with transformers and save it again"
        ) from error
    return list(tensors), tensors.__getitem__
