"""Opcodes of bits: logic, shifts, fields, counts, permutations.

Source: PTX ISA, Logic and Shift Instructions; Integer Arithmetic Instructions: bfe, bfi, bfind, popc,
clz, brev, szext, bmsk; Data Movement and Conversion Instructions: prmt.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.arithmetic import (
    add,
    bit_and,
    bit_not,
    bit_or,
    is_negative,
    is_zero,
    joined,
    less,
    ones,
    shift_left,
    shift_right,
    sub,
    widened,
)
from swzverify.compiled.kernel.opcodes.operation import LOGIC, Operation, Values, of_one, of_two, rule, width_of_type
from swzverify.ir.expr import (
    Comparison,
    Const,
    Expr,
    compare,
    const,
    count,
    extract,
    ite,
)


@rule(r"(and|or|xor)\.(pred|b16|b32|b64)")
def _logic(found: re.Match[str]) -> Operation:
    return of_two(width_of_type(found[2]), LOGIC[found[1]])


@rule(r"not\.(pred|b16|b32|b64)")
def _not(found: re.Match[str]) -> Operation:
    return of_one(width_of_type(found[1]), bit_not)


@rule(r"cnot\.b(16|32|64)")
def _cnot(found: re.Match[str]) -> Operation:
    return of_one(int(found[1]), lambda a: widened(is_zero(a), a.width))


@rule(r"(shl|shr)\.([bus])(16|32|64)")
def _shift(found: re.Match[str]) -> Operation:
    """The count has 32 bits and does not wrap: from the width on, only filling bits are left."""
    width, signed = int(found[3]), found[2] == "s"
    inner = max(width, 32)

    def build(values: Values) -> Values:
        value, count = widened(values[0], inner, signed=signed), widened(values[1], inner)
        if found[1] == "shl":
            return (extract(shift_left(value, count), 0, width),)
        return (extract(shift_right(value, count, signed=signed), 0, width),)

    return Operation((width, 32), (width,), build)


def _limited(count: Expr, *, clamp: bool) -> Expr:
    """A count of bits: at most 32, or modulo 32."""
    limit = const(32, 32)
    return ite(less(limit, count, signed=False), limit, count) if clamp else bit_and(count, const(31, 32))


@rule(r"shf\.([lr])\.(wrap|clamp)\.b32")
def _funnel(found: re.Match[str]) -> Operation:
    to_left, clamp = found[1] == "l", found[2] == "clamp"

    def build(values: Values) -> Values:
        pair, count = joined(values[:2]), values[2]
        count = widened(_limited(count, clamp=clamp), 64)
        if to_left:
            return (extract(shift_left(pair, count), 32, 32),)
        return (extract(shift_right(pair, count, signed=False), 0, 32),)

    return Operation((32, 32, 32), (32,), build)


def _byte(value: Expr, width: int) -> Expr:
    """The low 8 bits of a position or a length."""
    return widened(bit_and(value, const(0xFF, 32)), width)


def _low_ones(count: Expr) -> Expr:
    """A mask of so many low bits, as wide as the count."""
    one = const(1, count.width)
    return sub(shift_left(one, count), one)


@rule(r"bfe\.([us])(32|64)")
def _field(found: re.Match[str]) -> Operation:
    width, signed = int(found[2]), found[1] == "s"

    def build(values: Values) -> Values:
        value, start, count = values[0], _byte(values[1], width), _byte(values[2], width)
        if not signed:
            return (bit_and(shift_right(value, start, signed=False), _low_ones(count)),)
        end, last = add(start, count), const(width, width)
        unused = ite(less(end, last, signed=False), sub(last, end), const(0, width))
        field = shift_right(shift_left(value, unused), add(unused, start), signed=True)
        return (ite(is_zero(count), const(0, width), field),)

    return Operation((width, 32, 32), (width,), build)


@rule(r"bfi\.b(32|64)")
def _insert(found: re.Match[str]) -> Operation:
    width = int(found[1])

    def build(values: Values) -> Values:
        start, count = _byte(values[2], width), _byte(values[3], width)
        mask = shift_left(_low_ones(count), start)
        return (bit_or(bit_and(shift_left(values[0], start), mask), bit_and(values[1], bit_not(mask))),)

    return Operation((width, width, 32, 32), (width,), build)


def _highest(value: Expr) -> Expr:
    """The place of the highest bit that is set, of 32 bits; all ones for zero."""
    result: Expr = ones(32)
    for at in range(value.width):
        result = ite(extract(value, at, 1), const(at, 32), result)
    return result


@rule(r"bfind(\.shiftamt)?\.([us])(32|64)")
def _find(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"

    def build(values: Values) -> Values:
        value = values[0]
        place = _highest(ite(is_negative(value), bit_not(value), value) if signed else value)
        if found[1] is None:
            return (place,)
        return (ite(compare(Comparison.EQ, place, ones(32)), place, sub(const(width - 1, 32), place)),)

    return Operation((width,), (32,), build)


@rule(r"(popc|clz)\.b(32|64)")
def _count(found: re.Match[str]) -> Operation:
    width = int(found[2])

    def build(values: Values) -> Values:
        if found[1] == "clz":
            return (sub(const(width - 1, 32), _highest(values[0])),)
        return (widened(count(values[0]), 32),)

    return Operation((width,), (32,), build)


@rule(r"brev\.b(32|64)")
def _reverse(found: re.Match[str]) -> Operation:
    return of_one(int(found[1]), lambda a: joined(tuple(extract(a, at, 1) for at in reversed(range(a.width)))))


@rule(r"prmt\.b32")
def _permute(_: re.Match[str]) -> Operation:
    def build(values: Values) -> Values:
        pair, selector = joined(values[:2]), values[2]
        parts: list[Expr] = []
        for at in range(4):
            place = shift_left(widened(extract(selector, 4 * at, 3), 64), const(3, 64))
            byte = extract(shift_right(pair, place, signed=False), 0, 8)
            sign = widened(is_negative(byte), 8, signed=True)
            parts.append(ite(extract(selector, 4 * at + 3, 1), sign, byte))
        return (joined(tuple(parts)),)

    return Operation((32, 32, 32), (32,), build)


_TRUTH: Final = (0xF0, 0xCC, 0xAA)


def _tabled(name: str, left: int, right: int) -> int:
    return {"and": left & right, "or": left | right, "xor": left ^ right}[name]


@lru_cache(maxsize=1)
def _short_forms() -> dict[int, tuple[str, str, tuple[int, int, int], bool]]:
    """Truth tables of `(x op y) op z`: both operators, the order, whether the result is inverted."""
    found: dict[int, tuple[str, str, tuple[int, int, int], bool]] = {}
    for order in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        x, y, z = (_TRUTH[each] for each in order)
        for inner in LOGIC:
            for outer in LOGIC:
                table = _tabled(outer, _tabled(inner, x, y), z)
                found.setdefault(table, (inner, outer, order, False))
                found.setdefault(table ^ 0xFF, (inner, outer, order, True))
    return found


@rule(r"lop3\.b32")
def _three(_: re.Match[str]) -> Operation:
    def build(values: Values) -> Values | None:
        table = values[3]
        if not isinstance(table, Const):
            return None
        code = table.value & 0xFF
        if short := _short_forms().get(code):
            inner, outer, (x, y, z), turned = short
            whole = LOGIC[outer](LOGIC[inner](values[x], values[y]), values[z])
            return (bit_not(whole) if turned else whole,)
        result: Expr = const(0, 32)
        for row in range(8):
            if code >> row & 1:
                a, b, c = (v if row >> 2 - at & 1 else bit_not(v) for at, v in enumerate(values[:3]))
                result = bit_or(result, bit_and(bit_and(a, b), c))
        return (result,)

    return Operation((32, 32, 32, 32), (32,), build)


@rule(r"szext\.(wrap|clamp)\.([us])32")
def _keep(found: re.Match[str]) -> Operation:
    clamp, signed = found[1] == "clamp", found[2] == "s"

    def build(values: Values) -> Values:
        value, count = values
        count = _limited(count, clamp=clamp)
        away = sub(const(32, 32), count)
        kept = shift_right(shift_left(value, away), away, signed=signed)
        return (ite(is_zero(count), const(0, 32), kept),)

    return Operation((32, 32), (32,), build)


@rule(r"bmsk\.(wrap|clamp)\.b32")
def _mask(found: re.Match[str]) -> Operation:
    wrap = found[1] == "wrap"

    def build(values: Values) -> Values:
        start, count = (bit_and(each, const(31, 32)) if wrap else each for each in values)
        return (shift_left(_low_ones(count), start),)

    return Operation((32, 32), (32,), build)
