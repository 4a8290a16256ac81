"""The bytes of boxes of tensor maps, as a barrier object that expects them leaves it.

A tensor map is not part of the kernel, so its box is assumed: the places at which copies write divide the memory,
and the copies of a phase bring the bytes that it expects. The verdict names each box.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import Act, Event, LostError
from swzverify.compiled.order.roles import Role
from swzverify.ir.expr import Const, Expr, const, variables

Frame: TypeAlias = frozenset[tuple[Expr, int]]
"""What offsets count from: the terms of an address that are no number."""


@dataclass(slots=True)
class _Copy:
    """A copy of a box: where it writes, and the room behind each of these places; None where nothing ends it."""

    places: set[tuple[Frame, int]] = field(default_factory=set[tuple[Frame, int]])
    room: int | None = None


def boxes_of(kernel: Kernel, roles: Sequence[Role], events: Mapping[int, Event]) -> dict[int, int]:
    """The bytes of each copy to shared memory of which a tensor map knows them, by its instruction.

    Raises:
        LostError: They do not follow from what is expected.
    """
    copies = {index: _Copy() for index, each in events.items() if each.is_box}
    if not copies:
        return {}
    starts: dict[Frame, set[int]] = {}
    for role in roles:
        for node in role.walk.nodes:
            for deed, _ in node.deeds:
                if deed.act is Act.COPY:
                    found = sum_of(role.walk.place_of(kernel.parts[deed.index][0].address, deed.values))
                    place = frozenset(found.terms.items()), found.number
                    starts.setdefault(place[0], set()).add(place[1])
                    if deed.index in copies:
                        copies[deed.index].places.add(place)
    for copy in copies.values():
        rooms = [_room(kernel, frame, number, starts[frame]) for frame, number in copy.places]
        copy.room = min((each for each in rooms if each is not None), default=None)
    sizes: dict[int, int] = {}
    for event in events.values():
        if event.bytes != const(0, 32) and event.act in (Act.ARRIVE, Act.EXPECT):
            beside = [index for index in copies if _belongs(kernel, events[index], event)]
            if beside:
                sizes |= _shared_out(kernel, event, {index: copies[index].room for index in beside})
    lost = next((index for index, copy in copies.items() if copy.places and index not in sizes), None)
    if lost is not None:
        raise LostError(f"no announcement of bytes stands beside the copy at line {_line(kernel, lost)}")
    return sizes


def with_boxes(roles: Iterable[Role], sizes: Mapping[int, int]) -> None:
    """Give the copies of all threads their bytes."""
    done: set[int] = set()
    for walk in (each.walk for each in roles):
        if id(walk) not in done:
            done.add(id(walk))
            for node in walk.nodes:
                node.deeds = {
                    (replace(deed, bytes=sizes.get(deed.index, deed.bytes)), target): None
                    for deed, target in node.deeds
                }


def _room(kernel: Kernel, frame: Frame, number: int, starts: set[int]) -> int | None:
    """The bytes from a place to the next one at which a copy begins, or to the end of the array."""
    found = [each - number for each in starts if each > number]
    if len(frame) == 1:
        symbols = [kernel.leaves[each].symbol for term, _ in frame for each in variables(term)]
        if len(symbols) == 1 and symbols[0] is not None and symbols[0].size_bytes is not None:
            found.append(symbols[0].size_bytes - number)
    return min(found, default=None)


def _belongs(kernel: Kernel, copy: Event, announcement: Event) -> bool:
    """Whether a thread that announces bytes starts a copy too, on the same object."""
    block_of = kernel.flow.block_of
    is_beside = block_of[copy.index] == block_of[announcement.index] and copy.guard is announcement.guard
    return is_beside and copy.place is announcement.place


def _shared_out(kernel: Kernel, event: Event, rooms: Mapping[int, int | None]) -> dict[int, int]:
    """The bytes of the copies that stand beside an announcement: each fills its room, or one takes the rest."""
    line = _line(kernel, event.index)
    if not isinstance(event.bytes, Const):
        raise LostError(f"the bytes that line {line} announces are not a number")
    known = {index: room for index, room in rooms.items() if room is not None}
    open_ones, rest = [index for index in rooms if index not in known], event.bytes.value - sum(known.values())
    if len(open_ones) == 1 and rest > 0:
        return {**known, open_ones[0]: rest}
    if open_ones or rest:
        raise LostError(
            f"line {line} announces {event.bytes.value} bytes, and its copies have room for "
            f"{sum(known.values())}{' and more' if open_ones else ''}"
        )
    return known


def _line(kernel: Kernel, index: int) -> int:
    return kernel.function.instructions[index].line
