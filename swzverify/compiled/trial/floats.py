"""Arithmetic of floats, bit for bit: sums, products, quotients, roots, comparisons, conversions.

Only what IEEE 754 fixes is computed, rounded to nearest. Not known are approximations, results of
instructions that flush numbers below the normal ones, and results that are no number: PTX leaves
their bits open.

Source: PTX ISA, Floating-Point Instructions; Comparison and Selection Instructions: setp; Data
Movement and Conversion Instructions: cvt. That an H200 gives the same bits is measured:
tests/ptx_oracle/h200_answers.npz. Fused products: S. Boldo, G. Melquiond, Emulation of FMA and
Correctly Rounded Sums, IEEE Transactions on Computers 57 (2008), 4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.ptx import Instruction, Operand, Register
from swzverify.compiled.trial.lanes import Lanes, signed
from swzverify.compiled.trial.memory import Array, Mask

_Real: TypeAlias = NDArray[np.floating[Any]]

_REALS: Final[dict[str, type[np.floating[Any]]]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_ARITHMETIC: Final = re.compile(
    r"(?:(add|sub|mul)(?:\.rn)?|(div|sqrt|rcp|fma)\.rn|(min|max|abs|neg))(\.sat)?\.(f16|f32|f64)"
)
COMPARED: Final = re.compile(r"setp\.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan)\.(f16|f32|f64)")
"""Comparisons that are computed here, and not as formulas: numpy compares floats by itself."""
_OF_WHOLE: Final = re.compile(r"cvt\.rn\.(?=f16\.[su](?:8|16|32)$|f32|f64)(f16|f32|f64)\.([su])(8|16|32|64)")
"""A half of a whole number is rounded from a double, which has every number of 32 bits."""
_TO_WHOLE: Final = re.compile(r"cvt\.(rni|rzi|rmi|rpi)\.([su])(8|16|32|64)\.(f16|f32|f64)")
_TO_REAL: Final = re.compile(
    r"cvt(?:\.rn\.(?:(f32)\.(f64)|(f16)\.(f32))|\.(?:(f64)\.(f32)|(f32)\.(f16))|\.(rni|rzi|rmi|rpi)\.(f32|f64)\.\10)"
)
_ROUNDED: Final[dict[str, Callable[[_Real], _Real]]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_TOLD: Final[dict[str, Callable[[_Real, _Real], Mask]]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_SAFE: Final = 400
"""Powers of two between which a product of two doubles has a last part that is a double."""


def compute(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    """Run an instruction on floats; False where it is none that is computed."""
    if not instruction.operands or not isinstance(instruction.operands[0], Register):
        return False
    run = _runner(instruction.opcode)
    if run is None:
        return False
    with np.errstate(all="ignore"):
        return run(instruction, lanes, active)


@cache
def _runner(opcode: str) -> Callable[[Instruction, Lanes, Mask], bool] | None:
    """What runs instructions of an opcode."""
    runners = {_ARITHMETIC: _arithmetic, COMPARED: _compare, _OF_WHOLE: _of_whole, _TO_WHOLE: _to_whole}
    runners[_TO_REAL] = _to_real
    return next((run for pattern, run in runners.items() if pattern.fullmatch(opcode)), None)


def _arithmetic(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    found = _ARITHMETIC.fullmatch(instruction.opcode)
    if found is None:
        return False
    plain, rounded, chosen, sat, kind = found.groups()
    target, *operands = instruction.operands
    values, known = _read(lanes, operands, kind)
    match (plain or rounded or chosen, values):
        case "add", (first, second):
            result = first + second
        case "sub", (first, second):
            result = first - second
        case "mul", (first, second):
            result = first * second
        case "div", (first, second):
            result = first / second
        case "sqrt", (one,):
            result = np.sqrt(one)
        case "rcp", (one,):
            result = (1 / one).astype(one.dtype)
        case "abs", (one,):
            result = np.abs(one)
        case "neg", (one,):
            result = -one
        case ("min" | "max") as which, (first, second):
            result = _extreme(which == "min", first, second)
        case "fma", (first, second, third):
            result, of_result = _fused(first, second, third)
            known = known & of_result
        case _:
            return False
    if sat:
        result = np.where(np.isnan(result), 0, np.clip(result, 0, 1)).astype(result.dtype)
    lanes.write(target, _bits(result), known & ~np.isnan(result), active)
    return True


def _compare(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    found = COMPARED.fullmatch(instruction.opcode)
    if found is None or len(instruction.operands) != 3:
        return False
    how, kind = found.groups()
    target, *operands = instruction.operands
    (first, second), known = _read(lanes, operands, kind)
    is_number = ~(np.isnan(first) | np.isnan(second))
    if how in ("num", "nan"):
        result = is_number == (how == "num")
    elif how[-1] == "u" and how[:-1] in _TOLD:
        result = _TOLD[how[:-1]](first, second) | ~is_number
    else:
        result = _TOLD[how](first, second) & is_number
    lanes.write(target, result.astype(np.int64), known, active)
    return True


def _of_whole(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    found = _OF_WHOLE.fullmatch(instruction.opcode)
    if found is None or len(instruction.operands) != 2:
        return False
    kind, sign, width = found[1], found[2], int(found[3])
    value, known = lanes.read(instruction.operands[1], width)
    # A pattern of fewer bits without a sign is the number itself.
    numbers = signed(value, width) if sign == "s" else value.view(np.uint64)
    real = numbers.astype(np.float64) if kind == "f16" else numbers
    lanes.write(instruction.operands[0], _bits(real.astype(_REALS[kind])), known, active)
    return True


def _to_whole(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    found = _TO_WHOLE.fullmatch(instruction.opcode)
    if found is None or len(instruction.operands) != 2:
        return False
    how, sign, width, kind = found[1], found[2], int(found[3]), found[4]
    (value,), known = _read(lanes, instruction.operands[1:], kind)
    whole = _ROUNDED[how](value.astype(np.float64))
    least = -(1 << width - 1) if sign == "s" else 0
    most = (1 << width - 1) - 1 if sign == "s" else (1 << width) - 1
    inside = (whole > least) & (whole < most)
    number = np.where(inside, whole, 0)
    # Of numbers without a sign, those of 64 bits and more lie half of them behind signed ones.
    result = np.where(number < 2.0**63, number, number - 2.0**64).astype(np.int64)
    ends = np.where(whole <= least, np.int64(least), np.uint64(most).astype(np.int64))
    lanes.write(instruction.operands[0], np.where(inside, result, ends), known & ~np.isnan(value), active)
    return True


def _to_real(instruction: Instruction, lanes: Lanes, active: Mask) -> bool:
    found = _TO_REAL.fullmatch(instruction.opcode)
    if found is None or len(instruction.operands) != 2:
        return False
    *kinds, how, both = found.groups()
    into, source = (both, both) if both else tuple(each for each in kinds if each)
    (value,), known = _read(lanes, instruction.operands[1:], source)
    result = _ROUNDED[how](value) if how else value.astype(_REALS[into])
    lanes.write(instruction.operands[0], _bits(result), known & ~np.isnan(result), active)
    return True


# ---- numbers and their bits


def _read(lanes: Lanes, operands: Sequence[Operand], kind: str) -> tuple[list[_Real], Mask]:
    number = np.dtype(_REALS[kind])
    known = lanes.everything
    values: list[_Real] = []
    for operand in operands:
        bits, of_this = lanes.read(operand, 8 * number.itemsize)
        values.append(bits.astype(_pattern(number)).view(number))
        known = known & of_this
    return values, known


def _bits(values: _Real) -> Array:
    return np.ascontiguousarray(values).view(_pattern(values.dtype)).astype(np.int64)


def _pattern(number: np.dtype[Any]) -> str:
    """The type of the bits of a number."""
    return f"u{number.itemsize}"


def _extreme(least: bool, first: _Real, second: _Real) -> _Real:
    """The smaller or the greater one; a zero with a sign is below the one without."""
    result = np.fmin(first, second) if least else np.fmax(first, second)
    minus = np.signbit(first) | np.signbit(second) if least else np.signbit(first) & np.signbit(second)
    zero = (first == 0) & (second == 0)
    return np.where(zero, np.where(minus, -np.zeros_like(result), np.zeros_like(result)), result)


# ---- products that are rounded once with their sum


def _fused(first: _Real, second: _Real, third: _Real) -> tuple[_Real, Mask]:
    """`first * second + third`, and where it is known."""
    if first.dtype != np.float64:
        wide = [each.astype(np.float64) for each in (first, second, third)]
        # The product is a double; a sum to odd is rounded as the sum itself.
        return _odd(wide[0] * wide[1], wide[2]).astype(first.dtype), np.ones(len(first), dtype=np.bool_)
    once = first * second + third
    high = first * second
    low = _left(first, second, high)
    middle, rest = _sum(third, low)
    top, left = _sum(high, middle)
    result = top + _odd(rest, left)
    is_plain = (first == 0) | (second == 0) | ~np.isfinite(first) | ~np.isfinite(second) | ~np.isfinite(third)
    sizes = [np.frexp(each)[1] for each in (first, second, third)]
    safe = np.logical_and.reduce([np.abs(size) < _SAFE for size in sizes])
    return np.where(is_plain, once, result), is_plain | safe


def _sum(first: _Real, second: _Real) -> tuple[_Real, _Real]:
    """A sum, and what rounding took of it."""
    total = first + second
    part = total - first
    return total, (first - (total - part)) + (second - part)


def _left(first: _Real, second: _Real, product: _Real) -> _Real:
    """What rounding took of a product of doubles."""
    high, low = zip(*(_halves(each) for each in (first, second)), strict=True)
    return ((high[0] * high[1] - product) + high[0] * low[1] + low[0] * high[1]) + low[0] * low[1]


def _halves(value: _Real) -> tuple[_Real, _Real]:
    scaled = value * 134_217_729.0
    high = scaled - (scaled - value)
    return high, value - high


def _odd(first: _Real, second: _Real) -> _Real:
    """A sum of doubles, rounded to the neighbour with an odd last bit where it is none itself."""
    total, rest = _sum(first, second)
    even = np.ascontiguousarray(total).view(np.int64) & 1 == 0
    moved = np.nextafter(total, np.copysign(np.inf, rest))
    return np.where(np.isfinite(total) & (rest != 0) & even, moved, total)
