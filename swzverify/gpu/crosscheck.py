"""The cross-check of a run's claims: plan, run on the device, compare, count costs, judge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.claims import Claim, Outcome, Verdict
from swzverify.claims.cost_claim import CostClaim
from swzverify.core.processes import command_of
from swzverify.errors import SwzError
from swzverify.gpu.access_run import AccessRun
from swzverify.gpu.comparison import Comparison
from swzverify.gpu.cost_check import CostCheck, measure
from swzverify.gpu.costs import Patterns, joined, patterns
from swzverify.gpu.device_facts import DeviceFacts
from swzverify.gpu.job import save_job
from swzverify.gpu.launch import DeviceAnswer, unpack
from swzverify.gpu.plan import Key, Plan, not_run, plan, ran
from swzverify.gpu.seen import CostSeen, Seen, seen
from swzverify.gpu.source import ALIGNMENT_BYTES
from swzverify.hardware import LANES, find_target
from swzverify.subjects import Access, Operand

MAX_PATTERNS = 256
"""Of one access so many patterns are counted: the worst, and others at equal distances."""
TIMEOUT_S = 1800

Claims: TypeAlias = Sequence[tuple[Claim, Verdict]]


class Method(StrEnum):
    """How the cross-check takes costs."""

    COUNTERS = "counters"
    CLOCKS = "clocks"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class CrossResult:
    """What came of one claim; `agrees` is None where the device has nothing to say of it.

    `whole` tells of an access that every row ran, at bases that stand for all.
    """

    agrees: bool | None
    comparison: Comparison
    seen: Seen
    cost: CostSeen | None = None
    whole: bool = False

    @property
    def differences(self) -> tuple[str, ...]:
        """Where device and model part, in words."""
        return (*self.comparison.differences, *(() if self.cost is None else self.cost.differences))


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The cross-check of some specs: the device, how it took costs, results by spec in order."""

    device: DeviceFacts
    method: Method
    results: Mapping[str, tuple[CrossResult, ...]]


def crosscheck(specs: Mapping[str, Claims], folder: Path, method: Method, python: str = sys.executable) -> CrossCheck:
    """Hold the verdicts of some specs against the device at hand; `folder` takes files in between.

    Raises:
        SwzError: SWZ701 if there is no device or no way to it, SWZ702 if the device's process failed,
            SWZ711 to SWZ713 of the profiler.
    """
    plans = plan_all(specs)
    facts, answers = run_functions(plans, folder, python)

    def price(wanted: Mapping[str, Patterns]) -> CostCheck:
        return CostCheck({}) if method is Method.NONE else measure(wanted, folder, method.value, python)

    return judge_all(specs, plans, facts, answers, method, price)


def plan_all(specs: Mapping[str, Claims]) -> dict[str, Plan]:
    """The runs of every spec."""
    room = device_room(specs)
    return {name: plan(claims, room, f"s{number}_") for number, (name, claims) in enumerate(specs.items())}


def judge_all(
    specs: Mapping[str, Claims],
    plans: Mapping[str, Plan],
    facts: DeviceFacts,
    answers: Mapping[str, Sequence[DeviceAnswer]],
    method: Method,
    price: Callable[[Mapping[str, Patterns]], CostCheck],
) -> CrossCheck:
    """What came of every claim, from all launches' answers; `price` takes patterns' costs."""
    split = {name: plans[name].split(answers[name]) for name in specs}
    comparisons = {
        name: {key: run.compare(split[name][key]) for key, run in plans[name].runs.items()} for name in specs
    }
    wanted = {
        (name, key): patterns_of(run, ((on, at) for _, on, at in run.touched_bytes(split[name][key])))
        for name, key, run in priced_runs(specs, plans)
        if run.access.target.capability == facts.capability and comparisons[name][key].agrees
    }
    check = price(joined(some for some, _ in wanted.values()))
    costs = {key: check.of(some, total) for key, (some, total) in wanted.items()}
    results = {
        name: tuple(
            judge(claim, verdict, plans[name], split[name], comparisons[name], costs.get((name, subject_key(claim))))
            for claim, verdict in claims
        )
        for name, claims in specs.items()
    }
    return CrossCheck(facts, method, results)


def device_room(specs: Mapping[str, Claims]) -> int:
    """The shared memory of a block on the smallest target of accesses and operands; else an H100's."""
    rooms = [
        subject.target.shared_bytes_per_block
        for claims in specs.values()
        for claim, _ in claims
        for subject, _ in claim.placed
        if isinstance(subject, Access | Operand)
    ]
    return min(rooms, default=find_target("sm_90").shared_bytes_per_block)


def subject_key(claim: Claim) -> Key:
    """The key of a claim's first subject."""
    subject, place = ran(claim)[0]
    return id(subject), place


def priced_runs(specs: Mapping[str, Claims], plans: Mapping[str, Plan]) -> Iterator[tuple[str, Key, AccessRun]]:
    """The accesses whose cost some claim asks for."""
    for name, claims in specs.items():
        asked = {subject_key(claim) for claim, _ in claims if isinstance(claim, CostClaim) and not not_run(claim)}
        for key, run in plans[name].runs.items():
            if isinstance(run, AccessRun) and key in asked:
                yield name, key, run


