"""Launches of a kernel that nobody gave: small numbers, and buffers of made-up data.

A pointer points into a buffer, behind its first quarter. A parameter of 64 bits is a
pointer if an address is made of it by moves and sums.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

import numpy as np

from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, variables
from swzverify.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.kernel.effects import registers_in
from swzverify.kernel.flow import base_name
from swzverify.kernel.parameters import PARAMETER, moved, place_of
from swzverify.kernel.special import BlockShape
from swzverify.ptx import Address, Function, Instruction, Operand, Parameter, Register, size_of_type
from swzverify.trial.memory import BUFFER_BASE, BUFFER_STEP, Bytes

BUFFER_BYTES: Final = 1 << 20
"""Bytes of a buffer."""
POINTS_AT: Final = 1 << 18
"""The byte of a buffer to which its pointer points."""
MOST_BUFFERS: Final = 24
_REAL: Final = 0x3F800000
"""1.0 as f32."""
_REAL_WIDE: Final = 0x3FF0000000000000
_CARRY: Final = frozenset({"mov", "add", "sub", "cvta", "mad", "selp"})
_SPACES: Final = frozenset({"shared", "param", "local", "const"})


class _Data(StrEnum):
    """What buffers hold, in 32-bit words; `UP` are the numbers 0, 1, 2, ... times 4."""

    SMALL = "random words below 16"
    BYTES = "random words below 256"
    ANY = "random words"
    UP = "words that go up by 4"
    REAL = "random floats from 0 to 1"
    ZERO = "zeros"


@dataclass(frozen=True, slots=True)
class _Plan:
    """Numbers that whole parameters take in turn, and what buffers hold, in turn too."""

    numbers: tuple[int, ...]
    data: tuple[_Data, ...]
    place: tuple[int, int, int] = (0, 0, 0)


_PLANS: Final = (
    _Plan((4, 8), (_Data.SMALL,)),
    _Plan((64, 1), (_Data.ANY,)),
    _Plan((16,), (_Data.BYTES,)),
    _Plan((64,), (_Data.UP,)),
    _Plan((256,), (_Data.ANY,)),
    _Plan((5, 3, 7), (_Data.REAL,)),
    _Plan((64, 32, 16), (_Data.SMALL,)),
    _Plan((1,), (_Data.BYTES,)),
    _Plan((1024,), (_Data.BYTES,)),
    _Plan((33,), (_Data.ANY,), (1, 1, 1)),
)
"""The first ones are small, so that loops end soon."""
_NUMBERS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 33, 48, 64, 100, 128, 256, 512, 1024, 4096)
MOST_LAUNCHES: Final = 200
_GRID: Final = (4096, 4, 4)
_SEED: Final = 20_261_123
_POOL_STEP: Final = 4 * 65_537


def _plans() -> Iterator[_Plan]:
    """Those above, and random ones."""
    yield from _PLANS
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    for _ in range(MOST_LAUNCHES - len(_PLANS)):
        numbers = tuple(draw.choices(_NUMBERS, k=draw.randint(1, 4)))
        data = tuple(draw.choices(tuple(_Data), k=draw.choice((1, 1, 2, 3))))
        yield _Plan(numbers, data, (draw.randrange(_GRID[0]) if draw.random() < 0.5 else 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: shapes of the grid and the block, the block that runs at `place` in the grid,
    bytes of dynamic shared memory, and the bytes of each parameter by its name. `buffers` are
    what pointers point into: the one of number n begins at `BUFFER_BASE + n * BUFFER_STEP`.
    `words` tell people; `number` tells it from the others that are made up for the kernel.
    """

    grid: tuple[int, int, int]
    block: BlockShape
    place: tuple[int, int, int]
    dynamic_bytes: int
    parameters: Mapping[str, bytes]
    buffers: tuple[Bytes, ...]
    words: str
    number: int = 0


def launches(
    function: Function,
    block: BlockShape,
    dynamic_bytes: int,
    arguments: Arguments = NO_ARGUMENTS,
    conditions: tuple[Expr, ...] = (),
) -> Iterator[Launch]:
    """Launches of a function with its calls put in place; `arguments` and `conditions` on bytes of
    parameters hold in each. Nothing for a function with more pointers than are filled.

    >>> from swzverify.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k(.param .u32 n) {"
    >>> module = read_module(text + " .reg .b32 %r; ld.param.u32 %r, [n]; ret; }", "k.ptx")
    >>> next(launches(module.functions[0], (32, 1, 1), 0)).words
    'n = 4'
    """
    fields = _fields(function)
    if sum(each.is_pointer for found in fields.values() for each in found) > MOST_BUFFERS:
        return
    for number, plan in enumerate(_plans()):
        made = _made(function, fields, plan, arguments)
        if all(_holds(each, made.values) for each in conditions):
            buffers = tuple(_data(plan, number, at) for at in range(made.pointers))
            yield Launch(_GRID, block, plan.place, dynamic_bytes, made.values, buffers, made.words(plan), number)


