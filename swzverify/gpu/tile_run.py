"""A tile on the device: its own map places every element, and TMA loads place boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.tile_points import TilePoints
from swzverify.gpu.comparison import MAX_SHOWN, Comparison, image_differences, tokens
from swzverify.gpu.launch import PASSES, Box, DeviceAnswer, Launch, base_indices
from swzverify.gpu.source import ALIGNMENT_BYTES, tile_kernel
from swzverify.layout.tma import BASE_ALIGN_BYTES, MAX_BOX_EXTENT, TmaMode
from swzverify.subjects import OffsetMap, Tile
from swzverify.subjects.memory import Origin

THREADS = 256
MAX_ELEMENTS = 1 << 20
TMA_KERNEL_NAME = "tma_load"

Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TileRun:
    """A tile at a few bases of an origin; `seen` are base addresses that must be among them.

    Elements are numbered colexicographically over the modes' coordinates, then the stage.
    `room_bytes` is the shared memory that a block has.
    """

    tile: Tile
    kernel: str
    place: Origin
    room_bytes: int
    seen: tuple[int, ...] = ()
    loads_by_tma: bool = True

    @property
    def source(self) -> str:
        """The kernel that places the elements."""
        points = TilePoints.of(self.tile, "", self.place)
        return tile_kernel(self.kernel, self.tile, points.coords, points.stage, self.place)

    @property
    def too_large(self) -> bool:
        """Whether the tile has too many elements to be run at all."""
        return self.count > MAX_ELEMENTS

    @property
    def count(self) -> int:
        """The number of elements in all stages."""
        return self.tile.size * self.tile.stages

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """Values of the base's variable."""
        return base_indices(self.place, self.seen)

    def base_bytes(self, base: int) -> int:
        """The base address of a value of the base's variable."""
        return self.place.at({self.place.name: base})

    @cached_property
    def coordinates(self) -> tuple[tuple[Array, ...], Array]:
        """(coordinate, stage) of every element."""
        rest = np.arange(self.count, dtype=np.int64)
        coord: list[Array] = []
        for extent in self.tile.extents:
            coord.append(rest % extent)
            rest = rest // extent
        return tuple(coord), rest

    def predicted(self, base: int) -> Array:
        """Each element's first unit, by the plain definition."""
        coord, stage = self.coordinates
        return np.asarray(self.tile.position(coord, stage=stage, base=self.base_bytes(base)), dtype=np.int64)

    def why_untouched(self, base: int) -> str:
        """Why the elements cannot be put into shared memory; empty where they can."""
        if self.tile.element_bits % 8:
            return f"elements of {self.tile.element_bits} bits have no bytes of their own"
        _, size = self.window(base)
        room = self.room_bytes - ALIGNMENT_BYTES
        return f"the tile reaches over {size} bytes; a block has {room}" if size > room else ""

    def window(self, base: int) -> tuple[int, int]:
        """The first model address of the shared memory that holds the tile, and its bytes."""
        place = self.predicted(base) // self.tile.units_per_byte
        begin = int(place.min()) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        return begin, int(place.max()) + -(-self.tile.element_bits // 8) - begin

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """One launch per base; per base and stage a TMA load, if a mode lays the tile down."""
        if self.too_large:
            return ()
        found: list[Launch] = []
        for base in self.bases:
            touch = not self.why_untouched(base)
            window, size = self.window(base) if touch else (0, 0)
            passes = PASSES if touch else 1
            found.append(
                Launch(
                    self.kernel, THREADS, base=base, window=window, window_bytes=size, passes=passes,
                    touch=touch, places=self.count, image=touch,
                )
            )  # fmt: skip
            found += [
                Launch(
                    TMA_KERNEL_NAME, THREADS, base=base, window=window, window_bytes=size, passes=passes,
                    touch=True, image=True, box=box,
                )
                for box in (self._boxes(base, window) if touch and self.loads_by_tma else ())
            ]  # fmt: skip
        return tuple(found)

    @cached_property
    def tma_mode(self) -> TmaMode | None:
        """The swizzle mode whose loads lay this tile down; None if there is none."""
        layout = self.tile.layout
        if isinstance(layout, OffsetMap):
            return None  # TMA knows layouts only
        if layout.rank != 2 or any(len(mode.leaves) != 1 for mode in layout.modes) or self.tile.element_bits % 8:
            return None
        (rows, pitch), (inner, step) = layout.leaves
        element_bytes = self.tile.element_bits // 8
        inner_bytes = inner * element_bytes
        if step != 1 or max(rows, inner) > MAX_BOX_EXTENT or inner_bytes % 16 or element_bytes not in {1, 2, 4, 8}:
            return None
        for mode in TmaMode:
            span = mode.span_bytes
            fits = pitch * element_bytes == (inner_bytes if span is None else span) and inner_bytes <= (span or 1 << 20)
            if fits and self.tile.swizzle == mode.swizzle and (mode.swizzle is None or self.tile.address_swizzle):
                return mode
        return None

    def _boxes(self, base: int, window: int) -> tuple[Box, ...]:
        """The TMA load of every stage; none where one of them would fault."""
        mode = self.tma_mode
        if mode is None or self.why_no_load(base):
            return ()
        rows, inner = self.tile.extents
        first = self.base_bytes(base) - window
        return tuple(
            Box(mode.value, rows, inner, self.tile.element_bits // 8, first + stage * self.tile.pitch_bytes, stage)
            for stage in range(self.tile.stages)
        )

    def why_no_load(self, base: int) -> str:
        """Why TMA cannot lay the tile down at a base, if a mode has its layout; else empty."""
        if self.tma_mode is None:
            return ""
        starts = [self.base_bytes(base) + stage * self.tile.pitch_bytes for stage in range(self.tile.stages)]
        bad = [start for start in starts if start % BASE_ALIGN_BYTES]
        return f"no TMA load at {bad[0]}, which is no multiple of {BASE_ALIGN_BYTES}" if bad else ""

    def compare(self, answers: Sequence[DeviceAnswer]) -> Comparison:
        """The answers to `launches` against the definition, place by place and byte by byte."""
        if self.too_large:
            return Comparison(left_out=(f"not run: {self.count} elements, more than {MAX_ELEMENTS}",))
        return Comparison.of(
            self._compare(launch, answer) for launch, answer in zip(self.launches, answers, strict=True)
        )

    def _compare(self, launch: Launch, answer: DeviceAnswer) -> Comparison:
        if answer.status and launch.box is not None:
            text = f"the driver refused a TMA load ({launch.box.mode}) with status {answer.status}"
            return Comparison(differing=1, differences=(text,))
        if answer.status:
            return Comparison.failed(answer.status)
        place = self.predicted(launch.base)
        parts: list[Comparison] = []
        if launch.box is None:
            wrong = np.flatnonzero(answer.places != place.astype(np.uint64))
            texts = tuple(
                f"{self.element_text(int(e))}: the model says {place[e]}, the device {answer.places[e]}"
                for e in wrong[:MAX_SHOWN]
            )
            parts.append(Comparison(self.count, 0, len(wrong), texts))
            why = self.why_no_load(launch.base) if self.loads_by_tma else ""
            parts += [Comparison(left_out=(why,))] if why else []
        if not launch.touch:
            parts.append(Comparison(left_out=(f"not run, only evaluated: {self.why_untouched(launch.base)}",)))
        elif not parts or parts[0].agrees:
            offsets, values = self.tokens_at(place // self.tile.units_per_byte - launch.window, launch.box)
            wrong = image_differences(answer.image, offsets, values)
            found = tokens(answer.image)
            by = "" if launch.box is None else f" after a TMA load ({launch.box.mode})"
            texts = tuple(f"offset {o} holds token {found[o]}{by}" for o in wrong[:MAX_SHOWN])
            parts.append(Comparison(0, answer.image.shape[1], len(wrong), texts))
        return Comparison.of(parts)

    def tokens_at(self, offset: Array, box: Box | None) -> tuple[Array, Array]:
        """(offset, token) of every byte of every element.

        A load brings the elements of one stage, and numbers its tokens as the source lies in global
        memory, by rows.
        """
        width = self.tile.element_bits // 8
        number = np.arange(self.count, dtype=np.int64)
        if box is not None:
            (row, column), stage = self.coordinates
            here = stage == box.stage
            number, offset = (row * box.inner_elements + column)[here], offset[here]
        bytes_ = np.arange(width)
        return (offset[:, None] + bytes_).ravel(), (number[:, None] * width + bytes_ + 1).ravel()

    def element_text(self, element: int) -> str:
        """An element in words."""
        coord, stage = self.coordinates
        where = f"element ({', '.join(str(int(axis[element])) for axis in coord)})"
        return where + (f" of stage {int(stage[element])}" if self.tile.stages > 1 else "")

    def placed(self, answers: Sequence[DeviceAnswer]) -> Mapping[int, Array]:
        """Each element's first unit from the device, by the value of the base's variable."""
        pairs = zip(self.launches, answers, strict=True)
        return {
            launch.base: answer.places.astype(np.int64)
            for launch, answer in pairs
            if launch.box is None and answer.status == 0
        }
