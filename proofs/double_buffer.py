"""Toggling between two buffers with an XOR: when it is the same as adding the buffer's size."""

from __future__ import annotations

from swzverify.apps.theorems import Obligation, Sequent, Symbols, Theorem, Word, choose

from ._sources import MAXAS
from ._swizzle import ones

TOGGLE = f"{MAXAS} (writeS ^= 4*16*64, readAs ^= 4*16*64, buffers of 4096 bytes from address 0)"


def buffer(v: Symbols) -> tuple[Word, Word, Word]:
    """log2 of the size, the size, the base; what follows stays below 2^32."""
    m = v.word("m", below=30)
    return m, 1 << m, v.word("base", below=1 << 30)


def toggles(v: Symbols) -> Sequent:
    """From the first buffer to the second and back."""
    m, size, base = buffer(v)
    address = base + v.word("offset", below=1 << 30)
    there = address ^ size
    in_first = v.words["offset"] <= ones(m)
    return Sequent((base & ones(m + 1) == 0, in_first), (there == address + size) & (there ^ size == address))


def goes_elsewhere(v: Symbols) -> Sequent:
    """At any other base, an address of the first buffer goes back instead.

    It is the first address that has the size's bit.
    """
    m, size, base = buffer(v)
    offset = choose(base & size != 0, v.number(0), size - (base & ones(m)))
    address = base + offset
    return Sequent((base & ones(m + 1) != 0,), (offset <= ones(m)) & (address ^ size == address - size))


THEOREMS = (
    Theorem(
        "xor-double-buffer",
        "for every address of a buffer of 2^m bytes, XORing 2^m leads to the same place of a second buffer behind "
        "it, and back, "
        "iff the first begins at a multiple of 2^(m+1)",
        r"\bigl(\forall o < 2^m:\ (b + o) \oplus 2^m = b + o + 2^m\bigr) \iff 2^{m+1} \mid b",
        TOGGLE,
        "m, the base, below 2^30, the offset",
        (Obligation("if", toggles), Obligation("only if", goes_elsewhere)),
    ),
)
