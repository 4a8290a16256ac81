"""Atomics, in the order of the lanes' numbers, which is one that PTX allows.

Lanes with words of their own run at once; of those with one word the first one does, then the second.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: atom, red.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.lanes import Lanes, signed
from swzverify.compiled.trial.memory import Array, Mask, Memory

Unsigned: TypeAlias = NDArray[np.uint64]
_OPERATION: Final = re.compile(
    r"(?:atom|red)(?:\.(?!async)\w+(?:::\w+)?)*?\.(add|min|max|and|or|xor|exch|cas|inc|dec)(?:\.noftz)?\.([busf])(16|32|64)"
)


def can_run(instruction: Instruction) -> bool:
    """Whether `apply` knows the instruction."""
    found = _OPERATION.fullmatch(instruction.opcode)
    if found is None:
        return False
    values = 2 if found[1] == "cas" else 1
    return len(instruction.operands) == values + (1 if base_name(instruction) == "red" else 2)


def apply(instruction: Instruction, lanes: Lanes, memory: Memory, places: Array, active: Mask) -> None:
    """Run an atomic of the active lanes on words at `places`, which are generic addresses.

    Raises:
        FaultError: A word is not aligned, or outside of what the launch has.
    """
    found = _OPERATION.fullmatch(instruction.opcode)
    if found is None:
        raise AssertionError(instruction.opcode)
    operation, kind, width = found[1], found[2], int(found[3])
    target, values = None, instruction.operands[1:]
    if base_name(instruction) == "atom":
        target, values = instruction.operands[0], instruction.operands[2:]
    given = [lanes.read(each, width) for each in values]
    takes_old = operation != "exch"
    result = np.zeros(lanes.threads, dtype=np.int64)
    of_result = np.zeros(lanes.threads, dtype=np.bool_)
    here = np.flatnonzero(active)
    memory.reach(places[here], lanes.numbers[here], width // 8)
    for now in _turns(here, places[here], lanes.block_of[here]):
        before, known = memory.load(places[now], lanes.numbers[now], width // 8)
        result[now], of_result[now] = before, known
        told = np.logical_and.reduce([of_value[now] for _, of_value in given]) & (known | (not takes_old))
        numbers = [_bits(value[now], width) for value, _ in given]
        new = _new(operation, kind, width, _bits(before, width), numbers).view(np.int64)
        told &= kind != "f"
        memory.store(places[now], lanes.numbers[now], width // 8, np.where(told, new, 0), told)
    if target is not None:
        lanes.write(target, result, of_result, active)


def _turns(threads: Array, places: Array, blocks: Array) -> list[Array]:
    """The threads that run at once: the first ones of each word, the second ones, and so on."""
    order = np.lexsort((threads, places, blocks))
    is_other = (np.diff(places[order]) != 0) | (np.diff(blocks[order]) != 0)
    first = np.concatenate(([True], is_other))
    at = np.arange(len(order))
    turn = at - np.maximum.accumulate(np.where(first, at, 0))
    return [threads[order[turn == each]] for each in range(int(turn.max()) + 1)]


def _bits(values: Array, width: int) -> Unsigned:
    return values.view(np.uint64) & np.uint64((1 << width) - 1)


def _new(operation: str, kind: str, width: int, old: Unsigned, values: list[Unsigned]) -> Unsigned:
    """What an operation leaves behind, as unsigned bits."""
    value, one = values[0], np.uint64(1)
    match operation:
        case "add":
            return (old + value) & np.uint64((1 << width) - 1)
        case "and":
            return old & value
        case "or":
            return old | value
        case "xor":
            return old ^ value
        case "exch":
            return value
        case "cas":
            return np.where(old == value, values[1], old)
        case "inc":
            return np.where(old >= value, np.uint64(0), old + one)
        case "dec":
            return np.where((old == 0) | (old > value), value, old - one)
        case _:
            is_less = signed(old.view(np.int64), width) < signed(value.view(np.int64), width)
            is_less = is_less if kind == "s" else old < value
            return np.where(is_less == (operation == "min"), old, value)
