"""Launches of a kernel that nobody gave: small numbers, and buffers of made-up data.

A pointer points into a buffer, behind its first quarter.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import numpy as np

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Operand, SpecialRegister
from swzverify.compiled.trial.fields import FLOATS, Field, compared_in, fields
from swzverify.compiled.trial.memory import BUFFER_BASE, BUFFER_STEP, Bytes
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, variables

BUFFER_BYTES: Final = 1 << 20
"""Bytes of a buffer."""
POINTS_AT: Final = 1 << 18
"""The byte of a buffer to which its pointer points."""
MOST_BUFFERS: Final = 24
GRID: Final = (4096, 4, 4)
"""Blocks of most launches."""
ONE_BLOCK: Final = (1, 1, 1)
"""The grid of the other launches: its only block also does what the last block of a grid does."""
SEED: Final = 20_261_123
_EXTENTS: Final = ("%nctaid.", "%nclusterid.")
_POOL_STEP: Final = 4 * 65_537


class Data(StrEnum):
    """What buffers hold, in 32-bit words; `UP` are the numbers 0, 1, 2, ... times 4."""

    SMALL = "random words below 16"
    BYTES = "random words below 256"
    ANY = "random words"
    UP = "words that go up by 4"
    REAL = "random floats from 0 to 1"
    ZERO = "zeros"
    NONE = "nothing (a null pointer)"
    COMPARED = "numbers that the kernel compares with"
    ROWS = "multiples of 32 below 256"
    LARGE = "random words below 16384"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer that pointers point into.

    It is `BUFFER_BYTES` of the pool of its kind of data, from the byte `begin` on. `compared` are the
    numbers of the kernel from which `COMPARED` draws.
    """

    data: Data
    begin: int
    compared: tuple[int, ...] = ()

    @property
    def content(self) -> Bytes:
        """Its bytes."""
        return _pool(self.data, self.compared)[self.begin : self.begin + BUFFER_BYTES]

    def record(self) -> dict[str, Any]:
        """The buffer as plain data."""
        numbers = {"compared": list(self.compared)} if self.compared else {}
        return {"data": self.data.value, "begin": self.begin, **numbers}


