"""What the claims about accesses ask: docs/semantics.md, sections 4 and 5."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from swzrecheck.claim import Access, Base, Claim, Tile
from swzrecheck.draft import Asked, Draft, Goals, MeaninglessError, UntrueError
from swzrecheck.exact import Exact
from swzrecheck.goals_tiles import defined, leaf_digits, placement, stage_of, within
from swzrecheck.lanes import Lanes, counted_counts, existing_counts, lanes_of
from swzrecheck.places import Origin, common_origins, origin_of, position
from swzrecheck.statement import Always, Cost, Covers, GatherCost
from swzrecheck.warp_rule import warp_rule

Counts: TypeAlias = Callable[[Access, Tile | None, Origin], dict[str, int]]


def _read(draft: Draft, claim: Claim, access: Access, counts: Counts = counted_counts) -> Lanes:
    """The lanes that count, at the access's own base."""
    tile = claim.tile_of(access)
    origin = origin_of(_base_of(claim, access))
    return lanes_of(draft.numbers, access, tile, origin, counts(access, tile, origin))


def _base_of(claim: Claim, access: Access) -> Base:
    tile = claim.tile_of(access)
    return access.base if tile is None else tile.base


def _defined(claim: Claim, access: Access) -> list[Asked]:
    """The goal that its expressions mean something, in every iteration that exists."""
    draft = Draft()
    lanes = _read(draft, claim, access, existing_counts)
    return draft.defined(lanes.variables, lanes.present, lanes.must_hold)


def _with(claim: Claim, access: Access, *asked: Asked) -> Goals:
    """The goals that expressions mean something, then others; and that some lane is ever active."""
    draft = Draft()
    lanes = _read(draft, claim, access)
    exists = draft.possible(lanes.variables, draft.out.all([lanes.assumption, lanes.active]))
    return Goals((*_defined(claim, access), *asked), exists)


def _where_active(draft: Draft, lanes: Lanes, holds: int) -> Always:
    either = draft.out.any([draft.out.negate(lanes.active), holds])
    return draft.always(lanes.variables, lanes.assumption, either)


def aligned(claim: Claim, access: Access) -> Goals:
    """Every active lane begins at a multiple of the width."""
    return _with(claim, access, Asked("", _aligned(claim, access)))


def _aligned(claim: Claim, access: Access) -> Always:
    draft = Draft()
    lanes = _read(draft, claim, access)
    rest = draft.numbers.remainder(lanes.where.position, draft.numbers.number(_width(access, lanes)))
    return _where_active(draft, lanes, draft.numbers.equal(rest, draft.numbers.number(0)))


def _width(access: Access, lanes: Lanes) -> int:
    """The instruction's width in units."""
    return 8 * warp_rule(access.instruction).width_bytes // lanes.where.unit_bits


def in_bounds(claim: Claim, access: Access) -> Goals:
    """Every coordinate is in its mode, every touched byte in the stage's allocation or `bytes`."""
    tile = claim.tile_of(access)
    draft = Draft()
    numbers = draft.numbers
    lanes = _read(draft, claim, access)
    where, width = lanes.where, _width(access, lanes)
    parts: list[int] = []
    if tile is None:
        if access.bytes is None:
            raise MeaninglessError(f"nothing says how many bytes access {access.name} may touch")
        parts.append(within(numbers, numbers.number(0), where.relative, width, access.bytes))
    else:
        room = 8 * tile.allocation // tile.unit_bits
        inside = zip(where.coord, tile.extents, strict=True)
        parts += [numbers.less(value, numbers.number(extent)) for value, extent in inside]
        if tile.swizzle is None or not tile.swizzle.on_address:
            parts.append(within(numbers, numbers.number(0), where.relative, width, room))
        else:
            parts.append(within(numbers, where.start, where.position, width, room))
    return _with(claim, access, Asked("", _where_active(draft, lanes, draft.out.all(parts))))


def cost(claim: Claim, access: Access, at_most: tuple[int, ...]) -> Goals:
    """Every lane is aligned, as the rule presumes, and every warp instruction keeps the limit."""
    if warp_rule(access.instruction).sectors:
        raise MeaninglessError(f"{access.name} goes to global memory, which has no banks")
    return _cost(claim, access, at_most)


def sectors(claim: Claim, access: Access, at_most: tuple[int, ...]) -> Goals:
    """Every lane is aligned, and every warp instruction keeps to so many sectors."""
    if not warp_rule(access.instruction).sectors:
        raise MeaninglessError(f"{access.name} goes to shared memory, and sectors are of global memory")
    return _cost(claim, access, at_most)


