"""The kinds of values that answers consist of."""

from typing import Any

import numpy as np

ARRAYS, BOOLS = (np.ndarray,), (bool, np.bool_)
INTS, FLOATS = (int, np.integer), (float, np.floating)


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor of torch, which is not imported for those who do without."""
    return type(value).__name__ == "Tensor"


def as_array(tensor: Any) -> Any:
    """A tensor as an array, for comparisons: narrow floats become float64."""
    plain = tensor.detach().cpu()
    return (plain.double() if plain.dtype.is_floating_point else plain).numpy()


def tensor_as_numpy(tensor: Any) -> np.ndarray:
    """A tensor as an array of its own width; bfloat16, which NumPy lacks, as float32."""
    plain = tensor.detach().cpu()
    return (plain.float() if "bfloat16" in str(plain.dtype) else plain).numpy()
