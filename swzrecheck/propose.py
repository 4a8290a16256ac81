"""Proposals for a certificate, by trial: periods, and points at which something is possible.

Nothing here is trusted: the witnesses check the periods, and the points are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import lcm
from random import Random

from swzrecheck.bounds import bounds
from swzrecheck.program import Program, evaluate
from swzrecheck.repetition import assumption_of, is_still, may_drop, repeating, repeats
from swzrecheck.statement import Statement
from swzrecheck.steps import steps

TRIES = 4096


def periods(statement: Statement) -> Iterator[dict[str, int]]:
    """How many values of each variable may stand for all: with the assumption, then without."""
    kept = _found(statement, with_assumption=True)
    yield kept
    if may_drop(statement):
        free = _found(statement, with_assumption=False)
        if free != kept:
            yield free


def _found(statement: Statement, *, with_assumption: bool) -> dict[str, int]:
    program = statement.program
    ranges, assumption = bounds(program), assumption_of(statement)
    found: dict[str, int] = {}
    for place in repeating(statement):
        for count in _candidates(program, program[place].number):
            after = steps(program, place, count, ranges)
            if repeats(statement, place, after) and (not with_assumption or is_still(after, assumption)):
                found[program[place].name] = count
                break
    return found


def _candidates(program: Program, limit: int) -> list[int]:
    """Possible periods below a limit, ascending: powers of two, times the program's divisors."""
    odd = {1}
    for line in program:
        if line.operator in ("bvudiv", "bvurem") and program[line.operands[1]].operator == "const":
            number = program[line.operands[1]].number
            if number:
                odd.add(number // (number & -number))
    odd.add(lcm(*odd))
    found = {start << shift for start in odd for shift in range((limit // start).bit_length())}
    return sorted(number for number in found if number < limit)


def possible_point(program: Program, conditions: Sequence[int]) -> dict[str, int] | None:
    """A point at which some one-bit lines are all 1: low corners, then seeded random points."""
    variables = [line for line in program if line.operator == "var"]
    random = Random(0)  # noqa: S311 - the same points in every run
    corners = islice(product(*(range(min(line.number, 3)) for line in reversed(variables))), TRIES)
    for values in corners:
        point = {line.name: value for line, value in zip(reversed(variables), values, strict=True)}
        if holds_at(program, conditions, point):
            return dict(sorted(point.items()))
    for _ in range(TRIES):
        point = {line.name: random.randrange(line.number) for line in variables}
        if holds_at(program, conditions, point):
            return dict(sorted(point.items()))
    return None


def holds_at(program: Program, conditions: Sequence[int], point: Mapping[str, int]) -> bool:
    """Whether some one-bit lines are all 1 at a point."""
    values = evaluate(program, point)
    return all(values[place] for place in conditions)
