"""What another lane of the warp has: for shuffles whose source is known."""

from __future__ import annotations

from swzverify.compiled.kernel.lanes import MOST_NODES
from swzverify.compiled.kernel.leaves import CarriedLeaf, LaneLeaf, UniformLeaf, are_all, largest_parts
from swzverify.compiled.kernel.slices import Slices
from swzverify.ir.expr import Expr, Var, postorder


def of_lane(slices: Slices, value: Expr, lane: Expr) -> Expr | None:
    """The value of another lane of the same warp; None for other values.

    The value may depend on coordinates and on values that the block shares.
    """
    is_known = are_all(slices.leaves.of(value), (LaneLeaf, UniformLeaf))
    if slices.threads is None or not is_known or len(postorder(value)) > MOST_NODES:
        return None
    return slices.threads.of_lane(value, lane, slices.leaves)


def is_one_in_warp(slices: Slices, value: Expr, block: int = 0) -> bool:
    """Whether all lanes of each warp that comes to a block have one value, at any time.

    The value may depend on coordinates, or on what the block of threads shares.
    """
    read, threads = slices.leaves.of(value), slices.threads
    if threads is None or are_all(read, UniformLeaf):
        return are_all(read, UniformLeaf)
    parts = _parts_of_lanes(slices, value)
    return are_all(read, (LaneLeaf, UniformLeaf)) and all(
        threads.is_uniform(each) or threads.is_uniform_where(each, _where(slices, block)) for each in parts
    )


def _parts_of_lanes(slices: Slices, value: Expr) -> tuple[Expr, ...]:
    """The largest parts of a value that read coordinates alone."""
    return largest_parts(value, lambda each: isinstance(slices.leaves[each], LaneLeaf))


def _where(slices: Slices, block: int) -> list[Expr]:
    """The choices of coordinates alone that every way to a block makes."""
    flow, found, node = slices.flow, list[Expr](), block
    while (upper := flow.dominators.parents[node]) is not None:
        if flow.entries(node) == [upper]:
            condition = slices.edge(upper, node)
            found += [condition] if are_all(slices.leaves.of(condition), LaneLeaf) else []
        node = upper
    return found


def lane_in_whole_warp(slices: Slices, block: int) -> Expr | None:
    """The lane of a thread, at a block that all lanes of each warp reach equally often.

    All lanes or none of a warp reach it in a trip of the loops around. None if that is not known.
    """
    flow = slices.flow
    if slices.threads is None or not slices.threads.are_whole_warps:
        return None
    pending, choices = [block, *(latch for loop in flow.around(block) for latch in loop.latches)], set[int]()
    while pending:
        new = flow.controlling[pending.pop()] - choices
        choices |= new
        pending += new
    if block in slices.asked:
        return None  # a choice depends on what is asked here
    slices.asked.add(block)
    headers, met = {loop.header for loop in flow.around(block)}, set[Var]()
    is_one = all(_is_one(slices, value, headers, met) for each in choices for value in slices.choice_values(each))
    slices.asked.discard(block)
    return slices.threads.lane(slices.leaves) if is_one else None


def _is_one(slices: Slices, value: Expr, headers: set[int], met: set[Var]) -> bool:
    """Whether a value is one for all lanes of each warp, in one trip of the loops around.

    A register that a loop changes is one if its value before the loop and what a trip makes of it are, by
    induction on the trips: all lanes make as many. This counts for the loops with these headers. `met` are the
    registers for which that is assumed.
    """
    read = slices.leaves.of(value)
    registers = [each.variable for each in read if isinstance(each, CarriedLeaf)]
    if not registers:
        return is_one_in_warp(slices, value)
    if not are_all(read, (UniformLeaf, CarriedLeaf, LaneLeaf)):
        return False
    if not all(is_one_in_warp(slices, each) for each in _parts_of_lanes(slices, value)):
        return False
    new = [each for each in registers if each not in met]
    met.update(new)
    carried = [slices.carried.get(each) for each in new]
    return all(
        each is not None
        and each.loop.header in headers
        and _is_one(slices, each.before, headers, met)
        and _is_one(slices, each.after, headers, met)
        for each in carried
    )
