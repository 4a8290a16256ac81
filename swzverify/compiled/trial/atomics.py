"""Atomics, lane by lane in the order of their numbers, which is one that PTX allows.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: atom, red.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, Mask, Memory
from swzverify.ir.expr import to_signed

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
    """Run an atomic of the active lanes on words at `places`, which are generic addresses."""
    found = _OPERATION.fullmatch(instruction.opcode)
    if found is None:
        raise AssertionError(instruction.opcode)
    operation, kind, width = found[1], found[2], int(found[3])
    target, values = None, instruction.operands[1:]
    if base_name(instruction) == "atom":
        target, values = instruction.operands[0], instruction.operands[2:]
    given = [lanes.read(each, width) for each in values]
    result = np.zeros(lanes.threads, dtype=np.int64)
    of_result = np.zeros(lanes.threads, dtype=np.bool_)
    for thread in np.flatnonzero(active).tolist():
        here, of_thread = places[thread : thread + 1], np.array([thread])
        before, known = memory.load(here, of_thread, width // 8)
        old, was = int(before[0]) & ((1 << width) - 1), bool(known[0])
        result[thread], of_result[thread] = before[0], was
        takes = operation != "exch"
        told = all(bool(each[1][thread]) for each in given) and (was or not takes) and kind != "f"
        numbers = [int(each[0][thread]) & ((1 << width) - 1) for each in given]
        new = _new(operation, kind, width, old, numbers) if told else 0
        word = np.array([new], dtype=np.uint64).view(np.int64)
        memory.store(here, of_thread, width // 8, word, np.array([told]))
    if target is not None:
        lanes.write(target, result, of_result, active)


def _new(operation: str, kind: str, width: int, old: int, values: list[int]) -> int:
    """What an operation leaves behind, as unsigned bits."""
    value, top = values[0], 1 << width
    match operation:
        case "add":
            return (old + value) % top
        case "and":
            return old & value
        case "or":
            return old | value
        case "xor":
            return old ^ value
        case "exch":
            return value
        case "cas":
            return values[1] if old == value else old
        case "inc":
            return 0 if old >= value else old + 1
        case "dec":
            return value if old == 0 or old > value else old - 1
        case _:
            ordered = sorted((old, value), key=lambda each: to_signed(each, width) if kind == "s" else each)
            return ordered[0] if operation == "min" else ordered[1]
