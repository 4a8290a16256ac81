"""Holds trials against the interpreter of `tests/ptx_oracle`, which shares no code with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from swzverify.compiled.kernel import KernelAccess, accesses, inlined
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.trial import Launch, Launcher, Search, Seen, Trial, run
from swzverify.compiled.trial.launch import POINTS_AT
from swzverify.compiled.trial.memory import BUFFER_BASE, BUFFER_STEP
from swzverify.hardware import LANES
from tests.ptx_oracle import Access, Buffer, Field, Record, Result, launch

STEPS = 20_000
DYNAMIC_BYTES = 48 << 10
MATRICES = ("ldmatrix", "stmatrix")


@dataclass
class Compared:
    """What came out: how many accesses of how many launches had the same worst case, and what
    differs.
    """

    launches: int = 0
    faults: int = 0
    whole: int = 0
    same: int = 0
    fewer: int = 0
    differ: list[str] = field(default_factory=list[str])


def argument(raw: bytes, made: Launch) -> bytes | Buffer | Record:
    """The bytes of a parameter as the oracle takes them: pointers become its own buffers."""
    buffers: list[Field] = []
    for at in range(0, len(raw) - 7, 8):
        value = int.from_bytes(raw[at : at + 8], "little")
        number, inside = divmod(value - BUFFER_BASE, BUFFER_STEP)
        if 0 <= number < len(made.buffers) and inside == POINTS_AT:
            data = made.buffers[number].content
            buffers.append(Field(at, "u64", Buffer(len(data), content=data, begin=POINTS_AT)))
    if not buffers:
        return raw
    if len(raw) == 8:
        found = buffers[0].value
        assert isinstance(found, Buffer)
        return found
    pointers = {each.offset for each in buffers}
    rest = [Field(at, "u8", raw[at]) for at in range(len(raw)) if at // 8 * 8 not in pointers]
    return Record((*buffers, *rest))


def by_oracle(text: str, kernel: str, names: list[str], made: Launch) -> Result:
    """The same launch in the oracle: the one block that the trial runs."""
    given: dict[str | int, bytes | Buffer | Record] = {
        at: argument(made.parameters[name], made) for at, name in enumerate(names)
    }
    return launch(
        text,
        kernel,
        made.grid,
        made.block,
        made.dynamic_bytes,
        given,
        strict=False,
        steps=STEPS,
        only=made.place,
    )


Pattern = tuple[int, tuple[int, ...]]
"""Lanes as a mask, and their addresses less the least of them."""


def pattern(addresses: list[int], lanes: list[int]) -> Pattern:
    least = min(addresses[lane] for lane in lanes)
    return sum(1 << lane for lane in lanes), tuple(addresses[lane] - least for lane in lanes)


def of_trial(trial: Trial, access: KernelAccess) -> set[Pattern]:
    """What a trial saw of an access."""
    seen = trial.seen.get(access.site.index, Seen())
    pairs = zip(seen.addresses, seen.active, strict=True)
    return {pattern(row.tolist(), np.flatnonzero(on).tolist()) for row, on in pairs}


def of_oracle(access: Access) -> set[Pattern]:
    """What the oracle saw of it."""
    found: set[Pattern] = set()
    for mask, base, rest in access.patterns:
        lanes = [lane for lane in range(LANES) if mask >> lane & 1]
        found.add(pattern([base + each for each in np.frombuffer(rest, np.uint32).tolist()], lanes))
    return found


def compare(
    text: str, module: Module, function: Function, block: tuple[int, int, int], out: Compared, most: int = 48
) -> None:
    """Run the first launches of a kernel both ways."""
    read = [each for each in accesses(module, function, block) if each.cost.row is not None and each.site.index >= 0]
    whole = inlined(module, function).function
    lines: dict[int, list[KernelAccess]] = {}
    for each in read:
        lines.setdefault(each.site.line, []).append(each)
    search = Search(Launcher(whole, block, DYNAMIC_BYTES))
    for made in islice(search, most):
        trial = run(module, whole, made, [each.site.index for each in read], STEPS)
        search.learn(made, trial)
        result = by_oracle(text, function.name, [each.name for each in function.parameters], made)
        out.launches += 1
        if trial.fault:
            out.faults += 1
            if not result.error and not result.violations and not result.warnings:
                out.differ.append(f"{function.name} {made.words}: only the trial faults: {trial.fault}")
            continue
        out.whole += not trial.ended
        if not trial.ended and result.error:
            out.differ.append(f"{function.name} {made.words}: only the oracle stops: {result.error}")
            continue
        seen: dict[int, set[Pattern]] = {}
        for each in result.accesses:
            if each.kind not in MATRICES:
                seen[each.line] = seen.get(each.line, set()) | of_oracle(each)
        for line, here in lines.items():
            if line not in seen:
                continue
            mine = set[Pattern]().union(*(of_trial(trial, each) for each in here))
            is_all = all(trial.seen[each.site.index].is_all for each in here if each.site.index in trial.seen)
            if mine == seen[line]:
                out.same += bool(mine)
            elif (mine < seen[line] and (trial.ended or not is_all)) or (mine > seen[line] and result.error):
                out.fewer += 1
            else:
                few = sorted(mine ^ seen[line])[:2]
                out.differ.append(f"{function.name} {made.words} line {line}: of {len(mine | seen[line])}: {few}")
