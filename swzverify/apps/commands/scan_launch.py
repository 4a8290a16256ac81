"""What the options of `scan` say of launches: blocks, the grid, parameters and dynamic shared memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

import click

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.scan import LaunchFacts
from swzverify.compiled.kernel.clusters import MOST_RANKS
from swzverify.compiled.scan import MOST_ALIGN, BlockShape, Given, block_shape, cluster_shape, grid_shape
from swzverify.hardware import find_target

_NUMBERS = re.compile(r"\s*[0-9]{1,10}\s*(?:,\s*[0-9]{1,10}\s*){0,2}", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,9})([kK](?:i?[bB])?)?")


def launch_of(options: ScanOptions) -> LaunchFacts:
    """What is known of launches. A usage error for a text that no option takes."""
    blocks = [_block(text) for text in options.blocks]
    every = [shape for kernel, shape in blocks if kernel is None]
    named = tuple((kernel, shape) for kernel, shape in blocks if kernel is not None)
    align, grid = _aligned_bytes(options.smem_align), _grid(options.grid)
    cluster = _cluster(options.cluster)
    given = Given(options.parameters, options.assumptions, align, grid, options.tensor_maps, cluster)
    return LaunchFacts(every[-1] if every else None, given, _bytes(options.smem, options.target), named)


def _block(text: str) -> tuple[str | None, BlockShape]:
    """A block, and the kernel that it is for.

    >>> _block("32,8"), _block("softmax*=128")
    ((None, (32, 8, 1)), ('softmax*', (128, 1, 1)))
    """
    kernel, is_named, numbers = text.rpartition("=")
    found = _numbers(numbers)
    if not found or (is_named and not kernel.strip()):
        raise click.UsageError(f"--block is {text!r}; give one to three extents, such as 32,8, or KERNEL=32,8")
    shape = block_shape(found)
    if shape is None:
        raise click.UsageError(f"--block is {text!r}, {prod(found)} threads; a block has 1 to 1024, at most 64 along z")
    return kernel.strip() or None, shape


def _grid(text: str | None) -> BlockShape | None:
    shape = None if text is None else grid_shape(_numbers(text))
    if text is not None and shape is None:
        most = "2147483647 blocks along x, 65535 along y and z"
        raise click.UsageError(f"--grid is {text!r}; give one to three numbers, such as 128,4; at most {most}")
    return shape


def _cluster(text: str | None) -> BlockShape | None:
    shape = None if text is None else cluster_shape(_numbers(text))
    if text is not None and shape is None:
        raise click.UsageError(
            f"--cluster is {text!r}; give one to three numbers, such as 2,1; at most {MOST_RANKS} blocks"
        )
    return shape


def _numbers(text: str) -> Sequence[int]:
    """Numbers with commas between; none if a text is something else."""
    return [int(each) for each in text.split(",")] if _NUMBERS.fullmatch(text) else []


def _bytes(smem: str | None, target: str) -> int | None:
    """A number of bytes, or of KiB, that a block of the target can have.

    >>> _bytes("48K", "sm_90"), _bytes("49152", "sm_75")
    (49152, 49152)
    """
    if smem is None:
        return None
    most = find_target(target).shared_bytes_per_block
    found = _SIZE.fullmatch(smem)
    if found is None:
        raise click.UsageError(f"--smem is {smem!r}; give bytes, such as 49152, or KiB, such as 48K")
    value = int(found[1]) * (1024 if found[2] else 1)
    if value > most:
        raise click.UsageError(f"--smem is {smem!r}, {value} bytes; a block of {target} has at most {most}")
    return value


def _aligned_bytes(align: str | None) -> int | None:
    if align is None:
        return None
    value = int(align) if align.isascii() and align.isdigit() and len(align) <= 4 else 0
    if not 1 <= value <= MOST_ALIGN or value & (value - 1):
        raise click.UsageError(f"--smem-align is {align!r}; give a power of two up to {MOST_ALIGN}, such as 128")
    return value
