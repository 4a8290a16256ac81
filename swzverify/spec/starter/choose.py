"""Which swizzle frees the columns of a row-major tile of bank conflicts, and keeps vectors whole.

Source: docs/theorems.md, `universal-mended`: with rows of X bytes and vectors of V = 4, 8 or 16
bytes, both powers of two, V <= X, the swizzle with B = log2(min(128, X) / V), M = log2 of a
vector's elements and S = log2(max(128, X) / V) is legal and a column of vectors has no conflicts.
It keeps vectors whole (`swizzle-vectors`), and elements in their row's own blocks of min(128, X)
bytes (`swizzle-blocks-smallest`), so that any number of rows fills its allocation.
"""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES
from swzverify.layout import Swizzle

PERIOD_BITS = 8 * BANK_PERIOD_BYTES
WORD_BITS = 8 * BANK_WORD_BYTES


@dataclass(frozen=True, slots=True)
class Choice:
    """A swizzle of element offsets, or None where the rows need none, and why."""

    swizzle: Swizzle | None
    why: str


def choose_swizzle(element_bits: int, columns: int, width_bytes: int) -> Choice:
    """The swizzle for rows of `columns` elements that are read by columns, `width_bytes` per lane.

    What is narrower than a bank's word moves with its word.

    Raises:
        SwzError: SWZ526 if the rows are no power of two bytes.

    >>> str(choose_swizzle(16, 64, 16).swizzle), str(choose_swizzle(32, 32, 4).swizzle)
    ('Swizzle<3,3,3>', 'Swizzle<5,0,5>')
    >>> choose_swizzle(16, 8, 16).swizzle is None
    True
    """
    unit_bits = max(WORD_BITS, 8 * width_bytes)
    row_bits = element_bits * columns
    if row_bits <= unit_bits:
        return Choice(None, f"rows of {_bytes(row_bits)} need no swizzle: they follow each other bank by bank")
    if row_bits & (row_bits - 1) or unit_bits % element_bits:
        pad = conflict_free_pad(element_bits, columns, width_bytes)
        hint = f"--pad {pad} frees their columns; --swizzle none shows what happens without either"
        message = (
            f"no swizzle is known to serve rows of {columns} elements, {_bytes(row_bits)}: they are no power of two"
        )
        raise SwzError("SWZ526", message, hint=hint)
    base = (unit_bits // element_bits).bit_length() - 1
    bits = (min(PERIOD_BITS, row_bits) // unit_bits).bit_length() - 1
    shift = (max(PERIOD_BITS, row_bits) // unit_bits).bit_length() - 1
    why = f"for columns of {_bytes(unit_bits)} in rows of {_bytes(row_bits)}: theorem universal-mended"
    return Choice(Swizzle(bits, base, shift), why)


def conflict_free_pad(element_bits: int, columns: int, width_bytes: int) -> int:
    """The least pad, in elements, with which a row is an odd number of vectors.

    Then columns of vectors of 4 to 16 bytes have no conflicts (docs/theorems.md, `pitch-free`).

    >>> conflict_free_pad(16, 64, 16), conflict_free_pad(32, 33, 4)
    (8, 0)
    """
    unit_bits = max(WORD_BITS, 8 * width_bytes)
    pad = 0
    while (columns + pad) * element_bits % (2 * unit_bits) != unit_bits:
        pad += 1
        if pad > 2 * unit_bits:  # elements of 6 bits, say, which never fill a vector
            return 0
    return pad


def _bytes(bits: int) -> str:
    return f"{bits // 8} bytes" if bits % 8 == 0 else f"{bits} bits"
