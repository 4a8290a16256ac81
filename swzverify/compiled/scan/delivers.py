"""The claim that operands of the tensor core hold what they should, without a spec: see docs/semantics.md, section 9.

Copies bring elements from global to shared memory, and the tensor core reads them there. Both are joined: each
operand holds an affine part of a matrix, and A and B of each instruction come from the same columns of K.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.fill_copies import Frame
from swzverify.compiled.scan.filled import NO_GAPS, Fill, Filled, Written, may_overlap
from swzverify.compiled.scan.fills import Fills
from swzverify.compiled.scan.operand_agreement import agree
from swzverify.compiled.scan.operand_judged import Factor, Judged
from swzverify.compiled.scan.operand_maps import (
    MEANT,
    OTHER_COLUMNS,
    OTHER_ROWS,
    Break,
    ElementMap,
    element_map,
    leaves_dimensions,
    pointers_of,
    spelled,
)
from swzverify.compiled.scan.operand_places import Places, Reader
from swzverify.compiled.scan.operand_trips import are_of_one_matrix
from swzverify.compiled.scan.products import INSIDE, NO_WRAP, Product
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.layout.tma import BASE_ALIGN_BYTES
from swzverify.subjects.descriptor import ADDRESS_LIMIT, REPEATS_BYTES

_ENGINES: Final = ("sums of products", "exhaustion")
APART: Final = "A and B, which copies in loops of their own bring, are of the same columns of K in each trip"
TOGETHER: Final = "one coordinate along a dimension of a tensor beside rows and columns means one thing for A and B"
"""What counting along such dimensions assumes of the strides of two tensor maps."""
IN_STEP: Final = "the blocks of a cluster have one layout of shared memory, and make the same trips of their loops"
_MOST_SOURCES: Final = 4
_MOST_FRAMES: Final = 2
"""Arrays whose starts are looked at independently of each other: each has 8 at multiples of 128."""
_Brought: TypeAlias = tuple[list[tuple[Fill, ElementMap]], str, str, bool]
"""The fills that bring an operand, each with its map; how one breaks it; why something is not known; whether threads
may leave out some of the copies, or write zeros."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Where the elements of an operand come from: (r, k) from a first address, `row` * r and `column` * k.

    Attributes:
        row: The step of a row in global memory, in bytes, as text.
        column: The step of an element along K, in bytes, as text.
        first: For each fill that brings the operand, its first line and the address of element (0, 0).
        k: Where along K it starts, counted from the first operand of its basic block; None if that is not known.
        order: For each k, how many steps along K the element comes from, if that is not k.
    """

    row: str
    column: str
    first: tuple[tuple[int, str], ...]
    k: int | None = None
    order: tuple[int, ...] | None = None


def delivers(
    operands: Sequence[Factor], places: Sequence[Places | str], fills: Fills
) -> list[tuple[Claim, Elements | None]]:
    """The verdict on each operand of a function, and its elements if they are known.

    `places` has the words why it is not known where an operand lies.
    """
    return _Judge(operands, places, fills).judged()


class _Judge:
    """Judges the operands of one function together."""

    def __init__(self, kernel: Sequence[Factor], places: Sequence[Places | str], fills: Fills) -> None:
        self._kernel, self._places, self._fills = kernel, places, fills
        self._known = [None if isinstance(each, str) else each for each in places]
        self._names = {name: spell_leaf(leaf) + fills.owners.get(name, "") for name, leaf in fills.leaves.items()}
        self._brought_to: dict[tuple[object, ...], _Brought] = {}

    def judged(self) -> list[tuple[Claim, Elements | None]]:
        """The verdicts."""
        first = self._at({})
        frames = self._begins()
        needs = [REPEATS_BYTES] * len(first)
        alive = [status.holds for status in first]
        of_blocks = {block: self._weakest(block) for block in {each.block for each in self._kernel}}
        weakest = [of_blocks[each.block] for each in self._kernel]
        is_followed = len(frames) <= _MOST_FRAMES
        refuted = [
            bool(status.broken) and (is_followed or each is None or self._multiple(each) >= REPEATS_BYTES)
            for status, each in zip(first, weakest, strict=True)
        ]
        multiple, step = REPEATS_BYTES, min(frames.values(), default=REPEATS_BYTES)
        while multiple > step and is_followed and any(alive) | any(refuted):
            multiple //= 2
            for begins in _placed(frames, multiple):
                there = self._at(begins)
                # A shift of 512 bytes may bring other columns of K to B than to A, in each instruction alike.
                moved = {
                    one.kernel.access.site.index
                    for one, two in zip(first, there, strict=True)
                    if not _are_alike(one, two)
                }
                alive = [
                    is_alive and two.holds and two.kernel.access.site.index not in moved
                    for is_alive, two in zip(alive, there, strict=True)
                ]
                refuted = [one and bool(two.broken) for one, two in zip(refuted, there, strict=True)]
                for one, two in zip(first, there, strict=True):
                    one.has_gaps |= two.has_gaps
                    one.is_apart |= two.is_apart
            needs = [multiple if one else need for one, need in zip(alive, needs, strict=True)]
        return [
            (self._claim(operand, status, need, step, is_refuted=is_refuted), self._elements(status))
            for operand, status, need, is_refuted in zip(weakest, first, needs, refuted, strict=True)
        ]

    def _begins(self) -> dict[Frame, int]:
        """What the start of each array is a multiple of, for the arrays of which no multiple of 1024 is known."""
        # A tensor copy to another multiple faults: nothing is to be said of what it brings.
        least = BASE_ALIGN_BYTES if self._fills.swizzled else 1
        found: dict[Frame, int] = {}
        for each in (each for each in self._known if each is not None and self._multiple(each) < REPEATS_BYTES):
            multiple = max(least, self._multiple(each))
            found[each.frame] = min(found.get(each.frame, multiple), multiple)
        return found

    def _weakest(self, of_block: int) -> Places | None:
        """The operand of a basic block whose array has the least alignment: all of them are compared."""
        pairs = zip(self._kernel, self._known, strict=True)
        block = [each for own, each in pairs if own.block == of_block and each is not None]
        return min(block, key=self._multiple, default=None)

    def _multiple(self, operand: Places) -> int:
        """What the start of an operand's array is a multiple of, as far as a swizzle reads that."""
        return min(self._fills.swizzled.get(operand.frame, REPEATS_BYTES), operand.multiple)

    def _claim(self, operand: Places | None, status: Judged, needs: int, step: int, *, is_refuted: bool) -> Claim:
        """The verdict, where `operand` is the one of its block whose array has the least alignment.

        It holds where all arrays begin at multiples of `needs`; `step` is the least multiple that one of them has.
        """
        if operand is None or status.is_open:
            return not_known(status.is_open)
        own, name = self._multiple(operand), operand.array
        maps = [each for of_start in status.maps.values() for _, each in of_start]
        assumptions = (
            NO_WRAP,
            *([NO_GAPS] if status.has_gaps else []),
            *([APART] if status.is_apart else []),
            *([TOGETHER] if any(map(leaves_dimensions, maps)) else []),
            *([IN_STEP] if self._fills.has_others else []),
        )
        if status.broken:
            taken = INSIDE if INSIDE in self._fills.assumes else IN_STEP if self._fills.has_others else ""
            if taken:
                return not_known(f"{status.broken}, if {taken}")
            if is_refuted:
                return Claim(ClaimVerdict.REFUTED, status.broken, engines=_ENGINES, assumptions=assumptions)
            return not_known(f"{status.broken}, where {name} begins at a multiple of {REPEATS_BYTES}", REPEATS_BYTES)
        # Blocks are compared with each other: where one array moves, no array of another one stays.
        if needs <= min(own, step):
            return Claim(ClaimVerdict.PROVED, engines=_ENGINES, assumptions=assumptions)
        words = f"it holds if {name} starts at a multiple of {needs} bytes; it is aligned to {own}"
        return not_known(words, needs)

    def _elements(self, status: Judged) -> Elements | None:
        maps = [each for of_start in status.maps.values() for each in of_start]
        if status.is_open or status.broken or not maps:
            return None
        firsts: dict[int, str] = {}
        for fill, each in maps:
            firsts.setdefault(fill.lines[0], spelled(each.first, self._names))
        steps = maps[0][1]
        listed = tuple(sorted(firsts.items())[:_MOST_SOURCES])
        order = None if steps.order == tuple(range(len(steps.order))) else steps.order
        row, column = spelled(steps.row, self._names), spelled(steps.column, self._names)
        return Elements(row, column, listed, None if status.k is None else status.k[1], order)

    # ---- one operand

    def _at(self, begins: Mapping[Frame, int]) -> list[Judged]:
        """What is known of all operands, if arrays begin at a multiple of 1024 plus so many bytes; 0 if not given."""
        filled, found = self._fills.at(begins), list[Judged]()
        self._brought_to.clear()
        for kernel, places in zip(self._kernel, self._places, strict=True):
            judged = Judged(kernel, {} if isinstance(places, str) else places.points)
            if isinstance(places, str):
                judged.is_open = places
            else:
                self._alone(judged, places, filled, begins.get(places.frame, 0))
            found.append(judged)
        agree(found, self._names)
        _find_unread(found, filled)
        return found

    def _alone(self, judged: Judged, operand: Places, filled: Filled, begin: int) -> None:
        """Find what fills an operand, and whether each fill is affine."""
        starts = judged.starts
        if not starts or None in judged.points.values():
            judged.is_open = "its start address is not decided by the states of loops"
            return
        broken, access = list[str](), judged.kernel.access
        for start in starts:
            addresses, readers = operand.addresses(start, begin), operand.readers(start)
            key = operand.frame, operand.has_orders, readers, addresses.tobytes(), access.who.guard
            if key not in self._brought_to:
                self._brought_to[key] = self._brought(operand, filled, readers, addresses, access)
            maps, wrong, reason, has_gaps = self._brought_to[key]
            judged.maps[start] = maps
            judged.has_gaps |= has_gaps
            if not wrong and bool(maps) != reason.startswith((OTHER_ROWS, OTHER_COLUMNS)):
                judged.orders[start] = reason
            if wrong and not maps and not reason:
                broken.append(wrong)
            elif wrong or reason:
                judged.leave_open(reason or f"not for every copy: {wrong}")
        if not broken and not are_of_one_matrix(chain.from_iterable(judged.maps.values())):
            judged.leave_open("copies bring rows or columns of one matrix by different strides")
        if broken and len(broken) < len(starts):
            judged.leave_open(f"not for every start address: {broken[0]}")
        elif broken:
            judged.broken = broken[0]

    def _brought(
        self,
        operand: Places,
        filled: Filled,
        readers: Sequence[Reader],
        addresses: NDArray[np.int64],
        access: KernelAccess,
    ) -> _Brought:
        """What brings the elements of an operand that lie at some addresses; `access` is the instruction."""
        frame = operand.frame
        maps: list[tuple[Fill, ElementMap]] = []
        meant: dict[str, str] = {}
        wrong, has_gaps = "", False
        if int(addresses.min()) < 0 or int(addresses.max()) >= ADDRESS_LIMIT:
            return maps, wrong, "it reads beyond the memory that descriptors name", False
        words, inside = addresses // BANK_WORD_BYTES, (addresses % BANK_WORD_BYTES).astype(np.uint64)
        for each in _other_writers(filled, frame, readers, words):
            if not self._fills.may_leave_out(each, access):
                return maps, wrong, each.reason, False
            has_gaps = True
        is_written = np.zeros(words.shape, dtype=np.bool_)
        for fill, copies in filled.fills:
            before = [each.may_precede(*reader) for each in copies for reader in readers]
            if not may_overlap(fill.frame, frame) or not any(before):
                continue
            if fill.frame != frame:
                return maps, wrong, f"line {fill.lines[0]} counts from another start of the array", has_gaps
            rows = fill.rows[words]
            present = rows >= 0
            if not present.any():
                continue
            if not all(before):
                return (
                    maps,
                    wrong,
                    f"some of the copies of line {fill.lines[0]} and beside it stand behind the instruction",
                    has_gaps,
                )
            is_written |= present
            paths = fill.paths[rows[present]]
            has_gaps |= bool(((paths < 0) | (paths != paths[0])).any())
            if bool(fill.torn[words].any()):
                r, k = map(int, np.argwhere(fill.torn[words])[0])
                wrong = wrong or f"two copies of line {fill.lines[0]} and beside it write element ({r}, {k})"
                continue
            if bool(fill.clashing[words].any()):
                return maps, wrong, f"two copies of line {fill.lines[0]} and beside it write the same bytes", has_gaps
            numbers = {each: of[rows] for each, of in fill.numbers.items()}
            numbers[()] = numbers.get((), np.zeros(rows.shape, np.uint64)) + inside
            found = element_map(numbers, present, has_orders=operand.has_orders)
            if isinstance(found, Break) and found.may_be_meant:
                meant.setdefault(found.may_be_meant, self._of_break(found))
            elif isinstance(found, Break):
                wrong = wrong or self._of_break(found) + _of_modes(found, fill, operand)
            elif found is None or not present.all():
                some = f"{int(present.sum())} of its {present.size} elements"
                return maps, wrong, f"line {fill.lines[0]} and those beside it bring {some}", has_gaps
            else:
                maps.append((fill, found))
        if not is_written.any():
            return [], "", "no copy that is looked at writes its bytes", has_gaps
        if not is_written.all():
            r, k = map(int, np.argwhere(~is_written)[0])
            return [], f"element ({r}, {k}) is read at byte {int(addresses[r, k])}, where nothing writes", "", has_gaps
        reason = next((f"{order}{MEANT}{text}" for order, text in meant.items()), "")
        return maps, wrong, reason, has_gaps

    def _of_break(self, found: Break) -> str:
        (r, k), (row, column) = found.element, found.corner
        corner = f"({row}, {column}), ({row + 1}, {column}) and ({row}, {column + 1})"
        return (
            f"element ({r}, {k}) comes from {spelled(found.found, self._names)} in global memory; by elements "
            f"{corner} it should come from {spelled(found.expected, self._names)}"
        )


