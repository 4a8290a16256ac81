"""TMA's 32B, 64B and 128B modes: as a swizzle, as chunk formulas, and with readers of a wrong row.

Mode B = 1, 2, 3: rows of 16 * 2^B bytes are laid down one after the other, then bits of the absolute
address are XORed.
"""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word
from swzverify.layout import Swizzle

from ._sources import CONFLICTS
from ._swizzle import Parameters, swizzle

MEASURED = "392 TMA loads measured on an H100 (docs/hardware.md): a[4] ^= a[7], a[5:4] ^= a[8:7], a[6:4] ^= a[9:7]"
ARTICLE = (
    f'{CONFLICTS}, section "TMA中的swizzling" (swz_y = y16, swz_x = (y16 ^ x16) * 16 / sizeof(T) % NX + '
    "x % (16 / sizeof(T)))"
)
MODES = {1: "32B", 2: "64B", 3: "128B"}


def mode(v: Symbols, b: int) -> Parameters:
    """Swizzle<b,4,3>."""
    return Parameters(v.number(b), v.number(4), v.number(3))


def bit_by_bit(b: int) -> Obligation:
    """Bits 4 .. 3 + b are XORed with those three higher, the others stay."""

    def encode(v: Symbols) -> Sequent:
        a = v.word("a")
        moved = swizzle(a, mode(v, b))
        changed = range(4, 4 + b)
        each = [
            moved.bits(bit, bit)
            == (a.bits(bit, bit) ^ a.bits(bit + 3, bit + 3) if bit in changed else a.bits(bit, bit))
            for bit in range(32)
        ]
        return Sequent((), v.every(each))

    return Obligation(f"{MODES[b]}, bit by bit", encode)


def in_chunks(b: int) -> Obligation:
    """Chunk c of 16 bytes of line n of 128 moves to chunk c ^ (n mod 2^b) of the same line.

    Its bytes stay in order.
    """

    def encode(v: Symbols) -> Sequent:
        a = v.word("a")
        moved, line, chunk = swizzle(a, mode(v, b)), a // 128, a // 16 % 8
        return Sequent((), moved == line * 128 + (chunk ^ line % (1 << b)) * 16 + a % 16)

    return Obligation(f"{MODES[b]}, in chunks", encode)


def element(v: Symbols, b: int) -> tuple[Word, Word, Word, Truth, int]:
    """Base, row y and byte of the row; the base is a multiple of the mode's span; bytes per row."""
    row_bytes = 16 << b
    base, y, byte = v.word("base", below=1 << 24), v.word("y", below=1 << 12), v.word("byte", below=row_bytes)
    return base, y, byte, base % (128 << b) == 0, row_bytes


def tma_address(v: Symbols, b: int, base: Word, y: Word, byte: Word) -> Word:
    """Where the mode puts a byte of a row."""
    return swizzle(base + y * (16 << b) + byte, mode(v, b))


def row_reader(b: int) -> Obligation:
    """Chunk c of row y is read at chunk c ^ ((y >> (3 - b)) mod 2^b) of the row."""

    def encode(v: Symbols) -> Sequent:
        base, y, byte, aligned, row_bytes = element(v, b)
        chunk = byte // 16 ^ (y >> 3 - b) % (1 << b)
        return Sequent((aligned,), tma_address(v, b, base, y, byte) == base + y * row_bytes + chunk * 16 + byte % 16)

    return Obligation(f"{MODES[b]}", encode)


def naive_reader(b: int) -> Obligation:
    """Chunk c of row y is read at c ^ (y mod 8)."""

    def encode(v: Symbols) -> Sequent:
        base, y, byte, aligned, row_bytes = element(v, b)
        chunk = byte // 16 ^ y % 8
        return Sequent((aligned,), tma_address(v, b, base, y, byte) == base + y * row_bytes + chunk * 16 + byte % 16)

    return Obligation(f"{MODES[b]}", encode)


