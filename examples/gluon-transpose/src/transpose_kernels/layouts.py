"""Where Gluon's swizzled shared layout puts an element: plain arithmetic, for tests and for reading."""

from __future__ import annotations


def swizzled_byte_address(
    row: int, column: int, *, columns: int, element_bytes: int, vec: int, per_phase: int, max_phase: int
) -> int:
    """The byte address of an element of a row-major tile, from the tile's start.

    The vectors of a row are XORed with the row's phase.

    >>> swizzled_byte_address(3, 0, columns=32, element_bytes=4, vec=1, per_phase=1, max_phase=32)
    396
    """
    phase = row // per_phase % max_phase
    swizzled = (column // vec ^ phase) * vec + column % vec
    return (row * columns + swizzled) * element_bytes
