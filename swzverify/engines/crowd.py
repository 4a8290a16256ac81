"""The worst choices of a warp instruction: how many units of one slot its lanes can choose.

An aligned lane touches one whole unit of max(4, width) bytes. The unit lies in one slot: the banks
at its place in the 128-byte line. A group costs as much as the slot with the most different units.
Each lane chooses independently, so the most that a slot can hold is a largest matching of lanes to
the slot's units. Groups choose independently of each other, so their costs add up.

In global memory the whole warp is one group, and any two different sectors count: the most is a
largest matching of lanes to sectors.

Plain loads of 8 and 16 bytes join groups where lanes agree in pairs. A joined choice gives each pair
one address, or one of the two is idle: there pairs are matched to units.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from swzverify.hardware import BANK_PERIOD_BYTES, LANES, PAIR_DISTANCES, Instruction

Options = Sequence[int | None]
"""What a lane can choose: byte addresses, each once; None where it can be idle."""
Choice = list[int | None]
"""What each lane chooses."""
MAX_TRIED = 64
"""Addresses of a lane that are tried to tear a pair apart."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Choices that may be the worst ones, and what no choice exceeds."""

    choices: tuple[Choice, ...]
    most_wavefronts: int
    most_conflicts: int


def crowd(row: Instruction, lanes: Sequence[Options]) -> Crowd:
    """The worst choices of a warp instruction, if every address is aligned.

    The instruction follows the plain rule, or is one of global memory.

    >>> from swzverify.hardware import find_instruction
    >>> found = crowd(find_instruction("ld.shared.b32"), [[0, 128 * lane] for lane in range(32)])
    >>> found.most_wavefronts, found.most_conflicts
    (32, 31)
    """
    if row.is_global:
        return _most_sectors(row, lanes)
    groups = [range(start, start + row.group_lanes) for start in range(0, row.address_lanes, row.group_lanes)]
    fullest = [_fullest(row, {lane: lanes[lane] for lane in group}, row.group_lanes) for group in groups]
    counts = [len(found) for found in fullest]
    apart = {lane: address for found in fullest for lane, address in found.items()}
    choice = [apart.get(lane, options[0]) for lane, options in enumerate(lanes)]
    most, conflicts = sum(counts), sum(max(0, count - 1) for count in counts)
    if not row.joins:
        return Crowd((choice,), most, conflicts)
    joined = [found for found in (_joined(row, lanes, distance) for distance in PAIR_DISTANCES) if found is not None]
    if not all(_can_differ(lanes, distance) for distance in PAIR_DISTANCES):
        # Some distance agrees at every choice, so groups join at every choice.
        most = max(sum(found.counts) for found in joined)
        conflicts = max(sum(max(0, count - 1) for count in found.counts) for found in joined)
        return Crowd(tuple(found.choice for found in joined), most, conflicts)
    # A joined choice takes no more wavefronts than it does with its groups apart, but it can have
    # more conflicts, as fewer groups are the minimum.
    conflicts = max([conflicts, *(sum(max(0, count - 1) for count in found.counts) for found in joined)])
    choices = (_torn(choice, lanes, set(apart)), choice, *(found.choice for found in joined))
    return Crowd(choices, most, conflicts)


