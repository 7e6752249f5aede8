"""A stage of the training on what this machine has: its GPU, or one process a core."""

import os
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from specdec_lib.device import default_device

Stage = Callable[[Path, torch.device], None]


def run(stage: Stage, folder: Path) -> None:
    """Run `stage(folder, device)` on the GPU if there is one, else in two CPU processes."""
    processes = 1 if torch.cuda.is_available() else max(1, min(2, os.cpu_count() or 1))
    meeting = (folder / f"meeting-{os.getpid()}-{stage.__name__}").resolve()
    mp.spawn(_work, (processes, stage, folder, meeting), nprocs=processes)
    meeting.unlink(missing_ok=True)


def _work(rank: int, processes: int, stage: Stage, folder: Path, meeting: Path) -> None:
    # One thread a process: two processes of one thread are faster than one of two (measured).
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=meeting.as_uri(), rank=rank, world_size=processes)
    stage(folder, default_device())
    dist.destroy_process_group()
