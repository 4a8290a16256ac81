"""A stand-in for the process that computes, which answers, hangs or dies as it is told."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection


def serve(pipe: Connection) -> None:
    """The answer's one error has the process's number for its message."""
    while True:
        query, _ = pipe.recv()
        if query == "hang":
            time.sleep(600)
        if query == "die":
            os._exit(7)
        pipe.send({"errors": [{"message": str(os.getpid())}]})
