"""Opcodes of whole numbers.

Source: PTX ISA, Integer Arithmetic Instructions; Data Movement and Conversion Instructions: mov, cvt.
"""

from __future__ import annotations

import re

from swzverify.compiled.kernel.arithmetic import (
    add,
    both,
    is_negative,
    is_zero,
    less,
    mul,
    ones,
    sub,
    widened,
)
from swzverify.compiled.kernel.opcodes.operation import Operation, Values, of_one, of_three, of_two, rule, width_of_type
from swzverify.compiled.kernel.special import is_extent
from swzverify.ir.expr import (
    FALSE,
    BinaryOperator,
    Comparison,
    Expr,
    binary,
    compare,
    const,
    extract,
    ite,
)


@rule(r"mov\.(?:pred|[busf](?:16|32|64))")
def _mov(found: re.Match[str]) -> Operation:
    return of_one(width_of_type(found[0][4:]), lambda a: a)


@rule(r"(add|sub)(?:\.cc)?\.([us](?:16|32|64))")
def _add(found: re.Match[str]) -> Operation:
    return of_two(width_of_type(found[2]), add if found[1] == "add" else sub)


@rule(r"mul\.lo\.([us](?:16|32|64))")
def _mul(found: re.Match[str]) -> Operation:
    return of_two(width_of_type(found[1]), mul)


@rule(r"mad\.lo(?:\.cc)?\.([us](?:16|32|64))")
def _mad(found: re.Match[str]) -> Operation:
    return of_three(width_of_type(found[1]), lambda a, b, c: add(mul(a, b), c))


def _product(a: Expr, b: Expr, *, signed: bool) -> Expr:
    """The whole product, in twice the bits."""
    return mul(widened(a, 2 * a.width, signed=signed), widened(b, 2 * b.width, signed=signed))


@rule(r"(mul|mad)\.hi\.([us])(16|32)")
def _high(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"

    def high(a: Expr, b: Expr) -> Expr:
        return extract(_product(a, b, signed=signed), width, width)

    if found[1] == "mul":
        return of_two(width, high)
    return of_three(width, lambda a, b, c: add(high(a, b), c))


@rule(r"(mul|mad)\.wide\.([us])(16|32)")
def _wide(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"
    if found[1] == "mul":
        return Operation((width,) * 2, (2 * width,), lambda v: (_product(v[0], v[1], signed=signed),))
    sources = (width, width, 2 * width)
    return Operation(sources, (2 * width,), lambda v: (add(_product(v[0], v[1], signed=signed), v[2]),))


@rule(r"(mul24|mad24)\.(lo|hi)\.([us])32")
def _mul24(found: re.Match[str]) -> Operation | None:
    signed, low = found[3] == "s", 0 if found[2] == "lo" else 16

    def product(a: Expr, b: Expr) -> Expr:
        parts = [widened(extract(each, 0, 24), 48, signed=signed) for each in (a, b)]
        return extract(mul(parts[0], parts[1]), low, 32)

    if found[1] == "mul24":
        return of_two(32, product)
    return of_three(32, lambda a, b, c: add(product(a, b), c)) if found[2] == "lo" else None


@rule(r"(div|rem)\.([us])(16|32|64)")
def _divide(found: re.Match[str]) -> Operation:
    """PTX leaves open what a division by zero gives, and what a quotient that does not fit is."""
    width, signed = int(found[3]), found[2] == "s"
    names = {"divu": BinaryOperator.UDIV, "divs": BinaryOperator.SDIV}
    names |= {"remu": BinaryOperator.UREM, "rems": BinaryOperator.SREM}
    operator = names[found[1] + found[2]]

    def undefined(values: Values) -> tuple[Expr, Expr]:
        by_zero = FALSE if is_extent(values[1]) else is_zero(values[1])
        if not signed:
            return by_zero, FALSE
        least = compare(Comparison.EQ, values[0], const(1 << (width - 1), width))
        return by_zero, both(least, compare(Comparison.EQ, values[1], ones(width)))

    def build(values: Values) -> Values:
        return (binary(operator, values[0], values[1]),)

    return Operation((width, width), (width,), build, signed, undefined)


@rule(r"(min|max)\.([us])(16|32|64)")
def _least(found: re.Match[str]) -> Operation:
    signed, is_min = found[2] == "s", found[1] == "min"

    def pick(a: Expr, b: Expr) -> Expr:
        return ite(less(a, b, signed=signed), a, b) if is_min else ite(less(b, a, signed=signed), a, b)

    return of_two(int(found[3]), pick)


@rule(r"(abs|neg)\.s(16|32|64)")
def _sign(found: re.Match[str]) -> Operation:
    def minus(a: Expr) -> Expr:
        return sub(const(0, a.width), a)

    if found[1] == "neg":
        return of_one(int(found[2]), minus)
    return of_one(int(found[2]), lambda a: ite(is_negative(a), minus(a), a))


@rule(r"sad\.([us])(16|32|64)")
def _sad(found: re.Match[str]) -> Operation:
    signed = found[1] == "s"
    return of_three(int(found[2]), lambda a, b, c: add(c, ite(less(a, b, signed=signed), sub(b, a), sub(a, b))))


@rule(r"cvt\.([us])(8|16|32|64)\.([us])(8|16|32|64)")
def _convert(found: re.Match[str]) -> Operation:
    """The source's type tells how it is widened, the result's how a wider register takes it."""
    width, source = int(found[2]), int(found[4])
    signed = found[3] == "s"
    return Operation((source,), (width,), lambda v: (widened(v[0], width, signed=signed),), found[1] == "s")
