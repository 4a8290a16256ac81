"""The search: for each kind of change the nearest change after which everything is proved.

A candidate is priced first, which is quick and only sorts out. It is a cure when the engines prove
the claim for it, and prove for the changed tile that it is one to one and keeps to its allocation,
that every access to it is aligned, and that no other claim on it gets worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

from swzverify.claims import Aligned, Claim, InBounds, Injective, Outcome, Wavefronts
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.verdict import Measure
from swzverify.cures.alignments import alignments
from swzverify.cures.cure import Candidate, Cure
from swzverify.cures.pads import pads
from swzverify.cures.swizzles import swizzles
from swzverify.cures.tiles import has_room
from swzverify.cures.work import SpentError, Work
from swzverify.errors import SwzError
from swzverify.prover import Options
from swzverify.subjects import Access, Tile
from swzverify.words import counted

MAY_BE_LOST = frozenset({"bijective", "equivalent"})
"""Kinds of claims that a change may break, if the cure says so: a padded tile is not bijective, and
two maps that have to be equal have to change together.
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands beside a claim: every claim and access of the same case, and the names of the
    `fixed` tiles: something else decides their layout, such as TMA.
    """

    claims: Sequence[Claim] = ()
    accesses: Sequence[Access] = ()
    fixed: frozenset[str] = frozenset()


class _NoCureError(Exception):
    """The candidate is no cure."""


def find_cures(
    claim: CostClaim,
    beside: Surroundings | None = None,
    options: Options | None = None,
    refuted: Measure | None = None,
    *,
    quick: bool = False,
) -> tuple[Cure, ...]:
    """What would make a refuted claim hold, at most one change of each kind; `refuted` is what it
    costs now. A `quick` search gives up sooner.

    `work` has the budget of each kind; a kind has no cure here where its budget does not suffice.

    >>> from swzverify.claims import ConflictFree
    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.layout import Layout
    >>> tile = Tile("T", 32, Layout((32, 32), (32, 1)))
    >>> column = (parse("lane"), parse("0"))
    >>> read = Access("read", find_instruction("ld.shared.b32"), find_target("sm_90"), (32,), tile=tile, coord=column)
    >>> for cure in find_cures(ConflictFree(read)):
    ...     print(cure.change)
    pad 1 after every 32 elements, layout (32,32):(33,1), pitch 33 words instead of 32 (rows 1 bank apart)
    Swizzle<5,0,5> on element offsets
    """
    beside = Surroundings() if beside is None else beside
    options = options or Options()
    found: list[Cure] = []
    for candidates in _kinds(claim.access, beside):
        cure = _nearest(claim, beside, candidates, Work.within(options, quick=quick), refuted)
        if cure is not None:
            found.append(cure)
    return tuple(found)


def _kinds(access: Access, beside: Surroundings) -> Iterator[Iterable[Candidate]]:
    yield alignments(access)
    tile = access.tile
    if tile is None or tile.name in beside.fixed:
        return
    widths = [each.instruction.width_bytes for each in (access, *beside.accesses) if each.tile == tile]
    yield pads(tile, max(widths))
    yield swizzles(tile, max(widths))


def _nearest(
    claim: CostClaim, beside: Surroundings, candidates: Iterable[Candidate], work: Work, refuted: Measure | None
) -> Cure | None:
    """The first candidate that is proved to be a cure."""
    try:
        for candidate in candidates:
            work.take()
            try:
                return _cure(claim, beside, candidate, work, refuted)
            except (_NoCureError, SwzError):
                continue
    except SpentError:
        pass
    return None


def _cure(claim: CostClaim, beside: Surroundings, candidate: Candidate, work: Work, refuted: Measure | None) -> Cure:
    """The candidate as a cure. Raises `_NoCureError`, `SpentError`, and what a changed object refuses."""
    changed = _changed(claim, candidate)
    assert isinstance(changed, CostClaim)  # noqa: S101 - a claim of the same kind
    _require(candidate.new is None or has_room(candidate.new, claim.access.target))
    priced = work.price(changed.access)
    if priced is None:
        work.take_unpriced()
    else:
        _require(changed.exceeded(priced.worst) is None)
    others = [each for each in beside.claims if each is not claim and _touches(each, candidate)]
    costs = [each for each in others if isinstance(each, CostClaim)]
    for each in costs:
        _require(_seems_no_worse(each, candidate, work))
    verdict = work.verdict(changed)
    _require(verdict.outcome is Outcome.PROVED)
    for each in costs:
        _require(_no_worse(each, candidate, work))
    if candidate.new is not None:
        _require(work.proves(Injective(candidate.new)) and work.proves(InBounds(candidate.new)))
        for access in beside.accesses:
            if access.tile == candidate.old and work.proves(Aligned(access)):
                _require(work.proves(Aligned(candidate.access(access))))
    lost = [each for each in others if not isinstance(each, CostClaim) and _is_lost(each, candidate, work)]
    _require(all(each.kind in MAY_BE_LOST for each in lost))
    measure = verdict.measure or (None if priced is None else priced.worst)
    return Cure(candidate.object, candidate.change, _gives(claim, measure, refuted), _also(candidate, lost))


def _require(holds: bool) -> None:
    if not holds:
        raise _NoCureError


def _touches(claim: Claim, candidate: Candidate) -> bool:
    """Whether a claim is about what changes."""
    for subject in claim.subjects:
        tile = subject.tile if isinstance(subject, Access) else subject if isinstance(subject, Tile) else None
        if tile is not None and tile == candidate.old:
            return True
        if isinstance(subject, Access) and subject.tile is None and candidate.base is not None:
            return subject.name == candidate.object
    return False


def _changed(claim: Claim, candidate: Candidate) -> Claim:
    """The claim about the changed objects."""
    parts: dict[str, object] = {}
    for each in fields(claim):  # pyright: ignore[reportArgumentType]  # every claim is a dataclass
        value = getattr(claim, each.name)
        if isinstance(value, Access):
            parts[each.name] = candidate.access(value)
        elif isinstance(value, Tile):
            parts[each.name] = candidate.tile(value)
    return replace(claim, **parts)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]


def _seems_no_worse(claim: CostClaim, candidate: Candidate, work: Work) -> bool:
    """Whether prices speak against a candidate for another claim on costs."""
    before, after = (work.price(each) for each in (claim.access, candidate.access(claim.access)))
    if before is None or after is None:
        return True
    return after.wavefronts <= before.wavefronts and after.bank_conflicts <= before.bank_conflicts


def _no_worse(claim: CostClaim, candidate: Candidate, work: Work) -> bool:
    """Whether another claim on costs is proved, or at least its access to take no more than now."""
    changed = _changed(claim, candidate)
    if work.proves(changed):
        return True
    if work.proves(claim):
        return False
    before, after = (work.price(each) for each in (claim.access, candidate.access(claim.access)))
    if before is None or after is None or not _seems_no_worse(claim, candidate, work):
        return False
    assert isinstance(changed, CostClaim)  # noqa: S101 - a claim of the same kind
    return work.proves(Wavefronts(changed.access, after.wavefronts))


def _is_lost(claim: Claim, candidate: Candidate, work: Work) -> bool:
    """Whether a claim holds now, and is not proved after the change."""
    return work.proves(claim) and not work.proves(_changed(claim, candidate))


def _gives(claim: CostClaim, measure: Measure | None, refuted: Measure | None) -> str:
    if measure is None:
        return f"{claim.kind} is proved"
    found = measure.most_wavefronts
    text = f"{counted(found.wavefronts, 'wavefront')} (minimum {found.minimum})"
    return text if refuted is None else f"{text} instead of {refuted.wavefronts}"


def _also(candidate: Candidate, lost: Sequence[Claim]) -> str:
    parts: list[str] = []
    if candidate.grows_bytes:
        parts.append(f"{candidate.grows_bytes} bytes more")
    if lost:
        parts.append(f"no longer holds: {', '.join(f'{each.kind} {each.subject}' for each in lost)}")
    return "; ".join(parts)
