"""Statements on one warp instruction: the lanes in its fullest bank, the steps of its addresses."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.explain.explanations.statements import Apart, Crowd, Level, Steps
from swzverify.explain.pictures.chosen import Chosen
from swzverify.explain.pictures.views.groups import worst_group
from swzverify.hardware import BANK_WORD_BYTES, BANKS, Instruction


def crowds(run: Chosen) -> list[Crowd | Apart]:
    """The fullest bank of the most expensive group; by the octet rule the classes of its lanes."""
    worst = run.cost.groups[worst_group(run.cost)]
    where = run.access.binding(run.point)
    if worst.bank is None:
        return [Apart(worst.apart, worst.wavefronts, where)]
    needed = {lane: _words(run, lane) for lane in worst.lanes}
    lanes = tuple(lane for lane, words in needed.items() if any(word % BANKS == worst.bank for word in words))
    words = sorted({word for lane in lanes for word in needed[lane] if word % BANKS == worst.bank})
    counts_equal = run.access.instruction.counts_equal_words
    return [Crowd(lanes, worst.bank, tuple(words), worst.wavefronts, counts_equal, where)]


def _words(run: Chosen, lane: int) -> range:
    first = (run.lanes[lane].address_bytes or 0) // BANK_WORD_BYTES
    return range(first, first + run.access.instruction.words)


def steps(run: Chosen) -> list[Steps]:
    """How the addresses of the most expensive group go up, if they do so by a few steps."""
    row = run.access.instruction
    worst = run.cost.groups[worst_group(run.cost)]
    addresses = [run.lanes[lane].address_bytes or 0 for lane in worst.lanes]
    if row.by_octets or len(addresses) < 2 or worst.lanes != tuple(range(worst.lanes[0], worst.lanes[-1] + 1)):
        return []
    found = levels(addresses)
    if found is None or not any(each.step_bytes for each in found):
        return []
    told = _by_order(row, found[0]) if len(found) == 1 else None
    return [Steps(worst.lanes, found, told, run.access.binding(run.point))]


def levels(addresses: Sequence[int]) -> tuple[Level, ...] | None:
    """The steps that make up a list, the fastest first; None if three levels are not enough.

    Each level repeats the run of the levels before it.

    >>> levels([0, 4, 8, 144, 148, 152])
    (Level(count=3, step_bytes=4), Level(count=2, step_bytes=144))
    >>> levels([0, 1, 4, 9])
    """
    found: list[Level] = []
    rest = list(addresses)
    while len(rest) > 1:
        step = rest[1] - rest[0]
        count = next((i for i in range(1, len(rest)) if rest[i] != rest[0] + i * step), len(rest))
        if len(found) == 3 or len(rest) % count:
            return None
        if any(value != rest[i - i % count] + i % count * step for i, value in enumerate(rest)):
            return None
        found.append(Level(count, step))
        rest = rest[::count]
    return tuple(found)


def _by_order(row: Instruction, level: Level) -> int | None:
    """The wavefronts of lanes that step by whole units, else None.

    `order` lanes lie in different slots, and the next ones lie in the same slots again.
    """
    return None if level.step_bytes % row.unit_bytes else -(-level.count // level.order)
