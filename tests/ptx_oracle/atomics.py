"""atom and red: lanes one after the other, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .access import by_space, element_width, everyone, note
from .errors import UnsupportedError
from .fetch import KINDS, Array, Batch, Env, Step
from .floats import is_float, pack, unpack
from .model import Imm, Instr, Operand, Reg, Sink, Vec
from .moves import space_in
from .parse import address_of
from .spaces import GLOBAL_BASE, UINT, Flat
from .strong import strength
from .table import opcode

Change = Callable[..., int]
INTEGERS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, value: old + value,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda _old, value: value,
    "min": min,
    "max": max,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
}
FLOAT_OPS: dict[str, Callable[[Array, Array], Array]] = {"add": np.add, "min": np.fmin, "max": np.fmax}


def counts_only(instr: Instr, env: Env, operation: str) -> bool:
    """Whether it adds a literal 1 and nobody reads the result.

    The chip merges such additions of a warp to one word. ptxas makes ATOMS.POPC.INC of these; of
    signed additions and of generic addresses it does not (13.0, sm_90).
    """
    head = instr.operands[0]
    unused = instr.op == "red" or isinstance(head, Sink) or (isinstance(head, Reg) and head.slot not in env.read)
    plain = operation == "add" and instr.type == "u32" and space_in(instr.mods) == "shared"
    return plain and unused and _is_one(instr.operands[-1], env)


def _is_one(operand: Operand, env: Env) -> bool:
    """Whether an operand is 1: a literal, or a register that only ever gets the literal 1."""
    if isinstance(operand, Imm):
        return operand.value == 1 and not operand.bits
    if not isinstance(operand, Reg):
        return False
    writes = [i for i in env.function.instrs if i.operands and i.operands[0] == operand and i.op != "st"]
    return (
        len(writes) == 1
        and writes[0].op == "mov"
        and isinstance(writes[0].operands[1], Imm)
        and (writes[0].operands[1].value == 1)
    )


@opcode("atom", "red")
def compile_atomic(instr: Instr, env: Env) -> Step:
    """Compile atom and red, on shared, global and generic addresses."""
    operation = next((mod for mod in instr.mods if mod in INTEGERS or mod == "cas"), "")
    kind, width = instr.type, element_width(instr)
    if not operation or any(isinstance(operand, Vec) for operand in instr.operands):
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    if "async" in instr.mods:
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    space = space_in(instr.mods)
    where = env.address(address_of(instr), instr.line)
    first = 1 if instr.op == "red" else 2
    operands = instr.operands[first:][: 1 + (operation == "cas")]
    sources = [env.src(operand, f"b{8 * width}", instr.line) for operand in operands]
    put = env.dst(instr.operands[0], instr.line) if instr.op == "atom" else None
    name = f"{instr.op}.inc" if counts_only(instr, env, operation) else instr.op
    record = env.record(instr, name, width, generic=space == "") if space in ("shared", "") else None
    if record is not None:
        record.sem = strength(instr.mods, atomic=True)
    change = _change(operation, kind, width)

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        note(record, batch, space, mask, address)
        lanes = np.flatnonzero(mask)
        values = [everyone(batch, source(batch))[lanes] for source in sources]
        old = np.zeros(mask.shape, UINT[width])
        for part, which, inside in by_space(space, address[lanes]):
            chosen = values if which is None else [value[which] for value in values]
            who = lanes if which is None else lanes[which]
            at = batch.block.places(who, inside) if part == "shared" else inside
            memory, index = _memory(batch, part, at)
            old[who] = _each(memory, index, chosen, change, width)
            if part == "shared" and record is not None and batch.block.clocks is not None:
                for lane, start in zip(who.tolist(), at.tolist(), strict=True):
                    fails = operation == "cas" and int(old[lane]) != int(everyone(batch, sources[0](batch))[lane])
                    batch.block.clocks.atomic(record, lane, start, writes=not fails)
        if put is not None:
            put(batch, old, mask)

    return step


def _memory(batch: Batch, space: str, address: Array) -> tuple[Flat, Array]:
    """The memory and the byte index of shared or global addresses."""
    if space == "shared":
        return batch.block.shared, address
    if space == "global":
        return batch.block.arena, address - np.uint64(GLOBAL_BASE)
    raise UnsupportedError(f"an atomic on {space} memory")


def _each(memory: Flat, index: Array, values: list[Array], change: Change, width: int) -> Array:
    """Do the operation lane by lane; give what was there before."""
    old = np.zeros(len(index), UINT[width])
    numbers, places = memory.elements(index, width)
    operands = [value.tolist() for value in values]
    for lane, place in enumerate(places):
        if place >= 0:
            before = int(numbers[place])
            old[lane] = before
            numbers[place] = change(before, *(operand[lane] for operand in operands))
    return old


def _change(operation: str, kind: str, width: int) -> Change:
    """What an operation makes of the old bits and the operands' bits."""
    limit = (1 << 8 * width) - 1
    if operation == "cas":
        return lambda old, expected, value: value if old == expected else old
    if is_float(kind) and operation in FLOAT_OPS:
        return _float_change(FLOAT_OPS[operation], kind, width)
    function = INTEGERS[operation]
    if kind[0] != "s":
        return lambda old, value: function(old, value) & limit
    half = (limit + 1) // 2
    return lambda old, value: function(old - 2 * half * (old >= half), value - 2 * half * (value >= half)) & limit


def _float_change(number: Callable[[Array, Array], Array], kind: str, width: int) -> Change:
    """The same for floats."""

    def change(old: int, value: int) -> int:
        bits = [np.array([part], UINT[width]).view(KINDS[kind]) for part in (old, value)]
        result = pack(number(unpack(bits[0], kind), unpack(bits[1], kind)), kind)
        return int(np.ascontiguousarray(result).view(UINT[width])[0])

    return change
