"""The instructions of a run, told to a history of its accesses to shared memory.

Source: PTX ISA, Data Movement and Conversion Instructions. The manual does not say which lane reads a row
of a matrix; it is taken to be the lane that gives the row's address.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from swzverify.compiled.kernel.effects import written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Immediate, Instruction, Vector, size_of_type
from swzverify.compiled.trial.code import Code, EndError
from swzverify.compiled.trial.history import Effect, History
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, Bytes, Mask, Memory
from swzverify.compiled.trial.placement import SHARED_BEGIN
from swzverify.hardware import LANES, Kind

_STRONG: Final = frozenset({"acquire", "release", "acq_rel", "relaxed"})
_MATRICES: Final = re.compile(r"(\w+)\.sync\.aligned\.m8n8\.x([124])(?:\.trans)?\.(?:shared(?:::cta)?\.)?b16")
_MOVERS: Final = {kind.value: Effect.READ if kind.loads else Effect.WRITE for kind in Kind if kind.moves_matrices}
_ROW_BYTES: Final = 16


class Recorder(Code):
    """Code that tells a history of the accesses to shared memory and of the waits for copies.

    `touched` has the threads that made each access, and `lost` the first access that is not in the history.
    """

    def __init__(self, lanes: Lanes, memory: Memory, history: History) -> None:
        super().__init__(lanes, memory, self._record)
        self._history = history
        self.touched: dict[int, Mask] = {}
        self.lost = ""

    def _do(self, instruction: Instruction, active: Mask) -> None:
        words = instruction.opcode.split(".")
        if words[0] in ("wgmma", "tcgen05"):
            raise EndError(f"`{instruction.opcode}` is not followed")
        if words[:2] == ["cp", "async"] and words[2:] and words[2] in ("commit_group", "wait_group", "wait_all"):
            if words[2] != "wait_group":
                self._history.commit(active)
            if words[2] != "commit_group":
                left = instruction.operands[0] if instruction.operands else Immediate(0)
                if not isinstance(left, Immediate):
                    raise EndError("how many copies may be in flight is not known")
                self._history.wait_for_copies(active, left.value)
        super()._do(instruction, active)

    def _record(self, instruction: Instruction, addresses: Array | None, active: Mask) -> None:
        if addresses is None:
            self.lost = self.lost or f"line {instruction.line}: some addresses are not known"
            return
        effect, width = _touched(instruction)
        if (rows := _MATRICES.fullmatch(instruction.opcode)) is not None:
            active = active & (np.arange(len(active)) % LANES < 8 * int(rows[2]))
        threads = np.flatnonzero(active)
        self.touched[instruction.index] = active | self.touched.get(instruction.index, False)
        values = self._written(instruction, threads) if effect is Effect.WRITE else None
        if not self._history.access(
            instruction.line, effect, threads, addresses[threads] - SHARED_BEGIN, width, values
        ):
            raise EndError("there are too many accesses between two barriers")

    def _written(self, instruction: Instruction, threads: Array) -> Bytes | None:
        """The bytes that a store writes; None if some are not known."""
        size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
        source = instruction.operands[-1]
        parts: list[Bytes] = []
        for item in source.items if isinstance(source, Vector) else (source,):
            if base_name(instruction) != "st" or not 0 < size <= 8:
                return None
            values, known = self._lanes.read(item, 8 * size)
            if not known[threads].all():
                return None
            parts.append(np.ascontiguousarray(values[threads]).view(np.uint8).reshape(-1, 8)[:, :size])
        return np.concatenate(parts, axis=1)


def _touched(instruction: Instruction) -> tuple[Effect, int]:
    """What an instruction does to shared memory, and the bytes that it touches from the address of a lane on.

    Raises:
        EndError: It is not known, or it orders other accesses.
    """
    name, words = base_name(instruction), instruction.opcode.split(".")
    size = size_of_type(words[-1]) or 0
    is_strong = bool(_STRONG & {*words[1:]})
    if name in ("atom", "red") and size and not is_strong | ("async" in words):
        return Effect.ATOMIC, size
    if name in ("ld", "ldu") and size and not is_strong:
        return Effect.READ, size * len(written(instruction))
    if name == "st" and size and not is_strong and "async" not in words:
        source = instruction.operands[-1]
        return Effect.WRITE, size * (len(source.items) if isinstance(source, Vector) else 1)
    if name == "cp" and len(instruction.operands) > 2 and isinstance(copied := instruction.operands[2], Immediate):
        return Effect.COPY, copied.value
    if name in _MOVERS and _MATRICES.fullmatch(instruction.opcode):
        return _MOVERS[name], _ROW_BYTES
    raise EndError(f"`{instruction.opcode}` is not followed")
