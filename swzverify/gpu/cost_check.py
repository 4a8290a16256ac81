"""Costs as the device has them, held against the rule, pattern by pattern."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swzverify.core.processes import command_of
from swzverify.errors import SwzError
from swzverify.gpu.clocks import ladder, read_slopes
from swzverify.gpu.comparison import MAX_SHOWN
from swzverify.gpu.cost_worker import save_patterns
from swzverify.gpu.costs import Patterns, pattern_text
from swzverify.gpu.counters import Counted, count
from swzverify.gpu.seen import CostSeen

NOT_COUNTED = -1


@dataclass(frozen=True, slots=True)
class Measured:
    """One pattern's costs on the device; None: the clock could not tell; -1: not counted."""

    wavefronts: float | None
    bank_conflicts: float


@dataclass(frozen=True)
class CostCheck:
    """Every counted pattern, by its instruction, addresses and lanes."""

    measured: Mapping[tuple[str, bytes, bytes], Measured]

    def of(self, each: Patterns, total: int) -> CostSeen:
        """What was counted for some patterns, of `total` that the access has, against the rule."""
        wavefronts, conflicts = each.predicted()
        told: list[int] = []
        differing: list[str] = []
        conflicted = 0
        for index in range(len(each)):
            found = self.measured.get(pattern_key(each, index))
            if found is None or found.wavefronts is None:
                continue
            minimum = int(wavefronts[index] - conflicts[index])
            told.append(math.ceil(found.wavefronts))
            conflicted += found.wavefronts > minimum
            text = disagreement(each, found, int(wavefronts[index]), int(conflicts[index]))
            if text:
                differing.append(f"{text}; {pattern_text(each, index)}")
        return CostSeen(
            total, len(told), max(told, default=0), conflicted, len(differing), tuple(differing[:MAX_SHOWN])
        )


def disagreement(each: Patterns, found: Measured, wavefronts: int, conflicts: int) -> str:
    """How a count breaks the rule, in words; empty where it keeps it."""
    count_ = found.wavefronts
    if count_ is None:
        return ""
    if count_ != wavefronts:
        return f"{each.instruction.name}: counted {count_:g} wavefronts, the rule says {wavefronts}"
    if found.bank_conflicts not in (NOT_COUNTED, conflicts):
        return f"{each.instruction.name}: counted {found.bank_conflicts:g} bank conflicts, the rule says {conflicts}"
    return ""


def pattern_key(each: Patterns, index: int) -> tuple[str, bytes, bytes]:
    """What a pattern is known by."""
    return each.instruction.name, each.addresses[index].tobytes(), each.active[index].tobytes()


def measure(by_name: Mapping[str, Patterns], folder: Path, method: str, python: str = sys.executable) -> CostCheck:
    """Take the costs of patterns by `counters` or `clocks`.

    Raises:
        SwzError: SWZ702, SWZ711 to SWZ713.
    """
    by_name = {name: each for name, each in by_name.items() if len(each)}
    if not by_name:
        return CostCheck({})
    if method == "counters":
        return CostCheck(_keyed(by_name, count(folder / "counts", by_name)))
    return _clocked(by_name, folder / "clocks", python)


def _keyed(by_name: Mapping[str, Patterns], counted: Mapping[str, Counted]) -> dict[tuple[str, bytes, bytes], Measured]:
    return {
        pattern_key(each, i): Measured(float(counted[name].wavefronts[i]), float(counted[name].bank_conflicts[i]))
        for name, each in by_name.items()
        for i in range(len(each))
    }


def _clocked(by_name: Mapping[str, Patterns], folder: Path, python: str) -> CostCheck:
    folder.mkdir(parents=True, exist_ok=True)
    save_patterns(folder, with_ladders(by_name))
    command = command_of("swzverify.gpu.worker", "clocks", str(folder), python=python)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SwzError("SWZ702", f"timing failed: {(done.stderr or done.stdout).strip()[-500:]}")
    with np.load(folder / "slopes.npz") as file:
        return clocked({name: file[name] for name in by_name}, by_name)


def clocked(slopes: Mapping[str, NDArray[np.float32]], by_name: Mapping[str, Patterns]) -> CostCheck:
    """What slopes say of an instruction's patterns; the ladder's slopes come first."""
    return CostCheck(
        {
            pattern_key(by_name[name], i): Measured(told, NOT_COUNTED)
            for name, each in read_slopes(slopes, by_name).items()
            for i, told in enumerate(each)
        }
    )


def with_ladders(by_name: Mapping[str, Patterns]) -> dict[str, Patterns]:
    """The patterns to time: each instruction's calibration, then its patterns."""
    return {
        name: Patterns(
            each.instruction,
            np.concatenate([ladder(each.instruction).addresses, each.addresses]),
            np.concatenate([ladder(each.instruction).active, each.active]),
        )
        for name, each in by_name.items()
    }
