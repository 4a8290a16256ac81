"""Columns of row-major tiles: when reading one element per row causes no bank conflict.

A warp reads one element of each of its rows: lane l reads element x of row 32 g + l, all with one
instruction as wide as the element. Rows have 2^c elements; the base is a multiple of 128 bytes,
which leaves every bank as it is.
"""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word, greater, lesser
from swzverify.hardware import access_cost
from swzverify.layout import Swizzle

from ._banks import LANES, clash, group_lanes, some_clash, touched
from ._sources import CUTE_4, LEI_MAO, RULE
from ._swizzle import SYMBOLIC, Parameters, fits, legal, ones, parameters, swizzle

WIDE = {4: "ld.shared.b32", 8: "ld.shared.v2.b32", 16: "ld.shared.v4.b32"}
MEASURED = "measured on an H100: f32 32x64 under Swizzle<5,0,6>, <5,0,8>, <5,2,6>, <5,2,8> takes 1, 4, 4, 16 wavefronts"
ROW_BITS = 16
"""Rows have fewer than 2^16 elements, beyond any shared memory."""


def log2(width_bytes: int) -> int:
    """log2 of a power of two."""
    return width_bytes.bit_length() - 1


def place(element: Word, p: Parameters, width_bytes: int) -> Word:
    """The byte address of an element, from a base that is a multiple of 128 bytes."""
    return swizzle(element, p) << log2(width_bytes)


def right_choice(v: Symbols, p: Parameters, c: Word, width_bytes: int) -> Truth:
    """S = max(c, k), M = 0, B >= min(c, k), where 2^k elements fill the banks once."""
    k = v.number(7 - log2(width_bytes))
    return (p.s == greater(c, k)) & (p.m == 0) & (p.b >= lesser(c, k))


def setting(v: Symbols, width_bytes: int) -> tuple[Parameters, Word, Truth]:
    """Parameters, c >= 1, and that the parameters are legal."""
    p, c = parameters(v), v.word("c", below=ROW_BITS)
    return p, c, legal(p, 32 - log2(width_bytes)) & (c >= 1)


def free_if(width_bytes: int) -> Obligation:
    """No two lanes of a group touch different words of one bank."""

    def encode(v: Symbols) -> Sequent:
        p, c, allowed = setting(v, width_bytes)
        lanes = group_lanes(width_bytes)
        x, group = v.word("x"), v.word("group", below=1 << 8)
        words: list[Word] = []
        for name in ("a", "b"):
            row = group * lanes + v.word(f"row_{name}", below=lanes)
            address = place((row << c) + x, p, width_bytes)
            words.append(touched(v, f"word_{name}", address, width_bytes))
        return Sequent((allowed, x <= ones(c), right_choice(v, p, c, width_bytes)), ~clash(words[0], words[1]))

    return Obligation(f"if, {width_bytes} bytes", encode)


def free_only_if(width_bytes: int) -> Obligation:
    """Otherwise two of the first group's rows meet in column 0."""

    def encode(v: Symbols) -> Sequent:
        p, c, allowed = setting(v, width_bytes)
        addresses = [place(v.number(row) << c, p, width_bytes) for row in range(group_lanes(width_bytes))]
        meet = v.some(clash(addresses[0] >> 2, other >> 2) for other in addresses[1:])
        return Sequent((allowed, ~right_choice(v, p, c, width_bytes)), meet)

    return Obligation(f"only if, {width_bytes} bytes", encode)


def negative_shift(width_bytes: int) -> Obligation:
    """With S <= 0 and B > 0 two of the first group's rows meet in column 0."""

    def encode(v: Symbols) -> Sequent:
        p, c = parameters(v, up=True), v.word("c", below=ROW_BITS)
        addresses = [place(v.number(row) << c, p, width_bytes) for row in range(group_lanes(width_bytes))]
        meet = v.some(clash(addresses[0] >> 2, other >> 2) for other in addresses[1:])
        return Sequent((legal(p, 32 - log2(width_bytes)), p.b > 0, c >= 1), meet)

    return Obligation(f"only if, S <= 0, {width_bytes} bytes", encode)


def not_joined(width_bytes: int) -> Obligation:
    """Neighbouring lanes' addresses differ, at both distances, so that groups do not join."""

    def encode(v: Symbols) -> Sequent:
        p, c, allowed = setting(v, width_bytes)
        x, group = v.word("x"), v.word("group", below=1 << 8)
        rows = [group * LANES + lane for lane in (0, 1, 2)]
        first, by_one, by_two = (place((row << c) + x, p, width_bytes) for row in rows)
        return Sequent((allowed, x <= ones(c)), (first != by_one) & (first != by_two))

    return Obligation(f"groups stay apart, {width_bytes} bytes", encode)


