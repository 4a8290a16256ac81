"""The instructions of a run, told to a history of its accesses to shared memory.

Source: PTX ISA, Data Movement and Conversion Instructions. The manual does not say which lane reads a row
of a matrix; it is taken to be the lane that gives the row's address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import numpy as np

from swzverify.compiled.kernel.bulk import ends_of
from swzverify.compiled.kernel.effects import written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Address, Immediate, Instruction, Vector, size_of_type
from swzverify.compiled.trial.bulk import BulkCopies
from swzverify.compiled.trial.code import Code, EndError
from swzverify.compiled.trial.flags import STRONG, Flags, is_fence, strong_of
from swzverify.compiled.trial.fragments import is_in_memory, pieces
from swzverify.compiled.trial.history import Accesses, History
from swzverify.compiled.trial.lanes import Lanes, cut
from swzverify.compiled.trial.memory import SHARED_WINDOW, Array, Bytes, Mask, Memory
from swzverify.compiled.trial.objects import OBJECT_BYTES, Objects
from swzverify.compiled.trial.placement import SHARED_BEGIN
from swzverify.compiled.trial.products import Products
from swzverify.compiled.trial.touches import Effect
from swzverify.hardware import LANES, Kind

_MATRICES: Final = re.compile(r"(\w+)\.sync\.aligned\.m8n8\.x([124])(?:\.trans)?\.(?:shared(?:::cta)?\.)?b16")
_MOVERS: Final = {kind.value: Effect.READ if kind.loads else Effect.WRITE for kind in Kind if kind.moves_matrices}
_ROW_BYTES: Final = 16
_PROXY_FENCE: Final = re.compile(r"fence\.proxy\.async(?:\.shared::(?:cta|cluster)|::generic\..*)?")
_OBJECT: Final = re.compile(r"mbarrier\.(?!pending_count).*|cp\.async\.mbarrier\..*")
_OF_OBJECTS: Final[Mapping[str, Effect]] = {
    "init": Effect.CHANGE,
    "inval": Effect.CHANGE,
    "test_wait": Effect.STRONG_READ,
    "try_wait": Effect.STRONG_READ,
}
_BULK: Final = re.compile(r"cp\.(?:reduce\.)?async\.bulk\b.*")
_GROUPS: Final = re.compile(r"cp\.async\.(bulk\.)?(commit_group|wait_group|wait_all)(?:\.read)?")
_CHANGING: Final = frozenset(
    {"st", "red", "cp", "mbarrier"} | {name for name, each in _MOVERS.items() if each > Effect.OPERAND}
)
"""Opcodes that may change what other threads see. An atomic counts if it changes a word."""


def is_transposed(opcode: str) -> bool:
    """Whether an instruction moves matrices by columns."""
    return "trans" in opcode.split(".")


@cache
def uses_async_proxy(opcode: str) -> bool:
    """Whether an instruction accesses shared memory through the async proxy."""
    return _BULK.fullmatch(opcode) is not None or opcode.startswith("wgmma.mma_async")


class Recorder(Code):
    """Code that tells a history of the accesses to shared memory, and of what orders them.

    `touched` has the threads that made each access, and `lost` the first access that is not in the history.
    `changes` counts what may have changed for threads that ask again and again.
    """

    def __init__(
        self,
        lanes: Lanes,
        memory: Memory,
        history: History,
        on_phase: Callable[[int], None],
        capability: int | None,
        *,
        follows_boxes: bool = False,
    ) -> None:
        super().__init__(lanes, memory, self._record)
        self._history, self._capability = history, capability
        self.objects = Objects(lanes, history, on_phase)
        self._products = Products(lanes, history)
        self._flags = Flags(history)
        self._bulk = BulkCopies(lanes, memory, history, self.objects, self._place, follows_boxes=follows_boxes)
        self.touched: dict[int, Mask] = {}
        self.lost = ""
        self.changes = 0
        self._last: Accesses | None = None

    def places(self, instruction: Instruction, active: Mask) -> Array:
        """The generic addresses that threads access; the history has the access."""
        found, sure = self._reached(instruction, active)
        if (active & ~sure).any():
            raise EndError("an address is not known")
        return found

    def asked(self, instruction: Instruction, active: Mask) -> Array:
        """The generic addresses of a strong access that threads are about to make."""
        operand = next(each for each in instruction.operands if isinstance(each, Address))
        found, known = self._generic(instruction, *self._place(operand))
        if (active & ~known).any():
            raise EndError("an address is not known", np.flatnonzero(active & ~known))
        return found

    def _do(self, instruction: Instruction, active: Mask) -> None:
        opcode, name = instruction.opcode, base_name(instruction)
        threads = np.flatnonzero(active)
        if name in _CHANGING:
            self.changes += 1
        if name in ("tcgen05", "call") or (name == "mbarrier" and not _OBJECT.fullmatch(opcode)):
            raise EndError(f"`{opcode}` is not followed")
        if (group := _GROUPS.fullmatch(opcode)) is not None:
            self._group(instruction, active, Effect.BULK_READ if group[1] else Effect.COPY)
        elif _PROXY_FENCE.fullmatch(opcode):
            self._history.fence_proxy(threads)
        elif is_fence(opcode):
            self._flags.fence(threads)
        elif _OBJECT.fullmatch(opcode):
            places = self.places(instruction, active)
            if ".init." in opcode:
                nothing = np.zeros(len(threads), dtype=np.int64)
                self._memory.store(places[threads], threads, OBJECT_BYTES, nothing, nothing != 0)
            self.objects.run(instruction, places, active)
        elif _BULK.fullmatch(opcode):
            self._bulk.run(instruction, active)
        elif name == "mapa":
            self._map(instruction, active)
        elif name == "wgmma":
            self._products.run(instruction, active)
            if instruction.operands and not isinstance(instruction.operands[0], Immediate):
                super()._do(instruction, active)
        elif is_in_memory(opcode):
            self._fragment(instruction, active)
        elif name == "tensormap":
            self._tensor_map(instruction, active)
        elif (strong := strong_of(opcode)) is not None:
            places = self.asked(instruction, active)
            before = self._words(instruction, places, threads) if name == "atom" else None
            super()._do(instruction, active)
            if before is not None:
                self.changes += before != self._words(instruction, places, threads)
            self._flags.access(strong, threads, places)
        else:
            super()._do(instruction, active)
            if name == "cp" and self._last is not None:
                self._note_copied(self._last)

    def _fragment(self, instruction: Instruction, active: Mask) -> None:
        """A fragment that a warp reads or writes: nothing is known of its elements."""
        for target in written(instruction):
            self._lanes.forget(target, active)
        starts = self._places(instruction, active)[0]
        effect = Effect.WRITE if instruction.opcode.startswith("wmma.store") else Effect.READ
        for places, here, width in pieces(instruction, self._capability, self._lanes, starts, active):
            self._touch_at(instruction, effect, places, here, width)

    def _tensor_map(self, instruction: Instruction, active: Mask) -> None:
        """A tensor map that threads change, or copy from shared to global memory: nothing is known of its fields."""
        places = self._places(instruction, active)
        for effect, each in zip((Effect.CHANGE, Effect.READ), places, strict=False):
            self._touch_at(instruction, effect, each, active, ends_of(instruction.opcode)[0].size_bytes)

    def _places(self, instruction: Instruction, active: Mask) -> list[Array]:
        """The generic addresses of an instruction, in the order of its operands.

        The space of the instruction is that of the last one; one before it is an address of global memory.
        """
        operands = [each for each in instruction.operands if isinstance(each, Address)]
        found = [self._place(each) for each in operands]
        if (lost := active & ~np.logical_and.reduce([known for _, known in found])).any():
            raise EndError("an address is not known", np.flatnonzero(lost))
        is_shared = "shared" in {word.partition("::")[0] for word in instruction.opcode.split(".")}
        return [
            *(place for place, _ in found[:-1]),
            cut(found[-1][0], 32) + SHARED_WINDOW if is_shared else found[-1][0],
        ]

    def _touch_at(self, instruction: Instruction, effect: Effect, places: Array, here: Mask, width: int) -> None:
        """Threads touch bytes at generic addresses; nothing is known of what they write."""
        threads = np.flatnonzero(here)
        self._memory.reach(places[threads], threads, width)
        shared = here & (places >= SHARED_WINDOW) & (places < 2 * SHARED_WINDOW)
        if shared.any():
            self._touch(instruction, effect, places - SHARED_WINDOW, shared, width)
        if effect is not Effect.READ:
            self.changes += 1
            nothing = np.zeros(len(threads), dtype=np.int64)
            for at in range(0, width, 8):
                self._memory.store(places[threads] + at, threads, min(8, width - at), nothing, nothing != 0)

    def _note_copied(self, access: Accesses) -> None:
        """The bytes that a copy of each thread writes."""
        places = access.starts[:, None] + np.arange(access.width) + SHARED_BEGIN + SHARED_WINDOW
        threads = np.repeat(access.threads, access.width)
        values, known = self._memory.load(places.reshape(-1), threads, 1)
        access.values = values.astype(np.uint8).reshape(places.shape) if known.all() else None

    def _group(self, instruction: Instruction, active: Mask, effect: Effect) -> None:
        """Commit a group of copies, or wait for some."""
        if ".wait_group" not in instruction.opcode:
            self._history.commit(active, effect)
        if ".commit_group" not in instruction.opcode:
            left = instruction.operands[0] if instruction.operands else Immediate(0)
            if not isinstance(left, Immediate):
                raise EndError("how many copies may be in flight is not known")
            self._history.wait_for_copies(active, left.value, effect)

    def _map(self, instruction: Instruction, active: Mask) -> None:
        """An address of the same block, whose rank in its cluster is 0."""
        target, source, rank = instruction.operands[:3]
        width = 64 if instruction.opcode.endswith("64") else 32
        value, known = self._lanes.read(source, width)
        number, of_number = self._lanes.read(rank, 32)
        self._lanes.write(target, value, known & of_number & (number == 0), active)

    def _words(self, instruction: Instruction, places: Array, threads: Array) -> bytes:
        """The words that an atomic is about to change."""
        size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
        if not 0 < size <= 8:
            return b""
        self._memory.reach(places[threads], threads, size)
        return self._memory.load(places[threads], threads, size)[0].tobytes()

    def _record(self, instruction: Instruction, addresses: Array | None, active: Mask, *_: Array | None) -> None:
        if addresses is None:
            self.lost = self.lost or f"line {instruction.line}: some addresses are not known"
            return
        effect, width = _touched(instruction)
        if (rows := _MATRICES.fullmatch(instruction.opcode)) is not None:
            active = active & (np.arange(len(active)) % LANES < 8 * int(rows[2]))
        self._touch(instruction, effect, addresses, active, width)

    def _touch(self, instruction: Instruction, effect: Effect, addresses: Array, active: Mask, width: int) -> None:
        """Tell the history what threads access, from an address in the shared window on."""
        threads = np.flatnonzero(active)
        self.touched[instruction.index] = active | self.touched.get(instruction.index, False)
        values = self._written(instruction, threads) if effect is Effect.WRITE else None
        starts = addresses[threads] - SHARED_BEGIN
        self._last = self._history.access(instruction.line, effect, threads, starts, width, values)
        if self._history.is_full:
            raise EndError("there are too many accesses between two barriers")

    def _written(self, instruction: Instruction, threads: Array) -> Bytes | None:
        """The bytes that a store writes; None if some are not known."""
        size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
        source = instruction.operands[-1]
        if _MATRICES.fullmatch(instruction.opcode):
            return self._rows(instruction, threads)
        parts: list[Bytes] = []
        for item in source.items if isinstance(source, Vector) else (source,):
            if base_name(instruction) != "st" or not 0 < size <= 8:
                return None
            values, known = self._lanes.read(item, 8 * size)
            if not known[threads].all():
                return None
            parts.append(np.ascontiguousarray(values[threads]).view(np.uint8).reshape(-1, 8)[:, :size])
        return np.concatenate(parts, axis=1)

    def _rows(self, instruction: Instruction, threads: Array) -> Bytes | None:
        """The row that each lane writes of a matrix; None if a register of its warp is not known."""
        source = instruction.operands[-1]
        items = source.items if isinstance(source, Vector) else (source,)
        warps = threads // LANES
        rows: list[Bytes] = []
        for item in items:
            values, known = self._lanes.read(item, 32)
            if not (known & self._lanes.exists).reshape(-1, LANES)[warps].all():
                return None
            halves = values.astype(np.uint32).reshape(-1, LANES).view(np.uint16).reshape(-1, 8, 8)
            if is_transposed(instruction.opcode):
                halves = halves.transpose(0, 2, 1)
            rows.append(np.ascontiguousarray(halves).view(np.uint8))
        return np.concatenate(rows, axis=1)[warps, threads % LANES]


def _touched(instruction: Instruction) -> tuple[Effect, int]:
    """What an instruction does to shared memory, and the bytes that it touches from the address of a lane on.

    Raises:
        EndError: It is not known.
    """
    opcode, name = instruction.opcode, base_name(instruction)
    words = opcode.split(".")
    size = size_of_type(words[-1]) or 0
    is_strong = bool(STRONG & {*words[1:]})
    if _OBJECT.fullmatch(opcode):
        return _OF_OBJECTS.get(words[1], Effect.SIGNAL), OBJECT_BYTES
    if "async" in words and name != "cp":
        raise EndError(f"`{opcode}` is not followed")
    if name in ("atom", "red") and size:
        return Effect.ATOMIC, size
    if name in ("ld", "ldu") and size:
        return Effect.STRONG_READ if is_strong else Effect.READ, size * len(written(instruction))
    if name == "st" and size:
        source = instruction.operands[-1]
        width = size * (len(source.items) if isinstance(source, Vector) else 1)
        return Effect.ATOMIC if is_strong else Effect.WRITE, width
    if name == "cp" and len(instruction.operands) > 2 and isinstance(copied := instruction.operands[2], Immediate):
        return Effect.COPY, copied.value
    if name in _MOVERS and _MATRICES.fullmatch(opcode):
        return _MOVERS[name], _ROW_BYTES
    raise EndError(f"`{opcode}` is not followed")