@dataclass(frozen=True, slots=True)
class _Field:
    """What a kernel loads of a parameter: an offset and a size in bytes."""

    offset: int
    size: int
    is_pointer: bool
    is_real: bool


@dataclass(slots=True)
class _Made:
    values: dict[str, bytes]
    numbers: dict[str, int]
    pointers: int = 0

    def words(self, plan: _Plan) -> str:
        """What the launch is given, for people."""
        parts = [f"{name} = {value}" for name, value in self.numbers.items()]
        if any(plan.place):
            parts.append(f"block {plan.place} of the grid")
        if self.pointers:
            parts.append(f"buffers of {' and '.join(dict.fromkeys(plan.data))}")
        return ", ".join(parts)


def _made(function: Function, fields: Mapping[str, list[_Field]], plan: _Plan, arguments: Arguments) -> _Made:
    made = _Made({}, {})
    turn = 0
    for parameter in function.parameters:
        raw = bytearray(parameter.size_bytes or 0)
        for each in fields[parameter.name]:
            known = arguments.value(parameter.name, each.offset, each.size)
            if known is not None:
                value = known
            elif each.is_pointer:
                value = BUFFER_BASE + made.pointers * BUFFER_STEP + POINTS_AT
                made.pointers += 1
            elif each.is_real:
                value = _REAL_WIDE if each.size > 4 else _REAL
            else:
                value = plan.numbers[turn % len(plan.numbers)] % (1 << 8 * each.size)
                turn += 1
                label = f"+{each.offset}" if len(fields[parameter.name]) > 1 else ""
                made.numbers[parameter.name + label] = value
            raw[each.offset : each.offset + each.size] = value.to_bytes(each.size, "little")
        made.values[parameter.name] = bytes(raw)
    return made


def _data(plan: _Plan, number: int, at: int) -> Bytes:
    """The contents of one buffer: a part of the pool of its kind, which begins at a word of its
    own.
    """
    data = plan.data[at % len(plan.data)]
    begin = 0 if data is _Data.UP else (number * MOST_BUFFERS + at) * _POOL_STEP % BUFFER_BYTES
    return _pool(data)[begin : begin + BUFFER_BYTES]


@cache
def _pool(data: _Data) -> Bytes:
    """Twice as many bytes as a buffer has."""
    draw = np.random.default_rng(_SEED)
    count = 2 * BUFFER_BYTES // 4
    match data:
        case _Data.REAL:
            return draw.random(count, dtype=np.float32).view(np.uint8)
        case _Data.UP:
            return np.arange(0, 4 * count, 4, dtype=np.uint32).view(np.uint8)
        case _:
            below = {_Data.SMALL: 16, _Data.BYTES: 256, _Data.ZERO: 1}.get(data, 1 << 32)
            return draw.integers(0, below, count, dtype=np.uint32).view(np.uint8)


def _holds(condition: Expr, values: Mapping[str, bytes]) -> bool:
    """Whether bytes of parameters fulfil a condition on them."""
    point: dict[str, int] = {}
    for each in variables(condition):
        name, _, place = each.name.rpartition("+")
        begin, _, size = place.partition(":")
        raw = values[name][int(begin) : int(begin) + int(size)]
        point[each.name] = int.from_bytes(raw, "little")
    return evaluate(condition, point) == 1


# ---- what parameters are


def _fields(function: Function) -> dict[str, list[_Field]]:
    """What the kernel loads of each parameter, without pieces that overlap others."""
    addresses = _addresses(function)
    found: dict[str, dict[int, _Field]] = {each.name: {} for each in function.parameters}
    for instruction in function.instructions:
        kind, place = PARAMETER.fullmatch(instruction.opcode), place_of(instruction)
        if kind is None or place is None or place.name not in found or kind[1] != "ld":
            continue
        size = size_of_type(kind[2]) or 0
        for at, item in enumerate(moved(instruction)):
            begin = place.offset + at * size
            pointer = size == 8 and item in addresses
            before = found[place.name].get(begin)
            if before is None or before.size < size or pointer:
                found[place.name][begin] = _Field(begin, size, pointer, kind[2][0] == "f")
    return {each.name: _apart(each, found[each.name]) for each in function.parameters}


def _apart(parameter: Parameter, fields: Mapping[int, _Field]) -> list[_Field]:
    kept: list[_Field] = []
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
            bases = (operand.base for operand in each.operands if isinstance(operand, Address))
            wanted.update(base for base in bases if isinstance(base, Register) and size_of_type(base.type) == 8)
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
    """The registers that a wanted one may come from; of a sum the first operand, where compilers
    put the pointer.
    """
    operands = instruction.operands
    if base_name(instruction) not in _CARRY or not operands or operands[0] not in wanted:
        return set()
    places = {"mad": slice(3, 4), "selp": slice(1, 3)}.get(base_name(instruction), slice(1, 2))
    return {each for each in operands[places] if isinstance(each, Register)}
