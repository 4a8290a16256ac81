"""What an access would take with another swizzle or a pad: the cost rule gives each number."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from swzverify.errors import SwzError
from swzverify.explain.explanations.statements import BestPad, BestSwizzle, Change, LeastBase, Parameter
from swzverify.hardware import LANES
from swzverify.layout import Layout, Swizzle
from swzverify.layout.swizzle_range import swizzle_fields
from swzverify.search.costs import AccessCosts, cost, lanes_to_price
from swzverify.search.cures.pads import pads
from swzverify.search.cures.swizzles import MAX_BITS
from swzverify.search.synth.pricing import Fields, Path, Prices
from swzverify.subjects import Access, Tile
from swzverify.subjects.tile import SwizzleOn

MAX_LANES = 1 << 23
"""Lanes that the whole search looks at; about a second."""
_Triple = tuple[int, int, int]
_NONE: _Triple = (0, 0, 0)
_NAMES: tuple[Literal["B", "M", "S"], ...] = ("B", "M", "S")


class Range:
    """The swizzles that a tile could have for an access.

    They keep the access's vectors whole, and they read bits that its offsets, or the addresses of a
    stage, have.
    """

    def __init__(self, access: Access, tile: Tile, layout: Layout) -> None:
        self.on: SwizzleOn = tile.swizzle_on
        unit = 8 if self.on == "address" else tile.element_bits
        vector = max(8 * access.instruction.width_bytes, tile.element_bits)
        self.least = (-(-vector // unit) - 1).bit_length()
        self.reach = (layout.cosize * tile.element_bits // unit - 1).bit_length()
        self.bare = tile.relaid(tile.layout, Swizzle(0, 0, 0), self.on)
        self.path = Path(access)

    def prices(self, triples: list[_Triple]) -> Prices:
        """What they cost.

        Errors are those of `Path.price`.
        """
        return self.path.price(self.bare, Fields.of(triples), self.on)

    def values(self, now: _Triple, index: int) -> list[int]:
        """The values of one parameter beside the other two: within reach, and the tile's own."""
        bits, base, shift = now
        sign = -1 if shift < 0 else 1
        tried = (
            range(min(abs(shift), self.reach - base - abs(shift)) + 1),
            range(self.least, self.reach - bits - abs(shift) + 1),
            [sign * each for each in range(bits, self.reach - base - bits + 1)],
        )
        return sorted({*tried[index], now[index]})


def swizzle_changes(access: Access, costs: AccessCosts) -> list[Change | Parameter | LeastBase | BestSwizzle]:
    """The effect of other values of B, M and S on the access, and the best of all swizzles.

    The values are those one step away, and all of them. The list is empty if the tile has no layout, or
    if there is too much to price.
    """
    tile = access.tile
    if tile is None or not isinstance(tile.layout, Layout):
        return []
    found: list[Change | Parameter | LeastBase | BestSwizzle] = []
    try:
        among = Range(access, tile, tile.layout)
        if tile.swizzle is not None:
            found += _around(among, tile.swizzle, costs)
            if among.least:
                found.append(LeastBase(among.least, among.on))
        if costs.bank_conflicts:
            found += _best(among)
    except SwzError:  # too much to list or to price
        return []
    return found


def _around(among: Range, swizzle: Swizzle, costs: AccessCosts) -> list[Change | Parameter | LeastBase | BestSwizzle]:
    now = (swizzle.bits, swizzle.base, swizzle.shift)
    found: list[Change | Parameter | LeastBase | BestSwizzle] = []
    (none,) = _priced(among, [_NONE])
    if none is not None:
        found.append(Change("none", None, *none))
    for index, name in enumerate(_NAMES):
        values = among.values(now, index)
        triples = [_with(now, index, value) for value in values]
        priced = {
            value: price for value, price in zip(values, _priced(among, triples), strict=True) if price is not None
        }
        if now[index] not in priced or len(priced) == 1:
            continue
        fewest = min(wavefronts for wavefronts, _ in priced.values())
        best = tuple(value for value, (wavefronts, _) in priced.items() if wavefronts == fewest)
        found.append(Parameter(name, now[index], costs.wavefronts, costs.bank_conflicts, tuple(priced), fewest, best))
        beside = [value for value in (now[index] - 1, now[index] + 1) if value in priced and (index, value) != (0, 0)]
        found += [Change(name, Swizzle(*_with(now, index, value)), *priced[value]) for value in beside]
    return found


def _with(now: _Triple, index: int, value: int) -> _Triple:
    changed = [*now]
    changed[index] = value
    return (changed[0], changed[1], changed[2])


def _priced(among: Range, triples: list[_Triple]) -> list[tuple[int, int] | None]:
    """Wavefronts and bank conflicts; None where some lane's address is no multiple of the width."""
    prices = among.prices(triples)
    return [
        (int(wavefronts), int(conflicts)) if aligned else None
        for wavefronts, conflicts, aligned in zip(prices.wavefronts, prices.conflicts, prices.aligned, strict=True)
    ]


def _best(among: Range) -> list[BestSwizzle]:
    triples = list(swizzle_fields(among.reach, among.least, most_bits=MAX_BITS))
    if not triples or len(triples) * LANES * among.path.lanes.count > MAX_LANES:
        return []
    prices = among.prices(triples)
    if not prices.aligned.all():
        return []
    fewest = int(prices.wavefronts.min())
    winners = np.flatnonzero(prices.wavefronts == fewest)
    first = int(winners[0])
    searched = (len(triples), among.least, among.reach, MAX_BITS)
    conflicts = int(prices.conflicts[first])
    return [BestSwizzle(among.on, *searched, fewest, conflicts, len(winners), Swizzle(*triples[first]))]


def best_pad(access: Access, costs: AccessCosts) -> list[BestPad]:
    """The first pad that frees an access of its conflicts.

    The list is empty if there is none, if the tile is swizzled, or if there is too much to price.
    """
    tile = access.tile
    if tile is None or tile.swizzle is not None or not costs.bank_conflicts or not isinstance(tile.layout, Layout):
        return []
    lanes = 0
    for candidate in pads(tile, access.instruction.width_bytes):
        lanes += lanes_to_price(access)
        if lanes > MAX_LANES or candidate.new is None or not isinstance(candidate.new.layout, Layout):
            return []
        try:
            found = cost(replace(access, tile=candidate.new))
        except SwzError:  # a misaligned lane, say
            continue
        if not found.bank_conflicts:
            layout = candidate.new.layout
            pad, row = _pad_of(tile.layout, layout)
            return [BestPad(pad, row, str(layout), found.wavefronts, found.bank_conflicts)]
    return []


def _pad_of(old: Layout, new: Layout) -> tuple[int, int]:
    """The pad and the row that it follows: the smallest stride that has grown."""
    grown = [(before, after) for (_, before), (_, after) in zip(old.leaves, new.leaves, strict=True) if after > before]
    row, longer = min(grown)
    return longer - row, row
