"""The element types that a tile may name, and their sizes in bits."""

from __future__ import annotations

from swzverify.errors import SwzError, nearest

ELEMENT_BITS: dict[str, int] = {
    "f64": 64,
    "f32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "f8e4m3": 8,
    "f8e5m2": 8,
    "f6": 6,
    "f4": 4,
    "i64": 64,
    "i32": 32,
    "i16": 16,
    "i8": 8,
    "i4": 4,
    "u64": 64,
    "u32": 32,
    "u16": 16,
    "u8": 8,
    "u4": 4,
}
"""Bits in shared memory. `tf32` is kept in 32 bits there.

Source: PTX ISA, "Fundamental types" and "Alternate floating-point data formats".
"""


def element_bits(name: str) -> int:
    """The size in bits of an element type, by its name in a spec.

    >>> element_bits("bf16"), element_bits("f6")
    (16, 6)

    Raises `SwzError` SWZ105 for an unknown name.
    """
    bits = ELEMENT_BITS.get(name)
    if bits is None:
        hint = nearest(name, ELEMENT_BITS)
        listed = "known: " + " ".join(ELEMENT_BITS) + "; any other size with `bits: n`"
        raise SwzError("SWZ105", f"unknown element type '{name}'", hint=f"{hint}\n{listed}" if hint else listed)
    return bits
