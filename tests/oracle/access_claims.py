"""Claims on one access, lane by lane (docs/semantics.md, sections 4 and 5)."""

from __future__ import annotations

from collections import defaultdict

from .accesses import Access, laid_out
from .choices import costs_of
from .hardware import Bounds, Cost, sourced_cost, warp_cost
from .judgement import REFUTED, VACUOUS, Finding, Verdict, holds
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import Tile

# Every width is a power of two of at most 16 bytes, so alignment repeats in the base after 16
# bytes.
ALIGNMENT_PERIOD = 16
# Banks and 128-byte lines repeat after 128 bytes.
COST_PERIOD = 128


def check_space(access: Access, *, of_global_memory: bool) -> None:
    """Refuse a claim that is about the other memory."""
    if access.instruction.of_global_memory != of_global_memory:
        raise OracleError(f"access {access.name}: the claim is about the other memory", "SWZ409")


def aligned(access: Access) -> Finding:
    return holds(all_aligned(access)) if access.active else VACUOUS


def all_aligned(access: Access) -> bool:
    width = access.instruction.width_bytes
    for base, stage in access.runs(ALIGNMENT_PERIOD):
        addresses = access.addresses(base, stage)
        if any(addresses[point] % width for point in access.active):
            return False
    if access.raw_sources is None:
        return True
    return not any(read[point] % width for read in access.source_runs for point in access.active)


def in_bounds(access: Access) -> Finding:
    width = access.instruction.width_bytes
    limit = access.tile.allocation_bytes if access.tile else access.form.bytes_allowed
    if limit is None:
        raise OracleError(f"access {access.name} needs bytes: for in_bounds")
    if not access.tile and not access.instruction.of_global_memory and (access.base.align or access.base.offset):
        raise OracleAmbiguousError(f"access {access.name}: bytes: of a bare address with a base")
    if not access.active:
        return VACUOUS
    if access.tile:
        for column, extent in zip(access.coordinates, access.tile.layout.extents, strict=True):
            if any(column[point] >= extent for point in access.active):
                return REFUTED
    for base, stage in access.runs():
        addresses, starts = access.addresses(base, stage), access.starts(base, stage)
        for point in access.active:
            first = addresses[point] - starts[point]
            if first < 0 or first + width > limit:
                return REFUTED
    return holds(True)


def cost(access: Access, at_most: int | None, *, exactly: bool = False) -> Finding:
    """`conflict_free` when `at_most` is None, else `wavefronts`; `exactly` so many in the worst
    case.
    """
    check_space(access, of_global_memory=False)
    if not access.active:
        return VACUOUS
    if not all_aligned(access):
        return REFUTED
    if access.raw_sources is not None:
        return _sourced(access, at_most, exactly=exactly)
    costs: set[Cost] = set()
    for base, stage in access.runs(COST_PERIOD):
        addresses = access.addresses(base, stage)
        if access.form.reads_own:
            for choices in access.choosing:
                options = [{None if point is None else addresses[point] for point in lane} for lane in choices]
                costs |= costs_of(access.instruction, options)
            continue
        for warp in access.warps:
            lanes = [None if point is None else addresses[point] for point in warp]
            costs.add(warp_cost(access.instruction, lanes))
    most, conflicts = max(cost.wavefronts for cost in costs), max(cost.conflicts for cost in costs)
    slowest = tuple(sorted((c.wavefronts, c.minimum) for c in costs if c.wavefronts == most))
    clashing = tuple(sorted((c.wavefronts, c.minimum) for c in costs if c.conflicts == conflicts))
    # Of several with the most wavefronts the first has the smallest minimum, so the most bank
    # conflicts.
    minimum = slowest[0][1]
    verdict: Verdict = "proved" if (conflicts == 0 if at_most is None else most <= at_most) else "refuted"
    if exactly and most != at_most:
        verdict = "refuted"
    return Finding(verdict, most, minimum, most - minimum, conflicts, slowest=slowest, clashing=clashing)


