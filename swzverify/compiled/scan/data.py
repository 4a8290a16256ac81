"""Conflicts of addresses that contain data of each lane, if data can cause only a few ways.

The lanes' data are inputs: words of global memory, which each lane loads from an address of its
own. They may have any value, so the worst case occurs. If any number of lanes can meet, as in a
histogram, this file gives no verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel import LaneLeaf
from swzverify.compiled.kernel.leaves import is_input
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.samples import Sampler
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.split import is_shared
from swzverify.compiled.scan.surely import from_places_of_their_own
from swzverify.compiled.scan.verdict import EXHAUSTION, Decision, DisagreementError
from swzverify.engines.gather import NAME as MATCHING
from swzverify.engines.obligations import WorstCost

MOST_WAYS: Final = 8
"""The most ways that are shown to be the worst that data can cause."""


def limited_by_data(question: Question, sure: Question, worst: WorstCost | None) -> Decision | None:
    """A conflict of as many ways as the worst data give, which an engine has found.

    None without it, or if data need not be the lane's own inputs. `sure` has the guard under which lanes
    certainly make the access. So many ways occur, and no lane that may make it adds to them.

    Raises:
        DisagreementError: Some data give more ways.
    """
    read = question.parts.leaves_of(question.parts.varying, question.guard)
    data = [leaf for leaf in read if not isinstance(leaf, LaneLeaf) and not is_shared(leaf)]
    loaded = [leaf for leaf in data if is_input(leaf)]
    if len(loaded) < len(data) or not all(from_places_of_their_own(question.block, leaf) for leaf in loaded):
        return None
    if worst is None or question.row.group_lanes < question.row.address_lanes:
        return None  # of several groups the engine has the sum
    ways = worst.most_conflicts.wavefronts
    sampler = Sampler(sure.row, sure.parts, sure.block, sure.guard)
    found = [sampler.own_values(), sampler.own_values(worst.most_conflicts.point)]
    shown = max((each for each in found if each is not None), key=lambda each: each.price.ways, default=None)
    if shown is None or ways > MOST_WAYS or shown.price.ways < ways:
        return None
    if shown.price.ways > ways:
        raise DisagreementError
    names = ", ".join(dict.fromkeys(map(spell_leaf, data)))
    reason = f"for some data of the lanes ({names}); no data give more"
    conflict = sure.conflict(shown.price, shown.addresses, shown.active, ways)
    return replace(conflict, reason=reason, is_for_some=True, engines=(MATCHING, EXHAUSTION))
