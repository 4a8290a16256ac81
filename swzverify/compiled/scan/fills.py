"""What copies bring into shared memory: for each word, where in global memory it comes from.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import (
    CarriedLeaf,
    KernelAccess,
    KernelFill,
    LaneLeaf,
    Leaf,
    OpaqueLeaf,
    TripsLeaf,
    UniformLeaf,
)
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import Made
from swzverify.compiled.kernel.reachable import is_state
from swzverify.compiled.kernel.symbols import DYNAMIC
from swzverify.compiled.scan.operand_fields import Start, start_of
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.products import NotASumError, Product, Reading
from swzverify.engines.obligations import Answer
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import (
    Comparison,
    Expr,
    Extend,
    Ite,
    Var,
    compare,
    const,
    extract,
    negation,
    substitute,
    variables,
)
from swzverify.subjects.descriptor import ADDRESS_LIMIT

Frame: TypeAlias = tuple[str, int]
"""What offsets count from: an array, and the multiple to which its address is rounded up."""
State: TypeAlias = dict[Var, int]
"""A number for each leaf that decides between places."""

_ABSOLUTE: Final = ""
_WORDS: Final = ADDRESS_LIMIT // BANK_WORD_BYTES
NO_GAPS: Final = "no thread leaves out a copy, or writes zeros, unless its coordinates alone decide it"
"""What counting on all copies of a fill assumes."""
_MOST_STATES: Final = 64
_MOST_NUMBERS: Final = 1 << 24
"""Numbers of all sums of products of one function."""
_SAMPLES: Final = 3
_MOST_SAMPLED: Final = 97
_MOST_FACTOR: Final = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """The copies of one basic block between two barriers, fences or waits, in one trip of each loop around it.

    Attributes:
        section: The basic block, and how many barriers, fences and waits stand before the copies in it.
        trips: For each loop around it that decides its sources, but not where it writes, the leaf that counts its
            trips, with the header of the loop.
        frame: What the places of words count from.
        state: The numbers of the leaves that decide where it writes.
        lines: The lines of its copies.
        rows: For each word of shared memory, its row in `numbers`; -1 for what it does not write.
        numbers: For each product of shared factors, the number of each row: the sum is the address.
        paths: For each row, the number of the condition under which threads make its copy, where they share it;
            -1 if a thread may leave it out, or write zeros, while others do not.
        clashing: The words that may get different values of several copies.
        torn: Those of them that surely do, of copies of two threads that are made together.
    """

    section: tuple[int, int]
    trips: Mapping[Var, int]
    frame: Frame
    state: State
    lines: tuple[int, ...]
    rows: NDArray[np.int32]
    numbers: dict[Product, NDArray[np.uint64]]
    paths: NDArray[np.int64]
    clashing: NDArray[np.bool_]
    torn: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Written:
    """What an instruction that is no copy may write.

    Attributes:
        fill: The instruction.
        frame: What the places of words count from; None if it may write anywhere.
        words: The words; empty if it may write anywhere.
        reason: Why nothing is known of what is written.
    """

    fill: KernelFill
    frame: Frame | None
    words: NDArray[np.int64]
    reason: str


def frame_of(start: Start) -> Frame:
    """What the offsets of a start address count from.

    Source: CUDA Programming Guide 13, dynamic shared memory: all `extern __shared__` arrays begin at one address.
    """
    if start.base is None:
        return _ABSOLUTE, start.rounded
    return DYNAMIC if start.base.symbol.is_extern else start.base.name, start.rounded


def may_overlap(one: Frame, other: Frame) -> bool:
    """Whether bytes counted from one start may be bytes counted from another one."""
    return one[0] == other[0] or _ABSOLUTE in (one[0], other[0])


class Fills:
    """All that may write shared memory in one function.

    Attributes:
        fills: The fills whose copies are known, with the instructions that make them.
        others: Everything else that may write.
        leaves: The leaves that addresses in global memory read.
    """

    def __init__(
        self, fills: Sequence[KernelFill], subject_of: Callable[[KernelAccess], ValueSubject], threads: Threads
    ) -> None:
        self.fills: list[tuple[Fill, tuple[KernelFill, ...]]] = []
        self.others: list[Written] = []
        self.leaves: dict[str, Leaf] = {}
        self._threads, self._subject_of, self._left = threads, subject_of, _MOST_NUMBERS
        copies: dict[tuple[int, int, Frame], list[_Copy]] = {}
        for each in fills:
            if each.destination.address is None and each.width_bytes:
                continue  # no path leads to it
            found = self._copy(each)
            if isinstance(found, _Copy) and each.source is not None:
                copies.setdefault((each.block, each.section, found.frame), []).append(found)
            else:
                self.others.append(self._written(each, found))
        for (_, _, frame), of_block in copies.items():
            try:
                made = list(self._of_block(frame, of_block))
            except NotASumError as error:
                self.others += [self._written(each.fill, f"{each.line}: {error}") for each in of_block]
            else:
                self.fills += [(each, tuple(copy.fill for copy in of_block)) for each in made]

    def _copy(self, fill: KernelFill) -> _Copy | str:
        """Where an instruction writes, and where a copy reads; in words why that is not known."""
        where = f"line {fill.destination.site.line}"
        if not fill.width_bytes:
            return f"{where}: {fill.reason}"
        subject = self._subject_of(fill.destination)
        value = subject.access.address
        start = "its address is not known" if value is None else start_of(subject, extract(value, 0, 32))
        if isinstance(start, str):
            return f"{where}: where it writes is not known: {start}"
        decide: dict[Var, Sequence[int]] = {}
        leaves = {leaf.variable: leaf for leaf in subject.leaves_of(start.offset)}
        source: Expr | None = None
        if fill.source is not None:
            origin = self._subject_of(fill.source)
            source = origin.access.address
            if source is None:
                return f"{where}: where it reads is not known"
            self.leaves |= origin.here.leaves
            leaves |= {leaf.variable: leaf for leaf in origin.leaves_of(source) if isinstance(leaf, CarriedLeaf)}
        around = {loop.header for loop in subject.access.who.loops}
        for loop in subject.access.who.loops:
            if any(isinstance(subject.here.leaves[each.name], LaneLeaf) for each in variables(loop.again.condition)):
                return f"{where}: threads may leave the loop at line {loop.line} at different trips"
        may_be_zero = self._may_be_zero(fill)
        if may_be_zero is None:
            return f"{where}: it writes zeros"
        for variable, leaf in leaves.items():
            if isinstance(leaf, LaneLeaf):
                continue
            is_own = source is not None and (is_state(leaf) or (leaf.block is not None and leaf.block not in around))
            if leaf.values is None or is_own:
                return f"{where}: what it copies depends on {leaf.reason}"
            decide[variable] = leaf.values
        runs, _ = by_coordinates(subject, subject.access.who.guard, self._threads)
        return _Copy(fill, start, source, decide, subject, None if may_be_zero else self._path(subject, runs, around))

    def _may_be_zero(self, fill: KernelFill) -> bool | None:
        """Whether a copy may write zeros for some bytes; None if coordinates alone say that it does."""
        if fill.read_bytes is None:
            return False
        subject, value = self._subject_of(fill.read_bytes), fill.read_bytes.address
        if value is None:
            return True
        answer, _ = subject.other(negation(compare(Comparison.EQ, value, const(fill.width_bytes, value.width))))
        if answer is Answer.EMPTY:
            return False
        if answer is Answer.HOLDS and all(isinstance(leaf, LaneLeaf) for leaf in subject.leaves_of(value)):
            return None
        while isinstance(value, Extend):
            value = value.operand
        if isinstance(value, Ite) and value.otherwise is const(0, value.width):
            runs, _ = by_coordinates(subject, subject.access.who.guard, self._threads)
            reads, _ = by_coordinates(subject, value.condition, self._threads)
            return True if bool((reads | ~runs).all()) else None
        return True

    def _path(self, subject: ValueSubject, runs: NDArray[np.bool_], around: set[int]) -> frozenset[Expr] | None:
        """What has to hold so that all threads make a copy that may make it; None if they need not do so together."""
        loops = [loop.again for loop in subject.access.who.loops]
        if subject.access.who.sure is None or not all(each.is_exact for each in loops):
            return None
        makes, rest = by_coordinates(subject, subject.access.who.sure, self._threads)
        self.leaves |= subject.here.leaves
        conditions = [each.condition for each in loops]
        is_one = all(self._is_shared(each, around) for each in variables(*rest, *conditions))
        return rest if is_one and bool((makes | ~runs).all()) else None

    def _of_block(self, frame: Frame, copies: Sequence[_Copy]) -> Iterator[Fill]:
        """The fills of some copies that belong together, one for each state.

        Raises:
            NotASumError: A source is no sum of products, or there are many states.
        """
        for state in _states(copies):
            values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
            rows = np.full(_WORDS, -1, dtype=np.int32)
            clashing, torn = np.zeros(_WORDS, dtype=np.bool_), np.zeros(_WORDS, dtype=np.bool_)
            paths = {
                each: at for at, each in enumerate(dict.fromkeys(each.path for each in copies if each.path is not None))
            }
            of_paths: list[NDArray[np.int64]] = []
            of_threads: list[NDArray[np.int64]] = []
            places: list[NDArray[np.int64]] = []
            sums: list[dict[Product, NDArray[np.uint64]]] = []
            around = {loop.header for each in copies for loop in each.fill.destination.who.loops}
            reading = Reading(self._threads.point, partial(self._is_shared, around=around))
            for each in copies:
                words, runs = each.words(self._threads, values)
                source = substitute(each.source or const(0, 64), values)
                found = reading.products(source)
                self._check(source, found)
                steps = np.arange(words.shape[1], dtype=np.uint64) * np.uint64(BANK_WORD_BYTES)
                own = {one: np.repeat(numbers[runs], words.shape[1]) for one, numbers in found.items()}
                own[()] = own.get((), np.zeros(words.size, np.uint64)) + np.tile(steps, len(words))
                places.append(words.reshape(-1))
                of_threads.append(np.repeat(np.flatnonzero(runs), words.shape[1]))
                of_paths.append(np.full(words.size, -1 if each.path is None else paths[each.path]))
                sums.append(own)
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
            path, thread = np.concatenate(of_paths), np.concatenate(of_threads)
            is_sure = (path == path[last]) & (path >= 0) & (thread != thread[last])
            for of_product in numbers.values():
                is_other = of_product != of_product[last]
                clashing[where[is_other]] = True
                torn[where[is_other & is_sure]] = True
            lines = tuple(dict.fromkeys(each.fill.destination.site.line for each in copies))
            first = copies[0].fill
            trips = {
                loop.trips: loop.header
                for loop in first.destination.who.loops
                if loop.trips is not None and loop.trips not in state
            }
            section = first.block, first.section
            yield Fill(section, trips, frame, state, lines, rows, numbers, path, clashing, torn)

    def _written(self, fill: KernelFill, found: _Copy | str) -> Written:
        nowhere = np.zeros(0, dtype=np.int64)
        if isinstance(found, str):
            return Written(fill, None, nowhere, found)
        words: list[NDArray[np.int64]] = []
        try:
            for state in _states([found]):
                values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
                words.append(found.words(self._threads, values)[0].reshape(-1))
        except NotASumError as error:
            return Written(fill, None, nowhere, f"{found.line}: {error}")
        return Written(fill, found.frame, np.unique(np.concatenate(words)), f"{found.line}: {fill.reason}")

    def _is_shared(self, variable: Var, around: set[int]) -> bool:
        """Whether all threads of the block have one value of a leaf, in one trip of each loop around."""
        leaf = self.leaves.get(variable.name)
        if leaf is None:
            return False
        if isinstance(leaf, UniformLeaf | TripsLeaf):
            return leaf.block is None or leaf.block in around
        if not isinstance(leaf, OpaqueLeaf) or leaf.made is not Made.DETERMINED or leaf.open is not None:
            return False
        return all(self._is_shared(each, around) for each in variables(*leaf.feeds))

    def _check(self, source: Expr, found: dict[Product, NDArray[np.uint64]]) -> None:
        """Compare a sum of products with plain numbers at samples.

        Raises:
            NotASumError: A sample has another number.
        """
        draw = np.random.default_rng(len(found))
        for _ in range(_SAMPLES):
            point = dict(self._threads.point)
            for each in variables(source):
                if each.name not in point:
                    point[each.name] = np.asarray(draw.integers(0, min(each.limit, _MOST_SAMPLED)))
            factors = dict.fromkeys(each for one in found for each in one)
            values = dict(zip(factors, evaluate_many(tuple(factors), point), strict=True))
            if any(bool(((each < 0) | (each >= _MOST_FACTOR)).any()) for each in values.values()):
                continue  # sums of these may overflow, which the reading takes for granted that they do not
            total = np.zeros(len(self._threads.first_of_warp), dtype=np.uint64)
            for one, numbers in found.items():
                term = numbers
                for each in one:
                    term = term * values[each].astype(np.uint64)
                total = total + term
            (exact,) = evaluate_many((source,), point)
            if not bool((total == exact.astype(np.uint64)).all()):
                raise NotASumError("plain numbers contradict that its address is a sum")


@dataclass(frozen=True, slots=True)
class _Copy:
    """An instruction that writes at known places."""

    fill: KernelFill
    start: Start
    source: Expr | None
    decide: dict[Var, Sequence[int]]
    subject: ValueSubject
    path: frozenset[Expr] | None

    @property
    def frame(self) -> Frame:
        return frame_of(self.start)

    @property
    def line(self) -> str:
        return f"line {self.fill.destination.site.line}"

    def words(self, threads: Threads, values: dict[Var, Expr]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The words that each thread writes, in a state, and which threads do.

        Raises:
            NotASumError: A place is no multiple of a word, or not decided.
        """
        offset = substitute(self.start.offset, values)
        if any(each.name not in threads.point for each in variables(offset)):
            raise NotASumError("where it writes is not decided")
        (found,) = evaluate_many((offset,), threads.point)
        runs, _ = by_coordinates(self.subject, substitute(self.subject.access.who.guard, values), threads)
        places = np.broadcast_to(found, runs.shape)[runs]
        width = self.fill.width_bytes
        if bool((places % min(width, BANK_WORD_BYTES)).any()) or (self.source is not None and width % BANK_WORD_BYTES):
            raise NotASumError("it writes parts of words")
        count = -(-width // BANK_WORD_BYTES)
        return places[:, None] // BANK_WORD_BYTES + np.arange(count), runs


def _states(copies: Sequence[_Copy]) -> Iterator[State]:
    decide = {variable: values for each in copies for variable, values in each.decide.items()}
    if prod(map(len, decide.values())) > _MOST_STATES:
        raise NotASumError("where it writes has many states")
    for numbers in product(*decide.values()):
        yield dict(zip(decide, numbers, strict=True))
