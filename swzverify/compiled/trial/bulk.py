"""Bulk copies of a run between global and shared memory, each an agent of its own.

A copy into shared memory is in flight until the machine lets it land: then its bytes count at its mbarrier object. One
out of shared memory reads until its thread waits for its group.

Source: PTX ISA, Data Movement and Conversion Instructions: cp.async.bulk, cp.reduce.async.bulk;
docs/semantics.md, section 11.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from swzverify.compiled.kernel.bulk import TENSOR_TO_PHASE
from swzverify.compiled.ptx import Address, Instruction, Operand
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.history import Accesses, History
from swzverify.compiled.trial.lanes import Lanes, cut
from swzverify.compiled.trial.memory import SHARED_WINDOW, Array, FaultError, Mask, Memory
from swzverify.compiled.trial.objects import Landing, Objects
from swzverify.compiled.trial.placement import SHARED_BEGIN
from swzverify.compiled.trial.touches import Effect

_LOAD: Final = re.compile(
    r"cp\.async\.bulk\.shared::(?:cluster|cta)\.global\.mbarrier::complete_tx::bytes(?:\.L2::cache_hint)?"
)
_STORE: Final = re.compile(
    r"cp\.(reduce\.)?async\.bulk\.global\.shared::cta\.bulk_group(?:\.L2::cache_hint)?(?:\.\w+)*"
)
_BOX_STORE: Final = re.compile(
    r"cp\.(?:reduce\.)?async\.bulk\.tensor\.[1-5]d\.global\.shared::cta(?:\.(?!tile::|im2col)\w+)*\.bulk_group"
    r"(?:\.L2::cache_hint)?"
)
_PREFETCH: Final = re.compile(r"cp\.async\.bulk\.prefetch\..*")
_UNIT: Final = 16
"""Addresses and sizes are multiples of it."""
_WORD: Final = 8
_LINE: Final = 128
"""Within each line of so many bytes, a swizzle mode moves what it holds."""
_STILL: Final = 1024
"""At multiples of it, no swizzle mode moves the first bytes of a box."""

Place = Callable[[Address], tuple[Array, Mask]]
"""What an address is for each thread, and where it is known."""


class BulkCopies:
    """Runs bulk copies of the threads of one block; those of boxes of tensor maps only if `follows_boxes`."""

    def __init__(
        self,
        lanes: Lanes,
        memory: Memory,
        history: History,
        objects: Objects,
        place: Place,
        *,
        follows_boxes: bool = False,
    ) -> None:
        self._lanes, self._memory, self._history, self._objects = lanes, memory, history, objects
        self._place, self._follows_boxes = place, follows_boxes

    def run(self, instruction: Instruction, active: Mask) -> None:
        """One instruction, thread by thread.

        Raises:
            EndError: It is not known what it accesses.
            FaultError: It is nothing that a copy may access.
        """
        opcode = instruction.opcode
        if _PREFETCH.fullmatch(opcode):
            return
        if self._follows_boxes and (TENSOR_TO_PHASE.fullmatch(opcode) or _BOX_STORE.fullmatch(opcode)):
            self._run_boxes(instruction, active, is_load=TENSOR_TO_PHASE.fullmatch(opcode) is not None)
            return
        is_load, store = _LOAD.fullmatch(opcode), _STORE.fullmatch(opcode)
        if not (is_load or store) or "cp_mask" in opcode:
            raise EndError(f"`{opcode}` is not followed")
        operands = instruction.operands
        into, source, size = (self._number(each, active) for each in operands[:3])
        for thread in np.flatnonzero(active).tolist():
            count = int(size[thread]) & 0xFFFFFFFF
            shared, outside = (into, source) if is_load else (source, into)
            begin, far = int(cut(shared, 32)[thread]), int(outside[thread])
            if count % _UNIT or begin % _UNIT or far % _UNIT:
                raise FaultError("a bulk copy is not aligned")
            effect = Effect.BULK_WRITE if is_load else Effect.BULK_READ
            starts, mine = np.array([begin - SHARED_BEGIN]), np.array([thread])
            # It may access what it may not: then the launch is at fault, and nothing is told of it.
            words, known = self._read(begin + SHARED_WINDOW if store else far, count, thread)
            values = words.view(np.uint8).reshape(1, count) if is_load and known.all() else None
            access = self._history.access(instruction.line, effect, mine, starts, count, values)
            if is_load:
                place = int(cut(self._number(operands[3], active), 32)[thread]) + SHARED_WINDOW
                land = partial(self._land, far, begin + SHARED_WINDOW, count, thread)
                self._objects.send(Landing(place, count, access, land))
            else:
                self._copy(begin + SHARED_WINDOW, far, count, thread, is_known=not (store and store[1]))
            if self._history.is_full:
                raise EndError("there are too many accesses between two barriers")

    def _run_boxes(self, instruction: Instruction, active: Mask, *, is_load: bool) -> None:
        """Copies of boxes, of which the least is known: docs/semantics.md, section 11, boxes in a run."""
        places = [each for each in instruction.operands if isinstance(each, Address)]
        here, *objects = (cut(self._number(each, active), 32) for each in places)
        for thread in np.flatnonzero(active).tolist():
            begin, access = int(here[thread]), None
            if begin % _STILL == 0:
                effect = Effect.BULK_WRITE if is_load else Effect.BULK_READ
                starts, mine = np.array([begin - SHARED_BEGIN]), np.array([thread])
                access = self._history.access(instruction.line, effect, mine, starts, _UNIT, None)
            if is_load:
                land = partial(self._land_box, instruction.line, begin, thread)
                self._objects.send(Landing(int(objects[0][thread]) + SHARED_WINDOW, None, access, land))
        if self._history.is_full:
            raise EndError("there are too many accesses between two barriers")

    def _land_box(self, line: int, begin: int, thread: int, size: int, is_alone: bool) -> Accesses | None:
        """Some bytes have values that are not known, as far as there are bytes. A box that comes alone has them all."""
        room = self._memory.room(begin + SHARED_WINDOW)
        places = np.arange(begin, begin + min(size, room) // _WORD * _WORD, _WORD) + SHARED_WINDOW
        nothing = np.zeros(len(places), dtype=np.int64)
        self._memory.store(places, np.full(len(places), thread), _WORD, nothing, nothing != 0)
        if not is_alone or size % _LINE or begin % _LINE or size > room:
            return None
        # What is touched in any case is in the history since the issue.
        known = _UNIT if begin % _STILL == 0 else 0
        starts, mine = np.array([begin + known - SHARED_BEGIN]), np.array([thread])
        return self._history.access(line, Effect.BULK_WRITE, mine, starts, size - known, None)

    def _land(self, source: int, into: int, size: int, thread: int, *_: object) -> None:
        self._copy(source, into, size, thread)

    def _number(self, operand: Operand, active: Mask) -> Array:
        values, known = self._place(operand) if isinstance(operand, Address) else self._lanes.read(operand, 32)
        if (active & ~known).any():
            raise EndError("what a bulk copy accesses is not known")
        return values

    def _read(self, begin: int, size: int, thread: int) -> tuple[Array, Mask]:
        places = np.arange(begin, begin + size, _WORD)
        return self._memory.load(places, np.full(len(places), thread), _WORD)

    def _copy(self, source: int, into: int, size: int, thread: int, *, is_known: bool = True) -> None:
        values, known = self._read(source, size, thread)
        places = np.arange(into, into + size, _WORD)
        self._memory.store(places, np.full(len(places), thread), _WORD, values, known & is_known)
