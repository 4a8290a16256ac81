"""What loads of shared memory read of stores of numbers, where a barrier of the whole block is between them.

All threads of a block pass the barriers of the whole block together. So a run of a thread that stores says what the
words hold behind each of them, and a thread that loads a word there reads this number. Only words that decide where
threads go are looked at, such as the byte that tells a warp which part of a kernel to run.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, are_all
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import MASKS, Act, Event
from swzverify.compiled.order.flights import Values
from swzverify.compiled.order.nodes import Deed, Node
from swzverify.compiled.order.step import BlockThreads
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Const, Expr, Var, conjuncts, const, postorder, var, variables

_MOST_PHASES: Final = 64
"""States of the words of a kernel behind a barrier."""
_ANY: Final = 256
"""Stands for a byte whose number is not known."""
_Frame: TypeAlias = frozenset[tuple[Expr, int]]


@dataclass(frozen=True, slots=True)
class Load:
    """A load of a word: its leaf, and the bytes behind the start of the array at which each thread loads."""

    access: SharedAccess
    leaf: Var
    frame: _Frame
    offsets: NDArray[np.int64]

    def bytes_of(self, thread: int) -> list[Var]:
        """The bytes that a thread loads, the lowest first."""
        return [_byte(self.frame, int(self.offsets[thread]) + at) for at in range(self.access.width_bytes)]


@dataclass(frozen=True, slots=True)
class _Interval:
    """What a thread does from one barrier of the whole block to the next one.

    Attributes:
        stored: The bytes that it may store to before the next barrier.
        after: The nodes behind the next barrier, each with what the thread has stored last before it.
        ends: What it has stored last where it returns before the next barrier.
    """

    stored: frozenset[Var]
    after: tuple[tuple[int, Mapping[Var, int]], ...]
    ends: tuple[Mapping[Var, int], ...]


_Place: TypeAlias = tuple[int, int]
"""A graph, and the node behind the last barrier at which a thread may be; -1 if it has returned."""


class Handed:
    """The words of a kernel that stores of numbers give to loads.

    `learn` is called for the graph of each kind of thread that stores; `close` then finds what the words hold
    behind each barrier.

    Attributes:
        loads: The loads by instructions.
        stores: For each store, the bytes that it writes, with their numbers.
        writers, readers: Which threads may store, and which may load.
        used: The loads of which a thread has read a number.
        open: The loads of which some thread has read another word.
    """

    def __init__(self, kernel: Kernel, loads: Mapping[int, Load], stores: Mapping[int, Mapping[Var, int]]) -> None:
        self._kernel, self.loads, self.stores = kernel, dict(loads), dict(stores)
        self.writers, self.readers = (_may_do(kernel, each) for each in (stores, loads))
        self.used, self.open = set[int](), set[int]()
        self._accesses = {each.index: each for each in kernel.accesses if each.index in stores}
        self._bytes = sorted({each for written in stores.values() for each in written}, key=lambda each: each.name)
        self._before = {var(f"{each.name}, before the barrier", each.limit): each for each in self._bytes}
        """What a thread has stored before the last barrier of the whole block, for each byte."""
        self._graphs: list[dict[int, _Interval]] = []
        self._known: list[dict[Var, int]] = []
        self._next: list[int] = []
        self._phase = var("the barriers of the block that it has passed", _MOST_PHASES)
        """How often a thread has passed barriers of the whole block, as far as the words differ."""

    @property
    def leaves(self) -> tuple[Var, ...]:
        """The leaves of the loads."""
        return tuple(each.leaf for each in self.loads.values())

    @property
    def resolved(self) -> frozenset[Var]:
        """The leaves of the loads that always read a known number."""
        return frozenset(self.loads[each].leaf for each in self.used - self.open)

    @property
    def guards(self) -> list[Expr]:
        """The conditions under which threads store, or surely do."""
        stores = [each.who for each in self._accesses.values() if each.instruction.guard is not None]
        return [part for each in stores for part in (each.guard, each.sure) if part is not None]

    @property
    def start(self) -> dict[Var, Expr | None]:
        """What is known of a thread at its first instruction."""
        return {self._phase: const(0, self._phase.width)}

    @property
    def is_learning(self) -> bool:
        """Whether it is not known yet what the words hold."""
        return not self._known

    def is_kept(self, variable: Var) -> bool:
        """Whether a variable is one of those that `stored` and `start` give."""
        return variable is self._phase or variable in self._bytes or variable in self._before

    def stored(self, index: int, holds: Callable[[Expr], bool | None]) -> dict[Var, Expr | None]:
        """What a thread has stored since the last barrier, behind a store. `holds` judges a condition."""
        access, is_sure = self._accesses[index], True
        if access.instruction.guard is not None:
            if holds(access.who.guard) is False:
                return {}
            is_sure = access.who.sure is not None and holds(access.who.sure) is True
        return {each: const(number if is_sure else _ANY, each.width) for each, number in self.stores[index].items()}

    def loaded(self, index: int, thread: int, values: Values) -> dict[Var, Expr | None]:
        """What a thread knows behind a load."""
        load, phase = self.loads[index], dict(values).get(self._phase)
        known = self._known[phase.value] if isinstance(phase, Const) else {}
        read = [known.get(each) for each in load.bytes_of(thread)]
        number = 0
        for at, each in enumerate(read):
            if each is None or load.access.instruction.guard is not None:
                self.open.add(index)
                return {load.leaf: None}
            number |= each << (8 * at)
        self.used.add(index)
        return {load.leaf: const(number, load.leaf.width)}

    def passed(self, event: Event, values: Values) -> dict[Var, Expr | None]:
        """What is known behind an event: of a barrier of the whole block, that the thread has passed it."""
        if not _is_whole(event.act, event.name, event.count):
            return {}
        known = dict(values)
        phase = known.get(self._phase)
        new: dict[Var, Expr | None] = {before: known.get(each) for before, each in self._before.items()}
        new |= dict.fromkeys(self._bytes)
        return new | ({self._phase: const(self._next[phase.value], phase.width)} if isinstance(phase, Const) else {})

    # ---- what else writes

    def places(self, index: int) -> list[Expr]:
        """The addresses at which threads load."""
        load = self.loads[index]
        offsets = np.unique(load.offsets[self.readers]).tolist()
        return [Sum(dict(load.frame), each, load.access.address.width).expression() for each in offsets]

    def is_apart(self, index: int, write: SharedAccess) -> bool:
        """Whether coordinates alone say that no thread writes to bytes that some thread loads."""
        load = self.loads[index]
        offsets = _offsets(self._kernel, sum_of(write.address), load.frame)
        if offsets is None or write.is_bulk:
            return False
        apart = np.unique(offsets)[:, None] - np.unique(load.offsets[self.readers])[None, :]
        return bool(((apart >= load.access.width_bytes) | (apart <= -write.width_bytes)).all())

    # ---- threads

    def kinds(self, count: int) -> list[tuple[int, ...]]:
        """For each thread a number for each load: threads with one number read alike behind every barrier."""
        found: list[list[int]] = []
        for load in self.loads.values():
            read = [load.bytes_of(at) for at in range(count)]
            rows = [tuple(tuple(map(known.get, each)) for known in self._known) for each in read]
            place = {row: at for at, row in enumerate(dict.fromkeys(rows))}
            found.append([place[row] for row in rows])
        return list(zip(*found, strict=True))

    # ---- what words hold

    def learn(self, nodes: Sequence[Node], places: Sequence[Values]) -> None:
        """Keep what a thread stores between barriers of the whole block."""
        starts = {0} | {target for node in nodes for deed, target in node.deeds if _is_whole_deed(deed)}
        self._graphs.append({start: self._interval(nodes, places, start) for start in starts})

    def _interval(self, nodes: Sequence[Node], places: Sequence[Values], start: int) -> _Interval:
        pending, seen = [start], {start}
        stored, after, ends = set[Var](), dict[int, Mapping[Var, int]](), list[Mapping[Var, int]]()
        while pending:
            at = pending.pop()
            node = nodes[at]
            here = {each for touch in node.touches for each in self.stores.get(touch.index, ())}
            stored |= here
            if node.is_end:
                ends.append(_numbers_of(places[at], {each: each for each in self._bytes}) | dict.fromkeys(here, _ANY))
            for deed, target in node.deeds:
                if _is_whole_deed(deed):
                    after[target] = _numbers_of(places[target], self._before)
                elif target not in seen:
                    seen.add(target)
                    pending.append(target)
        return _Interval(frozenset(stored), tuple(after.items()), tuple(ends))

    def close(self) -> None:
        """Find what the words hold behind each barrier of the whole block."""
        first = frozenset((at, 0) for at in range(len(self._graphs))), frozenset[tuple[Var, int]]()
        phases, pending = {first: 0}, [first]
        while pending:
            places, known = pending.pop(0)
            behind = frozenset(place for each in places for place, _ in self._after(each))
            after = behind, frozenset(self._behind(places, dict(known)).items())
            if after not in phases:
                if len(phases) >= _MOST_PHASES:
                    self._known, self._next = [{}], [0]
                    return
                phases[after] = len(phases)
                pending.append(after)
            changing = {each for graph, at in places if at >= 0 for each in self._graphs[graph][at].stored}
            self._known.append({each: number for each, number in known if each not in changing})
            self._next.append(phases[after])

    def _after(self, place: _Place) -> Iterator[tuple[_Place, Mapping[Var, int]]]:
        """Where a thread may be behind the next barrier, with what it has stored since the last one."""
        graph, at = place
        if at < 0:
            yield place, {}
            return
        here = self._graphs[graph][at]
        yield from (((graph, node), stored) for node, stored in here.after)
        yield from (((graph, -1), stored) for stored in here.ends)

    def _behind(self, places: frozenset[_Place], known: Mapping[Var, int]) -> dict[Var, int]:
        """What the bytes hold behind the next barrier, from what they hold behind the last one."""
        stored = [(graph, numbers) for graph, at in places for _, numbers in self._after((graph, at))]
        found: dict[Var, int] = {}
        for each in self._bytes:
            numbers = {of[each] for _, of in stored if each in of}
            if not numbers:
                found |= {each: known[each]} if each in known else {}
                continue
            by_all = {graph: True for graph, _ in stored}
            for graph, of in stored:
                by_all[graph] &= each in of
            is_sure = any(by_all.values()) or known.get(each) in numbers
            if len(numbers) == 1 and _ANY not in numbers and is_sure:
                (found[each],) = numbers
        return found


def handed_by(kernel: Kernel, events: Mapping[int, Event]) -> Handed | None:
    """The words of a kernel that decide where threads go, and that are stored as numbers; None without any."""
    edges = [
        kernel.edge(block.index, target)
        for block in kernel.flow.blocks
        if block.is_choice and kernel.flow.is_reachable(block.index)
        for target in kernel.flow.following[block.index]
    ]
    asked = {*variables(*edges, *(each for event in events.values() for each in (*event.values, event.guard)))}
    if not any(_is_whole(each.act, each.name, each.count) for each in events.values()):
        return None
    loads = {each.index: found for each in kernel.accesses if (found := _load(kernel, each, asked)) is not None}
    if len({each.name for load in loads.values() for each in _dynamic(kernel, load.frame)}) > 1:
        return None  # they have one start: a byte has two names
    stores: dict[int, dict[Var, int]] = {}
    read = {each for load in loads.values() for at in range(len(load.offsets)) for each in load.bytes_of(at)}
    for each in kernel.accesses if loads else ():
        written = _numbers(kernel, each)
        if not read.isdisjoint(written):
            stores[each.index] = written
    found = Handed(kernel, loads, stores) if stores else None
    return None if found is None or (found.writers & found.readers).any() else found


def _load(kernel: Kernel, access: SharedAccess, asked: set[Var]) -> Load | None:
    """A load whose word decides something, at an address that coordinates alone decide."""
    if access.is_write or access.is_bulk or not _is_plain(access, "ld"):
        return None
    begin = f"{access.instruction.opcode} at line {access.instruction.line}: {access.index}."
    made = [leaf.variable for name, leaf in kernel.leaves.by_name.items() if name.startswith(begin)]
    if len(made) != 1 or made[0] not in asked or made[0].width != 8 * access.width_bytes:
        return None
    total = sum_of(access.address)
    frame, _ = _split(kernel, total)
    offsets = _offsets(kernel, total, frame)
    return None if offsets is None or not frame else Load(access, made[0], frame, offsets)


def _is_plain(access: SharedAccess, name: str) -> bool:
    """Whether an access is an `ld` or a `st` of shared memory; a generic one may go elsewhere in some launches."""
    is_named = "shared" in access.instruction.opcode
    return is_named and not access.reason and base_name(access.instruction) == name


def _offsets(kernel: Kernel, total: Sum, frame: _Frame) -> NDArray[np.int64] | None:
    """How far behind a frame an address is in each thread; None if more than coordinates decides it."""
    its_frame, rest = _split(kernel, total)
    if its_frame != frame or not all(are_all(kernel.leaves.of(each), LaneLeaf) and _is_narrow(each) for each in rest):
        return None
    threads = BlockThreads(kernel.block)
    offset = Sum({each: total.terms[each] for each in rest}, total.number, total.width).expression()
    (offsets,) = evaluate_many((offset,), threads.point)
    return np.broadcast_to(offsets, (len(threads.first_of_warp),))


def _numbers(kernel: Kernel, access: SharedAccess) -> dict[Var, int]:
    """The bytes that a store writes, with their numbers, if both are known and the same for all threads."""
    words = () if access.stored is None else access.stored.words
    if not _is_plain(access, "st") or not words:
        return {}
    total = sum_of(access.address)
    frame, rest = _split(kernel, total)
    if rest or not frame:
        return {}
    numbers = [each.value.to_bytes(each.width // 8, "little") for each in words if isinstance(each, Const)]
    if len(numbers) < len(words):
        return {}
    return {_byte(frame, total.number + at): number for at, number in enumerate(b"".join(numbers))}


def _may_do(kernel: Kernel, indices: Iterable[int]) -> NDArray[np.bool_]:
    """Which threads may execute some instructions, as far as coordinates say."""
    threads = BlockThreads(kernel.block)
    found = np.zeros(len(threads.first_of_warp), dtype=np.bool_)
    for index in indices:
        (access,) = kernel.parts[index]
        here = np.ones_like(found)
        for each in conjuncts(access.who.guard):
            if are_all(kernel.leaves.of(each), LaneLeaf) and _is_narrow(each):
                here &= np.broadcast_to(evaluate_many((each,), threads.point)[0], here.shape) != 0
        found |= here
    return found


def _split(kernel: Kernel, total: Sum) -> tuple[_Frame, list[Expr]]:
    """The terms of an address that the starts of arrays make, and the other ones."""
    of_arrays = {each: count for each, count in total.terms.items() if are_all(kernel.leaves.of(each), ArrayLeaf)}
    return frozenset(of_arrays.items()), [each for each in total.terms if each not in of_arrays]


def _dynamic(kernel: Kernel, frame: _Frame) -> list[ArrayLeaf]:
    """The arrays of dynamic shared memory that a frame is made of."""
    arrays = (each for each in kernel.leaves.of(*(term for term, _ in frame)) if isinstance(each, ArrayLeaf))
    return [each for each in arrays if each.symbol.size_bytes is None]


def _byte(frame: _Frame, offset: int) -> Var:
    """A variable for what a byte holds."""
    names = sorted(f"{count} * {each.name}" for term, count in frame for each in variables(term))
    return var(f"byte {offset} behind {' + '.join(names)}", _ANY + 1)


def _is_narrow(value: Expr) -> bool:
    return all(node.width <= MAX_ARRAY_WIDTH for node in postorder(value))


def _is_whole(act: Act, name: Expr | int, count: Expr | int) -> bool:
    """Whether an operation is a barrier of all threads of the block."""
    number = count.value if isinstance(count, Const) else count
    return act is Act.SYNC and isinstance(name, int) and 0 <= name < MASKS and number == 0


def _is_whole_deed(deed: Deed) -> bool:
    return _is_whole(deed.act, deed.key, deed.count)


def _numbers_of(values: Values, bytes_of: Mapping[Var, Var]) -> dict[Var, int]:
    """What is known of bytes, from the variables that stand for them at a place."""
    return {bytes_of[each]: value.value for each, value in values if each in bytes_of and isinstance(value, Const)}
