"""The differences between an older and a newer claim of one kind, and whether the newer says less.

A claim that is expected to be refuted says that a failing case exists: a smaller domain says more
of it, not less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import product, zip_longest

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.apps.diff.followed import no_longer_followed
from swzverify.apps.diff.places import base_change
from swzverify.apps.diff.subjects import access_changes, listing_changes, map_changes, tile_changes
from swzverify.claims import Claim, Contiguous, Disjoint, Equivalent, Outcome
from swzverify.claims.common_base import related
from swzverify.claims.form import Subject
from swzverify.spec import SpecClaim
from swzverify.subjects import Access, IndexMap, Listing, Operand, Phase, Tile
from swzverify.subjects.phase import Part
from swzverify.subjects.role import Arrive, Wait


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


MAX_COMPARED = 1 << 12
"""Iterations that are compared one by one."""


def operand_changes(before: Operand, after: Operand, kind: str) -> list[Change]:
    """The differences between two operands: how many elements, in which iterations, of which tile.

    What the kernel computes, the descriptor and the coordinates, is the kernel's own: a claim on it
    says neither less nor more.
    """
    changes = tile_changes(before.tile, after.tile, kind)
    if before.tile.name != after.tile.name:
        what = f"tile of {before.name}"
        changes.append(Change(Aspect.STATEMENT, Direction.WEAKER, what, before.tile.name, after.tile.name))
    if canonical(before.own_base) != canonical(after.own_base):
        moved = base_change(before.own_base, after.own_base, before.name, None)
        changes += [] if moved is None else [moved]
    for what, old, new in (
        ("instruction", before.instruction.name, after.instruction.name),
        ("role", before.role.value, after.role.value),
    ):
        if old != new:
            changes.append(_instruction(f"{what} of {before.name}", before, after, old, new))
    changes += _loops(before, after)
    for what, old, new in zip(("descriptor", "coordinates"), _computed(before), _computed(after), strict=True):
        if old != new:
            changes.append(Change(Aspect.SUBJECT, Direction.NEITHER, f"{what} of {before.name}", old, new))
    if before.target.capability != after.target.capability:
        note = "the rule of operands is known for each target by itself"
        changes.append(
            Change(Aspect.STATEMENT, Direction.WEAKER, "target", before.target.name, after.target.name, note)
        )
    return changes


def _instruction(what: str, before: Operand, after: Operand, old: str, new: str) -> Change:
    """Another instruction, or the other operand: fewer elements say less."""
    grown = after.rows >= before.rows and after.columns >= before.columns
    way = Direction.WEAKER if not grown else Direction.NEITHER
    return Change(Aspect.DOMAIN, way, what, old, new)


def _loops(before: Operand, after: Operand) -> list[Change]:
    """Iterations that are left out, or new."""
    old, new = ({loop.name: loop.describe(loop.count or 0) for loop in each.loops} for each in (before, after))
    if old == new:
        return []
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    was, now = ("; ".join(each.get(name, f"no {name}") for name in names) for each in (old, new))
    what = f"loops of {before.name}"
    if max(before.iterations, after.iterations) > MAX_COMPARED or set(old) != set(new):
        return [Change(Aspect.DOMAIN, Direction.WEAKER, what, was, now, "cannot be told, so it counts as weaker")]
    runs = [set(_iterations(each)) for each in (before, after)]
    way = Direction.STRONGER if runs[0] <= runs[1] else Direction.WEAKER
    return [Change(Aspect.DOMAIN, way, what, was, now)]


def _iterations(operand: Operand) -> Iterator[tuple[int, ...]]:
    """The joint values of the loops, in the order of their names."""
    loops = sorted(operand.loops, key=lambda loop: loop.name)
    yield from product(*([loop.value(at) for at in range(loop.count or 0)] for loop in loops))


def _computed(operand: Operand) -> tuple[str, str]:
    """The descriptor and the coordinates in words, with the constants' values."""
    values: Mapping[str, int] = operand.constants
    fields = operand.descriptor
    descriptor = (
        f"{operand.major}-major, start {operand.start.spelled(values, {})}, lbo {fields.lbo_bytes}, "
        f"sbo {fields.sbo_bytes}, {fields.swizzle}, base offset {fields.base_offset}"
    )
    at = ", ".join(each.spelled(values, {}) for each in operand.at)
    stage = "" if operand.stage is None else f", stage {operand.stage.spelled(values, {})}"
    return descriptor, f"[{at}] of {'x'.join(operand.modes)}{stage}"


def phase_changes(before: Phase, after: Phase, kind: str) -> list[Change]:
    """The differences between two phases: how often they run, what they order, which accesses they run.

    The steps are the kernel's own: a claim on another order says neither less nor more. A part of which nothing is
    said any more, or an access that is no longer there, makes the claim say less.
    """
    changes: list[Change] = []
    counts = ["any number" if each.count is None else str(each.count) for each in (before, after)]
    if counts[0] != counts[1]:
        fewer = after.count is not None and (before.count is None or after.count < before.count)
        way = Direction.WEAKER if fewer else Direction.STRONGER
        changes.append(Change(Aspect.DOMAIN, way, f"iterations of {before.name}", *counts))
    for part in Part:
        old, new = (None if getattr(each, part.value) is None else each.part(part) for each in (before, after))
        texts = ["nothing" if each is None else ", ".join(map(str, each)) for each in (old, new)]
        if texts[0] != texts[1]:
            way = Direction.WEAKER if new is None else Direction.STRONGER if old is None else Direction.NEITHER
            changes.append(Change(Aspect.SUBJECT, way, f"{part.value} of {before.name}", *texts))
    roles = [", ".join(f"{role.name} ({role.text})" for role in each.roles) for each in (before, after)]
    if roles[0] != roles[1]:
        changes.append(Change(Aspect.SUBJECT, Direction.NEITHER, f"roles of {before.name}", *roles))
    counts = [_arrivals(each) for each in (before, after)]
    if counts[0] != counts[1]:
        changes.append(Change(Aspect.SUBJECT, Direction.NEITHER, f"arrivals of {before.name}", *counts))
    accesses = [{run.access.name: run.access for _, run in each.runs} for each in (before, after)]
    for name, access in accesses[0].items():
        if name not in accesses[1]:
            changes.append(Change(Aspect.STATEMENT, Direction.WEAKER, f"accesses of {before.name}", name, "left out"))
        elif canonical(access) != canonical(accesses[1][name]):
            changes += access_changes(access, accesses[1][name], kind)
    return changes


def _arrivals(phase: Phase) -> str:
    barriers = dict.fromkeys(step.barrier for step in phase.steps if isinstance(step, Wait | Arrive))
    return ", ".join(f"{each.name}: {each.arrivals}" for each in barriers)
