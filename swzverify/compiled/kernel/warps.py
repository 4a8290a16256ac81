"""What another lane of the warp has: for shuffles whose source is known."""

from __future__ import annotations

from swzverify.compiled.kernel.lanes import MOST_NODES
from swzverify.compiled.kernel.leaves import Kind
from swzverify.compiled.kernel.slices import Slices
from swzverify.ir.expr import Expr, postorder, variables


def of_lane(slices: Slices, value: Expr, lane: Expr) -> Expr | None:
    """The value of another lane of the same warp; None for other values.

    The value may depend on coordinates and on values that the block shares.
    """
    kinds = {slices.leaves[each].kind for each in variables(value)}
    if slices.threads is None or not kinds <= {Kind.LANE, Kind.UNIFORM} or len(postorder(value)) > MOST_NODES:
        return None
    return slices.threads.of_lane(value, lane, slices.leaves)


def lane_in_whole_warp(slices: Slices, block: int) -> Expr | None:
    """The lane of a thread, at a block that all lanes of each warp reach exactly once.

    All lanes or none of a warp reach it. None if that is not known.
    """
    flow = slices.flow
    if slices.threads is None or not slices.threads.are_whole_warps or flow.around(block):
        return None
    pending, choices = [block], set[int]()
    while pending:
        new = flow.controlling[pending.pop()] - choices
        choices |= new
        pending += new
    if not all(_is_one(slices, value) for each in choices for value in slices.choice_values(each)):
        return None
    return slices.threads.lane(slices.leaves)


def _is_one(slices: Slices, value: Expr) -> bool:
    """Whether a value is one for all lanes of each warp."""
    kinds = {slices.leaves[each].kind for each in variables(value)}
    if kinds == {Kind.LANE}:
        return slices.threads is not None and slices.threads.is_uniform(value)
    return kinds <= {Kind.UNIFORM}
