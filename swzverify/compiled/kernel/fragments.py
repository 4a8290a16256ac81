"""The machine instructions that ptxas makes of `wmma.load` and `wmma.store` in shared memory.

PTX leaves open which lane has which element. The rule here is what machine code does: ptxas 11.8,
12.4, 13.0 and 13.5 make these instructions for sm_75 to sm_121, whether the stride is a register, a
number or absent. Earlier targets have other instructions. ptxas leaves out instructions whose results
nothing reads, and equal ones where rows overlap. PTX wants rows that are aligned as a lane's part is;
with others machine code computes other addresses.

Source: tests/data/wmma_lanes.json, read from machine code; tests/data/README.md says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from swzverify.hardware.spelling import row_suffix

MADE_BY_PTXAS: Final = "the machine instructions of wmma are those of ptxas 11.8 to 13.5"
_FROM: Final = 75
_LARGER_FROM: Final = 80
"""The first target with the instructions of this rule, and the first one with the larger products."""
_SHAPES: Final = {
    "m16n16k16": (16, 16, 16),
    "m8n32k16": (8, 32, 16),
    "m32n8k16": (32, 8, 16),
    "m16n16k8": (16, 16, 8),
    "m8n8k4": (8, 8, 4),
}
_BYTES: Final = {"f16": 2, "bf16": 2, "u8": 1, "s8": 1, "f32": 4, "s32": 4, "tf32": 4, "f64": 8}
_FACTORS: Final = {"m16n16k8": {"tf32"}, "m8n8k4": {"f64"}}
_SUMS: Final = {"m16n16k8": {"f32"}, "m8n8k4": {"f64"}}
"""The types of the factors and of the sums of a shape; the other shapes have the same ones."""
_TILE: Final = 8
"""Rows of the matrices of `ldmatrix`, and of the tiles of 32 lanes."""


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance in shared memory: bytes, and elements that lie a stride apart."""

    bytes: int = 0
    strides: int = 0


@dataclass(frozen=True, slots=True)
class Fragment:
    """The machine instructions of one wmma instruction. They differ in a distance that all lanes share.

    Attributes:
        instruction: Their name in the table of costs.
        element_bytes: The bytes of an element, which the stride counts.
        lanes: For each bit of the lane's number, how far it moves the address.
        starts: The distance of each instruction.
        dense_stride: The stride if PTX gives none: the elements of a row, or of a column.
    """

    instruction: str
    element_bytes: int
    lanes: tuple[Distance, ...]
    starts: tuple[Distance, ...]
    dense_stride: int

    def fields(self) -> list[tuple[int, int, Distance]]:
        """The bits of the lane's number as fields: the lowest bit, how many bits, and how far 1 moves.

        >>> found = fragment_of("wmma.load.c.sync.aligned.row.m16n16k16.shared.f32", 90)
        >>> [(low, bits) for low, bits, _ in found.fields()]
        [(0, 2), (2, 3)]
        """
        found: list[tuple[int, int, Distance]] = []
        for bit, step in enumerate(self.lanes):
            if found:
                low, bits, unit = found[-1]
                if step == Distance(unit.bytes << bits, unit.strides << bits):
                    found[-1] = (low, bits + 1, unit)
                    continue
            found.append((bit, 1, step))
        return found


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the machine instructions of a wmma instruction, by its place among them."""

    fragment: Fragment
    place: int

    @property
    def start(self) -> Distance:
        """Its distance from the address of the PTX."""
        return self.fragment.starts[self.place]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A dimension of the matrix, with its number of elements."""

    size: int
    is_contiguous: bool
    element_bytes: int

    def at(self, element: int) -> Distance:
        return Distance(element * self.element_bytes) if self.is_contiguous else Distance(0, element)


