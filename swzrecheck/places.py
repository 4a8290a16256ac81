"""Where a tile's elements lie: docs/semantics.md, sections 2 and 3, over exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzrecheck.c_value import Conditions, Values
from swzrecheck.claim import ADDRESS_LIMIT_BYTES, Base, Placing, Swizzle, Tile
from swzrecheck.exact import Arithmetic, Exact


@dataclass(frozen=True, slots=True)
class Origin:
    """A base: the variable `name` times `unit`, plus `start`; with one base, no variable."""

    start: int
    unit: int
    count: int
    name: str

    def address(self, numbers: Arithmetic) -> Exact:
        """The base in bytes."""
        index = numbers.variable(self.name, self.count) if self.count > 1 else numbers.number(0)
        return numbers.add(numbers.times(index, self.unit), numbers.number(self.start))


def origin_of(base: Base, name: str = "base") -> Origin:
    """The origin that a base alone gives, with nothing added to it."""
    return Origin(base.start, base.align, base.count, name)


def swizzled(numbers: Arithmetic, swizzle: Swizzle, value: Exact) -> Exact:
    """The swizzle x ^ ((x & Y) >> S) with Y = (2^B - 1) << (M + max(0, S)); S < 0 shifts the other way."""
    mask = ((1 << swizzle.bits) - 1) << (swizzle.base + max(0, swizzle.shift))
    picked = numbers.bitwise("bvand", value, numbers.number(mask))
    factor = numbers.number(1 << abs(swizzle.shift))
    moved = numbers.divide(picked, factor) if swizzle.shift >= 0 else numbers.multiply(picked, factor)
    return numbers.bitwise("bvxor", value, moved)


def offset_of_digits(numbers: Arithmetic, tile: Tile, digits: Sequence[Exact]) -> Exact:
    """The plain offset in elements, from one digit per leaf.

    A tile with a placing has the value of its expression, from one digit per mode; it counts only if it
    is not negative.
    """
    if tile.placing is not None:
        value = placed(numbers, tile.placing, digits, Conditions())
        return numbers.clamp(value, 0, max(0, value.high))
    return numbers.total([numbers.times(digit, stride) for digit, (_, stride) in zip(digits, tile.leaves, strict=True)])


def placed(numbers: Arithmetic, placing: Placing, coord: Sequence[Exact], conditions: Conditions) -> Exact:
    """The value of a placing at a coordinate; `conditions` gets what it needs."""
    names = {name: numbers.number(value) for name, value in placing.constants.items()}
    names |= {name: value for (name, _), value in zip(placing.over, coord, strict=True)}
    return Values(numbers, names, conditions).of(placing.value)


def digits_of(numbers: Arithmetic, tile: Tile, coord: Sequence[Exact]) -> list[Exact]:
    """Each coordinate split over its mode's leaves, first leaf fastest; the last gets the rest."""
    if tile.placing is not None:
        return list(coord)
    digits: list[Exact] = []
    for value, mode in zip(coord, tile.modes, strict=True):
        rest = value
        for extent, _ in mode[:-1]:
            digits.append(numbers.remainder(rest, numbers.number(extent)))
            rest = numbers.divide(rest, numbers.number(extent))
        digits.append(rest)
    return digits


def inner_offset(numbers: Arithmetic, tile: Tile, digits: Sequence[Exact]) -> Exact:
    """The offset inside a stage in elements, after a swizzle of offsets."""
    plain = offset_of_digits(numbers, tile, digits)
    if tile.swizzle is None or tile.swizzle.on_address:
        return plain
    return swizzled(numbers, tile.swizzle, plain)


def stage_start(numbers: Arithmetic, tile: Tile, stage: Exact, origin: Origin) -> Exact:
    """The first unit of a stage."""
    bytes_ = numbers.add(origin.address(numbers), numbers.times(stage, tile.pitch))
    return numbers.times(bytes_, 8 // tile.unit_bits)


def position(numbers: Arithmetic, tile: Tile, digits: Sequence[Exact], stage: Exact, origin: Origin) -> Exact:
    """The first unit of an element."""
    offset = numbers.times(inner_offset(numbers, tile, digits), tile.step_units)
    raw = numbers.add(stage_start(numbers, tile, stage, origin), offset)
    if tile.swizzle is None or not tile.swizzle.on_address:
        return raw
    return swizzled(numbers, tile.swizzle, raw)


def related(first: Base, other: Base) -> bool:
    """Whether two bases are known relative to each other: one address each, or one memory."""
    if first.count == other.count == 1:
        return True
    return bool(first.memory) and first.memory == other.memory


def common_origins(first: Base, other: Base) -> tuple[Origin, Origin]:
    """The bases for a comparison: the given ones if they are related, else one of the larger alignment.

    Raises:
        ValueError: Nothing says how the two bases lie to each other.
    """
    if not related(first, other) and (first.memory or other.memory or not first.align or not other.align):
        raise ValueError("nothing says how their bases lie to each other")
    if first.count == other.count == 1:
        return origin_of(first), origin_of(other)
    unit = max(first.align, other.align)
    count = ADDRESS_LIMIT_BYTES // unit
    return Origin(first.start, unit, count, "base"), Origin(other.start, unit, count, "base")
