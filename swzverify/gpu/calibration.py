"""A calibration: every instruction's rule held against the device's counters, and its file.

The file (NumPy's .npz) holds the patterns with what was counted, so that it can be judged again by
any later rule.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.gpu.comparison import MAX_SHOWN
from swzverify.gpu.cost_check import Measured, disagreement
from swzverify.gpu.costs import Patterns, masks, pattern_text
from swzverify.gpu.counters import Counted
from swzverify.hardware import INSTRUCTIONS, LANES, find_instruction
from swzverify.hardware.targets import TARGETS

SCHEMA = "swzverify.calibration/1"


@dataclass(frozen=True, slots=True)
class About:
    """Where and when a calibration was taken."""

    device: str
    capability: int
    driver: str
    date: str
    seed: int


@dataclass(frozen=True, eq=False)
class Calibration:
    """Patterns of each instruction, and what the device counted for them."""

    about: About
    patterns: Mapping[str, Patterns]
    counted: Mapping[str, Counted]


@dataclass(frozen=True, slots=True)
class RowResult:
    """One instruction: its patterns, and those that kept the rule."""

    instruction: str
    patterns: int
    kept: int
    differences: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the rule held for all of them, and there were some."""
        return self.kept == self.patterns > 0


def judged(calibration: Calibration) -> list[RowResult]:
    """Every instruction against the rule of today."""
    return [_judged(calibration, name) for name in calibration.patterns]


def _judged(calibration: Calibration, name: str) -> RowResult:
    each, counted = calibration.patterns[name], calibration.counted[name]
    wavefronts, conflicts = each.predicted()
    found = [Measured(float(w), float(c)) for w, c in zip(counted.wavefronts, counted.bank_conflicts, strict=True)]
    texts = [
        (index, disagreement(each, one, int(wavefronts[index]), int(conflicts[index])))
        for index, one in enumerate(found)
    ]
    wrong = [(index, text) for index, text in texts if text]
    shown = tuple(f"{text}; {pattern_text(each, index)}" for index, text in wrong[:MAX_SHOWN])
    return RowResult(name, len(each), len(each) - len(wrong), shown)


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file.

    Raises:
        SwzError: SWZ504.
    """
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, each in calibration.patterns.items():
        arrays[f"{name}/addresses"] = each.addresses.astype(np.uint32)
        arrays[f"{name}/masks"] = masks(each.active)
        arrays[f"{name}/wavefronts"] = calibration.counted[name].wavefronts.astype(np.float32)
        arrays[f"{name}/bank_conflicts"] = calibration.counted[name].bank_conflicts.astype(np.float32)
    about = json.dumps({"schema": SCHEMA, **asdict(calibration.about)})
    try:
        with path.open("wb") as file:
            np.savez_compressed(file, about=np.asarray(about), **cast("dict[str, Any]", arrays))
    except OSError as error:
        raise SwzError("SWZ504", f"cannot write the calibration {str(path)!r}: {error.strerror}") from error


@lru_cache(maxsize=2)
def load_calibration(path: Path) -> Calibration:
    """Read the file.

    Raises:
        SwzError: SWZ503 if it cannot be read, SWZ705 if it is no calibration.
    """
    try:
        _check_archive(path)
        with path.open("rb") as held, np.load(held, allow_pickle=False) as file:
            about: dict[str, Any] = json.loads(str(file["about"]))
            if about.pop("schema", None) != SCHEMA:
                raise ValueError(f"its schema is not {SCHEMA}")
            names = [key.removesuffix("/masks") for key in file.files if key.endswith("/masks")]
            patterns = {name: _patterns(name, file[f"{name}/addresses"], file[f"{name}/masks"]) for name in names}
            counted = {
                name: Counted(
                    file[f"{name}/wavefronts"].astype(np.float64), file[f"{name}/bank_conflicts"].astype(np.float64)
                )
                for name in names
            }
        for name, each in patterns.items():
            if counted[name].wavefronts.shape != (len(each),) or counted[name].bank_conflicts.shape != (len(each),):
                raise ValueError(f"the arrays of {name} have different lengths")
        return Calibration(About(**about), patterns, counted)
    except OSError as error:
        raise SwzError("SWZ503", f"cannot read the calibration {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise SwzError(
            "SWZ705", f"{str(path)!r} is no calibration: {error}", hint="make it with `swzverify calibrate --output`"
        ) from error


def _check_archive(path: Path) -> None:
    """Refuse a file that is no zip archive; numpy would say to unpickle it."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise ValueError("it is no .npz file")


def _patterns(name: str, addresses: NDArray[np.generic], bits: NDArray[np.generic]) -> Patterns:
    if addresses.ndim != 2 or addresses.shape[1] != LANES or bits.shape != addresses.shape[:1]:
        raise ValueError(f"the patterns of {name} are not rows of {LANES} addresses and a mask")
    active = (bits.astype(np.uint32)[:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
    return Patterns(find_instruction(name), addresses.astype(np.int64), active)


@lru_cache(maxsize=2)
def rows_measured(calibration: Calibration) -> dict[str, RowResult]:
    """The instructions whose rule held for every pattern of a calibration, by name."""
    return {row.instruction: row for row in judged(calibration) if row.holds}


def every_instruction(capability: int) -> Sequence[str]:
    """The names of the table that a device of this capability has."""
    return [name for name, row in INSTRUCTIONS.items() if TARGETS[row.kind.first_target].capability <= capability]
