"""The worker's part for cost patterns: a launch counts one pattern, or times them all."""

# `device` wraps compiled modules without annotations; see driver.py.

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swzverify.gpu.costs import LANES, SOURCE_BYTES, TIMED_WARPS, Patterns, cost_source, kernel_name, masks
from swzverify.gpu.source import ALIGNMENT_BYTES
from swzverify.hardware import find_instruction

if TYPE_CHECKING:
    from swzverify.gpu.driver import Device, Module

MAX_TIMED_BLOCKS = 4096


def save_patterns(folder: Path, by_name: dict[str, Patterns]) -> None:
    """Write the patterns of each instruction for `run`; a folder holds one set."""
    arrays = {f"{name}/addresses": each.addresses for name, each in by_name.items()}
    arrays |= {f"{name}/active": each.active for name, each in by_name.items()}
    np.savez(folder / "patterns.npz", **arrays)  # type: ignore[arg-type]
    (folder / "patterns.json").write_text(json.dumps(list(by_name)))


def load_patterns(folder: Path) -> dict[str, Patterns]:
    """Read the patterns of a folder, by their names."""
    with np.load(folder / "patterns.npz") as arrays:
        return {
            name: Patterns(find_instruction(name), arrays[f"{name}/addresses"], arrays[f"{name}/active"])
            for name in json.loads((folder / "patterns.json").read_text())
        }


def run(device: Device, folder: Path, what: str) -> None:
    """Launch every pattern: for a profiler that watches (`counts`), or for slopes (`clocks`)."""
    by_name = load_patterns(folder)
    module = device.compile(cost_source(list(by_name)))
    source, sink = device.allocate(2 * SOURCE_BYTES), device.allocate(4)
    device.put(source, np.ones(2 * SOURCE_BYTES, dtype=np.uint8))
    if what == "counts":
        for each in by_name.values():
            _count(module, each, source, sink)
        device.finish()
        return
    slopes = {name: _time(device, module, each, source, sink) for name, each in by_name.items()}
    np.savez(folder / "slopes.npz", **slopes)  # type: ignore[arg-type]


def _count(module: Module, each: Patterns, source: int, sink: int) -> None:
    """The first pattern twice over in one launch, then one launch per pattern."""
    kernel = kernel_name("counted", each.instruction)
    shared_bytes = each.window_bytes + ALIGNMENT_BYTES
    rows = [(row.astype(np.uint32), mask, 1) for row, mask in zip(each.addresses, masks(each.active), strict=True)]
    rows.insert(0, (*rows[0][:2], 2))
    for offsets, mask, bursts in rows:
        arguments = [offsets, mask, np.uint32(bursts), np.uint32(0), np.uint64(source), np.uint64(sink)]
        module.launch(kernel, LANES, shared_bytes, arguments)


def _time(
    device: Device, module: Module, each: Patterns, source: int, sink: int
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Cycles per warp instruction, in blocks that are alone on their multiprocessors."""
    kernel = kernel_name("timed", each.instruction)
    slopes = np.zeros(len(each), dtype=np.float32)
    for first in range(0, len(each), MAX_TIMED_BLOCKS):
        rows = slice(first, first + MAX_TIMED_BLOCKS)
        offsets, bits = each.addresses[rows].astype(np.uint32), masks(each.active[rows])
        offsets_at, bits_at = device.allocate(offsets.nbytes), device.allocate(bits.nbytes)
        slopes_at = device.allocate(4 * len(bits))
        device.put(offsets_at, offsets)
        device.put(bits_at, bits)
        arguments = [
            np.uint64(offsets_at), np.uint64(bits_at), np.uint32(0), np.uint64(source), np.uint64(slopes_at),
            np.uint64(sink),
        ]  # fmt: skip
        # so much shared memory that no second block fits beside one
        module.launch(kernel, LANES * TIMED_WARPS, device.facts.shared_bytes_per_block, arguments, blocks=len(bits))
        device.finish()
        device.get(slopes_at, slopes[rows])
        for pointer in (offsets_at, bits_at, slopes_at):
            device.free(pointer)
    return slopes