def fragment_of(opcode: str, capability: int) -> Fragment | None:
    """The machine instructions of a `wmma.load` or `wmma.store`; None if they are not known.

    `capability` is the target's, such as 90.

    >>> found = fragment_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", 90)
    >>> found.instruction, found.lanes[:4], len(found.starts)
    ('ldmatrix.x4', (Distance(bytes=0, strides=1), Distance(bytes=0, strides=2), \
Distance(bytes=0, strides=4), Distance(bytes=0, strides=8)), 1)
    """
    name, *words = opcode.split(".")
    if (
        name != "wmma"
        or capability < _FROM
        or words[:2] not in (["load", "a"], ["load", "b"], ["load", "c"], ["store", "d"])
    ):
        return None
    shape = next((word for word in words if word in _SHAPES), "")
    layout = next((word for word in words if word in ("row", "col")), "")
    operand, kind = words[1], words[-1]
    is_sum = operand in "cd"
    known = _SUMS.get(shape, {"f16", "f32", "s32"}) if is_sum else _FACTORS.get(shape, {"f16", "bf16", "u8", "s8"})
    if not shape or not layout or kind not in known:
        return None
    m, n, k = _SHAPES[shape]
    size = _BYTES[kind]
    # Lanes of a quad lie along the first axis, the eight quads along the second one.
    rows, columns = {"a": (m, k), "b": (k, n)}.get(operand, (m, n))
    down, along = _Axis(rows, layout == "col", size), _Axis(columns, layout == "row", size)
    is_turned = shape == "m8n32k16" and (kind != "s32" or capability >= _LARGER_FROM)
    quad, quads = (down, along) if operand == "b" or (is_sum and is_turned) else (along, down)
    dense = (along if along.is_contiguous else down).size
    if is_sum and kind == "f16":
        # Pairs are contiguous in memory, and MOVM turns them where registers need other pairs.
        quad, quads = (along, down) if along.is_contiguous else (down, along)
        return _plain("ld" if words[0] == "load" else "st", quad, quads, 2, dense)
    if size == 2:
        order = (quad, quads) if operand == "b" and n <= 16 else (quads, quad)
        most = 2 if capability >= _LARGER_FROM else 1
        return _matrices(order, most, "" if quad.is_contiguous else ".trans", size, dense)
    if size == 1 and quad.is_contiguous:
        return _matrices((quads,), 1, "", size, dense)
    each = 2 if is_sum else 4 if size == 1 else 1
    return _plain("ld" if words[0] == "load" else "st", quad, quads, each, dense)


def pieces_of(opcode: str, capability: int) -> tuple[Piece, ...]:
    """The machine instructions of a wmma instruction that reads or writes shared memory, one by one.

    >>> len(pieces_of("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32", 90))
    4
    >>> pieces_of("wmma.store.d.sync.aligned.row.m16n16k16.f32", 90)
    ()
    """
    if not {"shared", "shared::cta"} & {*opcode.split(".")}:
        return ()
    found = fragment_of(opcode, capability)
    return () if found is None else tuple(Piece(found, place) for place in range(len(found.starts)))


def _matrices(order: Sequence[_Axis], most: int, trans: str, size: int, dense: int) -> Fragment:
    """Loads of `ldmatrix`: as many matrices as it takes, along the axes in turn."""
    steps = [axis.at(_TILE << turn) for turn in range(2) for axis in order if axis.size > _TILE << turn]
    lanes = tuple(Distance(0, 1 << bit) for bit in range(3)) + tuple(steps[:most])
    count = 1 << len(steps[:most])
    return Fragment(f"ldmatrix.x{count}{trans}", size, lanes, tuple(_sums(steps[most:])), dense)


def _plain(operation: str, quad: _Axis, quads: _Axis, each: int, dense: int) -> Fragment:
    """Loads or stores of so many neighbours along the quad: at once if they are contiguous, else one by one."""
    size = quad.element_bytes
    together = each if quad.is_contiguous else 1
    lanes = (quad.at(each), quad.at(2 * each), *(quads.at(1 << bit) for bit in range(3)))
    places = product(range(0, each, together), range(0, quad.size, 4 * each), range(0, quads.size, _TILE))
    starts = tuple(_sum(quad.at(own + tile), quads.at(row)) for own, tile, row in places)
    name = f"{operation}.shared.{row_suffix(size * together, size * 8)}"
    return Fragment(name, size, lanes, starts, dense)


def _sums(steps: Sequence[Distance]) -> Iterator[Distance]:
    """The sums of all subsets."""
    for chosen in product((False, True), repeat=len(steps)):
        total = Distance()
        for step, is_in in zip(steps, chosen, strict=True):
            total = _sum(total, step) if is_in else total
        yield total


def _sum(one: Distance, other: Distance) -> Distance:
    return Distance(one.bytes + other.bytes, one.strides + other.strides)
