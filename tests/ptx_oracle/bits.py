"""Bit operations of the PTX ISA: shifts that clamp, bit fields, permutes, counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .errors import UnsupportedError
from .fetch import Array, Batch, Env, Step
from .integers import first_of_pair, unsigned
from .model import WIDTHS, Imm, Instr
from .table import opcode, simple


@opcode("and", "or", "xor")
def logic(instr: Instr, env: Env) -> Step:
    """Compile and, or, xor of bits or predicates."""
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[instr.op]
    return simple(instr, env, (instr.type,) * 2, function)


@opcode("not")
def invert(instr: Instr, env: Env) -> Step:
    """Compile not."""
    return simple(instr, env, (instr.type,), np.invert)


@opcode("cnot")
def logical_not(instr: Instr, env: Env) -> Step:
    """Compile cnot: 1 for zero, else 0."""
    return simple(instr, env, (instr.type,), lambda a: (a == 0).astype(a.dtype))


def shift_left(value: Array, count: Array) -> Array:
    """A shift that gives 0 from the width on."""
    size = value.dtype.itemsize
    amount = np.minimum(count, np.uint32(8 * size - 1)).astype(value.dtype)
    return np.where(count >= 8 * size, value.dtype.type(0), value << amount)


def shift_right(value: Array, count: Array) -> Array:
    """A shift that gives 0, or copies of the sign, from the width on."""
    size = value.dtype.itemsize
    amount = np.minimum(count, np.uint32(8 * size - 1)).astype(value.dtype)
    if value.dtype.kind == "i":
        return value >> amount
    return np.where(count >= 8 * size, value.dtype.type(0), value >> amount)


@opcode("shl", "shr")
def shift(instr: Instr, env: Env) -> Step:
    """Compile shl and shr; the count is a u32 of any size."""
    return simple(instr, env, (instr.type, "u32"), shift_left if instr.op == "shl" else shift_right)


@opcode("shf")
def funnel(instr: Instr, env: Env) -> Step:
    """Compile shf: a shift of the 64 bits b:a, of which one half is kept."""
    left, clamp = "l" in instr.mods, "clamp" in instr.mods

    def both(low: Array, top: Array, count: Array) -> Array:
        pair = (top.astype(np.uint64) << np.uint64(32)) | low
        amount = (np.minimum(count, np.uint32(32)) if clamp else count & np.uint32(31)).astype(np.uint64)
        return ((pair << amount) >> np.uint64(32) if left else pair >> amount).astype(np.uint32)

    return simple(instr, env, ("b32", "b32", "u32"), both)


@opcode("bfe")
def field_extract(instr: Instr, env: Env) -> Step:
    """Compile bfe: `length` bits from `start`, extended by the highest bit that exists."""
    kind, size = instr.type, WIDTHS[instr.type]

    def extract(value: Array, start: Array, length: Array) -> Array:
        first, count = (part & np.uint32(0xFF) for part in (start, length))
        bits = shift_left(unsigned(np.full_like(value, -1 if kind[0] == "s" else ~value.dtype.type(0))), count)
        field = shift_right(unsigned(value), first) & ~bits
        if kind[0] == "s":
            highest = np.minimum(first.astype(np.int64) + count - 1, size - 1)
            sign = (shift_right(unsigned(value), np.maximum(highest, 0).astype(np.uint32)) & 1) != 0
            filled = np.maximum(0, size - first.astype(np.int64)).astype(np.uint32)
            ones = bits | shift_left(np.full_like(bits, ~bits.dtype.type(0)), filled)
            field = np.where(sign & (count > 0), field | ones, field)
        return field.view(value.dtype)

    return simple(instr, env, (kind, "u32", "u32"), extract)


@opcode("bfi")
def field_insert(instr: Instr, env: Env) -> Step:
    """Compile bfi: put the low bits of a into b."""

    def insert(value: Array, into: Array, start: Array, length: Array) -> Array:
        first, count = (part & np.uint32(0xFF) for part in (start, length))
        every = np.full(1, ~value.dtype.type(0), value.dtype)
        mask = shift_left(~shift_left(every, count), first)
        return (shift_left(value, first) & mask) | (into & ~mask)

    return simple(instr, env, (instr.type, instr.type, "u32", "u32"), insert)


@opcode("bmsk")
def bit_mask(instr: Instr, env: Env) -> Step:
    """Compile bmsk: `width` ones from a position on."""
    wrap = "wrap" in instr.mods

    def mask(start: Array, width: Array) -> Array:
        first, count = (part & np.uint32(31) if wrap else part for part in (start, width))
        return shift_left(~shift_left(np.full(1, 0xFFFFFFFF, np.uint32), count), first)

    return simple(instr, env, ("u32", "u32"), mask)


@opcode("szext")
def extend(instr: Instr, env: Env) -> Step:
    """Compile szext: keep the low bits, and extend them by their sign or by zeros."""
    signed, wrap = instr.type == "s32", "wrap" in instr.mods

    def keep(value: Array, width: Array) -> Array:
        count = width & np.uint32(31) if wrap else np.minimum(width, np.uint32(32))
        away = np.uint32(32) - count
        up = shift_left(unsigned(value), away)
        result = shift_right(up.view(np.int32) if signed else up, away)
        return np.where(count == 0, result.dtype.type(0), result)

    return simple(instr, env, ("b32", "u32"), keep)


PERMUTES: dict[str, Callable[[int], tuple[int, int, int, int]]] = {
    "f4e": lambda s: (s, s + 1, s + 2, s + 3),
    "b4e": lambda s: (s, (s - 1) & 7, (s - 2) & 7, (s - 3) & 7),
    "rc8": lambda s: (s, s, s, s),
    "ecl": lambda s: (max(s, 0), max(s, 1), max(s, 2), 3),
    "ecr": lambda s: (0, min(s, 1), min(s, 2), s),
    "rc16": lambda s: ((s & 1) * 2, (s & 1) * 2 + 1, (s & 1) * 2, (s & 1) * 2 + 1),
}


@opcode("prmt")
def permute(instr: Instr, env: Env) -> Step:
    """Compile prmt: pick four of eight bytes; bit 3 of a selector copies the byte's sign."""
    mode = next((mod for mod in instr.mods if mod in PERMUTES), None)

    def pick(low: Array, top: Array, selector: Array) -> Array:
        pair = (top.astype(np.uint64) << np.uint64(32)) | low
        result = np.zeros(np.broadcast(pair, selector).shape, np.uint32)
        for at in range(4):
            if mode is None:
                chosen = (selector >> np.uint32(4 * at)) & np.uint32(15)
            else:
                table = np.array([PERMUTES[mode](s)[at] for s in range(4)], np.uint32)
                chosen = table[selector & np.uint32(3)]
            byte = (pair >> (np.uint64(8) * (chosen & np.uint32(7)).astype(np.uint64))) & np.uint64(255)
            sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
            byte = np.where(chosen & np.uint32(8), sign, byte)
            result |= (byte << np.uint64(8 * at)).astype(np.uint32)
        return result

    return simple(instr, env, ("b32", "b32", "b32"), pick)


