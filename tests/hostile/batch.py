"""Runs `swzverify prove` on every file of a folder, one after the other in this one process, within
hard limits.

    python batch.py FOLDER

prints a JSON object: for each file its exit code, time, memory and what it wrote. The process may
use little more memory than it has at the start, and a file that hangs ends it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from pathlib import Path

from swzverify.apps.cli import main

MORE_BYTES = 160 * 1024 * 1024
BATCH_SECONDS = 240


def status(key: str) -> int:
    """A number of bytes of /proc/self/status; 0 where there is none."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0


def peak_bytes() -> int:
    """The most memory so far, or since `forget_peak`."""
    import resource  # not on Windows, where this file is only looked at

    return status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    """Let the peak count from here on, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def run(arguments: list[str]) -> dict[str, object]:
    """Run the command, and say how it ended."""
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    forget_peak()
    wall, processor = time.perf_counter(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main(["prove", *arguments], prog_name="swzverify", standalone_mode=True)
        except SystemExit as end:
            code = end.code
    return {
        "code": code,
        "processor_s": time.process_time() - processor,
        "wall_s": time.perf_counter() - wall,
        "peak_bytes": peak_bytes(),
        "out": out.getvalue(),
        "err": err.getvalue(),
    }


def limit() -> None:
    """From here on: little more memory than now, and so much processor time for all files together."""
    import resource

    size = status("VmSize")
    if size:
        resource.setrlimit(resource.RLIMIT_AS, (size + MORE_BYTES, size + MORE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (BATCH_SECONDS, BATCH_SECONDS))


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    files = sorted(os.listdir())
    run([files[0]])  # what the first run imports is no file's own cost
    limit()
    json.dump({file: run([file]) for file in files}, sys.stdout)
