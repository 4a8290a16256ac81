"""Layouts and swizzles on concrete integers (docs/semantics.md, section 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from . import c_expr
from .oracle_errors import OracleError
from .yaml_values import Yaml, as_dict, as_list, as_str

MOST_BOX_EXTENT = 256

Tree: TypeAlias = "int | list[Tree]"
Leaf: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Modes, each a tuple of (extent, stride) leaves in elements, the first leaf fastest."""

    modes: tuple[tuple[Leaf, ...], ...]

    @cached_property
    def leaves(self) -> list[Leaf]:
        return [leaf for mode in self.modes for leaf in mode]

    @cached_property
    def extents(self) -> list[int]:
        return [len(table) for table in self.mode_offsets]

    @cached_property
    def cosize(self) -> int:
        return 1 + sum((extent - 1) * stride for extent, stride in self.leaves)

    @cached_property
    def mode_offsets(self) -> list[list[int]]:
        """For each mode the offsets of the coordinates 0 .. extent - 1."""
        tables: list[list[int]] = []
        for mode in self.modes:
            table = [0]
            for extent, stride in mode:
                table = [low + digit * stride for digit in range(extent) for low in table]
            tables.append(table)
        return tables

    @cached_property
    def offsets(self) -> list[int]:
        """The offsets of all coordinates, the first mode running fastest."""
        offsets = [0]
        for table in self.mode_offsets:
            offsets = [low + high for high in table for low in offsets]
        return offsets

    def mode_offset(self, mode: int, coordinate: int) -> int:
        """The share of one mode in the offset; its last leaf takes the quotient without a bound."""
        if coordinate < len(self.mode_offsets[mode]):
            return self.mode_offsets[mode][coordinate]
        total = 0
        for extent, stride in self.modes[mode][:-1]:
            total += coordinate % extent * stride
            coordinate //= extent
        return total + coordinate * self.modes[mode][-1][1]

    def contiguous_runs(self) -> tuple[int, int]:
        """The elements in a row from a leaf of stride 1 on: merged as written, and at the most."""
        wide = [leaf for leaf in self.leaves if leaf[0] > 1]
        as_written: list[int] = []
        for first, (extent, stride) in enumerate(wide):
            if stride == 1:
                run = extent
                for next_extent, next_stride in wide[first + 1 :]:
                    if next_stride != run:
                        break
                    run *= next_extent
                as_written.append(run)
        most = 1
        for extent, stride in sorted(wide, key=lambda leaf: (leaf[1], -leaf[0])):
            if stride == most:
                most *= extent
        return min(as_written, default=1), max([most, *as_written])


@dataclass(frozen=True, slots=True)
class Swizzle:
    """`Swizzle<bits, base, shift>`; legal ones only."""

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if self.bits < 0 or self.base < 0 or abs(self.shift) < self.bits:
            raise OracleError(f"Swizzle<{self.bits},{self.base},{self.shift}> is illegal", "SWZ210")

    @property
    def span(self) -> int:
        return 1 << (self.base + self.bits + abs(self.shift))

    def __call__(self, x: int) -> int:
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        return x ^ ((x & mask) >> self.shift if self.shift >= 0 else (x & mask) << -self.shift)

    def shifted(self, offsets: list[int], start: int) -> list[int]:
        """The swizzles of `start + offset`, for all offsets (inline, as most time is spent here)."""
        mask = ((1 << self.bits) - 1) << (self.base + max(0, self.shift))
        right, left = max(0, self.shift), max(0, -self.shift)
        return [(x := start + offset) ^ ((x & mask) >> right << left) for offset in offsets]


IDENTITY = Swizzle(0, 0, 0)


def read_swizzle(value: Yaml, constants: Mapping[str, int]) -> tuple[Swizzle, bool]:
    """The swizzle of a tile, and whether it acts on the byte address."""
    if value is None:
        return IDENTITY, False
    if isinstance(value, dict):
        on = as_str(value.get("on", "offset"))
        if on not in ("offset", "address"):
            raise OracleError(f"a swizzle acts on the offset or the address, not {on!r}")
        numbers = [c_expr.constant(value[key], constants) for key in ("bits", "base", "shift")]
        return Swizzle(*numbers), on == "address"
    match = re.fullmatch(r"\s*(?:Swizzle|Sw)\s*<([^,]*),([^,]*),([^,]*)>\s*", as_str(value))
    if match is None:
        raise OracleError(f"{value!r} is no swizzle")
    return Swizzle(*(c_expr.constant(part, constants) for part in match.groups())), False


