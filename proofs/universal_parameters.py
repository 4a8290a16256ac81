"""The "universal" swizzle parameters: where they are legal, keep vectors and free columns.

Elements of S = 2^s bytes, vectors of N = 2^n elements, rows of X = 2^x elements, all powers of two:
MBase = log2 N, BBits = log2(128 / S) - MBase, SShift = log2 X - MBase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swzverify.apps.theorems import (
    Obligation,
    Outcome,
    Point,
    Sequent,
    Symbols,
    Theorem,
    Truth,
    Word,
    choose,
    greater,
    lesser,
)
from swzverify.errors import SwzError
from swzverify.hardware import access_cost
from swzverify.layout import Swizzle

from ._banks import LANES, clash, group_lanes, touched
from ._sources import CUTE_4, LEI_MAO, RULE
from ._swizzle import Parameters, legal, ones, swizzle

UNIVERSAL = f'{LEI_MAO}, section "Universal Swizzle Equations and Configurations"; {CUTE_4}, section on design rules'
MEASURED = (
    "measured on an H100: int8 8x128 Swizzle<3,4,3>, f16 64-wide Swizzle<3,3,3>, f16 128-wide Swizzle<3,3,4>, f16 "
    "32-wide "
    "Swizzle<2,3,3>, f32 (32,16) Swizzle<4,0,5>: all at the minimum"
)
SIZES = "s in 0 .. 4, n in 0 .. 7, x in 0 .. 15"
INSTRUCTION = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.v2.b32", 16: "ld.shared.v4.b32"}


def sizes(v: Symbols) -> tuple[Word, Word, Word]:
    """s, n and x."""
    return v.word("s", below=5), v.word("n", below=8), v.word("x", below=16)


def negative(number: Word) -> Truth:
    """The sign bit of a number in two's complement."""
    return number >> 31 == 1


def cute_accepts(s: Word, n: Word, x: Word) -> Truth:
    """B >= 0 and |S| >= B, with B and S as signed numbers."""
    b, shift = 7 - s - n, x - n
    magnitude = choose(negative(shift), n - x, shift)
    return ~negative(b) & (magnitude >= b)


def in_region(s: Word, n: Word, x: Word) -> Truth:
    """N S <= 128 <= X S."""
    return ((1 << n + s) <= 128) & ((1 << x + s) >= 128)


def accepted_if(v: Symbols) -> Sequent:
    """The region is legal."""
    s, n, x = sizes(v)
    return Sequent((n <= x, in_region(s, n, x)), cute_accepts(s, n, x))


def accepted_only_if(v: Symbols) -> Sequent:
    """Nothing else is."""
    s, n, x = sizes(v)
    return Sequent((n <= x, cute_accepts(s, n, x)), in_region(s, n, x))


def published_legal(v: Symbols) -> Sequent:
    """A vector of up to 16 bytes that fits its row gives legal parameters."""
    s, n, x = sizes(v)
    return Sequent((n <= x, n + s <= 4), cute_accepts(s, n, x))


def is_refused(point: Point) -> bool:
    """Whether CuTe's rules refuse the parameters."""
    s, n, x = point["s"], point["n"], point["x"]
    try:
        Swizzle(7 - s - n, n, x - n)
    except SwzError:
        return True
    return False


def universal(s: Word, n: Word, x: Word) -> Parameters:
    """The parameters, where they are legal."""
    return Parameters(7 - s - n, n, x - n)


def keeps_vectors(v: Symbols) -> Sequent:
    """Element t of the vector at a multiple of N lies t after the vector's image.

    The image is at a multiple of N.
    """
    s, n, x = sizes(v)
    p = universal(s, n, x)
    start, step = v.word("start", below=1 << 24), v.word("step")
    image = swizzle(start, p)
    hypotheses = (n <= x, in_region(s, n, x), start & ones(n) == 0, step <= ones(n))
    return Sequent(hypotheses, (swizzle(start + step, p) == image + step) & (image & ones(n) == 0))


def width(vector_bits: int) -> int:
    """The bytes that one instruction reads of a vector of 2^vector_bits bytes: all, or the first 16."""
    return min(16, 1 << vector_bits)


@dataclass(frozen=True, slots=True)
class TwoLanes:
    """Two lanes of a group that read one column.

    The fields are their numbers in it, byte addresses, words, and the hypotheses.
    """

    lanes: tuple[Word, Word]
    addresses: tuple[Word, Word]
    words: tuple[Word, Word]
    supposed: Truth


def two_lanes(v: Symbols, vector_bits: int, choice: Callable[[Word, Word, Word], Parameters]) -> TwoLanes:
    """Two lanes, each with any word of its vector, at any column and first row.

    N S is 2^vector_bits bytes.
    """
    s, x, first, at = v.word("s", below=5), v.word("x", below=16), v.word("first", below=1 << 6), v.word("at")
    n = vector_bits - s
    p = choice(s, n, x)
    lanes = group_lanes(width(vector_bits))
    a, b = v.word("lane_a", below=lanes), v.word("lane_b", below=lanes)
    one, other = (swizzle(((first * lanes + lane) << x) + (at << n), p) << s for lane in (a, b))
    words = touched(v, "word_a", one, width(vector_bits)), touched(v, "word_b", other, width(vector_bits))
    return TwoLanes((a, b), (one, other), words, (s <= vector_bits) & (n <= x) & (at <= ones(x - n)))


