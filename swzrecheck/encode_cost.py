"""The cost of warp instructions as conditions over symbolic addresses.

The rule is in docs/semantics.md, section 4. A misaligned warp instruction breaks a cost statement
too, so the statement needs no separate one for alignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from swzrecheck.encode_octets import octet_classes, octet_conflict
from swzrecheck.program import Builder
from swzrecheck.statement import Cost, GatherCost
from swzrecheck.warp_rule import LANES, SECTOR_BYTES, WarpRule, warp_rule

Question = tuple[str, Builder, int]
AnyCost: TypeAlias = Cost | GatherCost
MAX_CROWD = 17
"""A solver looks for so many lanes at once; for more, all lanes are written out."""


def cost_parts(goal: AnyCost) -> Iterator[Question]:
    """The questions whether a lane is misaligned, and whether a warp costs too much."""
    rule = warp_rule(goal.instruction)
    if rule.width_bytes > 1:
        yield _misaligned(goal, rule)
    if goal.at_most and isinstance(goal, GatherCost) and _is_crowd(rule, goal.at_most[0]):
        yield _crowd(goal, rule, goal.at_most[0] + 1)
    elif goal.at_most:
        yield _too_many(goal, rule, goal.at_most[0])
    elif rule.sectors:
        yield _more_than_filled(goal, rule)
    else:
        yield _conflict(goal, rule)


class _Warp:
    """The lanes of a warp over common free variables, each with its address and whether it is active.

    Each lane has copies of the variables that lanes have of their own, under its mark.
    """

    def __init__(self, goal: AnyCost, rule: WarpRule) -> None:
        self.out = Builder()
        self.goal, self.rule = goal, rule
        self.free = self.out.copies(goal.program, goal.free)

    def lane(self, value: int, mark: str) -> tuple[int, int]:
        """(address, active) of a lane by its place; only the rule's first lanes are ever active."""
        goal, out = self.goal, self.out
        own = out.copies(goal.program, goal.own, f" of lane {mark}") if isinstance(goal, GatherCost) else {}
        address, active, assumed = out.copy(
            goal.program, (goal.address, goal.active, goal.assumption), {**self.free, **own, goal.lane: value}
        )
        within = out.op("bvult", out.widen(value, 6), out.const(self.rule.address_lanes, 6))
        return address, out.all([assumed, active, within])

    def all_lanes(self) -> list[tuple[int, int]]:
        """Every lane with a number."""
        return [self.lane(self.out.const(lane, 5), str(lane)) for lane in range(LANES)]

    def some_lane(self, name: str) -> int:
        """A lane for the solver to find; no variable of the front end has a name with a blank."""
        return self.out.var(f"lane {name}", LANES, 5)

    def unit(self, address: int) -> int:
        """The address in whole units."""
        low, width = self.rule.unit_bytes.bit_length() - 1, self.out.width(address)
        return self.out.const(0, 1) if width <= low else self.out.extract(address, low, width - low)

    def slot(self, unit: int) -> int:
        """Which of the slots a unit lies in."""
        bits = self.rule.slots.bit_length() - 1
        wide = self.out.widen(unit, max(bits, self.out.width(unit)))
        return self.out.extract(wide, 0, bits)

    def same(self, a: int, b: int) -> int:
        """Whether two values are equal."""
        return self.out.op("=", a, b)

    def joined(self, lanes: list[tuple[int, int]]) -> int:
        """Whether groups join: lanes agree in pairs, at one distance or the other."""
        out = self.out
        agree: list[int] = []
        for distance in (1, 2):
            pairs = [(lane, lane ^ distance) for lane in range(LANES) if not lane & distance]
            bits = [
                out.any([out.negate(lanes[i][1]), out.negate(lanes[j][1]), self.same(lanes[i][0], lanes[j][0])])
                for i, j in pairs
            ]
            agree.append(out.all(bits))
        return out.any(agree)


def _misaligned(goal: AnyCost, rule: WarpRule) -> Question:
    warp = _Warp(goal, rule)
    out = warp.out
    address, active = warp.lane(warp.some_lane("i"), "i")
    bits = rule.width_bytes.bit_length() - 1
    low = out.extract(out.widen(address, max(bits, out.width(address))), 0, bits)
    return "a lane is misaligned", out, out.all([active, out.negate(out.op("=", low, out.const(0, bits)))])


def _conflict(goal: AnyCost, rule: WarpRule) -> Question:
    """A group costs more than 1: the solver looks for two of its lanes that conflict."""
    warp = _Warp(goal, rule)
    out = warp.out
    if rule.octets:
        return "two lanes of an octet conflict", out, octet_conflict(out, warp.all_lanes())
    i, j = warp.some_lane("i"), warp.some_lane("j")
    lanes = warp.all_lanes() if rule.joins else []
    if rule.joins and isinstance(goal, GatherCost):
        # The two are lanes of the one choice whose groups may join.
        (address_i, active_i), (address_j, active_j) = _picked(out, lanes, i), _picked(out, lanes, j)
    else:
        (address_i, active_i), (address_j, active_j) = warp.lane(i, "i"), warp.lane(j, "j")
    unit_i, unit_j = warp.unit(address_i), warp.unit(address_j)
    apart = out.op("=", warp.slot(unit_i), warp.slot(unit_j))
    if not rule.repeats:
        apart = out.all([apart, out.negate(warp.same(unit_i, unit_j))])
    group = _same_group(out, i, j, rule.group_lanes)
    if rule.joins:
        wider = _same_group(out, i, j, rule.joined_lanes)
        group = out.any([group, out.all([wider, warp.joined(lanes)])])
    ordered = out.op("bvult", i, j)
    return "two lanes of a group conflict", out, out.all([ordered, active_i, active_j, group, apart])


