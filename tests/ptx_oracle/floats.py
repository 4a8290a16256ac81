"""Floating point of the PTX ISA by numpy: single, double, half, bfloat16 and packed pairs.

Rounding to nearest is exact for add, sub, mul, div and sqrt; fma of singles goes through doubles,
that of doubles through fractions.
Approximate functions give the nearest number and not the chip's last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Step
from .model import Instr
from .table import opcode, simple

FLOATS = frozenset({"f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2", "tf32"})


def is_float(kind: str) -> bool:
    """Say whether a type is one of floats."""
    return kind in FLOATS


def unpack(bits: Array, kind: str) -> Array:
    """Give the bits of a PTX type as numbers to reckon with; pairs become two columns."""
    if kind in ("f32", "f64"):
        return bits
    if kind == "tf32":
        return bits.view(np.float32)
    if kind == "f32x2":
        return np.ascontiguousarray(bits).view(np.float32).reshape(-1, 2)
    halves = np.ascontiguousarray(bits).view(np.uint16)
    if kind.endswith("x2"):
        halves = halves.reshape(-1, 2)
    if kind.startswith("bf16"):
        return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return halves.view(np.float16).astype(np.float32)


def to_bfloat(value: Array) -> Array:
    """Round singles to bfloat16, to nearest even; give the bits."""
    bits = np.ascontiguousarray(value.astype(np.float32)).view(np.uint32)
    up = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + up) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(value), np.uint16(0x7FFF), rounded)


def pack(value: Array, kind: str) -> Array:
    """Give numbers as the bits of a PTX type."""
    if kind == "f32":
        return value.astype(np.float32)
    if kind == "f64":
        return value.astype(np.float64)
    if kind == "tf32":
        bits = np.ascontiguousarray(value.astype(np.float32)).view(np.uint32)
        return (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    if kind == "f32x2":
        return np.ascontiguousarray(value.astype(np.float32)).view(np.uint64).reshape(-1)
    halves = to_bfloat(value) if kind.startswith("bf16") else value.astype(np.float16).view(np.uint16)
    return np.ascontiguousarray(halves).view(np.uint32).reshape(-1) if kind.endswith("x2") else halves


def directed(exact: Array, kind: Any, mode: str) -> Array:
    """Round doubles to a smaller type, towards zero (rz), down (rm) or up (rp)."""
    near = exact.astype(kind)
    back = near.astype(np.float64)
    limit = kind(np.inf)
    if mode in ("rz", "rm"):
        down = (back > exact) & ((exact > 0) | (mode == "rm"))
        near = np.where(down, np.nextafter(near, -limit), near)
    if mode in ("rz", "rp"):
        up = (back < exact) & ((exact < 0) | (mode == "rp"))
        near = np.where(up, np.nextafter(near, limit), near)
    return near


def odd_sum(first: Array, second: Array) -> Array:
    """A sum in doubles, rounded to odd: rounding it to singles is then right in every direction."""
    a, b = first.astype(np.float64), second.astype(np.float64)
    total = a + b
    part = total - a
    error = (a - (total - part)) + (b - part)
    inexact = np.isfinite(total) & (error != 0) & (total.view(np.uint64) & np.uint64(1) == 0)
    return np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)


def fused(first: Array, second: Array, third: Array) -> Array:
    """A product and a sum with one rounding."""
    if first.dtype == np.float64:
        every = np.broadcast_arrays(first, second, third)
        return np.array([fused_doubles(*map(float, each)) for each in zip(*every, strict=True)])
    return odd_sum(first.astype(np.float64) * second, third)


def fused_doubles(first: float, second: float, third: float) -> float:
    """The same of doubles, in fractions; a sum that is 0 has the sign that two roundings give it."""
    if not all(map(math.isfinite, (first, second, third))):
        return float(np.float64(first) * np.float64(second) + np.float64(third))
    exact = Fraction(first) * Fraction(second) + Fraction(third)
    try:
        return float(exact) if exact else first * second + third
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def no_nan(value: Array) -> Array:
    """Zero where there is no number."""
    return np.where(np.isnan(value), value.dtype.type(0), value)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fma": fused,
    "mad": fused,
    "abs": np.abs,
    "neg": np.negative,
    "rcp": lambda a: 1.0 / a,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
    "min": np.fmin,
    "max": np.fmax,
}
SLOPPY = frozenset({"rcp", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})


def in_doubles(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function on singles, reckoned in doubles."""
    return lambda *values: function(*(value.astype(np.float64) for value in values))


