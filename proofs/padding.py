"""Padded rows: which row pitch frees columns of bank conflicts, and which keeps vectors aligned.

Lane l reads the element o + L l, rows of L = X + pad elements of w bytes; o is any element, so
every column and every first row.
"""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Outcome, Point, Sequent, Symbols, Theorem, Truth, Word
from swzverify.hardware import access_cost

from ._banks import LANES, WIDTHS_BYTES, bank, clash, group_lanes, touched
from ._sources import CONFLICTS, RULE

ARTICLE = f'{CONFLICTS}, section "简单方法" (B[32][32] to B[32][33])'
MEASURED = (
    "measured on an H100: f32 [32][33] 1 wavefront, f16 [32][33] 2, f16 rows of 72 read by ldmatrix 4 of 4; f32 rows "
    "of "
    "128, 129, 132 in the CUTLASS tutorial"
)
PITCHES = 1 << 16


def elements_per_word(width_bytes: int) -> int:
    """The number u = max(1, 4 / w)."""
    return max(1, 4 // width_bytes)


def odd_words(pitch: Word, width_bytes: int) -> Truth:
    """L is an odd multiple of u."""
    u = elements_per_word(width_bytes)
    return pitch % (2 * u) == u


def address(first: Word, pitch: Word, lane: Word | int, width_bytes: int) -> Word:
    """The byte address of a lane's element."""
    return (first + pitch * lane) << width_bytes.bit_length() - 1


def two_words(v: Symbols, width_bytes: int, pitch: Word) -> tuple[Word, Word, Word]:
    """The distance of two lanes of a group, and a word that each touches.

    The earlier lane reads any element o.
    """
    first, apart = v.word("o", below=1 << 24), v.word("apart", below=group_lanes(width_bytes))
    one = touched(v, "word_a", address(first, pitch, 0, width_bytes), width_bytes)
    other = touched(v, "word_b", address(first, pitch, apart, width_bytes), width_bytes)
    return apart, one, other


def odd_is_free(width_bytes: int) -> Obligation:
    """L an odd multiple of u: words in one bank belong to one lane, and are one word of it."""

    def encode(v: Symbols) -> Sequent:
        pitch = v.word("L", below=PITCHES)
        apart, one, other = two_words(v, width_bytes, pitch)
        one_bank = bank(one) == bank(other)
        return Sequent((odd_words(pitch, width_bytes), one_bank), (apart == 0) & (one == other))

    return Obligation(f"if, an odd multiple, w = {width_bytes}", encode)


def dense_is_free(width_bytes: int) -> Obligation:
    """L <= u: 32 rows are no more than the 128 bytes of all banks."""

    def encode(v: Symbols) -> Sequent:
        pitch = v.word("L", below=elements_per_word(width_bytes) + 1)
        _, one, other = two_words(v, width_bytes, pitch)
        return Sequent((pitch >= 1,), ~clash(one, other))

    return Obligation(f"if, rows of at most a word, w = {width_bytes}", encode)


def others_clash(width_bytes: int) -> Obligation:
    """Any other pitch: in one of the first columns two lanes of the first group meet."""

    def encode(v: Symbols) -> Sequent:
        pitch, u = v.word("L", below=PITCHES), elements_per_word(width_bytes)
        lanes = group_lanes(width_bytes)
        meetings = [
            clash(*(address(v.number(x), pitch, lane, width_bytes) >> 2 for lane in (low, low + distance)))
            for distance in range(1, lanes)
            for low in range(min(u, lanes - distance))
            for x in range(u)
        ]
        return Sequent((pitch > u, ~odd_words(pitch, width_bytes)), v.some(meetings))

    return Obligation(f"only if, w = {width_bytes}", encode)


def stay_apart(width_bytes: int) -> Obligation:
    """Lanes 1 and 2 do not read lane 0's address, so that groups do not join."""

    def encode(v: Symbols) -> Sequent:
        first, pitch = v.word("o", below=1 << 24), v.word("L", below=PITCHES)
        own, one, two = (address(first, pitch, lane, width_bytes) for lane in (0, 1, 2))
        return Sequent((pitch >= 1,), (own != one) & (own != two))

    return Obligation(f"groups stay apart, w = {width_bytes}", encode)


def plus_one(width_bytes: int) -> tuple[Obligation, Obligation]:
    """X + 1 is at most u or an odd multiple of u, both ways, in terms of X."""
    u = elements_per_word(width_bytes)

    def sides(v: Symbols) -> tuple[Truth, Truth]:
        length = v.word("X", below=PITCHES - 1)
        pitch = length + 1
        return (pitch <= u) | odd_words(pitch, width_bytes), (length < u) | (length % (2 * u) == u - 1)

    def forward(v: Symbols) -> Sequent:
        pitch_is_good, length_is_good = sides(v)
        return Sequent((length_is_good,), pitch_is_good)

    def back(v: Symbols) -> Sequent:
        pitch_is_good, length_is_good = sides(v)
        return Sequent((pitch_is_good,), length_is_good)

    return Obligation(f"if, w = {width_bytes}", forward), Obligation(f"only if, w = {width_bytes}", back)


def published(v: Symbols) -> Sequent:
    """Rows of 32 halfs padded by one: no two of 32 lanes meet."""
    x = v.word("x", below=32)
    words = [address(x, v.number(33), lane, 2) >> 2 for lane in range(LANES)]
    return Sequent((), v.every(~clash(a, b) for i, a in enumerate(words) for b in words[:i]))


def still_conflicts(point: Point) -> bool:
    """Whether the measured rule has a conflict in that column."""
    addresses = [2 * (33 * lane + point["x"]) for lane in range(LANES)]
    return access_cost("ld.shared.b16", addresses).bank_conflicts > 0


def multiple(number: Word, size: Word) -> Truth:
    """A multiple of a power of two."""
    return number & (size - 1) == 0


def row_of_vectors(v: Symbols) -> tuple[Word, Word, Truth]:
    """Row pitch and vector in bytes; the vector has 1, 2, 4, 8 or 16."""
    pitch, size = v.word("pitch", below=PITCHES), v.word("V", below=17)
    return pitch, size, (size & (size - 1) == 0) & (size >= 1)


def aligned_if(v: Symbols) -> Sequent:
    """Row pitches of whole vectors keep every vector aligned that is aligned in its row."""
    pitch, size, power = row_of_vectors(v)
    row, at = v.word("row", below=PITCHES), v.word("at")
    return Sequent((power, multiple(pitch, size), multiple(at, size)), multiple(row * pitch + at, size))


def aligned_only_if(v: Symbols) -> Sequent:
    """Otherwise the vector at the start of row 1 is misaligned."""
    pitch, size, power = row_of_vectors(v)
    return Sequent((power, ~multiple(pitch, size)), ~multiple(1 * pitch + 0, size))


def half_rows_aligned(v: Symbols) -> Sequent:
    """16-byte vectors at the start of rows of X + 1 halfs, X a multiple of 8."""
    length, row = v.word("X", below=1 << 10), v.word("row", below=32)
    return Sequent((length % 8 == 0, length > 0), ((length + 1) * row * 2) % 16 == 0)


def is_misaligned(point: Point) -> bool:
    """Whether the row starts off a multiple of 16 bytes."""
    return point["X"] % 8 == 0 and (point["X"] + 1) * point["row"] * 2 % 16 != 0


THEOREMS = (
    Theorem(
        "pitch-free",
        "with rows of L elements of w bytes (L >= 1, u = max(1, 4 / w) of them a word), a warp reads every column "
        "without bank "
        "conflicts iff L is an odd multiple of u or L <= u",
        r"\text{conflict-free in every column} \iff L \equiv u \!\!\pmod{2u} \lor L \le u,\quad u = \max(1, 4/w)",
        f"{ARTICLE}, for w = 4; {MEASURED}; {RULE}",
        "L below 2^16, the column and first row, the lanes and their words",
        (
            *(odd_is_free(width) for width in WIDTHS_BYTES),
            *(dense_is_free(width) for width in WIDTHS_BYTES),
            *(others_clash(width) for width in WIDTHS_BYTES),
            *(stay_apart(width) for width in (8, 16)),
        ),
        enumerated='w in 1, 2, 4, 8, 16; for "only if" the lanes and the first u columns',
    ),
    Theorem(
        "plus-one",
        "padding rows of X elements by one frees every column iff X is even (w = 4, 8, 16), X = 1 modulo 4 (w = 2), "
        "X = 3 "
        "modulo 8 (w = 1), or the padded row is at most a word: so never for halfs and bytes in rows of a power of "
        "two >= 4",
        r"\text{pad } 1 \text{ works} \iff X \equiv u - 1 \!\!\pmod{2u} \lor X < u,\quad u = \max(1, 4/w)",
        f"{ARTICLE}; pitch-free with L = X + 1",
        "X",
        tuple(side for width in WIDTHS_BYTES for side in plus_one(width)),
        enumerated="w in 1, 2, 4, 8, 16",
    ),
    Theorem(
        "plus-one-halfs-mistaken",
        "padding rows of 32 elements by one frees columns of halfs as it does columns of floats",
        r"\forall x < 32:\quad \text{lanes } 2(33\,l + x) \text{ have no bank conflict}",
        f"{ARTICLE}, taken over to 2-byte elements; measured on an H100: f16 [32][33] 2 wavefronts",
        "x",
        (Obligation("no two lanes meet", published),),
        enumerated="the 32 lanes",
        expected=Outcome.REFUTED,
        refutes=still_conflicts,
        because="33 halfs are 16.5 words: in odd columns the first and the last row of a warp share a bank",
        mended_by="pitch-free",
    ),
    Theorem(
        "pitch-aligned",
        "rows of a pitch of P bytes keep every aligned vector of V bytes aligned iff P is a multiple of V",
        r"\bigl(\forall r,\ V \mid o:\ V \mid rP + o\bigr) \iff V \mid P",
        f"PTX ISA, ld (vector accesses are aligned to the vector); {ARTICLE}, which pads vectors by whole vectors",
        "P and rows below 2^16, V in 1, 2, 4, 8, 16, the vector's place in its row",
        (Obligation("if", aligned_if), Obligation("only if", aligned_only_if)),
    ),
    Theorem(
        "plus-one-vectors-mistaken",
        "rows of X halfs, X a multiple of 8, can be padded by one and still be read by 128-bit accesses",
        r"8 \mid X \Rightarrow 16 \mid 2 (X + 1) r",
        f"{ARTICLE}, taken over to vector instructions",
        "X below 2^10, the row",
        (Obligation("aligned", half_rows_aligned),),
        expected=Outcome.REFUTED,
        refutes=is_misaligned,
        because="the pad must be a multiple of the vector, and the padded row an odd number of vectors: 64 halfs to 72",
        mended_by="pitch-aligned",
    ),
)
