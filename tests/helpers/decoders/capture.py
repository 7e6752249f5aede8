"""What a CUDA graph cannot hold, found without a GPU: every operator of a step is looked at."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

# Operators that read a value on the host, or whose result has a shape that depends on data: both
# wait for the device, and a capture fails with them.
WAITING = (
    "_local_scalar_dense",
    "item",
    "is_nonzero",
    "equal",
    "nonzero",
    "masked_select",
    "bincount",
    "repeat_interleave.Tensor",
    "_unique",
    "unique",
)


class CaptureError(AssertionError):
    """A CUDA graph could not hold this operator."""


class Capturable(TorchDispatchMode):
    """Raises CaptureError at an operator that waits, or that takes a tensor of another device.

    `operators` are those that passed: the name of each, and the shapes of what it takes.
    Random operators are refused too: a replay would draw the numbers of a generator that the host
    does not see.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = torch.device(device)
        self.operators: list[tuple[str, list[torch.Size]]] = []

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        """Look at the call, and make it."""
        keywords = keywords or {}
        if function.namespace != "aten":  # a question about a tensor, such as prim::device
            return function(*arguments, **keywords)
        if function._can_decompose():  # made of others, which are looked at one by one
            with self:
                parts = function.decompose(*arguments, **keywords)
            if parts is not NotImplemented:
                return parts
        name = function.name().removeprefix("aten::")
        if any(name == each or name.startswith(f"{each}.") for each in WAITING):
            raise CaptureError(f"{name} waits for the device")
        # Attention is marked for its dropout, which nobody asks for here.
        if torch.Tag.nondeterministic_seeded in function.tags and "attention" not in name:
            raise CaptureError(f"{name} draws random numbers")
        taken = [
            each for each in tree_iter((arguments, keywords)) if isinstance(each, torch.Tensor)
        ]
        if name.startswith("index") and any(each.dtype == torch.bool for each in taken[1:]):
            raise CaptureError(f"{name} by a mask gives a shape that depends on data")
        result = function(*arguments, **keywords)
        given = [each for each in tree_iter(result) if isinstance(each, torch.Tensor)]
        strange = [each for each in taken + given if each.device != self.device]
        if strange:
            raise CaptureError(f"{name} takes or gives a tensor on {strange[0].device}")
        self.operators.append((name, [each.shape for each in taken]))
        return result
