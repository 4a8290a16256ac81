"""Claims on two subjects, and on index maps (docs/semantics.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from .access_forms import AccessForm
from .accesses import Access, laid_out
from .base_shift import Box, shift_in_base
from .judgement import PROVED, REFUTED, VACUOUS, Finding, holds
from .open_loops import representatives
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import BASES_BELOW, Base, IndexMap, Tile
from .tile_claims import occupied_bits

MOST_EVALUATIONS = 4_000_000
MOST_ALIGNMENT = 1 << 20


def equivalent_tiles(p: Tile, q: Tile) -> Finding:
    if p.layout.extents != q.layout.extents:
        return REFUTED
    if p.stages != q.stages:
        raise OracleAmbiguousError("equivalent of tiles with different numbers of stages")

    def same(p_base: int, q_base: int) -> bool:
        return all(p.bits(p.start(p_base, s)) == q.bits(q.start(q_base, s)) for s in range(p.stages))

    return _at_common_bases(p.base, q.base, max(p.span_bytes, q.span_bytes), same)


def equivalent_accesses(p: Access, q: Access) -> Finding:
    """Iteration by iteration; one that does not exist, or that `assume:` excludes, has no active
    lane.
    """
    alike = p.form.threads == q.form.threads and _same_loops(p.form, q.form) and _same_own(p.form, q.form)
    p_stages, q_stages = p.stage_runs, q.stage_runs
    alike = alike and (len(p_stages) == len(q_stages) or min(len(p_stages), len(q_stages)) == 1)
    if not alike:
        return REFUTED
    if not p.active and not q.active:
        return VACUOUS
    if not p.active or not q.active:
        return REFUTED
    if p.form.open_loops:
        together = representatives([p.form, q.form])
        p, q = laid_out(p.form, together), laid_out(q.form, together)
    # One that runs in one stage a time is compared with each stage of one that runs in all.
    most = max(len(p_stages), len(q_stages))
    stages = list(zip(p_stages * (most // len(p_stages)), q_stages * (most // len(q_stages)), strict=True))
    p_places, q_places = p.places, q.places
    if p_places.keys() != q_places.keys():
        return REFUTED
    pairs = [(point, q_places[place]) for place, point in p_places.items()]

    def same(p_base: int, q_base: int) -> bool:
        for p_stage, q_stage in stages:
            left, right = p.bit_addresses(p_base, p_stage), q.bit_addresses(q_base, q_stage)
            if any(left[here] != right[there] for here, there in pairs):
                return False
        return True

    return _at_common_bases(p.base, q.base, max(p.period_bytes, q.period_bytes), same)


def _same_loops(p: AccessForm, q: AccessForm) -> bool:
    """Loops of the same names, starts, steps and numbers of iterations, or values, in any order."""
    if p.loop_names != q.loop_names:
        return False
    return all(p.loops[name].kind == q.loops[name].kind for name in p.loop_names)


def _same_own(p: AccessForm, q: AccessForm) -> bool:
    """Unknowns of the same names and ranges."""
    return p.own_names == q.own_names and all(p.own[name].values == q.own[name].values for name in p.own_names)


def equivalent_maps(p: IndexMap, q: IndexMap) -> Finding:
    if any(m.reads_base and m.fixed_base is None for m in (p, q)):
        raise OracleAmbiguousError("equivalent of two maps that read base")
    if p.names != q.names and p.extents == q.extents:
        raise OracleAmbiguousError("equivalent of maps whose variables have other names")
    return holds(p.extents == q.extents and p.values() == q.values())


def equivalent_tile_and_map(tile: Tile, index_map: IndexMap) -> Finding:
    if list(index_map.extents) != tile.layout.extents or len(index_map.trees) != 1:
        raise OracleAmbiguousError("equivalent of a tile and a map of another box, or of several values")
    if tile.stages > 1:
        raise OracleAmbiguousError("equivalent of a tile with stages and a map")
    box = Box(index_map.columns, index_map.points)
    period, shift = shift_in_base(index_map.trees[0], box) or (BASES_BELOW, BASES_BELOW)
    common = max(period, tile.span_bytes)
    if shift * (common // period) != common and tile.base.align is not None:
        # The map does not move with the base, so it cannot agree at two bases that are a period
        # apart, and every alignment up to 2^20 leaves such bases.
        return REFUTED
    if len(tile.base.values(common)) * index_map.points > MOST_EVALUATIONS:
        raise OracleAmbiguousError("equivalent of a tile and a map with too many bases to enumerate")

    def same(base: int, _: int) -> bool:
        return tile.bits(base) == [8 * value for (value,) in index_map.values(base)]

    return _at_common_bases(tile.base, tile.base, common, same)


def _at_common_bases(p: Base, q: Base, period: int, same: Callable[[int, int], bool]) -> Finding:
    """Judges `same` at every common base, and finds the alignment from which on it holds.

    `period` is a power of two, so the multiples of a power of two L below it meet every residue
    that multiples of L have; from L = period on, that is the residue 0 alone.
    """
    if p.align is None and q.align is None:
        if p.memory != q.memory:
            raise OracleAmbiguousError("a fixed base of a memory against another fixed base")
        return holds(same(p.offset, q.offset))
    if p.memory is None and q.memory is None and p.align is not None and q.align is not None:
        free = Base(max(p.align, q.align), 0, 1).free_values(period)
    elif p.memory == q.memory:
        free = p.free_values(period)
    else:
        raise OracleAmbiguousError("equivalent under bases of different kinds")
    failing = [base for base in free if not same(base + p.offset, base + q.offset)]
    if not failing:
        return PROVED
    alignment = 1
    while alignment <= MOST_ALIGNMENT:
        if all(base % alignment for base in failing):
            return Finding("refuted", smallest_base_alignment=alignment)
        alignment *= 2
    return REFUTED


def disjoint(p: Tile, q: Tile) -> Finding:
    same_memory = p.base.memory is not None and p.base.memory == q.base.memory
    if p.base.align is None and q.base.align is None and p.base.memory != q.base.memory:
        raise OracleAmbiguousError("a fixed base of a memory against another fixed base")
    if same_memory or (p.base.align is None and q.base.align is None):
        for free in p.base.free_values(max(p.span_bytes, q.span_bytes)):
            if not _all_stages(p, free + p.base.offset).isdisjoint(_all_stages(q, free + q.base.offset)):
                return REFUTED
        return PROVED
    return _disjoint_at_independent_bases(p, q)


def _all_stages(tile: Tile, base: int) -> set[int]:
    return {bit for stage in range(tile.stages) for bit in occupied_bits(tile, tile.start(base, stage))}


def _disjoint_at_independent_bases(p: Tile, q: Tile) -> Finding:
    """Both bases run on their own.

    From one base to the next of the same residue a tile moves by its step (a power of two, at least
    its alignment and its span). If both move, bits a and b meet for some choice exactly when a - b
    is a multiple of the smaller step; if one is fixed, the other must reach it from its first place
    by steps upwards.
    """
    steps = [None if t.base.align is None else 8 * max(t.base.align, t.span_bytes) for t in (p, q)]
    for p_base in p.base.values(p.span_bytes):
        left = _all_stages(p, p_base)
        for q_base in q.base.values(q.span_bytes):
            right = _all_stages(q, q_base)
            match steps:
                case [int(a), int(b)]:
                    meet = not {x % min(a, b) for x in left}.isdisjoint({x % min(a, b) for x in right})
                case [int(a), None]:
                    meet = _reaches(left, right, a)
                case [None, int(b)]:
                    meet = _reaches(right, left, b)
                case _:
                    meet = not left.isdisjoint(right)
            if meet:
                return REFUTED
    return PROVED


def _reaches(moving: set[int], fixed: set[int], step: int) -> bool:
    first: dict[int, int] = {}
    for bit in moving:
        first[bit % step] = min(bit, first.get(bit % step, bit))
    return any(first.get(bit % step, bit + 1) <= bit for bit in fixed)


def permutation(index_map: IndexMap) -> Finding:
    if index_map.onto is None or len(index_map.onto) != len(index_map.trees):
        raise OracleError(f"map {index_map.name} needs onto: with one extent per value")
    if index_map.reads_base and index_map.fixed_base is None:
        raise OracleAmbiguousError("permutation of a map that reads an open base")
    values = index_map.values()
    inside = all(0 <= x < extent for value in values for x, extent in zip(value, index_map.onto, strict=True))
    return holds(inside and len(set(values)) == len(values) == prod(index_map.onto))
