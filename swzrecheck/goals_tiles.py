"""What the claims about tiles ask: docs/semantics.md, section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swzrecheck.c_value import Conditions
from swzrecheck.claim import Tile
from swzrecheck.draft import Asked, Draft, Goals, MeaninglessError, UntrueError
from swzrecheck.exact import Arithmetic, Exact
from swzrecheck.places import (
    Origin,
    digits_of,
    inner_offset,
    offset_of_digits,
    origin_of,
    placed,
    position,
    related,
    stage_start,
    swizzled,
)
from swzrecheck.statement import INNER_VALUE, Always, Apart, Injective


def leaf_digits(numbers: Arithmetic, tile: Tile, prefix: str = "") -> list[Exact]:
    """One variable per leaf of the layout."""
    extents = [extent for extent, _ in tile.leaves] if tile.placing is None else tile.extents
    return [numbers.variable(f"{prefix}leaf.{i}", extent) for i, extent in enumerate(extents)]


def defined(*tiles: Tile) -> tuple[Asked, ...]:
    """The goals that tiles' expressions mean something at each coordinate, and are not negative."""
    asked: list[Asked] = []
    for tile in {tile.name: tile for tile in tiles}.values():
        if tile.placing is None:
            continue
        draft, conditions = Draft(), Conditions()
        digits = leaf_digits(draft.numbers, tile)
        value = placed(draft.numbers, tile.placing, digits, conditions)
        bound = draft.numbers.within(value, 0, max(0, value.high))
        held = [one for one in (*conditions.defined, *conditions.inside, bound) if draft.out.known(one) != 1]
        asked += draft.defined([digit.place for digit in digits], draft.true, held)
    return tuple(asked)


def stage_of(numbers: Arithmetic, tile: Tile, prefix: str = "") -> Exact:
    """A variable for the stage; 0 where there is only one."""
    return numbers.variable(f"{prefix}stage", tile.stages) if tile.stages > 1 else numbers.number(0)


def placement(draft: Draft, tile: Tile, origin: Origin, prefix: str = "") -> tuple[int, ...]:
    """The variables of stage and base, as far as they are open."""
    stage = [stage_of(draft.numbers, tile, prefix).place] if tile.stages > 1 else []
    return (*stage, *draft.base(origin))


def injective(tile: Tile) -> Goals:
    """No two elements share a bit."""
    return Goals((*defined(tile), Asked("", _one_to_one(tile))))


def bijective(tile: Tile) -> Goals:
    """One to one, inside the allocation, and as many bits as that has."""
    bits, room = tile.size * tile.element_bits, 8 * tile.allocation
    count = f"{tile.size} elements of {tile.element_bits} bits are {bits} bits, the allocation has {room}"
    if bits != room:
        raise UntrueError(count)
    goals = (Asked("injective", _one_to_one(tile)), Asked("in the allocation", _inside(tile)))
    return Goals((*defined(tile), *goals), counted=count)


