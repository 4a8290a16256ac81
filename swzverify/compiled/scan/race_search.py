"""Races, hangs and misused objects that runs find by themselves, where the analysis leaves a kernel `unknown`.

A run shows what it shows, whatever the analysis does not know. That it shows nothing says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from swzverify.compiled.order.verdict import (
    BarrierFinding,
    KernelRaces,
    Pair,
    Participant,
    RaceVerdict,
    Witness,
    worst_of,
)
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.trial.clocks import Run
from swzverify.compiled.trial.touches import Unordered

NO_ORDER: Final = "nothing orders the accesses"
NO_FENCE: Final = "`fence.proxy.async` is missing between a write and an access through the async proxy"
BOXES: Final = "the copies of boxes of tensor maps bring the bytes that their barrier objects expect"
HANG: Final = "thread {} waits here for ever"


def with_shown(found: KernelRaces, module: Module, function: Function, runs: Iterable[Run]) -> KernelRaces:
    """The verdicts, with the races of the first run that shows some, and with what ends all runs.

    A race in which all threads write one value in a run does not count: other launches may write others. Neither does
    one of a store whose values are not known in the run: they may be one.
    """
    seen: list[Run] = []
    for run in runs:
        seen.append(run)
        races = [each for each in run.found.races if each.is_harmful]
        if races:
            if run.found.has_boxes:
                found = replace(found, assumptions=(*found.assumptions, BOXES))
            return with_verdict(found, _with_pairs(found.pairs, module, function, run, races), found.barriers)
    return with_verdict(found, found.pairs, _with_stops(found.barriers, module, function, seen))


def with_verdict(found: KernelRaces, pairs: Sequence[Pair], barriers: Sequence[BarrierFinding]) -> KernelRaces:
    """The verdicts with other pairs and barriers; that something is not known of the whole kernel stays so."""
    pairs, barriers = tuple(pairs), tuple(barriers)
    if (pairs, barriers) == (found.pairs, found.barriers):
        return found
    verdict, reason = worst_of((*barriers, *pairs)) or (found.verdict, found.reason)
    if (found.verdict, verdict) == (RaceVerdict.UNKNOWN, RaceVerdict.BENIGN):
        verdict, reason = found.verdict, found.reason
    return replace(found, verdict=verdict, reason=reason, pairs=pairs, barriers=barriers)


def _with_pairs(
    known: Sequence[Pair], module: Module, function: Function, run: Run, races: Sequence[Unordered]
) -> list[Pair]:
    """The pairs, with those that a run shows first."""
    left = list(known)
    shown: list[Pair] = []
    for each in races:
        place = next((at for at, pair in enumerate(left) if _lines(pair) == each.lines), None)
        pair = None if place is None else left.pop(place)
        threads = each.threads
        if pair is not None and pair.first.line > pair.second.line:
            threads = threads[1], threads[0]
        array, byte = run.placement.array_at(each.byte)
        witness = Witness(threads, ((), ()), byte, array, run.values, is_replayed=True)
        first, second = (
            (_participant(module, function, each.lines[0]), _participant(module, function, each.lines[1]))
            if pair is None
            else (pair.first, pair.second)
        )
        # What stores write may be one value with other data.
        verdict = RaceVerdict.DEPENDS if run.values or each.are_stores else RaceVerdict.RACE
        condition = ", ".join(f"{name} = {value}" for name, value in run.values)
        reason = NO_FENCE if each.lacks_fence else NO_ORDER
        shown.append(Pair(first, second, verdict, reason, witness=witness, condition=condition))
    return [*shown, *left]


def _lines(pair: Pair) -> tuple[int, int]:
    one, other = sorted((pair.first.line, pair.second.line))
    return one, other


def _with_stops(
    known: Sequence[BarrierFinding], module: Module, function: Function, runs: Sequence[Run]
) -> Sequence[BarrierFinding]:
    """The barriers, with the instructions at which threads wait for ever, or misuse a barrier object.

    This is sure if each launch has it in some order of its warps, and launches differ in nothing but data: one of them
    has null pointers, if the kernel can run with these.
    """
    stopped = [run for run in runs if run.is_stopped]
    every = {run.launch.words for run in runs}
    if not stopped or not (stopped[0].values or {run.launch.words for run in stopped} == every):
        return known
    run, misuse = stopped[0], stopped[0].found.misuse
    condition = ", ".join(f"{name} = {value}" for name, value in run.values)
    found = {each.line: each for each in known}
    surely = RaceVerdict.DEADLOCK if misuse is None else RaceVerdict.DIVERGENT
    reasons = (
        {each: HANG.format(each.thread) for each in run.found.hangs} if misuse is None else {misuse: misuse.reason}
    )
    for each, why in reasons.items():
        reason = f"{why} if {condition}" if condition else why
        verdict = RaceVerdict.DEPENDS if condition else surely
        side = _participant(module, function, each.line)
        found[each.line] = BarrierFinding(each.line, each.opcode, side.source, verdict, reason, misuse is not None)
    return tuple(found.values())


def _participant(module: Module, function: Function, line: int) -> Participant:
    instruction = next(
        (each for code in (function, *module.functions) for each in code.instructions if each.line == line), None
    )
    if instruction is None:
        return Participant(line, "")
    location = instruction.location
    name = "" if location is None else f"{PurePath(module.files.get(location.file, '')).name}:{location.line}"
    return Participant(line, instruction.opcode, name)
