"""Rows of a row-major tile under a swizzle: the XOR of a row, repeating rows, rows that stay.

The tile has rows of 2^c elements, so that element (y, x) has the offset y 2^c + x, and S >= B > 0.
"""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word, choose

from ._sources import CUTE_4
from ._swizzle import SYMBOLIC, Parameters, change, legal, ones, parameters, span_bits, swizzle, yyy

PERIODS = f"{CUTE_4}, sections 2.1.1 and 2.1.2"
BITS = 31
"""Offsets stay below 2^31, so that a row added to an offset does not wrap."""


def tile(v: Symbols) -> tuple[Parameters, Word, Truth]:
    """Parameters, c, and that they are legal with B > 0."""
    p, c = parameters(v), v.word("c", below=BITS)
    return p, c, legal(p, BITS) & (p.b > 0)


def one_xor_a_row(v: Symbols) -> Sequent:
    """An offset is XORed with ((offset div 2^(M+S)) mod 2^B) 2^M."""
    p, _, allowed = tile(v)
    offset = v.word("offset", below=1 << BITS)
    return Sequent((allowed,), change(offset, p) == ((offset >> (p.m + p.s)) & ones(p.b)) << p.m)


def by_rows(v: Symbols) -> Sequent:
    """In rows no longer than 2^(M+S), offset div 2^(M+S) is row div 2^(M+S-c)."""
    p, c, allowed = tile(v)
    offset = v.word("offset", below=1 << BITS)
    return Sequent((allowed, c <= p.m + p.s), (offset >> c) >> (p.m + p.s - c) == offset >> (p.m + p.s))


def long_rows(v: Symbols) -> Sequent:
    """In rows longer than 2^(M+S), columns below 2^(M+S) read (y mod 2^(M+B+S-c)) 2^(c-M-S)."""
    p, c, allowed = tile(v)
    offset = v.word("offset", below=1 << BITS)
    rows = ones(choose(c < span_bits(p), span_bits(p) - c, v.number(0)))
    hypotheses = (allowed, c > p.m + p.s, offset & ones(c) <= ones(p.m + p.s))
    read = (offset >> (p.m + p.s)) & ones(p.b)
    return Sequent(hypotheses, read == ((offset >> c) & rows) << (c - p.m - p.s))


def moved_back(v: Symbols) -> Sequent:
    """Times 2^M that is (y mod 2^(M+B+S-c)) 2^(c-S)."""
    p, c, allowed = tile(v)
    rows = v.word("rows", below=1 << BITS)
    return Sequent((allowed, c > p.m + p.s), (rows << (c - p.m - p.s)) << p.m == rows << (c - p.s))


def shifted(v: Symbols) -> tuple[Parameters, Word, Truth]:
    """Parameters, the distance of some rows of 2^c, and what is supposed of them."""
    p, c, allowed = tile(v)
    distance = v.word("distance", below=1 << BITS)
    return p, distance, allowed & (distance & ones(c) == 0)


def repeats(v: Symbols) -> Sequent:
    """A multiple of the span later the XOR is the same."""
    p, distance, allowed = shifted(v)
    offset = v.word("offset", below=1 << BITS)
    whole = distance & ones(span_bits(p)) == 0
    return Sequent((allowed, whole), change(offset + distance, p) == change(offset, p))


def repeats_no_sooner(v: Symbols) -> Sequent:
    """After any other distance the XOR differs in the first row, or in the row where a carry occurs.

    The carry reaches the mask.
    """
    p, distance, allowed = shifted(v)
    carry = (1 << (p.m + p.s)) - (distance & ones(p.m + p.s))
    offset = choose(distance & yyy(p) != 0, v.number(0), carry)
    row_start = offset & ones(v.words["c"]) == 0
    whole = distance & ones(span_bits(p)) == 0
    return Sequent((allowed, ~whole), row_start & (change(offset + distance, p) != change(offset, p)))


def in_rows(v: Symbols) -> tuple[Truth, Truth, Truth]:
    """The three parts: P rows of 2^c fit, P 2^c is a multiple of 2^n, P is one of 2^max(0, n-c).

    P rows of 2^c and a span of 2^n are below 2^31.
    """
    rows, c, n = v.word("P"), v.word("c", below=BITS), v.word("n", below=BITS + 1)
    fits = rows <= ones(v.number(BITS) - c)
    return fits, (rows << c) & ones(n) == 0, rows & ones(choose(c < n, n - c, v.number(0))) == 0


def in_rows_if(v: Symbols) -> Sequent:
    """Those P are whole spans."""
    fits, whole, multiple = in_rows(v)
    return Sequent((fits, multiple), whole)


def in_rows_only_if(v: Symbols) -> Sequent:
    """No others are."""
    fits, whole, multiple = in_rows(v)
    return Sequent((fits, whole), multiple)


def untouched(v: Symbols) -> tuple[Truth, Truth, Truth]:
    """The three parts: an offset in rows of at most 2^(M+S), it stays, its row is such a multiple.

    Its row div 2^(M+S-c) is a multiple of 2^B.
    """
    p, c, allowed = tile(v)
    offset = v.word("offset", below=1 << BITS)
    row = offset >> c
    return allowed & (c <= p.m + p.s), swizzle(offset, p) == offset, (row >> (p.m + p.s - c)) & ones(p.b) == 0


def untouched_if(v: Symbols) -> Sequent:
    """Those rows stay."""
    there, stays, multiple = untouched(v)
    return Sequent((there, multiple), stays)


