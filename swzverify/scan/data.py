"""Conflicts of addresses that contain data of each lane, where no data can cause more than a few
ways.

The lanes' data are inputs: words of global memory, which each lane loads from an address of its
own. They may be anything, so the worst of all is reached. Where any number of lanes can meet, as in
a histogram, nothing is said here.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

import numpy as np

from swzverify.hardware import LANES
from swzverify.ir.expr import Expr, variables
from swzverify.kernel import Kind, Leaf
from swzverify.obligations import Answer
from swzverify.scan.collide import lanes_meet
from swzverify.scan.price import DisagreementError
from swzverify.scan.question import Question
from swzverify.scan.samples import Sampler
from swzverify.scan.spell import spell_leaf
from swzverify.scan.split import is_shared
from swzverify.scan.verdict import SMT, Decision, Verdict

MOST_WAYS: Final = 8
"""The most ways that are shown to be the worst that data can cause."""
_SEED: Final = 20_250_102
_TRIES: Final = 8


def limited_by_data(question: Question, guard: Expr) -> Decision | None:
    """A conflict of as many ways as the worst data give, shown to be the worst; None if data may
    give more than a few, or need not be the lane's own inputs.
    """
    read = question.parts.leaves_of(question.parts.varying, guard)
    data = [leaf for leaf in read if leaf.kind is not Kind.LANE and not is_shared(leaf)]
    if not all(leaf.is_input and _from_places_of_their_own(question, leaf) for leaf in data):
        return None
    least, most = 2, MOST_WAYS
    if not _can_meet(question, guard, MOST_WAYS + 1, Answer.EMPTY):
        return None
    while least < most:
        middle = (least + most + 1) // 2
        if _can_meet(question, guard, middle, Answer.HOLDS):
            least = middle
        elif _can_meet(question, guard, middle, Answer.EMPTY):
            most = middle - 1
        else:
            return None
    names = ", ".join(dict.fromkeys(map(spell_leaf, data)))
    reason = f"for some data of the lanes ({names}); no data give more"
    found = Sampler(question.row, question.parts, question.block, guard).own_values()
    if found is None:
        return None
    if found.price.ways > least:
        raise DisagreementError
    if found.price.ways < least:
        return Decision(Verdict.CONFLICT, reason, least, is_for_some=True, engines=(SMT,))
    worst = question.conflict(found.price, found.addresses, found.active, least)
    if question.row.group_lanes < LANES:
        worst = replace(worst, wavefronts=None, minimum=None)
    return replace(worst, reason=reason, is_for_some=True)


def _can_meet(question: Question, guard: Expr, count: int, wanted: Answer) -> bool:
    """Whether the SMT engine gives an answer for so many lanes that meet."""
    asked = lanes_meet(question.row, question.block.shape, question.parts, guard, count)
    return question.possible(asked).answer is wanted


def _from_places_of_their_own(question: Question, leaf: Leaf) -> bool:
    """Whether the lanes of some warp may load a leaf from as many places as there are lanes."""
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    block = question.block
    for place in leaf.feeds:
        for _ in range(_TRIES):
            read = [each for each in variables(place) if each.name not in block.point]
            env = {each.name: np.array(draw.randrange(min(each.limit, 1 << 20)))[None, None, None] for each in read}
            rows = block.values(place, env).reshape(-1, LANES)[block.exists.all(axis=1)]
            if any(len(np.unique(row)) == LANES for row in rows):
                return True
    return False
