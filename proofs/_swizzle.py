"""Swizzle<B,M,S> as a formula with symbolic B, M and S.

Source: NVIDIA CUTLASS, include/cute/swizzle.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Truth, Word

SYMBOLIC = "B, M, |S|"
SIGNS = "the sign of S (S >= 0 and S <= 0)"


@dataclass(frozen=True, slots=True)
class Parameters:
    """B, M and the magnitude of S of a swizzle.

    `up` stands for a negative S: the low field changes the high one.
    """

    b: Word
    m: Word
    s: Word
    up: bool = False


def ones(count: Word) -> Word:
    """The word whose `count` lowest bits are set, `count` from 0 to the width."""
    return (1 << count) - 1


def parameters(v: Symbols, *, up: bool = False) -> Parameters:
    """Symbolic parameters B, M and |S| (called S), each at most the width."""
    b, m, s = (v.word(name, below=v.width + 1) for name in ("B", "M", "S"))
    return Parameters(b, m, s, up)


def fits(p: Parameters, bits: int) -> Truth:
    """Both fields lie in so many bits."""
    return p.m + p.b + p.s <= bits


def legal(p: Parameters, bits: int = 32) -> Truth:
    """What CuTe's static_asserts want, |S| >= B, and that both fields lie in so many bits."""
    return (p.b <= p.s) & fits(p, bits)


def yyy(p: Parameters) -> Word:
    """The bits that are read."""
    return ones(p.b) << (p.m if p.up else p.m + p.s)


def zzz(p: Parameters) -> Word:
    """The bits that are changed."""
    return ones(p.b) << (p.m + p.s if p.up else p.m)


def change(x: Word, p: Parameters) -> Word:
    """What a swizzle XORs onto x."""
    selected = x & yyy(p)
    return selected << p.s if p.up else selected >> p.s


def swizzle(x: Word, p: Parameters) -> Word:
    """The swizzled x."""
    return x ^ change(x, p)


def span_bits(p: Parameters) -> Word:
    """log2 of the span, M + B + |S|."""
    return p.m + p.b + p.s


def both_signs(name: str, encode: Callable[[Symbols, bool], Sequent]) -> tuple[Obligation, Obligation]:
    """An obligation for S >= 0 and one for S <= 0; the encoding is told whether S is negative."""
    return (
        Obligation(f"{name}, S >= 0", lambda v: encode(v, False)),
        Obligation(f"{name}, S <= 0", lambda v: encode(v, True)),
    )
