"""Every legal swizzle within so many bits, in the order in which searches prefer them."""

from __future__ import annotations

from collections.abc import Iterator


def swizzle_fields(
    reach: int, least: int = 0, *, most_bits: int | None = None, backwards: bool = False
) -> Iterator[tuple[int, int, int]]:
    """(B, M, S) of every swizzle that reads and changes bits `least` to `reach - 1` only.

    1 <= B <= |S|, M >= `least`, M + B + |S| <= `reach`; B <= `most_bits` where that is given.
    Fewest bits first, then S > 0 before S < 0, then the lowest base, then the smallest |S|.
    Negative S only with `backwards`.

    Values with no bits above `reach` lose nothing: a swizzle that reads such bits does the same as
    one with fewer bits.

    >>> list(swizzle_fields(4, 1))
    [(1, 1, 1), (1, 1, 2), (1, 2, 1)]
    >>> list(swizzle_fields(3, 0, backwards=True))
    [(1, 0, 1), (1, 0, 2), (1, 1, 1), (1, 0, -1), (1, 0, -2), (1, 1, -1)]
    """
    top = (reach - least) // 2
    for bits in range(1, (top if most_bits is None else min(top, most_bits)) + 1):
        for sign in (1, -1) if backwards else (1,):
            for base in range(least, reach - 2 * bits + 1):
                for shift in range(bits, reach - base - bits + 1):
                    yield bits, base, sign * shift
