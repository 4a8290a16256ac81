"""Thread blocks in strips of columns, as by CUTLASS's identity swizzle, for grids of every size."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Theorem, Truth, Word

from ._sources import CUTLASS_ORDER

SIDE = 65_535
"""The most tiles of a side; a grid's y cannot have more blocks."""


def tile_of(x: Word, y: Word, log_tile: int) -> tuple[Word, Word]:
    """CUTLASS's tile of a block."""
    return x >> log_tile, (y << log_tile) + (x & (1 << log_tile) - 1)


def launched(v: Symbols, log_tile: int) -> tuple[Word, Word, Word, Word, Truth]:
    """A problem of m by n tiles, and a block of its grid (m << log, ceil(n / 2^log))."""
    m, n = v.word("m", below=SIDE + 1), v.word("n", below=SIDE + 1)
    x, y = v.word("x"), v.word("y")
    strips = (n + (1 << log_tile) - 1) >> log_tile
    return m, n, x, y, (x < m << log_tile) & (y < strips)


def apart(log_tile: int) -> Obligation:
    """Two blocks have two tiles: a block is (m 2^log + n % 2^log, n / 2^log) of its own."""

    def encode(v: Symbols) -> Sequent:
        *_, x, y, inside = launched(v, log_tile)
        row, column = tile_of(x, y, log_tile)
        back = (row << log_tile) + (column & (1 << log_tile) - 1)
        return Sequent((inside,), (back == x) & (column >> log_tile == y))

    return Obligation(f"one to one, log {log_tile}", encode)


def every_tile(log_tile: int) -> Obligation:
    """Each tile of the problem has a block of the grid."""

    def encode(v: Symbols) -> Sequent:
        m, n, x, y, inside = launched(v, log_tile)
        row, column = v.word("row"), v.word("column")
        here = (x == (row << log_tile) + (column & (1 << log_tile) - 1)) & (y == column >> log_tile)
        i, j = tile_of(x, y, log_tile)
        return Sequent((row < m, column < n, here), inside & (i == row) & (j == column))

    return Obligation(f"onto, log {log_tile}", encode)


def rows_kept(log_tile: int) -> Obligation:
    """No block leaves the rows, and one that leaves the columns is within the last strip."""

    def encode(v: Symbols) -> Sequent:
        m, n, x, y, inside = launched(v, log_tile)
        row, column = tile_of(x, y, log_tile)
        return Sequent((inside,), (row < m) & (column < n + (1 << log_tile) - 1))

    return Obligation(f"inside, log {log_tile}", encode)


def nothing_dropped(log_tile: int) -> Obligation:
    """Whole strips: no block is beyond the columns."""

    def encode(v: Symbols) -> Sequent:
        _, n, x, y, inside = launched(v, log_tile)
        _, column = tile_of(x, y, log_tile)
        return Sequent((inside, n % (1 << log_tile) == 0), column < n)

    return Obligation(f"if, log {log_tile}", encode)


def something_dropped(log_tile: int) -> Obligation:
    """A ragged last strip: its last block of the first row is beyond the columns."""

    def encode(v: Symbols) -> Sequent:
        m, n, x, y, inside = launched(v, log_tile)
        last = (x == (1 << log_tile) - 1) & (y == n >> log_tile)
        _, column = tile_of(x, y, log_tile)
        return Sequent((m >= 1, n % (1 << log_tile) != 0, last), inside & (column >= n))

    return Obligation(f"only if, log {log_tile}", encode)


THEOREMS = (
    Theorem(
        "identity-swizzle",
        "CUTLASS's identity swizzle gives every tile of an m x n problem to exactly one block, for every m and n up to "
        "65,535; the other blocks lie beyond the columns, in the last strip, and the kernel drops them",
        r"(x, y) \mapsto (x \gg l,\ (y \ll l) + x \bmod 2^l),\quad x < m 2^l,\ y < \lceil n / 2^l \rceil",
        CUTLASS_ORDER,
        "m and n, each up to 65,535, the block",
        tuple(make(log) for log in range(4) for make in (apart, every_tile, rows_kept)),
        enumerated="log_tile in 0 .. 3",
    ),
    Theorem(
        "identity-swizzle-exact",
        "CUTLASS's identity swizzle launches no block beyond the columns iff 2^log_tile divides n",
        r"\lceil n / 2^l \rceil\, 2^l = n \iff 2^l \mid n",
        CUTLASS_ORDER,
        "m and n, each up to 65,535, the block",
        (
            *(nothing_dropped(log) for log in range(4)),
            *(something_dropped(log) for log in range(1, 4)),
        ),
        enumerated="log_tile in 0 .. 3",
    ),
)
