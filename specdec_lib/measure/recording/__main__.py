"""Record one of the files: `python -m specdec_lib.measure.recording NAME`."""

import argparse

from specdec_lib.files import write_whole
from specdec_lib.measure import recording
from specdec_lib.measure.recording import blocks, passes, race

# The file by name, and what makes its text.
RECORDINGS = {
    "blocks": (blocks.BLOCKS_FILE, blocks.blocks_json),
    "passes": (passes.PASSES_FILE, passes.passes_json),
    "race": (race.RACE_FILE, race.race_json),
}


def main(arguments: list[str] | None = None) -> None:
    """Record the file that is asked for."""
    command = argparse.ArgumentParser(
        "python -m specdec_lib.measure.recording",
        description=recording.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("name", choices=RECORDINGS)
    path, make_text = RECORDINGS[command.parse_args(arguments).name]
    write_whole(path, make_text() + "\n")


if __name__ == "__main__":
    main()
