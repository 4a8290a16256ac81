"""How often a warp executes an access in a launch, where the coordinates alone say so."""

from __future__ import annotations

from math import prod

from swzverify.compiled.kernel import KernelAccess, TripsLeaf


def most_executions(access: KernelAccess) -> int | None:
    """The most executions of one warp in a launch: the trips of all loops around the access.

    None if the trips of some loop are not counted. A guard or an early exit may leave fewer.
    """
    last = {leaf.name: leaf.most for leaf in (*access.leaves, *access.around) if isinstance(leaf, TripsLeaf)}
    trips = [None if loop.trips is None else last.get(loop.trips.name) for loop in access.who.loops]
    known = [each for each in trips if each is not None]
    return prod(each + 1 for each in known) if len(known) == len(trips) else None