def _one_to_one(tile: Tile) -> Injective:
    """Both elements have one stage and base: offsets decide, unless a swizzle sees addresses."""
    draft = Draft()
    numbers = draft.numbers
    digits = leaf_digits(numbers, tile)
    own = tuple(digit.place for digit in digits)
    swizzle = tile.swizzle
    if swizzle is None or not swizzle.on_address:
        return _under_a_swizzle(draft, (), own, offset_of_digits(numbers, tile, digits), tile)
    origin = origin_of(tile.base)
    shared = placement(draft, tile, origin)
    stage = stage_of(numbers, tile)
    size = tile.element_units
    wide = size.bit_length() - 1
    on_multiples = not any(place % size for place in (origin.start, origin.unit, tile.pitch))
    if size == 1 << wide and swizzle.base >= wide and on_multiples:
        # Every element lies on a multiple of its size, which the swizzle moves as a whole: count in
        # elements.
        in_elements = replace(origin, start=origin.start // size, unit=origin.unit // size)
        start = numbers.add(in_elements.address(numbers), numbers.times(stage, tile.pitch // size))
        inner = numbers.add(start, offset_of_digits(numbers, tile, digits))
        moved = replace(tile, swizzle=replace(swizzle, base=swizzle.base - wide))
        return _under_a_swizzle(draft, shared, own, inner, moved)
    whole = position(numbers, tile, digits, stage, origin)
    return places_differ(draft, shared, own, whole, size)


def _under_a_swizzle(
    draft: Draft, shared: tuple[int, ...], own: tuple[int, ...], inner: Exact, tile: Tile
) -> Injective:
    """A strided sum, and the swizzle after it as a map of its own."""
    if tile.swizzle is None:
        # A placing may count bytes: then an element takes several.
        return places_differ(draft, shared, own, inner, tile.element_units // tile.step_units)
    x = draft.numbers.variable(INNER_VALUE, 1 << draft.out.width(inner.place))
    return places_differ(draft, shared, own, inner, 1, (x.place, swizzled(draft.numbers, tile.swizzle, x).place))


def places_differ(
    draft: Draft, shared: Sequence[int], own: Sequence[int], inner: Exact, extent: int, outer: tuple[int, ...] = ()
) -> Injective:
    """Points that differ in `own` and agree in `shared` have ranges that do not meet."""
    program, at = draft.closed((*shared, *own, *outer[:1]), (draft.true, inner.place, *outer[1:]))
    return Injective(
        program=program,
        shared=tuple(at[place] for place in shared),
        distinct=tuple(at[place] for place in own),
        assumption=at[draft.true],
        inner=at[inner.place],
        extent=extent,
        outer=tuple(at[place] for place in outer),
    )


def within(numbers: Arithmetic, low: Exact, at: Exact, length: int, room: int) -> int:
    """One bit: low <= at and at + length <= low + room."""
    end = numbers.add(low, numbers.number(room))
    after = numbers.less_equal(numbers.add(at, numbers.number(length)), end)
    return numbers.out.all([numbers.less_equal(low, at), after])


def in_bounds(tile: Tile) -> Goals:
    """Every element lies inside the allocation of its stage."""
    return Goals((*defined(tile), Asked("", _inside(tile))))


def _inside(tile: Tile) -> Always:
    draft = Draft()
    numbers = draft.numbers
    digits = leaf_digits(numbers, tile)
    own = [digit.place for digit in digits]
    room = 8 * tile.allocation // tile.unit_bits
    if tile.swizzle is None or not tile.swizzle.on_address:
        # From the stage's start on, whatever that is.
        relative = numbers.times(inner_offset(numbers, tile, digits), tile.step_units)
        return draft.always(own, draft.true, within(numbers, numbers.number(0), relative, tile.element_units, room))
    origin, stage = origin_of(tile.base), stage_of(numbers, tile)
    start = stage_start(numbers, tile, stage, origin)
    at = position(numbers, tile, digits, stage, origin)
    holds = within(numbers, start, at, tile.element_units, room)
    return draft.always([*placement(draft, tile, origin), *own], draft.true, holds)


def contiguous(tile: Tile, elements: int, mode: int) -> Goals:
    """Aligned vectors along a mode lie at consecutive, aligned offsets, in order."""
    if mode >= len(tile.extents):
        raise MeaninglessError(f"tile {tile.name} has no mode {mode}")
    vectors = tile.extents[mode] // elements
    if not vectors:
        raise MeaninglessError(f"mode {mode} of tile {tile.name} has no vector of {elements}: nothing is claimed")
    draft = Draft()
    numbers = draft.numbers
    vector, item = numbers.variable("vector", vectors), numbers.variable("item", elements)
    others = [numbers.variable(f"coord.{i}", extent) if i != mode else vector for i, extent in enumerate(tile.extents)]
    on_address = not tile.offsets_decide
    origin, stage = origin_of(tile.base), stage_of(numbers, tile)

    def place(along: Exact) -> Exact:
        coord = [along if i == mode else other for i, other in enumerate(others)]
        digits = digits_of(numbers, tile, coord)
        return position(numbers, tile, digits, stage, origin) if on_address else inner_offset(numbers, tile, digits)

    step = tile.element_units if on_address else 1
    first = numbers.times(vector, elements)
    start, here = place(first), place(numbers.add(first, item))
    in_order = numbers.equal(here, numbers.add(start, numbers.times(item, step)))
    rest = numbers.remainder(start, numbers.number(elements * step))
    holds = draft.out.all([in_order, numbers.equal(rest, numbers.number(0))])
    shared = placement(draft, tile, origin) if on_address else ()
    variables = [*shared, *(other.place for other in others), item.place]
    return Goals((*defined(tile), Asked("", draft.always(variables, draft.true, holds))))


def disjoint(first: Tile, other: Tile | None) -> Goals:
    """No element of one tile meets one of the other; of one tile, one of another stage."""
    if other is None and first.stages == 1:
        raise MeaninglessError(f"tile {first.name} has one stage: there is nothing to keep apart")
    second = first if other is None else other
    draft = Draft()
    numbers = draft.numbers
    origins = [origin_of(tile.base) for tile in (first, second)]
    if other is not None and not related(first.base, second.base):
        origins = [origin_of(first.base, "p.base"), origin_of(second.base, "q.base")]
    unit = min(first.unit_bits, second.unit_bits)
    shared = draft.base(*origins) if origins[0].name == origins[1].name else []
    own: list[tuple[int, ...]] = []
    places: list[Exact] = []
    for tile, origin, prefix in zip((first, second), origins, ("p.", "q."), strict=True):
        digits = leaf_digits(numbers, tile, prefix)
        stage = stage_of(numbers, tile, prefix)
        at = position(numbers, tile, digits, stage, origin)
        places.append(numbers.times(at, tile.unit_bits // unit))
        mine = (*placement(draft, tile, origin, prefix), *(digit.place for digit in digits))
        own.append(tuple(place for place in mine if place not in shared))
    condition = draft.true
    if other is None:
        stages = [stage_of(numbers, first, prefix) for prefix in ("p.", "q.")]
        condition = draft.out.negate(numbers.equal(*stages))
    program, at = draft.closed((*shared, *own[0], *own[1]), (places[0].place, places[1].place, condition))
    goal = Apart(
        program=program,
        shared=tuple(at[place] for place in shared),
        first=tuple(at[place] for place in own[0]),
        first_position=at[places[0].place],
        first_extent=first.element_bits // unit,
        second=tuple(at[place] for place in own[1]),
        second_position=at[places[1].place],
        second_extent=second.element_bits // unit,
        condition=at[condition],
    )
    return Goals((*defined(first, second), Asked("", goal)))
