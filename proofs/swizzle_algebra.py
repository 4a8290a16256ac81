"""The map Swizzle<B,M,S> for all B, M and S: involution, bijection, and the bits and blocks it keeps."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Theorem, Truth, choose

from ._sources import CONFLICTS, CUTE, CUTE_4, LEI_MAO
from ._swizzle import (
    SIGNS,
    SYMBOLIC,
    Parameters,
    both_signs,
    fits,
    legal,
    ones,
    parameters,
    span_bits,
    swizzle,
    zzz,
)


def involution(v: Symbols, up: bool) -> Sequent:
    """Twice is the identity."""
    p, x = parameters(v, up=up), v.word("x")
    return Sequent((legal(p),), swizzle(swizzle(x, p), p) == x)


def not_involution(v: Symbols, up: bool) -> Sequent:
    """With |S| < B, a change of a field is read again.

    It is the top bit's change for S > 0, the lowest bit's for S <= 0.
    """
    p = parameters(v, up=up)
    lowest = 1 << p.m
    x = lowest if up else choose(p.s == 0, lowest, 1 << (p.m + p.s + p.b - 1))
    return Sequent((p.b > p.s, fits(p, 32)), swizzle(swizzle(x, p), p) != x)


def one_to_one(v: Symbols, up: bool) -> Sequent:
    """Different offsets have different images; S need not be legal, only not 0."""
    p, x, y = parameters(v, up=up), v.word("x"), v.word("y")
    return Sequent((fits(p, 32), (p.s > 0) | (p.b == 0), x != y), swizzle(x, p) != swizzle(y, p))


def not_one_to_one(v: Symbols) -> Sequent:
    """With S = 0 and B > 0 the offsets 0 and 2^M have one image."""
    p = parameters(v)
    zero = v.number(0)
    return Sequent((fits(p, 32), p.s == 0, p.b > 0), (swizzle(1 << p.m, p) == swizzle(zero, p)) & (1 << p.m != zero))


def legal_one_to_one(v: Symbols, up: bool) -> Sequent:
    """Different offsets have different images."""
    p, x, y = parameters(v, up=up), v.word("x"), v.word("y")
    return Sequent((legal(p), x != y), swizzle(x, p) != swizzle(y, p))


def legal_onto(v: Symbols, up: bool) -> Sequent:
    """Each y is the image of its own image."""
    p, y = parameters(v, up=up), v.word("y")
    preimage = swizzle(y, p)
    return Sequent((legal(p),), swizzle(preimage, p) == y)


def keeps_low(v: Symbols, up: bool) -> Sequent:
    """The low M bits stay."""
    p, x = parameters(v, up=up), v.word("x")
    return Sequent((legal(p),), (swizzle(x, p) ^ x) & ones(p.m) == 0)


def keeps_outside(v: Symbols, up: bool) -> Sequent:
    """Bits outside of ZZZ stay."""
    p, x = parameters(v, up=up), v.word("x")
    return Sequent((legal(p),), (swizzle(x, p) ^ x) & ~zzz(p) == 0)


def block_closed(v: Symbols, up: bool) -> Sequent:
    """An element of block k of 2^(M+B+|S|) stays in it."""
    p, x = parameters(v, up=up), v.word("x")
    return Sequent((legal(p),), swizzle(x, p) >> span_bits(p) == x >> span_bits(p))


def block_onto(v: Symbols, up: bool) -> Sequent:
    """Every element y of a block is the image of one of its elements."""
    p, y = parameters(v, up=up), v.word("y")
    x = swizzle(y, p)
    return Sequent((legal(p),), (x >> span_bits(p) == y >> span_bits(p)) & (swizzle(x, p) == y))


def top_of_zzz(v: Symbols, up: bool) -> tuple[Truth, Truth, Sequent]:
    """The three parts: k is not below the top of ZZZ; legal with B > 0; x stays in its block of 2^k."""
    p, x, k = parameters(v, up=up), v.word("x"), v.word("k", below=33)
    top = p.m + p.b + p.s if up else p.m + p.b
    return k >= top, legal(p) & (p.b > 0), Sequent((), swizzle(x, p) >> k == x >> k)


def small_block_if(v: Symbols, up: bool) -> Sequent:
    """Blocks that reach the top of ZZZ are kept."""
    enough, allowed, kept = top_of_zzz(v, up)
    return Sequent((enough, allowed), kept.conclusion)


def small_block_only_if(v: Symbols, up: bool) -> Sequent:
    """From a smaller block the highest bit that is read moves an element out."""
    p, k = parameters(v, up=up), v.word("k", below=33)
    top = p.m + p.b + p.s if up else p.m + p.b
    x = 1 << (p.m + p.b - 1 if up else p.m + p.s + p.b - 1)
    return Sequent((k < top, legal(p), p.b > 0), swizzle(x, p) >> k != x >> k)


def scaled_down(v: Symbols, up: bool) -> Sequent:
    """Counted in pairs, with M >= 1, it is Swizzle<B,M-1,S>."""
    p, x = parameters(v, up=up), v.word("x")
    pairs = Parameters(p.b, p.m - 1, p.s, up)
    return Sequent((legal(p), p.m >= 1), swizzle(x, p) >> 1 == swizzle(x >> 1, pairs))


def scaled_up(v: Symbols, up: bool) -> Sequent:
    """Counted in halves it is Swizzle<B,M+1,S>."""
    p, x = parameters(v, up=up), v.word("x")
    halves = Parameters(p.b, p.m + 1, p.s, up)
    return Sequent((legal(p, 31), x >> 31 == 0), swizzle(x << 1, halves) == swizzle(x, p) << 1)


THEOREMS = (
    Theorem(
        "swizzle-involution",
        "every legal Swizzle<B,M,S> is its own inverse",
        r"|S| \ge B \Rightarrow \sigma(\sigma(x)) = x",
        CUTE,
        f"{SYMBOLIC}, x",
        both_signs("twice is the identity", involution),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-involution-only-legal",
        "if |S| < B then Swizzle<B,M,S> is not its own inverse",
        r"|S| < B \Rightarrow \exists x:\ \sigma(\sigma(x)) \ne x",
        f"{CUTE} (static_assert on SShift); {CUTE_4}, which asks for S >= B without the reason",
        SYMBOLIC,
        both_signs("an x that does not come back", not_involution),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-bijection",
        "every legal Swizzle<B,M,S> is a bijection of the 32-bit offsets",
        r"|S| \ge B \Rightarrow \sigma : [0, 2^{32}) \to [0, 2^{32}) \text{ is a bijection}",
        f'{LEI_MAO}, section "Offset Bijection"',
        f"{SYMBOLIC}, x, y",
        (*both_signs("one to one", legal_one_to_one), *both_signs("onto", legal_onto)),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-one-to-one-iff",
        "Swizzle<B,M,S>, legal or not, is one to one iff S is not 0 or B is 0",
        r"\sigma \text{ one to one} \iff S \ne 0 \lor B = 0",
        "what is left of a bijection where CuTe's |S| >= B is broken",
        f"{SYMBOLIC}, x, y",
        (*both_signs("if", one_to_one), Obligation("only if", not_one_to_one)),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-keeps-low-bits",
        "Swizzle<B,M,S> keeps the low M bits",
        r"\sigma(x) \equiv x \pmod{2^M}",
        f'{CUTE} ("MBase is the number of least-sig bits to keep constant")',
        f"{SYMBOLIC}, x",
        both_signs("low bits", keeps_low),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-only-zzz",
        "Swizzle<B,M,S> keeps every bit outside of ZZZ, the B bits from M (S > 0) or from M + |S| (S < 0)",
        r"(\sigma(x) \oplus x) \mathbin{\&} \overline{\mathrm{ZZZ}} = 0",
        CUTE,
        f"{SYMBOLIC}, x",
        both_signs("other bits", keeps_outside),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-blocks",
        "a legal Swizzle<B,M,S> permutes every aligned block of 2^(M+B+|S|) offsets",
        r"\sigma \text{ permutes } [k\,2^{M+B+|S|},\ (k+1)\,2^{M+B+|S|})",
        f'{LEI_MAO}, section "Offset Bijection"; {CONFLICTS} (2^B rows of 2^S groups of 2^M)',
        f"{SYMBOLIC}, x, y and with them the block",
        (
            *both_signs("closed", block_closed),
            *both_signs("one to one", legal_one_to_one),
            *both_signs("onto", block_onto),
        ),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-blocks-smallest",
        "for B > 0 a legal swizzle keeps every aligned block of 2^k offsets iff 2^k reaches the top of ZZZ: k >= M + "
        "B for "
        "S > 0, k >= M + B + |S| for S < 0",
        r"\forall x:\ \lfloor \sigma(x) / 2^k \rfloor = \lfloor x / 2^k \rfloor \iff k \ge M + B + \max(0, -S)",
        "sharpens swizzle-blocks",
        f"{SYMBOLIC}, x, k",
        (*both_signs("if", small_block_if), *both_signs("only if", small_block_only_if)),
        enumerated=SIGNS,
    ),
    Theorem(
        "swizzle-scaling",
        "a swizzle counted in units of 2^n, n <= M, is Swizzle<B,M-n,S>; counted in parts of 1/2^e it is "
        "Swizzle<B,M+e,S>",
        r"\lfloor \sigma_{B,M,S}(x) / 2^n \rfloor = \sigma_{B,M-n,S}(\lfloor x / 2^n \rfloor),\quad "
        r"\sigma_{B,M+e,S}(2^e x) = 2^e\,\sigma_{B,M,S}(x)",
        f'{LEI_MAO}, section "Vectorized Memory Access" (re-indexing by >>= MBase and by <<= log2)',
        f"{SYMBOLIC}, x",
        (*both_signs("units twice as large", scaled_down), *both_signs("units half as large", scaled_up)),
        enumerated=f"{SIGNS}; n and e by induction: what is shown is one step, from any M to M - 1 and to M + 1",
    ),
)