def _picked(out: Builder, lanes: Sequence[tuple[int, int]], which: int) -> tuple[int, int]:
    """(address, active) of the lane whose number a place gives."""
    address, active = lanes[0]
    for number, (own, on) in enumerate(lanes[1:], start=1):
        here = out.op("=", which, out.const(number, 5))
        width = max(out.width(own), out.width(address))
        address = out.ite(here, out.widen(own, width), out.widen(address, width))
        active = out.ite(here, on, active)
    return address, active


def _is_crowd(rule: WarpRule, at_most: int) -> bool:
    """Whether there is one group only, and few of its lanes break the limit."""
    return not rule.octets and rule.address_lanes == rule.group_lanes and at_most < min(MAX_CROWD, rule.group_lanes)


def _crowd(goal: GatherCost, rule: WarpRule, size: int) -> Question:
    """Ask for `size` lanes of the only group that take a wavefront each.

    They have one slot and different units in ascending order; in global memory different sectors.
    """
    warp = _Warp(goal, rule)
    out = warp.out
    marks = [f"i{number}" for number in range(size)]
    lanes = [warp.some_lane(mark) for mark in marks]
    found = [warp.lane(lane, mark) for lane, mark in zip(lanes, marks, strict=True)]
    units = [warp.unit(address) for address, _ in found]
    conditions = [active for _, active in found]
    for at in range(1, size):
        if not rule.sectors:
            conditions.append(warp.same(warp.slot(units[at - 1]), warp.slot(units[at])))
        conditions.append(out.op("bvult", *((lanes if rule.repeats else units)[at - 1 : at + 1])))
        if not rule.repeats:
            conditions += [out.negate(warp.same(lanes[before], lanes[at])) for before in range(at)]
    return f"{size} lanes take a {'sector' if rule.sectors else 'wavefront'} each", out, out.all(conditions)


def _same_group(out: Builder, i: int, j: int, lanes: int) -> int:
    low = lanes.bit_length() - 1
    if low == 5:
        return out.const(1, 1)
    return out.op("=", out.extract(i, low, 5 - low), out.extract(j, low, 5 - low))


def _too_many(goal: AnyCost, rule: WarpRule, at_most: int) -> Question:
    """More wavefronts than the limit; the solver looks for each group's worst slot."""
    warp = _Warp(goal, rule)
    out = warp.out
    lanes = warp.all_lanes()
    if rule.octets:
        count = out.total(octet_classes(out, lanes))
    elif rule.sectors:
        count = out.total(_firsts(warp, lanes))
    else:
        count = _grouped(warp, lanes, rule.group_lanes, "")
        if rule.joins:
            wide = _grouped(warp, lanes, rule.joined_lanes, " joined")
            width = max(out.width(count), out.width(wide))
            count = out.ite(warp.joined(lanes), out.widen(wide, width), out.widen(count, width))
    width = max(out.width(count), at_most.bit_length() + 1)
    over = out.op("bvult", out.const(at_most, width), out.widen(count, width))
    return f"more than {at_most} {'sectors' if rule.sectors else 'wavefronts'}", out, over


def _firsts(warp: _Warp, lanes: list[tuple[int, int]]) -> list[int]:
    """For each lane whether it is the first active one in its sector: one lane per sector."""
    out = warp.out
    found: list[int] = []
    units = [(warp.unit(address), active) for address, active in lanes]
    for index, (unit, active) in enumerate(units):
        earlier = [out.all([on, warp.same(unit, other)]) for other, on in units[:index]]
        found.append(out.all([active, out.negate(out.any(earlier))]))
    return found


def _more_than_filled(goal: AnyCost, rule: WarpRule) -> Question:
    """More sectors than the lanes' bytes fill: all sectors but one hold those bytes, or more."""
    warp = _Warp(goal, rule)
    out = warp.out
    lanes = warp.all_lanes()
    sectors, active = out.total(_firsts(warp, lanes)), out.total([on for _, on in lanes])
    width = LANES.bit_length() + SECTOR_BYTES.bit_length() + 1
    filled = out.op("bvmul", out.widen(active, width), out.const(rule.width_bytes, width))
    held = out.op("bvmul", out.widen(sectors, width), out.const(SECTOR_BYTES, width))
    reach = out.op("bvadd", filled, out.const(SECTOR_BYTES - 1, width))
    return "more sectors than its lanes' bytes fill", out, out.op("bvult", reach, held)


def _grouped(warp: _Warp, lanes: list[tuple[int, int]], size: int, mark: str) -> int:
    """The units in one slot, over the groups; the slot is free, so the sum can be the largest."""
    out, rule = warp.out, warp.rule
    counted: list[int] = []
    slot_bits = rule.slots.bit_length() - 1
    for start in range(0, rule.address_lanes, size):
        slot = out.var(f"slot of group {start // size}{mark}", rule.slots, slot_bits)
        units = [(warp.unit(address), active) for address, active in lanes[start : start + size]]
        for index, (unit, active) in enumerate(units):
            here = [active, out.op("=", warp.slot(unit), slot)]
            if not rule.repeats:
                earlier = [out.all([on, warp.same(unit, other)]) for other, on in units[:index]]
                here.append(out.negate(out.any(earlier)))
            counted.append(out.all(here))
    return out.total(counted)
