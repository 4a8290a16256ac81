"""Finds each newer claim's older counterpart: first by what ids are made of, then by what they say.

Claims of one file, subject and kind go together: first those that say the same, then those of one
case that say no less, then those of one case as they come. What is left over is renamed only where
its file is gone and another one has it word for word: as long as the file is there, its subject may
be too, and nobody would claim anything of it any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from swzverify.apps.diff.canonical import Canon, canonical
from swzverify.apps.diff.change import Change, Direction
from swzverify.apps.diff.compare import differences, is_weaker
from swzverify.apps.diff.followed import no_longer_followed
from swzverify.apps.diff.result import ClaimDiff, Status
from swzverify.spec import SpecClaim

MAX_TRIED = 64
"""The claims of one case, subject and kind among which the best counterpart is looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A claim with its file, as seen from its side; on a side of one file, the file is empty."""

    file: str
    claim: SpecClaim

    @property
    def key(self) -> _Key:
        """What counterparts share; a tile and an access of one name are none."""
        subjects = tuple((type(each).__name__, each.name) for each in self.claim.claim.subjects)
        return self.file, subjects, self.claim.kind


_Key: TypeAlias = tuple[str, tuple[tuple[str, str], ...], str]
_Group: TypeAlias = dict[_Key, list[Placed]]


@dataclass(slots=True)
class _Open:
    """The claims of one group that have no counterpart yet."""

    before: list[Placed]
    after: list[Placed]
    gone: frozenset[str]
    found: list[ClaimDiff] = field(default_factory=list[ClaimDiff])

    def join(self, one: Placed, other: Placed, changes: tuple[Change, ...]) -> None:
        self.before.remove(one)
        self.after.remove(other)
        self.found.append(ClaimDiff(status_of(changes), one.claim, other.claim, changes))


def pair_claims(
    before: Sequence[Placed], after: Sequence[Placed], unread: frozenset[str], gone: frozenset[str] = frozenset()
) -> list[ClaimDiff]:
    """What became of every claim: those of the newer side in order, then those that it lacks.

    `unread` are files that one side could not read: their claims on the other side are not
    compared. `gone` are files of the older side, specs and code, that the newer one does not have at
    all, whatever is in them.
    """
    groups = _grouped(before), _grouped(after)
    found: list[ClaimDiff] = []
    deleted: list[Placed] = []
    added: list[Placed] = []
    lost_cases: list[Placed] = []
    for key in dict.fromkeys((*groups[0], *groups[1])):
        group = _Open(list(groups[0].get(key, [])), list(groups[1].get(key, [])), gone)
        if key[0] in unread:
            found += [ClaimDiff(Status.NOT_COMPARED, each.claim, None) for each in group.before]
            found += [ClaimDiff(Status.NOT_COMPARED, None, each.claim) for each in group.after]
            continue
        _match(group)
        found += group.found
        (lost_cases if groups[1].get(key) else deleted).extend(group.before)
        added += group.after
    found += _renamed(deleted, added, gone)
    found += _deleted(deleted, added)
    found += [_lost_case(each) for each in lost_cases]
    found += [ClaimDiff(Status.ADDED, None, each.claim) for each in added]
    return _in_order(found, before, after)


def status_of(changes: tuple[Change, ...]) -> Status:
    """The status of a claim, from its differences."""
    ways = {change.direction for change in changes}
    if is_weaker(changes):
        return Status.WEAKENED
    if Direction.NEITHER in ways:
        return Status.CHANGED
    return Status.STRENGTHENED if ways else Status.UNCHANGED


def _lost_case(each: Placed) -> ClaimDiff:
    """A claim that is still there, but not in this case of the constants, or not as often."""
    case = ", ".join(f"{name}={value}" for name, value in each.claim.case.items())
    note = f"the case {case} is gone" if case else "one of several claims of this kind is gone"
    return ClaimDiff(Status.WEAKENED, each.claim, None, note=note)


def _grouped(claims: Sequence[Placed]) -> _Group:
    groups: _Group = defaultdict(list)
    for each in claims:
        groups[each.key].append(each)
    return dict(groups)


def _match(group: _Open) -> None:
    """Join what can be joined within one group."""
    every = tuple(group.after)
    _match_equal(group, with_case=True)
    _match_equal(group, with_case=False)
    for one in list(group.before):
        others = [each for each in group.after if dict(each.claim.case) == dict(one.claim.case)]
        if not others:
            continue
        tried = [(each, differences(one.claim, each.claim, group.gone)) for each in others[:MAX_TRIED]]
        best = next((pair for pair in tried if not is_weaker(pair[1])), tried[0])
        group.join(one, *best)
    _match_again(group, every)


def _match_again(group: _Open, every: Sequence[Placed]) -> None:
    """Join a leftover claim with a joined one of the same case, if that says no less."""
    for one in list(group.before):
        for other in every[:MAX_TRIED]:
            changes = differences(one.claim, other.claim, group.gone)
            same_case = dict(one.claim.case) == dict(other.claim.case)
            if not changes or (same_case and not is_weaker(changes)):
                group.before.remove(one)
                note = f"said by {other.claim.id}"
                group.found.append(ClaimDiff(status_of(changes), one.claim, other.claim, changes, note))
                break


def _match_equal(group: _Open, *, with_case: bool) -> None:
    """Join claims that say the same, on request only those of one case."""

    def form(each: Placed) -> Canon:
        case = tuple(sorted(each.claim.case.items())) if with_case else ()
        return (canonical(each.claim.claim), each.claim.expected.value, case)

    waiting: dict[Canon, list[Placed]] = defaultdict(list)
    for each in group.after:
        waiting[form(each)].append(each)
    for one in list(group.before):
        others = waiting.get(form(one))
        if others:
            other = others.pop(0)
            group.join(one, other, tuple(no_longer_followed(one.claim, other.claim, group.gone)))


def _renamed(deleted: list[Placed], added: list[Placed], gone: frozenset[str]) -> list[ClaimDiff]:
    """Claims of lost files that another file has word for word; both lists lose them."""
    waiting: dict[Canon, list[Placed]] = defaultdict(list)
    for each in added:
        waiting[_form(each, named=True)].append(each)
    found: list[ClaimDiff] = []
    for one in [each for each in deleted if each.file in gone]:
        others = waiting.get(_form(one, named=True), [])
        other = next((each for each in others if not no_longer_followed(one.claim, each.claim, gone)), None)
        if other is not None:
            others.remove(other)
            deleted.remove(one)
            added.remove(other)
            found.append(ClaimDiff(Status.RENAMED, one.claim, other.claim))
    return found


def _deleted(deleted: Sequence[Placed], added: Sequence[Placed]) -> Iterator[ClaimDiff]:
    """Lost claims; a note names a new claim that says the same of another thing."""
    alike: dict[Canon, str] = {}
    for each in added:
        alike.setdefault(_form(each, named=False), each.claim.id)
    for each in deleted:
        other = alike.get(_form(each, named=False))
        yield ClaimDiff(Status.DELETED, each.claim, None, note=f"{other} is new and says the same" if other else "")


def _form(each: Placed, *, named: bool) -> Canon:
    """What a claim says, wherever it stands; with names, also of what."""
    heading = each.claim.subject if named else ""
    return (each.claim.kind, heading, each.claim.expected.value, canonical(each.claim.claim, named=named))


def _in_order(found: list[ClaimDiff], before: Sequence[Placed], after: Sequence[Placed]) -> list[ClaimDiff]:
    """Sort by the newer side's claims; claims that it lacks follow in the older side's order."""
    places: Mapping[int, int] = {id(each.claim): index for index, each in enumerate((*after, *before))}
    return sorted(found, key=lambda each: places[id(each.claim)])
