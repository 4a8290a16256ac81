"""Copies by `cp.async`: how many bytes of its source a lane reads."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.compiled.kernel.effects import width_of
from swzverify.compiled.kernel.powers import power_of
from swzverify.compiled.ptx import Instruction, Operand, Register
from swzverify.hardware import CHUNK_BYTES
from swzverify.ir.expr import Const, Expr, Extend, Ite
from swzverify.ir.intervals import intervals


def size_of_source(instruction: Instruction) -> tuple[Operand, ...]:
    """The operand with the number of bytes to read.

    Nothing if all bytes are read, or if a predicate says that none is.

    Source: PTX ISA 8.7, cp.async: `cp-size{, src-size}{, cache-policy}` and `cp-size{,
    ignore-src}{, cache-policy}`.
    """
    found = limit_of_source(instruction)
    return tuple(each for each in found if not (isinstance(each, Register) and width_of(each) == 1))


def limit_of_source(instruction: Instruction) -> tuple[Operand, ...]:
    """The operand with the number of bytes to read, or the predicate that says that none is; nothing if all are."""
    more = instruction.operands[3:]
    return more[:-1] if ".L2::cache_hint" in instruction.opcode else more


def may_fill_parts(sizes: Sequence[Expr]) -> bool:
    """Whether a lane that copies 16 bytes may read some of them only.

    Where a size is 16 or 0 whatever happens, ptxas makes a copy under a predicate.

    >>> from swzverify.ir.expr import const, ite, var
    >>> from swzverify.compiled.kernel.arithmetic import bit_and
    >>> may_fill_parts([ite(var("p", 2), const(16, 32), const(0, 32))]), may_fill_parts([var("n", 1 << 32)])
    (False, True)
    >>> may_fill_parts([bit_and(var("n", 1 << 32), const(16, 32))])
    False
    """
    pending = [*sizes]
    while pending:
        node = pending.pop()
        match node:
            case Const(value) if value in (0, CHUNK_BYTES):
                pass
            case Ite(_, then, otherwise):
                pending += [then, otherwise]
            case Extend(operand):
                pending.append(operand)
            case _ if power_of(node, CHUNK_BYTES) == CHUNK_BYTES and intervals(node)[node][1] <= CHUNK_BYTES:
                pass  # such as `n & 16`
            case _:
                return True
    return False
