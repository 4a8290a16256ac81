"""What the tensor core multiplies in a run: the address in global memory of each element of A and B.

Global memory holds tags: each byte says where it is. A run sees 8 bits of each tag, so there are several runs with
different bits, and bits that check the others: a byte that was computed, and not copied, has no tag. The first run
knows nothing of what global memory holds. If it comes to its end, no address and no branch depends on that, so all
runs do the same.

Source: docs/semantics.md, section 9, "Elements in a run".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

import numpy as np

from swzverify.compiled.kernel.effects import written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Address, Function, Immediate, Instruction, Module, Operand, Vector
from swzverify.compiled.trial.clocked import Clocked
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.launch import Buffer, Data, Launch
from swzverify.compiled.trial.memory import BUFFER_BASE, BUFFER_STEP, SHARED_WINDOW, Array, Bytes, Mask
from swzverify.compiled.trial.products import places_of
from swzverify.compiled.trial.recorder import Recorder
from swzverify.errors import SwzError
from swzverify.hardware import LANES, capability_of
from swzverify.hardware.fragments import find_mma, fragment_elements
from swzverify.hardware.tensor_cores import OperandRole, find_tensor_instruction

NO_TAG: Final = -1
"""An element that is no copy of an element in global memory."""
NO_PRODUCT: Final = -1
BUFFER_BITS: Final = 22
_PLACE_BITS: Final = 27
_MOST_BUFFERS: Final = 8
"""Pointers of a kernel: each costs as much as some thousand instructions."""
_PLANES: Final = 5
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_MARK: Final = 0x5A000000
"""The sums of the first product; nothing else in a kernel should be such a number."""
_GROUP: Final = 4
"""Warps of a warpgroup."""
_NOBODY: Final = frozenset({((-1, -1), (-2, -1))})
"""Accesses that no thread makes: no race is looked for."""
_ROW_BYTES: Final = 16
_COPIES: Final = frozenset({"mov", "ld", "st", "shfl"})
"""Instructions whose results hold sums if what they read does."""


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """One product of one warp, or of one warpgroup.

    Attributes:
        line: The line of the PTX.
        warp: The warp, or the first one of the warpgroup.
        before: The number of the product whose results it was added to; -1 if there is none, or it is not known.
        a: The address of each element of A, by row and column of K; `NO_TAG` where it has none.
        b: The same of B, by column of N and column of K. The array of an operand that is not followed has shape (1, 1).
    """

    line: int
    warp: int
    before: int
    a: Array
    b: Array


@dataclass(slots=True)
class _Seen:
    """A product as one run sees it: some bits of each byte of its elements, and which bytes are known."""

    line: int
    warp: int
    before: int
    parts: list[tuple[Bytes, Mask]] = field(default_factory=list[tuple[Bytes, Mask]])


@dataclass(frozen=True, slots=True)
class _Tags(Buffer):
    """A buffer whose bytes hold some bits of their tags."""

    number: int = 0
    plane: int | None = None

    @property
    def content(self) -> Bytes:
        """Its bytes."""
        if self.plane is None:
            return np.zeros(1 << BUFFER_BITS, dtype=np.uint8)
        places = np.arange(1 << BUFFER_BITS, dtype=np.uint64) + np.uint64((self.number + 1) << BUFFER_BITS)
        return (_tags(places) >> np.uint64(8 * self.plane) & np.uint64(255)).astype(np.uint8)


def _tags(places: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """The tags of places: the bits of a place, and behind them bits that check them."""
    check = places * _SPREAD >> np.uint64(64 - 8 * _PLANES + _PLACE_BITS)
    return places | check << np.uint64(_PLACE_BITS)


def products_of(module: Module, function: Function, launch: Launch, most_steps: int) -> list[Product]:
    """What one block of a launch multiplies; nothing if that is not known, may depend on data, or is one product."""
    if len(launch.buffers) > _MOST_BUFFERS:
        return []
    runs: list[list[_Seen]] = []
    for plane in (None, *range(_PLANES)):
        buffers = tuple(_Tags(Data.ZERO, 0, (), at, plane) for at in range(len(launch.buffers)))
        machine = _Tagged(module, function, replace(launch, buffers=buffers), most_steps, is_known=plane is not None)
        machine.run()
        machine.memory.release()
        if machine.stopped or machine.recorder.lost or len(machine.made) < 2:
            return []
        runs.append(machine.made)
    alike = [[(each.line, each.warp, len(each.parts)) for each in run] for run in runs]
    orders = [[each.before for each in run] for run in runs[1:]]
    if any(each != alike[0] for each in alike) or any(each != orders[0] for each in orders):
        return []
    found: list[Product] = []
    for same in zip(*runs[1:], strict=True):
        a, b = (_places([each.parts[at] for each in same]) for at in (0, 1))
        found.append(Product(same[0].line, same[0].warp, same[0].before, a, b))
    return found


def _places(planes: Sequence[tuple[Bytes, Mask]]) -> Array:
    """The place of each element, whose bytes have to be successive bytes of global memory."""
    tags = np.zeros(planes[0][0].shape, dtype=np.uint64)
    known = np.ones(tags.shape, dtype=np.bool_)
    for at, (values, of_plane) in enumerate(planes):
        tags |= values.astype(np.uint64) << np.uint64(8 * at)
        known &= of_plane
    places = tags & np.uint64((1 << _PLACE_BITS) - 1)
    known &= (_tags(places) == tags) & (places >> np.uint64(BUFFER_BITS) != 0)
    found: Array = places.astype(np.int64)
    first: Array = found[..., :1]
    steps: Array = np.arange(found.shape[-1], dtype=np.int64)
    follow: Mask = np.equal(found, first + steps)
    whole: Mask = known.all(axis=-1) & follow.all(axis=-1)
    return np.where(whole, found[..., 0], NO_TAG)


class _Tagged(Clocked):
    """One block, which keeps what it multiplies; with `is_known` global memory is known."""

    def __init__(self, module: Module, function: Function, launch: Launch, most_steps: int, *, is_known: bool) -> None:
        super().__init__(module, function, launch, most_steps, _NOBODY)
        self.made: list[_Seen] = []
        self.recorder = _Code(self.lanes, self.memory, self.history, self._grant, capability_of(module.target))
        self.recorder.made, self.recorder.is_known, self.recorder.newest = self.made, is_known, {}
        self.code = self.recorder
        if not is_known:
            for at in range(len(launch.buffers)):
                begin = BUFFER_BASE + at * BUFFER_STEP
                places = np.arange(begin, begin + (1 << BUFFER_BITS), 8)
                nothing = np.zeros(len(places), dtype=np.int64)
                self.memory.store(places, nothing, 8, nothing, nothing != 0)


class _Code(Recorder):
    """Runs loads of matrices and products."""

    made: list[_Seen]
    is_known: bool
    newest: dict[int, int]

    def _do(self, instruction: Instruction, active: Mask) -> None:
        name = base_name(instruction)
        numbers = dict[int, int]()
        if name == "mma" or (name == "wgmma" and ".mma_async" in instruction.opcode):
            if not _are_together(active, LANES * (_GROUP if name == "wgmma" else 1)):
                raise EndError("some threads of a warp or a warpgroup take part in a product, and others do not")
            warps: list[int] = np.flatnonzero(active.reshape(-1, LANES).any(axis=1)).tolist()
            numbers = {warp: self._multiply(instruction, warp) for warp in warps}
        super()._do(instruction, active)
        if name == "ldmatrix":
            self._load_matrices(instruction, active)
        for warp, number in numbers.items():
            self._mark(instruction.operands[0], warp, number)
        if not numbers and name not in _COPIES:
            self._unmark(instruction, active)

    def _unmark(self, instruction: Instruction, active: Mask) -> None:
        """A result that was computed, and not copied, is no sum of products, also if it is the same number."""
        for target in written(instruction):
            values, known = self._lanes.read(target, 32)
            marks = active & known & (values >= _MARK) & (values < _MARK + len(self.made))
            if marks.any():
                self._lanes.write(target, values, np.zeros_like(known), marks)

    def _load_matrices(self, instruction: Instruction, active: Mask) -> None:
        words = instruction.opcode.split(".")
        if "m8n8" not in words or words[-1] != "b16":
            return
        count = next((int(each[1:]) for each in words if each in ("x1", "x2", "x4")), 1)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        places, known = self._generic(instruction, *self._place(address))
        targets = written(instruction)
        for warp in np.flatnonzero(active.reshape(-1, LANES).all(axis=1)).tolist():
            lanes = slice(warp * LANES, (warp + 1) * LANES)
            mine, here = np.zeros_like(active), np.arange(warp * LANES, (warp + 1) * LANES)
            mine[lanes] = True
            for at, target in enumerate(targets[:count]):
                rows = places[here[8 * at : 8 * at + 8]]
                if not known[here[8 * at : 8 * at + 8]].all():
                    continue
                halves = rows[:, None] + np.arange(0, _ROW_BYTES, 2)
                owner = np.full(64, warp * LANES)
                values, sure = self._memory.load(halves.reshape(-1), owner, 2)
                cells, of_cells = values.reshape(8, 8), sure.reshape(8, 8)
                if "trans" in words:
                    cells, of_cells = cells.T, of_cells.T
                pairs, both = cells.reshape(32, 2), of_cells.reshape(32, 2).all(axis=1)
                whole, is_sure = np.zeros(len(active), dtype=np.int64), np.zeros_like(active)
                whole[lanes], is_sure[lanes] = pairs[:, 0] | pairs[:, 1] << 16, both
                self._lanes.write(target, whole, is_sure, mine)

    def _multiply(self, instruction: Instruction, warp: int) -> int:
        """Keep what a warp multiplies, or the warpgroup of which it is the first warp; the number of the product."""
        is_group = base_name(instruction) == "wgmma"
        if ".sp" in instruction.opcode or _has_negative(instruction):
            raise EndError("a product is not followed")
        if is_group and warp % _GROUP:
            return self.newest[warp // _GROUP]
        lanes, number = slice(warp * LANES, (warp + 1) * LANES), len(self.made)
        before = self._sums(instruction, lanes, is_group=is_group)
        seen = _Seen(instruction.line, warp, before)
        self.made.append(seen)
        seen.parts = self._operands(instruction, warp, is_group=is_group)
        if is_group:
            self.newest[warp // _GROUP] = number
        return number

    def _mark(self, target: Operand, warp: int, number: int) -> None:
        """Let the results of a product be its number."""
        mine = np.zeros(self._lanes.threads, dtype=np.bool_)
        mine[warp * LANES : (warp + 1) * LANES] = True
        marks = np.full(self._lanes.threads, _MARK + number, dtype=np.int64)
        for each in target.items if isinstance(target, Vector) else (target,):
            self._lanes.write(each, marks, np.full(len(mine), self.is_known), mine)

    def _sums(self, instruction: Instruction, lanes: slice, *, is_group: bool) -> int:
        """The product to whose results an instruction adds; -1 if there is none, or it is not known."""
        operands = instruction.operands
        sums = operands[0] if is_group else operands[3]
        if is_group:
            goes_on, known = self._lanes.read(operands[3], 1)
            if not (known[lanes].all() and (goes_on[lanes] != 0).all()):
                return NO_PRODUCT
        numbers = set[int]()
        for each in sums.items if isinstance(sums, Vector) else (sums,):
            values, known = self._lanes.read(each, 32)
            if not known[lanes].all():
                return NO_PRODUCT
            numbers.update(values[lanes].tolist())
        number = numbers.pop() - _MARK if len(numbers) == 1 else -1
        return number if 0 <= number < len(self.made) else NO_PRODUCT

    def _operands(self, instruction: Instruction, warp: int, *, is_group: bool) -> list[tuple[Bytes, Mask]]:
        return [
            self._of_registers(instruction, role, operand, warp)
            if isinstance(operand, Vector) or not is_group
            else self._of_memory(instruction, role, operand, warp)
            for role, operand in zip(OperandRole, instruction.operands[1:3], strict=True)
        ]

    def _of_memory(
        self, instruction: Instruction, role: OperandRole, operand: Operand, warp: int
    ) -> tuple[Bytes, Mask]:
        values, _ = self._lanes.read(operand, 64)
        size = find_tensor_instruction(instruction.opcode).element_bytes
        places = places_of(instruction, role, int(values[warp * LANES]) % (1 << 64))
        bytes_ = (places[..., None] + np.arange(size)).reshape(-1) + SHARED_WINDOW
        found, known = self._memory.load(bytes_, np.full(len(bytes_), warp * LANES), 1)
        shape = (*places.shape, size)
        return found.astype(np.uint8).reshape(shape), known.reshape(shape)

    def _of_registers(
        self, instruction: Instruction, role: OperandRole, operand: Operand, warp: int
    ) -> tuple[Bytes, Mask]:
        nothing = np.zeros((1, 1, 1), dtype=np.uint8)
        if base_name(instruction) == "wgmma":
            return nothing, nothing != 0
        try:
            row = find_mma(instruction.opcode.replace(".satfinite", ""))
        except SwzError:
            return nothing, nothing != 0
        lanes = slice(warp * LANES, (warp + 1) * LANES)
        items = operand.items if isinstance(operand, Vector) else (operand,)
        read = [self._lanes.read(each, 32) for each in items]
        words = np.stack([values[lanes] for values, _ in read], axis=1).astype(np.uint32)
        known = np.stack([of_this[lanes] for _, of_this in read], axis=1)
        size, shape = row.element_bytes, (row.rows(role.value), row.k, row.element_bytes)
        raw = words[..., None].view(np.uint8).reshape(LANES, len(items), -1, size)
        at = _elements(instruction.opcode.replace(".satfinite", ""), role.value)
        found, sure = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.bool_)
        found[at[..., 0], at[..., 1]] = raw
        sure[at[..., 0], at[..., 1]] = known[..., None, None]
        return found, sure


def _has_negative(instruction: Instruction) -> bool:
    """Whether `wgmma` negates an operand."""
    return any(isinstance(each, Immediate) and each.value != 1 for each in instruction.operands[4:6])


@cache
def _elements(name: str, role: str) -> Array:
    return fragment_elements(name, role)


def _are_together(active: Mask, size: int) -> bool:
    """Whether of each so many threads in a row all are active, or none is."""
    if len(active) % size:
        return False
    groups = active.reshape(-1, size)
    return bool((groups.any(axis=1) == groups.all(axis=1)).all())
