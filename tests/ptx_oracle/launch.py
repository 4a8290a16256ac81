"""Runs a kernel: gives it its arguments, runs block after block, and collects what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from .auto import automatic
from .block import Shape
from .buffers import Argument, Buffer, Record, number_bytes, shape3
from .clocks import Clocks
from .errors import OracleError
from .fetch import specials
from .layout import Layout
from .model import Function, Module, Symbol
from .occurrences import Recorder
from .parse import parse
from .products import Products
from .program import Program
from .record import Access, Violation
from .schedule import Runner
from .spaces import GLOBAL_BASE, SHARED_BASE, Arena
from .tensors import is_map

STEPS = 100_000
"""Steps that a launch may take.

A step runs one basic block, for all warps of a thread block that are there.
"""


Arguments = Sequence[Argument] | Mapping[str | int, Argument]
Place = int | tuple[int, int]
"""The place of a parameter, or a parameter's place and an offset in it."""


@dataclass(eq=False)
class Result:
    """What a launch did.

    `accesses` has every access of the kernel and of the functions it may call, run or not.
    """

    entry: str
    accesses: list[Access] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Instructions that the oracle cannot run; they stop the launch if they are reached."""
    error: str = ""
    """Why the launch stopped before its end; the accesses up to there are kept."""
    blocks: int = 0
    """Thread blocks that ran to their end."""
    steps: int = 0
    buffers: dict[Place, np.ndarray] = field(default_factory=dict)
    """Bytes of each buffer after the launch, by parameter's place, in records (place, offset)."""

    @property
    def partial(self) -> bool:
        """Whether the launch stopped before its end."""
        return self.error != ""

    @property
    def violations(self) -> list[Violation]:
        """The first misaligned and the first outside execution of each access."""
        return [violation for access in self.accesses for violation in access.violations.values()]

    def by_line(self) -> dict[int, Access]:
        """The accesses by line; of several in one line the one with the most words in a bank."""
        found: dict[int, Access] = {}
        for access in self.accesses:
            if access.line not in found or access.ways > found[access.line].ways:
                found[access.line] = access
        return found

    def as_json(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "entry": self.entry,
            "error": self.error or None,
            "partial": self.partial,
            "steps": self.steps,
            "blocks": self.blocks,
            "warnings": self.warnings,
            "unknown": self.unknown,
            "accesses": [access.as_json() for access in self.accesses],
        }


@lru_cache(maxsize=8)
def parsed(text: str) -> Module:
    """Parse a PTX file, once."""
    return parse(text)


def place_of(name: str | int, entry: Function, names: Sequence[str] = ()) -> int:
    """The place of a parameter, by its place, its PTX name, the end of that, or one of `names`."""
    if isinstance(name, int) or name.isdigit():
        return int(name)
    if name in names:
        return list(names).index(name)
    for at, parameter in enumerate(entry.params):
        if name in (parameter.name, parameter.name.removeprefix(f"{entry.name}_")):
            return at
    raise OracleError(f"{entry.name} has no parameter {name}")


