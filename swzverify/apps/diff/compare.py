"""The differences between an older and a newer claim of one kind, and whether the newer says less.

A claim that is expected to be refuted says that a failing case exists: a smaller domain says more
of it, not less.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import zip_longest

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.apps.diff.followed import no_longer_followed
from swzverify.apps.diff.operands import operand_changes
from swzverify.apps.diff.phases import phase_changes
from swzverify.apps.diff.subjects import access_changes, listing_changes, map_changes, tile_changes
from swzverify.claims import Claim, Contiguous, Disjoint, Equivalent, Outcome
from swzverify.claims.common_base import related
from swzverify.claims.form import Subject
from swzverify.spec import SpecClaim
from swzverify.subjects import Access, IndexMap, Listing, Operand, Phase, Tile


def differences(before: SpecClaim, after: SpecClaim, gone: Collection[str] = ()) -> tuple[Change, ...]:
    """Every difference in the meaning of a claim.

    Its line, `because` and `source` have no effect on the meaning. `gone` are files of the older side
    that the newer side does not have.
    """
    told = (*_expectation(before.expected, after.expected), *no_longer_followed(before, after, gone))
    if canonical(before.claim) == canonical(after.claim):
        return told
    if before.expected is Outcome.REFUTED and after.expected is Outcome.REFUTED:
        found = [_turned(change) for change in _claim_changes(after.claim, before.claim)]
    else:
        found = _claim_changes(before.claim, after.claim)
    if not found:
        found = [_cannot_tell("the claim", "one", "another")]
    return (*told, *dict.fromkeys(found))


def is_weaker(changes: tuple[Change, ...]) -> bool:
    """Whether one of them makes the newer claim say less."""
    return any(change.direction is Direction.WEAKER for change in changes)


_OF_A_FAILURE = {
    Direction.WEAKER: "it is to fail, and now it claims more: its failure says less",
    Direction.STRONGER: "it is to fail, and now it claims less: its failure says more",
    Direction.NEITHER: "",
}


def _turned(change: Change) -> Change:
    return replace(change, before=change.after, after=change.before, note=_OF_A_FAILURE[change.direction])


def _expectation(before: Outcome, after: Outcome) -> tuple[Change, ...]:
    if before is after:
        return ()
    way = Direction.STRONGER if after is Outcome.PROVED else Direction.WEAKER
    return (Change(Aspect.STATEMENT, way, "expectation", before.value, after.value),)


def _claim_changes(before: Claim, after: Claim) -> list[Change]:
    """The differences of the claims proper, taken as what is to be proved."""
    if type(before) is not type(after):
        return [_cannot_tell("kind", before.kind, after.kind)]
    changes = [
        Change(Aspect.STATEMENT, each.direction, each.name, each.before, each.after, each.note)
        for each in before.number_changes(after)
    ]
    if isinstance(before, Equivalent) and isinstance(after, Equivalent) and _trivial(after) and not _trivial(before):
        changes.append(
            Change(
                Aspect.STATEMENT,
                Direction.WEAKER,
                "what is compared",
                "two definitions",
                "one definition with itself",
            )
        )
    if isinstance(before, Disjoint) and isinstance(after, Disjoint):
        changes += _relation(before, after)
    elements = max(each.elements if isinstance(each, Contiguous) else 1 for each in (before, after))
    for old, new in zip_longest(before.subjects, after.subjects):
        changes += _subject_changes(old, new, before.kind, elements)
    return changes


def _subject_changes(old: Subject | None, new: Subject | None, kind: str, elements: int) -> list[Change]:
    match old, new:
        case Tile(), Tile():
            return _named(old, new) + tile_changes(old, new, kind, elements)
        case Access(), Access():
            return _named(old, new) + access_changes(old, new, kind)
        case IndexMap(), IndexMap():
            return _named(old, new) + map_changes(old, new)
        case Listing(), Listing():
            return _named(old, new) + listing_changes(old, new)
        case Operand(), Operand():
            return _named(old, new) + operand_changes(old, new, kind)
        case Phase(), Phase():
            return _named(old, new) + phase_changes(old, new, kind)
        case _:
            was, now = (
                "nothing" if each is None else f"{type(each).__name__.lower()} {each.name}" for each in (old, new)
            )
            return [_cannot_tell("what it is about", was, now)]


def _named(old: Subject, new: Subject) -> list[Change]:
    """The change of a subject's name, which is fine only where the subject is the same thing."""
    if old.name == new.name:
        return []
    same = canonical(old, named=False) == canonical(new, named=False)
    way = Direction.NEITHER if same else Direction.WEAKER
    return [Change(Aspect.STATEMENT, way, "what it is about", old.name, new.name)]


def _trivial(claim: Equivalent) -> bool:
    """Whether both sides are one definition: the claim then says nothing."""
    return canonical(claim.first, named=False) == canonical(claim.second, named=False)


def _relation(before: Disjoint, after: Disjoint) -> list[Change]:
    """The change of the pairs kept apart: places anywhere, or relative to each other."""
    subjects = [*before.subjects, *after.subjects]
    if before.second is None or after.second is None or not all(isinstance(each, Tile) for each in subjects):
        return []
    old, new = (related(*(tile.base for tile in each.tiles)) for each in (before, after))
    if old == new:
        return []
    was, now = ("placed relative to each other" if each else "placed anywhere" for each in (old, new))
    way = Direction.WEAKER if new else Direction.STRONGER
    return [Change(Aspect.DOMAIN, way, "places", was, now)]


def _cannot_tell(what: str, before: str, after: str) -> Change:
    return Change(Aspect.STATEMENT, Direction.WEAKER, what, before, after, "cannot be compared, so it counts as weaker")
