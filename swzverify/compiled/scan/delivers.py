"""The claim that operands of the tensor core hold what they should, without a spec: see docs/semantics.md, section 9.

Copies bring elements from global to shared memory, and the tensor core reads them there. Both are joined: each
operand holds an affine part of a matrix, and A and B of each instruction come from the same columns of K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelAccess, KernelFill, KernelOperand
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.fill_copies import frame_of
from swzverify.compiled.scan.filled import NO_GAPS, Fill, Filled, may_overlap
from swzverify.compiled.scan.fills import Fills
from swzverify.compiled.scan.operand_agreement import Judged, Key, agree
from swzverify.compiled.scan.operand_maps import Break, ElementMap, element_map, leaves_dimensions, spelled
from swzverify.compiled.scan.operand_offsets import first_threads
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.compiled.scan.products import NO_WRAP
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.stages import OperandRead
from swzverify.compiled.scan.verdict import NO_BLOCK
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.ir.expr import Const, Expr, Var, const, substitute, to_signed
from swzverify.layout.tma import BASE_ALIGN_BYTES
from swzverify.subjects.descriptor import ADDRESS_LIMIT, REPEATS_BYTES

_ENGINES: Final = ("sums of products", "exhaustion")
TOGETHER: Final = "one coordinate along a dimension of a tensor beside rows and columns means one thing for A and B"
"""What counting along such dimensions assumes of the strides of two tensor maps."""
_MOST_POINTS: Final = 512
_MOST_SOURCES: Final = 4


@dataclass(frozen=True, slots=True)
class Elements:
    """Where the elements of an operand come from: (r, k) from a first address, `row` * r and `column` * k.

    Attributes:
        row: The step of a row in global memory, in bytes, as text.
        column: The step of an element along K, in bytes, as text.
        first: For each fill that brings the operand, its first line and the address of element (0, 0).
        k: Where along K it starts, counted from the first operand of its basic block; None if that is not known.
    """

    row: str
    column: str
    first: tuple[tuple[int, str], ...]
    k: int | None = None


def delivers(
    operands: Sequence[KernelOperand],
    read: Sequence[OperandRead | None],
    fills: Sequence[KernelFill],
    subject_of: Callable[[KernelAccess], ValueSubject],
    shape: BlockShape | None,
) -> list[tuple[Claim, Elements | None]]:
    """The verdict on each operand of a function, and its elements if they are known.

    Of an operand with an unknown field, `read` is None.
    """
    if shape is None:
        return [(not_known(NO_BLOCK), None) for _ in operands]
    return _Judge(operands, read, Fills(fills, subject_of, Threads(shape)), shape).judged()


class _Judge:
    """Judges the operands of one function together."""

    def __init__(
        self,
        kernel: Sequence[KernelOperand],
        operands: Sequence[OperandRead | None],
        fills: Fills,
        shape: BlockShape,
    ) -> None:
        self._kernel, self._operands, self._fills = kernel, operands, fills
        self._names = {name: spell_leaf(leaf) for name, leaf in fills.leaves.items()}
        self._points = [{} if each is None else dict(_points(each, shape)) for each in operands]

    def judged(self) -> list[tuple[Claim, Elements | None]]:
        """The verdicts."""
        first = self._at(0)
        known = [each for each in self._operands if each is not None]
        # A tensor copy to another multiple faults: nothing is to be said of what it brings.
        least = BASE_ALIGN_BYTES if self._fills.swizzled else 1
        step = max(least, min(map(self._multiple, known), default=REPEATS_BYTES))
        frames = {frame_of(each.start) for each in known if self._multiple(each) < REPEATS_BYTES}
        needs = [REPEATS_BYTES] * len(first)
        alive = [status.holds for status in first]
        weakest = [self._weakest(each) for each in self._kernel]
        is_followed = len(frames) <= 1
        refuted = [
            bool(status.broken) and (is_followed or each is None or self._multiple(each) >= REPEATS_BYTES)
            for status, each in zip(first, weakest, strict=True)
        ]
        multiple = REPEATS_BYTES
        while multiple > step and is_followed and any(alive) | any(refuted):
            multiple //= 2
            for begin in range(multiple, REPEATS_BYTES, 2 * multiple):
                there = self._at(begin)
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
            needs = [multiple if one else need for one, need in zip(alive, needs, strict=True)]
        return [
            (self._claim(operand, status, need, is_refuted=is_refuted), self._elements(status))
            for operand, status, need, is_refuted in zip(weakest, first, needs, refuted, strict=True)
        ]

    def _weakest(self, kernel: KernelOperand) -> OperandRead | None:
        """The operand of a basic block whose array has the least alignment: all of them are compared."""
        pairs = zip(self._kernel, self._operands, strict=True)
        block = [each for own, each in pairs if own.block == kernel.block and each is not None]
        return min(block, key=self._multiple, default=None)

    def _multiple(self, operand: OperandRead) -> int:
        """What the start of an operand's array is a multiple of, as far as a swizzle reads that."""
        filled = self._fills.swizzled.get(frame_of(operand.start), REPEATS_BYTES)
        return min(filled, operand.start.multiple if operand.descriptor.line_mask else REPEATS_BYTES)

    def _claim(self, operand: OperandRead | None, status: Judged, needs: int, *, is_refuted: bool) -> Claim:
        """The verdict, where `operand` is the one of its block whose array has the least alignment."""
        if operand is None or status.is_open:
            return not_known(status.is_open)
        own = self._multiple(operand)
        name = "its array" if operand.start.base is None else spell_leaf(operand.start.base)
        maps = [each for of_start in status.maps.values() for _, each in of_start]
        assumptions = (
            NO_WRAP,
            *([NO_GAPS] if status.has_gaps else []),
            *([TOGETHER] if any(map(leaves_dimensions, maps)) else []),
        )
        if status.broken:
            if is_refuted:
                return Claim(ClaimVerdict.REFUTED, status.broken, engines=_ENGINES, assumptions=assumptions)
            return not_known(f"{status.broken}, where {name} begins at a multiple of {REPEATS_BYTES}", REPEATS_BYTES)
        if needs <= own:
            return Claim(ClaimVerdict.PROVED, engines=_ENGINES, assumptions=assumptions)
        words = f"it holds where {name} begins at a multiple of {needs}; PTX says a multiple of {own}"
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
        return Elements(spelled(steps.row, self._names), spelled(steps.column, self._names), listed, status.k)

    # ---- one operand

    def _at(self, begin: int) -> list[Judged]:
        """What is known of all operands, if arrays begin at a multiple of 1024 plus so many bytes.

        Those of which a multiple of 1024 is known begin there.
        """
        found = [
            Judged(kernel, read, points, "a field of the descriptor is not known" if read is None else "")
            for kernel, read, points in zip(self._kernel, self._operands, self._points, strict=True)
        ]
        begins = {
            frame_of(each.start): begin
            for each in self._operands
            if each is not None and self._multiple(each) < REPEATS_BYTES
        }
        filled = self._fills.at(begins)
        for each in found:
            if each.read is not None:
                self._alone(each, each.read, filled, begins.get(frame_of(each.read.start), 0))
        agree(found, self._names)
        return found

    def _alone(self, judged: Judged, operand: OperandRead, filled: Filled, begin: int) -> None:
        """Find what fills an operand, and whether each fill is affine."""
        starts = sorted({start for start in judged.points.values() if start is not None})
        if not starts or None in judged.points.values():
            judged.is_open = "its start address is not decided by the states of loops"
            return
        words = {start: _addresses(operand, start, begin) for start in starts}
        judged.is_open = _other_writer(operand, filled, words.values())
        if judged.is_open:
            return
        broken: list[str] = []
        for start, addresses in words.items():
            maps, wrong, reason = self._brought(judged, operand, filled, addresses)
            judged.maps[start] = maps
            if wrong and not maps and not reason:
                broken.append(wrong)
            elif wrong or reason:
                judged.leave_open(reason or f"not for every copy: {wrong}")
        if broken and len(broken) < len(words):
            judged.leave_open(f"not for every start address: {broken[0]}")
        elif broken:
            judged.broken = broken[0]

    def _brought(
        self, judged: Judged, operand: OperandRead, filled: Filled, addresses: NDArray[np.int64]
    ) -> tuple[list[tuple[Fill, ElementMap]], str, str]:
        """The fills that bring an operand, each with its map; how one breaks it; and why something is not known."""
        kernel, frame = operand.subject.operand, frame_of(operand.start)
        maps: list[tuple[Fill, ElementMap]] = []
        wrong = ""
        if int(addresses.min()) < 0 or int(addresses.max()) >= ADDRESS_LIMIT:
            return maps, wrong, "it reads beyond the memory that descriptors name"
        words, inside = addresses // BANK_WORD_BYTES, (addresses % BANK_WORD_BYTES).astype(np.uint64)
        is_written = np.zeros(words.shape, dtype=np.bool_)
        for fill, copies in filled.fills:
            before = [each.may_precede(kernel.block, kernel.access.site.index) for each in copies]
            if not may_overlap(fill.frame, frame) or not any(before):
                continue
            if fill.frame != frame:
                return maps, wrong, f"line {fill.lines[0]} counts from another start of the array"
            rows = fill.rows[words]
            present = rows >= 0
            if not present.any():
                continue
            if not all(before):
                return (
                    maps,
                    wrong,
                    f"some of the copies of line {fill.lines[0]} and beside it stand behind the instruction",
                )
            is_written |= present
            paths = fill.paths[rows[present]]
            judged.has_gaps |= bool(((paths < 0) | (paths != paths[0])).any())
            if bool(fill.torn[words].any()):
                r, k = map(int, np.argwhere(fill.torn[words])[0])
                wrong = wrong or f"two copies of line {fill.lines[0]} and beside it write element ({r}, {k})"
                continue
            if bool(fill.clashing[words].any()):
                return maps, wrong, f"two copies of line {fill.lines[0]} and beside it write the same bytes"
            numbers = {each: of[rows] for each, of in fill.numbers.items()}
            numbers[()] = numbers.get((), np.zeros(rows.shape, np.uint64)) + inside
            found = element_map(numbers, present)
            if isinstance(found, Break) and found.is_of_rows:
                return maps, wrong, f"its rows come in another order, which may be meant: {self._of_break(found)}"
            if isinstance(found, Break):
                wrong = wrong or self._of_break(found) + _of_modes(found, fill, operand)
            elif found is None or not present.all():
                some = f"{int(present.sum())} of its {present.size} elements"
                return maps, wrong, f"line {fill.lines[0]} and those beside it bring {some}"
            else:
                maps.append((fill, found))
        if not is_written.any():
            return [], "", "no copy that is looked at writes its bytes"
        if not is_written.all():
            r, k = map(int, np.argwhere(~is_written)[0])
            return [], f"element ({r}, {k}) is read at byte {int(addresses[r, k])}, where nothing writes", ""
        return maps, wrong, ""

    def _of_break(self, found: Break) -> str:
        (r, k), (row, column) = found.element, found.corner
        corner = f"({row}, {column}), ({row + 1}, {column}) and ({row}, {column + 1})"
        return (
            f"element ({r}, {k}) comes from {spelled(found.found, self._names)} in global memory; by elements "
            f"{corner} it should come from {spelled(found.expected, self._names)}"
        )


