"""The bytes of boxes of tensor maps, as a barrier object that expects them leaves it.

A tensor map is not part of the kernel, so its box is assumed: the places at which copies write divide the memory,
and the copies of a phase bring the bytes that it expects. The verdict names each box.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeAlias

from swzverify.compiled.kernel.boxes import moves_one_box
from swzverify.compiled.kernel.bulk import FROM_SHARED
from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.leaves import ArrayLeaf, UniformLeaf
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import Act, Event, LostError
from swzverify.compiled.order.nodes import Deed, Node
from swzverify.compiled.order.objects import Key, name_of
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.store_boxes import changes_maps
from swzverify.ir.expr import Comparison, Const, Expr, compare, conjunction, const, variables

OF_LAUNCH: Final = "the launch says how many bytes line {} announces"
SEVERAL: Final = "the tensor map at line {} would have boxes of"
_WAITS: Final = (Act.WAIT, Act.SYNC)
Frame: TypeAlias = frozenset[tuple[Expr, int]]
"""What offsets count from: the terms of an address that are no number."""


@dataclass(slots=True)
class _Copy:
    """A copy of a box: where it writes, and the room behind each of these places; None where nothing ends it."""

    places: set[tuple[Frame, int]] = field(default_factory=set[tuple[Frame, int]])
    room: int | None = None


class Boxes(NamedTuple):
    """Bytes by instructions: of copies that tensor maps move, and those that the launch says are expected.

    `at_most` has more than what copies out of shared memory read whose boxes are not known.
    """

    copied: dict[int, int]
    expected: dict[int, int]
    at_most: dict[int, int]


def boxes_of(
    kernel: Kernel, roles: Sequence[Role], events: Mapping[int, Event], never: Callable[[Expr], bool]
) -> Boxes:
    """The bytes of each copy to shared memory of which a tensor map knows them, and what is expected for them.

    `never` says whether a condition is shown not to hold.

    Raises:
        LostError: They do not follow from what is expected.
    """
    copies = {index: _Copy() for index, each in events.items() if each.is_box}
    if not copies and all(each.given is None for each in events.values()):
        return Boxes({}, {}, {})
    starts: dict[tuple[Frame, int], set[int]] = {}
    copiers: dict[Key, dict[int, dict[int, None]]] = {}
    for at, role in enumerate(roles):
        for node in role.walk.nodes:
            for deed in (each for each, _ in node.deeds if each.act is Act.COPY):
                found = sum_of(role.walk.destination(deed))
                place = frozenset(found.terms.items()), found.number
                starts.setdefault((place[0], place[1] >> RANK_BITS), set()).add(place[1])
                copiers.setdefault(deed.key, {}).setdefault(at, {})[deed.index] = None
                if deed.index in copies:
                    copies[deed.index].places.add(place)
    for copy in copies.values():
        rooms = [_room(kernel, frame, number, starts[frame, number >> RANK_BITS]) for frame, number in copy.places]
        copy.room = min((each for each in rooms if each is not None), default=None)
    sizes, expected = dict[int, int](), dict[int, int]()
    for key, makers in copiers.items():
        for announcement, bring, is_one in _phases(kernel, roles, key, makers, events):
            known = {index: (copies[index].room, count) for index, count in bring.items() if index in copies}
            plain = sum(_size(events[index]) * count for index, count in bring.items() if index not in copies)
            size = announcement.bytes
            if events[announcement.index].given is not None:
                size = plain + _filled(kernel, announcement, known)
                if expected.setdefault(announcement.index, size) != size:
                    raise LostError(OF_LAUNCH.format(_line(kernel, announcement.index)))
            new = _shared_out(kernel, replace(announcement, bytes=size), size - plain, known, is_one) if known else {}
            if any(sizes.get(index, size) != size for index, size in new.items()):
                raise LostError(f"the copies to {name_of(key)} bring several numbers of bytes")
            sizes |= new
    lost = next((index for index, copy in copies.items() if copy.places and index not in sizes), None)
    if lost is not None:
        raise LostError(f"no bytes are announced for the copy at line {_line(kernel, lost)}")
    _check_expected(kernel, events, expected, never)
    return Boxes(sizes | _of_one_map(kernel, sizes), expected, {})


def _filled(kernel: Kernel, announcement: Deed, rooms: Mapping[int, tuple[int | None, int]]) -> int:
    """The bytes of the copies of a phase for which the launch says how many are expected: each fills its room."""
    known = [room * count for room, count in rooms.values() if room is not None]
    if len(known) < len(rooms):
        raise LostError(OF_LAUNCH.format(_line(kernel, announcement.index)))
    return sum(known)


def _check_expected(
    kernel: Kernel, events: Mapping[int, Event], expected: Mapping[int, int], never: Callable[[Expr], bool]
) -> None:
    """Some launch has all these numbers of bytes, in each of its blocks."""
    known: list[Expr] = []
    for index, size in expected.items():
        given = events[index].given
        if given is None:
            continue
        known.append(compare(Comparison.EQ, given, const(size, given.width)))
        is_of_parameters = all(map(kernel.slices.symbols.is_parameter, variables(given)))
        if not is_of_parameters or never(conjunction(known)):
            raise LostError(OF_LAUNCH.format(_line(kernel, index)))


def _of_one_map(kernel: Kernel, sizes: Mapping[int, int]) -> dict[int, int]:
    """The bytes of copies out of shared memory whose tensor map is that of a copy with known bytes.

    The map is one if its address is, and depends on the launch alone, and no instruction changes maps.
    """
    if changes_maps(kernel):
        return {}
    of_map: dict[Expr, set[int]] = {}
    for index, size in sizes.items():
        found_of = of_map.setdefault(kernel.maps[index], set())
        found_of.add(size)
        is_fixed = all(isinstance(kernel.leaves[each], UniformLeaf) for each in variables(kernel.maps[index]))
        if len(found_of) > 1 and is_fixed:
            # A tensor map has one box: no launch fulfils both assumptions.
            raise LostError(f"{SEVERAL.format(_line(kernel, index))} {' and '.join(map(str, sorted(found_of)))} bytes")
    found: dict[int, int] = {}
    for index, address in kernel.maps.items():
        known = of_map.get(address, set())
        copy = kernel.function.instructions[index]
        is_fixed = all(isinstance(kernel.leaves[each], UniformLeaf) for each in variables(address))
        if index not in sizes and FROM_SHARED.fullmatch(copy.opcode) and is_fixed and moves_one_box(copy):
            found |= dict.fromkeys([index], *known) if len(known) == 1 else {}
    return found


def _size(copy: Event) -> int:
    return copy.bytes.value if isinstance(copy.bytes, Const) else 0


def _phases(
    kernel: Kernel,
    roles: Sequence[Role],
    key: Key,
    makers: Mapping[int, Mapping[int, None]],
    events: Mapping[int, Event],
) -> Iterator[tuple[Deed, Mapping[int, int], bool]]:
    """Each announcement of bytes for an object, with the copies that bring them, and how many threads make each.

    Last is whether one thread announces and copies.

    One thread that announces and copies makes the copies of a phase behind its announcement; or before it, if it makes
    none behind it until it waits. Where there are several threads, all copies count: those of one phase, or of a few.
    """
    for at, role in enumerate(roles):
        nodes = role.walk.nodes
        is_one = makers.keys() <= {at} and len(role.threads) == 1
        for deed, target in {each: None for node in nodes for each in node.deeds if _announces(each[0], key, events)}:
            behind = _behind(nodes, target, key, events) if is_one else {}
            is_given = events[deed.index].given is not None
            if is_one and not is_given and not _behind(nodes, target, key, events, until_wait=True):
                behind = _before(nodes, deed, key, events) or behind
            is_whole = (
                _makes_all(nodes, [target], behind, lambda each, key=key: _announces(each, key, events))
                if is_one
                else all(_makes_in_turn(roles[maker].walk.nodes, key, made) for maker, made in makers.items())
            )
            if is_given and not is_whole:
                raise LostError(OF_LAUNCH.format(_line(kernel, deed.index)))
            if is_one:
                yield deed, dict.fromkeys(behind, 1), True
            else:
                count: Counter[int] = Counter()
                for maker, made in makers.items():
                    count.update(dict.fromkeys(made, len(roles[maker].threads)))
                yield deed, count, False


def _announces(deed: Deed, key: Key, events: Mapping[int, Event]) -> bool:
    has_bytes = deed.bytes > 0 or events[deed.index].given is not None
    return deed.key == key and has_bytes and deed.act in (Act.ARRIVE, Act.EXPECT)


def _behind(
    nodes: Sequence[Node], start: int, key: Key, events: Mapping[int, Event], *, until_wait: bool = False
) -> dict[int, None]:
    """The copies to an object from a node on, before bytes are announced for it again, or before the thread waits."""
    return _copies(
        lambda at: nodes[at].deeds,
        [start],
        key,
        lambda deed: _announces(deed, key, events) or (until_wait and deed.act in _WAITS),
    )


def _before(nodes: Sequence[Node], announcement: Deed, key: Key, events: Mapping[int, Event]) -> dict[int, None]:
    """The copies to an object before bytes are announced for it, behind the last wait of their thread."""
    before: dict[int, list[tuple[Deed, int]]] = {}
    for source, node in enumerate(nodes):
        for deed, target in node.deeds:
            before.setdefault(target, []).append((deed, source))
    starts = [at for at, node in enumerate(nodes) if any(deed == announcement for deed, _ in node.deeds)]
    return _copies(
        lambda at: before.get(at, ()), starts, key, lambda deed: _announces(deed, key, events) or deed.act in _WAITS
    )


def _copies(
    deeds: Callable[[int], Iterable[tuple[Deed, int]]], starts: list[int], key: Key, is_end: Callable[[Deed], bool]
) -> dict[int, None]:
    """The copies to an object on all paths from some nodes, each up to the first deed that `is_end` picks.

    `deeds` has what is done at a node, with the node that the path goes on to.
    """
    found, pending, seen = dict[int, None](), starts, {*starts}
    while pending:
        for deed, following in deeds(pending.pop()):
            if is_end(deed):
                continue
            if (deed.act, deed.key) == (Act.COPY, key):
                found[deed.index] = None
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return found


def _makes_all(
    nodes: Sequence[Node], starts: Iterable[int], copies: Iterable[int], is_next: Callable[[Deed], bool]
) -> bool:
    """Whether a thread makes all of some copies behind some nodes, on each path to an event that `is_next` picks."""
    for index in copies:
        pending = [*starts]
        seen = {*pending}
        while pending:
            node = nodes[pending.pop()]
            if node.is_end:
                return False
            for deed, target in node.deeds:
                if is_next(deed):
                    return False
                if deed.index != index and target not in seen:
                    seen.add(target)
                    pending.append(target)
    return True


def _makes_in_turn(nodes: Sequence[Node], key: Key, copies: Collection[int]) -> bool:
    """Whether a thread makes its copies to an object together: behind one of them all others, before this one again."""

    def is_copy(deed: Deed, index: int) -> bool:
        return (deed.act, deed.key, deed.index) == (Act.COPY, key, index)

    for first in copies:
        behind = {target for node in nodes for deed, target in node.deeds if is_copy(deed, first)}
        others = [each for each in copies if each != first]
        if _makes_all(nodes, behind, others, lambda deed, first=first: is_copy(deed, first)):
            return True
    return False


def with_boxes(roles: Iterable[Role], boxes: Boxes) -> None:
    """Give the copies of all threads their bytes, and the announcements of such."""
    sizes = boxes.copied | boxes.expected
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
        read = kernel.leaves.of(*(term for term, _ in frame))
        sizes = [each.symbol.size_bytes for each in read if isinstance(each, ArrayLeaf)]
        if len(read) == 1 and sizes and sizes[0] is not None:
            found.append(sizes[0] - number % (1 << RANK_BITS))
    return min(found, default=None)


def _shared_out(
    kernel: Kernel, announcement: Deed, total: int, rooms: Mapping[int, tuple[int | None, int]], is_one: bool
) -> dict[int, int]:
    """The bytes of the copies of a phase: each fills its room, or one takes the rest."""
    known = {index: room for index, (room, _) in rooms.items() if room is not None}
    open_ones = [index for index in rooms if index not in known]
    rest = total - sum(room * rooms[index][1] for index, room in known.items())
    if len(open_ones) == 1 and rest > 0 and rest % rooms[open_ones[0]][1] == 0:
        return {**known, open_ones[0]: rest // rooms[open_ones[0]][1]}
    # What several threads copy may be the bytes of several phases.
    is_of_phases = not is_one and rest < 0 and rest % announcement.bytes == 0
    if open_ones or (rest and not is_of_phases):
        raise LostError(
            f"line {_line(kernel, announcement.index)} announces {announcement.bytes} bytes, and its copies have room "
            f"for {announcement.bytes - rest}{' and more' if open_ones else ''}"
        )
    return known


def _line(kernel: Kernel, index: int) -> int:
    return kernel.function.instructions[index].line
