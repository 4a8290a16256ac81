"""One change of the steps of a phase after which their order is enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swzverify.claims import RaceFree, ReadsWhatWasWritten
from swzverify.errors import SwzError
from swzverify.prover import Options
from swzverify.search.cures.cure import Cure
from swzverify.search.cures.roles import role_candidates
from swzverify.search.cures.work import SpentError, Work
from swzverify.subjects import Phase
from swzverify.subjects.phase import Part, Sync, WaitGroup


def find_order_cures(claim: RaceFree | ReadsWhatWasWritten, options: Options | None = None) -> tuple[Cure, ...]:
    """What would make a refuted claim on a phase hold: the first change of each kind, the cheapest kind first.

    A change is a cure when the engines prove the claim for it.
    """
    work = Work.within(options or Options())
    found: dict[str, Cure] = {}
    for kind, change, phase in _candidates(claim.phase):
        if kind in found:
            continue
        try:
            if work.proves(replace(claim, phase=phase)):
                found[kind] = Cure(claim.phase.name, change, f"{claim.kind} is proved", after=phase)
        except SwzError:
            continue
        except SpentError:
            break
    return tuple(found.values())


def _candidates(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """The kind of each change, the change in words, and the phase after it."""
    if phase.roles:
        yield from role_candidates(phase)
        return
    for part in Part:
        steps = phase.part(part)
        for at, step in enumerate(steps):
            if isinstance(step, WaitGroup) and step.pending:
                fewer = WaitGroup(step.pending - 1)
                words = f"{fewer} in place of {step}{_in(part)}"
                yield "wait", words, replace(phase, **{part.value: (*steps[:at], fewer, *steps[at + 1 :])})
    for sync in (Sync.WARP, Sync.BARRIER):
        for part in Part:
            steps = phase.part(part)
            for at in range(len(steps) + 1) if steps else ():
                beside = steps[max(0, at - 1) : at + 1]
                if Sync.BARRIER in beside or sync in beside:
                    continue
                where = "at the beginning" if not at else f"behind {steps[at - 1]} (step {at})"
                words = f"one more {sync.value} {where}{_in(part)}"
                yield sync.value, words, replace(phase, **{part.value: (*steps[:at], sync, *steps[at:])})


def _in(part: Part) -> str:
    return f" of `{part.value}`"
