"""A device that is not the host, without a card: tensors whose numbers the host cannot see.

To every program they are on "meta", which has no memory; here they have. So a whole decoder runs on
such a device, as it would on a card: an operator that takes tensors of both sides fails, and
what crosses between them is noted, with whether the host waits for it.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter, tree_map

from specdec_lib.models.checkpoint import read_weights
from specdec_lib.models.llama import Llama

DISTANT = torch.device("meta")
# What reads values of a tensor on the host, or has to before it can say how large its result is.
READING = ("_local_scalar_dense", "is_nonzero", "equal", "nonzero", "masked_select", "_unique2")


class MixedDevices(AssertionError):
    """An operator took tensors of the host and of the device."""


class Distant(Tensor):
    """A tensor on the device; `near` are its numbers."""

    @staticmethod
    def __new__(cls, near: Tensor):
        """Wrap `near`."""
        options = {"strides": near.stride(), "storage_offset": near.storage_offset()}
        kind = {"dtype": near.dtype, "device": DISTANT, "layout": near.layout}
        return Tensor._make_wrapper_subclass(cls, near.shape, **options, **kind)

    def __init__(self, near: Tensor) -> None:
        self.near = near

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        """Refuse: numbers are far away."""
        raise AssertionError(f"{function} outside of Crossings")


class Crossings:
    """While it is open there is such a device; `reads` and `sends` are what crosses, one each.

    A read always waits until the device is done. A send waits too, unless it is told not to, and
    only those that wait are noted.
    """

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.sends: list[str] = []
        self.modes = Makers(), Sides(self)

    def __enter__(self) -> "Crossings":
        """Open."""
        for mode in self.modes:
            mode.__enter__()
        return self

    def __exit__(self, *error) -> None:
        """Close."""
        for mode in reversed(self.modes):
            mode.__exit__(*error)

    def clear(self) -> None:
        """Forget what crossed."""
        self.reads.clear()
        self.sends.clear()


class Sides(TorchDispatchMode):
    """Runs every operator on the side of its tensors."""

    def __init__(self, crossings: Crossings) -> None:
        super().__init__()
        self.reads, self.sends = crossings.reads, crossings.sends

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        """Run the call on the near numbers, on the side where it belongs."""
        keywords, name = dict(keywords or {}), function.name().removeprefix("aten::")
        if function.namespace == "aten" and function._can_decompose():
            with self:  # it is made of others, which are looked at one by one
                parts = function.decompose(*arguments, **keywords)
            if parts is not NotImplemented:
                return parts
        taken = [each for each in tree_iter((arguments, keywords)) if isinstance(each, Tensor)]
        far = any(isinstance(each, Distant) for each in taken)
        to = keywords.get("device")
        if name.split(".")[0] in ("_to_copy", "copy_"):
            far = self.crossed(name, arguments, keywords, far)
        else:
            if name.startswith("index.") and isinstance(arguments[0], Distant):
                taken = taken[:1] + self.fetched(taken[1:])
            self.require_one_side(name, taken, far)
            if far and self.waits(name, arguments):
                self.reads.append(name)
            far = far if to is None else torch.device(to) == DISTANT
        if "device" in keywords:
            keywords["device"] = torch.device("cpu")
        result = function(*tree_map(near, arguments), **tree_map(near, keywords))
        if name == "copy_":
            return arguments[0]
        return tree_map(distant, result) if far else result

    def crossed(self, name: str, arguments: tuple, keywords: dict, far: bool) -> bool:
        """Note a copy from one side to the other; whether its result is far."""
        if name == "copy_":
            source, there = isinstance(arguments[1], Distant), isinstance(arguments[0], Distant)
            quiet = len(arguments) > 2 and arguments[2]
        else:
            to = keywords.get("device")
            source, there = far, far if to is None else torch.device(to) == DISTANT
            quiet = keywords.get("non_blocking", False)
        if source and not there:
            self.reads.append(name)
        if there and not source and not quiet:
            self.sends.append(name)
        return there

    def fetched(self, indices: list[Tensor]) -> list[Tensor]:
        """Indices of the host may be given: torch sends them, and waits."""
        there = [each for each in indices if isinstance(each, Distant)]
        self.sends += ["index"] * (len(indices) - len(there))
        return there

    def waits(self, name: str, arguments: tuple) -> bool:
        """Whether the host needs values to go on."""
        if name.startswith("index") and len(arguments) > 1 and not isinstance(arguments[1], int):
            masks = [each for each in tree_iter(arguments[1]) if isinstance(each, Tensor)]
            return any(each.dtype == torch.bool for each in masks)
        return name.split(".")[0] in READING

    def require_one_side(self, name: str, taken: list[Tensor], far: bool) -> None:
        """Raise MixedDevices if there are both; single numbers of the host may go anywhere."""
        near_ones = [each for each in taken if not isinstance(each, Distant) and each.ndim]
        if far and near_ones:
            raise MixedDevices(f"{name} takes {near_ones[0].shape} of the host")


def distant(value: Any) -> Any:
    """A tensor on the device; a number is a number on both sides."""
    return Distant(value) if isinstance(value, Tensor) else value


def near(value: Any) -> Any:
    """The numbers of a tensor, wherever they are."""
    return value.near if isinstance(value, Distant) else value


class Makers(TorchFunctionMode):
    """Functions that make tensors of the host's numbers, which torch would drop on "meta"."""

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        """Make them on the host, and send them."""
        keywords = dict(keywords or {})
        if function is Tensor.tolist and isinstance(arguments[0], Distant):
            return arguments[0].cpu().tolist()
        if function is Tensor.__getitem__ and isinstance(arguments[0], Distant):
            return function(arguments[0], numbered(arguments[1]))
        if function is Tensor.new_tensor:
            like, function, arguments = arguments[0], torch.tensor, arguments[1:]
            keywords = {"dtype": like.dtype, "device": like.device} | keywords
        if function in (torch.tensor, torch.as_tensor) and keywords.get("device") is not None:
            device = torch.device(keywords.pop("device"))
            if isinstance(arguments[0], Distant):
                return function(*arguments, **keywords)
            return function(*arguments, **keywords).to(device)
        return function(*arguments, **keywords)


def numbered(index: Any) -> Any:
    """An index whose lists are tensors of the host, as torch makes of them."""
    if isinstance(index, tuple):
        return tuple(map(numbered, index))
    return torch.tensor(index) if isinstance(index, list) else index


def llama_on(device: torch.device, folder: Path) -> Llama:
    """The model in float64 with every tensor sent to `device`."""
    weights = read_weights(folder, "cpu", torch.float64)
    tensors = {name: part.to(device) for name, part in vars(weights).items() if is_tensor(part)}
    layers = [
        replace(
            each, **{name: part.to(device) for name, part in vars(each).items() if is_tensor(part)}
        )
        for each in weights.layers
    ]
    return Llama(replace(weights, layers=layers, **tensors))


def is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)