class Launch:
    """One launch of a kernel.

    `lenient` forgives bad global addresses, and not `strict` bad shared ones.
    """

    def __init__(self, text: str, entry: str, *, lenient: bool = False, strict: bool = True) -> None:
        self.module = parsed(text)
        function = self.module.function(entry)
        if function is None or not function.entry:
            kernels = [name for name, found in self.module.functions.items() if found.entry]
            raise OracleError(f"no kernel {entry!r}; there are {kernels}")
        self.function = function
        self.strict = strict
        self.arena = Arena(lenient=lenient)
        self.clocked: Callable[[Clocks], None] | None = None
        self.exits_order = True
        self.shuffle: int | None = None
        self.recorder: Recorder | None = None
        self.products: Products | None = None

    def arguments(self, given: Mapping[int, Argument], seed: int) -> tuple[bytes, dict[Place, tuple[int, int]]]:
        """Place the buffers; give the bytes of all parameters, and where the buffers lie."""
        raw, at = bytearray(), 0
        placed: dict[Place, tuple[int, int]] = {}
        for place, parameter in enumerate(self.function.params):
            if not isinstance(parameter, Symbol):
                raise OracleError("a kernel's parameter is a register")
            at = -(-at // parameter.align) * parameter.align
            value = given.get(place)
            if value is None:
                raise OracleError(f"no value for parameter {place} ({parameter.name})")
            part = self._value(value, parameter.type, parameter.size, (seed, place), place, placed)
            raw = raw.ljust(at, b"\0") + part.ljust(parameter.size, b"\0")[: parameter.size]
            at += parameter.size
        return bytes(raw), placed

    def _value(
        self,
        value: Argument,
        kind: str,
        size: int,
        seeds: tuple[int, int],
        place: Place,
        placed: dict[Place, tuple[int, int]],
    ) -> bytes:
        """The bytes of one argument."""
        if isinstance(value, bytes):
            return value
        if isinstance(value, Record):
            raw, (seed, whole) = bytearray(size), seeds
            for part in value.fields:
                width = int(part.type[1:]) // 8
                inner = (seed, 1000 * whole + part.offset + 1000)
                inside = self._value(part.value, part.type, width, inner, (whole, part.offset), placed)
                raw[part.offset : part.offset + len(inside)] = inside
            return bytes(raw)
        if isinstance(value, Buffer):
            address = self.arena.add(value.data(*seeds))
            placed[place] = (address - GLOBAL_BASE, value.size)
            return (address + value.begin).to_bytes(8, "little")
        return number_bytes(value, kind if size * 8 == int(kind[1:]) else f"u{8 * size}")

    def run(
        self,
        shape: tuple[Sequence[int], Sequence[int]],
        smem: int,
        given: Mapping[int, Argument],
        *,
        seed: int = 1,
        steps: int = STEPS,
        max_blocks: int = 0,
        only: tuple[int, int, int] | None = None,
        cluster: tuple[int, int, int] = (1, 1, 1),
    ) -> Result:
        """Run all blocks (or the first `max_blocks`, or the one at `only`); errors end up in the result."""
        grid, block = shape3(shape[0]), shape3(shape[1])
        result = Result(self.function.name)
        parameters, placed = self.arguments(given, seed)
        layout = Layout(self.module, self.function, smem, self.arena)
        self.arena.close()
        layout.fill_globals()
        layout.fill_const()
        program = Program(layout)
        result.accesses, result.unknown = program.records, program.unknown
        sizes = {
            "%dynamic_smem_size": smem,
            "%total_smem_size": layout.shared_end - SHARED_BASE,
            "%aggr_smem_size": layout.shared_end,
            "%reserved_smem_offset_begin": 0,
            "%gridid": 1,
        }
        values = specials(block, grid, sizes)
        watched = (self.clocked, self.exits_order, self.shuffle, self.recorder)
        has_maps = any(isinstance(each, Record) and is_map(each) for each in given.values())
        common = Shape(grid, block, values, parameters, not self.strict, *watched, cluster, self.products, has_maps)
        try:
            self._run_blocks(program, common, result, steps, max_blocks, only)
        except OracleError as error:
            result.error = f"{type(error).__name__}: {error}"
        for place, (at, size) in placed.items():
            result.buffers[place] = self.arena.bytes[at : at + size].copy()
        for memory in (self.arena, layout.const):
            if memory.outside:
                result.warnings.append(f"{memory.outside} {memory.what} accesses outside of all buffers, or misaligned")
        return result

    def _run_blocks(
        self,
        program: Program,
        common: Shape,
        result: Result,
        steps: int,
        max_blocks: int,
        only: tuple[int, int, int] | None,
    ) -> None:
        # Blocks of one cluster run as one, and a grid consists of clusters.
        across, down, deep = (blocks // of for blocks, of in zip(common.grid, common.cluster, strict=True))
        total = across * down * deep
        numbers = range(min(total, max_blocks or total))
        if only is not None:
            x, y, z = only
            number = x + across * (y + down * z)
            # A grid may have millions of blocks: they are not passed one by one.
            is_there = 0 <= x < across and 0 <= y < down and number in numbers
            numbers = range(number, number + is_there)
        with np.errstate(all="ignore"):
            for number in numbers:
                index = (number % across, number // across % down, number // (across * down))
                runner = Runner(program, index, common, steps - result.steps)
                try:
                    runner.run()
                finally:
                    told = runner.warnings.items()
                    result.warnings += [f"block {index}: {warning} ({times} times)" for warning, times in told]
                    result.steps += runner.state.clock
                result.blocks += 1


def launch(
    text: str,
    entry: str,
    grid: Sequence[int],
    block: Sequence[int],
    smem: int = 0,
    args: Arguments = (),
    seed: int = 1,
    *,
    auto: bool = False,
    strict: bool = True,
    names: Sequence[str] = (),
    steps: int = STEPS,
    max_blocks: int = 0,
    only: tuple[int, int, int] | None = None,
) -> Result:
    """Run a kernel as a GPU does: a bad address stops it. See `run_kernel` for the arguments.

    With `auto`, parameters without a value get one that fits (see the module `auto`), and a global
    access outside of all buffers gives 0 and a warning in place of an error.
    """
    going = Launch(text, entry, lenient=auto, strict=strict)
    pairs = args.items() if isinstance(args, Mapping) else enumerate(args)
    given = {place_of(name, going.function, names): value for name, value in pairs}
    if auto:
        given = automatic(going.function) | given
    return going.run((grid, block), smem, given, seed=seed, steps=steps, max_blocks=max_blocks, only=only)


def run_kernel(
    ptx: str,
    kernel: str,
    block: Sequence[int],
    grid: Sequence[int] = (1,),
    smem: int = 0,
    params: Arguments = (),
    *,
    seed: int = 1,
    steps: int = STEPS,
    auto: bool = False,
) -> Result:
    """Run a kernel, and tell of each shared-memory access what its warps did.

    `smem` are the bytes of dynamic shared memory. `params` are the values of the parameters, in
    order or by name: whole numbers, floats, `Buffer(bytes, fill)` for pointers to global memory,
    `Record.of((type, value), ...)` for structs, or raw bytes. With `auto`, what is not given is
    chosen. Contents of buffers depend on `seed` and on the parameter's place only.

    `result.by_line()` has an `Access` for each PTX line (from 1) that accesses shared memory,
    executed or not. `result.violations` has misaligned and outside accesses; they do not stop the
    launch. Where the kernel faults, runs out of `steps`, or needs what the oracle cannot run,
    `result.error` says so, `result.partial` is true, and the accesses hold what was seen before.
    """
    return launch(ptx, kernel, grid, block, smem, params, seed, auto=auto, strict=False, steps=steps)


def run_products(
    ptx: str, kernel: str, block: Sequence[int], params: Arguments, *, grid: Sequence[int] = (1,), steps: int = STEPS
) -> tuple[Result, Products]:
    """Run a kernel; also give what the tensor core multiplied."""
    going = Launch(ptx, kernel)
    going.products = Products()
    pairs = params.items() if isinstance(params, Mapping) else enumerate(params)
    given = {place_of(name, going.function): value for name, value in pairs}
    return going.run((grid, block), 0, given, steps=steps), going.products
