"""The witness of a cost that the low bits of addresses decide: how many lanes can reach one slot.

Words meet in a bank only if their addresses agree modulo 128 bytes. So the checker reads off the
program how many low bits of each line this place and the activity of a lane depend on. A line that
neither the lane nor a lane's own value changes counts as one variable of these bits, and a variable
of more values than these bits have counts by them alone. Every combination is tried. In a slot, a
group takes no more wavefronts than lanes that can reach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from swzrecheck.affine import forms, numbering
from swzrecheck.program import Operation, Program, reachable, selected
from swzrecheck.statement import Cost, GatherCost, Statement, variables_of
from swzrecheck.table import table
from swzrecheck.warp_rule import LANES, LINE_BYTES, WarpRule, warp_rule
from swzrecheck.witness import Data, WitnessError, require, require_same

_PLACE_BITS = LINE_BYTES.bit_length() - 1
_LOW_BITS = frozenset(("bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor"))
"""Operators of which the low bits of the result depend on as many low bits of the operands."""
_MANY = 1 << 12
"""Values of a variable up to which the conditions that read it are computed."""


def find_slots(statement: Statement) -> dict[str, object] | None:
    """The witness of a cost, if the lanes that can reach a slot are few enough; else None."""
    try:
        return _examine(statement)
    except WitnessError:
        return None


def check_slots(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    require_same(data, _examine(statement))


def _examine(statement: Statement) -> dict[str, object]:
    """Try all combinations of the bits that count; refused where lanes can cost too much.

    The assumption is left out: without it the statement says more.
    """
    if not isinstance(statement, Cost | GatherCost):
        raise WitnessError("slots say nothing about such a statement")
    rule = warp_rule(statement.instruction)
    require(not rule.octets and not rule.sectors, "slots say nothing about the rule of this instruction")
    own = statement.own if isinstance(statement, GatherCost) else ()
    program, (address, active, lane), shared = _reduced(statement, own)
    of_lanes = [place for place, line in enumerate(program) if line.operator == "var" and place not in (lane, *shared)]
    counts, values = (
        [(place, program[place].number) for place in shared],
        [(place, program[place].number) for place in of_lanes],
    )
    try:
        found = table(program, (address, active), [*counts, (lane, LANES), *values])
    except ValueError as error:
        raise WitnessError(str(error)) from None
    addresses, on = found.numbers(0), found.flags(found.truths(1))
    size, most = prod(count for _, count in values), 0
    for start in range(0, found.points, LANES * size):
        firsts = range(start, start + LANES * size, size)
        rows = [{addresses[at] % LINE_BYTES for at in range(first, first + size) if on[at]} for first in firsts]
        most = max(most, _bound(rule, rows, statement.at_most))
    return {"points": found.points, "sha256": found.digest(), "most": most}


def _bound(rule: WarpRule, lanes: list[set[int]], at_most: tuple[int, ...]) -> int:
    """A bound for the wavefronts of a warp whose lanes can reach these places of a line."""
    require(all(place % rule.width_bytes == 0 for lane in lanes for place in lane), "a lane is misaligned")
    size = rule.joined_lanes if rule.joins and not at_most else rule.group_lanes
    groups: list[int] = []
    for first in range(0, rule.address_lanes, size):
        slots = [slot for lane in lanes[first : first + size] for slot in {place // rule.unit_bytes for place in lane}]
        groups.append(max(map(slots.count, slots), default=0))
    limit = at_most[0] if at_most else sum(1 for group in groups if group)
    require(sum(groups) <= limit, f"the lanes of a warp can reach slots for {sum(groups)} wavefronts")
    return sum(groups)


def _reduced(goal: Cost | GatherCost, own: tuple[int, ...]) -> tuple[Program, tuple[int, int, int], list[int]]:
    """The program over the bits that count, with its address, activity and lane, and what lanes share.

    The values of a line agree with the original's in the bits that count.
    """
    program = goal.program
    needed = _bits_needed(program, goal)
    fixed = _shared_lines(goal, (goal.lane, *own))
    lines: list[Operation] = []
    shared: list[int] = []
    many: set[int] = set()
    chosen: dict[int, int] = {}
    for place, line in enumerate(program):
        bits, below = needed.get(place, 0), sum(chosen.get(operand, 0) for operand in {*line.operands})
        limit = 0
        if line.operator == "var":
            limit = LANES if place == goal.lane else min(line.number, 1 << bits)
        elif place in fixed and bits < below:
            limit = 1 << bits
        elif line.width == 1 and not many.isdisjoint(line.operands):
            limit = 2
        chosen[place] = (limit - 1).bit_length() if limit else below
        lines.append(Operation("var", line.width, (), limit, f"line {place}") if limit else line)
        if limit and place in fixed:
            shared.append(place)
        if limit > _MANY or not many.isdisjoint(lines[-1].operands):
            many.add(place)
    kept = reachable(lines, (goal.address, goal.active, goal.lane))
    reduced, again = selected(lines, kept)
    roots = (again[goal.address], again[goal.active], again[goal.lane])
    return reduced, roots, [again[place] for place in shared if place in again]


def _bits_needed(program: Program, goal: Cost | GatherCost) -> Mapping[int, int]:
    """How many low bits of each line the place in a line of 128 bytes, and the activity, depend on."""
    needed = {goal.address: min(_PLACE_BITS, program[goal.address].width), goal.active: 1}
    for place in reversed(range(len(program))):
        bits, line = needed.get(place, 0), program[place]
        if bits == 0:
            continue
        for operand, count in zip(line.operands, _operand_bits(program, line, bits), strict=True):
            needed[operand] = max(needed.get(operand, 0), count)
    return needed


def _operand_bits(program: Program, line: Operation, bits: int) -> list[int]:
    """How many low bits of each operand the low bits of a line depend on."""
    widths = [program[operand].width for operand in line.operands]
    constants = [program[operand].number if program[operand].operator == "const" else None for operand in line.operands]
    if line.operator == "bvand":
        # Where the other side is 0, a bit does not count.
        return [bits if other is None else min(bits, other.bit_length()) for other in reversed(constants)]
    if line.operator in _LOW_BITS:
        return [bits, bits]
    if line.operator == "bvshl" and constants[1] is not None:
        return [max(0, bits - constants[1]), widths[1]]
    if line.operator == "extract":
        return [line.number + bits]
    if line.operator == "zero_extend":
        return [min(bits, widths[0])]
    if line.operator == "ite":
        return [1, bits, bits]
    return widths


def _shared_lines(goal: Cost | GatherCost, changing: tuple[int, ...]) -> set[int]:
    """The lines that have one value in all lanes of a warp, whatever the lanes hold of their own.

    They read none of the variables that differ between lanes, or bits of these cancel in all of their bits.
    """
    program = goal.program
    read = [False] * len(program)
    variables = variables_of(goal)
    first = numbering(program, variables)
    mask = sum(((1 << program[place].width) - 1) << first[place] + 1 for place in changing)
    found = forms(program, variables, range(len(program)))
    for place, line in enumerate(program):
        cancels = all(form is not None and not form & mask for form in found[place])
        read[place] = not cancels and (place in changing or any(read[operand] for operand in line.operands))
    return {place for place, reads in enumerate(read) if not reads}