@opcode("lop3")
def three_way(instr: Instr, env: Env) -> Step:
    """Compile lop3; .and and .or also give a predicate: (d != 0) combined with another one."""
    head, flag = first_of_pair(instr)
    sources = [env.src(operand, "b32", instr.line) for operand in instr.operands[1:4]]
    table = instr.operands[4]
    if not isinstance(table, Imm):
        raise UnsupportedError("lop3 without a literal table", instr.line)
    code, put = int(table.value), env.dst(head, instr.line)
    put_flag = env.dst(flag, instr.line) if flag is not None else None
    other = env.src(instr.operands[5], "pred", instr.line) if flag is not None else None

    def step(batch: Batch, mask: Array) -> None:
        a, b, c = (source(batch) for source in sources)
        result = np.zeros(np.broadcast(a, b, c).shape, np.uint32)
        for row in range(8):
            if code >> row & 1:
                result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        put(batch, result, mask)
        if put_flag is not None and other is not None:
            combine = np.logical_and if "and" in instr.mods else np.logical_or
            put_flag(batch, combine(result != 0, other(batch)), mask)

    return step


def count_bits(value: Array) -> Array:
    """How many bits are set."""
    return np.bitwise_count(value).astype(np.uint32)


def highest_bit(value: Array) -> Array:
    """The place of the highest bit that is set; all ones for 0."""
    size = value.dtype.itemsize
    found = np.full(value.shape, 0xFFFFFFFF, np.uint32)
    for at in range(8 * size):
        found[(value >> value.dtype.type(at)) & value.dtype.type(1) != 0] = at
    return found


@opcode("popc", "clz", "bfind", "brev")
def count(instr: Instr, env: Env) -> Step:
    """Compile popc, clz, bfind and brev.

    bfind of s types gives the highest bit unlike the sign; .shiftamt counts from above.
    """
    kind, size = instr.type, WIDTHS[instr.type]

    def find(value: Array) -> Array:
        bits = unsigned(np.where(value < 0, ~value, value)) if kind[0] == "s" else value
        found = highest_bit(bits)
        if "shiftamt" in instr.mods:
            found = np.where(found == np.uint32(0xFFFFFFFF), found, np.uint32(size - 1) - found)
        return found

    def reverse(value: Array) -> Array:
        result = np.zeros_like(value)
        one = value.dtype.type(1)
        for at in range(size):
            result |= ((value >> value.dtype.type(at)) & one) << value.dtype.type(size - 1 - at)
        return result

    functions: dict[str, Callable[[Array], Array]] = {
        "popc": count_bits,
        "clz": lambda value: np.uint32(size - 1) - highest_bit(value),
        "bfind": find,
        "brev": reverse,
    }
    return simple(instr, env, (kind,), functions[instr.op])


@opcode("fns")
def find_nth_set(instr: Instr, env: Env) -> Step:
    """Compile fns: the n-th bit that is set, from a base on, upwards or downwards."""

    def find(mask: int, base: int, offset: int) -> int:
        if offset == 0:
            return base if mask >> base & 1 else 0xFFFFFFFF
        step, places = (1, range(base, 32)) if offset > 0 else (-1, range(base, -1, -1))
        left = offset * step
        for place in places:
            left -= mask >> place & 1
            if left == 0:
                return place
        return 0xFFFFFFFF

    def each(mask: Array, base: Array, offset: Array) -> Array:
        mask, base, offset = np.broadcast_arrays(mask, base, offset)
        rows = zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)
        return np.array([find(m, b & 31, o) for m, b, o in rows], np.uint32)

    return simple(instr, env, ("b32", "b32", "s32"), each)
