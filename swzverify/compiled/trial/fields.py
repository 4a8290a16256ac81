"""What a kernel loads from its parameters, and which of these values are pointers.

A parameter of 64 bits is a pointer if an address is made of it by moves and sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel.effects import registers_in
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.parameters import PARAMETER, moved, place_of
from swzverify.compiled.ptx import (
    Address,
    Function,
    Immediate,
    Instruction,
    Operand,
    Parameter,
    Register,
    SymbolRef,
    size_of_type,
)

_CARRY: Final = frozenset({"mov", "add", "sub", "cvta", "mad", "selp"})
_SPACES: Final = frozenset({"shared", "param", "local", "const"})


FLOATS: Final = {2: "<e", 4: "<f", 8: "<d"}
"""How `struct` packs floats of so many bytes."""


@dataclass(frozen=True, slots=True)
class Field:
    """What a kernel loads from a parameter: an offset and a size in bytes."""

    offset: int
    size: int
    is_pointer: bool
    is_real: bool

    def label(self, parameter: Parameter, others: Sequence[Field]) -> str:
        """The name of the parameter, with the offset if the parameter has other fields too."""
        return parameter.name + (f"+{self.offset}" if len(others) > 1 else "")


def fields(function: Function) -> dict[str, list[Field]]:
    """What the kernel loads from each parameter, without pieces that overlap others."""
    addresses, begins = _addresses(function), _begins(function)
    found: dict[str, dict[int, Field]] = {each.name: {} for each in function.parameters}
    for instruction in function.instructions:
        kind, place = PARAMETER.fullmatch(instruction.opcode), place_of(instruction) or _place(instruction, begins)
        if kind is None or place is None or place.name not in found or kind[1] != "ld":
            continue
        size = size_of_type(kind[2]) or 0
        for at, item in enumerate(moved(instruction)):
            begin = place.offset + at * size
            pointer = size == 8 and item in addresses
            before = found[place.name].get(begin)
            if before is None or before.size < size or pointer:
                found[place.name][begin] = Field(begin, size, pointer, kind[2][0] == "f" and size in FLOATS)
    return {each.name: _apart(each, found[each.name]) for each in function.parameters}


def compared_in(function: Function) -> tuple[int, ...]:
    """The words that the kernel compares something with, as they are and one more."""
    found = {
        each.value + more
        for instruction in function.instructions
        if base_name(instruction) in ("setp", "set")
        for each in instruction.operands
        if isinstance(each, Immediate)
        for more in (0, 1)
    }
    return tuple(sorted({each & 0xFFFFFFFF for each in found}))


def _begins(function: Function) -> dict[Operand, SymbolRef]:
    """Registers that have a place in a variable, by a `mov` and sums with numbers; each is written once."""
    counts = Counter(each for instruction in function.instructions for each in instruction.operands[:1])
    found: dict[Operand, SymbolRef] = {}
    for each in function.instructions:
        if len(each.operands) < 2 or counts[each.operands[0]] != 1:
            continue
        target, source, *more = each.operands
        begin = source if isinstance(source, SymbolRef) else found.get(source)
        if begin is not None and base_name(each) == "mov":
            found[target] = begin
        elif begin is not None and base_name(each) == "add" and isinstance(more[0], Immediate):
            found[target] = replace(begin, offset=begin.offset + more[0].value)
    return found


def _place(instruction: Instruction, begins: Mapping[Operand, SymbolRef]) -> SymbolRef | None:
    """The variable and offset that an instruction reaches through such a register."""
    for each in instruction.operands:
        if isinstance(each, Address) and isinstance(each.base, Register) and each.base in begins:
            begin = begins[each.base]
            return replace(begin, offset=begin.offset + each.offset)
    return None


def _apart(parameter: Parameter, fields: Mapping[int, Field]) -> list[Field]:
    kept: list[Field] = []
    end = 0
    for begin in sorted(fields):
        each = fields[begin]
        if begin >= end and begin + each.size <= (parameter.size_bytes or 0):
            kept.append(each)
            end = begin + each.size
    return kept


def _addresses(function: Function) -> set[Operand]:
    """The registers from which addresses of memory are made."""
    wanted: set[Operand] = set()
    for each in function.instructions:
        if base_name(each) == "cvta":
            wanted.update(register for operand in each.operands[1:] for register in registers_in(operand))
        elif not _SPACES & {word.partition("::")[0] for word in each.opcode.split(".")}:
            wanted.update(base for base in _bases(each) if size_of_type(base.type) == 8)
        elif each.opcode.startswith("cp.async"):
            wanted.update(_bases(each))
    count = -1
    while count != len(wanted):
        count = len(wanted)
        for each in function.instructions:
            wanted |= _sources(each, wanted)
    return wanted


def _bases(instruction: Instruction) -> Iterator[Register]:
    for operand in instruction.operands:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            yield operand.base


def _sources(instruction: Instruction, wanted: set[Operand]) -> set[Operand]:
    """The registers from which a wanted one may come.

    For a sum this is the first operand, which compilers use for the pointer.
    """
    operands = instruction.operands
    if base_name(instruction) not in _CARRY or not operands or operands[0] not in wanted:
        return set()
    places = {"mad": slice(3, 4), "selp": slice(1, 3)}.get(base_name(instruction), slice(1, 2))
    return {each for each in operands[places] if isinstance(each, Register)}