def read_layout(value: Yaml, constants: Mapping[str, int]) -> tuple[Layout, int]:
    """A layout, and the elements that it allocates.

    >>> layout, elements = read_layout("((8,R),4):((1,32),8)", {"R": 2})
    >>> layout.extents, elements, layout.mode_offset(0, 9)
    ([16, 4], 64, 33)
    >>> read_layout("((8,8)):((8,1))", {})[0].extents
    [64]
    """
    if isinstance(value, dict):
        return _read_order(value, constants)
    text = as_str(value)
    halves = split(text, ":")
    if len(halves) != 2:
        raise OracleError(f"{text!r} is not shape:stride")
    shape, stride = (_read_tree(part, constants) for part in halves)
    if isinstance(shape, int) or isinstance(stride, int):
        layout = Layout((tuple(_zip_leaves(shape, stride)),))
    elif len(shape) != len(stride):
        raise OracleError(f"{text!r}: shape and stride have different profiles")
    else:
        layout = Layout(tuple(tuple(_zip_leaves(a, b)) for a, b in zip(shape, stride, strict=True)))
    return layout, layout.cosize


def _read_order(value: dict[str, Yaml], constants: Mapping[str, int]) -> tuple[Layout, int]:
    rows, columns = (c_expr.constant(extent, constants) for extent in as_list(value["shape"]))
    pad = c_expr.constant(as_dict(value).get("pad", 0), constants)
    if value.get("order", "row") == "row":
        pitch = columns + pad
        return Layout((((rows, pitch),), ((columns, 1),))), rows * pitch
    pitch = rows + pad
    return Layout((((rows, 1),), ((columns, pitch),))), columns * pitch


def _read_tree(text: str, constants: Mapping[str, int]) -> Tree:
    text = text.strip()
    if not _wrapped(text):
        return c_expr.constant(text, constants)
    parts = split(text[1:-1], ",")
    if len(parts) == 1:
        inner = _read_tree(parts[0], constants)
        return inner if isinstance(inner, int) else [inner]
    return [_read_tree(part, constants) for part in parts if part.strip()]


def _wrapped(text: str) -> bool:
    """Whether the first bracket closes with the last character."""
    if not text.startswith("("):
        return False
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def split(text: str, separator: str) -> list[str]:
    """The parts between the separators outside all brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _zip_leaves(shape: Tree, stride: Tree) -> list[Leaf]:
    if isinstance(shape, int) and isinstance(stride, int):
        if shape < 1 or stride < 0:
            raise OracleError(f"a leaf {shape}:{stride} is not allowed")
        return [(shape, stride)]
    if isinstance(shape, int) or isinstance(stride, int) or len(shape) != len(stride):
        raise OracleError("shape and stride have different profiles")
    return [leaf for a, b in zip(shape, stride, strict=True) for leaf in _zip_leaves(a, b)]


def read_tma(value: Yaml, element_bits: int, constants: Mapping[str, int]) -> tuple[Layout, Swizzle, int]:
    """The layout of a TMA tile, its swizzle on the byte address, and its allocation in bytes."""
    tma = as_dict(value)
    mode = as_str(tma.get("swizzle", "none"))
    rows, inner = (c_expr.constant(extent, constants) for extent in as_list(tma["box"]))
    if mode not in ("none", "32B", "64B", "128B"):
        raise OracleError(f"{mode!r} is no TMA swizzle")
    if inner * element_bits % 128:
        raise OracleError("the inner extent of a TMA box must be a multiple of 16 bytes")
    inner_bytes = inner * element_bits // 8
    if max(rows, inner) > MOST_BOX_EXTENT:
        raise OracleError(f"a TMA box of {rows} rows and {inner} elements", "SWZ225")
    if mode == "none":
        return Layout((((rows, inner),), ((inner, 1),))), IDENTITY, rows * inner_bytes
    pitch_bytes, bits = {"32B": (32, 1), "64B": (64, 2), "128B": (128, 3)}[mode]
    if element_bits % 8 or pitch_bytes * 8 % element_bits:
        raise OracleError("a swizzled TMA tile needs whole bytes")
    if inner_bytes > pitch_bytes:
        raise OracleError("the inner extent of a swizzled TMA box is larger than its pitch")
    layout = Layout((((rows, pitch_bytes * 8 // element_bits),), ((inner, 1),)))
    return layout, Swizzle(bits, 4, 3), rows * pitch_bytes


def read_element_bits(tile: dict[str, Yaml], constants: Mapping[str, int]) -> int:
    """The width of an element, from `bits:` or from a name such as bf16 or f8e4m3."""
    if "bits" in tile:
        return c_expr.constant(tile["bits"], constants)
    element = tile["element"]
    match = re.fullmatch(r"(?:bf|tf|[fiu])(\d+)(?:e\d+m\d+)?", as_str(element))
    if match is None:
        raise OracleError(f"{element!r} is no element")
    return int(match[1])
