"""Calls of functions of the driver, which a module only declares.

`__assertfail` ends the kernel. `vprintf`, which `printf` makes, changes no memory that threads share; it reads
its format, its arguments, and the texts that they point to.

Source: CUDA Programming Guide, Assertion; Formatted Output.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.parameters import Variable, names_in, variable_of
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
    naming, count = _named(function)
    others = dict.fromkeys(each for result in results for each in naming.get(result, ()) if each is not call)
    if not all(each.opcode.startswith("ld.param") for each in others):
        return False
    loaded = {register for each in others for register in _registers(each)}
    return sum(count[register] for register in loaded) == len(loaded)


@lru_cache(maxsize=4)
def _named(function: Function) -> tuple[Mapping[Variable, Sequence[Instruction]], Mapping[Register, int]]:
    """The instructions that name each variable, and how often all of them name each register."""
    naming: defaultdict[Variable, list[Instruction]] = defaultdict(list)
    count: Counter[Register] = Counter()
    for each in function.instructions:
        for name in names_in(each.operands):
            naming[variable_of(name)].append(each)
        count.update(_registers(each))
    return naming, count


def _registers(instruction: Instruction) -> Iterator[Register]:
    """All registers that an instruction names, each as often as it does."""
    named = (each for operand in instruction.operands for each in nested(operand))
    return (each for each in (*named, instruction.guard and instruction.guard.register) if isinstance(each, Register))
