"""Which values of a variable stand for all others: a statement says the same again after so many.

What a statement reads must not change, or move alike, line by line (`steps`). An assumption that
does not repeat may be left out where the statement then says more: of every point.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import assert_never

from swzrecheck.affine import columns, forms, numbering
from swzrecheck.program import reachable
from swzrecheck.statement import Always, Apart, Cost, Covers, GatherCost, Injective, Statement
from swzrecheck.steps import Step
from swzrecheck.warp_rule import LINE_BYTES, SECTOR_BYTES, WORD_BYTES, warp_rule

After = Sequence[Step | None]


def repeating(goal: Statement) -> tuple[int, ...]:
    """The variables whose first values may stand for all."""
    match goal:
        case Always():
            return goal.variables
        case Cost() | GatherCost():
            return goal.free
        case Injective() | Covers() | Apart():
            return goal.shared
        case _:
            assert_never(goal)


def assumption_of(goal: Statement) -> int:
    """The line that says which points count."""
    return goal.condition if isinstance(goal, Apart) else goal.assumption


def may_drop(goal: Statement) -> bool:
    """Whether a statement has the same strength without its assumption.

    A count of points has not, and a cost has not if the assumption leaves out lanes.
    """
    match goal:
        case Always() | Injective():
            return True
        case Cost():
            return goal.lane not in reachable(goal.program, [goal.assumption])
        case GatherCost():
            return not {goal.lane, *goal.own} & set(reachable(goal.program, [goal.assumption]))
        case Covers() | Apart():
            return False
        case _:
            assert_never(goal)


def is_still(after: After, root: int) -> bool:
    """Whether the step does not change a line."""
    one = after[root]
    return one is not None and one.still


def repeats(goal: Statement, place: int, after: After) -> bool:
    """Whether a statement, without its assumption, says the same after the step of `after`."""
    match goal:
        case Always():
            return is_still(after, goal.holds)
        case Cost():
            return is_still(after, goal.active) and (_turns(goal, after) or _flips(goal, place))
        case GatherCost():
            # A step that moves all addresses alike, at every value, does so for every choice.
            return is_still(after, goal.active) and _turns(goal, after)
        case Injective():
            return not goal.outer and _alike(after, goal.inner)
        case Covers():
            return is_still(after, goal.active) and _alike(after, goal.address, goal.position)
        case Apart():
            return _alike(after, goal.first_position, goal.second_position)
        case _:
            assert_never(goal)


def _alike(after: After, *roots: int) -> bool:
    """Whether some lines grow by the same number, exactly."""
    found = [after[root] for root in roots]
    return all(one is not None and one.exact and one == found[0] for one in found)


def _turns(goal: Cost | GatherCost, after: After) -> bool:
    """Whether every address grows by the same multiple of a unit: banks turn, equal stays equal."""
    rule = warp_rule(goal.instruction)
    turn = SECTOR_BYTES if rule.sectors else LINE_BYTES if rule.octets else WORD_BYTES
    unit = lcm(turn, rule.width_bytes)
    one = after[goal.address]
    if one is None or one.increase % unit:
        return False
    return one.exact or goal.program[goal.address].width >= LINE_BYTES.bit_length() - 1


def _flips(goal: Cost, place: int) -> bool:
    """Whether the variable only flips address bits, in all lanes alike, none below the width."""
    variables = (goal.lane, *goal.free)
    rows = [form for form in forms(goal.program, variables, [goal.address])[0] if form is not None]
    first = numbering(goal.program, variables)[place]
    flipped = columns(rows, range(first, first + goal.program[place].width))
    width = warp_rule(goal.instruction).width_bytes
    return len(rows) == goal.program[goal.address].width and not any(column & (width - 1) for column in flipped)
