"""What a tile's map does to banks: the swizzle's bits, formulas by coordinate, pitches and periods."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swzverify.engines.gf2 import rank
from swzverify.explain.explanations.reading import Forms, matrix
from swzverify.explain.explanations.statements import (
    Bit,
    Level,
    Matrix,
    NotLinear,
    OneToOne,
    Period,
    Pitch,
    SwizzleBits,
    TileBankBit,
)
from swzverify.explain.pictures.grid import first_period
from swzverify.hardware import BANK_WORD_BYTES, BANKS
from swzverify.ir import integers as ints
from swzverify.ir.expr import Var, var
from swzverify.ir.gf2 import VariableBits, affine_bits
from swzverify.layout import Layout
from swzverify.subjects import Tile
from swzverify.subjects.memory import Origin

MAX_ELEMENTS = 1 << 20
"""The most elements of a tile in which periods are looked for."""
_MAX_EXTENT = 1 << 12


def mode_names(tile: Tile) -> tuple[str, ...]:
    """What the modes of a tile are called in formulas.

    >>> mode_names(Tile("A", 32, Layout((8, 4))))
    ('row', 'col')
    """
    rank_ = tile.layout.rank
    return ("row", "col") if rank_ == 2 else tuple(f"c{mode}" for mode in range(rank_))


def swizzle_bits(tile: Tile) -> list[SwizzleBits]:
    """The bits of the tile's swizzle, if it has one."""
    swizzle = tile.swizzle
    if swizzle is None or not isinstance(tile.layout, Layout):
        return []
    bits = 8 if tile.swizzle_on == "address" else tile.element_bits
    reach = tile.layout.cosize * tile.element_bits // bits - 1
    width = max(reach.bit_length(), swizzle.span.bit_length() - 1)
    whole = bits % 8 == 0 and bits & (bits - 1) == 0
    return [SwizzleBits(tile.name, swizzle, tile.swizzle_on, width, bits.bit_length() - 4 if whole else None)]


def tile_forms(tile: Tile, start_bytes: int) -> Forms:
    """The forms of the byte address of an element, over the bits of its coordinate."""
    nodes = _nodes(tile)
    coord = [ints.variable(node) for node in nodes]
    position = tile.lower_position(coord, ints.integer(0), Origin(start_bytes, 1, 1))
    (forms,) = affine_bits([position.bits], VariableBits.of(nodes))
    bits = tuple(Bit(node.name, bit) for node in nodes for bit in range(node.width))
    return Forms(forms[tile.units_per_byte.bit_length() - 1 :], bits)


def _nodes(tile: Tile) -> list[Var]:
    return [var(name, extent) for name, extent in zip(mode_names(tile), tile.extents, strict=True)]


def tile_formulas(tile: Tile, start_bytes: int) -> list[TileBankBit | Matrix | NotLinear]:
    """The formulas of an element's bank, as a matrix too where all of them are known."""
    forms = tile_forms(tile, start_bytes)
    known = [(index, form) for index, form in enumerate(forms.bank) if form is not None]
    bits = (TileBankBit(tile.name, index, forms.terms(form), form & 1, start_bytes) for index, form in known)
    return [*bits, matrix("tile", tile.name, forms, keep=mode_names(tile))]


def one_to_one(tile: Tile) -> list[OneToOne]:
    """The rank of a linear map from coordinates to offsets.

    The list is empty if a mode's extent is no power of two, or if the map is not linear.
    """
    if any(extent & (extent - 1) for extent in tile.extents):
        return []
    nodes = [node for node, extent in zip(_nodes(tile), tile.extents, strict=True) if extent > 1]
    coord = [ints.variable(node) if node in nodes else ints.integer(0) for node in _nodes(tile)]
    (forms,) = affine_bits([tile.lower_position(coord, ints.integer(0), Origin(0, 1, 1)).bits], VariableBits.of(nodes))
    rows = [form >> 1 for form in forms if form is not None]
    if len(rows) < len(forms):
        return []
    return [OneToOne(tile.name, rank(rows), sum(node.width for node in nodes))]


def pitches(tile: Tile) -> list[Pitch]:
    """How far a step of each mode moves, without the steps to the next element in memory."""
    if not isinstance(tile.layout, Layout):
        return []
    found: list[Pitch] = []
    for name, mode in zip(mode_names(tile), tile.layout.modes, strict=True):
        leaves = mode.leaves
        for index, (extent, stride) in enumerate(leaves):
            if extent > 1 and stride != 1 and stride * tile.element_bits % 8 == 0:
                level = Level(extent, stride * tile.element_bits // 8)
                found.append(Pitch(tile.name, name, index, len(leaves), level, tile.swizzle is not None))
    return found


def periods(tile: Tile, start_bytes: int) -> Iterator[Period]:
    """After how many steps of each mode the banks of all elements repeat."""
    if tile.size > MAX_ELEMENTS or max(tile.extents) > _MAX_EXTENT:
        return
    coord = np.meshgrid(*(np.arange(extent, dtype=np.int64) for extent in tile.extents), indexing="ij", sparse=True)
    position = np.asarray(tile.position(coord, stage=0, base=start_bytes))
    banks = np.broadcast_to(position // (tile.units_per_byte * BANK_WORD_BYTES) % BANKS, tile.extents)
    for mode, (name, extent) in enumerate(zip(mode_names(tile), tile.extents, strict=True)):
        if extent > 1:
            yield Period(tile.name, name, extent, first_period(np.moveaxis(banks, mode, 0)), start_bytes)
