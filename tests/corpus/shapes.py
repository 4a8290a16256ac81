"""Shapes of ours that a kernel does not have: `python -m tests.corpus.shapes FOLDER`.

A shape under `others` in the manifest is none of the kernel's if every launch of the interpreter
reads or writes outside of shared memory there, and one at the program's own shape does not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.corpus.__main__ import MANIFEST
from tests.corpus.measure import OutOfTimeError, Shape, within
from tests.corpus.pool import jobs_of
from tests.ptx_oracle import OracleError, launch
from tests.ptx_oracle.auto import automatic, plans
from tests.ptx_oracle.launch import parsed
from tests.ptx_oracle.layout import reachable
from tests.ptx_oracle.summary import MAX_BLOCKS

STEPS = 800
SECONDS = 90


def launches_inside(text: str, kernel: str, block: Shape) -> Iterator[bool]:
    """Of each launch that accesses shared memory, whether it stays inside."""
    module = parsed(text)
    function = module.function(kernel)
    assert function is not None
    for plan in plans(reachable(module, function), block, None):
        values = dict(automatic(function, plan.whole, plan.fill))
        result = launch(
            text,
            kernel,
            plan.grid,
            plan.block,
            plan.smem,
            values,
            plan.seed,
            auto=True,
            strict=False,
            steps=STEPS,
            max_blocks=MAX_BLOCKS,
        )
        kinds = {each.kind for access in result.accesses for each in access.violations.values()}
        if any(access.executions for access in result.accesses):
            yield "outside" not in kinds


def is_left(path: Path, kernel: str, block: Shape) -> bool | None:
    """Whether all launches leave shared memory; None where none accesses it, or none can be run."""
    try:
        inside: list[bool] = within(SECONDS, lambda: _until_inside(path.read_text(encoding="utf-8"), kernel, block))
    except (OutOfTimeError, OracleError):
        return None
    return not any(inside) if inside else None


def _until_inside(text: str, kernel: str, block: Shape) -> list[bool]:
    found: list[bool] = []
    for inside in launches_inside(text, kernel, block):
        found.append(inside)
        if inside:
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
        if origin == "other" and is_left(path, kernel, block) and is_left(path, kernel, own[path, kernel]) is False:
            print(path.name, kernel, "x".join(map(str, block)), flush=True)
            found += 1
    return int(found > 0)


if __name__ == "__main__":
    raise SystemExit(main())
