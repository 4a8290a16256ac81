"""An access on the device: the rows that run, the answers to expect, and the differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.access_points import access_enough
from swzverify.claims.places import Places
from swzverify.core.words import binding_text
from swzverify.gpu.asm import is_transposed, register_words
from swzverify.gpu.comparison import MAX_SHOWN, Comparison, image_differences, tokens
from swzverify.gpu.launch import MISALIGNED_ADDRESS, PASSES, DeviceAnswer, Launch, first_bits
from swzverify.gpu.source import ALIGNMENT_BYTES, NOWHERE, access_kernel, row_variables
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES
from swzverify.hardware.instructions import Kind
from swzverify.subjects import Access
from swzverify.subjects.loop import WARP

MAX_LANE_BYTES_RUN = 1 << 19
"""At most so many bytes of all lanes together run for each base."""
MISALIGNED = "some lanes are misaligned"
MAX_OPEN_VALUES = 64
"""At most so many values of an unbounded loop run."""

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AccessRun:
    """An access with the rows of it that run: all, or of many some, at a few bases.

    `seen` are points of the free variables that must be among them: the counterexamples.
    """

    access: Access
    kernel: str
    seen: tuple[Mapping[str, int], ...] = ()

    @property
    def source(self) -> str:
        """The kernel that evaluates and runs the access."""
        return access_kernel(self.kernel, self.access)

    @cached_property
    def bases(self) -> tuple[int, ...]:
        """Values of the base's variable: the first two, the last, the counterexamples' own."""
        place = self.access.origin
        if place.variable is None:
            return (0,)
        wanted = {0, 1, place.count - 1, *(point.get(place.name, 0) for point in self.seen)}
        return tuple(sorted(wanted))

    @cached_property
    def _chosen(self) -> tuple[Array, bool]:
        """Rows in order, and whether these are all; of too many, some at equal distances."""
        names = [node.name for node in row_variables(self.access)]
        limits = self._limits
        total = prod(limits) if all(self.access.loop_limits) else 0
        if not total:
            return np.zeros((0, len(names)), dtype=np.int64), True
        room = max(1, MAX_LANE_BYTES_RUN // (self.access.threads * self.access.instruction.width_bytes))
        numbers = np.linspace(0, total - 1, min(total, room)).astype(np.int64)
        rows = np.stack(np.unravel_index(numbers, [*limits, 1]), axis=1)[:, :-1].astype(np.int64)
        seen = np.asarray([[point.get(name, 0) for name in names] for point in self.seen], dtype=np.int64)
        if names:
            rows = np.unique(np.concatenate([rows, seen.reshape(-1, len(names))]), axis=0)
        return rows, total <= room and limits == [node.limit for node in row_variables(self.access)]

    @property
    def _limits(self) -> list[int]:
        """The number of values of each row variable that run, at most."""
        unbounded = {loop.name for loop in self.access.loops if loop.is_unbounded}
        return [min(n.limit, MAX_OPEN_VALUES) if n.name in unbounded else n.limit for n in row_variables(self.access)]

    @cached_property
    def rows(self) -> Array:
        """The rows that run, one column per row variable, without those assumed away."""
        rows, _ = self._chosen
        if not len(rows):
            return rows
        assumed, *_ = self.access.definition(self.point_of(rows, self.bases[0]))
        return rows[np.broadcast_to(assumed, (len(rows), self.access.threads)).all(axis=1)]

    @property
    def is_whole(self) -> bool:
        """Whether every row there is runs."""
        return self._chosen[1]

    @cached_property
    def stands_for_all(self) -> bool:
        """Whether every row runs, and at every base that can cost otherwise."""
        return not self.not_run

    @cached_property
    def _enough(self) -> int:
        """How many of the first bases stand for all, in places and in costs."""
        row = self.access.instruction
        granule = max(BANK_PERIOD_BYTES if row.by_octets else BANK_WORD_BYTES, row.width_bytes)
        return dict(access_enough(self.access, granule)).get(self.access.origin.name, 1)

    def point(self, base: int) -> dict[str, Array]:
        """Every lane at every row, as arrays of the variables that broadcast to rows by threads."""
        return self.point_of(self.rows, base)

    def point_of(self, rows: Array, base: int) -> dict[str, Array]:
        """Every lane at some rows."""
        thread = np.arange(self.access.threads, dtype=np.int64)[None, :]
        point = {WARP: thread // LANES, "lane": thread % LANES}
        point |= {node.name: rows[:, [i]] for i, node in enumerate(row_variables(self.access))}
        if self.access.origin.variable is not None:
            point[self.access.origin.name] = np.full((1, 1), base, dtype=np.int64)
        return point

    def predicted(self, base: int) -> tuple[Mask, Array]:
        """(active, place in units) by the plain definition, rows by threads."""
        shape = (len(self.rows), self.access.threads)
        if not len(self.rows):
            return np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64)
        _, active, place, _ = self.access.definition(self.point(base))
        return np.broadcast_to(active, shape), np.broadcast_to(place, shape)

    def why_untouched(self, base: int) -> str:
        """Why the instruction cannot be run at a base; empty where it can."""
        active, place = self.predicted(base)
        if not active.any():
            return "no lane takes part"
        units, width = 8 // self.access.unit_bits, self.access.instruction.width_bytes
        if (place[active] % units).any():
            return "some lanes begin inside a byte"
        if (place[active] // units % width).any():
            return MISALIGNED
        _, size = _window(place[active] // units, width)
        room = self.access.target.shared_bytes_per_block - ALIGNMENT_BYTES
        if size > room:
            return f"the lanes reach over {size} bytes; a block has {room}"
        return ""

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """One launch per base; where lanes are misaligned, one more that must fail."""
        found: list[Launch] = []
        for base in self.bases:
            found += self._at(base, may_fault=not any(launch.faults for launch in found))
        return tuple(found)

    def _at(self, base: int, *, may_fault: bool) -> list[Launch]:
        active, place = self.predicted(base)
        if not len(self.rows):
            return []
        units, width = 8 // self.access.unit_bits, self.access.instruction.width_bytes
        why = self.why_untouched(base)
        touch = not why
        window, size = _window(place[active] // units, width) if touch else (0, 0)
        kind = self.access.instruction.kind
        lanes = active.size
        launch = Launch(
            self.kernel,
            self.access.threads,
            self.rows.astype(np.uint64),
            base,
            window,
            size,
            PASSES if touch and kind is not Kind.ATOMIC else 1,
            touch,
            lanes,
            lanes * register_words(self.access.instruction) * kind.loads,
            lanes * width if kind is Kind.CP_ASYNC else 0,
            touch and not kind.loads,
        )
        if why == MISALIGNED and may_fault:
            return [launch, self._fault(base, active, place // units)]
        return [launch]

    def _fault(self, base: int, active: Mask, address: Array) -> Launch:
        """The launch of the first row with a misaligned lane, which the hardware refuses."""
        width = self.access.instruction.width_bytes
        row = int(np.flatnonzero((active & (address % width != 0)).any(axis=1))[0])
        on = active[row]
        window, size = _window(address[row][on], width)
        loads = self.access.instruction.kind.loads
        return Launch(
            self.kernel,
            self.access.threads,
            self.rows[[row]].astype(np.uint64),
            base,
            window,
            size,
            touch=True,
            places=on.size,
            values_words=on.size * register_words(self.access.instruction) * loads,
            source_bytes=on.size * width,
            faults=True,
        )

    def compare(self, answers: Sequence[DeviceAnswer]) -> Comparison:
        """The answers to `launches` against the definition, place by place and byte by byte."""
        compared = [self._compare(launch, answer) for launch, answer in zip(self.launches, answers, strict=True)]
        return Comparison.of([*compared, Comparison(left_out=self.not_run)])

    @property
    def not_run(self) -> tuple[str, ...]:
        """What of the access does not run, in words: unchosen rows, bases that could differ."""
        found: list[str] = []
        if not self.is_whole:
            found.append(f"run in part: {len(self.rows)} rows, chosen from more")
        missing = set(range(self._enough)) - set(self.bases)
        if missing:
            found.append(f"run in part: {self._enough - len(missing)} of the {self._enough} bases that can differ")
        return tuple(found)

    def _compare(self, launch: Launch, answer: DeviceAnswer) -> Comparison:
        if launch.faults:
            fine = answer.status == MISALIGNED_ADDRESS
            seen = "it ran" if answer.status == 0 else f"it failed with status {answer.status}"
            text = f"a misaligned address should have failed with status {MISALIGNED_ADDRESS}, but {seen}"
            return Comparison(differing=0 if fine else 1, differences=() if fine else (text,))
        if answer.status:
            return Comparison.failed(answer.status)
        active, place = self.predicted(launch.base)
        wanted = np.where(active, place, 0).astype(np.uint64)
        wanted[~active] = NOWHERE
        found = answer.places.reshape(wanted.shape)
        wrong = np.argwhere(found != wanted)
        texts = [
            self._place_text(launch, int(r), int(t), int(wanted[r, t]), int(found[r, t])) for r, t in wrong[:MAX_SHOWN]
        ]
        parts = [Comparison(active.size, 0, len(wrong), tuple(texts))]
        if launch.touch and not len(wrong):
            units = 8 // self.access.unit_bits
            parts.append(self._memory(launch, answer, active, place // units - launch.window))
        elif not launch.touch:
            parts.append(Comparison(left_out=(f"not run, only evaluated: {self.why_untouched(launch.base)}",)))
        return Comparison.of(parts)

    def _place_text(self, launch: Launch, row: int, thread: int, wanted: int, found: int) -> str:
        where = self.where(launch, row, thread)
        sides = ["nowhere" if value == NOWHERE else str(value) for value in (wanted, found)]
        return f"{where}: the model says {sides[0]}, the device {sides[1]}"

    def where(self, launch: Launch, row: int, thread: int) -> str:
        """A lane at a row in words."""
        names = [node.name for node in row_variables(self.access)]
        point = dict(zip(names, map(int, self.rows[row]), strict=True))
        point |= {WARP: thread // LANES, "lane": thread % LANES, self.access.origin.name: launch.base}
        return binding_text(self.access.binding(point))

    def _memory(self, launch: Launch, answer: DeviceAnswer, active: Mask, offset: Array) -> Comparison:
        kind = self.access.instruction.kind
        if kind.loads:
            return self._loaded(launch, answer, active, offset)
        if kind is Kind.ATOMIC:
            return _added(answer, offset[active])
        return self._stored(answer, active, offset)

    def _loaded(self, launch: Launch, answer: DeviceAnswer, active: Mask, offset: Array) -> Comparison:
        """Every loaded byte comes from its lane's address, or its matrix fragment's."""
        instruction = self.access.instruction
        words = register_words(instruction)
        held = answer.values.view(np.uint8).reshape(len(answer.values), *active.shape, 4 * words)
        found = tokens(held)
        if instruction.kind.moves_matrices:
            lane, byte = fragment_sources(words, transposed=is_transposed(instruction))
            rows = offset.reshape(len(offset), -1, 1, LANES)
            wanted = np.take_along_axis(rows, lane.reshape(1, 1, 1, -1), axis=3).reshape(len(offset), -1, *lane.shape)
            wanted = (wanted + byte).reshape(len(offset), -1, 4 * words)
            checked = np.ones(active.shape, dtype=bool)
        else:
            width = instruction.width_bytes
            found, wanted, checked = found[..., :width], offset[..., None] + np.arange(width), active
        wrong = np.argwhere((found != wanted) & checked[..., None])
        texts = tuple(
            f"{self.where(launch, int(r), int(t))}: byte {b} came from offset {found[r, t, b]}, not {wanted[r, t, b]}"
            for r, t, b in wrong[:MAX_SHOWN]
        )
        return Comparison(0, int(checked.sum()) * wanted.shape[-1], len(wrong), texts)

    def _stored(self, answer: DeviceAnswer, active: Mask, offset: Array) -> Comparison:
        """Each byte that was written holds what one of its last writers wrote; others hold 0."""
        width = self.access.instruction.width_bytes
        row, thread = np.nonzero(active)
        first = offset[row, thread]
        index = row * active.shape[1] + thread
        offsets = (first[:, None] + np.arange(width)).ravel()
        values = (index[:, None] * width + np.arange(width) + 1).ravel()
        rows = np.repeat(row, width)
        last = np.zeros(answer.image.shape[1], dtype=np.int64)
        np.maximum.at(last, offsets, rows)
        final = rows == last[offsets]
        wrong = image_differences(answer.image, offsets[final], values[final])
        found = tokens(answer.image)
        texts = tuple(f"offset {o} holds token {found[o]}" for o in wrong[:MAX_SHOWN])
        return Comparison(0, answer.image.shape[1], len(wrong), texts)

    def predicted_bytes(self) -> Iterable[tuple[Mask, Array]]:
        """(active, byte address) of each launch, by the plain definition."""
        units = 8 // self.access.unit_bits
        for launch in self.launches:
            if not launch.faults:
                active, place = self.predicted(launch.base)
                yield active, place // units

    def places(self, answers: Sequence[DeviceAnswer]) -> Mapping[int, Places]:
        """The lanes from the device, a row for each row that ran, by the value of the base's variable.

        Where their stage or array begins is not the device's answer: the plain definition says it.
        """
        access, found = self.access, dict[int, Places]()
        room = access.bytes or 0 if access.tile is None else access.tile.allocation_bytes
        for launch, answer in zip(self.launches, answers, strict=True):
            if not launch.faults and answer.status == 0:
                places = answer.places.reshape(-1, access.threads)
                *_, start = access.definition(self.point(launch.base))
                found[launch.base] = Places(
                    first_bits(places, access.unit_bits),
                    8 * access.instruction.width_bytes,
                    places != NOWHERE,
                    low=np.broadcast_to(start, places.shape) * access.unit_bits,
                    room_bits=8 * room,
                )
        return found

    def touched_bytes(self, answers: Sequence[DeviceAnswer]) -> Iterable[tuple[Launch, Mask, Array]]:
        """(launch, active, byte address) of each launch, as the device computed them."""
        for launch, answer in zip(self.launches, answers, strict=True):
            if not launch.faults and answer.status == 0:
                found = answer.places.reshape(-1, self.access.threads)
                active = found != NOWHERE
                units = 8 // self.access.unit_bits
                yield launch, active, np.where(active, found, 0).astype(np.int64) // units


def fragment_sources(count: int, *, transposed: bool) -> tuple[Array, Array]:
    """The source of each byte that each lane of a warp gets: (lane of the row, byte of the row).

    The two arrays have the shape (32, 4 * count).

    Source: PTX ISA 8.7, "Warp-level matrix instructions: ldmatrix", fragment layout.
    """
    lane = np.arange(LANES)[:, None]
    register, byte = np.divmod(np.arange(4 * count)[None, :], 4)
    if not transposed:
        return 8 * register + lane // 4, 4 * (lane % 4) + byte
    return 8 * register + 2 * (lane % 4) + byte // 2, 2 * (lane // 4) + byte % 2


def _window(address: Array, width: int) -> tuple[int, int]:
    """The first model address of the shared memory that these accesses need, and its bytes."""
    if not address.size:
        return 0, 0
    begin = int(address.min()) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
    return begin, int(address.max()) + width - begin


def _added(answer: DeviceAnswer, offset: Array) -> Comparison:
    """Every word holds the number of lanes that added 1 to it."""
    size = answer.image.shape[1] // 4 * 4
    found = answer.image[0, :size].view(np.uint32).astype(np.int64)
    wanted = np.bincount(offset // 4, minlength=size // 4)
    wrong = np.flatnonzero(found != wanted)
    texts = tuple(f"word {w} was added to {found[w]} times, not {wanted[w]}" for w in wrong[:MAX_SHOWN])
    return Comparison(0, size, len(wrong), texts)
