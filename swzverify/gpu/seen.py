"""What the device's own answers say of a claim, where it ran: no model is asked for these.

A tile's places, an access's addresses and the costs are taken as the device computed and counted
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from swzverify.claims import (
    Aligned,
    Bijective,
    Claim,
    Contiguous,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
)
from swzverify.claims.common_base import related
from swzverify.claims.cost_claim import CostClaim
from swzverify.core.words import counted
from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.launch import DeviceAnswer
from swzverify.gpu.map_run import MapRun
from swzverify.gpu.plan import Key, Plan, Run
from swzverify.gpu.source import NOWHERE, row_variables
from swzverify.gpu.tile_run import TileRun

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Seen:
    """Whether the claim held wherever it was run (None: it does not show), and that in words.

    `partly` tells that a failure might not show: then `holds` is no answer to a refuted claim.
    """

    holds: bool | None
    text: str
    partly: bool = False


@dataclass(frozen=True, slots=True)
class CostSeen:
    """The costs counted for the patterns of one access: how many there are and were run, the worst,
    and how many had conflicts. `differing` counts those that break the rule; the first ones are in
    words.
    """

    patterns: int
    counted: int
    wavefronts: int
    conflicted: int
    differing: int = 0
    differences: tuple[str, ...] = ()


def seen(claim: Claim, plan: Plan, answers: Mapping[Key, Sequence[DeviceAnswer]], cost: CostSeen | None) -> Seen:
    """What the device says of a claim; `cost` is the counted cost of the claim's access."""
    runs = [(plan.find(*subject), answers[id(subject[0]), subject[1]]) for subject in claim.placed]
    if any(
        answer.status and not launch.faults
        for run, own in runs
        for launch, answer in zip(run.launches, own, strict=True)
    ):
        return Seen(None, "some launches failed")
    if not all(run.launches for run, _ in runs):
        return Seen(None, "nothing to run")
    match claim:
        case Injective() | Bijective():
            return _one_to_one(claim, *runs[0])
        case Contiguous():
            return _contiguous(claim, *runs[0])
        case Aligned():
            return _aligned(*runs[0])
        case InBounds():
            return _in_bounds(*runs[0])
        case CostClaim():
            aligned = _aligned(*runs[0])
            return _cost(claim, cost) if aligned.holds else aligned
        case Covers():
            return _covers(claim, runs)
        case Equivalent():
            return _equivalent(runs)
        case Disjoint():
            return _disjoint(claim, runs)
        case Permutation():
            return _permutation(claim, *runs[0])
        case _:
            return Seen(None, f"{claim.kind} is not looked at on a device")


def _outside(run: TileRun, base: int, own: Array) -> int:
    """How many elements lie outside their stage's allocation; `own` has a row per stage."""
    tile = run.tile
    start = (run.base_bytes(base) + np.arange(tile.stages)[:, None] * tile.pitch_bytes) * tile.units_per_byte
    end = start + tile.allocation_bytes * tile.units_per_byte
    return int(((own < start) | (own + tile.element_units > end)).sum())


def _one_to_one(claim: Injective | Bijective, run: Run, answers: Sequence[DeviceAnswer]) -> Seen:
    assert isinstance(run, TileRun)  # noqa: S101 - the plan's own
    tile = run.tile
    meeting = outside = 0
    for base, places in run.placed(answers).items():
        own = places.reshape(tile.stages, tile.size)
        meeting += int((np.diff(np.sort(own, axis=1), axis=1) < tile.element_units).sum())
        outside += _outside(run, base, own)
    count = run.count * len(run.bases)
    if isinstance(claim, Injective):
        return Seen(meeting == 0, f"{count} elements placed, {meeting} share bytes")
    filled = tile.size * tile.element_bits == 8 * tile.allocation_bytes
    words = f"{count} elements placed, {meeting} share bytes, {outside} outside"
    return Seen(not meeting and not outside and filled, words + ("" if filled else ", gaps left"))


