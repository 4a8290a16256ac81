"""Claims on one tile, by enumeration of its elements (docs/semantics.md, section 5).

A tile's addresses, relative to its start, depend on the start modulo the swizzle's span alone (not
at all for a swizzle on offsets), so each residue of the start stands for every base and stage with
that residue.
"""

from __future__ import annotations

from itertools import pairwise
from math import lcm

from .box_tiles import Box
from .judgement import VACUOUS, Finding, holds
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import Tile


def injective(tile: Tile) -> Finding:
    return holds(all(_no_shared_bit(tile, start) for start in tile.start_residues(tile.span_bytes)))


def bijective(tile: Tile) -> Finding:
    fills = len(tile.raw_bits) * tile.element_bits == 8 * tile.allocation_bytes
    starts = tile.start_residues(tile.span_bytes)
    return holds(fills and all(_no_shared_bit(tile, start) and _all_inside(tile, start) for start in starts))


def tile_in_bounds(tile: Tile) -> Finding:
    return holds(all(_all_inside(tile, start) for start in tile.start_residues(tile.span_bytes)))


def contiguous(tile: Tile, elements: int, mode: int | None) -> Finding:
    layout = tile.layout
    mode = _default_mode(tile) if mode is None else mode
    if not 0 <= mode < len(layout.modes) or elements < 1:
        raise OracleError(f"tile {tile.name} has no mode {mode}, or no vector of {elements}")
    extent = layout.extents[mode]
    step = 1
    for other in layout.extents[:mode]:
        step *= other
    first_points = [
        point
        for point in range(len(layout.offsets))
        if (c := point // step % extent) % elements == 0 and c + elements <= extent
    ]
    if not first_points:
        return VACUOUS
    if not tile.on_address:
        return holds(_vectors_hold(tile.swizzled_offsets, first_points, step, elements, 1))
    element_bytes = tile.element_bits // 8
    period = lcm(tile.span_bytes, elements * element_bytes)
    for start in tile.start_residues(period):
        addresses = tile.swizzle.shifted(tile.raw_bytes, start)
        if not _vectors_hold(addresses, first_points, step, elements, element_bytes):
            return holds(False)
    return holds(True)


def stages_disjoint(tile: Tile) -> Finding:
    if tile.stages < 2:
        raise OracleAmbiguousError(f"tile {tile.name}: `disjoint` of a tile with one stage")
    for base in tile.base.values(tile.span_bytes):
        seen: set[int] = set()
        for stage in range(tile.stages):
            units = occupied_bits(tile, tile.start(base, stage))
            if not seen.isdisjoint(units):
                return holds(False)
            seen |= units
    return holds(True)


def occupied_bits(tile: Tile, start: int) -> set[int]:
    """All bit addresses of the elements in the stage that starts at byte `start`."""
    return {bit + k for bit in tile.bits(start) for k in range(tile.element_bits)}


def _no_shared_bit(tile: Tile, start: int) -> bool:
    bits = sorted(tile.bits(start))
    return all(b - a >= tile.element_bits for a, b in pairwise(bits))


def _all_inside(tile: Tile, start: int) -> bool:
    bits = tile.bits(start)
    end = 8 * (start + tile.allocation_bytes)
    return 8 * start <= min(bits) and max(bits) + tile.element_bits <= end


def _default_mode(tile: Tile) -> int:
    if isinstance(tile.layout, Box):
        return len(tile.layout.modes) - 1
    for number, mode in enumerate(tile.layout.modes):
        if any(extent > 1 and stride == 1 for extent, stride in mode):
            return number
    return 0


def _vectors_hold(places: list[int], firsts: list[int], step: int, elements: int, unit: int) -> bool:
    """Whether each vector lies at consecutive multiples of `unit`, the first a multiple of the
    vector.
    """
    for point in firsts:
        first = places[point]
        if first % (elements * unit):
            return False
        for t in range(1, elements):
            if places[point + t * step] != first + t * unit:
                return False
    return True
