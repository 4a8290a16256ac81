"""Balance of a pipeline's stages: the bytes that a barrier object expects, that copies bring, and that operands read.

Source: docs/semantics.md, section 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelAccess, KernelTransfer, LaneLeaf
from swzverify.compiled.kernel.reachable import TooManyError, cases
from swzverify.compiled.ptx import Location
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.operand_fields import Start, start_of
from swzverify.compiled.scan.operand_subject import OperandSubject, ValueSubject
from swzverify.engines.obligations import Answer
from swzverify.hardware.tensor_cores import Major
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import Const, Expr, Var, const, extract, substitute, variables
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, LINE_BYTES, REPEATS_BYTES, Descriptor

_MOST_POINTS: Final = 512
_MOST_CASES: Final = 500
_ENGINES: Final = ("reachable states", "exhaustion")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedStage:
    """An instruction that announces bytes to a barrier object, with the verdict on their balance.

    Attributes:
        kernel: The name of the kernel or function.
        line: The line of the PTX.
        location: The location in the source.
        opcode: The opcode in the PTX.
        expects: The bytes that it announces; None if that is not a known number.
        copies: The lines of the copies that run with it and name its barrier object.
        brings: The bytes that these copies bring; None if that is not known.
        reads: The bytes of their destinations that operands can read; None if that is not known.
        claim: The verdict.
    """

    kernel: str
    line: int
    location: Location | None
    opcode: str
    expects: int | None = None
    copies: tuple[int, ...] = ()
    brings: int | None = None
    reads: int | None = None
    claim: Claim


@dataclass(frozen=True, slots=True)
class OperandRead:
    """An operand whose bytes are known.

    Attributes:
        subject: The operand.
        start: Its start address.
        descriptor: Its fields.
        major: Along which dimension elements lie side by side.
    """

    subject: OperandSubject
    start: Start
    descriptor: Descriptor
    major: Major

    def chunks(self, at: int) -> NDArray[np.int64]:
        """The numbers of the chunks of 16 bytes that it reads with an offset, of an array at a multiple of 1024."""
        row = self.subject.operand.row
        rows, columns = np.arange(row.rows(self.subject.operand.role))[:, None], np.arange(row.k)[None, :]
        linear = self.descriptor.linear(rows, columns, row.element_bytes, self.major)
        return np.unique(self.descriptor.swizzled(at + linear) // CHUNK_BYTES)


def scan_stages(
    kernel: str,
    transfers: Sequence[KernelTransfer],
    operands: Sequence[OperandRead | None],
    subject_of: Callable[[KernelAccess], ValueSubject],
) -> list[ScannedStage]:
    """The announcements of a kernel with their verdicts; an operand that is not known is None."""
    stages = [_Stage(each, subject_of) for each in transfers if not each.is_copy]
    copies = [each for each in transfers if each.is_copy]
    lonely = [each for each in copies if sum(stage.takes(each) for stage in stages) != 1]
    destinations = _Destinations(copies, subject_of)
    barriers = {each: _places(each.barrier, subject_of) for each in transfers}
    found = [each.judged(kernel, destinations, operands) for each in stages]
    told: list[ScannedStage] = []
    for each, stage in zip(found, stages, strict=True):
        more = [copy for copy in lonely if _may_meet(barriers[copy], barriers[stage.transfer])]
        told.append(_with_others(each, found, stage, more))
    return told


def _places(
    access: KernelAccess, subject_of: Callable[[KernelAccess], ValueSubject]
) -> tuple[tuple[str, int], set[int]] | None:
    """All offsets that an address can be, and what they count from; None if that is not known."""
    subject = subject_of(access)
    value = subject.access.address
    start = "it is not read" if value is None else start_of(subject, extract(value, 0, 32))
    if isinstance(start, str):
        return None
    ranges = {leaf.variable: leaf.values for leaf in subject.leaves_of(start.offset) if leaf.values is not None}
    found = _numbers((start.offset,), ranges)
    return None if isinstance(found, str) else (_frame(start), {number for (number,) in found})


def _may_meet(first: tuple[tuple[str, int], set[int]] | None, second: tuple[tuple[str, int], set[int]] | None) -> bool:
    """Whether two barrier objects, of 8 bytes each, may be one. Two arrays have no byte in common."""
    if first is None or second is None:
        return True
    (base, _), (other, _) = first[0], second[0]
    return base == other and (first[0] != second[0] or not first[1].isdisjoint(second[1]))


def _with_others(
    found: ScannedStage, others: Iterable[ScannedStage], stage: _Stage, lonely: Sequence[KernelTransfer]
) -> ScannedStage:
    """A stage with the verdict that other announcements and copies leave it.

    A copy elsewhere that may name its barrier object leaves nothing known. Where copies bring other bytes than
    it announces, another announcement could make up for it, if it is out of balance to the other side.
    """
    is_off = None not in (found.expects, found.brings) and found.brings != found.expects
    words = f"copies bring {found.brings} bytes, and the barrier object expects {found.expects}"
    if lonely and (is_off or found.claim.verdict is ClaimVerdict.PROVED):
        where = f"line {lonely[0].barrier.site.line} brings bytes to a barrier object that may be the same"
        return replace(found, claim=not_known(f"{words}; {where}" if is_off else where))
    if found.expects is None or found.brings is None or not is_off:
        return found
    sides = {
        None if each.expects is None or each.brings is None else int(np.sign(each.brings - each.expects))
        for each in others
    }
    if not sides <= {0, int(np.sign(found.brings - found.expects))}:
        return replace(found, claim=not_known(f"{words}; another announcement may make up for it"))
    if stage.subject.here.made is not Answer.HOLDS:
        return replace(found, claim=not_known(f"{words}; whether it is executed is not known"))
    return replace(found, claim=Claim(ClaimVerdict.REFUTED, words, engines=_ENGINES))


class _Stage:
    """An announcement, and the copies that run with it."""

    def __init__(self, transfer: KernelTransfer, subject_of: Callable[[KernelAccess], ValueSubject]) -> None:
        self.transfer = transfer
        self.subject = subject_of(transfer.barrier)
        self._expects = None if transfer.size is None else _number(transfer.size)

    def takes(self, copy: KernelTransfer) -> bool:
        """Whether every thread that announces starts this copy too, on the same barrier object."""
        own, other = self.transfer.barrier, copy.barrier
        is_beside = copy.is_known and copy.block == self.transfer.block and own.who.guard is other.who.guard
        return is_beside and own.address is not None and own.address is other.address

    def judged(self, kernel: str, destinations: _Destinations, operands: Sequence[OperandRead | None]) -> ScannedStage:
        """The stage with its numbers; it is proved if some are known, and none differ."""
        copies = [each for each in destinations.copies if self.takes(each)]
        access, expects = self.transfer.barrier, self._expects
        sizes = [None if each.size is None else _number(each.size) for each in copies]
        known = [each for each in sizes if each is not None]
        brings = sum(known) if copies and len(known) == len(sizes) else None
        reads: int | str = "no copy beside it names its barrier object"
        if copies:
            reads = destinations.read_by(operands, copies)
        number = reads if isinstance(reads, int) else None
        if expects is None:
            claim = not_known("the bytes that it announces are not a known number")
        elif number is not None and number != expects:
            claim = not_known(f"operands can read {number} of the {expects} bytes that the barrier object expects")
        elif expects in (number, brings):
            claim = Claim(ClaimVerdict.PROVED, engines=_ENGINES)
        else:
            claim = not_known(str(reads))
        return ScannedStage(
            kernel=kernel,
            line=access.site.line,
            location=access.site.location,
            opcode=access.site.opcode,
            expects=expects,
            copies=tuple(each.barrier.site.line for each in copies),
            brings=brings,
            reads=number,
            claim=claim,
        )


class _Destinations:
    """Where the copies of a kernel write, and which of these bytes operands can read.

    A byte belongs to the destination that is the last one at or before it, among all that copies can have.
    """

    def __init__(self, copies: Sequence[KernelTransfer], subject_of: Callable[[KernelAccess], ValueSubject]) -> None:
        self.copies = copies
        self._starts: dict[KernelTransfer, Start] = {}
        self._ends: dict[tuple[str, int], list[int]] = {}
        """For each array, where destinations begin in it, and the end of memory."""
        self._ranges: dict[Var, Sequence[int]] = {}
        self._chunks: dict[tuple[str, int], NDArray[np.bool_]] | str | None = None
        self._reason = ""
        self._aligned: set[tuple[str, int]] = set()
        """Arrays that begin at a multiple of 128, as tensor copies into them need it."""
        for each in copies:
            self._reason = self._reason or self._read(each, subject_of)
        if not self._reason:
            self._reason = self._all()

    def _read(self, copy: KernelTransfer, subject_of: Callable[[KernelAccess], ValueSubject]) -> str:
        """Why the destination of a copy is not known; empty if it is."""
        where = f"the destination of line {copy.barrier.site.line}"
        if copy.destination is None:
            return f"line {copy.barrier.site.line} brings bytes in a way that is not looked at"
        subject = subject_of(copy.destination)
        value = subject.access.address
        start = "it is not read" if value is None else start_of(subject, extract(value, 0, 32))
        if isinstance(start, str):
            return f"{where} is not known: {start}"
        for leaf in subject.leaves_of(start.offset):
            if isinstance(leaf, LaneLeaf):
                return f"{where} depends on {leaf.name}"
            if leaf.values is not None:
                self._ranges[leaf.variable] = leaf.values
        self._starts[copy] = start
        if copy.size is None:
            self._aligned.add(_frame(start))
        return ""

    def _all(self) -> str:
        """Why the destinations do not part the memory; empty if they do."""
        ends: dict[tuple[str, int], set[int]] = {}
        for each in self.copies:
            found = self._together([each])
            if isinstance(found, str):
                return found
            ends.setdefault(_frame(self._starts[each]), {ADDRESS_LIMIT}).update(number for (number,) in found)
        if any(each % LINE_BYTES for of in ends.values() for each in of):
            return f"a destination is no multiple of {LINE_BYTES}"
        self._ends = {frame: sorted(of) for frame, of in ends.items()}
        return ""

    def _together(self, copies: Sequence[KernelTransfer]) -> set[tuple[int, ...]] | str:
        """The offsets that some destinations can have at the same time."""
        offsets = tuple(self._starts[each].offset for each in copies)
        return _numbers(offsets, self._ranges)

    def read_by(self, operands: Sequence[OperandRead | None], copies: Sequence[KernelTransfer]) -> int | str:
        """How many bytes of the destinations of some copies operands can read; in words why that is not known."""
        if self._reason:
            return self._reason
        if self._chunks is None:
            self._chunks = self._read_chunks(operands)
        if isinstance(self._chunks, str):
            return self._chunks
        together = self._together(copies)
        if isinstance(together, str):
            return together
        frames = [_frame(self._starts[each]) for each in copies]
        found: set[int] = set()
        for starts in together:
            count = 0
            for frame, start in set(zip(frames, starts, strict=True)):
                ends = self._ends[frame]
                part = slice(start // CHUNK_BYTES, ends[ends.index(start) + 1] // CHUNK_BYTES)
                count += int(self._chunks[frame][part].sum()) * CHUNK_BYTES
            found.add(count)
        return found.pop() if len(found) == 1 else f"operands can read {_some(found)} bytes of different stages"

    def _read_chunks(self, operands: Sequence[OperandRead | None]) -> dict[tuple[str, int], NDArray[np.bool_]] | str:
        """Which chunks of 16 bytes operands can read, for each array that copies write.

        An array may begin at any multiple of 128. The swizzle then exchanges other chunks, but as many of
        each line are read if all operands have one mode and one base offset.
        """
        chunks = {frame: np.zeros(ADDRESS_LIMIT // CHUNK_BYTES, dtype=np.bool_) for frame in self._ends}
        modes: dict[tuple[str, int], set[tuple[int, int]]] = {}
        for each in operands:
            if each is None or each.start.offsets is None:
                return "the bytes of an operand are not known"
            frame = _frame(each.start)
            if frame not in chunks:
                continue
            if each.descriptor.line_mask and each.start.multiple % LINE_BYTES and frame not in self._aligned:
                return f"the array of an operand begins at a multiple of {each.start.multiple}"
            modes.setdefault(frame, set()).add((each.descriptor.line_mask, each.descriptor.base_offset))
            if len(modes[frame]) > 1 and each.start.multiple % REPEATS_BYTES:
                return f"operands have several swizzles in an array that begins at a multiple of {each.start.multiple}"
            for at in {number for of in each.start.offsets.values() for number in of}:
                read = each.chunks(at)
                if at < 0 or int(read.max()) >= len(chunks[frame]):
                    return "an operand may read beyond the memory that descriptors name"
                chunks[frame][read] = True
        return chunks


def _frame(start: Start) -> tuple[str, int]:
    """What the offsets of a start address count from."""
    return ("" if start.base is None else start.base.name), start.rounded


def _numbers(values: tuple[Expr, ...], ranges: Mapping[Var, Sequence[int]]) -> set[tuple[int, ...]] | str:
    """What some values can be together; in words why that is not known."""
    points = {each: ranges[each] for each in variables(*values) if each in ranges}
    if prod(map(len, points.values())) > _MOST_POINTS:
        return "destinations have many values"
    found: set[tuple[int, ...]] = set()
    for point in product(*points.values()):
        at: dict[Var, Expr] = {each: const(number, each.width) for each, number in zip(points, point, strict=True)}
        try:
            found.update(cases(tuple(substitute(each, at) for each in values), _MOST_CASES))
        except TooManyError:
            return "a destination is no known number"
    return found


def _number(access: KernelAccess) -> int | None:
    """The value of an operand, if it is a number."""
    value = None if access.address is None else bounded(access.address)
    return value.value if isinstance(value, Const) else None


def _some(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, sorted(numbers)[:3]))
