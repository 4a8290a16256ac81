"""What the claims about listings ask: docs/semantics.md, section 8.

A listing has no variables, so constants decide. The count is written from that section alone: it
shares nothing with the front end, which only says which registers each line reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from swzrecheck.compiled import Line, Listing
from swzrecheck.draft import Asked, Draft, Goals, MeaninglessError, UntrueError

BANKS = {
    **dict.fromkeys(("sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"), (4, 1, True)),
    "sm_70": (2, 2, False),
}
"""For each target: its banks, the registers of one bank that a cycle reads, and whether other
instructions leave the cache as it is.
"""


def conflicts(listing: Listing, limit: int) -> Goals:
    """All instructions together have at most so many conflicts."""
    if listing.target not in BANKS:
        raise MeaninglessError(f"no rule is known of the register banks of {listing.target}")
    if not any(line.work == "arithmetic" for line in listing.lines):
        raise MeaninglessError(f"listing {listing.name} has no arithmetic instruction")
    if any(line.work == "unknown" for line in listing.lines):
        raise MeaninglessError(f"listing {listing.name} has an instruction that is not understood")
    costs = [_cost(listing, index) for index in range(len(listing.lines))]
    counted = f"{sum(costs)} register bank conflicts at most, in {len(costs)} instructions"
    if sum(costs) > limit:
        raise UntrueError(counted)
    draft = Draft()
    numbers = draft.numbers
    total = numbers.total([numbers.number(cost) for cost in costs])
    holds = draft.out.all([numbers.less_equal(total, numbers.number(limit))])
    return Goals((Asked("", draft.always([], draft.true, holds)),), counted=counted)


def _cost(listing: Listing, index: int) -> int:
    """The extra cycles of one line, for the registers that the line before did not keep for it."""
    line = listing.lines[index]
    if line.work != "arithmetic":
        return 0
    banks, width, _ = BANKS[listing.target]
    kept = _kept(listing, index)
    read = {register for register, slot, _ in line.reads if slot == 0 or (slot, register) not in kept}
    return sum((count - 1) // width for count in Counter(register % banks for register in read).values())


def _kept(listing: Listing, index: int) -> set[tuple[int, int]]:
    """Slot and register of what the arithmetic line before has surely left in the cache."""
    others_keep = BANKS[listing.target][2]
    passed: list[Line] = []
    if listing.lines[index].joined:
        return set()
    for line in reversed(listing.lines[:index]):
        passed.append(line)
        if line.yields:
            return set()
        if line.work == "other" and others_keep:
            if line.joined:
                return set()
            continue
        if line.work != "arithmetic" or line.predicated:
            return set()
        return {(slot, register) for register, slot, marked in line.reads if marked and slot} - _written(passed)
    return set()


def _written(lines: Sequence[Line]) -> set[tuple[int, int]]:
    return {(slot, register) for line in lines for register in line.writes for slot in (2, 3, 4)}
