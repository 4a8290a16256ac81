"""Launches and parameters that nobody gave.

Pointers get buffers of small whole numbers, which do as indices too, and numbers get small values,
so that loops end. What still does not end runs out of its steps, and is told as partial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .buffers import Argument, Buffer, Field, Record, shape3
from .fetch import registers_in
from .layout import leaves
from .model import WIDTHS, Addr, Function, Imm, Instr, Operand, Reg, Special, Sym, Symbol

BUFFER_BYTES = 1 << 20
FILL = "mod:64"
"""Contents of buffers: whole numbers below 64, which do as indices, and are tiny as floats."""
WHOLE = 32
REAL = 1.0
WHOLES = (64, 32, 33, 100, 4, 1)
"""The values of whole numbers in turn; the first one serves where something else is tried."""
FILLS = ("iota", "f32", "zero")
DYNAMIC_BYTES = 96 << 10
"""Dynamic shared memory of kernels that declare some."""
BLOCKS = {
    "x": ((256, 1, 1), (128, 1, 1), (32, 1, 1), (80, 1, 1)),
    "y": ((32, 8, 1), (16, 16, 1), (8, 4, 1)),
    "z": ((8, 8, 4), (32, 2, 2), (4, 4, 4)),
}
"""Shapes of blocks to try, by the last part of %tid that the kernel reads."""
CARRIES_POINTERS = frozenset({"mov", "add", "sub", "cvta", "mad", "selp"})


@dataclass(frozen=True)
class Plan:
    """One launch to try."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    smem: int
    whole: int
    fill: str = FILL
    seed: int = 1


def plans(functions: Sequence[Function], block: Sequence[int] | None = None, smem: int | None = None) -> list[Plan]:
    """Choose launches of a kernel: `functions` are the kernel and those that it may call.

    The second plan differs from the first one in the contents of buffers alone. A `block` or `smem`
    that is given is not varied, nor is a block that the kernel declares.
    """
    reads, dynamic = uses_of(functions)
    declared = functions[0].directives.get("reqntid") or functions[0].directives.get("maxntid")
    if block is not None:
        shapes = [shape3(block)]
    elif declared:
        shapes = [shape3(declared)]
    else:
        shapes = list(BLOCKS["z" if "%tid.z" in reads else "y" if "%tid.y" in reads else "x"])
    grid = shape3([2, 2 if "%ctaid.y" in reads else 1, 2 if "%ctaid.z" in reads else 1])
    size = smem if smem is not None else DYNAMIC_BYTES if dynamic else 0
    first, whole = shapes[0], WHOLES[0]
    found = [Plan(f"n={whole}", grid, first, size, whole), Plan("other data", grid, first, size, whole, seed=2)]
    found += [Plan(f"n={other}", grid, first, size, other) for other in WHOLES[1:]]
    found += [Plan(fill, grid, first, size, whole, fill) for fill in FILLS]
    return found + [Plan("block " + "x".join(map(str, shape)), grid, shape, size, whole) for shape in shapes[1:]]


def uses_of(functions: Sequence[Function]) -> tuple[set[str], bool]:
    """The special registers that functions read, and whether they use dynamic shared memory."""
    reads: set[str] = set()
    dynamic = False
    for function in functions:
        for instr in function.instrs:
            for operand in leaves(instr.operands):
                if isinstance(operand, Special):
                    reads.add(operand.name)
                elif isinstance(operand, Sym):
                    symbol = operand.scope.find("symbols", operand.name)
                    dynamic |= isinstance(symbol, Symbol) and symbol.extern and symbol.space == "shared"
    return reads, dynamic


def automatic(function: Function, whole: int = WHOLE, fill: str = FILL) -> dict[int, Argument]:
    """Give a value to each parameter, by what the kernel loads from it.

    Whole numbers get the value `whole`, and buffers the contents `fill`.
    """
    pointers = pointer_slots(function)
    buffer = Buffer(BUFFER_BYTES, fill)
    found: dict[int, Argument] = {}
    for place, parameter in enumerate(function.params):
        if not isinstance(parameter, Symbol):
            continue
        fields = [_field(load, parameter, pointers, whole, buffer) for load in loads_of(function, parameter)]
        if parameter.type == "b8" and parameter.size > 1:
            found[place] = Record(tuple({part.offset: part for part in fields}.values()))
        elif fields:
            found[place] = fields[0].value
        else:
            found[place] = buffer if parameter.size == 8 else whole
    return found


