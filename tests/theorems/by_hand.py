"""Every theorem's statement by brute force at small sizes, in plain Python: no Z3, nothing of the
package.

Each check says whether the statement holds at the sizes it tries. Costs come from the tests' own
oracle, which was written from docs/semantics.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from tests.oracle.hardware import Cost, read_instruction, warp_cost

CHECKS: dict[str, Callable[[], bool]] = {}
LOADS = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}


def states(name: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    """Register the check of the theorem of that name."""

    def register(check: Callable[[], bool]) -> Callable[[], bool]:
        assert name not in CHECKS
        CHECKS[name] = check
        return check

    return register


def sw(x: int, b: int, m: int, s: int) -> int:
    """Swizzle<b,m,s>."""
    y = x & (2**b - 1) << m + max(0, s)
    return x ^ (y >> s if s >= 0 else y << -s)


def every(bits: int, *, legal: bool = True) -> Iterator[tuple[int, int, int]]:
    """All (B, M, S) whose fields lie in so many bits; the legal ones, or all."""
    for b, m, s in product(range(bits + 1), range(bits + 1), range(-bits, bits + 1)):
        if b + m + abs(s) <= bits and (abs(s) >= b or not legal):
            yield b, m, s


def distinct(values: Iterable[int]) -> bool:
    seen = list(values)
    return len(set(seen)) == len(seen)


def cost(width: int, addresses: list[int]) -> Cost:
    return warp_cost(read_instruction(LOADS[width]), addresses)


def free(width: int, addresses: list[int]) -> bool:
    found = cost(width, addresses)
    return found.wavefronts == found.minimum


@states("xor-interval")
def _() -> bool:
    return all(
        {x ^ c for x in range(k << m, k + 1 << m)} == set(range(k << m, k + 1 << m))
        for m in range(5)
        for k in range(5)
        for c in range(1 << m)
    )


@states("xor-interval-only-aligned")
def _() -> bool:
    return all(
        any({x ^ c for x in range(a, a + 2**m)} != set(range(a, a + 2**m)) for c in range(2**m))
        for m in range(5)
        for a in range(64)
        if a % 2**m
    )


@states("xor-interval-published")
def _() -> bool:
    return all(
        {x ^ c for x in range(k, k * 2**m + 1)} == set(range(k, k * 2**m + 1))
        for m in range(1, 4)
        for k in range(1, 4)
        for c in range(1 << m)
    )


@states("xor-tile-rows")
def _() -> bool:
    return all({x ^ y for x in range(2**k)} == set(range(2**k)) for k in range(6) for y in range(2**k))


@states("xor-tile-columns")
def _() -> bool:
    return all({x ^ y for y in range(2**k)} == set(range(2**k)) for k in range(6) for x in range(2**k))


@states("xor-tile-tall")
def _() -> bool:
    rows = all({x ^ y % 2**c for x in range(2**c)} == set(range(2**c)) for c in range(5) for y in range(40))
    columns = all(
        (x ^ y1 % 2**c == x ^ y2 % 2**c) == ((y1 - y2) % 2**c == 0)
        for c in range(4)
        for x in range(2**c)
        for y1 in range(20)
        for y2 in range(20)
    )
    return rows and columns


@states("swizzle-involution")
def _() -> bool:
    return all(sw(sw(x, *p), *p) == x for p in every(7) for x in range(128))


@states("swizzle-involution-only-legal")
def _() -> bool:
    return all(any(sw(sw(x, *p), *p) != x for x in range(128)) for p in every(7, legal=False) if p[0] > abs(p[2]))


@states("swizzle-bijection")
def _() -> bool:
    return all({sw(x, *p) for x in range(128)} == set(range(128)) for p in every(7))


@states("swizzle-one-to-one-iff")
def _() -> bool:
    return all(distinct(sw(x, *p) for x in range(128)) == (p[2] != 0 or p[0] == 0) for p in every(7, legal=False))


@states("swizzle-keeps-low-bits")
def _() -> bool:
    return all(sw(x, b, m, s) % 2**m == x % 2**m for b, m, s in every(7) for x in range(128))


@states("swizzle-only-zzz")
def _() -> bool:
    def outside(bit: int, b: int, m: int, s: int) -> bool:
        low = m if s >= 0 else m - s
        return not low <= bit < low + b

    return all(
        (sw(x, *p) >> bit & 1) == (x >> bit & 1)
        for p in every(6)
        for x in range(64)
        for bit in range(8)
        if outside(bit, *p)
    )


@states("swizzle-blocks")
def _() -> bool:
    return all(
        {sw(x, b, m, s) for x in range(k * n, k * n + n)} == set(range(k * n, k * n + n))
        for b, m, s in every(5)
        for n in [2 ** (b + m + abs(s))]
        for k in range(3)
    )


@states("swizzle-blocks-smallest")
def _() -> bool:
    return all(
        all(sw(x, b, m, s) >> k == x >> k for x in range(256)) == (k >= m + b + max(0, -s))
        for b, m, s in every(6)
        for k in range(8)
        if b
    )


@states("swizzle-scaling")
def _() -> bool:
    down = all(
        sw(x, b, m, s) >> n == sw(x >> n, b, m - n, s) for b, m, s in every(6) for n in range(m + 1) for x in range(64)
    )
    up = all(
        sw(x << e, b, m + e, s) == sw(x, b, m, s) << e for b, m, s in every(5) for e in range(4) for x in range(32)
    )
    return down and up


@states("swizzle-vectors")
def _() -> bool:
    def kept(n: int, p: tuple[int, int, int]) -> bool:
        starts = range(0, 256, 2**n)
        return all(
            sw(v, *p) % 2**n == 0 and [sw(v + t, *p) for t in range(2**n)] == list(range(sw(v, *p), sw(v, *p) + 2**n))
            for v in starts
        )

    return all(kept(n, p) == (n <= p[1]) for p in every(6) for n in range(8) if p[0])


@states("vectors-share-high-bits")
def _() -> bool:
    return all((k * 2**n + t) >> n == k for n in range(5) for k in range(9) for t in range(2**n))


@states("f16-vectors-published")
def _() -> bool:
    return all(
        [sw(v + t, 3, 2, 3) for t in range(8)] == list(range(sw(v, 3, 2, 3), sw(v, 3, 2, 3) + 8))
        for v in range(0, 512, 8)
    )


def positive(bits: int) -> Iterator[tuple[int, int, int]]:
    return (p for p in every(bits) if p[0] and p[2] > 0)


@states("row-xor")
def _() -> bool:
    return all(
        sw(y * 2**c + x, b, m, s) == (y * 2**c + x) ^ ((y >> m + s - c) % 2**b << m)
        for b, m, s in positive(6)
        for c in range(m + s + 1)
        for y in range(2 ** (8 - c))
        for x in range(2**c)
    )


@states("row-xor-long-rows")
def _() -> bool:
    return all(
        sw(y * 2**c + x, b, m, s) == (y * 2**c + x) ^ (y % 2 ** max(0, m + b + s - c) << c - s)
        for b, m, s in positive(6)
        for c in range(m + s + 1, 8)
        for y in range(8)
        for x in range(2 ** (m + s))
    )


@states("row-period")
def _() -> bool:
    def pattern(o: int, p: tuple[int, int, int]) -> int:
        return sw(o, *p) ^ o

    return all(
        all(pattern(o + rows * 2**c, p) == pattern(o, p) for o in range(64)) == (rows % 2 ** max(0, sum(p) - c) == 0)
        for p in positive(5)
        for c in range(7)
        for rows in range(40)
    )


@states("rows-untouched")
def _() -> bool:
    return all(
        (sw(y * 2**c + x, b, m, s) == y * 2**c + x) == ((y >> m + s - c) % 2**b == 0)
        for b, m, s in positive(6)
        for c in range(m + s + 1)
        for y in range(2 ** (8 - c))
        for x in range(2**c)
    )


@states("row-period-published")
def _() -> bool:
    left = [[sw(16 * y + x, 3, 0, 3) ^ (16 * y + x) for x in range(8)] for y in range(32)]
    return all(any(left[y] != left[y + rows] for y in range(16)) for rows in range(1, 8))


@states("element-swizzle-is-address-swizzle")
def _() -> bool:
    def same(p: tuple[int, int, int], e: int, base: int) -> bool:
        b, m, s = p
        span = 2 ** (b + m + abs(s))
        return all(sw(base + (o << e), b, m + e, s) == base + (sw(o, *p) << e) for o in range(span))

    return all(
        same(p, e, base) == (base % 2 ** (e + p[0] + p[1] + abs(p[2])) == 0)
        for p in every(5)
        if p[0]
        for e in range(3)
        for base in range(0, 160, 2**e)
    )


def column_free(p: tuple[int, int, int], c: int, width: int) -> bool:
    return all(
        free(width, [width * sw((first + lane << c) + x, *p) for lane in range(32)])
        for first in (0, 32)
        for x in {0, 1 % 2**c, 2**c - 1}
    )


@states("column-free")
def _() -> bool:
    good = True
    for width, k in ((4, 5), (8, 4), (16, 3)):
        for c in range(1, 8):
            for b, m, s in every(9):
                expected = (s == max(c, k) and m == 0 and b >= min(c, k)) if b else False
                good &= column_free((b, m, s), c, width) == expected
    return good


def no_free_column(width: int) -> bool:
    """No swizzle frees column 0 of rows of 32."""
    return not any(free(width, [width * sw(lane << 5, *p) for lane in range(32)]) for p in every(10) if p[2] >= 0)


@states("column-64-bit-published")
def _() -> bool:
    return no_free_column(8)


@states("column-128-bit-published")
def _() -> bool:
    return no_free_column(16)


@states("column-shift-published")
def _() -> bool:
    return not any(free(4, [4 * sw(16 * lane + x, 4, 0, 5) for lane in range(32)]) for x in range(16))


@states("pigeonhole-bites")
def _() -> bool:
    draw = random.Random(1)
    for width in LOADS:
        for size in (8, 16, 32, 64, 128):
            if size <= max(4, width):
                continue
            for _ in range(40):
                place = draw.randrange(0, size, width)
                vectors = draw.sample(range(256), 32)
                found = cost(width, [v * size + place for v in vectors])
                if found.wavefronts < found.minimum * size // max(4, width):
                    return False
    return True


@states("pigeonhole-does-not-bite")
def _() -> bool:
    for width in LOADS:
        unit = max(4, width)
        k, log = {4: (5, 2), 8: (4, 3), 16: (3, 4)}[unit]
        for c in range(9):
            p = (min(c, k), log, max(c, k))
            for x in {0, width, (unit << c) - width, (unit << c) // 2} & set(range(0, unit << c, width)):
                if not free(width, [sw((lane << c) * unit + x, *p) for lane in range(32)]):
                    return False
        assert free(width, [unit * lane for lane in range(32)])
    return True


SIZES = [(s, n, x) for s in range(5) for n in range(8) for x in range(n, 12)]


def is_legal(s: int, n: int, x: int) -> bool:
    return 7 - s - n >= 0 and abs(x - n) >= 7 - s - n


@states("universal-legal")
def _() -> bool:
    return all(is_legal(s, n, x) == (2**n * 2**s <= 128 <= 2**x * 2**s) for s, n, x in SIZES)


@states("universal-keeps-vectors")
def _() -> bool:
    return all(
        sw(v, 7 - s - n, n, x - n) % 2**n == 0 and sw(v + t, 7 - s - n, n, x - n) == sw(v, 7 - s - n, n, x - n) + t
        for s, n, x in SIZES
        if is_legal(s, n, x) and x < 9
        for v in range(0, 2048, 2**n)
        for t in range(2**n)
    )


def universal_ways(s: int, n: int, x: int, p: tuple[int, int, int]) -> set[float]:
    """Wavefronts over the minimum, of a few columns of vectors."""
    width = min(16, 2 ** (s + n))
    columns = {0, (2 ** (x - n) - 1) << n}
    found = [cost(width, [sw((lane << x) + at, *p) << s for lane in range(32)]) for at in columns]
    return {one.wavefronts / one.minimum for one in found}


@states("universal-columns")
def _() -> bool:
    return all(
        universal_ways(s, n, x, (7 - s - n, n, x - n)) == {max(1, 4 / 2 ** (s + n), 2 ** (s + n) / 16)}
        for s, n, x in SIZES
        if is_legal(s, n, x)
    )


@states("universal-legal-published")
def _() -> bool:
    return all(is_legal(s, n, x) for s, n, x in SIZES if s + n <= 4)


@states("universal-columns-published")
def _() -> bool:
    return all(
        universal_ways(s, n, x, (7 - s - n, n, x - n)) == {1} for s, n, x in SIZES if is_legal(s, n, x) and s + n <= 4
    )


@states("universal-mended")
def _() -> bool:
    for s, n, x in SIZES:
        vector, row = s + n, s + x
        b, m, shift = min(7, row) - vector, n, max(7, row) - vector
        if vector > 7:
            continue
        if b < 0 or shift < b:
            return False
        if is_legal(s, n, x) and (b, m, shift) != (7 - s - n, n, x - n):
            return False
        if 2 <= vector <= 4 and universal_ways(s, n, x, (b, m, shift)) != {1}:
            return False
    return True


@states("joining-never-costs")
def _() -> bool:
    draw = random.Random(2)
    for width in (8, 16):
        load, store = (read_instruction(name) for name in (LOADS[width], LOADS[width].replace("ld", "st")))
        for _ in range(3000):
            distance, units = draw.choice((1, 2)), draw.choice((2, 8, 16, 64))
            unit = [draw.randrange(units) for _ in range(32)]
            lanes = [unit[lane & ~distance] * width if draw.random() < 0.9 else None for lane in range(32)]
            if warp_cost(load, lanes).wavefronts > warp_cost(store, lanes).wavefronts:
                return False
    return True


@states("joining-conflicts-mistaken")
def _() -> bool:
    draw = random.Random(3)
    load, store = read_instruction(LOADS[16]), read_instruction("st.shared.v4.b32")
    for _ in range(3000):
        unit = [draw.choice((0, 1, 2, 8)) for _ in range(16)]
        lanes = [16 * unit[lane // 2] for lane in range(32)]
        joined, apart = warp_cost(load, lanes), warp_cost(store, lanes)
        if apart.wavefronts == apart.minimum and joined.wavefronts > joined.minimum:
            return False
    return True


@states("four-phases-mistaken")
def _() -> bool:
    return all(
        cost(16, [(lane >> p & m) << 4 for lane in range(32)]).wavefronts >= 4 for p in range(3) for m in (7, 15, 31)
    )


def pitch_free(width: int, pitch: int) -> bool:
    return all(
        free(width, [((first + lane) * pitch + x) * width for lane in range(32)])
        for first in range(4)
        for x in range(min(pitch, 4))
    )


@states("pitch-free")
def _() -> bool:
    return all(
        pitch_free(width, pitch) == (pitch % (2 * u) == u or pitch <= u)
        for width in LOADS
        for u in [max(1, 4 // width)]
        for pitch in range(1, 140)
    )


@states("plus-one")
def _() -> bool:
    works = {1: lambda x: x % 8 == 3 or x < 4, 2: lambda x: x % 4 == 1 or x < 2}
    return all(
        pitch_free(width, x + 1) == works.get(width, lambda x: x % 2 == 0)(x) for width in LOADS for x in range(140)
    )


@states("plus-one-halfs-mistaken")
def _() -> bool:
    return pitch_free(2, 33)


@states("pitch-aligned")
def _() -> bool:
    return all(
        all((row * pitch + at) % size == 0 for row in range(4) for at in range(0, 64, size)) == (pitch % size == 0)
        for size in (1, 2, 4, 8, 16)
        for pitch in range(70)
    )


@states("plus-one-vectors-mistaken")
def _() -> bool:
    return all(row * (x + 1) * 2 % 16 == 0 for x in range(8, 80, 8) for row in range(8))


def tma(a: int, mode: int) -> int:
    """The measured rule, bit by bit."""
    for bit in range(4, 4 + mode):
        a ^= (a >> bit + 3 & 1) << bit
    return a


@states("tma-modes")
def _() -> bool:
    return all(sw(a, mode, 4, 3) == tma(a, mode) for mode in (1, 2, 3) for a in range(4096))


@states("tma-chunks")
def _() -> bool:
    return all(
        tma(128 * n + 16 * c + r, mode) == 128 * n + 16 * (c ^ n % 2**mode) + r
        for mode in (1, 2, 3)
        for n in range(20)
        for c in range(8)
        for r in range(16)
    )


def reads(mode: int, chunk_of: Callable[[int, int], int]) -> bool:
    row_bytes, span = 16 << mode, 128 << mode
    return all(
        tma(base + y * row_bytes + byte, mode) == base + y * row_bytes + chunk_of(byte // 16, y) * 16 + byte % 16
        for base in (0, span, 5 * span)
        for y in range(20)
        for byte in range(row_bytes)
    )


@states("tma-rows")
def _() -> bool:
    return all(reads(mode, lambda c, y, mode=mode: c ^ (y >> 3 - mode) % 2**mode) for mode in (1, 2, 3))


@states("tma-row-and-7-64b-mistaken")
def _() -> bool:
    return reads(2, lambda c, y: c ^ y & 7)


@states("tma-row-and-7-32b-mistaken")
def _() -> bool:
    return reads(1, lambda c, y: c ^ y & 7)


def article(mode: int, size: int, *, row_kept: bool) -> bool:
    columns = (16 << mode) // size
    for base, y, x in product((0, 128 << mode), range(20), range(columns)):
        i16 = (y * columns + x) * size // 16
        y16, x16 = i16 // 8, i16 % 8
        swz_x = (y16 ^ x16) * 16 // size % columns + x % (16 // size)
        if tma(base + (y * columns + x) * size, mode) != base + ((y if row_kept else y16) * columns + swz_x) * size:
            return False
    return True


@states("tma-article-chunks")
def _() -> bool:
    return all(
        article(mode, size, row_kept=kept)
        for mode in (1, 2, 3)
        for size in (1, 2, 4, 8, 16)
        for kept in ((True, False) if mode == 3 else (True,))
    )


@states("tma-article-64b-published")
def _() -> bool:
    return article(2, 2, row_kept=False)


@states("tma-article-32b-published")
def _() -> bool:
    return article(1, 2, row_kept=False)


@states("tma-misplaced-tile")
def _() -> bool:
    return all(
        tma(base + o, mode) != base + tma(o, mode)
        for mode in (1, 2, 3)
        for base in range(0, 2048, 128)
        if base % (128 << mode)
        for o in range(128 << mode)
    )


@states("cp-async-xor-rows")
def _() -> bool:
    copy = read_instruction("cp.async.16")
    lanes = range(32)
    return all(
        warp_cost(copy, [128 * rows[lane // 8] + 16 * (lane % 8 ^ c) for lane in lanes]).wavefronts == 4
        for c in range(8)
        for rows in ([0, 1, 2, 3], [9, 2, 5, 7])
    )


@states("xor-double-buffer")
def _() -> bool:
    return all(
        all((base + o ^ 2**m) == base + o + 2**m and (base + o ^ 2**m ^ 2**m) == base + o for o in range(2**m))
        == (base % 2 ** (m + 1) == 0)
        for m in range(6)
        for base in range(200)
    )