def directed_function(exact: Callable[..., Array], mode: str) -> Callable[..., Array]:
    """A function of singles whose result in doubles is rounded in one direction."""
    return lambda *values: directed(exact(*values), np.float32, mode)


def float_function(instr: Instr, kind: str) -> Callable[..., Array]:
    """The function of an opcode on unpacked numbers, with .NaN, .sat, .relu and .xorsign.abs."""
    function = FUNCTIONS[instr.op]
    if instr.op in ("min", "max") and "NaN" in instr.mods:
        function = np.minimum if instr.op == "min" else np.maximum
    if instr.op in SLOPPY:
        rough = function
        function = lambda a: rough(a.astype(np.float64))  # noqa: E731
    mode = next((mod for mod in instr.mods if mod in ("rz", "rm", "rp")), None)
    if mode and kind == "f32" and instr.op in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"):
        exact = {"add": odd_sum, "sub": lambda a, b: odd_sum(a, -b), "fma": fused, "mad": fused}.get(instr.op)
        function = directed_function(exact or in_doubles(function), mode)
    if "xorsign" in instr.mods:
        plain_sign = function
        function = lambda a, b: np.copysign(plain_sign(np.abs(a), np.abs(b)), a * np.copysign(1, b))  # noqa: E731
    if "sat" in instr.mods:
        loose = function
        function = lambda *v: no_nan(np.clip(loose(*v), 0, 1))  # noqa: E731
    if "relu" in instr.mods:
        signed = function
        function = lambda *v: no_nan(np.maximum(signed(*v), 0))  # noqa: E731
    return function


@opcode("fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
def compile_float(instr: Instr, env: Env) -> Step:
    """Compile float arithmetic; bits are unpacked, reckoned with, and packed."""
    kind = instr.type
    if kind not in FLOATS:
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    function = float_function(instr, kind)
    count = len(instr.operands) - 1
    if instr.op in ("min", "max") and count == 3:
        pair = function
        function = lambda a, b, c: pair(pair(a, b), c)  # noqa: E731
    if kind in ("f32", "f64") and function is FUNCTIONS[instr.op] and instr.op in ("add", "sub", "mul", "abs", "neg"):
        return simple(instr, env, (kind,) * count, function)

    def through(*bits: Array) -> Array:
        return pack(function(*(unpack(part, kind) for part in bits)), kind)

    return simple(instr, env, (kind,) * count, through)


@opcode("copysign")
def copy_sign(instr: Instr, env: Env) -> Step:
    """Compile copysign: the sign of a on the number b."""
    return simple(instr, env, (instr.type,) * 2, lambda a, b: np.copysign(b, a))


@opcode("testp")
def test_property(instr: Instr, env: Env) -> Step:
    """Compile testp."""
    small = np.finfo(np.float32 if instr.type == "f32" else np.float64).smallest_normal
    tests: dict[str, Callable[[Array], Array]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= small) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < small) & (a != 0),
    }
    return simple(instr, env, (instr.type,), tests[instr.mods[0]])


def garbage(batch: Batch, salt: int) -> Array:
    """Numbers that stand for data nobody looks at: singles from 1 to 2, different in each lane."""
    lanes = np.arange(len(batch.mask), dtype=np.uint32)
    mixed = (lanes * np.uint32(2654435761)) ^ np.uint32((salt * 0x9E3779B1) & 0xFFFFFFFF)
    return np.uint32(0x3F800000) | ((mixed ^ (mixed >> np.uint32(15))) & np.uint32(0x7FFFFF))
