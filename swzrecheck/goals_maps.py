"""What the claims on maps, and on equal tiles and maps, ask: docs/semantics.md, section 5."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from swzrecheck.c_text import names_of, read_expression
from swzrecheck.c_value import Conditions, Values
from swzrecheck.claim import Base, IndexMap, Tile
from swzrecheck.draft import Asked, Draft, Goals, MeaninglessError, UntrueError
from swzrecheck.exact import Exact
from swzrecheck.goals_tiles import defined, places_differ, stage_of
from swzrecheck.places import Origin, common_origins, digits_of, origin_of, position

ANYWHERE = Base(0, 1)
"""The base of a map that reads `base` and does not say where it lies."""


def uses_base(index: IndexMap) -> bool:
    """Whether an expression reads `base`."""
    return any("base" in names_of(read_expression(text)) for text in index.value)


def _values(draft: Draft, index: IndexMap, point: Sequence[Exact], origin: Origin) -> tuple[list[Exact], list[int]]:
    """A map's values at a point, and what must hold for them to mean something."""
    names = {name: draft.numbers.number(value) for name, value in index.constants.items()}
    names |= {name: value for (name, _), value in zip(index.over, point, strict=True)}
    if uses_base(index):
        names["base"] = origin.address(draft.numbers)
    found: list[Exact] = []
    needs: list[int] = []
    for text in index.value:
        conditions = Conditions()
        found.append(Values(draft.numbers, names, conditions).of(text))
        needs += [*conditions.defined, *conditions.inside]
    return found, needs


def permutation(index: IndexMap) -> Goals:
    """The values lie in the box, no two are alike, and there are as many points as the box has."""
    if index.onto is None or len(index.onto) != len(index.value):
        raise MeaninglessError(f"map {index.name} does not say onto which box it goes, one extent per value")
    points, room = prod(extent for _, extent in index.over), prod(index.onto)
    count = f"{points} points, the box {' x '.join(map(str, index.onto))} has {room}"
    if points != room:
        raise UntrueError(count)
    draft = Draft()
    numbers = draft.numbers
    own = [numbers.variable(name, extent) for name, extent in index.over]
    origin = origin_of(index.base or ANYWHERE)
    shared = draft.base(origin) if uses_base(index) else []
    values, needs = _values(draft, index, own, origin)
    variables = [*(one.place for one in own), *shared]
    inside = [
        bit
        for value, extent in zip(values, index.onto, strict=True)
        for bit in (
            numbers.less_equal(numbers.number(0), value),
            numbers.less(value, numbers.number(extent)),
        )
    ]
    goals = draft.defined(variables, draft.true, needs)
    goals.append(Asked("inside", draft.always(variables, draft.true, draft.out.all(inside))))
    weights = [prod(index.onto[:place]) for place in range(len(values))]
    number = numbers.total([numbers.times(value, weight) for value, weight in zip(values, weights, strict=True)])
    # Inside the box the number in mixed radix tells values apart; outside the other goal fails.
    one_to_one = places_differ(draft, shared, [one.place for one in own], number, 1)
    return Goals((*goals, Asked("one to one", one_to_one)), counted=count)


def equal_places(first: Tile | IndexMap, other: Tile | IndexMap) -> Goals:
    """The same address, to the bit, or the same values, at every coordinate, stage and base."""
    _check_alike(first, other)
    tile = first if isinstance(first, Tile) else other if isinstance(other, Tile) else None
    bases = (first.base or other.base or ANYWHERE, other.base or first.base or ANYWHERE)
    try:
        origins = common_origins(*bases)
    except ValueError as error:
        raise MeaninglessError(f"{first.name} and {other.name}: {error}") from None
    draft = Draft()
    numbers = draft.numbers
    if tile is None:
        assert isinstance(first, IndexMap)  # noqa: S101 - neither is a tile
        point = [numbers.variable(name, extent) for name, extent in first.over]
    else:
        point = [numbers.variable(f"coord.{i}", extent) for i, extent in enumerate(tile.extents)]
    stage = numbers.number(0) if tile is None else stage_of(numbers, tile)
    values: list[list[Exact]] = []
    needs: list[int] = []
    for side, origin in zip((first, other), origins, strict=True):
        if isinstance(side, Tile):
            at = position(numbers, side, digits_of(numbers, side, point), stage, origin)
            values.append([numbers.times(at, side.unit_bits)])
            continue
        found, more = _values(draft, side, point, origin)
        # Against a tile a map's value is a byte address.
        values.append(found if tile is None else [numbers.times(value, 8) for value in found])
        needs += more
    reads_base = any(isinstance(side, Tile) or uses_base(side) for side in (first, other))
    variables = [stage.place] if tile is not None and tile.stages > 1 else []
    variables += draft.base(*origins) if reads_base else []
    variables += [one.place for one in point]
    holds = draft.out.all([numbers.equal(a, b) for a, b in zip(*values, strict=True)])
    of_maps = draft.defined(variables, draft.true, needs)
    of_tiles = defined(*(side for side in (first, other) if isinstance(side, Tile)))
    return Goals((*of_tiles, *of_maps, Asked("", draft.always(variables, draft.true, holds))))


def _check_alike(first: Tile | IndexMap, other: Tile | IndexMap) -> None:
    """Refuse different boxes, and a map that has a base of its own beside a tile."""
    boxes = [
        side.extents if isinstance(side, Tile) else tuple(extent for _, extent in side.over) for side in (first, other)
    ]
    counts = [1 if isinstance(side, Tile) else len(side.value) for side in (first, other)]
    stages = [side.stages for side in (first, other) if isinstance(side, Tile)]
    pair = f"{first.name} and {other.name}"
    if boxes[0] != boxes[1] or counts[0] != counts[1]:
        raise UntrueError(f"{pair} go over {boxes[0]} and {boxes[1]}, to {counts[0]} and {counts[1]} values")
    if len(set(stages)) > 1:
        raise UntrueError(f"{pair} have {stages[0]} and {stages[1]} stages")
    for side, beside in ((first, other), (other, first)):
        if isinstance(side, IndexMap) and isinstance(beside, Tile) and side.base not in (None, beside.base):
            raise MeaninglessError(f"map {side.name} has another base than tile {beside.name}")