def _sourced(access: Access, at_most: int | None, *, exactly: bool) -> Finding:
    """The cost of copies that say where they read, which is not always known."""
    found: set[Bounds] = set()
    for base, stage in access.runs(COST_PERIOD):
        addresses = access.addresses(base, stage)
        for read in access.source_runs:
            for warp in access.warps:
                lanes = [None if point is None else addresses[point] for point in warp]
                found.add(sourced_cost(lanes, [0 if point is None else read[point] for point in warp]))
    too_much = [
        each for each in found if (each.cost.conflicts if at_most is None else each.cost.wavefronts) > (at_most or 0)
    ]
    if at_most is not None and at_most >= 32 and not exactly:
        return Finding("proved")
    if too_much:
        return REFUTED
    if not all(each.exact for each in found):
        return Finding("unknown")
    if exactly and max(each.cost.wavefronts for each in found) != at_most:
        return REFUTED
    most, conflicts = max(each.cost.wavefronts for each in found), max(each.cost.conflicts for each in found)
    slowest = tuple(sorted((c.cost.wavefronts, c.cost.minimum) for c in found if c.cost.wavefronts == most))
    clashing = tuple(sorted((c.cost.wavefronts, c.cost.minimum) for c in found if c.cost.conflicts == conflicts))
    return Finding("proved", most, slowest[0][1], most - slowest[0][1], conflicts, slowest=slowest, clashing=clashing)


def covers(access: Access, tile: Tile, times: int) -> Finding:
    """Whether each element is touched `times` times in every stage.

    A stage is covered by what runs in that stage. Where a lane reaches into another stage's
    elements the page could also be read as counting that touch; such a case is judged only if both
    readings agree. An iteration that stands for several counts so often.
    """
    check_space(access, of_global_memory=False)
    if access.form.reads_own:
        raise OracleError(f"covers: what access {access.name} touches depends on data", "SWZ105")
    if access.form.own:
        # Values that nothing reads: each iteration is one, whatever they are.
        access = laid_out(access.form, [each for each in access.iterations if each.own == access.iterations[0].own])
    if not access.active:
        return VACUOUS
    if any(access.weight(point) is None for point in access.active):
        raise OracleAmbiguousError(f"access {access.name}: covers in an `any` loop that moves on and on")
    bases = _common_bases(access, tile)
    narrow = all(_covered(access, tile, times, *pair, across=False) for pair in bases)
    if tile.stages > 1 and narrow != all(_covered(access, tile, times, *pair, across=True) for pair in bases):
        raise OracleAmbiguousError(f"access {access.name} reaches from one stage into another")
    return holds(narrow)


def _common_bases(access: Access, tile: Tile) -> list[tuple[int, int]]:
    """The pairs (base of the access, base of the tile) that are enough."""
    if access.tile == tile:
        return [(base, base) for base in tile.base.values(tile.span_bytes)]
    if access.tile is not None and access.tile.stages * tile.stages > 1:
        raise OracleAmbiguousError("covers of another tile than the access's, with stages")
    if access.base.align is None and tile.base.align is None:
        return [(access.base.offset, tile.base.offset)]
    if access.base.memory is not None and access.base.memory == tile.base.memory:
        period = max(access.period_bytes, tile.span_bytes)
        free = tile.base.free_values(period)
        return [(base + access.base.offset, base + tile.base.offset) for base in free]
    raise OracleAmbiguousError("covers of a tile whose base is not the access's")


def _covered(access: Access, tile: Tile, times: int, access_base: int, tile_base: int, *, across: bool) -> bool:
    """Whether the count is right in every stage; `across` counts what runs in other stages as well."""
    width = access.instruction.width_bytes
    elements = [(stage, i) for stage in range(tile.stages) for i in range(len(tile.raw_bits))]
    counts = dict.fromkeys(elements, 0)
    holders: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for stage in range(tile.stages):
        for i, bit in enumerate(tile.bits(tile.start(tile_base, stage))):
            for byte in range(bit // 8, (bit + tile.element_bits - 1) // 8 + 1):
                holders[byte].append((stage, i))
    for run in access.stage_runs:
        addresses = access.addresses(access_base, run)
        for point in access.active:
            a = addresses[point]
            own = access.stage_column[point] if access.stage_column is not None else run or 0
            touched = {element for byte in range(a, a + width) if byte in holders for element in holders[byte]}
            for element in touched:
                if across or element[0] == own:
                    counts[element] += access.weight(point) or 0
    return all(count == times for count in counts.values())
