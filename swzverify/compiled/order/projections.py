"""Runs of a few threads, projected on barrier objects that belong together, as those of one stage of a ring do.

A projection leaves all other objects out: what a thread does to them is a step without an effect, so that a wait there
passes. It has all runs of these threads, and more. So only what every projection has may be at one time, and a few
small searches take the place of one whose states are those of all stages at once.

Source: docs/semantics.md, section 11, Projections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.order.events import MASKS, Act
from swzverify.compiled.order.interleaved import asked_keys, moments_of
from swzverify.compiled.order.nodes import Deed, Node, Touch, classes_of, merged
from swzverify.compiled.order.objects import Barrier, Key, scope_of
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.together import ACTIVE, AllMoments, Being, Member, Moments, Place
from swzverify.compiled.order.walk import Walk
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr

_KINDS: Final = ({Act.WAIT, Act.SYNC}, {Act.ARRIVE, Act.LEAVE, Act.SYNC, Act.COPY}, {Act.COPY})
"""How a thread waits for others, how it lets others go on, and how it copies."""
_Beings: TypeAlias = tuple[Being, Being]


class _Graph(NamedTuple):
    """What a thread does to some barriers.

    `starts` has for each node the nodes of the whole graph at which the thread may come there, `there` those at which
    it may be, and `copies` all copies for which one stands. `named` are its barriers that have a number.
    """

    nodes: list[Node]
    starts: NDArray[np.float32]
    there: NDArray[np.float32]
    copies: dict[Touch, list[Touch]]
    named: frozenset[int]

    def places(self, being: Being) -> NDArray[np.float32]:
        """For each node the nodes of the whole graph at which the thread may be in some way."""
        return self.starts if being is Being.HELD else self.there


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
        self._graphs: dict[tuple[int, frozenset[Key]], _Graph] = {}
        """What a thread of a role does to some barriers."""

    @cached_property
    def _parts(self) -> list[set[Key]]:
        """The barriers of each projection."""
        objects = [each for each in self._barriers if not isinstance(each, int)]
        others = {each for each in self._barriers if isinstance(each, int)}
        parts = [set[Key](objects)] if self.is_whole else _parts(objects, _families(self._roles))
        return [part | others for part in parts]

    def _of(self, members: Sequence[Member], part: set[Key], *, is_of_time: bool, is_of_first: bool) -> list[_Graph]:
        """The graphs of some threads in a projection, without the barriers that have no effect on their runs."""
        graphs = [self._graph(each.role, frozenset(part)) for each in members]
        nodes = [each.nodes for each in graphs]
        asked = asked_keys(members, self._roles, self._barriers, nodes, is_of_time=is_of_time, is_of_first=is_of_first)
        acts = [{(deed.key, deed.act) for node in graph for deed, _ in node.deeds} for graph in nodes]
        # Whether a thread arrives twice in a phase is asked of barriers that tie nobody, too.
        tied = set(self._barriers) if self.is_whole or is_of_first else _tying(acts)
        # A copy runs on also where its object has no effect: that it does is asked of each copy.
        kept = [keys & tied | {key for key, act in of if act is Act.COPY} for keys, of in zip(asked, acts, strict=True)]
        # Barriers with a number are in all projections, and so are those of them that are left out here.
        return [self._graph(each.role, frozenset(keys)) for each, keys in zip(members, kept, strict=True)]

    def _graph(self, role: int, keys: frozenset[Key]) -> _Graph:
        if (role, keys) not in self._graphs:
            self._graphs[role, keys] = self._projected(self._roles[role].walk, keys)
        return self._graphs[role, keys]

    def _projected(self, walk: Walk, keys: Set[Key]) -> _Graph:
        """A graph of the places behind operations on some barriers, with one operation for all that are alike.

        Copies to two places are not: where a thread is between them, one of them runs alone.
        """
        nodes = walk.nodes
        seen = {target for node in nodes for deed, target in node.deeds if deed.key in keys}
        starts = {each: at for at, each in enumerate((0, *sorted(seen - {0})))}
        reach = [_reach(nodes, each, keys) for each in starts]
        joined = [Node(is_end=any(nodes[at].is_end for at in inside)) for inside in reach]
        alike: dict[tuple[Deed, Expr | None], Deed] = {}
        copies: dict[Touch, list[Touch]] = {}
        for here, inside in zip(joined, reach, strict=True):
            for deed, target in (each for at in inside for each in nodes[at].deeds if each[0].key in keys):
                is_kept = self.is_whole and deed.act is Act.COPY
                is_late = int(deed in self._barriers[deed.key].late)
                kind = deed if is_kept else replace(deed, index=is_late, values=())
                destination = walk.destination(deed) if deed.act is Act.COPY else None
                one = alike.setdefault((kind, destination), deed)
                here.deeds[one, starts[target]] = None
                if deed.act is Act.COPY:
                    of_one = copies.setdefault(Touch(one.index, one.values, is_data=False), [])
                    touch = Touch(deed.index, deed.values, is_data=False)
                    of_one += [] if touch in of_one else [touch]
        # Places that are alike from there on may have come about otherwise: with all barriers they are kept apart.
        classes = list(range(len(joined))) if self.is_whole else classes_of(joined)
        begins, there = np.zeros((2, max(classes) + 1, len(nodes)), dtype=np.float32)
        for at, start, inside in zip(classes, starts, reach, strict=True):
            begins[at, start] = 1
            there[at, inside] = 1
        named = frozenset(each for each in keys if isinstance(each, int))
        return _Graph(joined if self.is_whole else merged(joined), begins, there, copies, named)

    def moments(
        self, members: Sequence[Member], most: int, *, is_of_time: bool, is_of_first: bool
    ) -> tuple[AllMoments | None, int]:
        """What can be at one time in all projections, and the states of all runs; None if these are too many."""
        found, total = list[_Part](), 0
        every = [self._of(members, each, is_of_time=is_of_time, is_of_first=is_of_first) for each in self._parts]
        named = [[each.named for each in graphs] for graphs in every]
        if any(each != named[0] for each in named):
            # A thread that one projection holds at such a barrier, and another does not, would be nowhere in both.
            raise AssertionError(named)
        for graphs in every:
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
            known, moments = self._known[key]
            keys = dict(zip(known.keys, form.keys, strict=True))
            touches = [
                {one: graph.copies[other] for one, other in zip(mine, its, strict=True)}
                for mine, its, graph in zip(known.copies, form.copies, graphs, strict=True)
            ]
            found.append(_Part(graphs, moments, keys, touches))
        walks = [self._roles[each.role].walk.nodes for each in members]
        return _Common(walks, found, is_whole=self.is_whole), total


class _Part(NamedTuple):
    """The runs of one projection: what threads do in it, what can be at one time, and what its names stand for."""

    graphs: list[_Graph]
    moments: AllMoments
    keys: dict[Key, Key]
    touches: list[dict[Touch, list[Touch]]]


class _Common(AllMoments):
    """What can be at one time in all projections, found for two threads when it is asked for."""

    def __init__(self, walks: Sequence[Sequence[Node]], parts: Sequence[_Part], *, is_whole: bool) -> None:
        early = [{(who, each.keys[key]) for who, key in each.moments.early} for each in parts]
        unmade = [{(who, each.keys[key]) for who, key in each.moments.unmade} for each in parts]
        super().__init__(early=_of_all(early), unmade=_of_all(unmade))
        self._walks, self._parts, self._is_whole = walks, parts, is_whole

    def _find(self, one: int, two: int) -> Moments:
        """The moments of two threads."""
        found = Moments(self._nodes(one, two) if one != two else {}, {})
        new = {one: 0, two: 0 if one == two else 1}
        for part in self._parts:
            places: dict[tuple[int, int, Being], list[Place]] = {}
            # A copy completes an object of one projection: in the others it is not known when.
            for owner, copy, who, at, being in part.moments.copies:
                if owner in new and who in new:
                    if (who, at, being) not in places:
                        is_there = self._is_there(who, being) & (part.graphs[who].places(being)[at] > 0)
                        places[who, at, being] = [(node, being) for node in np.flatnonzero(is_there).tolist()]
                    for place, touch in product(places[who, at, being], part.touches[owner][copy]):
                        found.add(touch, new[owner], new[who], place)
        return found

    def _nodes(self, one: int, two: int) -> dict[Place, set[Place]]:
        """The places of two of the threads that they have together in all projections."""
        kinds = [self._by_kind(part.moments, one, two) for part in self._parts]
        nodes: dict[Place, set[Place]] = {}
        for mine, its in set(kinds[0]).intersection(*kinds[1:]):
            together = self._is_there(one, mine)[:, None] & self._is_there(two, its)[None, :]
            for part, of in zip(self._parts, kinds, strict=True):
                graphs = part.graphs
                seen = np.zeros((len(graphs[one].nodes), len(graphs[two].nodes)), dtype=np.float32)
                seen[tuple(np.array(of[mine, its]).T)] = 1
                together &= graphs[one].places(mine).T @ seen @ graphs[two].places(its) > 0
            others = [(at, its) for at in range(together.shape[1])]
            for at in np.flatnonzero(together.any(axis=1)).tolist():
                nodes.setdefault((at, mine), set()).update(others[e] for e in np.flatnonzero(together[at]).tolist())
        return nodes

    def _by_kind(self, moments: AllMoments, one: int, two: int) -> dict[_Beings, list[tuple[int, int]]]:
        """The places of two threads, by how both are there: some projections freeze a thread, and others do not."""
        found: dict[_Beings, list[tuple[int, int]]] = {}
        is_turned = one > two
        for each in moments.nodes[min(one, two), max(one, two)]:
            at, other, mine, its = (each[1], each[0], each[3], each[2]) if is_turned else each
            both = (mine, its) if self._is_whole else (_kind(mine), _kind(its))
            found.setdefault(both, []).append((at, other))
        return found

    def _is_there(self, who: int, being: Being) -> NDArray[np.bool_]:
        """The nodes at which a thread can be in some way."""
        return np.array([each.is_end or being is not Being.GONE for each in self._walks[who]], dtype=np.bool_)


def _tying(acts: Sequence[Set[tuple[Key, Act]]]) -> set[Key]:
    """The barriers that may tie some threads to each other, by what each of them does.

    One of them waits there, and one arrives. A copy ends with a phase, so that all arrivals in its phases are needed.
    """
    waited, arrived, copied = ({key for of in acts for key, act in of if act in kind} for kind in _KINDS)
    return waited & arrived | copied


def _form(
    members: Sequence[Member], roles: Sequence[Role], barriers: Mapping[Key, Barrier], graphs: Sequence[_Graph]
) -> _Form:
    """What decides the runs of some threads: two of one form have the same runs, up to names."""
    numbers: dict[tuple[Key, int], int] = {}
    copies: list[list[Touch]] = []
    nodes: list[object] = []
    for member, graph in zip(members, graphs, strict=True):
        rank = roles[member.role].rank
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


def _reach(nodes: Sequence[Node], start: int, keys: Set[Key]) -> list[int]:
    """A node, and those to which a thread comes from there without an operation on some barriers."""
    return list(closure([start], lambda at: [target for deed, target in nodes[at].deeds if deed.key not in keys]))
