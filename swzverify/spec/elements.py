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


_SPELLINGS: dict[str, str] = {
    "f64": "double fp64 float64",
    "f32": "float fp32 float32",
    "tf32": "tfloat32",
    "f16": "half fp16 float16",
    "bf16": "bfloat16 nv_bfloat16 bfloat bf",
    "f8e4m3": "e4m3 fp8e4m3 nv_fp8_e4m3 float8_e4m3fn float_e4m3 fp8_e4m3 float_e4m3fn",
    "f8e5m2": "e5m2 fp8e5m2 nv_fp8_e5m2 float8_e5m2 float_e5m2 fp8_e5m2",
    "f6": "fp6 e2m3 e3m2 float6",
    "f4": "fp4 e2m1 nvfp4 mxfp4 float4_e2m1fn float_e2m1",
    "i64": "int64 s64 long_long",
    "i32": "int32 int s32",
    "i16": "int16 short s16",
    "i8": "int8 s8 signed_char",
    "i4": "int4b s4",
    "u64": "uint64 unsigned_long_long",
    "u32": "uint32 uint unsigned",
    "u16": "uint16 ushort",
    "u8": "uint8 uchar unsigned_char byte bool char",
    "u4": "uint4b",
}
_MEANT = {other: name for name, others in _SPELLINGS.items() for other in others.split()}
"""Names of PTX, CUDA, CUTLASS and PyTorch, in small letters, without `__` and `_t`."""

_VECTOR = "an element is one value: write its type, and the vector's width in the instruction, as ld.shared.v4.b32"
_NO_ONE: dict[str, str] = {
    **dict.fromkeys(
        ("float2", "float4", "int2", "int4", "uint2", "uint4", "half2", "double2", "f16x2", "bf16x2"), _VECTOR
    ),
    **{f"b{bits}": f"an untyped element is given by its size: `bits: {bits}`" for bits in (4, 6, 8, 16, 32, 64, 128)},
    **dict.fromkeys(("f8", "fp8", "float8"), "8-bit floats are f8e4m3 and f8e5m2"),
}
"""Hints for names that no near name explains."""


def element_bits(name: str) -> int:
    """The size in bits of an element type, by its name in a spec.

    Raises:
        SwzError: SWZ105 for an unknown name.

    >>> element_bits("bf16"), element_bits("f6")
    (16, 6)
    """
    bits = ELEMENT_BITS.get(name)
    if bits is None:
        meant = _MEANT.get(name.lower().removeprefix("__").removesuffix("_t"), "")
        hint = f"did you mean '{meant}'?" if meant else nearest(name, ELEMENT_BITS)
        hint = _NO_ONE.get(name.lower(), hint)
        listed = "known: " + " ".join(ELEMENT_BITS) + "; any other size with `bits: n`"
        raise SwzError("SWZ105", f"unknown element type '{name}'", hint=f"{hint}\n{listed}" if hint else listed)
    return bits