def always_meets(width_bytes: int) -> Obligation:
    """Under every legal swizzle two lanes of a group of column 0 meet, if rows have 32 or more elements."""

    def encode(v: Symbols) -> Sequent:
        p, c, allowed = setting(v, width_bytes)
        lanes = group_lanes(width_bytes)
        addresses = [place(v.number(row) << c, p, width_bytes) for row in range(LANES)]
        groups = [addresses[first : first + lanes] for first in range(0, LANES, lanes)]
        return Sequent((allowed, c >= 5, fits(p, 20)), v.some(some_clash(v, group) for group in groups))

    return Obligation(f"a conflict, {width_bytes} bytes", encode)


def is_free(width_bytes: int, point: Point) -> bool:
    """Whether the measured rule has no conflict in column 0."""
    moved = Swizzle(point["B"], point["M"], point["S"])
    addresses = [width_bytes * moved(row << point["c"]) for row in range(LANES)]
    return access_cost(WIDE[width_bytes], addresses).bank_conflicts == 0


def half_left(v: Symbols) -> Sequent:
    """f32 in rows of 16 under Swizzle<4,0,5>: two of 32 rows meet."""
    p = Parameters(v.number(4), v.number(0), v.number(5))
    x = v.word("x", below=16)
    return Sequent((), some_clash(v, [place(x + 16 * row, p, 4) for row in range(LANES)]))


def none_left(point: Point) -> bool:
    """Whether the measured rule has no conflict in that column."""
    moved = Swizzle(4, 0, 5)
    addresses = [4 * moved(16 * row + point["x"]) for row in range(LANES)]
    return access_cost("ld.shared.b32", addresses).bank_conflicts == 0


def published_never(width_bytes: int) -> Theorem:
    """The published impossibility, for one element width."""
    bits = 8 * width_bytes
    return Theorem(
        f"column-{bits}-bit-published",
        f"a column of {bits}-bit elements always has a bank conflict, under every legal swizzle with S >= 0, in rows "
        f"of 32 "
        "or more elements",
        r"\forall B, M, S, c \ge 5:\quad \text{wavefronts} > \text{groups of lanes}",
        f'{LEI_MAO}, section "Vectorized Memory Access" (the banks\' numbers being a smaller set than [0, 32)); '
        "measured on an H100: f64 32x32 under Swizzle<4,0,5> takes 2 wavefronts with a minimum of 2",
        f"{SYMBOLIC}, c",
        (always_meets(width_bytes),),
        enumerated="the 32 rows",
        expected=Outcome.REFUTED,
        refutes=lambda point: is_free(width_bytes, point),
        because=f"such an access goes in groups of {group_lanes(width_bytes)} lanes, whose words fill the 32 banks "
        f"exactly "
        "once; a warp takes more wavefronts, but none of them is a conflict",
        mended_by="column-free",
    )


THEOREMS = (
    Theorem(
        "column-free",
        "rows of 2^c elements, c >= 1, elements of w = 4, 8 or 16 bytes, 2^k = 128 / w: under a legal swizzle a warp "
        "reads every column without bank conflicts iff S = max(c, k), M = 0 and B >= min(c, k)",
        r"\text{conflict-free} \iff S = \max(c, k) \land M = 0 \land B \ge \min(c, k),\quad 2^k = 128 / w",
        f'{LEI_MAO}, sections on 2D layouts and "CuTe Swizzle Preview" (the case w = 4, c >= 5); {MEASURED}; {RULE}',
        f"{SYMBOLIC}, c, the column, the rows, the lanes and their words",
        (
            *(free_if(width) for width in WIDE),
            *(free_only_if(width) for width in WIDE),
            *(negative_shift(width) for width in WIDE),
            *(not_joined(width) for width in (8, 16)),
        ),
        enumerated='w; for "only if" the rows of the first group',
    ),
    published_never(8),
    published_never(16),
    Theorem(
        "column-shift-published",
        "Swizzle<4,0,5> on 32 rows of 16 floats leaves every column with bank conflicts",
        r"\forall x < 16\ \exists\, y_1 \ne y_2 < 32:\quad "
        r"\sigma_{4,0,5}(16 y_1 + x) \equiv \sigma_{4,0,5}(16 y_2 + x) \pmod{32}",
        f"{CUTE_4}, section 2.1.2 (S = 5 is said to remove only half of the conflicts that S = 4 "
        "does); measured on an H100: 2 wavefronts with S = 4, 1 with S = 5",
        "x",
        (Obligation("two rows meet", half_left),),
        enumerated="the 32 rows",
        expected=Outcome.REFUTED,
        refutes=none_left,
        because="rows 2i and 2i + 1 get one XOR but lie in different halves of the 32 banks; it is S = 4 that leaves "
        "rows y "
        "and y + 2^4 in one bank",
        mended_by="column-free",
    ),
)
