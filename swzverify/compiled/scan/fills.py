"""What copies bring into shared memory: for each word, where in global memory it comes from.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import (
    CarriedLeaf,
    KernelAccess,
    KernelFill,
    LaneLeaf,
    Leaf,
    TripsLeaf,
)
from swzverify.compiled.kernel.clusters import is_rank
from swzverify.compiled.kernel.fills import Section
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import are_all
from swzverify.compiled.kernel.parts import FIRST_TRIP, Parts, falls_below
from swzverify.compiled.kernel.reachable import is_state
from swzverify.compiled.scan.fill_copies import (
    ABSOLUTE,
    BoxCopy,
    Copy,
    Frame,
    ThreadsCopy,
    alike_states,
    all_places,
    are_in_one_state,
    copier_of,
    frame_of,
    line_of,
    states_of,
)
from swzverify.compiled.scan.fill_leaves import Shared
from swzverify.compiled.scan.fill_whole import Wanted, wanted
from swzverify.compiled.scan.fill_zeros import is_left_out, may_be_zero, when_left_out, when_whole
from swzverify.compiled.scan.filled import Fill, Filled, InLoop, Written
from swzverify.compiled.scan.operand_fields import Start, start_at
from swzverify.compiled.scan.operand_offsets import by_coordinates, in_threads
from swzverify.compiled.scan.operand_places import is_cut
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.products import NotASumError, Product, Reading
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.ir.expr import Expr, Var, const, extract, substitute, var, variables
from swzverify.layout.tma import TmaMode
from swzverify.subjects.descriptor import ADDRESS_LIMIT

_WORDS: Final = ADDRESS_LIMIT // BANK_WORD_BYTES
_MOST_NUMBERS: Final = 1 << 24
"""Numbers of all sums of products of one function."""


@dataclass(frozen=True, slots=True)
class _NotPlaced:
    """An instruction of which nothing more is known than its array, or all its places; in words why.

    Attributes:
        reason: Why nothing more is known.
        frame: What its places count from; None if that is not known.
        places: All places at which it may write, in bytes; None if these are not known.
        copy: Where it writes, if only what it copies is not known.
    """

    reason: str
    frame: Frame | None = None
    places: tuple[int, ...] | None = None
    copy: ThreadsCopy | None = None


class Fills:
    """Finds all that may write shared memory in one function.

    Attributes:
        leaves: The leaves that addresses in global memory read.
        parts: The parts of places that have few numbers.
        assumes: What the sums of sources assume.
        owners: For leaves that each thread has of its own, the words that say which thread copies.
        swizzled: For each start of an array to which tensor copies swizzle, the least multiple that is known of it.
        has_others: Whether other blocks of a cluster copy to the memory of this one.
    """

    def __init__(
        self, fills: Sequence[KernelFill], subject_of: Callable[[KernelAccess], ValueSubject], threads: Threads
    ) -> None:
        self.leaves = Shared()
        self.swizzled: dict[Frame, int] = {}
        self.parts = Parts()
        self.assumes: dict[str, None] = {}
        self._threads, self._subject_of, self._left = threads, subject_of, _MOST_NUMBERS
        self._others: list[Written] = []
        self._copies: dict[tuple[Section, Frame], list[Copy]] = {}
        self._order: dict[Expr, int] = {}
        self.owners: dict[str, str] = {}
        self._copiers: dict[object, int] = {}
        self._filled: dict[tuple[int, ...], Filled] = {}
        self._left_out: dict[tuple[int, Expr], tuple[KernelAccess, Expr] | None] = {}
        self.has_others = any(each.of_other is not None for each in fills)
        for each in fills:
            if each.destination.address is None and each.width_bytes:
                continue  # no path leads to it
            self.leaves.one_in_block |= each.of_block
            found = self._copy(each)
            if isinstance(found, _NotPlaced) or (each.source is None and each.moved is None):
                self._others.append(self._written(each, found))
                continue
            frame = frame_of(found.start)
            self._copies.setdefault((each.section, frame), []).append(found)
            if each.moved is not None and each.moved.box.mode.swizzle is not None:
                self.swizzled[frame] = min(self.swizzled.get(frame, found.start.multiple), found.start.multiple)

    def at(self, begins: Mapping[Frame, int]) -> Filled:
        """What is written, where some arrays begin so many bytes behind a multiple of 1024."""
        key = tuple(begins.get(frame, 0) for frame in self.swizzled)
        if key not in self._filled:
            self._filled[key] = self._at(begins)
        return self._filled[key]

    def wanted(self) -> Iterator[Wanted]:
        """What a launch has to fulfil so that no copy is left out, and no store of zeros made that is excused.

        Raises:
            NotFollowedError: That is not known of some of them.
        """
        fills = (each.fill for of_section in self._copies.values() for each in of_section)
        return wanted(fills, filter(None, self._left_out.values()), self._subject_of, self._threads)

    def may_leave_out(self, writer: Written, access: KernelAccess) -> bool:
        """Whether a writer stores zeros, and an instruction can be executed without it, by more than coordinates."""
        zeros, key = writer.fill.zeros, (id(writer.fill), access.who.guard)
        if zeros is not None and key not in self._left_out:
            left = when_left_out(zeros, access, self._subject_of, self._threads)
            self._left_out[key] = None if left is None else (zeros, left)
        return self._left_out.get(key) is not None

    def _at(self, begins: Mapping[Frame, int]) -> Filled:
        found = Filled([], [*self._others])
        self._left = _MOST_NUMBERS
        for (_, frame), of_block in self._copies.items():
            try:
                made = list(self._of_block(frame, of_block, begins.get(frame, 0)))
            except NotASumError as error:
                for each in of_block:
                    copy = each if isinstance(each, ThreadsCopy) else None
                    place = _NotPlaced(f"{line_of(each)}: {error}", frame_of(each.start), copy=copy)
                    found.others.append(self._written(each.fill, place))
            else:
                found.fills.extend((each, tuple(copy.fill for copy in of_block)) for each in made)
        return found

    def _copy(self, fill: KernelFill) -> Copy | _NotPlaced:
        """Where an instruction writes, and where a copy reads, or why that is not known."""
        where = f"line {fill.destination.site.line}"
        if not fill.width_bytes:
            return _NotPlaced(f"{where}: {fill.reason}")
        subject = self._subject_of(fill.destination)
        value = subject.access.address
        if value is None:
            return _NotPlaced(f"{where}: where it writes is not known: its address is not known")
        # Blocks of a cluster have one layout: what one writes to another, others write to it at that place.
        others = [leaf.variable for leaf in subject.leaves_of(value) if is_rank(leaf)]
        ranks: dict[Var, Expr] = {each: const(0, each.width) for each in others}
        start = start_at(subject, extract(substitute(value, ranks), 0, 32))
        if isinstance(start, str):
            return _NotPlaced(f"{where}: where it writes is not known: {start}")
        frame = frame_of(start)
        if ranks and fill.origins:
            return _NotPlaced(f"{where}: it copies to another block of the cluster", frame)
        if fill.mask is not None:
            return _NotPlaced(f"{where}: to which blocks of the cluster it copies is not known", frame)
        leaves = {leaf.variable: leaf for leaf in subject.leaves_of(start.offset)}
        sources: list[tuple[ValueSubject, Expr]] = []
        for origin in map(self._subject_of, fill.origins):
            if origin.access.address is None:
                return _NotPlaced(f"{where}: where it reads is not known", frame)
            sources.append((origin, origin.access.address))
            self.leaves |= origin.here.leaves
            if fill.moved is None:
                leaves |= {
                    leaf.variable: leaf
                    for leaf in origin.leaves_of(origin.access.address)
                    if isinstance(leaf, CarriedLeaf)
                }
        around = {loop.header for loop in subject.access.who.loops}
        for loop in subject.access.who.loops:
            if any(isinstance(subject.here.leaves[each.name], LaneLeaf) for each in variables(loop.again.condition)):
                return _NotPlaced(f"{where}: threads may leave the loop at line {loop.line} at different trips", frame)
        has_zeros = may_be_zero(fill, self._subject_of, self._threads)
        if has_zeros is None:
            return _NotPlaced(f"{where}: it writes zeros", frame)
        whole = start.offset
        if falls_below(whole, lambda read: are_all([leaves[each] for each in read], TripsLeaf)):
            return _NotPlaced(f"{where}: where it writes depends on a remainder of {FIRST_TRIP}", frame)
        offset, decide = self.parts.cut(whole, lambda read: is_cut([leaves[each] for each in read]))
        gone = {*variables(whole)} - {*variables(offset)}
        start = replace(start, offset=offset)
        of_place, not_known = {*variables(whole)}, ""
        for variable, leaf in leaves.items():
            if isinstance(leaf, LaneLeaf) or variable in gone:
                continue
            if leaf.values is None and variable not in of_place and fill.moved is None:
                if leaf.name not in self.leaves.one_in_block:
                    not_known = f"{where}: what it copies depends on {leaf.reason}"
                continue
            if leaf.values is None or (fill.source is not None and self._may_differ(leaf, around)):
                places = None if fill.origins else all_places(whole, leaves.values())
                what = fill.reason if places else f"what it copies depends on {leaf.reason}"
                return _NotPlaced(f"{where}: {what}", frame, places)
            decide[variable] = leaf.values
        if self._leaves_out(subject, sources, decide, whole):
            return _NotPlaced(f"{where}: the number of a trip alone decides whether it copies", frame)
        if fill.moved is not None:
            copier = copier_of(subject, fill, self._threads)
            runs, _ = by_coordinates(subject, subject.access.who.guard, self._threads)
            of_copier = (in_threads(each, value, runs, self._threads) for each, value in sources)
            at = tuple(self._of_thread(each, copier, decide, around) for each in of_copier)
            box = BoxCopy(fill, start, fill.moved, at, decide, subject, copier)
            self.leaves |= {leaf.name: leaf for leaf in box.leaves}
            return box
        copy = self._threads_copy(fill, start, next((value for _, value in sources), None), decide, subject, has_zeros)
        return _NotPlaced(not_known, frame, copy=copy) if not_known else copy

    def _may_differ(self, leaf: Leaf, around: Container[int | None]) -> bool:
        """Whether threads that copy parts may have different values of a leaf; one thread has one."""
        is_left = leaf.block is not None and leaf.block not in around
        return (is_state(leaf) or is_left) and leaf.name not in self.leaves.one_in_block

    def _threads_copy(
        self,
        fill: KernelFill,
        start: Start,
        source: Expr | None,
        decide: Mapping[Var, Sequence[int]],
        subject: ValueSubject,
        has_zeros: bool,
    ) -> ThreadsCopy:
        runs, _ = by_coordinates(subject, subject.access.who.guard, self._threads)
        around = {loop.header for loop in subject.access.who.loops}
        path = self._path(subject, runs, around)
        if not has_zeros or path is None:
            return ThreadsCopy(fill, start, source, decide, subject, path, path)
        zeros = self._shared_part(*when_whole(fill, self._subject_of), runs, around)
        return ThreadsCopy(fill, start, source, decide, subject, None, None if zeros is None else path | zeros)

    def _of_thread(self, value: Expr, copier: object, decide: Mapping[Var, object], around: set[int]) -> Expr:
        """A coordinate in which what each thread has of its own has a name of its own for the thread that copies."""
        new: dict[Var, Expr] = {}
        for each in variables(value):
            leaf = self.leaves[each.name]
            if isinstance(leaf, LaneLeaf) or each in decide or self.leaves.is_shared(each, around):
                continue
            number = self._copiers.setdefault(copier, len(self._copiers))
            own = replace(leaf, variable=var(f"{leaf.name} of copier {number}", each.limit))
            self.leaves[own.name], new[each] = own, own.variable
            self.owners[own.name] = f" of thread {copier}" if isinstance(copier, int) else " of the thread that copies"
        return substitute(value, new)

    def _path(self, subject: ValueSubject, runs: NDArray[np.bool_], around: set[int]) -> frozenset[Expr] | None:
        """What has to hold so that all threads make a copy that may make it; None if they need not do so together."""
        loops = [loop.again for loop in subject.access.who.loops]
        if subject.access.who.sure is None or not all(each.is_exact for each in loops):
            return None
        conditions = [each.condition for each in loops]
        return self._shared_part(subject, subject.access.who.sure, runs, around, conditions)

    def _shared_part(
        self,
        subject: ValueSubject,
        condition: Expr,
        runs: NDArray[np.bool_],
        around: set[int],
        others: Sequence[Expr] = (),
    ) -> frozenset[Expr] | None:
        """What has to hold, alike for all of some threads, so that a condition does; None if that differs."""
        makes, rest = by_coordinates(subject, condition, self._threads)
        self.leaves |= subject.here.leaves
        is_one = all(self.leaves.is_shared(each, around) for each in variables(*rest, *others))
        return rest if is_one and bool((makes | ~runs).all()) else None

    def _of_block(self, frame: Frame, copies: Sequence[Copy], begin: int) -> Iterator[Fill]:
        """The fills of some copies that belong together, one for each state.

        Raises:
            NotASumError: A source is no sum of products, or there are many states.
        """
        if not are_in_one_state(copies, self._threads, self.leaves.one_in_block):
            raise NotASumError("threads that copy boxes may be in different states of a loop")
        for states in alike_states(copies):
            state = states[0]
            values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
            rows = np.full(_WORDS, -1, dtype=np.int32)
            clashing, torn = np.zeros(_WORDS, dtype=np.bool_), np.zeros(_WORDS, dtype=np.bool_)
            paths = {
                each: at
                for at, each in enumerate(
                    dict.fromkeys(way for each in copies for way in (each.path, each.whole_path) if way is not None)
                )
            }
            of_paths: list[NDArray[np.int64]] = []
            of_whole_paths: list[NDArray[np.int64]] = []
            of_threads: list[NDArray[np.int64]] = []
            places: list[NDArray[np.int64]] = []
            sums: list[dict[Product, NDArray[np.uint64]]] = []
            around = {loop.header for each in copies for loop in each.fill.destination.who.loops}
            shared = partial(self.leaves.is_shared, around=around)
            by_all = Reading(self._threads.point, shared, self._order, self.leaves.is_of_launch)
            # One thread copies a box: each value that is no coordinate is one number in one trip of all loops.
            by_one = Reading(self._threads.point, self.leaves.is_no_lane, self._order, self.leaves.is_of_launch)
            for each in copies:
                own = each.brought(self._threads, values, by_one if isinstance(each, BoxCopy) else by_all, begin)
                places.append(own.words)
                of_threads.append(own.threads)
                for of_kind, way in ((of_paths, each.path), (of_whole_paths, each.whole_path)):
                    of_kind.append(np.full(own.words.size, -1 if way is None else paths[way]))
                sums.append(own.numbers)
            self.assumes |= dict.fromkeys(by_all.assumes)
            where = np.concatenate(places)
            if where.size and (int(where.min()) < 0 or int(where.max()) >= _WORDS):
                raise NotASumError("it writes beyond what descriptors name")
            numbers = {
                one: np.concatenate(
                    [each.get(one, np.zeros(of.size, np.uint64)) for each, of in zip(sums, places, strict=True)]
                )
                for one in dict.fromkeys(one for each in sums for one in each)
            }
            self._left -= where.size * len(numbers)
            if self._left < 0:
                raise NotASumError("the function copies many elements")
            rows[where] = np.arange(where.size, dtype=np.int32)
            last = rows[where]
            path, whole, thread = map(np.concatenate, (of_paths, of_whole_paths, of_threads))
            is_sure = (whole == whole[last]) & (whole >= 0) & (thread != thread[last])
            for of_product in numbers.values():
                is_other = of_product != of_product[last]
                clashing[where[is_other]] = True
                torn[where[is_other & is_sure]] = True
            lines = tuple(dict.fromkeys(each.fill.destination.site.line for each in copies))
            first = copies[0].fill
            headers = [loop.header for loop in first.destination.who.loops]
            factors = dict.fromkeys(factor for each in numbers for factor in each)
            trips = {
                loop.trips: InLoop(
                    loop.header,
                    frozenset(each for each in factors if not self.leaves.is_fixed(each, headers, at)),
                    self.leaves.last_trip(loop.trips),
                )
                for at, loop in enumerate(first.destination.who.loops)
                if loop.trips is not None and loop.trips not in state
            }
            boxes = [each for each in copies if isinstance(each, BoxCopy)]
            modes: dict[Expr, TmaMode] = {each.leaves[0].variable: each.moved.box.mode for each in boxes}
            leads_to = first.leads_to.intersection(*(each.fill.leads_to for each in copies))
            follows = first.follows.union(*(each.fill.follows for each in copies))
            around_it = leads_to, follows, frozenset(headers)
            of_states = frozenset(frozenset(each.items()) for each in states)
            yield Fill(
                first.section, trips, frame, of_states, lines, rows, numbers, path, clashing, torn, modes, *around_it
            )

    def _written(self, fill: KernelFill, found: Copy | _NotPlaced) -> Written:
        """What an instruction may write: if nothing else is known, its whole array."""
        reason = ""
        if isinstance(found, _NotPlaced) and found.copy is not None:
            found, reason = found.copy, found.reason
        if isinstance(found, _NotPlaced):
            words = np.arange(_WORDS)
            if found.places is not None:
                at = np.asarray(found.places)[:, None] + np.arange(fill.width_bytes)
                words = np.unique(at // BANK_WORD_BYTES)
            is_known = found.frame is not None and (found.places is not None or found.frame[0] != ABSOLUTE)
            return Written(fill, found.frame if is_known else None, words, found.reason)
        parts: list[NDArray[np.int64]] = []
        try:
            for state in states_of([found]):
                values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
                parts.append(found.places(self._threads, values, 0)[0].reshape(-1))
        except NotASumError as error:
            return self._written(fill, _NotPlaced(reason or f"{line_of(found)}: {error}", frame_of(found.start)))
        reason = reason or f"{line_of(found)}: {fill.reason}"
        return Written(fill, frame_of(found.start), np.unique(np.concatenate(parts)), reason)

    def _leaves_out(
        self, subject: ValueSubject, sources: Sequence[tuple[ValueSubject, Expr]], decide: Container[Var], place: Expr
    ) -> bool:
        """Whether the number of a trip alone says that a copy is not made, or that what it stores is not loaded."""
        self.leaves |= subject.here.leaves
        are_fixed = partial(self.leaves.are_fixed, variables(place, *(value for _, value in sources)))
        subjects = (subject, *(each for each, _ in sources)) if sources else ()
        return any(is_left_out(each, decide, self._threads, are_fixed) for each in subjects)