def run_functions(
    plans: Mapping[str, Plan], folder: Path, python: str
) -> tuple[DeviceFacts, dict[str, list[DeviceAnswer]]]:
    """Run every launch of every plan.

    Raises:
        SwzError: SWZ701, SWZ702.
    """
    jobs = {name: each.job for name, each in plans.items()}
    numbered = {name: str(number) for number, name in enumerate(jobs)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, job in jobs.items():
        save_job(folder, numbered[name], job)
    (folder / "jobs.json").write_text(json.dumps(list(numbered.values())))
    work(folder, ["functions", str(folder)], python)
    facts = DeviceFacts(**json.loads((folder / "device.json").read_text()))
    answers: dict[str, list[DeviceAnswer]] = {}
    for name, job in jobs.items():
        problem = folder / f"{numbered[name]}.problem"
        if problem.exists():
            raise SwzError("SWZ702", f"the kernels of {name} do not compile: {problem.read_text()[:2000]}")
        data = (folder / f"{numbered[name]}.answers").read_bytes()
        answers[name] = unpack(data, job.launches, f"the device's answer for {name}")
        for number, launch in enumerate(job.launches):
            if launch.faults:
                work(folder, ["faults", str(folder), numbered[name], str(number)], python)
                status = int((folder / f"{numbered[name]}.{number}.status").read_text())
                answers[name][number] = replace(answers[name][number], status=status)
    return facts, answers


def work(folder: Path, arguments: Sequence[str], python: str = sys.executable) -> None:
    """Run the worker.

    Raises:
        SwzError: SWZ701 if the worker got no device, SWZ702 if it failed.
    """
    command = command_of("swzverify.gpu.worker", *arguments, python=python)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise SwzError("SWZ702", f"the device did not answer within {TIMEOUT_S} s") from error
    if done.returncode == 0:
        return
    refused = folder / "refused"
    if refused.exists():
        raise SwzError(
            "SWZ701",
            f"a cross-check needs an NVIDIA GPU: {refused.read_text()}",
            hint="on a machine with a GPU: pip install 'swzverify[gpu]'; without Python there: --emit DIR",
        )
    last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no word of it"]
    raise SwzError("SWZ702", f"the process at the device ended with code {done.returncode}: {last[0]}")


def patterns_of(run: AccessRun, lanes: Iterable[tuple[NDArray[np.bool_], NDArray[np.int64]]]) -> tuple[Patterns, int]:
    """The patterns to count among (active, byte address) of an access's launches, and their total.

    Of too many, some are counted, the worst among them; a pattern with a misaligned lane has no
    cost and is none.
    """
    row = run.access.instruction
    warps = -(-run.access.threads // LANES)
    parts: list[Patterns] = []
    for active, address in lanes:
        shape = (len(active), warps * LANES)
        on, at = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64)
        on[:, : run.access.threads], at[:, : run.access.threads] = active, address
        on, at = on.reshape(-1, LANES), at.reshape(-1, LANES)
        aligned = ((at % row.width_bytes == 0) | ~on).all(axis=1)
        parts.append(patterns(row, at[aligned], on[aligned]))
    none = patterns(row, np.zeros((0, LANES), dtype=np.int64), np.zeros((0, LANES), dtype=bool))
    every = joined(parts).get(row.name, none)
    room = run.access.target.shared_bytes_per_block - ALIGNMENT_BYTES
    fits = every.addresses.max(axis=1, initial=0) + row.width_bytes <= room
    total = len(every)
    every = every.chosen(np.flatnonzero(fits))
    if len(every) <= MAX_PATTERNS:
        return every, total
    worst = int(np.argmax(every.predicted()[0]))
    some = np.unique(np.append(np.linspace(0, len(every) - 1, MAX_PATTERNS - 1).astype(int), worst))
    return every.chosen(some), total


def judge(
    claim: Claim,
    verdict: Verdict,
    plan_: Plan,
    answers: Mapping[Key, Sequence[DeviceAnswer]],
    comparisons: Mapping[Key, Comparison],
    cost: CostSeen | None,
) -> CrossResult:
    """Judge one claim: every byte is as the model says, the device's answer is the verdict's."""
    why = not_run(claim)
    if why:
        return CrossResult(None, Comparison.of(()), Seen(None, why))
    compared = Comparison.of(comparisons[id(subject), place] for subject, place in ran(claim))
    found = seen(claim, plan_, answers, cost)
    run = plan_.runs[subject_key(claim)]
    result = CrossResult(None, compared, found, cost, isinstance(run, AccessRun) and run.stands_for_all)
    if not compared.agrees or (cost is not None and cost.differing):
        return replace(result, agrees=False)
    expected = {Outcome.PROVED: True, Outcome.REFUTED: False}.get(verdict.outcome)
    if expected is None or found.holds is None or (found.holds and found.partly and not expected):
        return result
    return replace(result, agrees=found.holds is expected)