def loads_of(function: Function, parameter: Symbol) -> list[tuple[int, str, int]]:
    """What is loaded from a parameter: (offset, type, register), of vectors each part."""
    found, known = [], addresses_in(function)
    for instr in function.instrs:
        where = next((operand for operand in instr.operands if isinstance(operand, Addr)), None)
        if instr.op != "ld" or where is None:
            continue
        start = place_in(where.base, known)
        if start is not None and start[0] == parameter.name:
            width = WIDTHS[instr.type] // 8
            for at, register in enumerate(registers_in(instr.operands[:1])):
                found.append((where.offset + start[1] + at * width, instr.type, register.slot))
    return found


Place = tuple[str, int]
"""A parameter, and an offset in it."""


def place_in(operand: Operand, known: dict[int, Place]) -> Place | None:
    """The place that an operand is the address of."""
    if isinstance(operand, Sym):
        return operand.name, operand.offset
    return known.get(operand.slot) if isinstance(operand, Reg) else None


def addresses_in(function: Function) -> dict[int, Place]:
    """Registers with the address of a place in a parameter, by mov, cvta and sums with numbers."""
    names = {parameter.name for parameter in function.params}
    known: dict[int, Place] = {}
    before = -1
    while before != len(known):
        before = len(known)
        for instr in function.instrs:
            head = instr.operands[0] if instr.operands else None
            if instr.op not in ("mov", "cvta", "add") or not isinstance(head, Reg) or len(instr.operands) < 2:
                continue
            start, step = place_in(instr.operands[1], known), instr.operands[2:]
            if start is not None and start[0] in names and (not step or isinstance(step[0], Imm)):
                shift = int(step[0].value) if step and isinstance(step[0], Imm) else 0
                known[head.slot] = (start[0], start[1] + shift)
    return known


def _field(
    load: tuple[int, str, int], parameter: Symbol, pointers: set[int] | None, whole: int, buffer: Buffer
) -> Field:
    """A value for one load: a buffer for a pointer, else a number."""
    at, kind, slot = load
    if WIDTHS[kind] == 64 and kind[0] != "f" and (parameter.pointer or pointers is None or slot in pointers):
        return Field(at, "u64", buffer)
    return Field(at, kind if kind[0] == "f" else f"u{WIDTHS[kind]}", REAL if kind[0] == "f" else whole)


def pointer_slots(function: Function) -> set[int] | None:
    """Registers from which an address of memory is made; None if the kernel has none.

    Backwards from cvta and from addresses in brackets, through moves and sums: of a sum only the
    first operand, as compilers put the pointer there.
    """
    wanted: set[int] = set()
    for instr in function.instrs:
        if instr.op == "cvta":
            wanted.update(register.slot for register in registers_in(instr.operands[1:2]))
        elif instr.op in ("ld", "st", "atom", "red", "cp"):
            places = [operand.base for operand in instr.operands if isinstance(operand, Addr)]
            wanted.update(register.slot for register in registers_in(places) if WIDTHS[register.type] == 64)
    before = -1
    while before != len(wanted):
        before = len(wanted)
        for instr in function.instrs:
            wanted |= _sources(instr, wanted)
    return wanted or None


def _sources(instr: Instr, wanted: set[int]) -> set[int]:
    """Registers that a wanted pointer may come from through one instruction."""
    if instr.op not in CARRIES_POINTERS or not instr.operands:
        return set()
    head = instr.operands[0]
    if not isinstance(head, Reg) or head.slot not in wanted:
        return set()
    if instr.op == "mad":
        return {register.slot for register in registers_in(instr.operands[3:4])}
    if instr.op == "selp":
        return {register.slot for register in registers_in(instr.operands[1:3])}
    return {register.slot for register in registers_in(instr.operands[1:2])}
