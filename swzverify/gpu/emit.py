"""A program that runs the cross-check on machines without Python: a .cu, a Makefile, a README.

The .cu has everything: the kernels, the rows and the cost patterns. The program writes one file: a
line of JSON about the device and the program, the answers in the format of `launch.pack`, then the
slopes of the clock as 32-bit floats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.gpu.cost_check import with_ladders
from swzverify.gpu.costs import Patterns, cost_kernels, kernel_name, masks
from swzverify.gpu.cuda import cuda_text
from swzverify.gpu.device_facts import DeviceFacts, facts_of
from swzverify.gpu.job import whole_source
from swzverify.gpu.launch import DeviceAnswer, Launch, unpack

HEADER = b"SWZEMIT1\n"
PROGRAM = "crosscheck"
ANSWERS = "answers.bin"
MAKEFILE = f"""\
ARCH ?= native
{ANSWERS}: {PROGRAM}
\t./{PROGRAM} {ANSWERS}
{PROGRAM}: {PROGRAM}.cu
\tnvcc -std=c++17 -arch=$(ARCH) -o {PROGRAM} {PROGRAM}.cu
"""
README = f"""\
Asks a GPU what swzverify claims of some shared-memory layouts; needs nvcc, and no Python.
Run `make` on the machine with the GPU (or `make {PROGRAM} ARCH=sm_90a`, and `./{PROGRAM} {ANSWERS}` there).
Then, where swzverify is: `swzverify crosscheck SPECS --against {ANSWERS}`, with the same specs as before.
"""


@dataclass(frozen=True)
class Emitted:
    """Everything that a program runs: kernels, launches in order, and the patterns to time."""

    kernels: tuple[str, ...]
    launches: tuple[Launch, ...]
    patterns: Mapping[str, Patterns]

    @property
    def timed(self) -> dict[str, Patterns]:
        """The patterns with their calibration."""
        return with_ladders(self.patterns)

    @cached_property
    def _body(self) -> str:
        """The kernels and the tables of the program."""
        return "\n".join([*self.kernels, cost_kernels(list(self.timed)), *self._tables()])

    @property
    def digest(self) -> str:
        """What the program calls itself, so that answers cannot be held against other specs."""
        return hashlib.sha256(self._body.encode()).hexdigest()

    @property
    def source(self) -> str:
        """The text of the .cu file."""
        name = f'static const char* const PROGRAM = "{self.digest}";\n'
        return whole_source([self._body, name, cuda_text("host.cuh")])

    def _tables(self) -> list[str]:
        lines = [cuda_text("launches.cuh")]
        for number, launch in enumerate(self.launches):
            if launch.rows.size:
                lines.append(
                    f"static const uint64_t ROWS_{number}[] = {{{', '.join(f'{v}u' for v in launch.rows.ravel())}}};"
                )
        lines.append("static const Launch LAUNCHES[] = {")
        lines += [f"    {_row(number, launch)}," for number, launch in enumerate(self.launches)]
        lines.append("    {0}};")
        lines.append(f"static const uint32_t LAUNCH_COUNT = {len(self.launches)};")
        for each in self.timed.values():
            kernel = kernel_name("timed", each.instruction)
            rows = ", ".join(f"{{{{{', '.join(map(str, row))}}}}}" for row in each.addresses.tolist())
            lines.append(f"static const Offsets OFFSETS_{kernel}[] = {{{rows}}};")
            lines.append(
                f"static const uint32_t MASKS_{kernel}[] = {{{', '.join(f'{m}u' for m in masks(each.active))}}};"
            )
        lines.append("static const Timed TIMED[] = {")
        for each in self.timed.values():
            kernel = kernel_name("timed", each.instruction)
            lines.append(f"    {{{kernel}, OFFSETS_{kernel}, MASKS_{kernel}, {len(each)}}},")
        lines.append("    {0}};")
        lines.append(f"static const uint32_t TIMED_COUNT = {len(self.timed)};")
        return lines


_SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
"""CUtensorMapSwizzle. Source: CUDA driver API, CU_TENSOR_MAP_SWIZZLE_*."""


def _row(number: int, launch: Launch) -> str:
    box = launch.box
    rows = f"ROWS_{number}" if launch.rows.size else "0"
    columns = launch.rows.shape[1] if launch.rows.ndim == 2 else 0
    wide = (launch.base, launch.window, launch.places, launch.values_words, launch.source_bytes)
    small = (
        launch.threads, len(launch.rows), columns, launch.window_bytes, launch.passes, int(launch.touch),
        int(launch.image), int(launch.faults),
    )  # fmt: skip
    tma = (-1, 0, 0, 0, 0)
    if box is not None:
        tma = (_SWIZZLES[box.mode], box.rows, box.inner_elements, box.element_bytes, box.destination)
    kernel = "0" if box is not None else launch.kernel
    return f"{{{', '.join([kernel, rows, *(f'{v}ull' for v in wide), *(f'{v}u' for v in small), *map(str, tma)])}}}"


def emit(folder: Path, emitted: Emitted) -> None:
    """Write the folder.

    Raises:
        SwzError: SWZ504 if it cannot be written, or is not empty.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SwzError("SWZ504", f"the folder {str(folder)!r} is not empty", hint="name a new one")
        (folder / f"{PROGRAM}.cu").write_text(emitted.source)
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / "README").write_text(README)
    except OSError as error:
        raise SwzError("SWZ504", f"cannot write to {str(folder)!r}: {error.strerror}") from error


@dataclass(frozen=True)
class Answers:
    """What an emitted program wrote."""

    device: DeviceFacts
    answers: Sequence[DeviceAnswer]
    slopes: Mapping[str, NDArray[np.float32]]


def read_answers(path: Path, emitted: Emitted) -> Answers:
    """The file of a program that was emitted from the same specs.

    Raises:
        SwzError: SWZ503 if it cannot be read, SWZ703 if it is no such file, is cut off, or is another
            program's.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SwzError("SWZ503", f"cannot read {str(path)!r}: {error.strerror}") from error
    name = str(path)
    if not data.startswith(HEADER):
        raise SwzError("SWZ703", f"{name} holds no answers of an emitted program", hint="name the file that it wrote")
    end = data.find(b"\n", len(HEADER))
    try:
        about = json.loads(data[len(HEADER) : end])
        device = facts_of(about)
        program = about["program"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SwzError("SWZ703", f"{name} says nothing of its device: {error}") from error
    if program != emitted.digest:
        raise SwzError(
            "SWZ703",
            f"{name} was written by a program that was emitted from other specs, or by another version",
            hint="emit and run it again",
        )
    slopes: dict[str, NDArray[np.float32]] = {}
    at = len(data) - sum(4 * len(each) for each in emitted.timed.values())
    answers = unpack(data[end + 1 : at], emitted.launches, name)
    for key, each in emitted.timed.items():
        slopes[key] = np.frombuffer(data, dtype="<f4", count=len(each), offset=at).astype(np.float32)
        at += 4 * len(each)
    return Answers(device, answers, slopes)
