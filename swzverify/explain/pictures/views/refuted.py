"""The view `refuted`: the most expensive group of the warp instruction that breaks a cost claim.

It is small, because reports have many of them on a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swzverify.explain.pictures.chosen import at_point
from swzverify.explain.pictures.picture import LANES_SCALE, Picture
from swzverify.explain.pictures.views.groups import APART, CLASH, panels_at, worst_group
from swzverify.explain.pictures.words import cost_words
from swzverify.hardware import AccessCost, Instruction, access_cost
from swzverify.subjects import Access


def refuted(access: Access, point: Mapping[str, int]) -> Picture:
    """The worst group of the warp instruction at a point, as engines know it.

    Raises:
        SwzError: SWZ581 if there is no such iteration, or no active lane there; those of `access_cost`.
    """
    run = at_point(access, {name: value for name, value in point.items() if name != "lane"})
    addresses = {lane.lane: lane.address_bytes for lane in run.lanes if lane.address_bytes is not None}
    return refuted_at(access.instruction, run.cost, addresses)


def refuted_lanes(instruction: Instruction, addresses: Sequence[int | None]) -> Picture:
    """The same from the byte addresses of 32 lanes, None where a lane is not active.

    Errors are those of `access_cost`.
    """
    known = {lane: address for lane, address in enumerate(addresses) if address is not None}
    return refuted_at(instruction, access_cost(instruction, addresses), known)


def refuted_at(instruction: Instruction, cost: AccessCost, addresses: Mapping[int, int]) -> Picture:
    """The worst group of a warp instruction with its cost."""
    which = worst_group(cost)
    groups = len(cost.groups)
    part = (
        (f"The picture shows group {which} of {groups}, the first of those that take the most wavefronts.",)
        if groups > 1
        else ()
    )
    octets = instruction.by_octets
    column = "16 bytes of a line of 128 bytes" if octets else "a bank"
    return Picture(
        f"{instruction.name}: {cost_words(cost)}",
        (*part, f"A column is {column}."),
        panels_at(instruction, cost, addresses, which),
        LANES_SCALE,
        APART if octets else CLASH,
    )
