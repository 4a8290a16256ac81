"""Runs of a few threads, projected on barrier objects that belong together, as those of one stage of a ring do.

A projection leaves all other objects out: what a thread does to them is a step without an effect, so that a wait there
passes. It has all runs of these threads, and more. So only what every projection has may be at one time, and a few
small searches take the place of one whose states are those of all stages at once.

Source: docs/semantics.md, section 11, Projections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.order.events import MASKS, Act
from swzverify.compiled.order.interleaved import moments_of
from swzverify.compiled.order.nodes import Deed, Node, Touch, classes_of, merged
from swzverify.compiled.order.objects import Barrier, Key, scope_of
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.together import ACTIVE, AllMoments, Being, Member
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr

_BEINGS: Final = (Being.FREE, Being.HELD, Being.GONE)
"""How a thread is at a place, as far as projections have it in common: some freeze a thread, and others do not."""


class _Graph(NamedTuple):
    """What a thread does to some barriers.

    `there` has for each node the nodes of the whole graph at which the thread may be, and `copies` all copies for which
    one stands.
    """

    nodes: list[Node]
    there: NDArray[np.float32]
    copies: dict[Touch, list[Touch]]


class _Form(NamedTuple):
    """All that decides the runs of some threads, with numbers for objects and copies, and what these are."""

    facts: object
    keys: list[Key]
    copies: list[list[Touch]]


class Projections:
    """The projections of the runs of some roles; with `is_whole`, there is one, with all barriers."""

    def __init__(self, roles: Sequence[Role], barriers: Mapping[Key, Barrier], *, is_whole: bool) -> None:
        self._roles, self._barriers, self.is_whole = roles, barriers, is_whole
        self._known: dict[tuple[bool, bool, object], tuple[_Form, AllMoments]] = {}
        """The runs that have been followed: stages, and blocks, are often alike but for the names of objects."""

    @cached_property
    def _graphs(self) -> list[list[_Graph]]:
        """The graph of each role in each projection."""
        objects = [each for each in self._barriers if not isinstance(each, int)]
        others = {each for each in self._barriers if isinstance(each, int)}
        parts = [part | others for part in _parts(objects, _families(self._roles))]
        return [[self._projected(each.walk.nodes, part) for each in self._roles] for part in parts]

    def _projected(self, nodes: Sequence[Node], keys: set[Key]) -> _Graph:
        """A graph of the places behind operations on some barriers, with one operation for all that are alike."""
        seen = {target for node in nodes for deed, target in node.deeds if deed.key in keys}
        starts = {each: at for at, each in enumerate((0, *sorted(seen - {0})))}
        reach = [_reach(nodes, each, keys) for each in starts]
        joined = [Node(is_end=any(nodes[at].is_end for at in inside)) for inside in reach]
        alike: dict[Deed, Deed] = {}
        copies: dict[Touch, list[Touch]] = {}
        for here, inside in zip(joined, reach, strict=True):
            for deed, target in (each for at in inside for each in nodes[at].deeds if each[0].key in keys):
                kind = replace(deed, index=int(deed in self._barriers[deed.key].late), values=())
                one = alike.setdefault(kind, deed)
                here.deeds[one, starts[target]] = None
                if deed.act is Act.COPY:
                    of_one = copies.setdefault(Touch(one.index, one.values, is_data=False), [])
                    touch = Touch(deed.index, deed.values, is_data=False)
                    of_one += [] if touch in of_one else [touch]
        classes = classes_of(joined)
        there = np.zeros((max(classes) + 1, len(nodes)), dtype=np.float32)
        for at, inside in zip(classes, reach, strict=True):
            there[at, inside] = 1
        return _Graph(merged(joined), there, copies)

    def moments(
        self, members: Sequence[Member], most: int, *, is_of_time: bool, is_of_first: bool
    ) -> tuple[AllMoments | None, int]:
        """What can be at one time in all projections, and the states of all runs; None if these are too many."""
        if self.is_whole:
            return moments_of(
                members, self._roles, self._barriers, most, is_of_time=is_of_time, is_of_first=is_of_first
            )
        found, total = list[AllMoments](), 0
        for graphs in self._graphs:
            form = _form(members, self._roles, self._barriers, graphs)
            key = is_of_time, is_of_first, form.facts
            if key not in self._known:
                nodes = [each.nodes for each in graphs]
                left = most - total
                new, states = moments_of(
                    members,
                    self._roles,
                    self._barriers,
                    left,
                    is_of_time=is_of_time,
                    is_of_first=is_of_first,
                    graphs=nodes,
                )
                total += states
                if new is None:
                    return None, total
                self._known[key] = form, new
            found.append(_renamed(*self._known[key], form))
        return self._common(members, found), total

    def _common(self, members: Sequence[Member], found: Sequence[AllMoments]) -> AllMoments:
        couples = combinations(range(len(members)), 2)
        common = AllMoments({each: self._nodes(members, each, found) for each in couples})
        for graphs, moments in zip(self._graphs, found, strict=True):
            # A copy completes an object of one projection: in the others it is not known when.
            for owner, one, who, at, being in moments.copies:
                role = members[who].role
                there = np.flatnonzero(self._is_there(role, being) & (graphs[role].there[at] > 0)).tolist()
                touches = graphs[members[owner].role].copies[one]
                common.copies |= {(owner, touch, who, node, being) for node in there for touch in touches}
        common.early = _of_all([each.early for each in found])
        common.unmade = _of_all([each.unmade for each in found])
        return common

    def _nodes(
        self, members: Sequence[Member], couple: tuple[int, int], found: Sequence[AllMoments]
    ) -> set[tuple[int, int, Being, Being]]:
        """The places of two of the threads that they have together in all projections."""
        one, two = (members[each].role for each in couple)
        nodes: set[tuple[int, int, Being, Being]] = set()
        for mine, its in product(_BEINGS, _BEINGS):
            together = self._is_there(one, mine)[:, None] & self._is_there(two, its)[None, :]
            for graphs, moments in zip(self._graphs, found, strict=True):
                seen = np.zeros((len(graphs[one].nodes), len(graphs[two].nodes)), dtype=np.float32)
                pairs = [
                    (a, b)
                    for a, b, is_mine, is_its in moments.nodes[couple]
                    if (_kind(is_mine), _kind(is_its)) == (mine, its)
                ]
                if pairs:
                    seen[tuple(np.array(pairs).T)] = 1
                together &= graphs[one].there.T @ seen @ graphs[two].there > 0
            nodes |= {(a, b, mine, its) for a, b in np.argwhere(together).tolist()}
        return nodes

    def _is_there(self, role: int, being: Being) -> NDArray[np.bool_]:
        """The nodes at which a thread of a role can be in some way."""
        nodes = self._roles[role].walk.nodes
        if being is Being.GONE:
            return np.array([each.is_end for each in nodes], dtype=np.bool_)
        if being is Being.HELD:
            held = {target for node in nodes for deed, target in node.deeds if deed.act is Act.SYNC}
            return np.array([at in held for at in range(len(nodes))], dtype=np.bool_)
        return np.ones(len(nodes), dtype=np.bool_)


def _form(
    members: Sequence[Member], roles: Sequence[Role], barriers: Mapping[Key, Barrier], graphs: Sequence[_Graph]
) -> _Form:
    """What decides the runs of some threads: two of one form have the same runs, up to names."""
    numbers: dict[tuple[Key, int], int] = {}
    copies: list[list[Touch]] = []
    nodes: list[object] = []
    for member in members:
        graph, rank = graphs[member.role], roles[member.role].rank
        copies.append([*graph.copies])
        number_of = {each: at for at, each in enumerate(graph.copies)}
        for node in graph.nodes:
            deeds: list[object] = []
            for deed, target in node.deeds:
                scope = deed.key, scope_of(deed.key, member.thread, rank)
                number = numbers.setdefault(scope, len(numbers))
                touch = number_of.get(Touch(deed.index, deed.values, is_data=False))
                copy = touch if deed.act is Act.COPY else None
                facts = deed.count, deed.parity, deed.bytes, deed.is_own, deed in barriers[deed.key].late
                deeds.append((deed.act, number, copy, facts, target))
            nodes.append((node.is_end, tuple(deeds)))
        nodes.append(None)
    objects = tuple(_facts(key, scope, members, roles, barriers[key]) for key, scope in numbers)
    return _Form((tuple(nodes), objects), [key for key, _ in numbers], copies)


def _facts(
    key: Key, scope: int, members: Sequence[Member], roles: Sequence[Role], barrier: Barrier
) -> tuple[object, ...]:
    """What decides what a barrier does in runs of some threads."""
    kind = None if not isinstance(key, int) else key
    of_members = tuple(
        (
            member.role in barrier.shares,
            scope == scope_of(key, member.thread, roles[member.role].rank),
            member.thread % LANES if kind is not None and kind >= MASKS else 0,
            member.role == barrier.copier,
            member.role == barrier.maker,
            member.role == barrier.ender,
            barrier.portions.get(member.role),
        )
        for member in members
    )
    return kind, of_members, barrier.counts_returned, barrier.phase, bool(barrier.portions)


def _renamed(one: _Form, moments: AllMoments, other: _Form) -> AllMoments:
    """The moments of runs for others of the same form."""
    keys = dict(zip(one.keys, other.keys, strict=True))
    touches = [dict(zip(mine, its, strict=True)) for mine, its in zip(one.copies, other.copies, strict=True)]
    return AllMoments(
        moments.nodes,
        {(owner, touches[owner][touch], who, at, being) for owner, touch, who, at, being in moments.copies},
        {(who, keys[key]) for who, key in moments.early},
        {(who, keys[key]) for who, key in moments.unmade},
    )


def _kind(being: Being) -> Being:
    return Being.FREE if being in ACTIVE else being


def _of_all(found: Sequence[set[tuple[int, Key]]]) -> set[tuple[int, Key]]:
    """What all projections say of barriers that all have, and what one says of an object that it has alone."""
    every = found[0].intersection(*found[1:])
    return {each for of in found for each in of if each in every or not isinstance(each[1], int)}


def _families(roles: Iterable[Role]) -> list[list[Expr]]:
    """The objects at which each instruction waits, and then those at which each other one does something."""
    of_waits: dict[int, set[Expr]] = {}
    of_others: dict[int, set[Expr]] = {}
    for deed in (deed for role in roles for node in role.walk.nodes for deed, _ in node.deeds):
        if not isinstance(deed.key, int):
            (of_waits if deed.act is Act.WAIT else of_others).setdefault(deed.index, set()).add(deed.key)
    return [
        sorted(keys, key=lambda each: (_in_block(each), str(each)))
        for of in (of_waits, of_others)
        for keys in sorted(of.values(), key=len, reverse=True)
    ]


def _parts(objects: Sequence[Expr], families: Sequence[Sequence[Expr]]) -> list[set[Key]]:
    """Objects that may be those of one stage: what has one place in the ring of an instruction."""
    stages: dict[tuple[object, int], int] = {}
    for family in families:
        places = list(dict.fromkeys(_in_block(each) for each in family))
        for at, each in enumerate(places):
            stages.setdefault(each, at)
    found: dict[int, set[Key]] = {}
    for each in objects:
        found.setdefault(stages[_in_block(each)], set()).add(each)
    return list(found.values()) or [set()]


def _in_block(key: Expr) -> tuple[object, int]:
    """Where an object is in the memory of its block, whatever its rank."""
    total = sum_of(key)
    return frozenset(total.terms.items()), total.number % (1 << RANK_BITS)


def _reach(nodes: Sequence[Node], start: int, keys: set[Key]) -> list[int]:
    """A node, and those to which a thread comes from there without an operation on some barriers."""
    return list(closure([start], lambda at: [target for deed, target in nodes[at].deeds if deed.key not in keys]))
