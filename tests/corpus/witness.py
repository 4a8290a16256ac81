"""Launches that meet the conflicts of a scan in the interpreter of the tests.

A conflict that is proved for some values has no launch yet. Two things look for one: launches
with a few chosen values, and the search of `swzverify.compiled.trial`, which changes a launch that came
near. Only the interpreter, which shares no code with either, says whether a conflict was met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from swzverify.compiled.kernel import KernelAccess, accesses, inlined
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.price import price
from swzverify.compiled.scan.verdict import DisagreementError
from swzverify.compiled.trial import Launch, Launcher, Search, Seen, run
from swzverify.hardware import LANES
from tests.ptx_oracle import Access, launch
from tests.ptx_oracle.auto import DYNAMIC_BYTES, automatic
from tests.ptx_oracle.buffers import Argument
from tests.ptx_oracle.launch import parsed
from tests.ptx_oracle.summary import MAX_BLOCKS

Shape = tuple[int, int, int]
Take = Callable[[str, Sequence[Access]], set[int]]
"""Takes what a named launch did in the interpreter; gives the lines of conflicts that are left."""
Repeat = Callable[[Launch], set[int]]
"""Makes a launch of the search in the interpreter; gives the lines of conflicts that are left."""
HUNTED = (
    (5000, 5000, "mod:64", (2, 1, 1)),
    (256, 256, "u32", (2, 2, 2)),
    (1 << 20, 1 << 20, "u32", (2, 1, 1)),
    (16, 16, "mod:4", (2, 1, 1)),
    (8, 8, "zero", (2, 1, 1)),
    (128, 128, "iota", (4, 1, 1)),
    (2, 2, "u32", (2, 1, 1)),
    (512, 512, "mod:256", (2, 2, 2)),
    (1, 512, "zero", (1, 1, 1)),
)
"""Values of whole numbers, of the last one, contents of buffers and grids that may lead to a conflict.

The last number is often how long a row is, and the ones before how many there are; the last block
of a grid does what the others do not.
"""
STEPS = 20_000
"""Instructions of one launch of the search, each for all warps that are there."""
MOST_LANE_STEPS = 200_000_000
"""Instructions of all launches of the search, each counted for all threads of the block."""


def chosen(text: str, kernel: str, block: Shape, steps: int, take: Take) -> None:
    """Launch with chosen values until each conflict is met, or no value is left."""
    function = parsed(text).function(kernel)
    if function is None:
        return
    for whole, last, fill, grid in HUNTED:
        values: dict[str | int, Argument] = {**automatic(function, whole, fill)}
        if numbers := [place for place, value in values.items() if isinstance(value, int)]:
            values[numbers[-1]] = last
        result = launch(
            text,
            kernel,
            grid,
            block,
            DYNAMIC_BYTES,
            values,
            7,
            auto=True,
            strict=False,
            steps=steps,
            max_blocks=MAX_BLOCKS,
        )
        if not take(f"n={whole} {last} {fill}", result.accesses):
            return


def search(module: Module, function: Function, block: Shape, unmet: set[int], repeat: Repeat) -> None:
    """Repeat launches of the search until each line is met, or the search is at its end."""
    read = [each for each in accesses(module, function, block) if each.cost.row is not None and each.site.index >= 0]
    whole = inlined(module, function).function
    made_by = Search(Launcher(whole, block, DYNAMIC_BYTES))
    most: dict[int, int] = defaultdict(int)
    left = MOST_LANE_STEPS // prod(block)
    for made in made_by:
        open_now = [each for each in read if each.site.line in unmet]
        trial = run(module, whole, made, [each.site.index for each in open_now], STEPS)
        ways = {each.site.line: _ways(each, trial.seen.get(each.site.index)) for each in open_now}
        better = {line: seen for line, seen in ways.items() if seen > max(1, most[line])}
        if better:
            most.update(better)
            unmet = repeat(made)
        left -= max(1, trial.steps)
        if not unmet or left <= 0:
            return
        made_by.learn(made, trial, [each.site.index for each in open_now])


def _ways(access: KernelAccess, seen: Seen | None) -> int:
    """The most ways that a trial saw of an access."""
    if seen is None or access.cost.row is None or not seen.addresses:
        return 0
    addresses = np.array(seen.addresses, dtype=np.int64).reshape(-1, LANES)
    active = np.array(seen.active, dtype=np.bool_).reshape(-1, LANES)
    try:
        found = price(access.cost.row, addresses, active)
    except DisagreementError:
        return 0
    return 0 if found is None else found.ways
