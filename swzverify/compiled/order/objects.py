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
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import OBJECT_BYTES, Kernel
from swzverify.compiled.order.arrays import arrays_of
from swzverify.compiled.order.events import CLUSTER, MASKS, Act, LostError
from swzverify.compiled.order.nodes import Deed, Node
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.walk import Walk
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr, variables

_LIFE = (Act.INIT, Act.END)
_ARRIVALS = (Act.ARRIVE, Act.SYNC, Act.LEAVE)
Key: TypeAlias = Expr | int


@dataclass(slots=True)
class Barrier:
    """A barrier object, a named barrier, or the barrier of a mask in each warp.

    Attributes:
        shares: For each role, by its place, the arrivals of each of its threads in a phase.
        counts_returned: Whether a thread that has returned counts as arrived.
        copier: The place of the role whose only thread expects and copies bytes; None if several do, or none.
        portions: For each role, by its place, the bytes that each thread copies in a phase, if several threads copy.
        late: The copies between which and an arrival before them their thread touches something, or waits.
        maker: The place of the role whose only thread initialises the object; None for other barriers.
        ender: The place of the role whose only thread invalidates it; None without one.
        phase: The phase in which an object is when it is made, modulo 2.
    """

    shares: dict[int, int] = field(default_factory=dict[int, int])
    counts_returned: bool = False
    copier: int | None = None
    portions: dict[int, int] = field(default_factory=dict[int, int])
    late: set[Deed] = field(default_factory=set[Deed])
    maker: int | None = None
    ender: int | None = None
    phase: int = 0


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
        if copier is not None and copier not in found[place].shares:
            raise LostError(f"the thread that copies the bytes of {name_of(place)} does not arrive there")
        if copier is not None:
            found[place].late = _late_copies(roles[copier].walk.nodes, place)
    return found