def untouched_only_if(v: Symbols) -> Sequent:
    """In any other row no element stays."""
    there, stays, multiple = untouched(v)
    return Sequent((there, ~multiple), ~stays)


def left_half_period(v: Symbols) -> Sequent:
    """With Swizzle<3,0,3> and rows of 16, the XOR of columns 0 to 7 differs P < 8 rows later in some row."""
    p = Parameters(v.number(3), v.number(0), v.number(3))
    rows = v.word("P", below=8)
    offsets = [v.number(16 * y + x) for y in range(8) for x in range(8)]
    return Sequent((rows > 0,), v.some(change(o + (rows << 4), p) != change(o, p) for o in offsets))


def repeats_sooner(point: Point) -> bool:
    """Whether the left half of 16-element rows has the same permutation P < 8 rows later.

    Rows 0 to 31 are compared.
    """
    rows = point["P"]
    xor = {y: [(16 * y + x) >> 3 & 7 for x in range(8)] for y in range(32 + rows)}
    return 0 < rows < 8 and all(xor[y] == xor[y + rows] for y in range(32))


THEOREMS = (
    Theorem(
        "row-xor",
        "S >= B > 0, in rows of 2^c <= 2^(M+S) elements, row y is XORed with ((y div 2^(M+S-c)) mod 2^B) 2^M, the "
        "same in all "
        "columns: "
        "runs of 2^(M+S-c) rows are permuted alike",
        r"c \le M+S \Rightarrow \sigma(y\,2^c + x) = (y\,2^c + x) \oplus "
        r"\bigl(\lfloor y / 2^{M+S-c} \rfloor \bmod 2^B\bigr)\,2^M",
        f"{PERIODS} (rows of 16 with S = 4: every row its own; with S = 5: rows in pairs)",
        f"{SYMBOLIC}, c, the offset y 2^c + x",
        (Obligation("the XOR of an offset", one_xor_a_row), Obligation("depends on its row alone", by_rows)),
    ),
    Theorem(
        "row-xor-long-rows",
        "S >= B > 0, in rows of 2^c > 2^(M+S) elements, the columns below 2^(M+S) of row y are XORed with "
        "(y mod 2^max(0, M+B+S-c)) 2^(c-S)",
        r"c > M+S,\ x < 2^{M+S} \Rightarrow \sigma(y\,2^c + x) = (y\,2^c + x) \oplus "
        r"(y \bmod 2^{\max(0,\,M+B+S-c)})\,2^{c-S}",
        f"{PERIODS} (rows of 16 with S = 3, left half)",
        f"{SYMBOLIC}, c, the offset y 2^c + x",
        (
            Obligation("the XOR of an offset", one_xor_a_row),
            Obligation("what is read depends on its row alone", long_rows),
            Obligation("moved down by S", moved_back),
        ),
    ),
    Theorem(
        "row-period",
        "S >= B > 0, in rows of 2^c elements: P rows later the pattern is the same everywhere iff P is a multiple of "
        "2^max(0, M+B+S-c)",
        r"\bigl(\forall o:\ \sigma(o + P\,2^c) \oplus (o + P\,2^c) = \sigma(o) \oplus o\bigr) "
        r"\iff 2^{\max(0,\,M+B+S-c)} \mid P",
        f"{PERIODS} (S = 4: period 2^B rows; S = 5: period 32)",
        f"{SYMBOLIC}, c, P, the distance P 2^c, the offset",
        (
            Obligation("whole spans later: if", repeats),
            Obligation("whole spans later: only if", repeats_no_sooner),
            Obligation("spans in rows: if", in_rows_if),
            Obligation("spans in rows: only if", in_rows_only_if),
        ),
    ),
    Theorem(
        "rows-untouched",
        "S >= B > 0, in rows of 2^c <= 2^(M+S) elements, row y stays as it is iff y div 2^(M+S-c) is a multiple of "
        "2^B; in any "
        "other "
        "row every element moves",
        r"c \le M+S \Rightarrow \bigl(\sigma(y\,2^c + x) = y\,2^c + x \iff 2^B \mid \lfloor y / 2^{M+S-c} "
        r"\rfloor\bigr)",
        f"{PERIODS} (Swizzle<4,0,4> leaves rows 0 and 16 of 16 elements, Swizzle<3,0,4> rows 0, 8, 16, 24, "
        "Swizzle<4,0,5> rows 0 and 1)",
        f"{SYMBOLIC}, c, the offset y 2^c + x",
        (Obligation("if", untouched_if), Obligation("only if", untouched_only_if)),
    ),
    Theorem(
        "row-period-published",
        "under Swizzle<3,0,3> the left half of 16-element rows repeats every 8 rows and no sooner",
        r"\forall\, 0 < P < 8\ \exists\, y,\ x < 8:\quad "
        r"\sigma(16(y+P) + x) \oplus (16(y+P) + x) \ne \sigma(16y + x) \oplus (16y + x)",
        f"{PERIODS}: S = 3 with the B = 3 of the sentence before is said to give the left half the period 0, 8, 16, 24",
        "P",
        (Obligation("another pattern before row 8", left_half_period),),
        enumerated="the rows 0 to 7 and the columns 0 to 7",
        expected=Outcome.REFUTED,
        refutes=repeats_sooner,
        because="row bit 0 is offset bit 4, so only two bits of the row are among the three that are read: the "
        "period is "
        "2^(0+3+3-4) = 4",
        mended_by="row-xor-long-rows",
    ),
)