def _contiguous(claim: Contiguous, run: Run, answers: Sequence[DeviceAnswer]) -> Seen:
    assert isinstance(run, TileRun)  # noqa: S101 - the plan's own
    tile, n = run.tile, claim.elements
    broken = total = 0
    for base, places in run.placed(answers).items():
        if tile.offsets_decide:
            start = (run.base_bytes(base) + run.coordinates[1] * tile.pitch_bytes) * tile.units_per_byte
        else:
            start = 0
        shaped = (places - start).reshape(
            tile.stages, *tile.extents[::-1]
        )  # colexicographic: the first mode runs fastest
        along = np.moveaxis(shaped, tile.layout.rank - claim.along, -1)
        vectors = along[..., : along.shape[-1] // n * n].reshape(-1, n)
        step = tile.element_units
        whole = (vectors == vectors[:, :1] + np.arange(n) * step).all(axis=1) & (vectors[:, 0] % (n * step) == 0)
        broken += int((~whole).sum())
        total += len(vectors)
    return Seen(broken == 0, f"{total} vectors, {broken} broken") if total else Seen(None, "no vector fits")


def _aligned(run: Run, answers: Sequence[DeviceAnswer]) -> Seen:
    assert isinstance(run, AccessRun)  # noqa: S101 - the plan's own
    width = run.access.instruction.width_bytes
    units = 8 // run.access.unit_bits
    bad = total = 0
    for launch, answer in zip(run.launches, answers, strict=True):
        if not launch.faults:
            places = answer.places[answer.places != NOWHERE].astype(np.int64)
            bad += int((places % (width * units) != 0).sum())
            total += places.size
    trapped = sum(launch.faults and answer.status != 0 for launch, answer in zip(run.launches, answers, strict=True))
    return Seen(bad == 0, f"{total} addresses, {bad} misaligned" + (", and the hardware trapped" if trapped else ""))


def _in_bounds(run: Run, answers: Sequence[DeviceAnswer]) -> Seen:
    if isinstance(run, TileRun):
        placed = run.placed(answers).items()
        outside = sum(_outside(run, base, places.reshape(run.tile.stages, -1)) for base, places in placed)
        return Seen(outside == 0, f"{run.count * len(run.bases)} elements placed, {outside} outside")
    assert isinstance(run, AccessRun)  # noqa: S101 - the plan's own
    access, outside, total = run.access, 0, 0
    for launch, active, address in run.touched_bytes(answers):
        _, _, _, start = access.definition(run.point(launch.base))
        begin = np.broadcast_to(start, active.shape) // (8 // access.unit_bits)
        room = access.tile.allocation_bytes if access.tile is not None else access.bytes or 0
        bad = (address < begin) | (address + access.instruction.width_bytes > begin + room)
        outside += int((bad & active).sum())
        total += int(active.sum())
    # a coordinate outside the shape may still give an address inside the allocation
    return Seen(outside == 0, f"{total} addresses, {outside} outside", partly=access.tile is not None)


def _cost(claim: CostClaim, cost: CostSeen | None) -> Seen:
    if cost is None or not cost.counted:
        return Seen(None, "cost not counted")
    some = "" if cost.counted == cost.patterns else f"{cost.counted} of "
    patterns, worst = counted(cost.patterns, "pattern"), counted(cost.wavefronts, "wavefront")
    words = f"{some}{patterns}, worst {worst}, {cost.conflicted} with conflicts"
    if claim.reaches is not None:
        holds = cost.wavefronts == claim.reaches
    else:
        holds = cost.conflicted == 0 if claim.limit is None else cost.wavefronts <= claim.limit
    return Seen(holds, words, partly=cost.counted < cost.patterns)


def _covers(claim: Covers, runs: Sequence[tuple[Run, Sequence[DeviceAnswer]]]) -> Seen:
    (first, one), (second, two) = runs
    assert isinstance(first, AccessRun)  # noqa: S101 - the plan's own
    assert isinstance(second, TileRun)  # noqa: S101 - the plan's own
    if not first.is_whole:
        return Seen(None, "the access was sampled")
    tile, wrong, total = second.tile, 0, 0
    placed = second.placed(two)
    for launch, active, address in first.touched_bytes(one):
        if launch.base not in placed:
            continue
        if tile.element_bits % 8:
            return Seen(None, "elements share bytes")
        own = placed[launch.base] * tile.unit_bits // 8
        # The device's addresses may be anything: they are sorted, and no memory is laid out for
        # them.
        touched, width = np.sort(address[active]), first.access.instruction.width_bytes
        # An element is touched as often as its bytes are: a lane takes whole elements, or several
        # lanes one.
        per = np.stack([_touches(touched, width, own + q) for q in range(tile.element_bits // 8)], axis=1)
        wrong += int((per != claim.times).any(axis=1).sum())
        total += own.size
    if not total:
        return Seen(None, "no common base was run")
    return Seen(wrong == 0, f"{total} elements, {wrong} not touched {claim.times} times")


def _touches(touched: Array, width_bytes: int, byte: Array) -> Array:
    """How many sorted accesses hold each byte: they begin there, or less than a width before."""
    begun = np.searchsorted(touched, byte, side="right")
    return begun - np.searchsorted(touched, byte - width_bytes, side="right")


def _equivalent(runs: Sequence[tuple[Run, Sequence[DeviceAnswer]]]) -> Seen:
    (first, one), (second, two) = runs
    if isinstance(first, AccessRun) and isinstance(second, AccessRun):
        return _same_addresses(first, one, second, two)
    if isinstance(first, AccessRun) or isinstance(second, AccessRun):
        return Seen(None, "an access has nothing to be compared with")
    if isinstance(first, MapRun) and isinstance(second, MapRun) and len(first.index.value) > 1:
        return _same_values(first, one, second, two)
    differing = total = 0
    here, there = _bits(first, one), _bits(second, two)
    for base in sorted(set(here) & set(there)):
        a, b = here[base], there[base]
        if max(a.size, b.size) % min(a.size, b.size):
            return Seen(None, "of different shapes")
        size = max(a.size, b.size)
        differing += int((np.resize(a, size) != np.resize(b, size)).sum())
        total += size
    if not total:
        return Seen(None, "no common base was run")
    return Seen(differing == 0, f"{total} places, {differing} differ")


def _bits(run: TileRun | MapRun, answers: Sequence[DeviceAnswer]) -> dict[int, Array]:
    """Places in bits by base address (0 for maps without); a map's value is a byte address."""
    if isinstance(run, TileRun):
        return {run.base_bytes(base): places * run.tile.unit_bits for base, places in run.placed(answers).items()}
    place = run.place
    return {
        0 if place is None else place.at({place.name: base}): values * 8 for base, values in run.placed(answers).items()
    }


def _same_values(first: MapRun, one: Sequence[DeviceAnswer], second: MapRun, two: Sequence[DeviceAnswer]) -> Seen:
    differing = total = 0
    for a, b in zip(one, two, strict=True):
        left, right = first.found(a), second.found(b)
        if left.shape != right.shape:
            return Seen(None, "of different shapes")
        differing += int((left != right).any(axis=1).sum())
        total += len(left)
    return Seen(differing == 0, f"{total} points, {differing} differ")


def _same_addresses(
    first: AccessRun, one: Sequence[DeviceAnswer], second: AccessRun, two: Sequence[DeviceAnswer]
) -> Seen:
    """Lane by lane, in rows with the same values of the same variables."""
    names = [node.name for node in row_variables(first.access)]
    others = [node.name for node in row_variables(second.access)]
    if sorted(names) != sorted(others) or first.access.threads != second.access.threads:
        return Seen(None, "of different shapes")
    order = [others.index(name) for name in names]
    mine = {tuple(row): i for i, row in enumerate(first.rows.tolist())}
    pairs = [(mine[key], j) for j, row in enumerate(second.rows[:, order].tolist()) if (key := tuple(row)) in mine]
    if not pairs:
        return Seen(None, "no common row was run")
    here, there = np.asarray(pairs).T
    differing = total = 0
    sides = zip(first.touched_bytes(one), second.touched_bytes(two), strict=False)
    for (launch, on, at), (other, on_too, at_too) in sides:
        places = [run.access.origin for run in (first, second)]
        if places[0].at({places[0].name: launch.base}) != places[1].at({places[1].name: other.base}):
            continue
        same = (on[here] == on_too[there]) & (~on[here] | (at[here] == at_too[there]))
        differing += int((~same).sum())
        total += same.size
    return Seen(differing == 0, f"{total} lanes, {differing} differ") if total else Seen(None, "no common base was run")


def _disjoint(claim: Disjoint, runs: Sequence[tuple[Run, Sequence[DeviceAnswer]]]) -> Seen:
    meeting = total = 0
    for a, b in _facing(claim, runs):
        shared = np.intersect1d(a, b)
        meeting += shared.size
        total += a.size + b.size
    return Seen(meeting == 0, f"{total} bits, {meeting} shared") if total else Seen(None, "nothing to keep apart")


def _facing(claim: Disjoint, runs: Sequence[tuple[Run, Sequence[DeviceAnswer]]]) -> Iterator[tuple[Array, Array]]:
    """The bits of either side, at every pair of bases of the claim."""
    sides: list[dict[int, Array]] = []
    for run, answers in runs:
        assert isinstance(run, TileRun)  # noqa: S101 - the plan's own
        bits = np.arange(run.tile.element_units)
        sides.append(
            {
                base: ((places[:, None] + bits).reshape(run.tile.stages, -1) * run.tile.unit_bits)
                for base, places in run.placed(answers).items()
            }
        )
    if claim.second is None:
        for stages in sides[0].values():
            yield from ((stages[i], stages[j]) for i in range(len(stages)) for j in range(i))
        return
    tied = related(claim.first.base, claim.second.base)
    for one, two in product(*sides):
        if not tied or one == two:
            yield sides[0][one].ravel(), sides[1][two].ravel()


def _permutation(claim: Permutation, run: Run, answers: Sequence[DeviceAnswer]) -> Seen:
    assert isinstance(run, MapRun)  # noqa: S101 - the plan's own
    good = True
    total = outside = 0
    for answer in answers:
        values = run.found(answer)
        inside = ((values >= 0) & (values < np.asarray(claim.box))).all(axis=1)
        distinct = len(np.unique(values, axis=0))
        outside += int((~inside).sum())
        good &= bool(inside.all()) and distinct == len(values) == int(np.prod(claim.box))
        total += distinct
    return Seen(good, f"{run.count * len(answers)} points, {total} different values, {outside} outside")