def _cost(claim: Claim, access: Access, at_most: tuple[int, ...]) -> Goals:
    draft = Draft()
    lanes = _read(draft, claim, access)
    address = draft.numbers.divide(lanes.where.position, draft.numbers.number(8 // lanes.where.unit_bits))
    program, at = draft.closed(lanes.variables, (lanes.assumption, address.place, lanes.active))
    goal = Cost(
        program=program,
        lane=at[lanes.lane],
        free=tuple(at[place] for place in lanes.free),
        assumption=at[lanes.assumption],
        address=at[address.place],
        active=at[lanes.active],
        instruction=access.instruction,
        at_most=at_most,
    )
    if lanes.own:
        goal = GatherCost.of(goal, tuple(at[place] for place in lanes.own))
    return _with(claim, access, Asked("aligned", _aligned(claim, access)), Asked("cost", goal))


def covers(claim: Claim, access: Access, tile: Tile, times: int) -> Goals:
    """Over all threads and iterations each element of each stage is touched so many times."""
    if warp_rule(access.instruction).sectors:
        raise MeaninglessError(f"{access.name} goes to global memory, and {tile.name} lies in shared memory")
    if access.unknowns:
        raise MeaninglessError(f"what {access.name} touches depends on values of its lanes' own")
    own = claim.tile_of(access)
    if own is not None and own.name != tile.name and max(own.stages, tile.stages) > 1:
        raise MeaninglessError(f"nothing says which stage of {own.name} covers which of {tile.name}")
    try:
        origins = common_origins(_base_of(claim, access), tile.base)
    except ValueError as error:
        raise MeaninglessError(f"{access.name} and {tile.name}: {error}") from None
    draft = Draft()
    numbers = draft.numbers
    lanes = lanes_of(numbers, access, own, origins[0], counted_counts(access, own, origins[0]))
    shared = placement(draft, tile, origins[1])
    points = tuple(place for place in lanes.variables if place not in shared)
    digits = leaf_digits(numbers, tile)
    unit = min(lanes.where.unit_bits, tile.unit_bits)
    address = numbers.times(lanes.where.position, lanes.where.unit_bits // unit)
    element = position(numbers, tile, digits, stage_of(numbers, tile), origins[1])
    element = numbers.times(element, tile.unit_bits // unit)
    elements = tuple(digit.place for digit in digits)
    roots = (lanes.assumption, address.place, lanes.active, element.place)
    program, at = draft.closed((*shared, *points, *elements), roots)
    goal = Covers(
        program=program,
        shared=tuple(at[place] for place in shared),
        points=tuple(at[place] for place in points),
        assumption=at[lanes.assumption],
        address=at[address.place],
        active=at[lanes.active],
        reach=8 * warp_rule(access.instruction).width_bytes // unit,
        elements=tuple(at[place] for place in elements),
        position=at[element.place],
        extent=tile.element_bits // unit,
        times=times,
    )
    return _with(claim, access, *defined(tile), Asked("", goal))


def equal_lanes(claim: Claim, first: Access, other: Access) -> Goals:
    """In every iteration the same lanes are active, each at the same address, to the bit."""
    sides = (first, other)
    tiles = [claim.tile_of(access) for access in sides]
    _check_alike(first, other, tiles)
    try:
        origins = common_origins(*(_base_of(claim, access) for access in sides))
    except ValueError as error:
        raise MeaninglessError(f"{first.name} and {other.name}: {error}") from None
    draft = Draft()
    out, numbers = draft.out, draft.numbers
    three = list(zip(sides, tiles, origins, strict=True))
    limits = [counted_counts(*each) for each in three]
    # Beyond the larger count neither has a lane that is active.
    counts = {name: max(limit[name] for limit in limits) for name in limits[0]}
    lanes = [lanes_of(numbers, *each, counts) for each in three]
    runs = [out.all([one.assumption, one.active]) for one in lanes]
    places: list[Exact] = [numbers.times(one.where.position, one.where.unit_bits) for one in lanes]
    same = out.any([out.negate(runs[0]), numbers.equal(*places)])
    variables = tuple(dict.fromkeys(place for one in lanes for place in one.variables))
    defined = [*_defined(claim, first), *_defined(claim, other)]
    goal = draft.always(variables, draft.true, out.all([out.op("=", *runs), same]))
    exists = draft.possible(variables, out.any(runs))
    return Goals((*defined, Asked("", goal)), exists)


def _check_alike(first: Access, other: Access, tiles: list[Tile | None]) -> None:
    """Accesses that differ in their threads, loops or stages are different at sight."""
    pair = f"{first.name} and {other.name}"
    if warp_rule(first.instruction).sectors != warp_rule(other.instruction).sectors:
        raise MeaninglessError(f"{pair} go to different memories")
    if first.threads != other.threads:
        raise UntrueError(f"{pair} have {first.threads} and {other.threads} threads")
    loops = [{loop.name: loop.key for loop in access.loops} for access in (first, other)]
    if loops[0] != loops[1]:
        raise UntrueError(f"{pair} have different loops")
    own = [{each.name: (each.start, each.step, each.count) for each in access.unknowns} for access in (first, other)]
    if any(own[1].get(name, values) != values for name, values in own[0].items()):
        raise UntrueError(f"{pair} have different values in their lanes")
    if any({loop.name for loop in access.loops} & set(own[0] | own[1]) for access in (first, other)):
        raise MeaninglessError(f"{pair}: one name for a loop and for values of the lanes")
    stages = [
        1 if tile is None or access.stage is not None else tile.stages
        for access, tile in zip((first, other), tiles, strict=True)
    ]
    if stages[0] != stages[1] and min(stages) > 1:
        raise UntrueError(f"{pair} run in {stages[0]} and {stages[1]} stages")
