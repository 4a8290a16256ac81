"""From a statement to conditions that no point satisfies exactly when the statement holds.

An encoding of its own: written from docs/semantics.md and the statements' meanings, it shares
nothing with the prover's. Each part is one question, to be answered `unsat`; the parts of a
statement together say all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import prod
from typing import assert_never

from swzrecheck.encode_cost import cost_parts
from swzrecheck.program import Builder, Operation, Program, reachable, selected
from swzrecheck.statement import Always, Apart, Cost, Covers, GatherCost, Injective, Statement
from swzrecheck.table import table

MAX_WRITTEN_OUT = 1 << 16
"""The points of a covering that are counted one by one, at most."""


class UnwrittenError(Exception):
    """A statement that is not written as a formula; the text says why."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question: does some point within the variables' limits make the program's last line 1?"""

    name: str
    program: Program


def is_folded(part: Part) -> bool:
    """Whether constants alone show that a question has no point: no solver need be asked."""
    return part.program[-1].operator == "const" and part.program[-1].number == 0


def parts(statement: Statement) -> tuple[Part, ...]:
    """The questions that decide a statement; it holds when none has a point."""
    match statement:
        case Always():
            return (_always(statement),)
        case Injective():
            return (_injective(statement),)
        case Apart():
            return (_apart(statement),)
        case Cost() | GatherCost():
            return tuple(Part(name, finished(out, root)) for name, out, root in cost_parts(statement))
        case Covers():
            return _covers(statement)
        case _:
            assert_never(statement)


def finished(out: Builder, root: int) -> Program:
    """The program of what the root needs; the root is its last line."""
    return selected(out.lines, reachable(out.lines, [root]))[0]


def _always(goal: Always) -> Part:
    out = Builder()
    values = out.copies(goal.program, goal.variables)
    assumed, holds = out.copy(goal.program, (goal.assumption, goal.holds), values)
    return Part("a point breaks it", finished(out, out.all([assumed, out.negate(holds)])))


def _differ(out: Builder, first: Sequence[int], other: Sequence[int]) -> int:
    return out.any([out.negate(out.op("=", a, b)) for a, b in zip(first, other, strict=True)])


def before_end(out: Builder, start: int, other: int, length: int) -> int:
    """Whether `start` < `other` + length; one more bit than both need keeps the sum exact."""
    width = 1 + max(out.width(start), out.width(other), length.bit_length())
    end = out.op("bvadd", out.widen(other, width), out.const(length, width))
    return out.op("bvult", out.widen(start, width), end)


def meet(out: Builder, first: int, first_length: int, other: int, other_length: int) -> int:
    """Whether two ranges share a unit."""
    if first_length == other_length == 1:
        width = max(out.width(first), out.width(other))
        return out.op("=", out.widen(first, width), out.widen(other, width))
    if _on_a_grid(out, first, first_length) and _on_a_grid(out, other, other_length):
        return _meet_on_a_grid(out, first, other, max(first_length, other_length))
    return out.all([before_end(out, first, other, other_length), before_end(out, other, first, first_length)])


def _on_a_grid(out: Builder, place: int, length: int) -> bool:
    """Whether the length is a power of two and the position visibly a multiple of it."""
    bits = length.bit_length() - 1
    return length == 1 << bits and (bits == 0 or trailing_zeros(out, place) >= bits)


def _meet_on_a_grid(out: Builder, first: int, other: int, length: int) -> int:
    """Whether aligned ranges share a unit: they agree above the bits of the longer one."""
    bits = length.bit_length() - 1
    width = max(out.width(first), out.width(other))
    if width <= bits:
        return out.const(1, 1)
    high = [out.extract(out.widen(place, width), bits, width - bits) for place in (first, other)]
    return out.op("=", high[0], high[1])


def trailing_zeros(out: Builder, root: int) -> int:
    """The number of low bits at a place that are visibly 0, whatever the variables are."""
    zeros: dict[int, int] = {}
    for place in reachable(out.lines, [root]):
        line = out.lines[place]
        zeros[place] = min(line.width, _zeros(line, [zeros[operand] for operand in line.operands], out))
    return zeros[root]


def _zeros(line: Operation, inner: Sequence[int], out: Builder) -> int:
    """The low zeros of a line, from those of its operands."""
    if line.operator == "const":
        return (line.number & -line.number).bit_length() - 1 if line.number else line.width
    if line.operator in ("bvadd", "bvsub", "bvor", "bvxor"):
        return min(inner)
    if line.operator == "bvand":
        return max(inner)
    if line.operator == "bvmul":
        return sum(inner)
    if line.operator == "bvshl" and (amount := out.known(line.operands[1])) is not None:
        return inner[0] + amount
    if line.operator == "zero_extend":
        return inner[0] if inner[0] < out.width(line.operands[0]) else line.width
    if line.operator == "extract":
        return max(0, inner[0] - line.number)
    return min(inner[1:]) if line.operator == "ite" else 0


