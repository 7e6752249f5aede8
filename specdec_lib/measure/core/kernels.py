"""How many kernels a GPU would start for a pass, counted without one."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class Kernels(TorchDispatchMode):
    """Counts operators that compute: `count` is about how many kernels a GPU would start.

    Under inference_mode, where an operator that has a kernel of its own arrives whole. What gives
    another view of memory that is there starts nothing.
    """

    count = 0

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        """Run the call, and count it if it wrote anywhere."""
        result = function(*arguments, **(keywords or {}))
        taken = {memory(each) for each in tensors((arguments, keywords))}
        fresh = any(memory(each) not in taken for each in tensors(result))
        empty = function.name().startswith("aten::empty")
        self.count += (fresh or function._schema.is_mutable) and not empty
        return result


def tensors(values: object) -> Iterator[Tensor]:
    """All tensors among `values`."""
    return (each for each in tree_iter(values) if isinstance(each, Tensor))


def memory(tensor: Tensor) -> int:
    """What tells one tensor's memory from another's, on the device without memory too."""
    return tensor.untyped_storage()._cdata


@torch.inference_mode()
def kernels(run: Callable[[], object]) -> int:
    """The operators of `run` that compute."""
    with Kernels() as counted:
        run()
    return counted.count


def kernels_a_layer(passes: Callable[[int], Callable[[], object]]) -> int:
    """What one more layer adds to a pass; `passes` makes a pass of a model of so many layers."""
    return kernels(passes(2)) - kernels(passes(1))
