"""The search: for each kind of change the nearest change after which everything is proved.

A candidate is priced first, which is quick and only sorts out. It is a cure when the engines prove
the claim for it, and prove for the changed tile that it is one to one and keeps to its allocation,
that every access to it is aligned, and that no other claim on it gets worse. The same holds in the
other cases of the constants, which the change of one text changes too: a change that breaks one of
them is a cure only if there is no other, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from swzverify.claims import Aligned, Claim, InBounds, Injective, Outcome, Wavefronts
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.verdict import Measure
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.prover import Options
from swzverify.search.cures.cure import Candidate, Cure
from swzverify.search.cures.pads import pads
from swzverify.search.cures.swizzles import swizzles
from swzverify.search.cures.tiles import has_room, with_base
from swzverify.search.cures.work import SpentError, Work
from swzverify.subjects import Access, AlignedBase, Tile

CASE_PROOFS = 4
"""How many times as many proofs may be tried in the other cases together as in the claim's own."""
MAX_CASES_SHOWN = 3
"""Other cases of which a cure tells what it breaks there."""
MAY_BE_LOST = frozenset({"bijective", "equivalent"})
"""Kinds of claims that a change may break, if the cure says so: a padded tile is not bijective, and
two maps that have to be equal have to change together.
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The context of a claim: all claims and accesses of its case, the other `cases`, and `fixed` tiles.

    Something else, such as TMA, decides the layout of the tiles that `fixed` names.
    """

    claims: Sequence[Claim] = ()
    accesses: Sequence[Access] = ()
    fixed: frozenset[str] = frozenset()
    cases: Sequence[OtherCase] = ()


