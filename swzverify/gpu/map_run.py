"""An index map on the device: its values at every point of the box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.gpu.comparison import MAX_SHOWN, Comparison
from swzverify.gpu.launch import DeviceAnswer, Launch, base_indices
from swzverify.gpu.source import map_kernel
from swzverify.subjects import IndexMap
from swzverify.subjects.memory import Origin

THREADS = 256
MAX_POINTS = 1 << 20

Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MapRun:
    """A map, at a few bases where it reads one; points in order, the first variable fastest."""

    index: IndexMap
    kernel: str
    place: Origin | None
    seen: tuple[int, ...] = ()

    @property
    def source(self) -> str:
        """The kernel that evaluates the map."""
        return map_kernel(self.kernel, self.index, self.place)

    @property
    def count(self) -> int:
        """The number of points in the box."""
        return prod(extent for _, extent in self.index.over)

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """Values of the base's variable."""
        return (0,) if self.place is None else base_indices(self.place, self.seen)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """One launch for each base."""
        if self.count > MAX_POINTS:
            return ()
        size = self.count * len(self.index.value)
        return tuple(Launch(self.kernel, THREADS, base=base, places=size) for base in self.bases)

    def point(self, base: int) -> dict[str, Array]:
        """Every point of the box, and the base in bytes where the map reads it."""
        rest = np.arange(self.count, dtype=np.int64)
        found: dict[str, Array] = {}
        for name, extent in self.index.over:
            found[name] = rest % extent
            rest = rest // extent
        if self.place is not None and self.index.uses_base:
            found["base"] = np.full(1, self.place.at({self.place.name: base}), dtype=np.int64)
        return found

    def predicted(self, base: int) -> Array:
        """(point, value), by the plain definition."""
        values = self.index.at_many(self.point(base))
        return np.stack([np.broadcast_to(value, (self.count,)) for value in values], axis=1)

    def found(self, answer: DeviceAnswer) -> Array:
        """(point, value) from the device, whose registers hold negatives in two's complement."""
        raw = answer.places.reshape(self.count, len(self.index.value))
        columns: list[Array] = []
        for value, column in zip(self.index.lower(self.place), raw.T, strict=True):
            held = column.astype(np.int64)
            if value.low < 0:
                half = np.int64(1) << np.int64(value.bits.width - 1)
                held = (held ^ half) - half
            columns.append(held)
        return np.stack(columns, axis=1)

    def compare(self, answers: Sequence[DeviceAnswer]) -> Comparison:
        """The answers against the definition, value by value."""
        if not self.launches:
            return Comparison(left_out=(f"not run: {self.count} points, more than {MAX_POINTS}",))
        return Comparison.of(self._compare(*pair) for pair in zip(self.launches, answers, strict=True))

    def _compare(self, launch: Launch, answer: DeviceAnswer) -> Comparison:
        if answer.status:
            return Comparison.failed(answer.status)
        wanted, found = self.predicted(launch.base), self.found(answer)
        wrong = np.argwhere(wanted != found)
        texts = tuple(
            f"value {v} at point {p}: the model says {wanted[p, v]}, the device {found[p, v]}"
            for p, v in wrong[:MAX_SHOWN]
        )
        return Comparison(wanted.size, 0, len(wrong), texts)

    def placed(self, answers: Sequence[DeviceAnswer]) -> Mapping[int, Array]:
        """The first value at each point, by the value of the base's variable."""
        pairs = zip(self.launches, answers, strict=True)
        return {launch.base: self.found(answer)[:, 0] for launch, answer in pairs if answer.status == 0}
