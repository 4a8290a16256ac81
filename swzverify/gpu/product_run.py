"""Operands and fragments on the device: from where the tensor core takes each element."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.fragment_points import FragmentPoints
from swzverify.claims.operand_points import OperandPoints
from swzverify.claims.places import Places
from swzverify.core.words import binding_text
from swzverify.gpu.asm import register_words
from swzverify.gpu.comparison import MAX_SHOWN, Comparison
from swzverify.gpu.launch import DeviceAnswer, Launch, Words
from swzverify.gpu.product_source import NO_INSTRUCTION, fragment_kernel, operand_kernel, operand_rows
from swzverify.gpu.products import DIGIT_BITS, OTHER_BYTES, passes
from swzverify.gpu.source import ALIGNMENT_BYTES, row_variables
from swzverify.hardware.fragments import landing
from swzverify.hardware.tensor_cores import Family
from swzverify.ir.expr import Var
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.operand import MN, K

MAX_ELEMENTS_RUN = 1 << 20
"""At most so many elements of all rows together run for each base."""
WARP_GROUP = 128
Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductRun:
    """What both have in common: rows at a few bases, and places by number.

    `seen` are points of counterexamples; they are among the rows. `room_bytes` is the shared memory that a
    block has.
    """

    kernel: str
    room_bytes: int
    seen: tuple[Mapping[str, int], ...] = ()

    @property
    @abstractmethod
    def source(self) -> str:
        """The kernel."""

    @property
    @abstractmethod
    def nodes(self) -> tuple[Var, ...]:
        """The variables of a row."""

    @property
    @abstractmethod
    def base_name(self) -> tuple[str, int]:
        """The name of the base's variable, and how many values it has."""

    @property
    @abstractmethod
    def element(self) -> tuple[str, int]:
        """The type of an element, and its bytes."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, int, int]:
        """Of one row: how many places and how many values the kernel gives. How many threads run."""

    @abstractmethod
    def predicted(self, base: int) -> tuple[Array, Array, bool]:
        """By the plain definition, a row for each row: the addresses that are read, and those that should be.

        The third says whether all addresses are aligned.
        """

    @abstractmethod
    def found(self, launch: Launch, numbers: Array) -> tuple[Array, int]:
        """The addresses that the device read, by the numbers of places, in the order of `predicted`.

        The second is how many numbers stand where none should.
        """

    @property
    def not_run(self) -> str:
        """Why none of it can run here, in words; empty where it can."""
        return ""

    @property
    def bases(self) -> tuple[int, ...]:
        """Values of the base's variable: the first two, the last, the counterexamples' own."""
        name, count = self.base_name
        wanted = {0, 1, count - 1, *(point.get(name, 0) for point in self.seen)}
        return tuple(sorted(each for each in wanted if 0 <= each < count))

    @cached_property
    def _chosen(self) -> tuple[Array, bool]:
        """Rows in order, and whether these are all; of too many, some at equal distances."""
        limits = [node.limit for node in self.nodes]
        total, room = prod(limits), max(1, MAX_ELEMENTS_RUN // max(self.sizes[:2]))
        numbers = np.linspace(0, total - 1, min(total, room)).astype(np.int64)
        rows = np.stack(np.unravel_index(numbers, [*limits, 1]), axis=1)[:, :-1].astype(np.int64)
        seen = np.asarray([[point.get(node.name, 0) for node in self.nodes] for point in self.seen], dtype=np.int64)
        if self.nodes:
            rows = np.unique(np.concatenate([rows, seen.reshape(-1, len(limits))]), axis=0)
        return rows, total <= room

    @cached_property
    def rows(self) -> Array:
        """The rows that run, a column for each variable."""
        return self._chosen[0]

    def _window(self, base: int) -> tuple[int, int]:
        """The first address of the shared memory that this needs, and its bytes."""
        read, wanted, _ = self.predicted(base)
        low, high = min(read.min(), wanted.min()), max(read.max(), wanted.max())
        begin = int(low) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        return begin, -(-(int(high) + 16 - begin) // 16) * 16

    def _why_untouched(self, base: int) -> str:
        if not self.predicted(base)[2]:
            return "an address is misaligned"
        _, size = self._window(base)
        room = self.room_bytes - ALIGNMENT_BYTES - OTHER_BYTES
        return f"the elements reach over {size} bytes; a block has {room}" if size > room else ""

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """One launch for each base."""
        if self.not_run or not len(self.rows):
            return ()
        found: list[Launch] = []
        for base in self.bases:
            touch = not self._why_untouched(base)
            window, size = self._window(base) if touch else (0, 0)
            element, width = self.element
            places, values, threads = self.sizes
            found.append(
                Launch(
                    self.kernel, threads, self.rows.astype(np.uint64), base, window, size + OTHER_BYTES,
                    passes(element, size // width) if touch else 1, touch, places * len(self.rows),
                    values * len(self.rows),
                )
            )  # fmt: skip
        return tuple(found)

    def compare(self, answers: Sequence[DeviceAnswer]) -> Comparison:
        """The answers to `launches` against the definition, element by element."""
        if not self.launches:
            return Comparison(left_out=(self.not_run or "nothing to run",))
        parts = [self._compare(*pair) for pair in zip(self.launches, answers, strict=True)]
        left_out = () if self._chosen[1] else (f"run in part: {len(self.rows)} rows, chosen from more",)
        return Comparison.of([*parts, Comparison(left_out=left_out)])

    def _compare(self, launch: Launch, answer: DeviceAnswer) -> Comparison:
        if answer.status:
            return Comparison.failed(answer.status)
        read, wanted, _ = self.predicted(launch.base)
        parts = [self._differing(launch, wanted, answer.places.astype(np.int64).reshape(wanted.shape), "should be")]
        if not launch.touch:
            return Comparison.of([*parts, Comparison(left_out=(f"not run: {self._why_untouched(launch.base)}",))])
        if lacks_instruction(answer):
            return Comparison.of([*parts, Comparison(left_out=("not run: this device has no such instruction",))])
        found, strays = self.found(launch, self._numbers(answer.values))
        parts.append(self._differing(launch, read, found, "is read"))
        if strays:
            parts.append(Comparison(differing=strays, differences=(f"{strays} elements come from nowhere",)))
        return Comparison.of(parts)

    def _differing(self, launch: Launch, model: Array, device: Array, what: str) -> Comparison:
        wrong = np.argwhere(model != device)
        texts = tuple(
            f"{self.where(launch, int(at[0]))}, element {at[1:].tolist()}: the model says that it {what} at "
            f"{model[tuple(at)]}, the device {device[tuple(at)]}"
            for at in wrong[:MAX_SHOWN]
        )
        return Comparison(model.size, 0, len(wrong), texts)

    def _numbers(self, values: Words) -> Array:
        """The numbers of places, from the digits of all passes; 0 is none."""
        bits = DIGIT_BITS[self.element[0]]
        total = np.zeros(values.shape[1], dtype=np.int64)
        for index, digits in enumerate(values.astype(np.int64)):
            total |= digits << (bits * index)
        return total.reshape(len(self.rows), -1)

    def address(self, launch: Launch, numbers: Array) -> Array:
        """The addresses of places by their numbers; -1 of none."""
        return np.where(numbers > 0, launch.window + (numbers - 1) * self.element[1], -1)

    def where(self, launch: Launch, row: int) -> str:
        """A row in words."""
        point = {node.name: int(value) for node, value in zip(self.nodes, self.rows[row], strict=True)}
        return binding_text({**point, self.base_name[0]: launch.base})

    def sides(self, answers: Sequence[DeviceAnswer]) -> Iterator[tuple[Places, Places]]:
        """Where the device read each element and where it has what should be read, at each base."""
        for launch, answer in zip(self.launches, answers, strict=True):
            if launch.touch and not answer.status and not lacks_instruction(answer):
                read, _ = self.found(launch, self._numbers(answer.values))
                wanted = answer.places.astype(np.int64).reshape(read.shape)
                yield Places(8 * read, 8 * self.element[1]), Places(8 * wanted, 8 * self.element[1])


def lacks_instruction(answer: DeviceAnswer) -> bool:
    """Whether the kernel was compiled for a target without the instruction."""
    return bool(answer.values.size and answer.values.flat[0] == NO_INSTRUCTION)


@dataclass(frozen=True, eq=False, kw_only=True)
class OperandRun(ProductRun):
    """An operand that wgmma reads through a descriptor."""

    points: OperandPoints

    @property
    def source(self) -> str:
        """The kernel."""
        return "" if self.not_run else operand_kernel(self.kernel, self.points)

    @property
    def not_run(self) -> str:
        """Why it cannot run: another instruction than wgmma."""
        family = self.points.operand.instruction.family
        return "" if family is Family.WGMMA else f"not run: no kernel here runs {family.value}"

    @property
    def nodes(self) -> tuple[Var, ...]:
        """The loops."""
        return operand_rows(self.points)

    @property
    def base_name(self) -> tuple[str, int]:
        """The common base of operand and tile."""
        return self.points.places[0].name, self.points.places[0].count

    @property
    def element(self) -> tuple[str, int]:
        """The type of an element, and its bytes."""
        return self.points.operand.instruction.element, self.points.operand.element_bytes

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The elements, twice; a warp group."""
        count = self.points.operand.rows * self.points.operand.columns
        return count, count, WARP_GROUP

    def predicted(self, base: int) -> tuple[Array, Array, bool]:
        """By the plain definition."""
        points, operand = self.points, self.points.operand
        arrays = {node.name: self.rows[:, [i], None] for i, node in enumerate(self.nodes)}
        arrays[points.places[0].name] = np.full((1, 1, 1), base, dtype=np.int64)
        arrays[MN] = np.arange(operand.rows, dtype=np.int64)[None, :, None]
        arrays[K] = np.arange(operand.columns, dtype=np.int64)[None, None, :]
        own, of_tile = points.bases_at(arrays)
        shape = (len(self.rows), operand.rows, operand.columns)
        aligned = bool((operand.starts(arrays, own) % 16 == 0).all())
        read = np.broadcast_to(operand.reads(arrays, own), shape)
        return read, np.broadcast_to(points.wanted(arrays, of_tile), shape), aligned

    def found(self, launch: Launch, numbers: Array) -> tuple[Array, int]:
        """The addresses, in rows and columns of the operand."""
        operand = self.points.operand
        return self.address(launch, numbers).reshape(-1, operand.rows, operand.columns), 0