@dataclass(frozen=True, slots=True)
class OtherCase:
    """Another case of the constants: its name, the tile there, and what is claimed of it."""

    name: str
    tile: Tile
    claims: Sequence[Claim] = ()
    accesses: Sequence[Access] = ()


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
    """Changes that make a refuted claim hold, at most one of each kind.

    `refuted` is the present cost. A `quick` search gives up sooner. `work` has the budget of each kind;
    a kind whose budget does not suffice has no cure here.

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
        claims = len(beside.claims)
        works = (Work.within(options, quick=quick, claims=claims), Work.within(options, quick=quick, claims=claims))
        works[1].proofs *= CASE_PROOFS
        cure = _nearest(claim, beside, candidates, works, refuted)
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
    claim: CostClaim,
    beside: Surroundings,
    candidates: Iterable[Candidate],
    works: tuple[Work, Work],
    refuted: Measure | None,
) -> Cure | None:
    """The first candidate that is proved to be a cure and is not known to break another case.

    If there is none, it is the first that is proved in its own case. The second of `works` is for the
    other cases.
    """
    work, elsewhere = works
    partial: Cure | None = None
    try:
        for candidate in candidates:
            work.take()
            try:
                cure = _cure(claim, beside, candidate, work, refuted)
            except (_NoCureError, SwzError):
                continue
            found = [_in_case(case, candidate, elsewhere) for case in beside.cases]
            cure = replace(cure, also="; ".join(each for each in (cure.also, *_of_cases(found)) if each))
            if not any(each.broken for each in found):
                return cure
            partial = partial or cure
    except SpentError:
        pass
    return partial


@dataclass(frozen=True, slots=True)
class _InCase:
    """The effect of a change in another case: what it breaks, or the claims that are lost.

    `broken` has words for what it breaks. `lost` has claims that may be lost and are. `is_open` means
    that the budget did not suffice.
    """

    name: str
    broken: str = ""
    lost: str = ""
    is_open: bool = False


def _in_case(case: OtherCase, candidate: Candidate, work: Work) -> _InCase:
    """What the same change does in another case of the constants."""
    try:
        changed = candidate.on(case.tile)
        if changed is None or changed.new is None:
            return _InCase(case.name, f"{candidate.object} cannot change so")
        if not all(has_room(changed.new, each.target) for each in case.accesses):
            return _InCase(case.name, f"{candidate.object} has no room")
        others = [each for each in case.claims if _touches(each, changed)]
        own = (Injective(case.tile), InBounds(case.tile), *map(Aligned, case.accesses))
        # What holds now first: its loss says more than a cost that may grow.
        broken = _first_broken(sorted((*others, *own), key=lambda each: not work.proves(each)), changed, work)
        if broken is None:
            return _InCase(case.name, lost=_names(_lost(others, changed, work)))
        return _InCase(case.name, _words(broken) + (" no longer holds" if work.proves(broken) else " may cost more"))
    except SpentError:
        return _InCase(case.name, is_open=True)
    except SwzError:
        return _InCase(case.name, f"{candidate.object} cannot change so")


def _of_cases(found: Sequence[_InCase]) -> Iterator[str]:
    """What a cure says of other cases."""
    told = [(each.name, each.broken or f"no longer holds: {each.lost}") for each in found if each.broken or each.lost]
    yield from (f"at {name}: {words}" for name, words in told[:MAX_CASES_SHOWN])
    if len(told) > MAX_CASES_SHOWN:
        yield f"so too in {counted(len(told) - MAX_CASES_SHOWN, 'more case')}"
    still_open = [each.name for each in found if each.is_open]
    if still_open:
        rest = f" and in {counted(len(still_open) - 1, 'more case')}" if len(still_open) > 1 else ""
        yield f"not decided at {still_open[0]}{rest}"


def _cure(claim: CostClaim, beside: Surroundings, candidate: Candidate, work: Work, refuted: Measure | None) -> Cure:
    """The candidate as a cure.

    Raises:
        _NoCureError: The candidate is no cure.
        SpentError: The budget is used up.
        SwzError: A changed object is refused.
    """
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
    _require(_first_broken(costs, candidate, work) is None)
    aligned: list[Claim] = []
    if candidate.new is not None:
        _require(work.proves(Injective(candidate.new)) and work.proves(InBounds(candidate.new)))
        aligned += [Aligned(access) for access in beside.accesses if access.tile == candidate.old]
    rest = [each for each in others if not isinstance(each, CostClaim)]
    _require(_first_broken((*aligned, *rest), candidate, work) is None)
    measure = verdict.measure or (None if priced is None else priced.worst)
    lost = _lost(others, candidate, work)
    after = candidate.access(claim.access) if candidate.new is None else candidate.new
    return Cure(candidate.object, candidate.change, _gives(claim, measure, refuted), _also(candidate, lost), after)


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


def _first_broken(claims: Iterable[Claim], candidate: Candidate, work: Work) -> Claim | None:
    """The first claim that the change breaks; claims that may be lost are not among them."""
    for each in claims:
        if isinstance(each, CostClaim):
            if not _no_worse(each, candidate, work):
                return each
        elif each.kind not in MAY_BE_LOST and _is_lost(each, candidate, work):
            return each
    return None


def _lost(claims: Iterable[Claim], candidate: Candidate, work: Work) -> list[Claim]:
    """The claims that may be lost, and are."""
    return [each for each in claims if each.kind in MAY_BE_LOST and _is_lost(each, candidate, work)]


def _words(claim: Claim) -> str:
    return f"{claim.kind} {claim.subject}"


def _names(claims: Iterable[Claim]) -> str:
    return ", ".join(map(_words, claims))


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
        parts.append(f"no longer holds: {_names(lost)}")
    return "; ".join(parts)


MAX_ALIGN_BYTES = 1 << 14
"""Beyond what any swizzle of shared memory looks at."""


def alignments(access: Access) -> Iterator[Candidate]:
    """The base of the tile, or of a bare access, at each larger power of two, the smallest first.

    Where the first one helps it is the smallest that does: every smaller one was tried before.
    """
    tile = access.tile
    base = access.base if tile is None else tile.base
    if not isinstance(base, AlignedBase):
        return
    align = 2 * base.align_bytes
    while align <= MAX_ALIGN_BYTES:
        change = f"base at a multiple of {align} bytes instead of {base.align_bytes}"
        if tile is None:
            yield Candidate(access.name, change, base=AlignedBase(align))
        else:
            yield Candidate(tile.name, change, tile, _at(align, tile), again=partial(_at, align))
        align *= 2


def _at(align: int, tile: Tile) -> Tile:
    """The tile at multiples of so many bytes, or of more if it has more already."""
    base = tile.base
    return with_base(tile, AlignedBase(max(align, base.align_bytes))) if isinstance(base, AlignedBase) else tile
