"""The runs that a spec's claims need: each access, tile and map once, at chosen bases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from swzverify.claims import Aligned, Claim, Delivers, Verdict
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Subject
from swzverify.claims.fragment_points import FragmentPoints
from swzverify.claims.operand_points import OperandPoints
from swzverify.claims.shared_k import Points
from swzverify.errors import InternalError
from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.job import Job, whole_source
from swzverify.gpu.launch import DeviceAnswer
from swzverify.gpu.map_run import MapRun
from swzverify.gpu.product_run import FragmentRun, OperandRun, ProductRun
from swzverify.gpu.tile_run import TileRun
from swzverify.subjects import Access, IndexMap, Listing, Operand, Phase, Tile
from swzverify.subjects.memory import Origin

Run: TypeAlias = AccessRun | TileRun | MapRun | ProductRun
Key: TypeAlias = tuple[int, Origin | None]
Ran: TypeAlias = Subject | Points
"""What runs: a subject, or what `delivers` says of an operand or a fragment."""


@dataclass(slots=True)
class _Wanted:
    """A subject at an origin, with the points of counterexamples that it must run."""

    subject: Ran
    place: Origin | None
    points: list[Mapping[str, int]] = field(default_factory=list[Mapping[str, int]])


@dataclass(frozen=True)
class Plan:
    """The runs of one spec, by subject and origin; launches are in the runs' order."""

    runs: Mapping[Key, Run]

    @property
    def job(self) -> Job:
        """Everything that the device runs for this plan."""
        launches = tuple(launch for run in self.runs.values() for launch in run.launches)
        kernels = [run.source for run in self.runs.values() if run.launches]
        return Job(whole_source(kernels), launches)

    def find(self, subject: Ran, place: Origin | None) -> Run:
        """The run of a subject at an origin."""
        return self.runs[id(subject), place]

    def split(self, answers: Sequence[DeviceAnswer]) -> dict[Key, list[DeviceAnswer]]:
        """Cut the list of all answers into the answers of each run."""
        rest = iter(answers)
        return {key: list(islice(rest, len(run.launches))) for key, run in self.runs.items()}


def plan(claims: Iterable[tuple[Claim, Verdict]], room_bytes: int, prefix: str = "") -> Plan:
    """The runs that these claims need.

    A block has `room_bytes` of shared memory. Kernels' names start with `prefix`.
    """
    wanted: dict[Key, _Wanted] = {}
    for claim, verdict in claims:
        if not_run(claim):
            continue
        failing = None if verdict.counterexample is None else verdict.counterexample.point
        points = [] if failing is None else [failing]
        if verdict.measure is not None:
            points += [verdict.measure.most_wavefronts.point, verdict.measure.most_conflicts.point]
        for subject, place in ran(claim):
            entry = wanted.setdefault((id(subject), place), _Wanted(subject, place))
            entry.points += points
    return Plan(
        {key: _run(f"{prefix}{number}", entry, room_bytes) for number, (key, entry) in enumerate(wanted.items())}
    )


def ran(claim: Claim) -> tuple[tuple[Ran, Origin | None], ...]:
    """What runs for a claim, with the origin that the claim uses."""
    return tuple((part, None) for part in claim.parts) if isinstance(claim, Delivers) else claim.placed


def not_run(claim: Claim) -> str:
    """Why a claim cannot be run here, in words; empty where it can."""
    if any(isinstance(subject, Phase) for subject in claim.subjects):
        return "not run: a kernel that does not race in one run may race in another"
    own = [each.name for subject, _ in claim.placed if isinstance(subject, Access) for each in subject.own]
    if own:
        return f"not run: each lane reads {', '.join(own)}, which is data that the kernels here do not have"
    of_global = [s.name for s in claim.subjects if isinstance(s, Access) and s.instruction.is_global]
    if of_global:
        return f"not run: {', '.join(of_global)} goes to global memory, and the kernels here touch shared memory only"
    sourced = [s.name for s in claim.subjects if isinstance(s, Access) and s.source is not None]
    if sourced and isinstance(claim, CostClaim | Aligned):
        return f"not run: {sourced[0]} says where it reads, and the kernels here read one line in each octet"
    if not isinstance(claim, Delivers) and any(isinstance(subject, Operand) for subject in claim.subjects):
        return "not run: of operands the kernels here run `delivers` only"
    if any(isinstance(subject, Listing) for subject in claim.subjects):
        return "not run: a listing is machine code of its own target, and no kernel here is made of it"
    return ""


def _run(number: str, entry: _Wanted, room_bytes: int) -> Run:
    match entry.subject:
        case Access() as access:
            moved = access if entry.place is None else access.moved(entry.place)
            free = {node.name for node in moved.free}
            seen = tuple({name: at for name, at in point.items() if name in free} for point in entry.points)
            return AccessRun(moved, f"access_{number}", seen)
        case Tile() as tile:
            place = entry.place or tile.origin
            return TileRun(tile, f"tile_{number}", place, room_bytes, _bases(place, entry.points))
        case IndexMap() as index:
            return MapRun(index, f"map_{number}", entry.place, _bases(entry.place, entry.points))
        case OperandPoints() as points:
            return OperandRun(
                kernel=f"operand_{number}", room_bytes=room_bytes, seen=tuple(entry.points), points=points
            )
        case FragmentPoints() as points:
            return FragmentRun(
                kernel=f"fragment_{number}", room_bytes=room_bytes, seen=tuple(entry.points), points=points
            )
        case Listing() | Operand() | Phase() as other:
            raise InternalError(f"{other.name} is not run on a device")


def _bases(place: Origin | None, points: Sequence[Mapping[str, int]]) -> tuple[int, ...]:
    """The points' base addresses in bytes."""
    if place is None:
        return ()
    return tuple(place.at(point) for point in points if place.name in point)
