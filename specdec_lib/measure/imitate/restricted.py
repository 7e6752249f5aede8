"""Less of a processor than there is, so that the figures of other classes can be imitated.

torch, oneDNN, MKL and Numba read variables when they are loaded, so what is restricted is a process
of its own. FBGEMM reads none: it is told by a call, before any weight is packed; kernels do that as
they start (kernel.py). What is imitated are the instructions; caches and memory stay those of the
machine.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from specdec_lib.device import CLASSES, processor_class

KERNEL = Path(__file__).with_name("kernel.py")
LIBRARY = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
# fbgemm::fbgemmForceIsa(inst_set_t) and fbgemm::fbgemmInstructionSet(), as the library names them.
FORCE, ACTIVE = "_ZN6fbgemm14fbgemmForceIsaENS_10inst_set_tE", "_ZN6fbgemm20fbgemmInstructionSetEv"


class Restriction(NamedTuple):
    """What makes of a better processor one of the class `name`."""

    name: str
    environment: dict[str, str]
    fbgemm: int | None  # its number of the instructions; None: it uses no more than the class has


RESTRICTIONS = {
    "avx2": Restriction(
        "AVX2",
        {
            "ATEN_CPU_CAPABILITY": "avx2",
            "ONEDNN_MAX_CPU_ISA": "AVX2",
            "MKL_ENABLE_INSTRUCTIONS": "AVX2",
            "NUMBA_CPU_NAME": "haswell",
            "NUMBA_CPU_FEATURES": "+avx2,+fma",
        },
        1,
    ),
    "avx512": Restriction(
        "AVX512",
        {
            "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
            "NUMBA_CPU_NAME": "skylake-avx512",
            "NUMBA_CPU_FEATURES": "+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd",
        },
        2,
    ),
    "avx512-bf16": Restriction(
        "AVX512 with bfloat16", {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"}, None
    ),
}


class CannotImitate(Exception):
    """This machine or this torch cannot stand for a class."""


def has_to_restart(wanted: str) -> bool:
    """Whether a new process is needed to be of the class `wanted`, a key of RESTRICTIONS.

    Raises CannotImitate if the machine has less than the class.
    """
    require_machine(wanted)
    return processor_class() != RESTRICTIONS[wanted].name


def require_machine(wanted: str) -> None:
    """Raise CannotImitate if the machine has less than the class `wanted`."""
    name, machine = RESTRICTIONS[wanted].name, processor_class({})
    order = list(CLASSES)
    if machine not in order or order.index(machine) < order.index(name):
        raise CannotImitate(f"this machine is of the class {machine}; it cannot stand for {name}")


def run_restricted(wanted: str, command: Sequence[str]) -> int:
    """Run `python *command` as the class `wanted`; returns its exit code."""
    words = [sys.executable, *command]
    return subprocess.run(words, env=environment_of(wanted), check=False).returncode


def environment_of(wanted: str) -> dict[str, str]:
    """The environment of a process, and of the kernels that it starts, of the class `wanted`."""
    return os.environ | RESTRICTIONS[wanted].environment | {"PYTHONSTARTUP": str(KERNEL)}


def imitated() -> bool:
    """Whether the environment leaves less than the machine has."""
    return processor_class() != processor_class({})


def restrict_fbgemm() -> None:
    """Take from FBGEMM what the environment takes from the others.

    To be called before any weight is packed. Raises CannotImitate if FBGEMM does not let it.
    """
    if not imitated():
        return
    name = processor_class()
    wanted = {each.name: each for each in RESTRICTIONS.values()}
    if name not in wanted:
        raise CannotImitate(f"the environment leaves the class {name}, which is not measured")
    require_fbgemm(wanted[name])


def require_fbgemm(wanted: Restriction) -> None:
    """Restrict FBGEMM in this process. Raises CannotImitate if it does not let itself be."""
    if wanted.fbgemm is not None and forced(wanted.fbgemm) != wanted.fbgemm:
        raise CannotImitate(f"FBGEMM cannot be restricted here: {wanted.name} cannot be imitated")


def forced(number: int) -> int | None:
    """The instructions that FBGEMM uses after it was told to use `number`; None: not told."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
        getattr(library, FORCE)(number)
        return getattr(library, ACTIVE)()
    except (OSError, AttributeError):  # another system; a torch without FBGEMM, or that hides it
        return None
