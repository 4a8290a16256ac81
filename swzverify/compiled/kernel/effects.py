"""Which registers an instruction writes.

For an opcode that is not known here, every register outside of addresses counts as written: so no
later value is wrong, whatever the opcode does.

Source: PTX ISA, Instruction Set: the first operand is the destination.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import (
    Group,
    Instruction,
    Minus,
    Negated,
    Operand,
    Pair,
    Part,
    Plus,
    Register,
    Vector,
    size_of_type,
)
from swzverify.compiled.ptx.operands import nested
from swzverify.hardware import Kind

DETERMINED: Final = frozenset(
    {"add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max", "dp4a", "dp2a"}
    | {"popc", "clz", "bfind", "fns", "brev", "bfe", "bfi", "szext", "bmsk"}
    | {"fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "testp", "copysign"}
    | {"set", "setp", "selp", "slct", "and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr"}
    | {"mov", "prmt", "cvt", "cvta", "isspacep", "mapa", "getctarank"}
)
"""Opcodes whose results depend on nothing but their operands."""
_FIRST: Final = DETERMINED | frozenset(
    {kind.value for kind in Kind if kind.moves_matrices and kind.loads}
    | {"addc", "subc", "madc", "ld", "ldu", "atom", "mbarrier", "createpolicy", "istypep"}
    | {"shfl", "vote", "match", "redux", "activemask", "elect", "mma", "wmma", "wgmma", "movmatrix"}
    | {"tex", "tld4", "txq", "suld", "suq"}
)
"""Opcodes that write their first operand, and nothing else of their operands."""
_OF_TENSOR_MEMORY: Final = re.compile(
    r"tcgen05\.(?:mma|cp|st|shift|commit|wait|fence|alloc|dealloc|relinquish_alloc_permit)\b.*"
)
"""Instructions that write memory alone. Source: PTX ISA 8.7, 9.7.16: TensorCore 5th Generation Family Instructions."""
_NOTHING: Final = frozenset(
    {kind.value for kind in Kind if kind.moves_matrices and kind.stores}
    | {"st", "red", "cp", "prefetch", "prefetchu", "discard", "applypriority", "sust", "sured"}
    | {"bar", "barrier", "membar", "fence", "nanosleep", "pmevent", "brkpt", "setmaxnreg", "griddepcontrol"}
    | {"bra", "brx", "ret", "exit", "trap"}
)


def written(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction writes, in order; a `PtxError` if they cannot be read.

    A register in more than one place has the value of the last one.
    """
    name, operands = base_name(instruction), instruction.operands
    if name == "call":
        return instruction.call_parts().results
    if not operands or (name in _NOTHING and ".red." not in instruction.opcode):
        return ()
    if _OF_TENSOR_MEMORY.fullmatch(instruction.opcode):
        return ()
    if name in _FIRST or name in ("bar", "barrier"):
        return tuple(_split(operands[0]))
    return tuple(each for operand in operands for each in _split(operand))


def registers_of(operand: Operand) -> Register | None:
    """The register that a written operand changes; None if the operand is no register."""
    if isinstance(operand, Part | Plus):
        return operand.register
    if isinstance(operand, Negated | Minus):
        return registers_of(operand.operand)
    return operand if isinstance(operand, Register) else None


def registers_in(operand: Operand) -> Iterator[Register]:
    """All registers that an operand names."""
    return (each for each in nested(operand) if isinstance(each, Register))


def _split(operand: Operand) -> Iterator[Operand]:
    if isinstance(operand, Vector | Group):
        for item in operand.items:
            yield from _split(item)
    elif isinstance(operand, Pair):
        yield from _split(operand.first)
        yield from _split(operand.second)
    else:
        yield operand


def width_of(register: Register) -> int:
    """The bits of a register."""
    size = size_of_type(register.type)
    return 1 if register.type == "pred" else 8 * (size or 8)
