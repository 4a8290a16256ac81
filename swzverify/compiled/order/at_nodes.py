"""What a thread does at each node of its graph: what runs on there, and what it makes there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

from swzverify.compiled.order.flights import Flight, Running, Values
from swzverify.compiled.order.together import ACTIVE, Being, Place
from swzverify.compiled.order.walk import Walk

AtNodes: TypeAlias = dict[int, dict[Place, tuple[Values, ...]]]
"""For each instruction, by nodes and how a thread is there: what the leaves in its address were."""


def running_at(walk: Walk, counts: Callable[[Flight], bool] = lambda _: True) -> AtNodes:
    """What runs on at each node: when a thread is held before it can go on, while it is there, or gone."""
    found: AtNodes = {}
    for at, node in enumerate(walk.nodes):
        beings = {Being.FREE: node.running, Being.STOPPED: node.running}
        for being, running in {**beings, Being.HELD: node.entry, Being.GONE: node.leaving}.items():
            for each in (each for each in running if each.how is not Running.UNMET and counts(each)):
                there = found.setdefault(each.index, {})
                there[at, being] = tuple(dict.fromkeys((*there.get((at, being), ()), each.values)))
    return found


def made_at(walk: Walk) -> AtNodes:
    """What is made at each node through the generic proxy; a `cp.async` is made until its thread waits for it."""
    found = running_at(walk, lambda each: each.how is Running.COPY)
    copies = {*found}
    for at, node in enumerate(walk.nodes):
        for touch, being in product(node.touches, ACTIVE):
            if touch.is_data and touch.index not in copies:
                there = found.setdefault(touch.index, {})
                there[at, being] = tuple(dict.fromkeys((*there.get((at, being), ()), touch.values)))
    return found
