"""The descriptors that name a part of a tile as an operand, or a proof that none does.

For one mode and one base offset there is at most one descriptor: element (0, 0) says where it starts in each
iteration, and the elements a core matrix or a panel away say LBO and SBO. So it is enough to judge that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.claims import Delivers, Outcome, Verdict
from swzverify.claims.operand_points import OperandPoints
from swzverify.errors import SwzError
from swzverify.ir.c_parse import expression
from swzverify.layout.tma import TmaMode
from swzverify.prover import Options, prove
from swzverify.search.cures.descriptors import asked_for
from swzverify.subjects import Descriptor, Operand
from swzverify.subjects.descriptor import CHUNK_BYTES, CORE_ROWS
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.operand import MN, K

MODES: Final = tuple(sorted(TmaMode, key=lambda mode: -(mode.span_bytes or 0)))
"""The modes, the widest first."""


@dataclass(frozen=True, slots=True)
class NamedOperand:
    """The operand with a descriptor for which `delivers` is proved."""

    operand: Operand
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Refused:
    """A mode and a base offset without such a descriptor.

    If it is not `is_sure`, there may be one.
    """

    mode: TmaMode
    base_offset: int
    reason: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class FoundDescriptors:
    """All descriptors that name an operand; `refused` has the modes without one."""

    answers: tuple[NamedOperand, ...]
    refused: tuple[Refused, ...]

    @property
    def is_decided(self) -> bool:
        """Whether there is an answer, or surely none."""
        return bool(self.answers) or all(each.is_sure for each in self.refused)


def find_descriptors(operand: Operand, options: Options | None = None) -> FoundDescriptors:
    """The descriptors that name what an operand should read; its own descriptor and start do not count.

    Other base offsets than 0 are tried only if no mode has an answer without.
    """
    answers: list[NamedOperand] = []
    refused: list[Refused] = []
    for base_offset in range(CORE_ROWS if operand.instruction.family.base_offset_is_known else 1):
        if answers:
            break
        for mode in MODES:
            if base_offset and mode is TmaMode.NONE:
                continue  # without a swizzle it changes nothing
            found = _judged(operand, Descriptor(0, 0, mode, base_offset), options or Options())
            if isinstance(found, Refused):
                refused.append(found)
            else:
                answers.append(found)
    return FoundDescriptors(tuple(answers), tuple(refused))


def _judged(operand: Operand, plain: Descriptor, options: Options) -> NamedOperand | Refused:
    def refuse(reason: str, *, is_sure: bool) -> Refused:
        return Refused(plain.swizzle, plain.base_offset, reason, is_sure)

    starts = _starts(operand, plain)
    if bad := [int(each) for each in starts.ravel() if each % CHUNK_BYTES or each < 0]:
        words = f"it would start at byte {bad[0]}, and a descriptor holds multiples of {CHUNK_BYTES} from 0 on"
        return refuse(words, is_sure=True)
    fields = next(asked_for(operand.with_descriptor(plain), plain), None)
    if fields is None:
        return refuse("no LBO and SBO that a descriptor can hold lead from element to element", is_sure=True)
    start = start_text(operand.loops, starts)
    if start is None:
        return refuse("its start addresses are no sum of multiples of its loops", is_sure=False)
    try:
        candidate = replace(operand, descriptor=fields, start=expression(start), code=None)
        verdict = prove(Delivers(candidate), options=options)
    except SwzError as error:
        return refuse(error.message, is_sure=False)
    if verdict.outcome is Outcome.PROVED:
        return NamedOperand(candidate, verdict)
    return refuse(verdict.reason, is_sure=verdict.outcome is Outcome.REFUTED)


def _starts(operand: Operand, plain: Descriptor) -> NDArray[np.int64]:
    """The start address in each iteration, in bytes from its base, with an axis for each loop."""
    own, of_tile = (np.asarray([place.at({})]) for place in OperandPoints(operand).places)
    counts = [loop.count or 0 for loop in operand.loops]
    grid = np.meshgrid(*(np.arange(count) for count in counts), indexing="ij")
    flat = {loop.name: each.ravel() for loop, each in zip(operand.loops, grid, strict=True)}
    first = np.zeros(max(1, int(np.prod(counts))), dtype=np.int64)
    wanted = operand.wanted({**flat, MN: first, K: first}, of_tile)
    return (plain.swizzled(wanted) - own).reshape(counts or [1])


def start_text(loops: Sequence[AnyLoop], starts: NDArray[np.int64]) -> str | None:
    """A start address as an expression of loops, from its numbers; None if it is no sum of what each loop adds.

    >>> from swzverify.subjects import Loop
    >>> start_text([Loop("s", 0, 2), Loop("k", 0, 64, 16)], np.array([[0, 32, 64, 96], [8192, 8224, 8256, 8288]]))
    's*8192 + k*2'
    """
    constant = int(starts.flat[0])
    total = np.asarray(starts.flat[0], dtype=np.int64)
    words: list[str] = []
    for axis, loop in enumerate(loops):
        line = np.moveaxis(starts, axis, 0).reshape(starts.shape[axis], -1)[:, 0]
        found = next(_parts(loop, line - line[0]), None)
        if found is None:
            return None
        more, at_first = found
        words += more
        constant -= at_first
        shape = [1] * starts.ndim
        shape[axis] = len(line)
        total = total + (line - line[0]).reshape(shape)
    if not bool((np.broadcast_to(total, starts.shape) == starts).all()):
        return None
    return " + ".join([*words, *([str(constant)] if constant or not words else [])]).replace("+ -", "- ")


def _parts(loop: AnyLoop, steps: NDArray[np.int64]) -> Iterator[tuple[list[str], int]]:
    """What a loop adds, in words, and the number that this is in the first iteration."""
    values = np.asarray(loop.values_at(np.arange(len(steps))))
    if not steps.any():
        yield [], 0
        return
    factor = _factor(values - values[0], steps)
    if factor is not None:
        yield [f"{loop.name}*{factor}"], factor * int(values[0])
    for count in range(2, len(steps)):
        width = count * int(values[1] - values[0])
        if values[0] or width <= 0:
            return
        inner = _factor(values[:count], steps[:count])
        outer = _factor(values[::count] // width, steps[::count])
        if inner is None or outer is None:
            continue
        if bool((values % width * inner + values // width * outer == steps).all()):
            parts = [*([f"{loop.name}%{width}*{inner}"] if inner else [])]
            yield [*parts, *([f"{loop.name}/{width}*{outer}"] if outer else [])], 0


def _factor(values: NDArray[np.int64], steps: NDArray[np.int64]) -> int | None:
    """The number by which values are multiplied to give some steps; both begin with 0."""
    if len(values) < 2 or not values[1]:
        return None
    factor = int(steps[1]) // int(values[1])
    return factor if bool((values * factor == steps).all()) else None
