"""A comparison: read both sides, pair their claims, prove both, and report."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, chdir
from dataclasses import dataclass, field, replace
from time import perf_counter

from swzverify.apps.diff.pair import Placed, pair_claims
from swzverify.apps.diff.result import LOST, ClaimDiff, DiffReport, Status
from swzverify.apps.diff.sides import Side, open_sides
from swzverify.apps.options.diff import Allow, DiffOptions
from swzverify.apps.options.prove import Settings
from swzverify.apps.run.collect import collect_specs
from swzverify.apps.run.reading import read_spec
from swzverify.apps.run.run import Progress, run_specs
from swzverify.errors import Problem, SwzError, nearest
from swzverify.report.result import ClaimResult, Report
from swzverify.spec import Spec


@dataclass(slots=True)
class _Read:
    """A side's claims, in the order of its files, and what is wrong with them."""

    files: list[str] = field(default_factory=list[str])
    claims: list[Placed] = field(default_factory=list[Placed])
    problems: list[Problem] = field(default_factory=list[Problem])
    broken: set[str] = field(default_factory=set[str])


def compare(wanted: DiffOptions, *, watch: Callable[[Progress], None] | None = None) -> DiffReport:
    """What became of BASE's claims in HEAD; without HEAD, in the working tree.

    The current folder changes while a side is read, and is what it was afterwards.

    Raises:
        SwzError: SWZ514 to SWZ519.
    """
    started = perf_counter()
    with ExitStack() as stack:
        old, new = open_sides(stack, wanted.base, wanted.head, wanted.paths, from_merge_base=wanted.merge_base)
        before, after = _read(old, wanted.target), _read(new, wanted.target)
        gone = _gone(old, new, before.claims)
        found = pair_claims(before.claims, after.claims, frozenset(before.broken | after.broken), gone)
        found = _with_allowance(found, wanted)
        problems: tuple[list[Problem], list[Problem]] = (before.problems, after.problems)
        if wanted.prove:
            found, problems = _with_verdicts(found, (old, new), (before, after), wanted.settings, watch)
    return DiffReport(
        old.name,
        new.name,
        tuple(found),
        tuple(problems[0]),
        tuple(problems[1]),
        frozenset(wanted.allow),
        wanted.prove,
        (perf_counter() - started) * 1000,
    )


def _gone(old: Side, new: Side, claims: Sequence[Placed]) -> frozenset[str]:
    """The files with claims, or with code that claims follow, that the newer side does not have.

    Two spec files lie in two places: the code beside one corresponds to the code beside the other.
    """
    code = frozenset(each.file for placed in claims for each in (*placed.claim.read, *placed.claim.code))
    files = code.union(each.file for each in claims)
    here = {file for file in files if os.path.lexists(os.path.join(new.root, file))}
    return files - here | code if old.single else files - here


def _read(side: Side, target: str | None) -> _Read:
    read = _Read(problems=list(side.problems))
    read.broken |= {problem.file for problem in side.problems}
    with chdir(side.root):
        collected = collect_specs(path for path in side.paths if side.single or os.path.lexists(path))
        read.problems += collected.problems
        read.files = collected.files
        for file in collected.files:
            shown = "" if side.single else file
            spec = read_spec(file, target)
            if isinstance(spec, Spec):
                read.claims += [Placed(shown, claim) for claim in spec.claims]
            else:
                read.problems += spec
                read.broken.add(shown)
    return read


def _with_allowance(found: list[ClaimDiff], wanted: DiffOptions) -> list[ClaimDiff]:
    """Mark what may be lost.

    Raises:
        SwzError: SWZ518 for an id that no claim of either side has.
    """
    known = {each for claim in found for each in claim.ids}
    for each in wanted.allow_claim:
        if each not in known:
            hint = nearest(each, known) or "the ids are those of the report, `path::subject::kind`"
            raise SwzError("SWZ518", f"--allow-claim: neither side has a claim {each!r}", hint=hint)
    kinds = {Status.DELETED: Allow.DELETED, Status.WEAKENED: Allow.WEAKENED}
    allowed = set(wanted.allow_claim)
    return [
        replace(claim, allowed=kinds[claim.status] in wanted.allow or not allowed.isdisjoint(claim.ids))
        if claim.status in LOST
        else claim
        for claim in found
    ]


def _with_verdicts(
    found: list[ClaimDiff],
    sides: tuple[Side, Side],
    read: tuple[_Read, _Read],
    settings: Settings,
    watch: Callable[[Progress], None] | None,
) -> tuple[list[ClaimDiff], tuple[list[Problem], list[Problem]]]:
    """Every claim with its result on either side.

    A spec of the older side is not proved again where all of its claims are in the newer one word
    for word: a claim has the same verdict wherever it stands.
    """
    same = {each.before.id for each in found if each.before and each.after and each.status is Status.UNCHANGED}
    files = [each.claim.id for each in read[0].claims if each.claim.id not in same]
    fresh = {each.claim.id: each.file for each in read[0].claims}
    wanted = {fresh[each] or read[0].files[0] for each in files}
    head = _prove(sides[1], read[1].files, settings, watch)
    base = _prove(sides[0], [file for file in read[0].files if file in wanted], settings, watch)
    results = {each.id: each for each in base.results}, {each.id: each for each in head.results}
    judged = [_judged(each, results, same) for each in found]
    problems = (
        _joined(read[0].problems, base.problems, read[0].broken),
        _joined(read[1].problems, head.problems, read[1].broken),
    )
    return judged, problems


def _prove(side: Side, files: Sequence[str], settings: Settings, watch: Callable[[Progress], None] | None) -> Report:
    with chdir(side.root):
        return run_specs(files, settings, watch=watch)


def _judged(
    claim: ClaimDiff, results: tuple[dict[str, ClaimResult], dict[str, ClaimResult]], same: Collection[str]
) -> ClaimDiff:
    """The claim with its results; an older claim that was not proved again has the newer one's."""
    old = None if claim.before is None else results[0].get(claim.before.id)
    new = None if claim.after is None else results[1].get(claim.after.id)
    if old is None and claim.before is not None and claim.before.id in same:
        old = new
    return replace(claim, result_before=old, result_after=new)


def _joined(read: Sequence[Problem], proved: Sequence[Problem], broken: Collection[str]) -> list[Problem]:
    """The problems of reading, then the run's; the run repeats those of broken files."""
    told = set(read)
    return [*read, *(problem for problem in proved if problem not in told and problem.file not in broken)]
