"""A command whose output is cut off, as by `| head`, ends without a word."""

import subprocess
import sys


def test_a_closed_pipe_ends_a_command_quietly():
    """The command waits until the reader has gone, so that there is no race."""
    code = "import sys; from specdec_lib.cli import main; input(); sys.exit(main(['pairs']))"
    command = [sys.executable, "-c", code]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **pipes) as process:
        process.stdout.close()
        process.stdin.write("go\n")
        process.stdin.close()
        assert process.stderr.read() == "" and process.wait(60) == 0
