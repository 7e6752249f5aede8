"""A grading process that ends when it is asked to: it stands where the real one does."""

import os
from multiprocessing.connection import Connection


def serve(requests: Connection) -> None:
    """Answer every request with 42; end at the first whose notebook is "exit"."""
    while True:
        notebook, _ = requests.recv()
        if notebook == "exit":
            os._exit(1)
        requests.send(42)
