"""Where the elements of fragments lie in shared memory: by the loads that fill the registers of `mma.sync`.

Source: docs/semantics.md, section 9, "Fragments of a compiled kernel".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import FragmentLoad, KernelFragment, LaneLeaf, Leaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.access import LoopAround
from swzverify.compiled.kernel.arithmetic import sub, widened
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.last_trips import last_trip
from swzverify.compiled.kernel.leaves import are_all
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.parts import FIRST_TRIP, NO_LONG_LOOPS, Parts, falls_below
from swzverify.compiled.kernel.ways import Origin, Way
from swzverify.compiled.scan.fill_copies import Frame, frame_of
from swzverify.compiled.scan.operand_fields import Start, start_at
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_places import MOST_POINTS, Key, Reader
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.hardware import LANES
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import (
    Expr,
    Var,
    const,
    extract,
    substitute,
    var,
    variables,
)
from swzverify.subjects.descriptor import REPEATS_BYTES

State: TypeAlias = tuple[tuple[Var, int], ...]
Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Executed:
    """When a load was executed that fills the registers of an instruction.

    Attributes:
        load: The place of the load.
        before: The loop in whose trip before it was executed; None if it was not in one.
        first: The loop of whose first trip this is, if it is known to be the first.
        left: The loops around it that the thread has left then.
    """

    load: int
    before: int | None
    first: int | None
    left: frozenset[int]


@dataclass(frozen=True, slots=True)
class FragmentPlaces:
    """The places of an operand that is in registers.

    Attributes:
        frame: What the places count from.
        array: The array in words.
        points: For each warp and each state, the number of its places.
        places: For each number, the byte of each element.
        loads: For each number, the loads that read these bytes.
    """

    frame: Frame
    array: str
    points: Mapping[Key, int | None]
    places: tuple[Places, ...]
    loads: tuple[tuple[Reader, ...], ...]

    @property
    def multiple(self) -> int:
        """No swizzle reads where the array begins: threads compute each address."""
        return REPEATS_BYTES

    @property
    def mode(self) -> None:
        """It has no descriptor."""
        return

    @property
    def has_orders(self) -> bool:
        """Kernels exchange columns of K of A and B alike, so that lanes load several registers at once."""
        return True

    def readers(self, start: int) -> tuple[Reader, ...]:
        """The loads that read the bytes of the places with a number."""
        return self.loads[start]

    def addresses(self, start: int, begin: int) -> Places:
        """The byte of each element, counted from where the array begins."""
        del begin
        return self.places[start]


@dataclass(frozen=True)
class _Load:
    """A load with what decides the addresses of its lanes."""

    load: FragmentLoad
    start: Start
    decide: Mapping[Var, tuple[int, ...]]
    threads: Threads

    @cached_property
    def _known(self) -> dict[State, Places]:
        return {}

    def offsets(self, state: State) -> Places:
        """The address of each thread of the block, counted from the start of the array."""
        if state not in self._known:
            values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state}
            (found,) = evaluate_many((substitute(self.start.offset, values),), self.threads.point)
            self._known[state] = np.broadcast_to(found, self.threads.first_of_warp.shape)
        return self._known[state]


class Fragments:
    """The places of all fragments of a function.

    Attributes:
        loads: The loads that fill them.
    """

    def __init__(self, loads: Mapping[int, FragmentLoad], threads: Threads) -> None:
        self.loads, self._threads = loads, threads
        self._known: dict[_Executed, _Load | str] = {}
        self._made: dict[tuple[object, ...], FragmentPlaces | str] = {}
        self._parts = Parts()

    @property
    def assumes(self) -> tuple[str, ...]:
        """What the places assume."""
        return self._parts.assumes

    def places(
        self, fragment: KernelFragment, own: ValueSubject, subjects: Mapping[int, ValueSubject]
    ) -> FragmentPlaces | str:
        """Where the elements of an operand lie; in words why that is not known.

        `own` is the instruction, and `subjects` has the loads.
        """
        warps = self._warps(own)
        if isinstance(warps, str):
            return warps
        around = frozenset(loop.header for loop in own.access.who.loops)
        key = fragment.ways, fragment.instruction.name, fragment.role, warps, around
        if key not in self._made:
            self._made[key] = self._places(fragment, warps, around, subjects)
        return self._made[key]

    def _warps(self, own: ValueSubject) -> tuple[int, ...] | str:
        """The warps that may execute an instruction, with all of their lanes."""
        runs, _ = by_coordinates(own, own.access.who.guard, self._threads)
        if not self._threads.are_whole_warps:
            return "the last warp of the block is not whole"
        whole = runs.reshape(-1, LANES)
        if bool((whole.any(axis=1) != whole.all(axis=1)).any()):
            return "some lanes of a warp do not execute the instruction"
        return tuple(map(int, np.flatnonzero(whole.any(axis=1))))

    def _places(
        self,
        fragment: KernelFragment,
        warps: tuple[int, ...],
        around: frozenset[int],
        subjects: Mapping[int, ValueSubject],
    ) -> FragmentPlaces | str:
        executed = {
            (way, origin): self._executed(way, origin, around) for way in fragment.ways for origin in way.origins
        }
        loads: dict[_Executed, _Load] = {}
        for key in executed.values():
            if key not in self._known:
                own = self.loads[key.load], key, subjects[key.load]
                self._known[key] = _load(*own, self._threads, self._parts)
            found = self._known[key]
            if isinstance(found, str):
                return found
            loads[key] = found
        frames = {frame_of(each.start) for each in loads.values()}
        if len(frames) > 1:
            return "its registers are loaded from several arrays"
        points: dict[Key, int | None] = {}
        found_places: dict[tuple[bytes, tuple[Reader, ...]], tuple[int, Places]] = {}
        for way in fragment.ways:
            states = _states(way, executed, loads, self._parts)
            if states is None:
                return "its address has many states"
            read = dict.fromkeys(each.load for each in way.origins)
            readers = tuple((self.loads[place].block, place) for place in read)
            for state, of_loads in states:
                of_threads = _of_elements(fragment, way, executed, loads, of_loads)
                for warp in warps:
                    own = of_threads[warp]
                    number, _ = found_places.setdefault((own.tobytes(), readers), (len(found_places), own))
                    points[warp, frozenset(state)] = number
        first = next(iter(loads.values())).start
        return FragmentPlaces(
            next(iter(frames)),
            "its array" if first.base is None else spell_leaf(first.base),
            points,
            tuple(own for _, own in found_places.values()),
            tuple(readers for _, readers in found_places),
        )

    def _executed(self, way: Way, origin: Origin, around: frozenset[int]) -> _Executed:
        """When a load was executed, before an instruction that is in some loops."""
        left = {loop.header for loop in self.loads[origin.load].access.who.loops} - around
        return _Executed(origin.load, origin.before, way.first if origin.before is None else None, frozenset(left))


def _load(load: FragmentLoad, when: _Executed, subject: ValueSubject, threads: Threads, parts: Parts) -> _Load | str:
    """A load with what decides its addresses; in words why they are not known.

    If it was executed in the trip before of a loop, values of loops are those of that trip.
    """
    before, first = when.before, when.first
    where = f"line {load.access.site.line}"
    value = subject.access.address
    if value is None:
        return f"{where}: {load.access.reason or 'where it reads is not known'}"
    start = start_at(subject, extract(value, 0, 32))
    if isinstance(start, str):
        return f"{where}: where it reads is not known: {start}"
    kinds = {leaf.variable: leaf for leaf in subject.leaves_of(start.offset)}
    offset = start.offset
    if first is not None:
        of_loop = [leaf.variable for leaf in kinds.values() if isinstance(leaf, TripsLeaf) and leaf.block == first]
        offset = bounded(normal(substitute(offset, {each: const(0, each.width) for each in of_loop})))
    if before is not None:
        last: dict[Var, Expr] = {}
        for leaf in [*kinds.values()]:
            if isinstance(leaf, TripsLeaf) and leaf.block == before and leaf.values is None:
                last[leaf.variable] = sub(leaf.variable, const(1, leaf.variable.width))
            elif not isinstance(leaf, LaneLeaf | UniformLeaf):
                own = var(f"{leaf.name} in the trip before", leaf.variable.limit)
                last[leaf.variable], kinds[own] = own, leaf
        offset = bounded(normal(substitute(offset, last)))
    for loop in load.access.who.loops:
        count = _last_trip(loop) if loop.header in when.left else None
        if count is not None and loop.trips in variables(offset):
            kinds |= {leaf.variable: leaf for leaf in subject.leaves_of(count)}
            offset = bounded(normal(substitute(offset, {loop.trips: count})))
            parts.assume(NO_LONG_LOOPS)
    if falls_below(offset, lambda read: are_all([kinds[each] for each in read], TripsLeaf) and before is None):
        return f"{where}: where it reads depends on a remainder of {FIRST_TRIP}"
    offset, decide = parts.cut(offset, lambda read: _is_cut([kinds[each] for each in read]))
    for each in (one for one in variables(offset) if one not in decide):
        leaf = kinds[each]
        if isinstance(leaf, LaneLeaf):
            continue
        if leaf.values is None:
            return f"{where}: where it reads depends on {spell_leaf(leaf)} ({leaf.reason})"
        if not leaf.uniform:
            return f"{where}: lanes of a warp may be in different trips of a loop"
        decide[each] = leaf.values
    return _Load(load, replace(start, offset=offset), decide, threads)


def _last_trip(loop: LoopAround) -> Expr | None:
    """The number of the last trip of a loop that goes on unless a sum with this number is 0; None of other loops."""
    found = None if loop.trips is None else last_trip(loop.again, loop.trips)
    return None if found is None or loop.trips is None or found.count != 1 else widened(found.total, loop.trips.width)


def _is_cut(leaves: Sequence[Leaf]) -> bool:
    """Whether a part of an address with few numbers is one that all lanes share, and whose leaves have many."""
    is_shared = all(leaf.uniform for leaf in leaves)
    return is_shared and any(leaf.values is None for leaf in leaves)


def _states(
    way: Way, executed: Mapping[tuple[Way, Origin], _Executed], loads: Mapping[_Executed, _Load], parts: Parts
) -> list[tuple[State, dict[_Executed, State]]] | None:
    """The states in which registers were loaded in one way, and those of each load then; None if they are many."""
    decide: dict[Var, tuple[int, ...]] = {variable: (number,) for variable, number in way.state}
    read = dict.fromkeys(executed[way, origin] for origin in way.origins)
    for key in read:
        for variable, numbers in loads[key].decide.items():
            known = parts.numbers(variable, way.conditions)
            decide[variable] = numbers if known is None else known
    if prod(map(len, decide.values())) > MOST_POINTS:
        return None
    found: list[tuple[State, dict[_Executed, State]]] = []
    for numbers in product(*decide.values()):
        state = dict(zip(decide, numbers, strict=True))
        found.append(
            (tuple(state.items()), {key: tuple((each, state[each]) for each in loads[key].decide) for key in read})
        )
    return found


def _of_elements(
    fragment: KernelFragment,
    way: Way,
    executed: Mapping[tuple[Way, Origin], _Executed],
    loads: Mapping[_Executed, _Load],
    states: Mapping[_Executed, State],
) -> Places:
    """The byte of each element, for each warp."""
    row, role = fragment.instruction, fragment.role
    lane = np.arange(LANES)
    origins = iter(way.origins)
    found: Places | None = None
    for register in range(row.registers(role)):
        for part in range(row.parts):
            origin = next(origins)
            key = executed[way, origin]
            load = loads[key]
            source, byte = load.load.source(lane, origin.byte)
            offsets = load.offsets(states[key]).reshape(-1, LANES)
            if found is None:
                found = np.zeros((len(offsets), row.rows(role), row.k), dtype=np.int64)
            rows, columns = (
                row.row(role, lane, np.asarray(register)),
                row.column(role, lane, np.asarray(register), np.asarray(part)),
            )
            found[:, rows, columns] = offsets[:, source] + byte
    if found is None:
        raise ValueError("an operand without registers")
    return found