def misreads(b: int, point: Point) -> bool:
    """Whether a reader of chunk ^ (row & 7) looks elsewhere than the mode writes."""
    base, y, byte = point["base"], point["y"], point["byte"]
    written = Swizzle(b, 4, 3)(base + y * (16 << b) + byte)
    return base % (128 << b) == 0 and written != base + y * (16 << b) + (byte // 16 ^ y % 8) * 16 + byte % 16


def article_chunk(y: Word, x: Word, size_log2: int, row_elements: int) -> tuple[Word, Word, Word]:
    """The article's y16, its swz_x from XORing y16 and x16, and the column x.

    Elements have 2^size_log2 bytes.
    """
    a_chunk = 16 >> size_log2
    i16 = ((y * row_elements + x) << size_log2) // 16
    y16, x16 = i16 // 8, i16 % 8
    return y16, (y16 ^ x16) * a_chunk % row_elements + x % a_chunk, x


def article(b: int, size_log2: int, *, row_kept: bool) -> Obligation:
    """Element x of row y is at the article's column of row swz_y.

    swz_y is y16, or y if the row is kept.
    """

    def encode(v: Symbols) -> Sequent:
        row_elements = (16 << b) >> size_log2
        base, y, x = v.word("base", below=1 << 24), v.word("y", below=1 << 12), v.word("x", below=row_elements)
        y16, swz_x, _ = article_chunk(y, x, size_log2, row_elements)
        row = y if row_kept else y16
        written = tma_address(v, b, base, y, x << size_log2)
        return Sequent((base % (128 << b) == 0,), written == base + ((row * row_elements + swz_x) << size_log2))

    return Obligation(f"{MODES[b]}, elements of {8 << size_log2} bits", encode)


def article_misses(b: int, point: Point) -> bool:
    """Whether the article's formulas for halfs name another address than the mode's."""
    base, y, x = point["base"], point["y"], point["x"]
    row_elements = 8 << b
    i16 = (y * row_elements + x) * 2 // 16
    swz_x = (i16 // 8 ^ i16 % 8) * 16 // 2 % row_elements + x % 8
    written = Swizzle(b, 4, 3)(base + (y * row_elements + x) * 2)
    return base % (128 << b) == 0 and written != base + (i16 // 8 * row_elements + swz_x) * 2


def every_byte_off(b: int) -> Obligation:
    """No byte of the first span is where an element swizzle has it, if the base is none of the span.

    The base is a multiple of 128, and no multiple of the span.
    """

    def encode(v: Symbols) -> Sequent:
        base, byte, span = v.word("base", below=1 << 24), v.word("byte", below=128 << b), 128 << b
        p = mode(v, b)
        return Sequent((base % 128 == 0, base % span != 0), swizzle(base + byte, p) != base + swizzle(byte, p))

    return Obligation(f"{MODES[b]}", encode)


def move(address: Word, lane: Word) -> tuple[Word, Word]:
    """A lane's line, and the XOR by which its chunk moves in it.

    The classes of the rule for cp.async are made of these.
    """
    return address // 128, address // 16 % 8 ^ lane % 8


def line_of_chunks(v: Symbols) -> Sequent:
    """Lane l of an octet that writes chunk l ^ c of a line moves as all lanes do.

    It writes into the sector of its mate l ^ 1.
    """
    line, c, lane = v.word("line", below=1 << 20), v.word("c", below=8), v.word("lane", below=8)
    own, mate = (line * 128 + (each ^ c) * 16 for each in (lane, lane ^ 1))
    its_line, its_move = move(own, lane)
    return Sequent((), (its_line == line) & (its_move == c) & (own // 32 == mate // 32))


THEOREMS = (
    Theorem(
        "tma-modes",
        "TMA's 32B, 64B and 128B modes are Swizzle<1,4,3>, Swizzle<2,4,3> and Swizzle<3,4,3> on byte addresses",
        r"\sigma_{B,4,3}(a) = a \text{ with } a[3{+}B\!:\!4] \oplus a[6{+}B\!:\!7]",
        MEASURED,
        "a",
        tuple(bit_by_bit(b) for b in MODES),
        enumerated="the modes, the 32 bits",
    ),
    Theorem(
        "tma-chunks",
        "in mode B = 1, 2, 3 chunk c of 128-byte line n of shared memory goes to chunk c ^ (n mod 2^B) of its line",
        r"\sigma_{B,4,3}(128 n + 16 c + r) = 128 n + 16 (c \oplus (n \bmod 2^B)) + r,\quad c < 8,\ r < 16",
        f"{MEASURED}; {ARTICLE}",
        "a",
        tuple(in_chunks(b) for b in MODES),
        enumerated="the modes",
    ),
    Theorem(
        "tma-rows",
        "a tile of rows of 16 * 2^B bytes whose base is a multiple of 128 * 2^B: chunk c of row y is at chunk "
        "c ^ ((y >> (3 - B)) mod 2^B) of its row",
        r"c' = c \oplus \bigl(\lfloor y / 2^{3-B} \rfloor \bmod 2^B\bigr)",
        MEASURED,
        "base, row, byte",
        tuple(row_reader(b) for b in MODES),
        enumerated="the modes",
    ),
    *(
        Theorem(
            f"tma-row-and-7-{MODES[b].lower()}-mistaken",
            f"a reader of chunk ^ (row & 7) reads a tile of TMA's {MODES[b]} mode",
            r"c' = c \oplus (y \bmod 8)",
            f"the 128B mode's reader, used for {MODES[b]} tiles: a bug that shipped; {MEASURED}",
            "base, row, byte",
            (naive_reader(b),),
            expected=Outcome.REFUTED,
            refutes=lambda point, b=b: misreads(b, point),
            because=f"the mode counts 128-byte lines, {8 >> b} rows each, and XORs {b} bits only",
            mended_by="tma-rows",
        )
        for b in (2, 1)
    ),
    Theorem(
        "tma-article-chunks",
        "the article's column swz_x in row y is where TMA puts element x of row y, for rows of 16 * 2^B bytes, "
        "elements of 1 "
        "to 16 bytes, and a base that is a multiple of 128 * 2^B; in 128B mode its swz_y = y16 is y",
        r"\text{base} + (y\,N_X + x')\,\text{sizeof}(T) = \sigma_{B,4,3}(\text{base} + (y\,N_X + x)\,\text{sizeof}(T))",
        ARTICLE,
        "base, y, x",
        (
            *(article(b, size, row_kept=True) for b in MODES for size in range(5)),
            *(
                Obligation(f"swz_y = y16, {o.name}", o.encode)
                for o in (article(3, s, row_kept=False) for s in range(5))
            ),
        ),
        enumerated="the modes, the element sizes",
    ),
    *(
        Theorem(
            f"tma-article-{MODES[b].lower()}-published",
            f"the article's formulas, with swz_y = y16, hold for halfs in rows of {16 << b} bytes in {MODES[b]} mode",
            r"\text{base} + (y_{16} N_X + x') \cdot 2 = \sigma_{B,4,3}(\text{base} + (y N_X + x) \cdot 2)",
            ARTICLE,
            "base, y, x",
            (article(b, 1, row_kept=False),),
            expected=Outcome.REFUTED,
            refutes=lambda point, b=b: article_misses(b, point),
            because=f"y16 counts 128-byte lines, {8 >> b} rows each: the row must be y",
            mended_by="tma-article-chunks",
        )
        for b in (2, 1)
    ),
    Theorem(
        "tma-misplaced-tile",
        "where the base is a multiple of 128 but not of 128 * 2^B, not one byte of the tile's first 128 * 2^B is "
        "where the "
        "element swizzle of the same B has it",
        r"128 \mid b,\ 128 \cdot 2^B \nmid b \Rightarrow \forall o < 128 \cdot 2^B:\ \sigma_{B,4,3}(b + o) \ne b + "
        r"\sigma_{B,4,3}(o)",
        "an f16 tile under Swizzle<3,3,3> against TMA's 128B mode at base + 128",
        "base, byte",
        tuple(every_byte_off(b) for b in MODES),
        enumerated="the modes",
    ),
    Theorem(
        "cp-async-xor-rows",
        "eight lanes whose 16-byte cp.async write the chunks lane ^ c of one 128-byte line move by one XOR, in pairs "
        "that share a sector, and so cost one wavefront by the rule for cp.async",
        r"\bigl(\lfloor a_l / 128 \rfloor,\ \lfloor a_l / 16 \rfloor \bmod 8 \oplus l\bigr) = (n, c),\ "
        r"\lfloor a_l / 32 \rfloor = \lfloor a_{l \oplus 1} / 32 \rfloor",
        "docs/semantics.md, section 4 (cp.async.16); measured on an H100: exactly one wavefront per row",
        "the line, c, the lane",
        (Obligation("one class", line_of_chunks),),
    ),
)
