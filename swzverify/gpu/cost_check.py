"""Costs as the device has them, held against the rule, pattern by pattern.

Costs by the slope of the clock, for machines where no profiler may read counters.

They are coarser than counters, and costs that a slope cannot distinguish are refused. A slope is a
throughput. Below the time of the return path to the registers (about 2 cycles for a 4-byte load, 4
for one of 16 bytes) it says nothing of the banks, so wide loads whose groups joined cannot be
distinguished from others. The slopes are calibrated in the same run, by patterns whose cost needs no
rule: a number of lanes on different words of one bank.
"""

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
from swzverify.gpu.comparison import MAX_SHOWN
from swzverify.gpu.cost_worker import save_patterns
from swzverify.gpu.costs import Patterns, pattern_text
from swzverify.gpu.counters import Counted, count
from swzverify.gpu.seen import CostSeen
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction

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


LADDER = (8, 16)
"""Degrees of the calibrating conflicts: above every floor, within every group."""
MARGIN = 0.2
"""A slope may lie so far from a whole number of wavefronts."""
FLOOR_MARGIN = 0.4


@dataclass(frozen=True, slots=True)
class Clock:
    """An instruction's calibration: cycles per wavefront; slopes up to the floor tell nothing."""

    cycles_per_wavefront: float
    floor_cycles: float

    def wavefronts(self, slope: float) -> int | None:
        """The wavefronts of a slope; None where it cannot tell.

        >>> clock = Clock(1.0, 4.0)
        >>> clock.wavefronts(8.03), clock.wavefronts(4.1), clock.wavefronts(8.5)
        (8, None, None)
        """
        if not np.isfinite(slope) or slope <= self.floor_cycles + FLOOR_MARGIN:
            return None
        count = slope / self.cycles_per_wavefront
        return round(count) if abs(count - round(count)) <= MARGIN else None


def ladder(instruction: Instruction) -> Patterns:
    """Calibration: two linear patterns (one address, then side by side), and conflicts of 8 and 16.

    With `n` lanes of each group on different words of one bank, and the others on theirs, a group
    takes n wavefronts.
    """
    lane = np.arange(LANES, dtype=np.int64)
    width = instruction.width_bytes
    rows = [np.zeros(LANES, dtype=np.int64), lane * width]
    rows += [np.arange(LANES, dtype=np.int64) % degree * BANK_PERIOD_BYTES for degree in LADDER]
    addresses = np.stack(rows)
    active = np.ones(addresses.shape, dtype=bool)
    active[:, instruction.address_lanes :] = False
    return Patterns(instruction, addresses, active)


def ladder_wavefronts(instruction: Instruction) -> tuple[int, ...]:
    """What the conflicts of `ladder` cost: the different words of each group, all in one bank."""
    lanes = instruction.group_lanes
    groups = instruction.group_count
    return tuple(groups * (lanes if instruction.counts_equal_words else min(degree, lanes)) for degree in LADDER)


def calibrated(instruction: Instruction, slopes: NDArray[np.float32]) -> Clock | None:
    """The clock from the slopes of `ladder`; None where they do not lie on one line through 0.

    None for a copy past the first-level cache, too: that its time follows its wavefronts has not
    been measured.
    """
    if instruction.by_octets:
        return None
    known = np.asarray(ladder_wavefronts(instruction), dtype=np.float64)
    each = np.asarray(slopes[2:], dtype=np.float64) / known
    if not np.isfinite(each).all() or each.min() <= 0 or each.max() / each.min() > 1 + MARGIN / 2:
        return None
    first = slopes[1:2] if instruction.counts_equal_words else slopes[:2]
    return Clock(float(each.mean()), float(np.max(first)))


def read_slopes(
    slopes: Mapping[str, NDArray[np.float32]], by_name: Mapping[str, Patterns]
) -> dict[str, list[int | None]]:
    """The wavefronts of each pattern, None where unclear; `slopes` begin with the ladder's."""
    found: dict[str, list[int | None]] = {}
    for name, each in by_name.items():
        count = 2 + len(LADDER)
        clock = calibrated(each.instruction, slopes[name][:count])
        rest = slopes[name][count:]
        found[name] = [None if clock is None else clock.wavefronts(float(slope)) for slope in rest]
    return found
