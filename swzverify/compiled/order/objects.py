"""The barriers of a kernel: who takes part in each, and what completes it.

Each thread that takes part arrives with one number of arrivals in each phase, and these add up to the count of
the barrier. Then a phase is complete only if each of them has arrived in it, as long as none arrives twice in
one phase; that none does is shown of the runs (`interleaved`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.arrays import arrays_of
from swzverify.compiled.order.events import Act
from swzverify.compiled.order.roles import MASKS, Role
from swzverify.compiled.order.walk import Deed, LostError, Node
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr

_OBJECT_BYTES = 8
_ARRIVALS = (Act.ARRIVE, Act.SYNC, Act.LEAVE)
Key: TypeAlias = Expr | int


@dataclass(slots=True)
class Barrier:
    """A barrier object, a named barrier, or the barrier of a mask in each warp.

    Attributes:
        shares: For each role, by its place, the arrivals of each of its threads in a phase.
        counts_returned: Whether a thread that has returned counts as arrived.
        copier: The place of the role whose only thread expects and copies bytes; None without any.
        maker: The place of the role whose only thread initialises the object; None for other barriers.
    """

    shares: dict[int, int] = field(default_factory=dict[int, int])
    counts_returned: bool = False
    copier: int | None = None
    maker: int | None = None


def barriers_of(kernel: Kernel, roles: Sequence[Role]) -> dict[Key, Barrier]:
    """All barriers that the roles use.

    Raises:
        LostError: Who takes part in one, or its count, does not add up or is not known.
    """
    deeds: dict[Key, list[tuple[int, Deed]]] = {}
    for at, role in enumerate(roles):
        for node in role.walk.nodes:
            for deed, _ in node.deeds:
                deeds.setdefault(deed.key, []).append((at, deed))
    places = [each for each in deeds if not isinstance(each, int)]
    _check_apart(kernel, places)
    found = {key: _barrier(kernel, key, each, roles) for key, each in deeds.items()}
    for place in places:
        copier = found[place].copier
        if copier is not None:
            _check_copier(roles[copier].walk.nodes, place)
    return found


def _barrier(kernel: Kernel, key: Key, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> Barrier:
    found = Barrier()
    for at, deed in deeds:
        if deed.act in _ARRIVALS:
            share = deed.count if not isinstance(key, int) else 1
            if not share or found.shares.setdefault(at, share) != share:
                raise LostError
        if deed.act in (Act.COPY, Act.EXPECT) or (deed.act is Act.ARRIVE and deed.bytes):
            if found.copier not in (None, at) or len(roles[at].threads) > 1:
                raise LostError
            found.copier = at
    total = sum(len(roles[at].threads) * share for at, share in found.shares.items())
    if isinstance(key, int) and key >= MASKS:
        mask = key - MASKS
        if any(not mask >> thread % LANES & 1 for at in found.shares for thread in roles[at].threads):
            raise LostError
        found.counts_returned = True
    elif isinstance(key, int):
        threads = kernel.block[0] * kernel.block[1] * kernel.block[2]
        counts = {deed.count for _, deed in deeds}
        found.counts_returned = counts == {0}
        if 0 in counts and len(counts) > 1:
            raise LostError  # threads that have returned count at some of its instructions alone
        if not found.counts_returned:
            _check_whole_warps([each for at in found.shares for each in roles[at].threads], threads)
            if {each or threads for each in counts} != {total}:
                raise LostError
    elif any(deed.act is not Act.INIT for _, deed in deeds):
        found.maker, count = _maker(key, deeds, roles)
        if count != total:
            raise LostError
    return found


def _maker(key: Expr, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> tuple[int, int]:
    """The role whose one thread initialises an object, once, and the object's count."""
    inits = [(at, deed) for at, deed in deeds if deed.act is Act.INIT]
    if len({at for at, _ in inits}) != 1 or len(roles[inits[0][0]].threads) != 1:
        raise LostError
    nodes = roles[inits[0][0]].walk.nodes
    if any(_can_begin(nodes, target, key) for node in nodes for target in _behind_init(node, key)):
        raise LostError
    (count,) = {deed.count for _, deed in inits} if len({deed.count for _, deed in inits}) == 1 else (-1,)
    return inits[0][0], count


def _behind_init(node: Node, key: Expr) -> Iterable[int]:
    return (target for deed, target in node.deeds if deed.act is Act.INIT and deed.key == key)


def _can_begin(nodes: Sequence[Node], start: int, key: Expr) -> bool:
    """Whether an object can be initialised by a path from a node."""
    pending, seen = [start], set[int]()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if any(True for _ in _behind_init(nodes[at], key)):
            return True
        pending += [target for _, target in nodes[at].deeds]
    return False


def _check_copier(nodes: Sequence[Node], key: Expr) -> None:
    """The thread that copies touches nothing and waits for nothing between its arrival and the copies.

    A copy that completes a phase says nothing of what its thread did after its arrival.
    """
    before: dict[int, list[tuple[Deed, int]]] = {}
    for at, node in enumerate(nodes):
        for deed, target in node.deeds:
            before.setdefault(target, []).append((deed, at))
    pending = [at for at, node in enumerate(nodes) if any(d.act is Act.COPY and d.key == key for d, _ in node.deeds)]
    seen: set[int] = set()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if any(each.is_data for each in nodes[at].touches):
            raise LostError
        for deed, source in before.get(at, ()):
            if deed.act in (Act.WAIT, Act.SYNC):
                raise LostError
            if (deed.act, deed.key) != (Act.ARRIVE, key):
                pending.append(source)


def _check_whole_warps(members: list[int], threads: int) -> None:
    """A named barrier counts warps: either all lanes of a warp take part, or none."""
    warps = {each // LANES for each in members}
    if len(members) != sum(min(LANES, threads - LANES * warp) for warp in warps) or threads % LANES:
        raise LostError


def _check_apart(kernel: Kernel, places: list[Expr]) -> None:
    """Objects do not overlap, in arrays that do not."""
    for at, one in enumerate(places):
        for two in places[at + 1 :]:
            distance = sum_of(sub(one, two))
            if distance.terms:
                first, second = arrays_of(kernel, one), arrays_of(kernel, two)
                is_apart = len(first) == len(second) == 1 and first != second
            else:
                is_apart = _OBJECT_BYTES <= distance.number <= (1 << 32) - _OBJECT_BYTES
            if not is_apart:
                raise LostError
