"""Changes of an operand's descriptor, or of its base, after which it delivers what it should."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from swzverify.claims import Delivers
from swzverify.claims.operand_points import OperandPoints
from swzverify.errors import SwzError
from swzverify.hardware.tensor_cores import Major
from swzverify.layout.tma import TmaMode
from swzverify.prover import Options
from swzverify.search.cures.cure import Cure
from swzverify.search.cures.tiles import with_base
from swzverify.search.cures.work import SpentError, Work
from swzverify.subjects import Access, AlignedBase, Base, Descriptor, MemoryBase, Operand
from swzverify.subjects.descriptor import CORE_ROWS, REPEATS_BYTES
from swzverify.subjects.operand import MN, K

_GIVES = "delivers is proved"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A changed operand; candidates of one `kind` are tried until one is proved."""

    kind: str
    change: str
    operand: Operand


def find_operand_cures(claim: Delivers, options: Options | None = None) -> tuple[Cure, ...]:
    """What would make a refuted `delivers` hold, at most one change of each kind, the nearest first.

    A change is a cure when the engines prove the claim for it.
    """
    if isinstance(claim.operand, Access) or claim.second is not None:
        return ()  # nothing is tried for a fragment, and for two operands
    work = Work.within(options or Options())
    found: dict[str, Cure] = {}
    for candidate in _candidates(claim.operand):
        if candidate.kind in found:
            continue
        try:
            if work.proves(Delivers(candidate.operand)):
                found[candidate.kind] = Cure(claim.operand.name, candidate.change, _GIVES, after=candidate.operand)
        except SwzError:
            continue
        except SpentError:
            break
    return tuple(found.values())


def _candidates(operand: Operand) -> Iterator[_Candidate]:
    """One field or the base changed; then LBO and SBO as the tile asks for them, mode by mode."""
    fields = operand.descriptor
    tried = {fields}

    def changed(kind: str, change: str, other: Descriptor) -> Iterator[_Candidate]:
        if other not in tried:
            tried.add(other)
            yield _Candidate(kind, change, operand.with_descriptor(other))

    exchanged = replace(fields, lbo_bytes=fields.sbo_bytes, sbo_bytes=fields.lbo_bytes)
    words = f"lbo {exchanged.lbo_bytes} and sbo {exchanged.sbo_bytes}, the two exchanged"
    yield from changed("strides", words, exchanged)
    for mode in TmaMode:
        yield from changed("mode", f"swizzle {mode}", replace(fields, swizzle=mode))
    if operand.instruction.family.base_offset_is_known:
        for offset in range(8):
            yield from changed("base offset", f"base_offset {offset}", replace(fields, base_offset=offset))
    yield from _aligned(operand)
    for mode in (fields.swizzle, *TmaMode):
        for strides in asked_for(operand, replace(fields, swizzle=mode)):
            told = f"lbo {strides.lbo_bytes}, " if strides.reads_lbo(operand.major) else ""
            same = mode is fields.swizzle
            words = f"{told}sbo {strides.sbo_bytes}" + ("" if same else f", swizzle {mode}")
            yield from changed("strides" if same else "mode", words, strides)


def _aligned(operand: Operand) -> Iterator[_Candidate]:
    """Start and tile at bases that are multiples of what every mode repeats after."""
    base = None if operand.base is None else _wider(operand.base)
    wider = _wider(operand.tile.base)
    if wider is None or (operand.base is not None and base is None):
        return
    moved = with_base(operand.tile, wider)
    if moved.pitch_bytes != operand.tile.pitch_bytes:
        return  # the steps from stage to stage are the kernel's own
    what = "memory" if isinstance(wider, MemoryBase) else "base"
    change = f"a {what} at a multiple of {REPEATS_BYTES}"
    yield _Candidate("base", change, replace(operand, tile=moved, base=base))


def _wider(base: Base) -> Base | None:
    """The base at multiples of 1024; None where it is fixed, or is one already."""
    match base:
        case AlignedBase(align_bytes=align) if align < REPEATS_BYTES:
            return AlignedBase(REPEATS_BYTES)
        case MemoryBase(memory=memory) if memory.base_bytes is None and memory.alignment_bytes < REPEATS_BYTES:
            return replace(base, memory=replace(memory, align_bytes=REPEATS_BYTES))
        case _:
            return None


def asked_for(operand: Operand, plain: Descriptor) -> Iterator[Descriptor]:
    """LBO and SBO as the places of the tile's elements have them, in the first iteration, with a mode.

    There are no others, but for those that the operand does not reach. Nothing if no descriptor can hold them.
    """
    points = OperandPoints(operand)
    base = np.asarray([points.places[1].at({})])
    loops = {loop.name: np.asarray([0]) for loop in operand.loops}

    def at(row: int, k: int) -> int:
        where = {**loops, MN: np.asarray([row]), K: np.asarray([k])}
        return int(plain.swizzled(operand.wanted(where, base)).ravel()[0])

    width = plain.row_bytes // operand.element_bytes
    step, k_step = (CORE_ROWS, width) if operand.major is Major.K else (width, CORE_ROWS)
    # What lies beyond the operand, no field has to reach.
    by_rows = at(step, 0) - at(0, 0) if step < operand.rows else operand.descriptor.sbo_bytes
    by_k = at(0, k_step) - at(0, 0) if k_step < operand.columns else operand.descriptor.lbo_bytes
    exchanged = operand.major is Major.MN and plain.swizzle is not TmaMode.NONE
    lbo, sbo = (by_rows, by_k) if exchanged else (by_k, by_rows)
    try:
        yield replace(plain, lbo_bytes=lbo, sbo_bytes=sbo)
    except SwzError:
        return