def _of_modes(found: Break, fill: Fill, operand: OperandRead) -> str:
    """That a tensor map has another swizzle mode than the descriptor, if it has."""
    modes = [mode for tensor, mode in fill.modes.items() if (tensor,) in found.found]
    if not modes or modes[0] is operand.descriptor.swizzle:
        return ""
    return f"; the tensor map has the swizzle {modes[0]}, and the descriptor {operand.descriptor.swizzle}"


def _other_writer(operand: OperandRead, filled: Filled, words: Iterable[NDArray[np.int64]]) -> str:
    """Which instruction that is no known copy may write a byte of the operand; empty if none does."""
    kernel, frame = operand.subject.operand, frame_of(operand.start)
    read = np.unique(np.concatenate([each.reshape(-1) for each in words])) // BANK_WORD_BYTES
    for each in filled.others:
        if not each.fill.may_precede(kernel.block, kernel.access.site.index):
            continue
        is_near = each.frame is None or (each.frame != frame and may_overlap(each.frame, frame))
        if is_near or (each.frame == frame and np.isin(read, each.words).any()):
            return each.reason
    return ""


def _are_alike(one: Judged, two: Judged) -> bool:
    """Whether the same copies bring the same elements to an operand, if its array begins in two ways."""

    def maps(of: Judged) -> list[object]:
        return [
            (start, fill.section, fill.state, fill.lines, each)
            for start, brought in of.maps.items()
            for fill, each in brought
        ]

    return maps(one) == maps(two)


