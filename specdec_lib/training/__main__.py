"""Train the built-in models: `python -m specdec_lib.training`, about two hours.

If it is stopped, the same command goes on with the first training that had not ended.
"""

from pathlib import Path

from specdec_lib.assets import ASSETS
from specdec_lib.device import default_device
from specdec_lib.training.corpus import prepare
from specdec_lib.training.export import export_assets
from specdec_lib.training.heads import train_heads
from specdec_lib.training.stages import train_drafts, train_target

_FOLDER = Path("build/training")
_TRAININGS = {"target": train_target, "drafts": train_drafts, "heads": train_heads}

if __name__ == "__main__":
    prepare(_FOLDER)
    for name, train in _TRAININGS.items():
        if not (_FOLDER / f"{name}.pt").exists():
            train(_FOLDER, default_device())
    export_assets(_FOLDER, ASSETS)
