"""One change of the steps of a phase after which their order is enough.

One change of a role after which its order is enough: a wait, a phase bit, an arrival, a fence, a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from swzverify.claims import RaceFree, ReadsWhatWasWritten
from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.prover import Options
from swzverify.search.cures.cure import Cure
from swzverify.search.cures.work import SpentError, Work
from swzverify.subjects import Phase
from swzverify.subjects.phase import Part, Run, Step, Sync, WaitGroup
from swzverify.subjects.role import MAX_NAMED, Arrive, Barrier, Cycle, Named, ProxyFence, Role, Wait, WaitProducts


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


def role_candidates(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """The kind of each change, the change in words, and the phase after it; the likeliest kinds first."""
    for find in (_numbers, _inverted_bits, _fewer_pending, _syncwarps, _fences, _later_arrivals, _waits, _barriers):
        yield from find(phase)


def _lists(phase: Phase) -> Iterator[tuple[Role, Part, tuple[Step, ...]]]:
    for role in phase.roles:
        for part in Part:
            yield role, part, phase.part(part)[slice(*getattr(role, part.value))]


def _with(phase: Phase, role: Role, part: Part, steps: tuple[Step, ...]) -> Phase:
    """The phase with other steps in one list of a role."""
    first, end = getattr(role, part.value)
    more = len(steps) - (end - first)
    roles = list[Role]()
    for each in phase.roles:
        start, stop = getattr(each, part.value)
        span = (first, end + more) if each is role else (start + more, stop + more) if start >= end else (start, stop)
        roles.append(replace(each, **{part.value: span}))
    whole = phase.part(part)
    return replace(phase, **{part.value: (*whole[:first], *steps, *whole[end:])}, roles=tuple(roles))


def _replaced(phase: Phase, role: Role, part: Part, at: int, steps: tuple[Step, ...]) -> Phase:
    """The phase with other steps in place of one."""
    own = phase.part(part)[slice(*getattr(role, part.value))]
    return _with(phase, role, part, (*own[:at], *steps, *own[at + 1 :]))


def _where(role: Role, part: Part, at: int) -> str:
    return f"(step {at + 1} of {'' if part is Part.STEPS else f'`{part.value}` of '}{role.name})"


def _numbers(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """The count of a barrier, and the bytes that an arrival expects, as the steps of the loop have them."""
    barriers = {step.barrier.name: step.barrier for step in phase.steps if isinstance(step, Wait | Arrive)}
    for name, barrier in barriers.items():
        arriving = sum(
            role.count if step.by is None else len(step.by.threads)
            for role, part, steps in _lists(phase)
            for step in steps
            if isinstance(step, Arrive) and step.barrier.name == name and part is Part.STEPS
        )
        if arriving and arriving != barrier.arrivals:
            words = f"{arriving} arrivals of {name} in place of {barrier.arrivals}"
            yield "count", words, _counting(phase, replace(barrier, arrivals=arriving))
        copied = sum(
            step.proxy.bytes
            for step in phase.steps
            if isinstance(step, Run) and step.proxy is not None and step.proxy.barrier == barrier
        )
        for role, part, steps in _lists(phase):
            for at, step in enumerate(steps):
                if isinstance(step, Arrive) and step.barrier == barrier and step.expects not in (0, copied):
                    words = f"{copied} bytes in place of {step.expects} {_where(role, part, at)}"
                    yield "bytes", words, _replaced(phase, role, part, at, (replace(step, expects=copied),))


def _counting(phase: Phase, barrier: Barrier) -> Phase:
    """The phase with another count of a barrier."""

    def changed(step: Step) -> Step:
        if isinstance(step, Wait | Arrive) and step.barrier.name == barrier.name:
            return replace(step, barrier=barrier)
        if isinstance(step, Run) and step.proxy is not None and step.proxy.barrier is not None:
            own = step.proxy.barrier.name == barrier.name
            return replace(step, proxy=replace(step.proxy, barrier=barrier)) if own else step
        return step

    return replace(phase, **{part.value: tuple(map(changed, phase.part(part))) or None for part in Part})


def _inverted_bits(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    for role, part, steps in _lists(phase):
        for at, step in enumerate(steps):
            if isinstance(step, Wait):
                other = replace(step, phase=_inverted(step.phase))
                words = f"{other} in place of {step} {_where(role, part, at)}"
                yield "phase", words, _replaced(phase, role, part, at, (other,))


def _inverted(cycle: Cycle) -> Cycle:
    text = str(1 - cycle.values[0]) if len(cycle.values) == 1 else f"({cycle.text} + 1)%2"
    return Cycle(text, tuple(1 - value for value in cycle.values))


def _fewer_pending(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    for role, part, steps in _lists(phase):
        for at, step in enumerate(steps):
            if isinstance(step, WaitProducts) and step.pending:
                fewer = WaitProducts(step.pending - 1)
                words = f"{fewer} in place of {step} {_where(role, part, at)}"
                yield "wait", words, _replaced(phase, role, part, at, (fewer,))


def _syncwarps(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """A syncwarp before an arrival of some threads."""
    for role, part, steps in _lists(phase):
        for at, step in enumerate(steps):
            if isinstance(step, Arrive) and step.by is not None and (not at or steps[at - 1] is not Sync.WARP):
                words = f"one more syncwarp before {step} {_where(role, part, at)}"
                yield "syncwarp", words, _replaced(phase, role, part, at, (Sync.WARP, step))


def _fences(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """A fence of the proxies behind a write."""
    for role, part, steps in _lists(phase):
        for at, step in enumerate(steps):
            if isinstance(step, Run) and step.proxy is None and step.writes:
                words = f"one more fence proxy behind {step} {_where(role, part, at)}"
                yield "fence", words, _replaced(phase, role, part, at, (step, ProxyFence()))


def _later_arrivals(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """An arrival at the end of its list."""
    for role, part, steps in _lists(phase):
        for at, step in enumerate(steps[:-1]):
            if isinstance(step, Arrive) and not step.expects:
                words = f"{step} as the last step of {role.name}, in place of step {at + 1}"
                yield "arrival", words, _with(phase, role, part, (*steps[:at], *steps[at + 1 :], step))


def _barriers(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """A named barrier of all threads of a role before its first step behind the loop."""
    steps = (step for part in Part for step in phase.part(part))
    taken = {step.number for step in steps if isinstance(step, Named)}
    free = next((number for number in range(1, MAX_NAMED + 1) if number not in taken), None)
    for role, part, own in _lists(phase):
        if (
            part is Part.AFTER
            and own
            and free is not None
            and not any(end % LANES for each in role.ranges for end in each)
        ):
            barrier = Named(free, role.count)
            words = f"{barrier} as the first step of `after` of {role.name}"
            yield "named barrier", words, _with(phase, role, part, (barrier, *own))


def _waits(phase: Phase) -> Iterator[tuple[str, str, Phase]]:
    """A wait at the beginning of a role for a barrier at which others arrive, and at which it does not wait."""
    arrivals = {step.barrier.name: step for step in reversed(phase.steps) if isinstance(step, Arrive)}
    bits = [step.phase for step in phase.steps if isinstance(step, Wait)]
    bits = list({cycle.values: cycle for each in bits for cycle in (_inverted(each), each)}.values())
    for role, part, steps in _lists(phase):
        own = {step.barrier.name for step in steps if isinstance(step, Wait | Arrive)}
        for name, arrive in arrivals.items():
            if part is Part.STEPS and name not in own:
                for bit in bits:
                    wait = Wait(arrive.barrier, arrive.stage, bit)
                    words = f"{wait} as the first step of {role.name}"
                    yield "missing wait", words, _with(phase, role, part, (wait, *steps))