def _injective(goal: Injective) -> Part:
    out = Builder()
    program = goal.program
    shared = out.copies(program, goal.shared)
    positions: list[int] = []
    assumed: list[int] = []
    digits: list[list[int]] = []
    for mark in ("", "'"):
        own = out.copies(program, goal.distinct, mark)
        place, kept = out.copy(program, (goal.inner, goal.assumption), shared | own)
        if goal.outer:
            place = out.copy(program, (goal.outer[1],), {goal.outer[0]: place})[0]
        positions.append(place)
        assumed.append(kept)
        digits.append(list(own.values()))
    together = meet(out, positions[0], goal.extent, positions[1], goal.extent)
    return Part("two points meet", finished(out, out.all([*assumed, _differ(out, *digits), together])))


def _apart(goal: Apart) -> Part:
    out = Builder()
    values = out.copies(goal.program, (*goal.shared, *goal.first, *goal.second))
    first, other, condition = out.copy(
        goal.program, (goal.first_position, goal.second_position, goal.condition), values
    )
    together = meet(out, first, goal.first_extent, other, goal.second_extent)
    return Part("two ranges meet", finished(out, out.all([condition, together])))


def _covers(goal: Covers) -> tuple[Part, ...]:
    """The parts of a cover: no two points meet one element, and each element is met.

    This is for `times` = 1. For other numbers, the points that meet an element are counted.
    """
    if goal.times == 1:
        return (_met_twice(goal), _wrong_count(goal, "an element is met by no point"))
    return (_wrong_count(goal, f"an element is met by another number than {goal.times}"),)


def _element(out: Builder, goal: Covers, shared: dict[int, int]) -> int:
    own = out.copies(goal.program, goal.elements)
    return out.copy(goal.program, (goal.position,), shared | own)[0]


def _met_twice(goal: Covers) -> Part:
    out = Builder()
    program = goal.program
    shared = out.copies(program, goal.shared)
    position = _element(out, goal, shared)
    conditions: list[int] = []
    points: list[list[int]] = []
    for mark in ("", "'"):
        own = out.copies(program, goal.points, mark)
        conditions.append(_touches(out, goal, position, shared | own))
        points.append(list(own.values()))
    return Part("two points meet one element", finished(out, out.all([*conditions, _differ(out, *points)])))


def _touches(out: Builder, goal: Covers, position: int, values: dict[int, int]) -> int:
    """Whether a point counts, is active, and has a range that meets the element's."""
    address, active, assumed = out.copy(goal.program, (goal.address, goal.active, goal.assumption), values)
    return out.all([assumed, active, meet(out, address, goal.reach, position, goal.extent)])


def _wrong_count(goal: Covers, name: str) -> Part:
    """Write every point out, and count the points that meet the element."""
    out = Builder()
    shared = out.copies(goal.program, goal.shared)
    position = _element(out, goal, shared)
    touches: list[int] = []
    for values in _written_out(out, goal):
        touched = _touches(out, goal, position, shared | values)
        if out.known(touched) != 0:
            touches.append(touched)
    if goal.times == 1:
        return Part(name, finished(out, out.negate(out.any(touches))))
    count = out.total(touches)
    if goal.times >= 1 << out.width(count):
        return Part(name, finished(out, out.const(1, 1)))
    wrong = out.negate(out.op("=", count, out.const(goal.times, out.width(count))))
    return Part(name, finished(out, wrong))


def _written_out(out: Builder, goal: Covers) -> Iterator[dict[int, int]]:
    """For each point, constants for the lines that depend on it alone: most of an address."""
    program = goal.program
    counts = [(place, program[place].number) for place in goal.points]
    if prod(count for _, count in counts) > MAX_WRITTEN_OUT:
        raise UnwrittenError(f"more than {MAX_WRITTEN_OUT} points to count: too many to write out")
    shared = set(goal.shared)
    open_lines: set[int] = set(goal.shared)
    needed = reachable(program, (goal.address, goal.active, goal.assumption))
    for place in needed:
        if place in shared or any(operand in open_lines for operand in program[place].operands):
            open_lines.add(place)
    used = {operand for place in open_lines for operand in program[place].operands}
    known = sorted((used | {goal.address, goal.active, goal.assumption}) - open_lines)
    found = table(program, known, counts)
    columns = [found.numbers(index) for index in range(len(known))]
    widths = [program[place].width for place in known]
    # Where the points' variables are not read at all, every point is the same.
    rows = zip(*columns, strict=True) if columns else repeat((), found.points)
    for row in rows:
        yield {p: out.const(value, width) for p, value, width in zip(known, row, widths, strict=True)}
