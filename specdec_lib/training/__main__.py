"""Train what the course ships: `python -m specdec_lib.training builtin`, `draft` or `head`.

The built-in models take about two hours on two cores. The draft model and the EAGLE head of SmolLM2
need the fetched target, which first writes the text: a million tokens take about three hours of
one core. If a training is stopped, the same command goes on with it.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import torch

from specdec_lib.assets import ASSETS
from specdec_lib.device import default_device
from specdec_lib.models.llama import Llama
from specdec_lib.models.published.fetch import fetched_folder
from specdec_lib.models.smollm2 import DRAFT_MODEL, FOLDERS, HEAD
from specdec_lib.models.tokenizer import FileTokenizer
from specdec_lib.training.corpus import prepare
from specdec_lib.training.cut_draft import make_draft
from specdec_lib.training.cut_head import make_head
from specdec_lib.training.eagle import train_eagle
from specdec_lib.training.export import export_assets
from specdec_lib.training.recipes import PIECE_ROWS, ROW_LENGTH
from specdec_lib.training.stages import train_drafts, train_target
from specdec_lib.training.writing import read_pieces, write_pieces

_FOLDER = Path("build/training")
_TRAININGS = {"target": train_target, "drafts": train_drafts, "eagle": train_eagle}


def builtin() -> None:
    """The built-in models."""
    prepare(_FOLDER)
    for name, train in _TRAININGS.items():
        if not (_FOLDER / f"{name}.pt").exists():
            train(_FOLDER, default_device())
    export_assets(_FOLDER, ASSETS)


def smollm2(options: Namespace) -> None:
    """The draft model or the head of SmolLM2, on the CPU."""
    folder = fetched_folder()
    target, work = Llama.from_folder(folder, dtype=torch.float32), _FOLDER / "smollm2"
    pieces = -(-options.tokens // (PIECE_ROWS * ROW_LENGTH))
    write_pieces(target, FileTokenizer.from_folder(folder), work, pieces)
    text = read_pieces(work, pieces)
    if options.models == "head":
        make_head(target, text, options.epochs, work, options.to or FOLDERS[HEAD])
    else:
        make_draft(target, text, options.epochs, work, options.to or FOLDERS[DRAFT_MODEL])


if __name__ == "__main__":
    command = ArgumentParser("python -m specdec_lib.training", description=__doc__)
    names = ("builtin", "draft", "head")
    command.add_argument("models", nargs="?", choices=names, default="builtin")
    command.add_argument("--tokens", type=int, default=1_000_000, help="of text, at least")
    command.add_argument("--epochs", type=float, default=4.0, help="how often the text is read")
    command.add_argument("--to", type=Path, help="the folder to write, else the course's own")
    options = command.parse_args()
    builtin() if options.models == "builtin" else smollm2(options)
