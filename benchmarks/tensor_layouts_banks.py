"""Bank conflicts of random layouts, a scalar per lane: our cost rule against tensor_layouts'
`bank_conflicts`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import Effort, Row, require, speedup
from swzverify.hardware import Instruction, cost_many, find_instruction
from swzverify.layout import Layout

SEED = 20
SHAPES = ((32,), (2, 16), (4, 8), (8, 4), (16, 2), (2, 4, 4), (4, 2, 4), (2, 2, 8), (2, 2, 2, 4))
STRIDES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 36, 40, 64, 65, 72, 96, 128, 132, 256)
LOADS = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}
TARGET = 20.0


@dataclass(frozen=True, slots=True)
class Case:
    """32 lanes at shape:stride, elements of that many bytes."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    element_bytes: int


def rows(effort: Effort) -> list[Row]:
    """The speed, and a line on where the answers differ and why."""
    from tensor_layouts import Layout as TheirLayout
    from tensor_layouts.analysis import bank_conflicts

    chosen = cases(effort.layouts)
    # One mode of 32 lanes and one value per lane.
    own = [(Layout((case.shape, 1), (case.stride, 0)), case.element_bytes) for case in chosen]
    other = [(TheirLayout((case.shape, 1), (case.stride, 0)), case.element_bytes) for case in chosen]

    def theirs() -> list[int]:
        return [bank_conflicts(layout, element_bytes=size)["max_ways"] for layout, size in other]

    reasons = differences(own, theirs())
    unexplained = reasons.pop("unexplained", 0)
    explained = "; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) or "none differ"
    what = f"tensor_layouts bank_conflicts, {effort.layouts:,} layouts"
    # A handful of layouts cannot amortise numpy's calls: the target is about a thousand.
    goal = TARGET if effort.layouts >= 1000 else None
    return [
        speedup(what, lambda: costs(own), theirs, effort.repeats, goal),
        Row(f"differences: {explained}", "", "", unexplained, f"{unexplained} unexplained", 0, True, "0"),
    ]


def cases(count: int) -> list[Case]:
    """Random layouts, the same ones in every run."""
    draw = random.Random(SEED)  # noqa: S311 - nothing secret
    result: list[Case] = []
    for _ in range(count):
        shape = draw.choice(SHAPES)
        result.append(Case(shape, tuple(draw.choice(STRIDES) for _ in shape), draw.choice(tuple(LOADS))))
    return result


def addresses(layouts: Sequence[tuple[Layout, int]]) -> np.ndarray:
    """Byte addresses, a row a layout."""
    offsets = np.array([layout.offsets() for layout, _ in layouts], dtype=np.int64)
    return offsets * np.array([[size] for _, size in layouts])


def costs(layouts: Sequence[tuple[Layout, int]]) -> tuple[np.ndarray, np.ndarray]:
    """(wavefronts, minimum) of every layout."""
    found = addresses(layouts)
    sizes = np.asarray([size for _, size in layouts])
    wavefronts, minimum = np.zeros(len(found), dtype=np.int64), np.zeros(len(found), dtype=np.int64)
    for size, name in LOADS.items():
        chosen = np.flatnonzero(sizes == size)
        cost = cost_many(name, found[chosen], np.ones((chosen.size, 32), dtype=np.bool_))
        wavefronts[chosen], minimum[chosen] = cost.wavefronts, cost.minimum
    return wavefronts, minimum


def differences(layouts: Sequence[tuple[Layout, int]], theirs: Sequence[int]) -> Counter[str]:
    """How often their ways beyond one are not our conflicts, by reason."""
    reasons: Counter[str] = Counter()
    wavefronts, minimum = costs(layouts)
    found = addresses(layouts)
    require(len(theirs) == len(layouts), "an answer a layout")
    for row, (_, size) in enumerate(layouts):
        if wavefronts[row] - minimum[row] != theirs[row] - 1:
            reasons[_reason(find_instruction(LOADS[size]), found[row], int(minimum[row]), theirs[row])] += 1
    return reasons


def _reason(load: Instruction, lanes: np.ndarray, minimum: int, theirs: int) -> str:
    """Why the answers differ; unexplained unless their number follows from the simplification that
    is named.
    """
    words = {int(address) // 4 for address in lanes}
    ways = max(Counter(word % 32 for word in words).values())
    if ways != theirs or load.words == 1:
        return "unexplained"
    # They look at the first word of all 32 lanes at once, the hardware at all words of a group of
    # lanes.
    if minimum < load.group_count:
        return f"wide ({8 * load.width_bytes} bits), groups joined"
    return f"wide ({8 * load.width_bytes} bits), served in groups of lanes"
