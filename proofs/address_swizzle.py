"""A swizzle of element offsets against the same swizzle of byte addresses: equal at which bases?

Elements of 2^e bytes under Swizzle<B,M,S> against Swizzle<B,M+e,S> on base + 2^e offset. The first
is Swizzle<B,M+e,S> on the byte 2^e offset, by swizzle-scaling; what is left is whether adding the
base and swizzling may change places.
"""

from __future__ import annotations

from swzverify.apps.theorems import Sequent, Symbols, Theorem, Truth, Word, choose

from ._sources import CUTE
from ._swizzle import SIGNS, SYMBOLIC, Parameters, both_signs, legal, ones, parameters, span_bits, swizzle, yyy
from .swizzle_algebra import scaled_up

SPAN_BITS = 30
"""The span in bytes is at most 2^30, and bases lie below it, so that nothing wraps at 2^32."""


def setting(v: Symbols, up: bool) -> tuple[Parameters, Word, Word, Truth]:
    """The swizzle of bytes (its M is M + e), the base, e, and the common hypothesis.

    All obligations suppose it: elements are aligned.
    """
    p, base, e = parameters(v, up=up), v.word("base", below=1 << SPAN_BITS), v.word("e", below=SPAN_BITS)
    return p, base, e, legal(p, SPAN_BITS) & (e <= p.m) & (base & ones(e) == 0)


def same(base: Word, byte: Word, p: Parameters) -> Truth:
    """The element that begins at a byte of the unswizzled tile gets one address by both."""
    return swizzle(base + byte, p) == base + swizzle(byte, p)


def equal_if(v: Symbols, up: bool) -> Sequent:
    """The base is a multiple of the span."""
    p, base, e, supposed = setting(v, up)
    byte = v.word("byte", below=1 << SPAN_BITS)
    return Sequent((supposed, base & ones(span_bits(p)) == 0, byte & ones(e) == 0), same(base, byte, p))


def first_difference(v: Symbols, base: Word, p: Parameters) -> Word:
    """A byte offset below the span at which a base that is not a multiple of the span shows."""
    below = p.m if p.up else p.m + p.s
    carry = (1 << below) - (base & ones(below))
    if not p.up:
        return choose(base & yyy(p) != 0, v.number(0), carry)
    # YYY is low: a base with zeros below the top of YYY shows only by a carry into ZZZ, or by a bit
    # of ZZZ itself
    rest = base & ones(span_bits(p))
    target = p.m + p.s
    lowest_of_zzz = rest & (~rest + 1)
    gap = (1 << target) - (rest & ones(target))
    in_gap = choose((rest >> target) & 1 != 0, 1 << p.m, gap + (1 << p.m))
    above = choose(rest & ones(target) == 0, lowest_of_zzz >> p.s, in_gap)
    return choose(rest & yyy(p) != 0, v.number(0), choose(rest & ones(p.m) != 0, carry, above))


def equal_only_if(v: Symbols, up: bool) -> Sequent:
    """At any other base some element of the first span lies elsewhere."""
    p, base, e, supposed = setting(v, up)
    byte = first_difference(v, base, p)
    an_element = (byte <= ones(span_bits(p))) & (byte & ones(e) == 0)
    unaligned = base & ones(span_bits(p)) != 0
    return Sequent((supposed, p.b > 0, unaligned), an_element & ~same(base, byte, p))


THEOREMS = (
    Theorem(
        "element-swizzle-is-address-swizzle",
        "for B > 0, Swizzle<B,M,S> on the offsets of 2^e-byte elements puts every element where Swizzle<B,M+e,S> on "
        "byte "
        "addresses puts it iff the base is a multiple of the span, 2^(M+e+B+|S|) bytes (the base being a multiple of "
        "the "
        "element's size)",
        r"\bigl(\forall o:\ \sigma_{B,M+e,S}(b + 2^e o) = b + 2^e\,\sigma_{B,M,S}(o)\bigr) \iff 2^{M+e+B+|S|} \mid b",
        f"{CUTE} and pointer_swizzle.hpp; measured TMA loads (docs/hardware.md)",
        f"{SYMBOLIC}, e, the offset; base and span to 2^{SPAN_BITS}",
        (
            *both_signs("elements counted in bytes, one step", scaled_up),
            *both_signs("if", equal_if),
            *both_signs("only if", equal_only_if),
        ),
        enumerated=SIGNS,
    ),
)