def _most_sectors(row: Instruction, lanes: Sequence[Options]) -> Crowd:
    """A choice with the most sectors, and among these with the most beyond what its lanes need.

    Lanes that cannot be idle are matched first, and stay matched as others join: so a largest
    matching leaves as few of them over as any. Each lane more in a sector of its own adds a sector,
    and to what is needed one at most; a lane over adds to what is needed only. So no choice has more
    sectors beyond its need.
    """
    reach: dict[int, dict[int, int]] = {}
    for lane, options in sorted(enumerate(lanes), key=lambda item: None in item[1]):
        for address in options:
            units = reach.setdefault(lane, {}) if address is not None else {}
            if address is not None and len(units) < LANES:
                units.setdefault(address // row.unit_bytes, address)
    pairs = largest_matching({lane: list(units) for lane, units in reach.items()})
    choice: Choice = [None if None in options else options[0] for options in lanes]
    for lane, sector in pairs.items():
        choice[lane] = reach[lane][sector]
    active = sum(address is not None for address in choice)
    least = -(-active * row.width_bytes // row.unit_bytes)
    return Crowd((choice,), len(pairs), len(pairs) - least)


def _fullest(row: Instruction, lanes: Mapping[int, Options], size: int) -> dict[int, int]:
    """For the slot that can hold most, the address that each of its lanes chooses."""
    unit = row.unit_bytes
    reach: dict[int, dict[int, dict[int, int]]] = {}
    for lane, options in lanes.items():
        for address in options:
            if address is not None:
                units = reach.setdefault(address % BANK_PERIOD_BYTES // unit, {}).setdefault(lane, {})
                # A lane with as many units as there are lanes can always be matched last.
                if len(units) < size:
                    units.setdefault(address // unit, address)
    best: dict[int, int] = {}
    for slot in reach.values():
        if row.counts_equal_words:
            found = {lane: next(iter(units.values())) for lane, units in slot.items()}
        else:
            different = len({each for units in slot.values() for each in units})
            if min(different, len(slot)) <= len(best):
                continue
            pairs = largest_matching({lane: list(units) for lane, units in slot.items()})
            found = {lane: slot[lane][chosen] for lane, chosen in pairs.items()}
        if len(found) > len(best):
            best = found
    return best


@dataclass(frozen=True, slots=True)
class _Joined:
    """A worst choice in which groups join, and what its groups cost."""

    choice: Choice
    counts: tuple[int, ...]


def _pairs(distance: int) -> Iterator[tuple[int, int]]:
    return ((lane, lane ^ distance) for lane in range(LANES) if not lane & distance)


def _joined(row: Instruction, lanes: Sequence[Options], distance: int) -> _Joined | None:
    """The worst choice in which lanes agree at a distance; None where they cannot."""
    agreed: dict[int, dict[int | None, tuple[int | None, int | None]]] = {}
    for lane, mate in _pairs(distance):
        found = agreed[lane] = _agreements(lanes[lane], lanes[mate])
        if not found:
            return None
    choice: Choice = [None] * LANES
    counts: list[int] = []
    for start in range(0, LANES, row.joined_group_lanes):
        group = {lane: list(agreed[lane]) for lane in agreed if start <= lane < start + row.joined_group_lanes}
        fullest = _fullest(row, group, row.joined_group_lanes)
        counts.append(len(fullest))
        for lane, options in group.items():
            choice[lane], choice[lane ^ distance] = agreed[lane][fullest.get(lane, options[0])]
    return _Joined(choice, tuple(counts))


def _agreements(first: Options, other: Options) -> dict[int | None, tuple[int | None, int | None]]:
    """The addresses on which a pair can agree, each with what the two lanes choose.

    None stands for a pair, or a lane, that is idle.
    """
    found: dict[int | None, tuple[int | None, int | None]] = {}
    mates = set(other)
    for address in first:
        if address in mates:
            found[address] = (address, address)
        elif None in mates:
            found[address] = (address, None)
    if None in first:
        found |= {address: (None, address) for address in other if address not in found}
    return found


def _can_differ(lanes: Sequence[Options], distance: int) -> bool:
    """Whether some pair can have two different addresses."""
    for lane, mate in _pairs(distance):
        sides = [{address for address in lanes[each] if address is not None} for each in (lane, mate)]
        if all(sides) and len(sides[0] | sides[1]) > 1:
            return True
    return False


def _torn(choice: Choice, lanes: Sequence[Options], kept: set[int]) -> Choice:
    """The choice, changed in lanes outside `kept` so that some pair differs at each distance.

    If no such change is found, the pairs of that distance stay unchanged.
    """
    result, fixed = list(choice), set(kept)
    for distance in PAIR_DISTANCES:
        pairs = [pair for lane, mate in _pairs(distance) for pair in ((lane, mate), (mate, lane))]
        if any(_differ(result[lane], result[mate]) for lane, mate in pairs):
            continue
        for lane, mate in pairs:
            if lane in fixed:
                continue
            mates = [result[mate]] if mate in fixed else lanes[mate][:MAX_TRIED]
            tried = ((a, b) for b in mates for a in lanes[lane][:MAX_TRIED] if _differ(a, b))
            found = next(tried, None)
            if found is not None:
                result[lane], result[mate] = found
                fixed |= {lane, mate}
                break
    return result


def _differ(first: int | None, other: int | None) -> bool:
    return first is not None and other is not None and first != other


Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)


def largest_matching(reach: Mapping[Left, Sequence[Right]]) -> dict[Left, Right]:
    """A largest matching: pairs of a left item and an item that it reaches, each item in one pair at most.

    Kuhn's algorithm: a pair is added along a path that exchanges pairs. If no such path is left, the
    matching is a largest one (Berge's theorem).

    >>> sorted(largest_matching({"a": [1, 2], "b": [1], "c": [1]}).items())
    [('a', 2), ('b', 1)]
    """
    taken: dict[Right, Left] = {}
    for left in reach:
        _add(left, reach, taken, set())
    return {left: right for right, left in taken.items()}


def _add(left: Left, reach: Mapping[Left, Sequence[Right]], taken: dict[Right, Left], seen: set[Right]) -> bool:
    """Whether a place for `left` was found; others move on to make room. At most 32 go deep."""
    for right in reach[left]:
        if right in seen:
            continue
        seen.add(right)
        if right not in taken or _add(taken[right], reach, taken, seen):
            taken[right] = left
            return True
    return False
