"""What the claims about operands of the tensor core ask: docs/semantics.md, section 9."""

from __future__ import annotations

from dataclasses import dataclass

from swzrecheck.c_value import Conditions, Values
from swzrecheck.claim import Claim, Operand, Tile
from swzrecheck.draft import Asked, Draft, Goals, MeaninglessError
from swzrecheck.exact import Exact
from swzrecheck.goals_tiles import defined, within
from swzrecheck.lanes import loop_value
from swzrecheck.places import Origin, common_origins, digits_of, position, stage_start

UNIT = 16
"""Bytes of a unit of the descriptor's fields."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An operand over the variables of its loops, its elements and the base."""

    draft: Draft
    variables: list[int]
    needs: list[int]
    start: Exact
    read: Exact
    coord: list[Exact]
    stage: Exact
    tile: Tile
    tile_origin: Origin

    def goals(self, holds: list[int]) -> Goals:
        """The goal that some bits are 1 everywhere, and that expressions mean something."""
        asked = self.draft.defined(self.variables, self.draft.true, self.needs)
        always = self.draft.always(self.variables, self.draft.true, self.draft.out.all(holds))
        return Goals((*defined(self.tile), *asked, Asked("", always)))

    @property
    def aligned(self) -> int:
        """One bit: the start is a multiple of 16."""
        numbers = self.draft.numbers
        return numbers.equal(numbers.remainder(self.start, numbers.number(UNIT)), numbers.number(0))


def aligned(claim: Claim, operand: Operand) -> Goals:
    """Every start address is a multiple of 16."""
    drawn = _drawn(claim, operand)
    return drawn.goals([drawn.aligned])


def in_bounds(claim: Claim, operand: Operand) -> Goals:
    """Every start is aligned, and every element that is read lies in the stage's allocation."""
    drawn = _drawn(claim, operand)
    numbers = drawn.draft.numbers
    low = stage_start(numbers, drawn.tile, drawn.stage, drawn.tile_origin)
    inside = within(numbers, low, drawn.read, operand.element_bytes, drawn.tile.allocation)
    return drawn.goals([drawn.aligned, inside])


def delivers(claim: Claim, operand: Operand) -> Goals:
    """Every start is aligned, and every element is read where the tile has it."""
    drawn = _drawn(claim, operand)
    numbers = drawn.draft.numbers
    digits = digits_of(numbers, drawn.tile, drawn.coord)
    wanted = position(numbers, drawn.tile, digits, drawn.stage, drawn.tile_origin)
    return drawn.goals([drawn.aligned, numbers.equal(drawn.read, wanted)])


def _drawn(claim: Claim, operand: Operand) -> _Drawn:
    tile = claim.tiles[operand.tile]
    if any(loop.count == 0 for loop in operand.loops):
        raise MeaninglessError(f"the loops of operand {operand.name} never run")
    try:
        origins = common_origins(operand.base, tile.base)
    except ValueError as error:
        raise MeaninglessError(f"{operand.name} and {tile.name}: {error}") from None
    draft, conditions = Draft(), Conditions()
    numbers = draft.numbers
    names = {name: numbers.number(value) for name, value in operand.constants.items()}
    variables: list[int] = []
    for loop in operand.loops:
        index = numbers.variable(loop.name, loop.count)
        variables.append(index.place)
        names[loop.name] = loop_value(numbers, loop, index)
    row, column = numbers.variable("element.mn", operand.rows), numbers.variable("element.k", operand.columns)
    values = Values(numbers, names, conditions)
    offset = values.of(operand.start)
    first = [values.of(text) for text in operand.at]
    stage = numbers.number(0) if operand.stage is None else values.of(operand.stage)
    spans = {"MN": operand.rows, "K": operand.columns}
    bounds = [(offset, 0, max(0, offset.high)), (stage, 0, tile.stages - 1)]
    bounds += [
        (value, 0, extent - spans[mode]) for value, extent, mode in zip(first, tile.extents, operand.modes, strict=True)
    ]
    if any(high < low for _, low, high in bounds):
        raise MeaninglessError(f"operand {operand.name} is larger than tile {tile.name}")
    inside = [numbers.within(value, low, high) for value, low, high in bounds]
    needs = [one for one in (*conditions.defined, *conditions.inside, *inside) if draft.out.known(one) != 1]
    offset, stage, *first = (numbers.clamp(value, low, high) for value, low, high in bounds)
    start = numbers.add(origins[0].address(numbers), offset)
    element = {"MN": row, "K": column}
    coord = [numbers.add(value, element[mode]) for value, mode in zip(first, operand.modes, strict=True)]
    read = _swizzled(draft, operand, numbers.add(start, _linear(draft, operand, row, column)))
    variables = [*draft.base(*origins), *variables, row.place, column.place]
    return _Drawn(draft, variables, needs, start, read, coord, stage, tile, origins[1])


def _linear(draft: Draft, operand: Operand, row: Exact, column: Exact) -> Exact:
    """The bytes from the start to an element, row by row of the table of section 9."""
    numbers, size, width = draft.numbers, operand.element_bytes, operand.width

    def low(value: Exact, period: int) -> Exact:
        return numbers.remainder(value, numbers.number(period))

    def high(value: Exact, period: int, step: int) -> Exact:
        return numbers.times(numbers.divide(value, numbers.number(period)), step)

    rows, columns = numbers.times(row, size), numbers.times(column, size)
    if operand.major == "K" and not width:
        near = [high(columns, UNIT, operand.lbo), low(columns, UNIT)]
        return numbers.total([numbers.times(low(row, 8), UNIT), high(row, 8, operand.sbo), *near])
    if operand.major == "K":
        return numbers.total([numbers.times(low(row, 8), width), high(row, 8, operand.sbo), columns])
    if not width:
        far = [low(rows, UNIT), high(rows, UNIT, operand.sbo)]
        return numbers.total([*far, numbers.times(low(column, 8), UNIT), high(column, 8, operand.lbo)])
    far = [low(rows, width), high(rows, width, operand.lbo)]
    return numbers.total([*far, numbers.times(low(column, 8), width), high(column, 8, operand.sbo)])


def _swizzled(draft: Draft, operand: Operand, address: Exact) -> Exact:
    """X of section 9."""
    if not operand.width:
        return address
    numbers, lines = draft.numbers, operand.width // UNIT
    line = numbers.divide(address, numbers.number(128))
    turned = numbers.add(line, numbers.number(-operand.base_offset % lines))
    picked = numbers.remainder(turned, numbers.number(lines))
    return numbers.bitwise("bvxor", address, numbers.times(picked, UNIT))
