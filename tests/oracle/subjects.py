"""Tiles, memories and maps of a spec with all constants known (docs/semantics.md, sections 3 and
5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import gcd

from . import c_expr
from .box_tiles import Box, read_box
from .hardware import SHARED_MEMORY_BYTES, has
from .layout import IDENTITY, Layout, Swizzle, read_element_bits, read_layout, read_swizzle, read_tma
from .lets import Trees, put_in, read_lets
from .oracle_errors import OracleError
from .yaml_values import Spec, Yaml, as_dict, as_int, as_list, as_str

BASES_BELOW = 1 << 24
TMA_ALIGNMENT = 128


@dataclass(frozen=True, slots=True)
class Base:
    """`offset` bytes from every multiple of `align` below 2^24, or from 0 when `align` is None.

    `pitch_align` is what a stage's allocation is rounded up to, `room` the bytes from there to the
    memory's end.
    """

    align: int | None
    offset: int
    pitch_align: int
    memory: str | None = None
    room: int | None = None

    def free_values(self, period: int) -> list[int]:
        """The free part of the base, one value for each residue modulo `period` that it can have.

        Every claim reads addresses through functions that move with the base when it moves by the
        period: a swizzle of span P changes bits below log2 P only, so swizzle(x + P*k) =
        swizzle(x) + P*k; a bank, a 128-byte line and a remainder modulo a width are the same again after 128
        bytes or the width. The least common multiple of these is the caller's `period`, so bases
        equal modulo it are judged alike, and `period / gcd(period, align)` consecutive multiples of
        `align` meet every residue that any multiple meets.
        """
        if self.align is None:
            return [0]
        count = min(period // gcd(period, self.align), -(-BASES_BELOW // self.align))
        return [k * self.align for k in range(count)]

    def values(self, period: int) -> list[int]:
        """Byte addresses of the base that are enough for a property of that period."""
        return [free + self.offset for free in self.free_values(period)]


@dataclass(frozen=True)
class Tile:
    name: str
    element_bits: int
    layout: Layout
    swizzle: Swizzle
    on_address: bool
    base: Base
    allocation_bytes: int
    stages: int
    pitch_bytes: int

    @property
    def offset_bits(self) -> int:
        """What an offset of 1 is."""
        return 8 if isinstance(self.layout, Box) and self.layout.in_bytes else self.element_bits

    @property
    def span_bytes(self) -> int:
        """The period of the addresses, relative to the start, in the start."""
        return self.swizzle.span if self.on_address else 1

    def start(self, base: int, stage: int) -> int:
        return base + stage * self.pitch_bytes

    @cached_property
    def swizzled_offsets(self) -> list[int]:
        """Offsets in elements after a swizzle on offsets."""
        return self.layout.offsets if self.on_address else self.swizzle.shifted(self.layout.offsets, 0)

    @cached_property
    def raw_bits(self) -> list[int]:
        """Bit offsets from the start, before a swizzle on addresses."""
        return [self.offset_bits * offset for offset in self.swizzled_offsets]

    @cached_property
    def raw_bytes(self) -> list[int]:
        return [bits // 8 for bits in self.raw_bits]

    def bits(self, start: int) -> list[int]:
        """The bit addresses of all elements in a stage that starts at byte `start`."""
        if self.on_address:
            return [8 * address for address in self.swizzle.shifted(self.raw_bytes, start)]
        return [8 * start + bits for bits in self.raw_bits]

    def start_residues(self, period: int) -> list[int]:
        """Starts, modulo the period, over all stages and bases; each stands for all starts equal to
        it.
        """
        bases = self.base.values(period)
        return sorted({self.start(base, stage) % period for base in bases for stage in range(self.stages)})


@dataclass(frozen=True, slots=True)
class IndexMap:
    """An index map: its values over its box for one value of `base`."""

    name: str
    names: tuple[str, ...]
    extents: tuple[int, ...]
    trees: tuple[c_expr.Expr, ...]
    onto: tuple[int, ...] | None
    columns: dict[str, list[int]]
    points: int
    fixed_base: int | None = None

    @property
    def reads_base(self) -> bool:
        return any("base" in c_expr.names_in(tree) for tree in self.trees)

    def values(self, base: int | None = None) -> list[tuple[int, ...]]:
        """The values over the box; `base` is the tile's where there is one, else the map's own."""
        base = (self.fixed_base or 0) if base is None else base
        columns = {**self.columns, "base": [base] * self.points}
        return list(zip(*(c_expr.evaluate(tree, columns, self.points) for tree in self.trees), strict=True))


def read_memories(spec: Spec, constants: Mapping[str, int]) -> dict[str, Base]:
    """The base of every memory; what is larger than the target's shared memory is refused."""
    most = SHARED_MEMORY_BYTES[as_str(spec.get("target", "sm_90"))]
    memories: dict[str, Base] = {}
    for name, value in as_dict(spec.get("memories")).items():
        memory = as_dict(value)
        size = c_expr.constant(memory["bytes"], constants) if "bytes" in memory else most
        if size < 1:
            raise OracleError(f"memory {name} has no bytes")
        if size > most:
            raise OracleError(f"memory {name} is larger than the shared memory", "SWZ110")
        align = _power_of_two(c_expr.constant(memory.get("align", 1024), constants))
        if "base" in memory:
            memories[name] = Base(None, c_expr.constant(memory["base"], constants), align, name, size)
        else:
            memories[name] = Base(align, 0, align, name, size)
    return memories


