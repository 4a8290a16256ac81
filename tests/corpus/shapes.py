"""Shapes of ours that a kernel does not have: `python -m tests.corpus.shapes FOLDER`.

A shape under `others` in the manifest is none of the kernel's if every launch of the interpreter
reads or writes outside of shared memory there, and one at the program's own shape does not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from tests.corpus.__main__ import MANIFEST
from tests.corpus.measure import OutOfTimeError, Shape, within
from tests.corpus.pool import jobs_of
from tests.ptx_oracle import OracleError
from tests.ptx_oracle.summary import auto_launches

STEPS = 800
SECONDS = 90


def is_left(text: str, kernel: str, block: Shape) -> bool | None:
    """Whether all launches leave shared memory; None where none accesses it, or none can be run."""
    try:
        return within(SECONDS, lambda: _is_left(text, kernel, block))
    except (OutOfTimeError, OracleError):
        return None


def _is_left(text: str, kernel: str, block: Shape) -> bool | None:
    found = None
    for _, result in auto_launches(text, kernel, block, steps=STEPS):
        if any(access.executions for access in result.accesses):
            kinds = {each.kind for access in result.accesses for each in access.violations.values()}
            found = "outside" in kinds
            if not found:
                break
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shapes that are none; 1 where there are some."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.shapes", description="Find shapes that are none.")
    parser.add_argument("folder", type=Path, help="the PTX files")
    jobs = jobs_of(
        parser.parse_args(arguments).folder, json.loads(MANIFEST.read_text(encoding="utf-8")), STEPS, SECONDS
    )
    own = {(path, kernel): block for path, kernel, block, origin, *_ in jobs if origin != "other"}
    found = 0
    for path, kernel, block, origin, *_ in jobs:
        text = path.read_text(encoding="utf-8") if origin == "other" else ""
        if text and is_left(text, kernel, block) and is_left(text, kernel, own[path, kernel]) is False:
            print(path.name, kernel, "x".join(map(str, block)), flush=True)
            found += 1
    return int(found > 0)


if __name__ == "__main__":
    raise SystemExit(main())
