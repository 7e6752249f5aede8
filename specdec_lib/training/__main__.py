"""Train the built-in models: `python -m specdec_lib.training`.

Resumable: stop it at any time, and the same command goes on from the last checkpoint.
"""

import argparse
import sys
from pathlib import Path

from specdec_lib.assets import ASSETS
from specdec_lib.training import heads, stages
from specdec_lib.training.corpus import documents
from specdec_lib.training.export import export
from specdec_lib.training.processes import run
from specdec_lib.training.tokens import prepare

STAGES = {
    "target": stages.train_target,
    "drafts": stages.train_drafts,
    "heads": heads.train_heads,
}
EXPORT = "export"  # to specdec_lib/models/assets


def main(arguments: list[str] | None = None) -> int:
    """Run the stages that were asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m specdec_lib.training", description=__doc__)
    parser.add_argument(
        "stages", nargs="*", choices=[*STAGES, EXPORT, []], help="default: all, in order"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/training"))
    options = parser.parse_args(arguments)
    prepare(options.folder, documents())
    for stage in options.stages or (*STAGES, EXPORT):
        if stage == EXPORT:
            export(options.folder, ASSETS)
        else:
            run(STAGES[stage], options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
