"""The matching engine: the cost of warp instructions over every choice of their lanes' own values.

It reads the front end's own definition, at every value of every lane's unknowns. It builds a most
expensive choice (`crowd`) and prices it by the plain rule. If the price equals the bound that no
choice exceeds, the worst case is exact. Few choices are tried one by one. `residues` has a bound for
larger ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from random import Random

import numpy as np

from swzverify.engines.crowd import Choice, Options, crowd
from swzverify.engines.enumeration import grid
from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import (
    Answer,
    Finding,
    GatherCost,
    Numbers,
    Point,
    Truths,
    WarpCost,
    WorstCost,
    of_lane,
)
from swzverify.engines.prices import Price, price
from swzverify.engines.worst import RANK, judged
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction

NAME = "matching"
MAX_POINTS = 1 << 21
MAX_WARPS = 256
"""Warp instructions that differ in more than the line at which they begin."""
MAX_CHOICES = 1 << 12
"""Choices of a warp instruction that are tried one by one."""
SAMPLES = 64
"""Choices that are tried where there are more, and no bound is reached."""
MOST = LANES + 1
"""More than any warp instruction takes."""
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class _Warp:
    """A warp instruction: its index, and for each lane the addresses that it can choose.

    Each address has the value of the unknowns that chooses it.
    """

    row: int
    places: tuple[dict[int | None, int], ...]

    @property
    def lanes(self) -> list[Options]:
        """What each lane can choose."""
        return [list(places) for places in self.places]


@dataclass(frozen=True, slots=True)
class _Priced:
    """The costs of the worst choices found for a warp instruction, and upper bounds for all choices."""

    warp: _Warp
    found: tuple[tuple[Price, Choice], ...]
    most_wavefronts: int
    most_conflicts: int

    @property
    def wavefronts(self) -> tuple[Price, Choice]:
        return max(self.found, key=lambda each: each[0].wavefronts * RANK + each[0].bank_conflicts)

    @property
    def conflicts(self) -> tuple[Price, Choice]:
        return max(self.found, key=lambda each: each[0].bank_conflicts * RANK + each[0].wavefronts)


def _gather(goal: GatherCost) -> Finding:
    cost = goal.cost
    counts = {name: count for name, count in cost.domain.representatives().items() if name != cost.lane.name}
    own = {node.name: node.limit for node in goal.own}
    rows, values = prod(counts.values()), prod(own.values())
    if rows * values * LANES > MAX_POINTS:
        return _OTHER
    free, chosen = grid(counts), grid(own)
    arrays = {name: array[:, None, None] for name, array in free.items()}
    arrays[cost.lane.name] = np.arange(LANES, dtype=np.int64)[None, :, None]
    arrays |= {name: array[None, None, :] for name, array in chosen.items()}
    shape = (rows, LANES, values)
    counts_here, address, active = cost.definition(arrays)
    inside, on = np.broadcast_to(counts_here, shape), np.broadcast_to(active, shape)
    where = np.broadcast_to(address, shape)
    if (where[on & inside] % cost.instruction.width_bytes).any():
        return _OTHER  # the rule presumes alignment, which is a goal of its own
    counting = np.flatnonzero(inside[:, 0, 0] & on.any(axis=(1, 2)))
    if not counting.size:
        return Finding(NAME, Answer.EMPTY)
    warps = _different(where, on, counting)
    if warps is None:
        return _OTHER
    priced = [_price(cost.instruction, warp) for warp in warps]

    def placed(row: int, choice: Choice, cost_of: Price, warp: _Warp) -> WarpCost:
        point: Point = {name: int(array[row]) for name, array in free.items()}
        for lane, address in enumerate(choice):
            at = warp.places[lane][address]
            point |= {of_lane(name, lane): int(array[at]) for name, array in chosen.items()}
        return WarpCost(cost_of.wavefronts, cost_of.minimum, point)

    most = max(priced, key=lambda each: each.wavefronts[0].wavefronts * RANK + each.wavefronts[0].bank_conflicts)
    worst = max(priced, key=lambda each: each.conflicts[0].bank_conflicts * RANK + each.conflicts[0].wavefronts)
    (most_price, choice), (other_price, other_choice) = most.wavefronts, worst.conflicts
    found = WorstCost(
        placed(most.warp.row, choice, most_price, most.warp),
        placed(worst.warp.row, other_choice, other_price, worst.warp),
    )
    exact = (
        max(each.most_wavefronts for each in priced) == most_price.wavefronts
        and max(each.most_conflicts for each in priced) == other_price.bank_conflicts
    )
    failing = found.failing(cost.at_most)
    if exact:
        return judged(NAME, cost, found)
    if failing is not None:
        return Finding(NAME, Answer.FAILS, failing.point)
    bound = max(each.most_conflicts if cost.at_most is None else each.most_wavefronts for each in priced)
    return Finding(NAME, Answer.HOLDS) if bound <= (cost.at_most or 0) else _OTHER


def _different(where: Numbers, on: Truths, counting: Numbers) -> list[_Warp] | None:
    """The warp instructions that differ; None where they are too many.

    What all addresses have in whole lines changes no cost.
    """
    found: dict[bytes, _Warp] = {}
    for at in counting.tolist():
        low = int(where[at][on[at]].min()) // BANK_PERIOD_BYTES * BANK_PERIOD_BYTES
        addresses = np.where(on[at], where[at] - low, -1)
        key = addresses.tobytes()
        if key in found:
            continue
        if len(found) == MAX_WARPS:
            return None
        lanes: list[dict[int | None, int]] = []
        for lane in range(LANES):
            values, first = np.unique(addresses[lane], return_index=True)
            options: dict[int | None, int] = dict(zip(values.tolist(), first.tolist(), strict=True))
            if -1 in options:
                # Busy options first: a lane that may choose anything should show that it takes part.
                options[None] = options.pop(-1)
            lanes.append(options)
        found[key] = _Warp(at, tuple(lanes))
    return list(found.values())


def _price(row: Instruction, warp: _Warp) -> _Priced:
    """The worst of what is tried, and the bounds."""
    lanes = warp.lanes
    if row.by_octets:
        candidates: list[Choice] = []
        most, conflicts = MOST, MOST
    else:
        built = crowd(row, lanes)
        candidates, most, conflicts = list(built.choices), built.most_wavefronts, built.most_conflicts
    found = [(price(row, choice), choice) for choice in candidates]
    result = _Priced(warp, tuple(found), most, conflicts)
    if found and result.wavefronts[0].wavefronts == most and result.conflicts[0].bank_conflicts == conflicts:
        return result
    whole = prod(len(options) for options in lanes) <= MAX_CHOICES
    others = product(*lanes) if whole else _sampled(lanes)
    found += [(price(row, choice), list(choice)) for choice in others if any(a is not None for a in choice)]
    result = _Priced(warp, tuple(found), most, conflicts)
    if not whole:
        return result
    exact = (result.wavefronts[0].wavefronts, result.conflicts[0].bank_conflicts)
    return _Priced(warp, tuple(found), *exact)


def _sampled(lanes: Sequence[Options]) -> Iterator[Sequence[int | None]]:
    """Some choices, the same in every run.

    The first one has each lane's first option, so that some lane is active.
    """
    yield [options[0] for options in lanes]
    random = Random(0)  # noqa: S311 - the same choices in every run
    yield from islice(iter(lambda: [random.choice(options) for options in lanes], None), SAMPLES)


class Matching(Native):
    """Decides the cost of every choice, one warp instruction at a time."""

    reads_formula = False
    name = NAME
    rules = Rules(gather_cost=_gather)
