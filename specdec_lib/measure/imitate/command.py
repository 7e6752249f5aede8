"""Run a program on less of the processor: `python -m specdec_lib.measure.imitate CLASS PROGRAM`.

`... avx2 specdec start` opens the chapters as a processor with AVX2 runs them, and `... avx2
autograde build --solutions` executes them. The bench has an option of its own (`--class`). Caches
and memory stay those of the machine.
"""

import argparse
import subprocess
from collections.abc import Sequence

from specdec_lib.measure.imitate.restricted import (
    RESTRICTIONS,
    CannotImitate,
    environment_of,
    require_fbgemm,
    require_machine,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    command = argparse.ArgumentParser(
        prog="python -m specdec_lib.measure.imitate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("processor", choices=RESTRICTIONS, help="the class to be")
    command.add_argument("program", nargs=argparse.REMAINDER, help="the program and its arguments")
    options = command.parse_args(arguments)
    if not options.program:
        command.error("name a program to run, such as specdec start")
    try:
        require_machine(options.processor)
        require_fbgemm(RESTRICTIONS[options.processor])
        environment = environment_of(options.processor)
        return subprocess.run(options.program, env=environment, check=False).returncode
    except (CannotImitate, OSError) as error:
        command.error(str(error))