def _find_unread(operands: Sequence[Judged], filled: Filled) -> None:
    """Leave operands open from whose matrix copies fill a stage that no instruction reads.

    Nothing is known if some instructions are not followed, as these may read it.
    """
    if any(None in each.points.values() or not each.points for each in operands):
        return
    brought = [[one for of_start in each.maps.values() for one in of_start] for each in operands]
    read = {id(fill) for own in brought for fill, _ in own}
    unread = [fill for fill, _ in filled.fills if id(fill) not in read]
    for judged, own in zip(operands, brought, strict=True):
        pointers = frozenset[Product]().union(*(pointers_of(each.first, each) for _, each in own))
        for fill in unread if judged.holds else ():
            if not pointers.isdisjoint(fill.numbers):
                judged.leave_open(f"line {fill.lines[0]} copies from its matrix to a stage that no instruction reads")


def _placed(frames: Mapping[Frame, int], multiple: int) -> Iterator[dict[Frame, int]]:
    """Where arrays may begin behind multiples of 1024, at multiples of a number, but not all at those of its double.

    Arrays begin independently of each other, each at multiples of its own number.
    """
    places = [range(0, REPEATS_BYTES, max(multiple, own)) for own in frames.values()]
    for begins in product(*places):
        if any(begin % (2 * multiple) for begin in begins):
            yield dict(zip(frames, begins, strict=True))