def read_base(value: Yaml, memories: Mapping[str, Base], constants: Mapping[str, int]) -> Base:
    """The base that a tile or an access names."""
    if not isinstance(value, dict):
        return Base(None, c_expr.constant(value, constants), 1)
    if "in" not in value:
        align = _power_of_two(c_expr.constant(value["align"], constants))
        return Base(align, 0, align)
    name = as_str(value["in"])
    if name not in memories:
        raise OracleError(f"no memory {name!r}")
    memory = memories[name]
    offset = c_expr.constant(value.get("offset", 0), constants)
    room = None if memory.room is None else memory.room - offset
    return Base(memory.align, memory.offset + offset, memory.pitch_align, name, room)


def _power_of_two(align: int) -> int:
    if align < 1 or align & (align - 1):
        raise OracleError(f"an alignment of {align} is no power of two")
    return align


def read_tile(
    name: str,
    value: Yaml,
    memories: Mapping[str, Base],
    constants: Mapping[str, int],
    target: str,
    lets: Trees | None = None,
) -> Tile:
    """A tile with every default filled in."""
    tile = as_dict(value)
    bits = read_element_bits(tile, constants)
    base = read_base(tile.get("base", {"align": 1024}), memories, constants)
    if not {"shape", "offset", "address"}.isdisjoint(tile):
        layout, allocation = read_box(name, tile, bits, constants, lets or {})
        # Elements at byte addresses lie as if a swizzle had put them there.
        swizzle, on_address = IDENTITY, layout.in_bytes
    elif "tma" in tile:
        layout, swizzle, allocation = read_tma(tile["tma"], bits, constants)
        on_address = swizzle != IDENTITY
        if not has(target, "tma"):
            raise OracleError(f"tile {name}: {target} has no TMA", "SWZ226")
    else:
        layout, elements = read_layout(tile["layout"], constants)
        swizzle, on_address = read_swizzle(tile.get("swizzle"), constants)
        allocation = -(-elements * bits // 8)
    if on_address and bits % 8:
        raise OracleError(f"tile {name}: a swizzle on addresses needs whole bytes")
    if "bytes" in tile:
        allocation = c_expr.constant(tile["bytes"], constants)
    pitch = -(-allocation // base.pitch_align) * base.pitch_align
    count = tile.get("stages", 1)
    if isinstance(count, dict):
        pitch = c_expr.constant(count.get("pitch", pitch), constants)
        count = count.get("count", 1)
    stages = c_expr.constant(count, constants)
    if "tma" in tile:
        _check_tma_starts(name, base, pitch, stages)
    most = SHARED_MEMORY_BYTES[target]
    if (stages - 1) * pitch + allocation > (most if base.room is None else base.room):
        raise OracleError(f"tile {name} does not fit its memory, or the shared memory of {target}", "SWZ110")
    return Tile(name, bits, layout, swizzle, on_address, base, allocation, stages, pitch)


def _check_tma_starts(name: str, base: Base, pitch: int, stages: int) -> None:
    """Refuse a TMA tile whose first byte is no multiple of 128 in some stage at some base."""
    moves = [base.offset, base.align or 0, pitch if stages > 1 else 0]
    if any(move % TMA_ALIGNMENT for move in moves):
        raise OracleError(f"TMA tile {name} must begin at a multiple of {TMA_ALIGNMENT}", "SWZ222")


def read_map(
    name: str, value: Yaml, memories: Mapping[str, Base], constants: Mapping[str, int], lets: Trees
) -> IndexMap:
    """A map, judged over its whole box at once, so that an undefined operation is found."""
    spec = as_dict(value)
    over = {key: c_expr.constant(extent, constants) for key, extent in as_dict(spec["over"]).items()}
    box = [tuple(reversed(point)) for point in product(*(range(extent) for extent in reversed(over.values())))]
    columns = {key: [point[at] for point in box] for at, key in enumerate(over)}
    columns |= {key: [number] * len(box) for key, number in constants.items()}
    if set(over) & set(lets):
        raise OracleError(f"map {name}: a variable has the name of a let", "SWZ105")
    known = read_lets(spec.get("let"), {*constants, *over}, lets)
    trees = tuple(put_in(c_expr.parse(item), known) for item in as_list(spec["value"]))
    onto = None
    if "onto" in spec:
        onto = tuple(c_expr.constant(extent, constants) for extent in as_list(spec["onto"]))
    base = read_base(spec["base"], memories, constants) if "base" in spec else None
    fixed = base.offset if base is not None and base.align is None else None
    found = IndexMap(name, tuple(over), tuple(over.values()), trees, onto, columns, len(box), fixed)
    found.values()
    return found


def read_cases(spec: Spec) -> list[dict[str, int]]:
    """All combinations of the constants' values, in the order of itertools.product over them as
    written.
    """
    constants = as_dict(spec.get("constants"))
    choices = [[as_int(number) for number in as_list(value)] for value in constants.values()]
    return [dict(zip(constants, numbers, strict=True)) for numbers in product(*choices)]
