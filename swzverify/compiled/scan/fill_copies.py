"""Copies from global to shared memory: in one state, which words each thread writes, and where each comes from.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, zip_longest
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelFill, Leaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.fills import BoxMoved
from swzverify.compiled.kernel.lanes import GROUP_THREADS, Threads
from swzverify.compiled.kernel.reachable import TooManyError, cases
from swzverify.compiled.kernel.symbols import DYNAMIC
from swzverify.compiled.scan.operand_fields import Start
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.products import NotASumError, Product, Products, Reading
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, Var, const, substitute, to_signed, var, variables
from swzverify.layout.tma import BASE_ALIGN_BYTES

Frame: TypeAlias = tuple[str, int]
"""What offsets count from: an array, and the multiple to which its address is rounded up."""
State: TypeAlias = dict[Var, int]
"""A number for each leaf that decides between places."""

Places: TypeAlias = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""For each thread that writes, the words; and which threads do."""

_STRIDE: Final = "stride "
ABSOLUTE: Final = ""
"""The array of an address that counts from none."""
_SAMPLES: Final = 3
_MOST_SAMPLED: Final = 97
_MOST_FACTOR: Final = 1 << 12
_MOST_STATES: Final = 64
_MOST_CASES: Final = 500


def dimension_of(factor: Expr) -> Expr | None:
    """Of the stride of a tensor its dimension, as a factor that all tensors share; None for other factors."""
    name = factor.name if isinstance(factor, Var) else ""
    return var(f"dimension {name[len(_STRIDE)]}", 1 << 64) if name.startswith(_STRIDE) else None


def frame_of(start: Start) -> Frame:
    """What the offsets of a start address count from.

    Source: CUDA Programming Guide 13, dynamic shared memory: all `extern __shared__` arrays begin at one address.
    """
    if start.base is None:
        return ABSOLUTE, start.rounded
    return DYNAMIC if start.base.symbol.is_extern else start.base.name, start.rounded


@dataclass(frozen=True, slots=True)
class Brought:
    """What a copy writes, word by word.

    Attributes:
        words: The words.
        threads: The thread that writes each.
        numbers: For each product of shared factors, the number of each word: the sum is where it comes from.
    """

    words: NDArray[np.int64]
    threads: NDArray[np.int64]
    numbers: Products