def _of_modes(found: Break, fill: Fill, operand: Places) -> str:
    """That a tensor map has another swizzle mode than the descriptor, if it has."""
    modes = [mode for tensor, mode in fill.modes.items() if (tensor,) in found.found]
    if not modes or operand.mode is None or modes[0] is operand.mode:
        return ""
    return f"; the tensor map has the swizzle {modes[0]}, and the descriptor {operand.mode}"


def _other_writers(
    filled: Filled, frame: Frame, readers: Sequence[Reader], words: NDArray[np.int64]
) -> Iterator[Written]:
    """The instructions that are no known copies and may write some words of the operand."""
    read = np.unique(words)
    for each in filled.others:
        if not any(each.fill.may_precede(*reader) for reader in readers):
            continue
        is_near = each.frame is None or (each.frame != frame and may_overlap(each.frame, frame))
        if is_near or (each.frame == frame and np.isin(read, each.words).any()):
            yield each


def _are_alike(one: Judged, two: Judged) -> bool:
    """Whether the same copies bring the same elements to an operand, if its array begins in two ways."""

    def maps(of: Judged) -> list[object]:
        return [
            (start, fill.section, fill.states, fill.lines, each)
            for start, brought in of.maps.items()
            for fill, each in brought
        ]

    return maps(one) == maps(two)
