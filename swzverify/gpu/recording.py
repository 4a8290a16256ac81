"""A device's answers in a file that a repository can keep: schema "swzverify.recording/1".

What was run is kept by *digest*: SHA-256 over the C reading of the access's expressions, its
instruction, target, threads, loops and bases. An access whose spec changes has another digest, and
the recording says nothing of it any more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from swzverify.errors import SwzError
from swzverify.ir.c_source import c_locals
from swzverify.subjects import Access

SCHEMA = "swzverify.recording/1"
_ANEW = "make it anew with `swzverify crosscheck --record`"


@dataclass(frozen=True, slots=True)
class RecordedCost:
    """An access's costs on the device: patterns, counted ones, the worst, whether all agreed."""

    patterns: int
    counted: int
    wavefronts: int
    agrees: bool


@dataclass(frozen=True, slots=True)
class RecordedSubject:
    """An access that ran: how much of it was compared, and its cost.

    Attributes:
        name: The name of the access.
        spec: The path of its spec.
        places: The number of places that were compared.
        bytes: The number of bytes that were compared.
        agrees: Whether all of them agree.
        whole: Whether every row ran, at bases that stand for all of them.
        cost: The cost, if it was counted.
    """

    name: str
    spec: str
    places: int
    bytes: int
    agrees: bool
    whole: bool
    cost: RecordedCost | None = None


@dataclass(frozen=True, slots=True)
class RecordedClaim:
    """A claim's outcome: its verdict, whether the device agreed (None: no answer), in words."""

    id: str
    verdict: str
    agrees: bool | None
    seen: str
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """The results of a cross-check on a device.

    Attributes:
        device: The name of the device.
        capability: Its compute capability, 90 for 9.0.
        driver: The CUDA version of its driver.
        date: The date.
        method: How costs were taken.
        versions: The versions of programs.
        subjects: The accesses that ran, by their fingerprints.
        claims: The claims that were compared.
    """

    device: str
    capability: int
    driver: str
    date: str
    method: str
    versions: Mapping[str, str]
    subjects: Mapping[str, RecordedSubject] = field(default_factory=dict[str, RecordedSubject])
    claims: tuple[RecordedClaim, ...] = ()


def digest(access: Access) -> str:
    """The key of an access in a recording."""
    place, lowered = access.origin, access.lowered
    text = c_locals(lowered.position.bits, lowered.active, lowered.assumption)
    parts = [
        *text.declarations,
        *text.values,
        str(access.unit_bits),
        access.instruction.name,
        access.target.name,
        str(access.threads),
        str(access.loop_limits),
        str((place.start_bytes, place.unit_bytes, place.count)),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def save_recording(path: Path, recording: Recording) -> None:
    """Write a recording.

    Raises:
        SwzError: SWZ504 if the file cannot be written.
    """
    text = json.dumps({"schema": SCHEMA, **asdict(recording)}, indent=1, ensure_ascii=True) + "\n"
    try:
        path.write_text(text)
    except OSError as error:
        raise SwzError("SWZ504", f"cannot write the recording {str(path)!r}: {error.strerror}") from error


@lru_cache(maxsize=4)
def load_recording(path: Path) -> Recording:
    """Read a recording.

    Raises:
        SwzError: SWZ503 if the file cannot be read, SWZ704 if it is no recording.
    """
    try:
        text = path.read_text()
    except OSError as error:
        raise SwzError("SWZ503", f"cannot read the recording {str(path)!r}: {error.strerror}") from error
    except ValueError as error:
        raise SwzError("SWZ704", f"{str(path)!r} is no recording: it is not UTF-8 text") from error
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or cast("dict[str, Any]", data).pop("schema", None) != SCHEMA:
            raise SwzError("SWZ704", f"{str(path)!r} is no recording of the schema {SCHEMA}", hint=_ANEW)
        return _recording(cast("dict[str, Any]", data))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SwzError("SWZ704", f"{str(path)!r} is no recording: {error}", hint=_ANEW) from error


def _recording(data: dict[str, Any]) -> Recording:
    held: dict[str, dict[str, Any]] = data.pop("subjects")
    for each in held.values():
        each["cost"] = None if each["cost"] is None else RecordedCost(**each["cost"])
    subjects = {key: RecordedSubject(**each) for key, each in held.items()}
    listed: list[dict[str, Any]] = data.pop("claims")
    for each in listed:
        each["differences"] = tuple(each["differences"])
    claims = tuple(RecordedClaim(**each) for each in listed)
    recording = Recording(**data, subjects=subjects, claims=claims)
    for subject in subjects.values():
        if {type(subject.agrees), type(subject.whole)} != {bool} or (
            subject.cost is not None and type(subject.cost.agrees) is not bool
        ):
            raise ValueError(f"{subject.name}: `agrees` or `whole` is neither true nor false")
    if type(recording.capability) is not int:
        raise ValueError("the capability is no number")
    return recording
