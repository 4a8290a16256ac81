"""Calls of functions of the driver, which a module only declares.

`__assertfail` ends the kernel. `vprintf`, which `printf` makes, changes no memory that threads share; it reads
its format, its arguments, and the texts that they point to.

Source: CUDA Programming Guide, Assertion; Formatted Output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swzverify.compiled.kernel.parameters import names_in, variable_of
from swzverify.compiled.ptx import Function, Instruction, PtxError, Register, SymbolRef
from swzverify.compiled.ptx.operands import nested

ASSERTION_FAILS: Final = "__assertfail"
PRINTS: Final = "vprintf"


def callee_name(call: Instruction) -> str | None:
    """The function that a call names; None for an indirect call."""
    try:
        callee = call.call_parts().callee
    except PtxError:
        return None
    return callee.name if isinstance(callee, SymbolRef) else None


def is_unread(function: Function, call: Instruction) -> bool:
    """Whether what a call gives is loaded, if at all, into registers that no other instruction names."""
    results = {*map(variable_of, names_in(call.call_parts().results))}
    loaded: set[Register] = set()
    for each in function.instructions:
        is_named = each is not call and any(variable_of(name) in results for name in names_in(each.operands))
        if is_named and not each.opcode.startswith("ld.param"):
            return False
        loaded |= {*_registers(each)} if is_named else set()
    return sum(register in loaded for each in function.instructions for register in _registers(each)) == len(loaded)


def _registers(instruction: Instruction) -> Iterator[Register]:
    """All registers that an instruction names, each as often as it does."""
    named = (each for operand in instruction.operands for each in nested(operand))
    return (each for each in (*named, instruction.guard and instruction.guard.register) if isinstance(each, Register))