@dataclass(frozen=True, eq=False, kw_only=True)
class FragmentRun(ProductRun):
    """An access that loads a fragment of mma.sync."""

    points: FragmentPoints

    @property
    def source(self) -> str:
        """The kernel."""
        return fragment_kernel(self.kernel, self.points)

    @property
    def nodes(self) -> tuple[Var, ...]:
        """Loops and stage."""
        return row_variables(self.points.access)

    @property
    def base_name(self) -> tuple[str, int]:
        """The base of the access."""
        return self.points.access.origin.name, self.points.access.origin.count

    @property
    def element(self) -> tuple[str, int]:
        """The type of an element, and its bytes."""
        return self.points.fragment.mma.element, self.points.element_bytes

    @property
    def _counts(self) -> tuple[int, int, int]:
        """Warps, lanes with an address, elements of a lane's range."""
        access = self.points.access
        return access.warps, access.instruction.address_lanes, self.points.count

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The elements that are loaded; those of the fragment, once for each register of the load; the threads."""
        access, mma = self.points.access, self.points.fragment.mma
        elements = mma.rows(self.points.fragment.role) * mma.k
        return prod(self._counts), access.warps * register_words(access.instruction) * elements, access.threads

    @cached_property
    def rows(self) -> Array:
        """The rows that run, without those assumed away."""
        rows = self._chosen[0]
        if not len(rows):
            return rows
        exists = self.points.elements(self._arrays(rows, self.bases[0])).exists
        shape = (len(rows), *self._counts)
        return rows[np.broadcast_to(exists, shape).all(axis=(1, 2, 3))]

    def _arrays(self, rows: Array, base: int) -> dict[str, Array]:
        warps, lanes, count = self._counts
        free = {node.name: rows[:, [i], None, None] for i, node in enumerate(self.nodes)}
        free[self.base_name[0]] = np.full((1, 1, 1, 1), base, dtype=np.int64)
        free[WARP] = np.arange(warps, dtype=np.int64)[None, :, None, None]
        free[LANE] = np.arange(lanes, dtype=np.int64)[None, None, :, None]
        return {**free, self.points.element.name: np.arange(count, dtype=np.int64)[None, None, None, :]}

    def predicted(self, base: int) -> tuple[Array, Array, bool]:
        """By the plain definition."""
        arrays = self._arrays(self.rows, base)
        found, shape = self.points.elements(arrays), (len(self.rows), *self._counts)
        read = np.broadcast_to(found.read, shape) * 1
        aligned = bool((read[..., 0] % self.points.access.instruction.width_bytes == 0).all())
        return read, np.broadcast_to(found.wanted, shape), aligned

    def found(self, launch: Launch, numbers: Array) -> tuple[Array, int]:
        """The addresses, in warps, lanes and elements of a lane's range."""
        points, (warps, lanes, count) = self.points, self._counts
        mma, role, access = points.fragment.mma, points.fragment.role, points.access
        words = register_words(access.instruction)
        held = numbers.reshape(len(self.rows), warps, words, mma.rows(role) * mma.k)
        at = np.arange(count, dtype=np.int64)[None, :] * points.element_bytes
        lands = landing(access.instruction, np.arange(lanes, dtype=np.int64)[:, None], at, points.element_bytes)
        shape = (len(self.rows), warps, lanes, count)
        register = np.broadcast_to(points.fragment_registers(self._arrays(self.rows, launch.base)), shape)
        place = mma.row(role, lands.lane, register) * mma.k + mma.column(role, lands.lane, register, lands.part)
        row, warp = np.ogrid[: len(self.rows), :warps]
        own = held[row[..., None, None], warp[..., None, None], np.broadcast_to(lands.register, shape), place]
        return self.address(launch, own), int((held > 0).sum()) - int((own > 0).sum())