@dataclass(frozen=True)
class ThreadsCopy:
    """A copy of some bytes by each thread, or another instruction that writes some.

    Attributes:
        fill: The instruction.
        start: Where it writes.
        source: Where it reads in global memory; None if it is no copy.
        decide: The numbers of the leaves that decide what it copies and where to.
        subject: Its address, with what questions about it need.
        path: What has to hold so that all threads make it that may, of all bytes; None if they need not do so together,
            or if it may write zeros.
        whole_path: The same, but of a copy that may write zeros, too: what has to hold so that it writes none.
    """

    fill: KernelFill
    start: Start
    source: Expr | None
    decide: Mapping[Var, Sequence[int]]
    subject: ValueSubject
    path: frozenset[Expr] | None
    whole_path: frozenset[Expr] | None

    @property
    def read(self) -> tuple[Expr, ...]:
        """All that says what it brings, where to, and which threads make it."""
        return self.start.offset, self.subject.access.who.guard, self.source or const(0, 64)

    def places(self, threads: Threads, values: dict[Var, Expr], begin: int) -> Places:
        """The words that each thread writes in a state, and which threads do; `begin` does not count.

        Raises:
            NotASumError: A place is no multiple of a word, or not decided.
        """
        del begin
        found, runs = _offsets(self, threads, values)
        places = found[runs]
        width = self.fill.width_bytes
        if bool((places % min(width, BANK_WORD_BYTES)).any()) or (self.source is not None and width % BANK_WORD_BYTES):
            raise NotASumError("it writes parts of words")
        count = -(-width // BANK_WORD_BYTES)
        return places[:, None] // BANK_WORD_BYTES + np.arange(count), runs

    def brought(self, threads: Threads, values: dict[Var, Expr], reading: Reading, begin: int) -> Brought:
        """What each thread brings in a state, and where from.

        Raises:
            NotASumError: A place is not decided, or a source is no sum of products.
        """
        words, runs = self.places(threads, values, begin)
        source = reading.inside(substitute(self.source or const(0, 64), values))
        # What is said of other threads, such as those whose number less that of the first copier wraps, does not count.
        found = {one: of[runs] for one, of in reading.products(source).items()}
        _check(source, found, {name: of[runs] for name, of in threads.point.items()})
        steps = np.arange(words.shape[1], dtype=np.uint64) * np.uint64(BANK_WORD_BYTES)
        numbers = {one: np.repeat(of, words.shape[1]) for one, of in found.items()}
        numbers[()] = numbers.get((), np.zeros(words.size, np.uint64)) + np.tile(steps, len(words))
        return Brought(words.reshape(-1), np.repeat(np.flatnonzero(runs), words.shape[1]), numbers)


@dataclass(frozen=True)
class BoxCopy:
    """A tensor copy whose box is given: any of the threads that may execute it moves the same box to the same place.

    Attributes:
        fill: The instruction.
        start: Where it writes.
        moved: The box.
        coordinates: Where in the tensor the box begins, in elements, of 64 bits each.
        decide: The numbers of the leaves that decide what it copies and where to.
        subject: Its address, with what questions about it need.
        copier: Which thread makes it: copies of which this is equal are made by one thread.
        path: None: nothing says that it is made at all.
        whole_path: None, too.
    """

    fill: KernelFill
    start: Start
    moved: BoxMoved
    coordinates: tuple[Expr, ...]
    decide: Mapping[Var, Sequence[int]]
    subject: ValueSubject
    copier: object
    path: None = None
    whole_path: None = None

    @property
    def read(self) -> tuple[Expr, ...]:
        """All that says what it brings, where to, and which threads make it."""
        return self.start.offset, self.subject.access.who.guard, *self.coordinates

    @cached_property
    def strides(self) -> list[tuple[Product, int]]:
        """For each dimension, how far a step in it goes: a factor, none where it is known, and a number of bytes."""
        given = self.moved.box.strides_bytes
        found: list[tuple[Product, int]] = [((), self.moved.box.element_bytes)]
        for leaf, known in zip_longest(self.leaves[1:], given[: len(self.leaves) - 1]):
            found.append(((leaf.variable,), 1) if known is None else ((), known))
        return found

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """What the tensor map says and nobody knows: where the tensor begins, and the strides but the first."""
        name, offset = self.moved.tensor_map
        where = f"{name}+{offset}" if offset else name
        words = (f"tensor {where}", *(f"{_STRIDE}{each} of {where}" for each in range(1, len(self.coordinates))))
        line = self.fill.destination.site.line
        return tuple(UniformLeaf(var(each, 1 << 64), "the tensor map says it", line, None) for each in words)

    def places(self, threads: Threads, values: dict[Var, Expr], begin: int) -> Places:
        """The words of the box in the order of its elements in a state, and the thread that writes them.

        The array begins `begin` bytes behind a multiple of 1024.

        Raises:
            NotASumError: The place is no multiple of 128 bytes, or not decided.
        """
        found, runs = _offsets(self, threads, values)
        places = np.unique(found[runs])
        if len(places) > 1:
            raise NotASumError("its threads copy boxes to several places")
        if bool((places % BASE_ALIGN_BYTES).any()):
            raise NotASumError(f"it writes at no multiple of {BASE_ALIGN_BYTES} bytes")
        first = np.zeros_like(runs)
        first[np.flatnonzero(runs)[:1]] = True
        bytes_of = begin + places[:, None] + np.arange(0, self.fill.width_bytes, BANK_WORD_BYTES)
        swizzle = self.moved.box.mode.swizzle
        if bool((bytes_of < 0).any()):
            raise NotASumError("it writes beyond what descriptors name")
        bytes_of = bytes_of if swizzle is None else swizzle(bytes_of)
        return (bytes_of - begin) // BANK_WORD_BYTES, first

    def brought(self, threads: Threads, values: dict[Var, Expr], reading: Reading, begin: int) -> Brought:
        """The words of the box in a state, and where in the tensor each comes from.

        Raises:
            NotASumError: The place is not decided, or a coordinate is no sum of products.
        """
        words, runs = self.places(threads, values, begin)
        makes, _ = by_coordinates(self.subject, substitute(self.subject.access.who.guard, values), threads)
        if not words.size:
            return Brought(words.reshape(-1), np.flatnonzero(runs), {})
        box, numbers = self.moved.box, dict[Product, NDArray[np.uint64]]()
        numbers[(self.leaves[0].variable,)] = np.ones(words.size, np.uint64)
        element, in_element = np.divmod(np.arange(words.size) * BANK_WORD_BYTES, box.element_bytes)
        for at, (coordinate, (stride, step)) in enumerate(zip(self.coordinates, self.strides, strict=True)):
            size = np.uint64(step)
            inside = (element // prod(box.extents[:at]) % box.extents[at]).astype(np.uint64)
            numbers[stride] = numbers.get(stride, np.zeros(words.size, np.uint64)) + inside * size
            for own, of_threads in reading.products(substitute(coordinate, values)).items():
                starts = np.unique(of_threads[makes])
                if len(starts) > 1:
                    raise NotASumError("its threads copy several boxes")
                factors = reading.in_order((*own, *stride))
                numbers[factors] = numbers.get(factors, np.zeros(words.size, np.uint64)) + (starts * size).sum()
        numbers[()] = numbers[()] + in_element.astype(np.uint64)
        return Brought(words.reshape(-1), np.repeat(np.flatnonzero(runs), words.shape[1]), numbers)


Copy: TypeAlias = ThreadsCopy | BoxCopy
"""An instruction that writes at known places."""


def copier_of(subject: ValueSubject, fill: KernelFill, threads: Threads) -> object:
    """Which thread makes a tensor copy: copies of which this is equal are made by one thread.

    A thread that makes one copy of a basic block makes each other one under the same condition, too.
    """
    who = subject.access.who
    runs, rest = by_coordinates(subject, who.guard, threads)
    (own,) = np.nonzero(runs)
    block = None if who.sure is who.guard else fill.block
    found = int(own[0]) if len(own) == 1 else (runs.tobytes(), rest, block)
    return found if fill.of_other is None else (fill.of_other, found)


def are_in_one_state(copies: Sequence[Copy], threads: Threads, one_in_block: Container[str]) -> bool:
    """Whether the threads that make some tensor copies are in one state, in one trip of all loops around.

    `one_in_block` are registers of loops that have one value in the block then.
    """
    boxes = [each for each in copies if isinstance(each, BoxCopy)]
    if len({each.copier for each in boxes}) <= 1:
        return True
    groups: set[tuple[int | None, int]] = set()
    for each in boxes:
        runs, _ = by_coordinates(each.subject, each.subject.access.who.guard, threads)
        groups |= {(each.fill.of_other, int(at) // GROUP_THREADS) for at in np.flatnonzero(runs)}
    states = [leaf for each in boxes for leaf in each.subject.here.leaves.values() if leaf.variable in each.decide]
    return all(
        isinstance(leaf, UniformLeaf | TripsLeaf) or leaf.name in one_in_block or (len(groups) <= 1 and leaf.uniform)
        for leaf in states
    )


def all_places(offset: Expr, leaves: Iterable[Leaf]) -> tuple[int, ...] | None:
    """All numbers that an offset can be, whatever decides between them; None if these are many or not known."""
    known = {leaf.variable: leaf.values for leaf in leaves if leaf.values is not None}
    found: set[int] = set()
    if prod(map(len, known.values())) > _MOST_STATES:
        return None
    try:
        for numbers in product(*known.values()):
            state: dict[Var, Expr] = {each: const(of, each.width) for each, of in zip(known, numbers, strict=True)}
            found |= {to_signed(each, offset.width) for (each,) in cases((substitute(offset, state),), _MOST_CASES)}
    except TooManyError:
        return None
    return tuple(sorted(found))


def alike_states(copies: Sequence[Copy]) -> list[list[State]]:
    """The states of some copies, those together in which all of them bring the same to the same places."""
    found: dict[tuple[Expr, ...], list[State]] = {}
    for state in states_of(copies):
        values: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
        key = tuple(substitute(part, values) for each in copies for part in each.read)
        found.setdefault(key, []).append(state)
    return list(found.values())


def states_of(copies: Sequence[Copy]) -> Iterator[State]:
    """All states of some copies.

    Raises:
        NotASumError: There are many.
    """
    decide = {variable: values for each in copies for variable, values in each.decide.items()}
    if prod(map(len, decide.values())) > _MOST_STATES:
        raise NotASumError("where it writes has many states")
    for numbers in product(*decide.values()):
        yield dict(zip(decide, numbers, strict=True))


def line_of(copy: Copy) -> str:
    """The line of a copy, in words."""
    return f"line {copy.fill.destination.site.line}"


def _offsets(copy: Copy, threads: Threads, values: dict[Var, Expr]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each thread writes, from the start of the array, and which threads do.

    Raises:
        NotASumError: It is not decided.
    """
    offset = substitute(copy.start.offset, values)
    if any(each.name not in threads.point for each in variables(offset)):
        raise NotASumError("where it writes is not decided")
    (found,) = evaluate_many((offset,), threads.point)
    runs, _ = by_coordinates(copy.subject, substitute(copy.subject.access.who.guard, values), threads)
    return np.broadcast_to(found, runs.shape), runs


def _check(source: Expr, found: Products, coordinates: Mapping[str, NDArray[np.int64]]) -> None:
    """Compare a sum of products with plain numbers at samples.

    Raises:
        NotASumError: A sample has another number.
    """
    draw = np.random.default_rng(len(found))
    for _ in range(_SAMPLES):
        point = dict(coordinates)
        for each in variables(source):
            if each.name not in point:
                point[each.name] = np.asarray(draw.integers(0, min(each.limit, _MOST_SAMPLED)))
        factors = dict.fromkeys(each for one in found for each in one)
        values = dict(zip(factors, evaluate_many(tuple(factors), point), strict=True))
        if any(bool(((each < 0) | (each >= _MOST_FACTOR)).any()) for each in values.values()):
            continue  # sums of these may overflow, which the reading takes for granted that they do not
        total = np.zeros(len(next(iter(coordinates.values()))), dtype=np.uint64)
        for one, numbers in found.items():
            term = numbers
            for each in one:
                term = term * values[each].astype(np.uint64)
            total = total + term
        (exact,) = evaluate_many((source,), point)
        if not bool((total == exact.astype(np.uint64)).all()):
            raise NotASumError("plain numbers contradict that its address is a sum")
