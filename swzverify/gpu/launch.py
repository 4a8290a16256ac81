"""What the device is asked and what it answers, as plain arrays, which a C program can read.

Answers travel in one binary form, written by the worker and by the programs that `--emit` writes:
the magic, and for each launch in order its status and three lengths as little-endian numbers, then
the arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.subjects.memory import Origin

PASSES = 4
"""Bits 0 to 31 of a token, eight at a time."""
MAGIC = b"SWZANS01"
_HEAD = struct.Struct("<IIQQQ")
FIRST_DEVICE_ERROR = 700
"""From here on a status is an error in a kernel that ran; below, the driver did not start it."""
MISALIGNED_ADDRESS = 716
"""CUDA_ERROR_MISALIGNED_ADDRESS. Source: CUDA driver API, CUresult."""

FARTHEST = 1 << 58

Words = NDArray[np.uint32]
Places = NDArray[np.uint64]
Bytes = NDArray[np.uint8]


def no_rows() -> Places:
    """The rows of a kernel that has none."""
    return np.zeros((0, 0), dtype=np.uint64)


def first_bits(places: Places, unit_bits: int) -> NDArray[np.int64]:
    """The first bit of each place; one beyond all memory stays beyond it, whatever a device answers."""
    return np.minimum(places, FARTHEST).astype(np.int64) * unit_bits


def base_indices(place: Origin, seen: Sequence[int]) -> tuple[int, ...]:
    """Values of the base's variable: the first two, the last, and those of the addresses in `seen`.

    >>> base_indices(Origin(0, 16, 64), [32, 33])
    (0, 1, 2, 63)
    """
    if place.variable is None:
        return (0,)
    found = (divmod(address - place.start_bytes, place.unit_bytes) for address in seen)
    wanted = {index for index, rest in found if rest == 0 and 0 <= index < place.count}
    return tuple(sorted({0, 1, place.count - 1} | wanted))


@dataclass(frozen=True, slots=True)
class Box:
    """A two-dimensional TMA load: what the tensor map says, and where the box goes in the window.

    `stage` is that of the tile's stages which the load brings.
    """

    mode: str
    rows: int
    inner_elements: int
    element_bytes: int
    destination: int
    stage: int = 0

    @property
    def bytes(self) -> int:
        """How many bytes the TMA load brings."""
        return self.rows * self.inner_elements * self.element_bytes


@dataclass(frozen=True, slots=True)
class Launch:
    """One block of a kernel, run once per pass; its parameters are those of `source.SIGNATURE`.

    Attributes:
        kernel: The name of the kernel.
        threads: The number of threads of the block.
        rows: The values of the row variables, for each row.
        base: The value of the base's variable.
        window: The model's address of the first byte of the block's shared memory.
        window_bytes: The size of that memory.
        passes: The number of passes.
        touch: Whether the kernel accesses memory, beyond reporting places.
        places: The size of the array of places.
        values_words: The size of the array of values.
        source_bytes: The size of the array of sources in global memory.
        image: Whether the shared memory is wanted at the end.
        faults: Whether the launch is expected to fail; it gets a process of its own.
        box: The TMA load, if this launch is one.
    """

    kernel: str
    threads: int
    rows: Places = field(default_factory=no_rows)
    base: int = 0
    window: int = 0
    window_bytes: int = 0
    passes: int = 1
    touch: bool = False
    places: int = 0
    values_words: int = 0
    source_bytes: int = 0
    image: bool = False
    faults: bool = False
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class DeviceAnswer:
    """What a launch left: the driver's status (0: success), places, each pass's values, image."""

    status: int
    places: Places
    values: Words
    image: Bytes

    @staticmethod
    def failed(status: int, launch: Launch) -> DeviceAnswer:
        """The answer of a launch that did not run to its end."""
        none = np.zeros((launch.passes, 0), dtype=np.uint32)
        return DeviceAnswer(status, np.zeros(0, dtype=np.uint64), none, none.astype(np.uint8))


def pack(answers: Sequence[DeviceAnswer]) -> bytes:
    """Answers in the form that files have."""
    parts = [MAGIC]
    for answer in answers:
        passes = len(answer.image)
        parts.append(_HEAD.pack(answer.status, passes, answer.places.size, answer.values.size, answer.image.size))
        parts += [answer.places.astype("<u8").tobytes(), answer.values.astype("<u4").tobytes(), answer.image.tobytes()]
    return b"".join(parts)


def unpack(data: bytes, launches: Sequence[Launch], name: str) -> list[DeviceAnswer]:
    """The answers of a file to these launches.

    Raises:
        SwzError: SWZ703 for what is no such file, is cut off, or answers other launches.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise SwzError("SWZ703", f"{name} holds no answers of a device", hint="run the emitted program again")
    at = len(MAGIC)
    answers: list[DeviceAnswer] = []
    for number, launch in enumerate(launches):
        if len(data) - at < _HEAD.size:
            raise SwzError("SWZ703", f"{name} ends before launch {number + 1} of {len(launches)}")
        status, passes, *counts = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        _check_sizes(name, number, launch, status, passes, counts)
        arrays: list[NDArray[np.generic]] = []
        for count, kind in zip(counts, ("<u8", "<u4", "u1"), strict=True):
            size = count * np.dtype(kind).itemsize
            if len(data) - at < size:
                raise SwzError("SWZ703", f"{name} ends within launch {number + 1} of {len(launches)}")
            arrays.append(np.frombuffer(data, dtype=kind, count=count, offset=at))
            at += size
        places, values, image = arrays
        shape = (max(1, passes), -1)
        answers.append(
            DeviceAnswer(
                status,
                places.astype(np.uint64),
                values.astype(np.uint32).reshape(shape),
                image.astype(np.uint8).reshape(shape),
            )
        )
    if at != len(data):
        raise SwzError("SWZ703", f"{name} has answers to more than these {len(launches)} launches")
    return answers


def _check_sizes(name: str, number: int, launch: Launch, status: int, passes: int, counts: Sequence[int]) -> None:
    """Check that a successful answer has the sizes that were asked for."""
    wanted = (
        launch.places,
        launch.passes * launch.values_words,
        launch.passes * launch.window_bytes * launch.image,
    )
    if passes != launch.passes or (status == 0 and tuple(counts) != wanted) or (status and any(counts)):
        raise SwzError(
            "SWZ703",
            f"{name}: launch {number + 1} ({launch.kernel}) has the sizes {tuple(counts)} in {passes} passes; "
            f"{wanted} in {launch.passes} were asked for",
            hint="the program was emitted from other specs; emit and run it again",
        )
