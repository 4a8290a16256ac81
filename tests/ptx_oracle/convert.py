"""cvt, cvt.pack, comparisons, and choices between two values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .errors import UnsupportedError
from .fetch import KINDS, Array, Batch, Env, Step
from .floats import FLOATS, directed, garbage, is_float, no_nan, pack, unpack
from .integers import first_of_pair
from .model import WIDTHS, Instr
from .table import opcode, simple

ROUND: dict[str, Callable[[Array], Array]] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def bounds(kind: str) -> tuple[int, int]:
    """The smallest and the largest number of an integer type."""
    bits = WIDTHS[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def float_to_integer(value: Array, kind: str, mode: str) -> Array:
    """Round, and stop at the ends of the range.

    What is not a number becomes 0; where 64 bits are involved, the chip gives the highest bit
    alone.
    """
    none = 1 << WIDTHS[kind] - 1 if value.dtype == np.float64 or WIDTHS[kind] == 64 else 0
    number = ROUND[mode](value.astype(np.float64))
    low, top = bounds(kind)
    out = KINDS[kind]
    inside = np.where((number > low) & (number < top), number, 0.0)
    result = inside.astype(np.int64 if kind[0] == "s" else np.uint64).astype(out)
    result = np.where(number >= top, out(top), np.where(number <= low, out(low), result))
    return np.where(np.isnan(number), np.array(none, f"u{WIDTHS[kind] // 8}").view(out), result)


def odd_double(value: Array) -> Array:
    """A whole number as a double, rounded to odd: rounding it again is right in every direction."""
    if value.dtype.itemsize < 8:
        return value.astype(np.float64)
    size = np.where(value < 0, -value, value).view(np.uint64)
    low = np.uint64(0x7FF)
    short = (size >> np.uint64(11)) | (size & low != 0).astype(np.uint64)
    wide = np.where(size >> np.uint64(53) != 0, short.astype(np.float64) * 2048.0, size.astype(np.float64))
    return np.where(value < 0, -wide, wide)


def integer_to_float(value: Array, kind: str, mode: str) -> Array:
    """The number as a float, rounded."""
    if kind == "f64":
        return value.astype(np.float64)
    if mode in ("rz", "rm", "rp") and kind == "f32":
        return directed(odd_double(value), np.float32, mode)
    return odd_double(value)


def clipped(value: Array, kind: str) -> Array:
    """An integer, brought to the nearest one that the type holds."""
    low, top = bounds(kind)
    have_low, have_top = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
    return np.clip(value, max(low, have_low), min(top, have_top))


def convert(value: Array, into: str, kind: str, mods: tuple[str, ...]) -> Array:
    """Convert between two types of one number."""
    mode = next((mod for mod in mods if mod in ROUND or mod in ("rn", "rz", "rm", "rp", "rna")), "")
    if not is_float(into) and not is_float(kind):
        return (clipped(value, into) if "sat" in mods else value).astype(KINDS[into])
    if is_float(kind) and not is_float(into):
        return float_to_integer(unpack(value, kind), into, mode or "rzi")
    if is_float(kind):
        number = unpack(value, kind)
        if mode in ROUND:
            number = ROUND[mode](number)
    else:
        number = integer_to_float(value, into, mode)
    if "sat" in mods:
        number = no_nan(np.clip(number, 0, 1))
    if "relu" in mods:
        number = no_nan(np.maximum(number, 0))
    if mode in ("rz", "rm", "rp") and into in ("f32", "f16") and kind == ("f64" if into == "f32" else "f32"):
        number = directed(number.astype(np.float64), np.float32 if into == "f32" else np.float16, mode)
    if mode == "rz" and into == "bf16":
        number = (np.ascontiguousarray(number).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return pack(number, into)


@opcode("cvt")
def compile_cvt(instr: Instr, env: Env) -> Step:
    """Compile cvt, pairs of halves and .pack too.

    8-bit floats give numbers that only have to be the same each time.
    """
    if "pack" in instr.mods:
        return pack_integers(instr, env)
    types = [mod for mod in instr.mods if mod in WIDTHS]
    into, kind = types[0], types[-1]
    if any(name.startswith(("e4m3", "e5m2")) for name in types):
        put, line = env.dst(instr.operands[0], instr.line), instr.line
        return lambda batch, mask: put(batch, garbage(batch, line), mask)
    if into in ("f16x2", "bf16x2") and len(instr.operands) == 3:

        def pair(top: Array, low: Array) -> Array:
            one = into[:-2]
            halves = [convert(part, one, kind, instr.mods).astype(np.uint32) for part in (top, low)]
            return (halves[0] << np.uint32(16)) | halves[1]

        return simple(instr, env, (kind, kind), pair)
    if instr.operands[2:]:
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    return simple(instr, env, (kind,), lambda value: convert(value, into, kind, instr.mods))


def pack_integers(instr: Instr, env: Env) -> Step:
    """Compile cvt.pack: narrow a and b with saturation.

    Of 8 bits and fewer, put c's low part above them.
    """
    types = [mod for mod in instr.mods if mod in WIDTHS]
    into, kind = types[0], types[1]
    bits = WIDTHS[into]

    def narrow(*values: Array) -> Array:
        parts = [clipped(value, into).astype(np.uint32) & np.uint32((1 << bits) - 1) for value in values[:2]]
        result = (parts[0] << np.uint32(bits)) | parts[1]
        return result if len(values) == 2 else result | (values[2] << np.uint32(2 * bits))

    kinds = (kind, kind) if len(instr.operands) == 3 else (kind, kind, "b32")
    return simple(instr, env, kinds, narrow)


COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}
COMBINE = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def comparison(name: str, kind: str) -> Callable[[Array, Array], Array]:
    """A comparison of a type.

    Of floats the plain ones are false where there is no number, those in u true.
    """
    if name == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if not is_float(kind):
        return COMPARE[name]
    if name.endswith("u") and name[:-1] in COMPARE:
        inner = COMPARE[name[:-1]]
        return lambda a, b: inner(a, b) | np.isnan(a) | np.isnan(b)
    plain = COMPARE[name]
    return lambda a, b: plain(a, b) & ~(np.isnan(a) | np.isnan(b))


@opcode("setp", "set")
def compile_setp(instr: Instr, env: Env) -> Step:
    """Compile setp and set: a comparison, perhaps combined with a predicate.

    The form p|q gives the complement too.
    """
    kind = instr.type
    compare = comparison(instr.mods[0], kind)
    combine = next((COMBINE[mod] for mod in instr.mods[1:] if mod in COMBINE), None)
    head, other = first_of_pair(instr)
    put = env.dst(head, instr.line)
    put_other = env.dst(other, instr.line) if other is not None else None
    first, second = (env.src(operand, kind, instr.line) for operand in instr.operands[1:3])
    also = env.src(instr.operands[3], "pred", instr.line) if combine is not None else None
    into = next(mod for mod in instr.mods if mod in WIDTHS) if instr.op == "set" else "pred"

    def form(truth: Array) -> Array:
        if into == "pred":
            return truth
        if is_float(into):
            return pack(truth.astype(np.float32), into)
        return np.where(truth, KINDS[into](bounds(into)[1] if into[0] != "s" else -1), KINDS[into](0))

    def number(values: Array) -> Array:
        found = unpacked(values, kind)
        if "ftz" not in instr.mods:
            return found
        # The format's smallest normal number, of the types that may be flushed.
        smallest = 2.0**-14 if kind == "f16" else 2.0**-126
        return np.where(np.abs(found) < smallest, found.dtype.type(0), found)

    def step(batch: Batch, mask: Array) -> None:
        truth = compare(number(first(batch)), number(second(batch)))
        if truth.ndim == 2:
            if into == "pred":
                put(batch, truth[:, 0], mask)
                if put_other is not None:
                    put_other(batch, truth[:, 1], mask)
                return
            put(batch, pairs(truth, into), mask)
            return
        # The predicate may be one of the results: it is read before they are written.
        joined = [combine(each, also(batch)) if combine and also else each for each in (truth, ~truth)]
        for place, answer in zip((put, put_other), joined, strict=True):
            if place is not None:
                place(batch, form(answer), mask)

    return step


def pairs(truth: Array, into: str) -> Array:
    """The answers for both halves of a pair, as a pair of 1.0 and 0.0 or of bits."""
    if into in FLOATS:
        return pack(truth.astype(np.float32), into)
    return np.ascontiguousarray(np.where(truth, np.uint16(0xFFFF), np.uint16(0))).view(np.uint32).reshape(-1)


def unpacked(value: Array, kind: str) -> Array:
    """Numbers to compare."""
    return unpack(value, kind) if is_float(kind) else value


@opcode("selp")
def select(instr: Instr, env: Env) -> Step:
    """Compile selp."""
    kind = f"b{WIDTHS[instr.type]}"
    return simple(instr, env, (kind, kind, "pred"), lambda a, b, p: np.where(p, a, b))


@opcode("slct")
def select_by_sign(instr: Instr, env: Env) -> Step:
    """Compile slct: a where c >= 0, else b."""
    types = [mod for mod in instr.mods if mod in WIDTHS]
    kind = f"b{WIDTHS[types[0]]}"
    return simple(instr, env, (kind, kind, types[1]), lambda a, b, c: np.where(c >= 0, a, b))
