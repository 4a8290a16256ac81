"""The witness of linear algebra over GF(2): matrices of the expressions, and their inverses.

The matrix is read off the same program that the formula is made of, so a witness for another map
does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from swzrecheck.affine import columns, forms, left_inverse, numbering, rank, times
from swzrecheck.program import Program
from swzrecheck.statement import Always, Cost, Injective, Statement
from swzrecheck.warp_rule import LANES, WarpRule, warp_cost, warp_rule
from swzrecheck.witness import Data, WitnessError, hexadecimal, numbers, only, require, require_same

OUTER = ("outer_rows", "outer_inverse")
"""The fields of an outer map."""


def find_gf2(statement: Statement) -> dict[str, object] | None:
    """The witness of a statement that linear algebra decides; else None."""
    try:
        match statement:
            case Always(program, variables, _, holds):
                return {"holds": "1"} if forms(program, variables, [holds])[0] == [1] else None
            case Injective():
                rows = _rows(statement.program, (*statement.shared, *statement.distinct), statement.inner)
                inverse = left_inverse(_distinct_columns(statement, rows))
                outer = find_outer(statement)
                if inverse is None or outer is None:
                    return None
                return {"rows": hexadecimal(rows), "left_inverse": hexadecimal(inverse), **outer}
            case Cost():
                rows = _rows(statement.program, (statement.lane, *statement.free), statement.address)
                return {"rows": hexadecimal(rows), **_profile(statement, rows)}
            case _:
                return None
    except (WitnessError, ValueError):
        return None


def check_gf2(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    match statement:
        case Always(program, variables, _, holds):
            require(dict(data) == {"holds": "1"}, "the witness says nothing")
            require(forms(program, variables, [holds])[0] == [1], "the condition is not constantly 1 over GF(2)")
        case Injective():
            _check_injective(statement, data)
        case Cost():
            _check_cost(statement, data)
        case _:
            raise WitnessError("linear algebra says nothing about such a statement")


def _rows(program: Program, variables: Sequence[int], root: int) -> list[int]:
    """The matrix of an expression, one row per bit; refused where a bit is not affine."""
    found = [form for form in forms(program, variables, [root])[0] if form is not None]
    require(len(found) == program[root].width, "the expression is not affine over GF(2)")
    return found


def _bits(program: Program, variables: Sequence[int], chosen: Sequence[int]) -> list[int]:
    first = numbering(program, variables)
    return [first[place] + bit for place in chosen for bit in range(program[place].width)]


def _distinct_columns(goal: Injective, rows: Sequence[int]) -> list[int]:
    """Columns of the bits that tell points apart; refused if one is not above a range's length."""
    found = columns(rows, _bits(goal.program, (*goal.shared, *goal.distinct), goal.distinct))
    require(goal.extent & (goal.extent - 1) == 0, "a range's length is no power of two")
    require(not any(column & (goal.extent - 1) for column in found), "positions differ inside a range's length")
    return found


def _check_injective(goal: Injective, data: Data) -> None:
    """Check that different points differ above the bits of a range's length."""
    only(data, "rows", "left_inverse", *OUTER[: 2 * bool(goal.outer)])
    rows = _rows(goal.program, (*goal.shared, *goal.distinct), goal.inner)
    require(numbers(data, "rows") == rows, "the matrix is not that of the expression")
    matrix = _distinct_columns(goal, rows)
    _require_inverse(numbers(data, "left_inverse"), matrix, "the left inverse does not undo the matrix")
    check_outer(goal, data)


def find_outer(goal: Injective) -> dict[str, object] | None:
    """The outer map's matrix and inverse; empty without an outer map, None without an inverse.

    Raises:
        WitnessError: The outer map is not affine.
    """
    if not goal.outer:
        return {}
    x, image = goal.outer
    rows = _rows(goal.program, (x,), image)
    inverse = left_inverse(columns(rows, range(goal.program[x].width)))
    return None if inverse is None else dict(zip(OUTER, (hexadecimal(rows), hexadecimal(inverse)), strict=True))


def check_outer(goal: Injective, data: Data) -> None:
    """Check that the outer map, if there is one, is one to one on its whole width."""
    if goal.outer:
        x, image = goal.outer
        rows = _rows(goal.program, (x,), image)
        require(numbers(data, "outer_rows") == rows, "the outer matrix is not that of the expression")
        matrix = columns(rows, range(goal.program[x].width))
        _require_inverse(numbers(data, "outer_inverse"), matrix, "the outer inverse does not undo the matrix")


def _require_inverse(inverse: Sequence[int], matrix: Sequence[int], why: str) -> None:
    undone = [times(inverse, column) for column in matrix]
    require(undone == [1 << place for place in range(len(matrix))], why)


def _profile(goal: Cost, rows: Sequence[int]) -> dict[str, object]:
    """One warp's cost where free variables are 0; their other values XOR all addresses alike."""
    program, rule = goal.program, warp_rule(goal.instruction)
    variables = (goal.lane, *goal.free)
    require(program[goal.assumption].number == 1 and program[goal.assumption].operator == "const", "it has assumptions")
    active = forms(program, variables, [goal.active])[0][0]
    if active is None or active >> 6:
        raise WitnessError("who is active depends on more than the lane")
    free = columns(rows, _bits(program, variables, goal.free))
    require(not any(column & (rule.width_bytes - 1) for column in free), "free variables break the alignment")
    lanes = columns(rows, range(5))
    constant = sum((row & 1) << place for place, row in enumerate(rows))
    addresses = [
        constant ^ times(lanes, lane) if (active & (lane << 1 | 1)).bit_count() % 2 else None for lane in range(LANES)
    ]
    wavefronts, minimum = warp_cost(rule, addresses)
    limit = goal.at_most[0] if goal.at_most else minimum
    require(wavefronts <= limit, f"the warp takes {wavefronts} wavefronts")
    profile: dict[str, object] = {"addresses": addresses, "wavefronts": wavefronts, "minimum": minimum}
    if active == 1 and not (rule.octets or rule.repeats or rule.joins or rule.sectors):
        profile["ranks"] = _ranks(rule, lanes)
    return profile


def _ranks(rule: WarpRule, lanes: Sequence[int]) -> list[int]:
    """The ranks of units and slots over a group's lane bits: 2^difference units share a slot."""
    group = lanes[: rule.group_lanes.bit_length() - 1]
    units = [column // rule.unit_bytes for column in group]
    return [rank(units), rank([unit % rule.slots for unit in units])]


def _check_cost(goal: Cost, data: Data) -> None:
    rows = _rows(goal.program, (goal.lane, *goal.free), goal.address)
    require(numbers(data, "rows") == rows, "the matrix is not that of the expression")
    try:
        profile = _profile(goal, rows)
    except ValueError as error:
        raise WitnessError(str(error)) from None
    require_same(data, profile, "rows")
    if "ranks" in profile:
        units, slots = _ranks(warp_rule(goal.instruction), columns(rows, range(5)))
        groups = profile["minimum"]
        require(profile["wavefronts"] == int(str(groups)) << (units - slots), "the ranks contradict the count")
