"""Operands of `wgmma` in a run: which bytes a warpgroup reads, and until when.

The four warps of a warpgroup issue an instruction together. The reads begin when all of them have issued it, and
are complete for a thread of the warpgroup behind its own `wgmma.wait_group`: so they are told as those of
the warpgroup's first thread, with what all four warps know.

Source: PTX ISA, Asynchronous Warpgroup Level Matrix Instructions; docs/semantics.md, sections 9 and 11.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from swzverify.compiled.kernel.operands import major_of
from swzverify.compiled.ptx import Immediate, Instruction, Operand, Vector
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.history import History
from swzverify.compiled.trial.knowledge import GROUP
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.compiled.trial.placement import SHARED_BEGIN
from swzverify.compiled.trial.touches import Effect
from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.hardware.tensor_cores import WGMMA_FIELDS, OperandRole, find_tensor_instruction
from swzverify.subjects.descriptor import CHUNK_BYTES, operand_addresses

_WARPS = GROUP // LANES


@dataclass(slots=True)
class _Issue:
    """An instruction that some warps of a warpgroup have issued: its descriptors, and what the warps know."""

    instruction: Instruction
    descriptors: tuple[int, ...]
    row: Array
    warps: int = 1


class Products:
    """The products that the warpgroups of a block have issued."""

    def __init__(self, lanes: Lanes, history: History) -> None:
        self._lanes, self._history = lanes, history
        warps = lanes.threads // LANES
        self._issued, self._committed = [0] * warps, [0] * warps
        self._open: dict[int, dict[int, _Issue]] = defaultdict(dict)

    def run(self, instruction: Instruction, active: Mask) -> None:
        """One instruction of `wgmma`, by the threads of whole warps.

        Raises:
            EndError: It is not followed, or a descriptor is not known.
        """
        operation = instruction.opcode.split(".")[1]
        here = active.reshape(-1, LANES)
        warps: list[int] = np.flatnonzero(here.any(axis=1)).tolist()
        if not here[warps].all():
            raise EndError("some lanes of a warp take part in a product, and others do not")
        for warp in warps:
            threads = np.arange(warp * LANES, (warp + 1) * LANES)
            match operation:
                case "fence":
                    pass
                case "commit_group":
                    self._committed[warp] += 1
                case "wait_group":
                    left = instruction.operands[0]
                    if not isinstance(left, Immediate):
                        raise EndError("how many products may be in flight is not known")
                    component = self._history.knowledge.component_of_group(warp * LANES)
                    self._history.knowledge.reach(threads, component, self._committed[warp] - left.value)
                case "mma_async":
                    self._issue(instruction, warp, threads)
                case _:
                    raise EndError(f"`{instruction.opcode}` is not followed")

    def _issue(self, instruction: Instruction, warp: int, threads: Array) -> None:
        group, number = warp // _WARPS, self._issued[warp]
        self._issued[warp] += 1
        descriptors = tuple(self._descriptor(each, threads) for each in _in_memory(instruction))
        known = self._history.told(threads)
        issue = self._open[group].get(number)
        if issue is None:
            self._open[group][number] = _Issue(instruction, descriptors, known)
            return
        if issue.instruction is not instruction or issue.descriptors != descriptors:
            raise EndError("the warps of a warpgroup issue different products")
        issue.row = np.maximum(issue.row, known)
        issue.warps += 1
        if issue.warps == _WARPS:
            del self._open[group][number]
            self._read(issue, warp)

    def _descriptor(self, operand: Operand, threads: Array) -> int:
        values, known = self._lanes.read(operand, 64)
        if not known[threads].all() or (values[threads] != values[threads[0]]).any():
            raise EndError("a matrix descriptor is not known")
        return int(values[threads[0]]) % (1 << 64)

    def _read(self, issue: _Issue, warp: int) -> None:
        """Tell the bytes of an instruction that all warps have issued."""
        history, first = self._history, warp // _WARPS * GROUP
        row = history.knowledge.add(issue.row)
        roles = (OperandRole.A, OperandRole.B)[-len(issue.descriptors) :]
        for role, descriptor in zip(roles, issue.descriptors, strict=True):
            addresses = places_of(issue.instruction, role, descriptor)
            starts = np.unique(addresses // CHUNK_BYTES) * CHUNK_BYTES - SHARED_BEGIN
            if starts.min() < 0:
                raise EndError("an operand is outside of the block's memory")
            threads = np.full(len(starts), first, dtype=np.int64)
            access = history.access(issue.instruction.line, Effect.OPERAND, threads, starts, CHUNK_BYTES, row=row)
            if access is not None:
                access.components[:] = history.knowledge.component_of_group(first)
                access.closes[:] = self._committed[warp] + 1


def _in_memory(instruction: Instruction) -> list[Operand]:
    """The descriptors: of A, if it is not in registers, and of B."""
    return [each for each in instruction.operands[1:3] if not isinstance(each, Vector)]


def places_of(instruction: Instruction, role: OperandRole, descriptor: int) -> Array:
    """The address of each element that a descriptor names, by row and column of K.

    Raises:
        EndError: It is not followed.
    """

    def field(place: tuple[int, int]) -> int:
        low, width = place
        return descriptor >> low & ((1 << width) - 1)

    try:
        row = find_tensor_instruction(instruction.opcode)
        major = major_of(instruction, row, role)
        if major is None:
            raise EndError("how an operand lies is not known")
        return operand_addresses(
            row,
            role.value,
            start=field(WGMMA_FIELDS.start) * CHUNK_BYTES,
            lbo=field(WGMMA_FIELDS.lbo) * CHUNK_BYTES,
            sbo=field(WGMMA_FIELDS.sbo) * CHUNK_BYTES,
            swizzle=WGMMA_FIELDS.modes[field(WGMMA_FIELDS.swizzle)],
            base_offset=field(WGMMA_FIELDS.base_offset),
            major=major.value,
        )
    except SwzError as error:
        raise EndError(f"an operand is not followed: {error.message}") from None
