"""What comes of holding a device's answers against the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.gpu.launch import FIRST_DEVICE_ERROR, Bytes

MAX_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many places and bytes of memory were compared, and the first differences in words."""

    places: int = 0
    bytes: int = 0
    differing: int = 0
    differences: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the device agrees in every place and byte."""
        return self.differing == 0

    @staticmethod
    def failed(status: int) -> Comparison:
        """What a failed launch shows: a kernel's fault differs; one that never ran is left out."""
        if status >= FIRST_DEVICE_ERROR:
            return Comparison(differing=1, differences=(f"the launch failed with status {status}",))
        return Comparison(left_out=(f"not run: the driver refused the launch (status {status})",))

    @staticmethod
    def of(parts: Iterable[Comparison]) -> Comparison:
        """Add up several comparisons."""
        every = tuple(parts)
        return Comparison(
            sum(part.places for part in every),
            sum(part.bytes for part in every),
            sum(part.differing for part in every),
            tuple(text for part in every for text in part.differences)[:MAX_SHOWN],
            tuple(dict.fromkeys(text for part in every for text in part.left_out)),
        )


def tokens(passes: Bytes) -> NDArray[np.int64]:
    """The tokens, of which each pass holds eight bits: shape (passes, ...) to (...).

    >>> tokens(np.array([[1, 255], [2, 0]], dtype=np.uint8)).tolist()
    [513, 255]
    """
    total = np.zeros(passes.shape[1:], dtype=np.int64)
    for index, part in enumerate(passes):
        total |= part.astype(np.int64) << (8 * index)
    return total


def image_differences(image: Bytes, offsets: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The offsets at which shared memory holds a byte that no lane may have stored there.

    `image` is (passes, bytes). `offsets` and `values` list what may lie where; where several values
    may lie at one offset (stores of lanes that collide), each pass may have another one of them.
    Elsewhere there must be zeros.
    """
    wrong = np.zeros(image.shape[1], dtype=bool)
    written = np.zeros(image.shape[1], dtype=bool)
    written[offsets] = True
    for index, part in enumerate(image):
        fits = part[offsets] == (values >> (8 * index) & 255)
        good = np.zeros(image.shape[1], dtype=bool)
        good[offsets[fits]] = True
        wrong |= np.where(written, ~good, part != 0)
    return np.flatnonzero(wrong)
