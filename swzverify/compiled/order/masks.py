"""Barriers of parts of a warp: `bar.warp.sync` with a mask that is a number or that each lane computes.

Source: PTX ISA, bar.warp.sync.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swzverify.compiled.order.events import MASKS, Event
from swzverify.compiled.order.objects import Key
from swzverify.compiled.order.roles import Role
from swzverify.hardware import LANES


def mutual_masks(roles: Sequence[Role], events: Mapping[int, Event]) -> list[int]:
    """The instructions at which each lane that a mask names comes with this mask alone.

    Then no lane waits at one of them for a lane of its mask, if the lanes of a warp come to it together.
    """
    return [each.index for each in events.values() if each.is_of_warp and _are_mutual(roles, each.index)]


def _are_mutual(roles: Sequence[Role], index: int) -> bool:
    keys: dict[int, set[Key]] = {}
    for role in roles:
        found = {deed.key for node in role.walk.nodes for deed, _ in node.deeds if deed.index == index}
        keys |= dict.fromkeys(role.threads, found)
    return all(
        keys.get(thread - thread % LANES + lane, found) == found == {key}
        for thread, found in keys.items()
        for key in found
        if isinstance(key, int)
        for lane in range(LANES)
        if (key - MASKS) >> lane & 1
    )
