"""Where counting banks really makes conflicts: maps that keep vectors wider than what a lane reads.

An address map keeps vectors of V bytes when the elements of one column lie at the same place of
their vectors. Then a column has 128 / V places in the 128 bytes of all banks.
"""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Theorem, Word, greater, lesser

from ._banks import WIDTHS_BYTES, bank, clash, group_lanes, touched
from ._sources import LEI_MAO, RULE
from ._swizzle import Parameters, ones, swizzle

PERIOD_BYTES = 128
ROW_BITS = 16


def bites(width_bytes: int) -> list[int]:
    """The vector sizes V > max(4, w) in bytes, to 128."""
    return [size for size in (8, 16, 32, 64, PERIOD_BYTES) if size > max(4, width_bytes)]


def one_place_one_bank(v: Symbols) -> Sequent:
    """Two addresses at one place, equal modulo V >= 8, meet in a bank or are the same.

    There are 128 / V places.
    """
    size = v.word("V", below=PERIOD_BYTES + 1)
    a, b = v.word("a"), v.word("b")
    power = (size & (size - 1) == 0) & (size >= 8)
    same_residue = (a ^ b) & (size - 1) == 0
    same_place = (a ^ b) & (PERIOD_BYTES - size) == 0
    return Sequent((power, same_residue, same_place, a != b), clash(a >> 2, b >> 2))


def crowded(width_bytes: int, size_bytes: int) -> Obligation:
    """The lanes of a group, counted by place: some place has at least V / max(4, w) of them."""
    lanes, places = group_lanes(width_bytes), PERIOD_BYTES // size_bytes
    ways = size_bytes // max(4, width_bytes)

    def encode(v: Symbols) -> Sequent:
        counts = [v.word(f"lanes_at_{place}", below=lanes + 1) for place in range(places)]
        total: Word = sum(counts[1:], counts[0])
        return Sequent((total == lanes,), v.some(count >= ways for count in counts))

    return Obligation(f"some place has {ways} lanes, w = {width_bytes}, V = {size_bytes}", encode)


def column_is_free(width_bytes: int) -> Obligation:
    """The swizzle of column-free, on units of V = max(4, w) bytes, keeps them and leaves no conflict."""
    unit_bits = (max(4, width_bytes)).bit_length() - 1
    element_bits = width_bytes.bit_length() - 1

    def encode(v: Symbols) -> Sequent:
        c, k = v.word("c", below=ROW_BITS), v.number(7 - unit_bits)
        p = Parameters(lesser(c, k), v.number(unit_bits), greater(c, k))
        lanes = group_lanes(width_bytes)
        x, group = v.word("x"), v.word("group", below=1 << 8)
        words: list[Word] = []
        for name in ("a", "b"):
            row = group * lanes + v.word(f"row_{name}", below=lanes)
            address = swizzle(((row << c) << unit_bits) + (x << element_bits), p)
            words.append(touched(v, f"word_{name}", address, width_bytes))
        in_row = x <= ones(c + (unit_bits - element_bits))
        return Sequent((in_row,), ~clash(words[0], words[1]))

    return Obligation(f"none is needed, w = {width_bytes}", encode)


def group_fills_banks(width_bytes: int) -> Obligation:
    """Lanes of a group that read consecutive elements touch every bank, and no two words of one."""
    lanes = group_lanes(width_bytes)

    def encode(v: Symbols) -> Sequent:
        line, which = v.word("line", below=1 << 16), v.word("bank", below=32)
        first = line * (lanes * max(width_bytes, 4))
        words = [
            (first + lane * max(width_bytes, 4) >> 2) + q
            for lane in range(lanes)
            for q in range(max(1, width_bytes // 4))
        ]
        return Sequent((), v.count(bank(word) == which for word in words) == 1)

    return Obligation(f"every bank once, w = {width_bytes}", encode)


THEOREMS = (
    Theorem(
        "pigeonhole-bites",
        "if a map keeps vectors of V bytes, V > max(4, w), then a warp that reads w bytes of each of 32 different "
        "vectors of "
        "one column has at least V / max(4, w) words in some bank: whatever the map, it is not free of conflicts",
        r"a_l \equiv \rho \pmod V,\ a_l \ne a_m \Rightarrow \text{degree} \ge V / \max(4, w)",
        f'{LEI_MAO}, section "Vectorized Memory Access", whose pigeonhole argument is this one with 32-bit '
        f"accesses to wider elements; measured on an H100: f32 "
        f"under Swizzle<5,2,6> (V = 16) takes 4 wavefronts; {RULE}",
        "V, the addresses, how many lanes lie at each place",
        (
            Obligation("equal places meet in a bank", one_place_one_bank),
            *(crowded(width, size) for width in WIDTHS_BYTES for size in bites(width)),
        ),
        enumerated="w in 1, 2, 4, 8, 16 and V = 8 .. 128 for the counting",
    ),
    Theorem(
        "pigeonhole-does-not-bite",
        "for V <= max(4, w) it never does: for every element width w of 1 to 16 bytes and rows of 2^c units of "
        "max(4, w) bytes a swizzle that keeps these units leaves every column without conflicts; 64-bit and 128-bit "
        "elements are no exception",
        r"u = \max(4, w),\ 2^k = 128 / u:\quad \sigma_{\min(c,k),\,\log_2 u,\,\max(c,k)} \text{ on addresses is "
        r"conflict-free}",
        f"{RULE}; the mended form of {LEI_MAO}",
        "c, the column, the rows, the lanes and their words",
        (
            *(column_is_free(width) for width in WIDTHS_BYTES),
            *(group_fills_banks(width) for width in WIDTHS_BYTES),
        ),
        enumerated="w in 1, 2, 4, 8, 16",
    ),
)