@dataclass(frozen=True, slots=True)
class Plan:
    """The values of a launch.

    Whole parameters take the `numbers` in turn, and parameters that are floats take `reals` in turn.
    Buffers hold `data`, in turn too, and `seed` chooses their bytes. `place` is the place of the block in
    the grid, and `grid` has the numbers of blocks, which are larger than `place`. `fixed` are values of
    bytes of parameters, named `NAME+OFFSET:BYTES`; of pointers only 0 counts.
    """

    numbers: tuple[int, ...]
    data: tuple[Data, ...]
    place: tuple[int, int, int] = (0, 0, 0)
    seed: int = 0
    reals: tuple[float, ...] = (1.0,)
    grid: tuple[int, int, int] = GRID
    fixed: tuple[tuple[str, int], ...] = ()

    def buffer(self, at: int, compared: tuple[int, ...] = ()) -> Buffer:
        """The buffer of one pointer, where the kernel compares with these numbers."""
        data = self.data[at % len(self.data)]
        begin = 0 if data is Data.UP else (self.seed * MOST_BUFFERS + at) * _POOL_STEP % BUFFER_BYTES
        return Buffer(data, begin, compared if data is Data.COMPARED else ())


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch.

    Attributes:
        grid: The shape of the grid.
        block: The shape of the block.
        place: The place in the grid of the block that runs.
        dynamic_bytes: The bytes of dynamic shared memory.
        parameters: The bytes of each parameter by its name.
        buffers: What pointers point into: buffer n starts at `BUFFER_BASE + n * BUFFER_STEP`.
        words: The launch in words.
        number: The number of the launch among those that are made for the kernel.
    """

    grid: tuple[int, int, int]
    block: BlockShape
    place: tuple[int, int, int]
    dynamic_bytes: int
    parameters: Mapping[str, bytes]
    buffers: tuple[Buffer, ...]
    words: str
    number: int = 0

    def record(self) -> dict[str, Any]:
        """The launch as plain data; bytes of parameters are hexadecimal, pointers among them."""
        return {
            "number": self.number,
            "grid": list(self.grid),
            "block": list(self.block),
            "place": list(self.place),
            "dynamic_bytes": self.dynamic_bytes,
            "parameters": {name: value.hex() for name, value in self.parameters.items()},
            "buffers": [each.record() for each in self.buffers],
        }


class Launcher:
    """Makes launches of a function with its calls inlined.

    `arguments` and `conditions` on bytes of parameters hold in each. `numbers`, `reals` and `pointers`
    are how many of each a launch has.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k(.param .u32 n) {"
    >>> module = read_module(text + " .reg .b32 %r; ld.param.u32 %r, [n]; ret; }", "k.ptx")
    >>> Launcher(module.functions[0], (32, 1, 1), 0).launch(Plan((4,), (Data.ANY,)), 0).words
    'n = 4'
    """

    def __init__(
        self,
        function: Function,
        block: BlockShape,
        dynamic_bytes: int,
        arguments: Arguments = NO_ARGUMENTS,
        conditions: tuple[Expr, ...] = (),
    ) -> None:
        self.block = block
        self._function, self._dynamic_bytes = function, dynamic_bytes
        self._arguments, self._conditions = arguments, conditions
        self._fields = fields(function)
        self._compared = compared_in(function)
        self._reads_grid = any(_is_extent(operand) for each in function.instructions for operand in each.operands)
        every = [each for found in self._fields.values() for each in found]
        self.pointers = sum(each.is_pointer for each in every)
        self.reals = sum(each.is_real and not each.is_pointer for each in every)
        self.numbers = len(every) - self.pointers - self.reals

    def is_pointer(self, name: str) -> bool:
        """Whether bytes of a parameter, named `NAME+OFFSET:BYTES`, are a pointer."""
        return any(each.is_pointer for each in self._named(name))

    def is_number(self, name: str) -> bool:
        """Whether a name is that of bytes of a parameter, and these are a whole number."""
        return any(not each.is_pointer and not each.is_real for each in self._named(name))

    def _named(self, name: str) -> list[Field]:
        parameter, _, place = name.rpartition("+")
        begin, _, _ = place.partition(":")
        return [each for each in self._fields.get(parameter, ()) if str(each.offset) == begin]

    def launch(self, plan: Plan, number: int) -> Launch | None:
        """The launch of a plan, in the grid that is given if there is one.

        None if a condition does not hold, or if there are more pointers than buffers.
        """
        if (grid := self._arguments.grid) is not None:
            x, y, z = (at % blocks for at, blocks in zip(plan.place, grid, strict=True))
            plan = replace(plan, grid=grid, place=(x, y, z))
        made = self._made(plan)
        if made.pointers > MOST_BUFFERS or not all(_holds(each, made.values) for each in self._conditions):
            return None
        buffers = tuple(plan.buffer(at, self._compared) for at in range(made.pointers))
        words = made.words(plan, self._reads_grid)
        return Launch(plan.grid, self.block, plan.place, self._dynamic_bytes, made.values, buffers, words, number)

    def made_up(self, launch: Launch) -> tuple[tuple[str, int], ...]:
        """What a launch has that is not given and that the kernel may depend on, but for pointers.

        These are the bytes of parameters as `NAME+OFFSET:BYTES`, the extents of the grid if they are read, and
        the place of the block if it is not the first one.
        """
        found = [
            (f"{parameter.name}+{each.offset}:{each.size}", launch.parameters[parameter.name], each)
            for parameter in self._function.parameters
            for each in self._fields[parameter.name]
            if not each.is_pointer and self._arguments.value(parameter.name, each.offset, each.size) is None
        ]
        numbers = [
            (name, int.from_bytes(raw[each.offset : each.offset + each.size], "little")) for name, raw, each in found
        ]
        if self._reads_grid and self._arguments.grid is None:
            numbers += [(f"nctaid.{axis}", extent) for axis, extent in zip("xyz", launch.grid, strict=True)]
        numbers += [(f"ctaid.{axis}", place) for axis, place in zip("xyz", launch.place, strict=True) if place]
        return tuple(numbers)

    def _made(self, plan: Plan) -> _Made:
        made = _Made({}, {})
        turn, fixed = 0, dict(plan.fixed)
        for parameter in self._function.parameters:
            raw = bytearray(parameter.size_bytes or 0)
            here = self._fields[parameter.name]
            for each in here:
                known = self._arguments.value(parameter.name, each.offset, each.size)
                wanted = fixed.get(f"{parameter.name}+{each.offset}:{each.size}")
                if known is not None:
                    value = known
                elif each.is_pointer:
                    is_null = 0 in (wanted, int(plan.buffer(made.pointers).data is not Data.NONE))
                    value = 0 if is_null else BUFFER_BASE + made.pointers * BUFFER_STEP + POINTS_AT
                    made.pointers += 1
                elif each.is_real:
                    real = plan.reals[made.reals % len(plan.reals)]
                    value = int.from_bytes(struct.pack(FLOATS[each.size], real), "little")
                    made.reals += 1
                    made.numbers[each.label(parameter, here)] = real
                else:
                    value = plan.numbers[turn % len(plan.numbers)] if wanted is None else wanted
                    value %= 1 << 8 * each.size
                    turn += 1
                    made.numbers[each.label(parameter, here)] = value
                raw[each.offset : each.offset + each.size] = value.to_bytes(each.size, "little")
            made.values[parameter.name] = bytes(raw)
        return made


@dataclass(slots=True)
class _Made:
    values: dict[str, bytes]
    numbers: dict[str, int | float]
    pointers: int = 0
    reals: int = 0

    def words(self, plan: Plan, reads_grid: bool) -> str:
        """What the launch is given, for people; the grid's extents where the kernel reads them."""
        parts = [f"{name} = {value}" for name, value in self.numbers.items()]
        if plan.grid == ONE_BLOCK:
            parts.append("a grid of one block")
        elif reads_grid:
            parts.append(f"a grid of {','.join(map(str, plan.grid))} blocks")
        if any(plan.place):
            parts.append(f"block {plan.place} of the grid")
        if self.pointers:
            held = dict.fromkeys(plan.buffer(at).data for at in range(self.pointers))
            parts.append(f"buffers of {' and '.join(held)}")
        return ", ".join(parts)


@lru_cache(maxsize=len(Data))
def _pool(data: Data, compared: tuple[int, ...]) -> Bytes:
    """Twice as many bytes as a buffer has."""
    draw = np.random.default_rng(SEED)
    count = 2 * BUFFER_BYTES // 4
    match data:
        case Data.REAL:
            return draw.random(count, dtype=np.float32).view(np.uint8)
        case Data.UP:
            return np.arange(0, 4 * count, 4, dtype=np.uint32).view(np.uint8)
        case Data.COMPARED:
            return _drawn(draw, compared or (0,), count)
        case Data.ROWS:
            return _drawn(draw, range(0, 256, 32), count)
        case _:
            below = {Data.SMALL: 16, Data.BYTES: 256, Data.LARGE: 1 << 14, Data.ZERO: 1, Data.NONE: 1}.get(
                data, 1 << 32
            )
            return draw.integers(0, below, count, dtype=np.uint32).view(np.uint8)


def _drawn(draw: np.random.Generator, numbers: Sequence[int], count: int) -> Bytes:
    """Words of which every other one is one of the numbers.

    The other words are four low bytes of such numbers.
    """
    words = draw.choice(np.array(numbers, dtype=np.uint32), count)
    octets = draw.choice(np.array([each & 255 for each in numbers], dtype=np.uint8), (count, 4))
    words[1::2] = octets.view(np.uint32)[1::2, 0]
    return words.view(np.uint8)


def _is_extent(operand: Operand) -> bool:
    return isinstance(operand, SpecialRegister) and operand.name.startswith(_EXTENTS)


def _holds(condition: Expr, values: Mapping[str, bytes]) -> bool:
    """Whether bytes of parameters fulfil a condition on them."""
    point: dict[str, int] = {}
    for each in variables(condition):
        name, _, place = each.name.rpartition("+")
        begin, _, size = place.partition(":")
        raw = values[name][int(begin) : int(begin) + int(size)]
        point[each.name] = int.from_bytes(raw, "little")
    return evaluate(condition, point) == 1
