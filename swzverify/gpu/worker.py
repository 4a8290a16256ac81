"""The process that owns the device: `python -m swzverify.gpu.worker JOB FOLDER`.

JOB is functions, faults, counts or clocks. The process reads jobs from the folder and writes answers
beside them; it knows nothing of specs. A kernel that hangs or faults ends this process, not the one
that compares. If there is no device or no way to it, the exit status is 3, and FOLDER/refused has one
line that says what is missing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swzverify.gpu import cost_worker
from swzverify.gpu.device_facts import DeviceError
from swzverify.gpu.job import load_job
from swzverify.gpu.launch import FIRST_DEVICE_ERROR, DeviceAnswer, Launch, pack
from swzverify.gpu.source import ALIGNMENT_BYTES

if TYPE_CHECKING:
    from swzverify.gpu.driver import Device, Module

REFUSED = 3
LOST = 999
"""The status of launches after one that destroyed the context. Source: CUDA_ERROR_UNKNOWN."""


def main(arguments: list[str]) -> int:
    """Do one kind of work on everything in the folder."""
    what, folder = arguments[0], Path(arguments[1])
    try:
        device = _device()
    except _RefusedError as error:
        (folder / "refused").write_text(str(error))
        return REFUSED
    (folder / "device.json").write_text(json.dumps(asdict(device.facts)))
    if what == "functions":
        for name in json.loads((folder / "jobs.json").read_text()):
            _functions(device, folder, name)
    elif what == "faults":
        _fault(device, folder, arguments[2], int(arguments[3]))
    else:
        cost_worker.run(device, folder, what)
    return 0


class _RefusedError(Exception):
    """There is no device, or no way to it."""


def _device() -> Device:
    try:
        from swzverify.gpu.driver import Device  # noqa: PLC0415 - may be missing
    except ImportError as error:
        raise _RefusedError(f"the package cuda-bindings is missing ({error})") from error
    try:
        return Device()
    except DeviceError as error:
        raise _RefusedError(f"no usable GPU: {error}") from error
    except RuntimeError as error:
        raise _RefusedError(f"no NVIDIA driver: {error}") from error


def _functions(device: Device, folder: Path, name: str) -> None:
    """Run all launches of a job, without those that must fail."""
    job = load_job(folder, name)
    try:
        module = device.compile(job.source)
    except DeviceError as error:
        (folder / f"{name}.problem").write_text(str(error))
        return
    answers: list[DeviceAnswer] = []
    lost = False
    for launch in job.launches:
        if launch.faults or lost:
            answers.append(DeviceAnswer.failed(LOST, launch))
            continue
        try:
            answers.append(_run(device, module, launch))
        except DeviceError as error:
            answers.append(DeviceAnswer.failed(error.status, launch))
            lost = error.status >= FIRST_DEVICE_ERROR
    (folder / f"{name}.answers").write_bytes(pack(answers))


def _fault(device: Device, folder: Path, name: str, number: int) -> None:
    """Run one launch that must fail, and note its status."""
    job = load_job(folder, name)
    status = 0
    try:
        _run(device, device.compile(job.source), job.launches[number])
    except DeviceError as error:
        status = error.status
    (folder / f"{name}.{number}.status").write_text(str(status))


def _run(device: Device, module: Module, launch: Launch) -> DeviceAnswer:
    if launch.box is not None:
        return _run_box(device, module, launch)
    places = np.zeros(launch.places, dtype=np.uint64)
    values = np.zeros((launch.passes, launch.values_words), dtype=np.uint32)
    image = np.zeros((launch.passes, launch.window_bytes if launch.image else 0), dtype=np.uint8)
    sizes = [launch.rows.nbytes, places.nbytes, 4 * launch.values_words, launch.window_bytes, launch.source_bytes]
    rows, places_at, values_at, image_at, source_at = pointers = [device.allocate(size) for size in sizes]
    device.put(rows, launch.rows)
    for number in range(launch.passes):
        for pointer, size in zip(pointers[1:4], sizes[1:4], strict=True):
            if number == 0 or pointer != places_at:
                device.clear(pointer, size)
        arguments = [
            np.uint64(rows), np.uint32(len(launch.rows)), np.uint64(launch.base), np.uint64(launch.window),
            np.uint32(launch.window_bytes), np.uint32(number), np.uint32(launch.touch), np.uint64(places_at),
            np.uint64(values_at), np.uint64(image_at), np.uint64(source_at),
        ]  # fmt: skip
        module.launch(launch.kernel, launch.threads, launch.window_bytes + ALIGNMENT_BYTES, arguments)
        device.finish()
        device.get(values_at, values[number])
        device.get(image_at, image[number])
    device.get(places_at, places)
    for pointer in pointers:
        device.free(pointer)
    return DeviceAnswer(0, places, values, image)


def _run_box(device: Device, module: Module, launch: Launch) -> DeviceAnswer:
    """A TMA load of a tensor whose bytes are the tokens of their places in it."""
    box = launch.box
    assert box is not None  # noqa: S101 - the caller's condition
    image = np.zeros((launch.passes, launch.window_bytes), dtype=np.uint8)
    tensor, image_at = device.allocate(box.bytes), device.allocate(launch.window_bytes)
    for number in range(launch.passes):
        device.put(tensor, ((np.arange(1, box.bytes + 1) >> (8 * number)) & 255).astype(np.uint8))
        device.clear(image_at, launch.window_bytes)
        arguments = [
            device.tensor_map(box, tensor), np.uint32(box.destination), np.uint32(box.bytes),
            np.uint32(launch.window_bytes), np.uint64(image_at),
        ]  # fmt: skip
        module.launch(launch.kernel, launch.threads, launch.window_bytes + ALIGNMENT_BYTES, arguments)
        device.finish()
        device.get(image_at, image[number])
    device.free(tensor)
    device.free(image_at)
    return DeviceAnswer(0, np.zeros(0, dtype=np.uint64), np.zeros((launch.passes, 0), dtype=np.uint32), image)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
