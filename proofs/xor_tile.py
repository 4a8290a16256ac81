"""A tile whose column x moves to x ^ y in row y: rows and columns as permutations."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Theorem, Truth, Word

from ._sources import CONFLICTS, SIMPLE
from ._swizzle import ones

SOURCES = f"{SIMPLE} and {CONFLICTS} (row and column proofs of x' = x ^ y)"


def moved(x: Word, y: Word) -> Word:
    """Where column x of row y goes."""
    return x ^ y


def row(v: Symbols) -> Sequent:
    """In a row different columns stay different."""
    k, y, x1, x2 = v.word("k", below=33), v.word("y"), v.word("x1"), v.word("x2")
    last = ones(k)
    return Sequent((y <= last, x1 <= last, x2 <= last, x1 != x2), moved(x1, y) != moved(x2, y))


def column(v: Symbols) -> Sequent:
    """In a column different rows go to different columns."""
    k, x, y1, y2 = v.word("k", below=33), v.word("x"), v.word("y1"), v.word("y2")
    last = ones(k)
    return Sequent((x <= last, y1 <= last, y2 <= last, y1 != y2), moved(x, y1) != moved(x, y2))


def stays(v: Symbols) -> Sequent:
    """No element leaves the tile."""
    k, x, y = v.word("k", below=33), v.word("x"), v.word("y")
    last = ones(k)
    return Sequent((x <= last, y <= last), moved(x, y) <= last)


def row_reached(v: Symbols) -> Sequent:
    """Every place of a row is reached, from column x ^ y."""
    k, x, y = v.word("k", below=33), v.word("x"), v.word("y")
    last = ones(k)
    return Sequent((x <= last, y <= last), (x ^ y <= last) & (moved(x ^ y, y) == x))


def column_reached(v: Symbols) -> Sequent:
    """A column's elements reach every place, that at p from row x ^ p."""
    k, x, p = v.word("k", below=33), v.word("x"), v.word("p")
    last = ones(k)
    return Sequent((x <= last, p <= last), (x ^ p <= last) & (moved(x, x ^ p) == p))


def tall_closed(v: Symbols) -> Sequent:
    """With more rows than columns, x ^ (y mod 2^c) stays among the columns."""
    c, x, y = v.word("c", below=33), v.word("x"), v.word("y")
    return Sequent((x <= ones(c),), moved(x, y & ones(c)) <= ones(c))


def tall_row(v: Symbols) -> Sequent:
    """In a row different columns stay different."""
    c, y, x1, x2 = v.word("c", below=33), v.word("y"), v.word("x1"), v.word("x2")
    last = ones(c)
    return Sequent((x1 <= last, x2 <= last, x1 != x2), moved(x1, y & last) != moved(x2, y & last))


def tall_reached(v: Symbols) -> Sequent:
    """Every place of a row is reached, from column x ^ (y mod 2^c)."""
    c, x, y = v.word("c", below=33), v.word("x"), v.word("y")
    low = y & ones(c)
    return Sequent((x <= ones(c),), (x ^ low <= ones(c)) & (moved(x ^ low, low) == x))


def rows_meet(v: Symbols) -> tuple[Truth, Truth, Truth]:
    """The three parts: x is a column; two rows put it at one place; the rows are equal modulo 2^c."""
    c, x, y1, y2 = v.word("c", below=33), v.word("x"), v.word("y1"), v.word("y2")
    last = ones(c)
    meet = moved(x, y1 & last) == moved(x, y2 & last)
    return x <= last, meet, (y1 ^ y2) & last == 0


def tall_meet_if(v: Symbols) -> Sequent:
    """Rows that are equal modulo 2^c meet."""
    column_exists, meet, equal = rows_meet(v)
    return Sequent((column_exists, equal), meet)


def tall_meet_only_if(v: Symbols) -> Sequent:
    """Rows that meet are equal modulo 2^c."""
    column_exists, meet, equal = rows_meet(v)
    return Sequent((column_exists, meet), equal)


THEOREMS = (
    Theorem(
        "xor-tile-rows",
        "in a 2^k x 2^k tile with x' = x ^ y every row is a permutation of the columns",
        r"\forall k,\ y < 2^k:\quad x \mapsto x \oplus y \text{ permutes } [0, 2^k)",
        SOURCES,
        "k, x, y",
        (Obligation("closed", stays), Obligation("one to one", row), Obligation("onto", row_reached)),
    ),
    Theorem(
        "xor-tile-columns",
        "in a 2^k x 2^k tile with x' = x ^ y the elements of every column lie in 2^k different columns",
        r"\forall k,\ x < 2^k:\quad y \mapsto x \oplus y \text{ permutes } [0, 2^k)",
        SOURCES,
        "k, x, y",
        (Obligation("closed", stays), Obligation("one to one", column), Obligation("onto", column_reached)),
    ),
    Theorem(
        "xor-tile-tall",
        "with any number of rows and 2^c columns, x' = x ^ (y mod 2^c) permutes every row, and two rows of a column "
        "meet "
        "iff they are equal modulo 2^c",
        r"x \oplus (y_1 \bmod 2^c) = x \oplus (y_2 \bmod 2^c) \iff y_1 \equiv y_2 \pmod{2^c}",
        f"{SOURCES}, which take as many rows as columns; {SIMPLE} has 4 rows of 8",
        "c, x, y",
        (
            Obligation("rows: closed", tall_closed),
            Obligation("rows: one to one", tall_row),
            Obligation("rows: onto", tall_reached),
            Obligation("columns: if", tall_meet_if),
            Obligation("columns: only if", tall_meet_only_if),
        ),
    ),
)