def _addresses(operand: OperandRead, start: int, begin: int) -> NDArray[np.int64]:
    """The byte of each element, counted from where the array begins: `begin` bytes behind a multiple of 1024."""
    row = operand.subject.operand.instruction
    rows, columns = np.arange(row.rows(operand.subject.operand.role))[:, None], np.arange(row.k)[None, :]
    linear = operand.descriptor.linear(rows, columns, row.element_bytes, operand.major)
    return operand.descriptor.swizzled(begin + start + linear) - begin


def _points(operand: OperandRead, shape: BlockShape) -> Iterator[tuple[Key, int | None]]:
    """The start address for each warp group and each state; None if these do not decide it."""
    subject, offset = operand.subject, operand.start.offset
    decide = [(leaf.variable, leaf.values) for leaf in subject.leaves_of(offset) if leaf.values is not None]
    if prod(len(values) for _, values in decide) > _MOST_POINTS:
        yield (0, frozenset()), None
        return
    for group, lanes in first_threads(subject, shape).items():
        for numbers in product(*(values for _, values in decide)):
            state = {variable: number for (variable, _), number in zip(decide, numbers, strict=True)}
            at: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
            value = substitute(offset, lanes | at)
            number = to_signed(value.value, value.width) if isinstance(value, Const) else None
            yield (group, frozenset(state.items())), number