def ways(vector_bits: int) -> int:
    """max(1, 4 / NS, NS / 16)."""
    return max(1, 4 >> vector_bits, 1 << vector_bits >> 4)


def crowd(lane: Word, vector_bits: int) -> Word:
    """(lane div max(1, 4 / NS)) mod (128 / NS): the same number for `ways` lanes of a group."""
    return (lane >> max(0, 2 - vector_bits)) & ((1 << 7 - vector_bits) - 1)


def region_lanes(v: Symbols, vector_bits: int) -> tuple[TwoLanes, Truth, Truth]:
    """Two lanes under the universal parameters, that these are legal, and that both are of one crowd."""
    two = two_lanes(v, vector_bits, universal)
    s, x = v.words["s"], v.words["x"]
    alike = crowd(two.lanes[0], vector_bits) == crowd(two.lanes[1], vector_bits)
    return two, two.supposed & in_region(s, vector_bits - s, x), alike


def crowds_meet(vector_bits: int) -> Obligation:
    """Different lanes of a crowd have different first words in one bank."""

    def encode(v: Symbols) -> Sequent:
        two, supposed, alike = region_lanes(v, vector_bits)
        one, other = two.addresses
        return Sequent((supposed, alike, two.lanes[0] != two.lanes[1]), clash(one >> 2, other >> 2))

    return Obligation(f"crowds of {ways(vector_bits)} meet, NS = {1 << vector_bits}", encode)


def others_do_not(vector_bits: int) -> Obligation:
    """Lanes of different crowds, and the words of one lane, do not meet."""

    def encode(v: Symbols) -> Sequent:
        two, supposed, alike = region_lanes(v, vector_bits)
        one_lane = two.lanes[0] == two.lanes[1]
        return Sequent((supposed, ~alike | one_lane), ~clash(*two.words))

    return Obligation(f"others do not, NS = {1 << vector_bits}", encode)


def crowd_size(vector_bits: int) -> Obligation:
    """Every lane's crowd has `ways` lanes of the group."""

    def encode(v: Symbols) -> Sequent:
        lanes = group_lanes(width(vector_bits))
        lane = v.word("lane", below=lanes)
        same = [crowd(lane, vector_bits) == crowd(v.number(other), vector_bits) for other in range(lanes)]
        return Sequent((), v.count(same) == ways(vector_bits))

    return Obligation(f"a crowd is {ways(vector_bits)} lanes, NS = {1 << vector_bits}", encode)


def stay_apart(vector_bits: int) -> Obligation:
    """Different lanes have different addresses, so that groups do not join."""

    def encode(v: Symbols) -> Sequent:
        two, supposed, _ = region_lanes(v, vector_bits)
        one, other = two.addresses
        return Sequent((supposed, two.lanes[0] != two.lanes[1]), one != other)

    return Obligation(f"groups stay apart, NS = {1 << vector_bits}", encode)


def published_free(v: Symbols) -> Sequent:
    """If the parameters are legal, no two rows of a warp meet in a bank.

    Vectors have one to 16 bytes.
    """
    s, n, x = sizes(v)
    p = universal(s, n, x)
    lane = v.word("lane", below=8)
    one, other = (swizzle(row << x, p) << s for row in (lane, lane + 1))
    return Sequent((n <= x, in_region(s, n, x), n + s <= 4), ~clash(one >> 2, other >> 2))


def has_conflict(point: Point) -> bool:
    """Whether the measured rule has a conflict between the two rows' first vectors."""
    s, n, x = point["s"], point["n"], point["x"]
    moved = Swizzle(7 - s - n, n, x - n)
    rows = (point["lane"], point["lane"] + 1)
    addresses = [moved(row << x) << s if row in rows else None for row in range(LANES)]
    return access_cost(INSTRUCTION[1 << n + s], addresses).bank_conflicts > 0


def mended(s: Word, n: Word, x: Word, v: Symbols) -> Parameters:
    """B = log2 min(128, X S) - log2 N S, M = log2 N, S = log2 max(128, X S) - log2 N S."""
    vector, row, line = s + n, s + x, v.number(7)
    return Parameters(lesser(line, row) - vector, n, greater(line, row) - vector)


def mended_legal(v: Symbols) -> Sequent:
    """CuTe accepts it whenever a vector fits its row and 128 bytes."""
    s, n, x = sizes(v)
    p = mended(s, n, x, v)
    return Sequent((n <= x, s + n <= 7), ~negative(p.b) & ~negative(p.s) & legal(p))


def mended_same(v: Symbols) -> Sequent:
    """It is the published one where that is legal."""
    s, n, x = sizes(v)
    p, q = mended(s, n, x, v), universal(s, n, x)
    return Sequent((n <= x, in_region(s, n, x)), (p.b == q.b) & (p.m == q.m) & (p.s == q.s))