def _barrier(kernel: Kernel, key: Key, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> Barrier:
    found, name, carriers = Barrier(), name_of(key), set[int]()
    for at, deed in deeds:
        if deed.act in _ARRIVALS:
            share = deed.count if not isinstance(key, int) else 1
            if not share or found.shares.setdefault(at, share) != share:
                raise LostError(f"a thread arrives at {name} with several counts")
        if deed.act in (Act.COPY, Act.EXPECT) or (deed.act is Act.ARRIVE and deed.bytes):
            carriers.add(at)
        if deed.act is Act.END:
            if found.ender not in (None, at) or len(roles[at].threads) > 1:
                raise LostError(f"several threads may invalidate {name}")
            found.ender = at
    if len(carriers) == 1 and all(len(roles[at].threads) == 1 for at in carriers):
        (found.copier,) = carriers
    elif carriers:
        found.portions = _portions(name, deeds, roles)
    total = sum(len(roles[at].threads) * share for at, share in found.shares.items())
    if isinstance(key, int) and key >= MASKS:
        mask = key - MASKS
        if any(not mask >> thread % LANES & 1 for at in found.shares for thread in roles[at].threads):
            raise LostError(f"a lane arrives at {name} that is not in its mask")
        found.counts_returned = True
    elif isinstance(key, int):
        threads, counts = kernel.ranks.threads, {deed.count for _, deed in deeds}
        found.counts_returned = counts == {0}
        if 0 in counts and len(counts) > 1:
            raise LostError(f"threads that have returned count at some instructions of {name}, and not at others")
        if not found.counts_returned:
            for rank in {roles[at].rank for at in found.shares}:
                members = [each for at in found.shares if roles[at].rank == rank for each in roles[at].threads]
                _check_whole_warps(members, threads)
                if {each or threads for each in counts} != {len(members)}:
                    raise LostError(f"{len(members)} threads may arrive at {name}, which counts {_some(counts)}")
    else:
        found.maker, count = _maker(key, deeds, roles)
        found.phase = next(deed.parity for _, deed in deeds if deed.act is Act.INIT)
        if count != total and any(deed.act not in _LIFE for _, deed in deeds):
            raise LostError(f"{total} arrivals may come to {name}, which is initialised with {count}")
    return found


def scope_of(key: Key, thread: int, rank: int) -> int:
    """Which of the barriers of one name a thread means: that of its warp, that of its block, or the only one."""
    if not isinstance(key, int) or key < 0:
        return -1
    return thread // LANES if key >= MASKS else rank


def arrivals_of(walk: Walk, key: Key) -> int | None:
    """How often each thread of a graph comes to a barrier before it returns; None if that is not one number."""
    found, pending = {0: 0}, [0]
    while pending:
        at = pending.pop()
        for deed, target in walk.nodes[at].deeds:
            count = found[at] + (deed.key == key)
            if target not in found:
                found[target] = count
                pending.append(target)
            elif found[target] != count:
                return None
    ends = {count for at, count in found.items() if walk.nodes[at].is_end}
    return ends.pop() if len(ends) == 1 else None


def name_of(key: Key) -> str:
    """A barrier in words."""
    if key == CLUSTER:
        return "the barrier of the cluster"
    if isinstance(key, int):
        return f"barrier {key}" if key < MASKS else f"the barrier of the lanes {key - MASKS:#x}"
    total = sum_of(key)
    names = [each.name.removeprefix("shared ") for each in variables(key)]
    return f"the barrier object at {' + '.join((*names, str(total.number)))}"


def _some(counts: Iterable[int]) -> str:
    return " or ".join(map(str, sorted(counts)))


def _maker(key: Expr, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> tuple[int, int]:
    """The role whose one thread initialises an object, and the object's count.

    It does so once, or each time behind an `inval` if nobody does anything else with the object.
    """
    inits = [(at, deed) for at, deed in deeds if deed.act is Act.INIT]
    if len({at for at, _ in inits}) != 1 or len(roles[inits[0][0]].threads) != 1:
        raise LostError(f"{name_of(key)} is not initialised by one thread")
    nodes, is_unused = roles[inits[0][0]].walk.nodes, {at for at, _ in deeds} == {inits[0][0]}
    is_unused &= all(deed.act in _LIFE for _, deed in deeds)
    if any(_can_begin(nodes, target, key, ends=is_unused) for node in nodes for target in _behind_init(node, key)):
        raise LostError(f"{name_of(key)} may be initialised again")
    counts = {deed.count for _, deed in inits}
    if len(counts) != 1:
        raise LostError(f"{name_of(key)} is initialised with {_some(counts)}")
    return inits[0][0], counts.pop()


def _behind_init(node: Node, key: Expr) -> Iterable[int]:
    return (target for deed, target in node.deeds if deed.act is Act.INIT and deed.key == key)


def _can_begin(nodes: Sequence[Node], start: int, key: Expr, *, ends: bool) -> bool:
    """Whether an object can be initialised by a path from a node; with `ends`, by one that does not invalidate it."""

    def following(at: int) -> list[int]:
        return [target for deed, target in nodes[at].deeds if not ends or (deed.act, deed.key) != (Act.END, key)]

    ahead = closure([start], following)
    return any(True for at in ahead for _ in _behind_init(nodes[at], key))


def _portions(name: str, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> dict[int, int]:
    """The bytes that each thread of a role copies in each phase, where one thread announces those of all."""
    announced = {
        (at, deed.act, deed.bytes)
        for at, deed in deeds
        if deed.act is Act.EXPECT or (deed.bytes and deed.act is Act.ARRIVE)
    }
    announcers = {at for at, _, _ in announced}
    is_whole = all(deed.bytes for at, deed in deeds if at in announcers and deed.act is Act.ARRIVE)
    if len(announced) != 1 or len(roles[next(iter(announcers))].threads) > 1 or not is_whole:
        raise LostError(f"several threads may expect and copy the bytes of {name}")
    ((_, act, expected),) = announced
    sizes: dict[int, dict[int, int]] = {}
    for at, deed in deeds:
        if deed.act is Act.COPY and sizes.setdefault(at, {}).setdefault(deed.index, deed.bytes) != deed.bytes:
            raise LostError(f"a thread copies several numbers of bytes to {name}")
    copied = sum(sum(of.values()) * len(roles[at].threads) for at, of in sizes.items())
    # Copies at several places may bring the bytes of several phases: that no phase gets more of them is shown of runs.
    phases, rest = divmod(copied, expected or 1)
    is_even = phases > 0 and not rest and not any(sum(of.values()) % phases for of in sizes.values())
    if act is Act.EXPECT or not is_even:
        raise LostError(f"several threads copy {copied} bytes to {name}, which expects {expected}")
    return {at: sum(of.values()) // phases for at, of in sizes.items()}


def _late_copies(nodes: Sequence[Node], key: Expr) -> set[Deed]:
    """The copies between which and an arrival before them their thread touches data, or waits.

    A copy that completes a phase says nothing of what its thread did after it arrived in this phase. What ran on at the
    arrival runs on at the copy, too: no fence and no wait of a group is between.
    """
    found: set[Deed] = set()
    pending = [(target, False) for node in nodes for deed, target in node.deeds if _is_arrival(deed, key)]
    seen: set[tuple[int, bool]] = set()
    while pending:
        at, is_late = state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        is_late = is_late or any(each.is_data for each in nodes[at].touches)
        for deed, target in nodes[at].deeds:
            if _is_arrival(deed, key):
                continue
            has_ended = not nodes[target].entry.issuperset(nodes[at].running)
            if (is_late or has_ended) and (deed.act, deed.key) == (Act.COPY, key):
                found.add(deed)
            pending.append((target, is_late or has_ended or deed.act in (Act.WAIT, Act.SYNC)))
    return found


def _is_arrival(deed: Deed, key: Expr) -> bool:
    return (deed.act, deed.key) == (Act.ARRIVE, key)


def _check_whole_warps(members: list[int], threads: int) -> None:
    """A named barrier counts warps: either all lanes of a warp take part, or none."""
    warps = {each // LANES for each in members}
    if len(members) != sum(min(LANES, threads - LANES * warp) for warp in warps) or threads % LANES:
        raise LostError("a part of a warp may arrive at a barrier with a number")


def _check_apart(kernel: Kernel, places: list[Expr]) -> None:
    """Objects do not overlap, in arrays that do not."""
    for at, one in enumerate(places):
        for two in places[at + 1 :]:
            distance = sum_of(sub(one, two))
            if distance.terms:
                first, second = arrays_of(kernel, one), arrays_of(kernel, two)
                is_apart = len(first) == len(second) == 1 and first != second
            else:
                is_apart = OBJECT_BYTES <= distance.number <= (1 << 32) - OBJECT_BYTES
            if not is_apart:
                raise LostError(f"{name_of(one)} and {name_of(two)} may overlap")
