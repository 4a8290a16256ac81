"""Integer arithmetic of the PTX ISA: widths, signs and wrap-around are exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .errors import UnsupportedError
from .fetch import SIGNED, Array, Batch, Env, Step
from .floats import compile_float, is_float
from .model import WIDTHS, Instr, Pair
from .spaces import UINT
from .table import opcode, simple

TWICE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def unsigned(value: Array) -> Array:
    """The same bits as unsigned numbers."""
    return value.view(UINT[value.dtype.itemsize]) if value.dtype.kind != "u" else value


def high(first: Array, second: Array) -> Array:
    """The upper half of a product, signed if the operands are."""
    size = first.dtype.itemsize
    if size < 8:
        wide = SIGNED[size * 2] if first.dtype.kind == "i" else UINT[size * 2]
        product = first.astype(wide) * second.astype(wide)
        return (product >> wide(8 * size)).astype(first.dtype)
    a, b = unsigned(first), unsigned(second)
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    mid = (a >> shift) * (b & low) + ((a & low) * (b & low) >> shift)
    mid2 = (a & low) * (b >> shift) + (mid & low)
    top = (a >> shift) * (b >> shift) + (mid >> shift) + (mid2 >> shift)
    if first.dtype.kind == "i":
        top = top - np.where(first < 0, b, np.uint64(0)) - np.where(second < 0, a, np.uint64(0))
        return top.view(np.int64)
    return top


def magnitudes(first: Array, second: Array) -> tuple[Array, Array]:
    """Absolute values as unsigned numbers; the most negative one keeps its bits, which is right."""
    if first.dtype.kind == "u":
        return first, second
    return unsigned(np.where(first < 0, -first, first)), unsigned(np.where(second < 0, -second, second))


def divide(first: Array, second: Array) -> Array:
    """A quotient towards zero. PTX leaves division by zero open; here it gives all ones."""
    a, b = magnitudes(first, second)
    one = b.dtype.type(1)
    quotient = a // np.where(b == 0, one, b)
    if first.dtype.kind == "i":
        quotient = quotient.view(first.dtype)
        quotient = np.where((first < 0) != (second < 0), -quotient, quotient)
    return np.where(second == 0, ~first.dtype.type(0), quotient)


def remainder(first: Array, second: Array) -> Array:
    """The remainder of `divide`, with the sign of the dividend."""
    a, b = magnitudes(first, second)
    rest = a % np.where(b == 0, b.dtype.type(1), b)
    if first.dtype.kind == "i":
        rest = rest.view(first.dtype)
        rest = np.where(first < 0, -rest, rest)
    return np.where(second == 0, first, rest)


def low_part(first: Array, second: Array) -> Array:
    """A product modulo the width."""
    return first * second


def product(instr: Instr) -> Callable[[Array, Array], Array]:
    """The product that .lo, .hi or .wide asks for."""
    if "hi" in instr.mods:
        return high
    if "wide" in instr.mods:
        kind = {"u16": np.uint32, "s16": np.int32, "u32": np.uint64, "s32": np.int64}[instr.type]
        return lambda first, second: first.astype(kind) * second.astype(kind)
    if "lo" not in instr.mods:
        raise UnsupportedError(f"{instr.opcode} without .lo, .hi or .wide", instr.line)
    return low_part


def packed(function: Callable[..., Array], kind: str) -> Callable[..., Array]:
    """Do an operation of 16-bit halves on both halves of 32-bit registers."""
    half = np.int16 if kind.startswith("s") else np.uint16

    def both(*values: Array) -> Array:
        result = function(*(np.ascontiguousarray(value).view(half).reshape(-1, 2) for value in values))
        return np.ascontiguousarray(result).view(np.uint32).reshape(-1)

    return both


def saturated(sign: int) -> Callable[[Array, Array], Array]:
    """A sum or difference of s32 that stops at the ends of the range."""

    def add(first: Array, second: Array) -> Array:
        wide = first.astype(np.int64) + sign * second.astype(np.int64)
        return np.clip(wide, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    return add


BINARY: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "div": divide,
    "rem": remainder,
    "min": np.minimum,
    "max": np.maximum,
}


@opcode("add", "sub", "div", "rem", "min", "max", "mul")
def binary(instr: Instr, env: Env) -> Step:
    """Compile arithmetic of two operands; floats go to their own module, carries to `carried`."""
    kind = instr.type
    if is_float(kind):
        return compile_float(instr, env)
    if "cc" in instr.mods:
        return carried(instr, env)
    if instr.op == "mul":
        return simple(instr, env, (kind, kind), product(instr))
    if "sat" in instr.mods:
        return simple(instr, env, (kind, kind), saturated(1 if instr.op == "add" else -1))
    function = BINARY[instr.op]
    if "relu" in instr.mods:
        plain = function
        function = lambda first, second: np.maximum(plain(first, second), 0)  # noqa: E731
    if kind.endswith("16x2"):
        function = packed(function, kind)
    return simple(instr, env, (kind, kind), function)


@opcode("mad")
def multiply_add(instr: Instr, env: Env) -> Step:
    """Compile mad; .wide adds a number of twice the width, .sat stops at the ends of the range."""
    kind = instr.type
    if is_float(kind):
        return compile_float(instr, env)
    if "cc" in instr.mods:
        return carried(instr, env)
    times = product(instr)
    plus = saturated(1) if "sat" in instr.mods else np.add
    third = TWICE[kind] if "wide" in instr.mods else kind
    return simple(instr, env, (kind, kind, third), lambda a, b, c: plus(times(a, b), c))


@opcode("mul24", "mad24")
def narrow_product(instr: Instr, env: Env) -> Step:
    """Compile products of 24 bits: .lo gives bits 0 to 31 of the 48, .hi bits 16 to 47."""
    kind, up = instr.type, "hi" in instr.mods

    def times(first: Array, second: Array) -> Array:
        shift, wide = first.dtype.type(8), np.int64 if kind == "s32" else np.uint64
        a, b = ((value << shift) >> shift for value in (first, second))
        full = a.astype(wide) * b.astype(wide)
        return (full >> wide(16) if up else full).astype(first.dtype)

    if instr.op == "mul24":
        return simple(instr, env, (kind, kind), times)
    return simple(instr, env, (kind, kind, kind), lambda a, b, c: times(a, b) + c)


@opcode("addc", "subc", "madc")
def carried(instr: Instr, env: Env) -> Step:
    """Compile arithmetic with the carry flag, of 32 and 64 bits."""
    kind = f"u{WIDTHS[instr.type]}"
    signed = instr.type
    reads, writes = instr.op.endswith("c"), "cc" in instr.mods
    subtract = instr.op.startswith("sub")
    put, sources = env.operands(instr, 3 if instr.op.startswith("mad") else 2, *((signed, signed, kind)[:3]))
    times = product(instr) if instr.op.startswith("mad") else None

    def step(batch: Batch, mask: Array) -> None:
        values = [source(batch) for source in sources]
        first, second = (unsigned(times(*values[:2])), values[2]) if times else map(unsigned, values)
        flag = batch.block.carry.astype(first.dtype) if reads else first.dtype.type(0)
        if subtract:
            part = first - second
            total = part - flag
            out = (first < second) | (part < flag)
        else:
            part = first + second
            total = part + flag
            out = (part < first) | (total < part)
        put(batch, np.broadcast_to(total, mask.shape), mask)
        if writes:
            np.copyto(batch.block.carry, out, where=mask)

    return step


@opcode("abs", "neg")
def sign_change(instr: Instr, env: Env) -> Step:
    """Compile abs and neg."""
    if is_float(instr.type):
        return compile_float(instr, env)
    return simple(instr, env, (instr.type,), np.abs if instr.op == "abs" else np.negative)


@opcode("sad")
def sum_of_difference(instr: Instr, env: Env) -> Step:
    """Compile sad: c + |a - b|."""
    return simple(instr, env, (instr.type,) * 3, lambda a, b, c: c + np.where(a < b, b - a, a - b))


@opcode("dp4a", "dp2a")
def dot_product(instr: Instr, env: Env) -> Step:
    """Compile dot products of bytes, or of two 16-bit numbers with two bytes (.lo or .hi)."""
    first, second = (mod for mod in instr.mods if mod in ("u32", "s32"))
    wide = "s32" if "s32" in (first, second) else "u32"
    size = 1 if instr.op == "dp4a" else 2

    def parts(value: Array, kind: str, width: int) -> Array:
        small = (UINT if kind == "u32" else SIGNED)[width]
        return np.ascontiguousarray(value).view(small).reshape(-1, 4 // width).astype(np.int64)

    def dot(a: Array, b: Array, c: Array) -> Array:
        left, right = parts(a, first, size), parts(b, second, 1)
        if size == 2:
            right = right[:, 2:] if "hi" in instr.mods else right[:, :2]
        return ((left * right).sum(1) + c.astype(np.int64)).astype(np.uint32)

    return simple(instr, env, ("b32", "b32", wide), dot)


def first_of_pair(instr: Instr) -> tuple[object, object]:
    """Split p|q of the first operand; q is None where there is no pair."""
    head = instr.operands[0]
    return (head.first, head.second) if isinstance(head, Pair) else (head, None)
