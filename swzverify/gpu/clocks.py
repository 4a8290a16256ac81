"""Costs by the slope of the clock, for machines where no profiler may read counters.

They are coarser than counters, and costs that a slope cannot distinguish are refused. A slope is a
throughput. Below the time of the return path to the registers (about 2 cycles for a 4-byte load, 4
for one of 16 bytes) it says nothing of the banks, so wide loads whose groups joined cannot be
distinguished from others. The slopes are calibrated in the same run, by patterns whose cost needs no
rule: a number of lanes on different words of one bank.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.gpu.costs import Patterns
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction

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
