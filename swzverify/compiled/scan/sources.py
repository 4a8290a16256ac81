"""Where the lanes of a copy read: what `cp.async` costs depends on it too.

A source address is a sum, as the shared address is. Where lanes' distances are plain numbers, the
only open question is where in a 128-byte line of global memory the sum begins. What loops and
blocks add there is tried at every place that it may have. What pointers and parameters add is taken
to be a multiple of 128 bytes, and the verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel import LaneLeaf, Leaf, TripsLeaf
from swzverify.compiled.kernel.leaves import largest_parts
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.powers import power_of_terms
from swzverify.compiled.scan.price import Array, Block, Mask
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.hardware import BANK_PERIOD_BYTES, CHUNK_BYTES, CHUNKS_PER_LINE, LANES
from swzverify.ir.expr import Binary, BinaryOperator, Expr, Extend, Extract

ONE_LINE: Final = "each group of lanes that goes together reads one 128-byte line of global memory, in order"
ALIGNED: Final = "pointers and pitches of its source are multiples of 128 bytes"
ROWS: Final = f"{ALIGNED}, and different rows are in different lines of 128 bytes"


@dataclass(frozen=True, slots=True)
class Sources:
    """The source addresses of the lanes of a copy.

    Lanes of one `row` differ by plain numbers, `offsets` in bytes. Different rows are assumed to have no
    line in common. All offsets start at one of `places` in a line.
    """

    rows: Array
    offsets: Array
    places: tuple[int, ...]
    assumes: str

    def chunks(self, place: int) -> Array:
        """A number for the 16 bytes that each lane reads: equal for equal bytes, eight to a line."""
        at = self.offsets + place
        pairs = np.stack((self.rows.reshape(-1), (at // BANK_PERIOD_BYTES).reshape(-1)))
        lines = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(at.shape)
        return lines * CHUNKS_PER_LINE + at // CHUNK_BYTES % CHUNKS_PER_LINE

    def at_any_place(self) -> Sources | None:
        """The same sources wherever they begin; None if more than that is assumed of them."""
        if self.assumes != ALIGNED:
            return None
        rest = int(self.offsets.reshape(-1)[0]) % CHUNK_BYTES
        places = tuple((-rest) % CHUNK_BYTES + at for at in range(0, BANK_PERIOD_BYTES, CHUNK_BYTES))
        return Sources(self.rows, self.offsets, places, "")


def sources_of(block: Block, parts: Parts, width_bytes: int, active: Mask) -> Sources | None:
    """Where the lanes of a copy read; None if that is not known."""
    source = parts.source
    if source is None or any(not is_shared(leaf) and not isinstance(leaf, LaneLeaf) for leaf in _read(source)):
        return None
    if not all(_is_of_rows(source, term) for term in sum_of(source.mixed).terms):
        return None
    offsets = block.values(source.own, {}) + (source.shared.number - ((source.shared.number >> 63) << 64))
    rows = rows_of(block, source, source.mixed)  # by the numbers of rows; pitches are what they share
    counted = {term: factor for term, factor in source.shared.terms.items() if _is_counted(source, term)}
    others = {term: factor for term, factor in source.shared.terms.items() if term not in counted}
    assumes = ROWS if not source.is_exact else ALIGNED if power_of_terms(others) < BANK_PERIOD_BYTES else ""

    def aligned(step: int) -> tuple[int, ...]:
        return tuple(
            place for place in range(0, BANK_PERIOD_BYTES, step) if not ((offsets + place)[active] % width_bytes).any()
        )

    places = aligned(power_of_terms(counted))
    if not places and assumes:
        # A pointer that is a multiple of 128 would fault: then it is none.
        places, assumes = aligned(1), "" if source.is_exact else ROWS
    return Sources(rows, offsets, places, assumes) if places else None


def rows_of(block: Block, parts: Parts, *values: Expr) -> Array:
    """A number for each lane: lanes of one number have the same in all that expressions read of lanes."""
    read = [block.values(each, {}) for value in values for each in of_lanes_alone(parts, value)]
    if not read:
        return np.zeros(block.exists.shape, dtype=np.int64)
    columns = np.stack([each.reshape(-1) for each in read])
    return np.unique(columns, axis=1, return_inverse=True)[1].reshape(block.exists.shape)


def are_alike(rows: Array, active: Mask, lanes: int = CHUNKS_PER_LINE) -> bool:
    """Whether all active lanes of so many that follow each other have one number."""
    on, numbers = active.reshape(-1, lanes), rows.reshape(-1, lanes)
    first = np.take_along_axis(numbers, np.argmax(on, axis=1)[:, None], axis=1)
    return not (on & (numbers != first)).any()


def octets_share(values: Array, active: Mask) -> bool:
    """Whether lanes of two octets of a warp have one value."""
    octets = np.arange(LANES) // CHUNKS_PER_LINE
    same = (values[:, :, None] == values[:, None, :]) & active[:, :, None] & active[:, None, :]
    return bool((same & (octets[:, None] != octets[None, :])).any())


def of_lanes_alone(parts: Parts, root: Expr) -> tuple[Expr, ...]:
    """The largest parts of an expression that read the thread's coordinates and nothing else."""
    return largest_parts(root, lambda each: isinstance(parts.leaves[each.name], LaneLeaf))


def _read(source: Parts) -> list[Leaf]:
    return source.leaves_of(*source.shared.terms, source.own, source.mixed)


def _is_of_rows(source: Parts, term: Expr) -> bool:
    """Whether a term is what lanes have of their own times what they share: a row and its pitch."""
    while isinstance(term, Extend | Extract):
        term = term.operand
    if not isinstance(term, Binary) or term.operator is not BinaryOperator.MUL:
        return False
    sides = [{is_shared(leaf) for leaf in source.leaves_of(each)} for each in (term.left, term.right)]
    return sides in ([{True}, {False}], [{False}, {True}])


def _is_counted(source: Parts, term: Expr) -> bool:
    """Whether a term has loops and places of blocks alone: these take many values in one launch."""
    return all(
        isinstance(leaf, TripsLeaf)
        or leaf.values is not None
        or leaf.name.startswith(("ctaid.", "clusterid.", "cluster_"))
        for leaf in source.leaves_of(term)
    )
