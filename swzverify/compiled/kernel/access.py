"""An access of a kernel to shared memory, as it is read: what its cost and its claims depend on."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from swzverify.ir.expr import TRUE, Expr, Var

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


@dataclass(frozen=True, slots=True, eq=False)
class KernelAccess:
    """One instruction of a kernel that reaches shared memory, or may do so.

    Attributes:
        line: The line of the PTX.
        location: The line of the source.
        opcode: The opcode, as the PTX writes it.
        text: The operands, as the PTX writes them.
        row: The instruction in the hardware's table; None if it is not there.
        address: The byte address in the shared window, of 32 bits; None where `reason` says why it
            is not known.
        guard: One bit; where it is 0, the lane surely takes no part.
        leaves: The variables of the address and the guard.
        loops: The loops around it, the outermost first.
        touch: How it reaches shared memory. If the address is a generic one and there is a `reason`, it
            may belong to another space, and `address` holds only where it does not.
        reason: Why the address is not known, or may belong to another space.
        no_row: Why the table does not have the instruction.
        calls: The lines of the calls that lead to it, the outermost first.
        note: If there is one, the row says which lanes meet, and not what the access costs.
        merging: What ptxas may make of an atomic.
        source: The global address that a copy reads, of 64 bits; None for other instructions.
        fills_parts: Whether a copy of 16 bytes may read some of them and write zeros for the others.
        whole: A generic address less the start of the window, with all its bits; `address` for
            other addresses.
        sure: One bit; where it is 1, the lane makes the access, if loops come to an end. None where
            that is not known.
        around: The leaves of `loops` and `whole` that are not among `leaves`.
        index: The place in the function with its calls put in place; -1 of a function that cannot
            be read, and of a machine instruction, which no trial makes.
        assumes: What `defined` readings assume, in words.
        defined: The same access in launches whose divisions all have a result, if that changes what
            is read of it. Its guard may hold in other launches too.
        launches: One bit; it is 1 in the launches of a `defined` reading alone.
        is_together: Whether lanes that come to it in one trip of its loops come together.
        piece: The machine instruction that it is, if ptxas makes other ones of the PTX.
        extent: Of a bulk copy, what it asks of its address.
        is_window_aligned: Whether its address assumes that the shared window of generic addresses is aligned.
    """

    line: int
    location: Location | None
    opcode: str
    text: str
    row: Row | None
    address: Expr | None
    guard: Expr
    leaves: tuple[Leaf, ...] = ()
    loops: tuple[LoopAround, ...] = ()
    touch: Touch = Touch.OTHER
    reason: str = ""
    no_row: str = ""
    calls: tuple[int, ...] = ()
    note: str = ""
    merging: Merging = NOT_MERGED
    source: Expr | None = None
    fills_parts: bool = False
    whole: Expr | None = None
    sure: Expr | None = None
    around: tuple[Leaf, ...] = ()
    index: int = -1
    assumes: tuple[str, ...] = ()
    defined: KernelAccess | None = None
    launches: Expr = TRUE
    is_together: bool = True
    piece: Piece | None = None
    extent: Extent | None = None
    is_window_aligned: bool = False


def blank(instruction: Instruction, use: Use) -> KernelAccess:
    """An access of which only the instruction is known yet, with its row of costs."""
    is_named = use.touch in (Touch.SHARED, Touch.GENERIC)
    if is_named and use.reason:
        row, no_row, note = None, use.reason, ""
    else:
        row, no_row, note = _row(instruction, use) if is_named else (None, "", "")
    return KernelAccess(
        instruction.line,
        instruction.location,
        instruction.opcode,
        instruction.text,
        row,
        None,
        TRUE,
        touch=use.touch,
        reason="" if is_named else use.reason,
        no_row=no_row,
        note=note,
        index=instruction.index if use.piece is None else -1,
        piece=use.piece,
        extent=None if use.bulk is None else Extent(use.bulk.align_bytes),
    )


def _row(instruction: Instruction, use: Use) -> tuple[Row | None, str, str]:
    opcode = instruction.opcode
    if use.piece is not None:
        return find_instruction(use.piece.fragment.instruction), "", ""
    if use.touch is Touch.GENERIC:
        if found := _MATRIX.fullmatch(opcode):
            opcode = f"{found[1]}.shared.{found[2]}"
        elif found := _ORDER.fullmatch(opcode):
            opcode = f"{found[1]}.shared{found[2]}"
    if (row := row_of_parts(opcode)) is not None:
        return row, "", IN_PARTS
    try:
        return find_instruction(opcode + _size_of_copy(instruction)), "", ""
    except SwzError as error:
        # the hint says what to write in a spec, which has no place in the report of a scan
        return None, f"{error.code}: {error.message}", ""


def _size_of_copy(instruction: Instruction) -> str:
    """The bytes that a lane copies, as specs write them behind the opcode; PTX has them in any base."""
    if not instruction.opcode.startswith("cp.async.c") or len(instruction.operands) < 3:
        return ""
    size = instruction.operands[2]
    return f".{size.value}" if isinstance(size, Immediate) else ""
