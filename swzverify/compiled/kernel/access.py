"""An access of a kernel to shared memory, as it is read: what its cost and its claims depend on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel.atomics import IN_PARTS, NOT_MERGED, Merging, row_of_parts
from swzverify.compiled.kernel.fragments import Piece
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.listing import Touch, Use
from swzverify.compiled.kernel.repeats import NO_AGAIN, Again
from swzverify.compiled.ptx import Immediate, Instruction, Location
from swzverify.errors import SwzError
from swzverify.hardware import Instruction as Row
from swzverify.hardware import find_instruction
from swzverify.ir.expr import TRUE, Expr, Var, conjunction, substitute

ANY_SPACE: Final = "the generic address may belong to another space"
_ORDER: Final = re.compile(
    r"(\w+(?:\.(?:weak|volatile|relaxed|acquire|release|acq_rel|mmio|cta|cluster|gpu|sys))*)((?:\..*)?)"
)
_MATRIX: Final = re.compile(r"((?:ld|st)matrix\..*)\.(b\w+)")


@dataclass(frozen=True, slots=True)
class LoopAround:
    """A loop that an access stands in.

    Attributes:
        line: The line of its header.
        is_uniform: Whether all lanes of a warp leave it at the same trip.
        trips: The leaf that counts its trips.
        again: Whether a trip is followed by another one.
        header: The block of its header.
    """

    line: int
    is_uniform: bool
    trips: Var | None = None
    again: Again = NO_AGAIN
    header: int = -1


@dataclass(frozen=True, slots=True)
class Extent:
    """What a bulk copy asks of its address in shared memory.

    Attributes:
        align_bytes: The address has to be a multiple of it.
        size_bytes: The bytes from the address on that are copied; None if that is not a known number.
    """

    align_bytes: int
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """Where an instruction stands.

    Attributes:
        line: The line of the PTX.
        location: The line of the source.
        opcode: The opcode, as the PTX writes it.
        text: The operands, as the PTX writes them.
        calls: The lines of the calls that lead to it, the outermost first.
        index: The place in the function with its calls put in place; -1 of a function that cannot
            be read, and of a machine instruction, which no trial makes.
        piece: The machine instruction that it is, if ptxas makes other ones of the PTX.
    """

    line: int
    location: Location | None = None
    opcode: str = ""
    text: str = ""
    calls: tuple[int, ...] = ()
    index: int = -1
    piece: Piece | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """What the hardware's table says of an instruction's cost.

    Attributes:
        row: The instruction in the table; None if it is not there.
        reason: Why the table does not have it.
        note: If there is one, the row says which lanes meet, and not what the access costs.
        merging: What ptxas may make of an atomic.
    """

    row: Row | None = None
    reason: str = ""
    note: str = ""
    merging: Merging = NOT_MERGED


@dataclass(frozen=True, slots=True, eq=False)
class Executions:
    """Which lanes execute an instruction, and when.

    Attributes:
        guard: One bit; where it is 0, the lane surely takes no part.
        sure: One bit; where it is 1, the lane makes the access, if loops come to an end. None where
            that is not known.
        loops: The loops around it, the outermost first.
        launches: One bit; it is 1 in the launches of a `defined` reading alone.
        is_together: Whether lanes that come to it in one trip of its loops come together.
        is_apart: Whether lanes may come to it one after the other though their ways have joined.
    """

    guard: Expr = TRUE
    sure: Expr | None = None
    loops: tuple[LoopAround, ...] = ()
    launches: Expr = TRUE
    is_together: bool = True
    is_apart: bool = False

    @property
    def in_launches(self) -> Executions:
        """Those in `launches` alone."""
        sure = None if self.sure is None else conjunction((self.sure, self.launches))
        return replace(self, guard=conjunction((self.guard, self.launches)), sure=sure)

    def with_values(self, values: dict[Var, Expr]) -> Executions:
        """The same with values in place of variables."""
        return replace(
            self,
            guard=substitute(self.guard, values),
            sure=None if self.sure is None else substitute(self.sure, values),
            loops=tuple(
                replace(loop, again=replace(loop.again, condition=substitute(loop.again.condition, values)))
                for loop in self.loops
            ),
            launches=substitute(self.launches, values),
        )


EVERYONE: Final = Executions()
"""Every lane may execute it, in no loop."""


@dataclass(frozen=True, slots=True)
class CopySource:
    """What `cp.async` reads.

    Attributes:
        address: The global address, of 64 bits.
        fills_parts: Whether a copy of 16 bytes may read some of them and write zeros for the others.
    """

    address: Expr
    fills_parts: bool


@dataclass(frozen=True, slots=True, eq=False)
class KernelAccess:
    """One instruction of a kernel that reaches shared memory, or may do so.

    Attributes:
        site: Where it stands.
        touch: How it reaches shared memory. If the address is a generic one and there is a `reason`, it
            may belong to another space, and `address` holds only where it does not.
        cost: What the hardware's table says of it.
        who: Which lanes execute it.
        address: The byte address in the shared window, of 32 bits; None where `reason` says why it
            is not known.
        whole: A generic address less the start of the window, with all its bits; `address` for
            other addresses.
        reason: Why the address is not known, or may belong to another space.
        source: What a copy reads; None for other instructions.
        extent: Of a bulk copy, what it asks of its address.
        leaves: The variables of the address, the source and the guard.
        around: The leaves of the loops and of `whole` that are not among `leaves`.
        assumes: What `defined` readings assume, in words.
        defined: The same access in launches whose divisions all have a result, if that changes what
            is read of it. Its guard may hold in other launches too.
        is_window_aligned: Whether its address assumes that the shared window of generic addresses is aligned.
    """

    site: Site
    touch: Touch = Touch.OTHER
    cost: TableRow = TableRow()
    who: Executions = EVERYONE
    address: Expr | None = None
    whole: Expr | None = None
    reason: str = ""
    source: CopySource | None = None
    extent: Extent | None = None
    leaves: tuple[Leaf, ...] = ()
    around: tuple[Leaf, ...] = ()
    assumes: tuple[str, ...] = ()
    defined: KernelAccess | None = None
    is_window_aligned: bool = False

    def with_values(self, values: dict[Var, Expr]) -> KernelAccess:
        """The same with values in place of variables."""
        source = self.source
        return replace(
            self,
            who=self.who.with_values(values),
            address=None if self.address is None else substitute(self.address, values),
            whole=None if self.whole is None else substitute(self.whole, values),
            source=None if source is None else replace(source, address=substitute(source.address, values)),
        )


def blank(instruction: Instruction, use: Use, reason: str = "", calls: tuple[int, ...] = ()) -> KernelAccess:
    """An access of which only the instruction is known yet, with its row of costs, and a reason if there is one."""
    is_named = use.touch in (Touch.SHARED, Touch.GENERIC)
    index = instruction.index if use.piece is None else -1
    return KernelAccess(
        Site(instruction.line, instruction.location, instruction.opcode, instruction.text, calls, index, use.piece),
        use.touch,
        _row(instruction, use) if is_named else TableRow(),
        reason=reason or ("" if is_named else use.reason),
        extent=None if use.bulk is None else Extent(use.bulk.align_bytes),
    )


def _row(instruction: Instruction, use: Use) -> TableRow:
    opcode = instruction.opcode
    if use.reason:
        return TableRow(reason=use.reason)
    if use.piece is not None:
        return TableRow(find_instruction(use.piece.fragment.instruction))
    if use.touch is Touch.GENERIC:
        if found := _MATRIX.fullmatch(opcode):
            opcode = f"{found[1]}.shared.{found[2]}"
        elif found := _ORDER.fullmatch(opcode):
            opcode = f"{found[1]}.shared{found[2]}"
    if (row := row_of_parts(opcode)) is not None:
        return TableRow(row, note=IN_PARTS)
    try:
        return TableRow(find_instruction(opcode + _size_of_copy(instruction)))
    except SwzError as error:
        # the hint says what to write in a spec, which has no place in the report of a scan
        return TableRow(reason=f"{error.code}: {error.message}")


def _size_of_copy(instruction: Instruction) -> str:
    """The bytes that a lane copies, as specs write them behind the opcode; PTX has them in any base."""
    if not instruction.opcode.startswith("cp.async.c") or len(instruction.operands) < 3:
        return ""
    size = instruction.operands[2]
    return f".{size.value}" if isinstance(size, Immediate) else ""
