"""Opcodes that compare and select.

Source: PTX ISA, Comparison and Selection Instructions; Floating Point Comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from swzverify.compiled.kernel.arithmetic import (
    both,
    choose,
    either,
    is_negative,
    less,
    sub,
    widened,
)
from swzverify.compiled.kernel.opcodes.operation import LOGIC, Operation, Values, rule, width_of_type
from swzverify.ir.expr import (
    Comparison,
    Expr,
    compare,
    const,
    extract,
    ite,
    negation,
)

_COMPARE: Final[dict[str, tuple[Comparison, bool, bool]]] = {
    "eq": (Comparison.EQ, False, False),
    "ne": (Comparison.EQ, False, True),
    "lt": (Comparison.SLT, False, False),
    "le": (Comparison.SLE, False, False),
    "gt": (Comparison.SLT, True, False),
    "ge": (Comparison.SLE, True, False),
    "lo": (Comparison.ULT, False, False),
    "ls": (Comparison.ULE, False, False),
    "hi": (Comparison.ULT, True, False),
    "hs": (Comparison.ULE, True, False),
}
"""The comparison, whether the operands change places, whether the answer is inverted."""
_UNSIGNED: Final = {"lt": "lo", "le": "ls", "gt": "hi", "ge": "hs"}
_ORDERED: Final = "eq|ne|lt|le|gt|ge"
_COMPARED: Final = rf"({_ORDERED}|lo|ls|hi|hs)(?:\.(and|or|xor))?"
_COMPARED_FLOATS: Final = rf"((?:{_ORDERED})u?|num|nan)(?:\.(and|or|xor))?(\.ftz)?"
_EXPONENT_BITS: Final = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}


def _compared(name: str, type_letter: str, a: Expr, b: Expr) -> Expr | None:
    if type_letter == "b" and name not in ("eq", "ne"):
        return None
    if type_letter == "s" and name in ("lo", "ls", "hi", "hs"):
        return None
    comparison, swapped, turned = _COMPARE[_UNSIGNED.get(name, name) if type_letter == "u" else name]
    found = compare(comparison, b, a) if swapped else compare(comparison, a, b)
    return negation(found) if turned else found


def _compared_floats(name: str, kind: str, a: Expr, b: Expr, *, ftz: bool) -> Expr:
    """A comparison of two IEEE 754 numbers by their bits.

    `ftz` takes subnormal numbers as 0. With a NaN, a comparison holds if its name ends in `u`.
    """
    magnitudes = [widened(extract(each, 0, each.width - 1), each.width) for each in (a, b)]
    fraction_bits = a.width - 1 - _EXPONENT_BITS[kind]
    infinity = const(((1 << _EXPONENT_BITS[kind]) - 1) << fraction_bits, a.width)
    is_unordered = either(*(less(infinity, each, signed=False) for each in magnitudes))
    if name in ("num", "nan"):
        return is_unordered if name == "nan" else negation(is_unordered)
    if ftz:
        smallest, zero = const(1 << fraction_bits, a.width), const(0, a.width)
        magnitudes = [ite(less(each, smallest, signed=False), zero, each) for each in magnitudes]
    # Both zeros have one number here.
    numbers = [
        ite(is_negative(each), sub(const(0, each.width), magnitude), magnitude)
        for each, magnitude in zip((a, b), magnitudes, strict=True)
    ]
    comparison, swapped, turned = _COMPARE[name.removesuffix("u")]
    holds = compare(comparison, *(reversed(numbers) if swapped else numbers))
    holds = negation(holds) if turned else holds
    return either(is_unordered, holds) if name.endswith("u") else both(negation(is_unordered), holds)


@rule(rf"setp\.{_COMPARED}\.([bus])(16|32|64)")
def _setp(found: re.Match[str]) -> Operation:
    return _predicates(int(found[4]), found[2], lambda a, b: _compared(found[1], found[3], a, b))


@rule(rf"setp\.{_COMPARED_FLOATS}\.(b?f16|f32|f64)")
def _setp_floats(found: re.Match[str]) -> Operation | None:
    if found[3] and found[4] not in ("f16", "f32"):
        return None
    ftz = found[3] is not None
    return _predicates(
        width_of_type(found[4]), found[2], lambda a, b: _compared_floats(found[1], found[4], a, b, ftz=ftz)
    )


def _predicates(width: int, combine: str | None, answer_of: Callable[[Expr, Expr], Expr | None]) -> Operation:
    """The second result combines the opposite of the comparison."""

    def build(values: Values) -> Values | None:
        answer = answer_of(values[0], values[1])
        if answer is None:
            return None
        if combine is None:
            return answer, negation(answer)
        return LOGIC[combine](answer, values[2]), LOGIC[combine](negation(answer), values[2])

    return Operation((width, width) + ((1,) if combine else ()), (1, 1), build)


@rule(rf"set\.{_COMPARED}\.([usf])32\.([bus])(16|32|64)")
def _set(found: re.Match[str]) -> Operation:
    return _marks(int(found[5]), found[2], found[3], lambda a, b: _compared(found[1], found[4], a, b))


@rule(rf"set\.{_COMPARED_FLOATS}\.([usf])32\.(f32|f64)")
def _set_floats(found: re.Match[str]) -> Operation | None:
    if found[3] and found[5] != "f32":
        return None
    ftz, width = found[3] is not None, width_of_type(found[5])
    return _marks(width, found[2], found[4], lambda a, b: _compared_floats(found[1], found[5], a, b, ftz=ftz))


def _marks(width: int, combine: str | None, into: str, answer_of: Callable[[Expr, Expr], Expr | None]) -> Operation:
    """1.0 or all ones where a comparison holds, else 0."""
    yes = const(0x3F800000 if into == "f" else -1, 32)

    def build(values: Values) -> Values | None:
        answer = answer_of(values[0], values[1])
        if answer is None:
            return None
        if combine is not None:
            answer = LOGIC[combine](answer, values[2])
        return (ite(answer, yes, const(0, 32)),)

    return Operation((width, width) + ((1,) if combine else ()), (32,), build)


@rule(r"selp\.[busf](16|32|64)")
def _select(found: re.Match[str]) -> Operation:
    width = int(found[1])
    return Operation((width, width, 1), (width,), lambda v: (choose(v[2], v[0], v[1]),))


@rule(r"slct\.[busf](16|32|64)\.s32")
def _select_sign(found: re.Match[str]) -> Operation:
    width = int(found[1])
    return Operation((width, width, 32), (width,), lambda v: (ite(is_negative(v[2]), v[1], v[0]),))