def mended_free(vector_bits: int) -> Obligation:
    """No two lanes of a group touch different words of one bank."""

    def encode(v: Symbols) -> Sequent:
        two = two_lanes(v, vector_bits, lambda s, n, x: mended(s, n, x, v))
        return Sequent((two.supposed,), ~clash(*two.words))

    return Obligation(f"no conflict, NS = {1 << vector_bits}", encode)


def mended_apart(vector_bits: int) -> Obligation:
    """Different lanes have different addresses, so that groups do not join."""

    def encode(v: Symbols) -> Sequent:
        two = two_lanes(v, vector_bits, lambda s, n, x: mended(s, n, x, v))
        one, other = two.addresses
        return Sequent((two.supposed, two.lanes[0] != two.lanes[1]), one != other)

    return Obligation(f"groups stay apart, NS = {1 << vector_bits}", encode)


THEOREMS = (
    Theorem(
        "universal-legal",
        "for vectors that fit their rows, N <= X, the universal parameters are legal iff N S <= 128 <= X S (bytes)",
        r"N \le X:\quad (B \ge 0 \land |\mathrm{SShift}| \ge B) \iff N S \le 128 \le X S",
        f"{UNIVERSAL}, without bounds; NVIDIA CUTLASS, include/cute/swizzle.hpp (static_asserts)",
        f"s, n, x ({SIZES})",
        (Obligation("if", accepted_if), Obligation("only if", accepted_only_if)),
    ),
    Theorem(
        "universal-keeps-vectors",
        "where they are legal the universal parameters keep every aligned vector of N elements whole",
        r"\sigma(kN + t) = \sigma(kN) + t,\quad N \mid \sigma(kN)",
        UNIVERSAL,
        f"s, n, x ({SIZES}), the vector's start, below 2^24, and the element's place in it",
        (Obligation("whole", keeps_vectors),),
    ),
    Theorem(
        "universal-columns",
        "where they are legal and N <= X, a warp that reads a column of vectors (the first 16 bytes of wider ones) "
        "takes exactly "
        "max(1, 4 / NS, NS / 16) times the minimum of wavefronts: free of conflicts iff 4 <= N S <= 16",
        r"\text{wavefronts} = \max\bigl(1, \tfrac{4}{NS}, \tfrac{NS}{16}\bigr) \cdot \text{minimum}",
        f"{UNIVERSAL}, without bounds; {MEASURED}; {RULE}",
        "s, x, the first row, the column, two lanes of a group and their words",
        (
            *(crowds_meet(bits) for bits in range(8) if ways(bits) > 1),
            *(others_do_not(bits) for bits in range(8)),
            *(crowd_size(bits) for bits in range(8)),
            *(stay_apart(bits) for bits in range(3, 8)),
        ),
        enumerated="N S = 1, 2, 4, ..., 128 bytes",
    ),
    Theorem(
        "universal-legal-published",
        "the universal parameters are legal for every element, vector of up to 16 bytes and row",
        r"\forall S, N, X,\ N S \le 16,\ N \le X:\quad B \ge 0 \land |\mathrm{SShift}| \ge B",
        f"{UNIVERSAL}, stated without bounds",
        f"s, n, x ({SIZES})",
        (Obligation("legal", published_legal),),
        expected=Outcome.REFUTED,
        refutes=is_refused,
        because="in rows of less than 128 bytes B bits do not fit below the row's bits",
        mended_by="universal-mended",
    ),
    Theorem(
        "universal-columns-published",
        "where they are legal the universal parameters free every column of vectors of up to 16 bytes",
        r"N S \le 16 \Rightarrow \text{wavefronts} = \text{minimum}",
        f"{UNIVERSAL}, stated without bounds",
        f"s, n, x ({SIZES}), a lane below 8 and the next one",
        (Obligation("neighbouring rows lie in different banks", published_free),),
        expected=Outcome.REFUTED,
        refutes=has_conflict,
        because="vectors narrower than a word put 4 / NS rows into one bank: the lowest bits that the XOR changes "
        "choose no "
        "bank",
        mended_by="universal-columns",
    ),
    Theorem(
        "universal-mended",
        "B = log2 min(128, XS) - log2 NS, M = log2 N, S = log2 max(128, XS) - log2 NS is legal for every row that "
        "holds a "
        "vector (N S <= 128), is the universal choice where that is legal, and frees columns of vectors of 4, 8 and 16 "
        "bytes",
        r"\sigma_{\log_2 \frac{\min(128, XS)}{NS},\ \log_2 N,\ \log_2 \frac{\max(128, XS)}{NS}} "
        r"\text{ is legal, and conflict-free for } 4 \le NS \le 16",
        f"the mended form of {UNIVERSAL}; {MEASURED}",
        f"s, n, x ({SIZES}), the rows, the column, the lanes and their words",
        (
            Obligation("legal", mended_legal),
            Obligation("the universal choice in its region", mended_same),
            *(mended_free(bits) for bits in (2, 3, 4)),
            *(mended_apart(bits) for bits in (3, 4)),
        ),
        enumerated="N S = 4, 8, 16 for the columns",
    ),
)
