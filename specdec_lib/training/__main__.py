"""Train the built-in models: `python -m specdec_lib.training`.

Resumable: stop it at any time, and the same command goes on from the last checkpoint.
"""

import argparse
from pathlib import Path

from specdec_lib.assets import ASSETS
from specdec_lib.device import default_device
from specdec_lib.training import heads, stages
from specdec_lib.training.corpus import documents
from specdec_lib.training.export import export
from specdec_lib.training.tokens import prepare


def main() -> None:
    """Train the target, then what drafts for it, and write all of it to specdec_lib/models/assets.

    What is trained stays in the folder.
    """
    parser = argparse.ArgumentParser(prog="python -m specdec_lib.training", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/training"))
    folder = parser.parse_args().folder
    prepare(folder, documents())
    for train in (stages.train_target, stages.train_drafts, heads.train_heads):
        train(folder, default_device())
    export(folder, ASSETS)


if __name__ == "__main__":
    main()
