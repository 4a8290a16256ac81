"""How a function reaches `.param` variables, through which calls pass arguments and results.

Source: PTX ISA, Parameter State Space: Device Function Parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Address, Function, Instruction, Operand, Register, SymbolRef, Vector, size_of_type
from swzverify.compiled.ptx.operands import nested

PARAMETER: Final = re.compile(r"(ld|st)\.param(?:::\w+)?(?:\.v[248])?\.([bsuf]\d+)")
"""A load or a store of a parameter: which, and the type."""

Variable = tuple[str, int]
"""A `.param` variable by its name and scope."""
Piece = tuple[int, int]
"""Offset and size in bytes."""


@dataclass(slots=True)
class Uses:
    """How a function reaches its `.param` variables.

    `pieces` has the pieces of each variable. `written` are those that it writes, and `escaped` those that
    it reaches in other ways.
    """

    pieces: dict[Variable, set[Piece]] = field(default_factory=dict[Variable, set[Piece]])
    written: set[Variable] = field(default_factory=set[Variable])
    escaped: set[Variable] = field(default_factory=set[Variable])


def uses_of(function: Function) -> Uses:
    """How a function reaches its variables."""
    own = {each.name for each in (*function.parameters, *function.results)}
    found = Uses()
    for instruction in function.instructions:
        kind = PARAMETER.fullmatch(instruction.opcode)
        if base_name(instruction) == "call":
            # How the callee reaches a parameter that is passed on is not known here.
            found.escaped |= {each for each in map(variable_of, names_in(instruction.operands)) if each[0] in own}
            continue
        place = place_of(instruction) if kind else None
        items = moved(instruction) if kind else ()
        for name in names_in(instruction.operands):
            variable = variable_of(name)
            if place is None or kind is None or not _fit(items, kind[2]):
                found.escaped.add(variable)
                continue
            size = size_of_type(kind[2]) or 0
            pieces = {(place.offset + at * size, size) for at in range(len(items))}
            found.pieces.setdefault(variable, set()).update(pieces)
            if kind[1] == "st":
                found.written.add(variable)
    return found


def place_of(instruction: Instruction) -> SymbolRef | None:
    """The variable and offset that an `ld.param` or `st.param` reaches."""
    for each in instruction.operands:
        if isinstance(each, Address) and isinstance(each.base, SymbolRef):
            return replace(each.base, offset=each.base.offset + each.offset)
    return None


def moved(instruction: Instruction) -> tuple[Operand, ...]:
    """What an `ld.param` writes or an `st.param` stores, item by item."""
    for each in instruction.operands:
        if not isinstance(each, Address):
            return each.items if isinstance(each, Vector) else (each,)
    return ()


def _fit(items: tuple[Operand, ...], kind: str) -> bool:
    """Whether registers among the items are as wide as the type, or wider."""
    bits = 8 * (size_of_type(kind) or 0)
    wide = [8 * (size_of_type(each.type) or 0) for each in items if isinstance(each, Register)]
    return bits > 0 and bool(items) and all(width >= bits for width in wide)


def names_in(operands: tuple[Operand, ...]) -> Iterator[SymbolRef]:
    """All variables that some operands name."""
    return (each for operand in operands for each in nested(operand) if isinstance(each, SymbolRef))


def variable_of(name: SymbolRef) -> Variable:
    """The variable that a name means."""
    return name.name, name.scope


def are_apart(pieces: set[Piece]) -> bool:
    """Whether no two pieces overlap."""
    ordered = sorted(pieces)
    return all(first[0] + first[1] <= second[0] for first, second in pairwise(ordered))
