"""The differences between two phases of a claim."""

from __future__ import annotations

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.apps.diff.subjects import access_changes
from swzverify.subjects import Phase
from swzverify.subjects.phase import Part
from swzverify.subjects.role import Arrive, Wait


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
