"""What opcodes compute, as expressions of their operands: whole numbers, bits, comparisons.

An opcode is known only as it is spelled here: with any modifier that is not named it has no meaning
in this table, and its result is an unknown value.

Source: PTX ISA, Integer Arithmetic Instructions; Logic and Shift Instructions; Comparison and
Selection Instructions (floats: Floating Point Comparisons); Data Movement and Conversion
Instructions (mov, prmt, cvt).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import (
    add,
    bit_and,
    bit_not,
    bit_or,
    bit_xor,
    both,
    choose,
    either,
    is_negative,
    is_zero,
    joined,
    less,
    mul,
    ones,
    shift_left,
    shift_right,
    sub,
    widened,
)
from swzverify.ir.expr import (
    FALSE,
    BinaryOperator,
    Comparison,
    Const,
    Expr,
    binary,
    compare,
    const,
    extract,
    ite,
    negation,
)

Values: TypeAlias = tuple[Expr, ...]
Build: TypeAlias = Callable[[Values], Values | None]


@dataclass(frozen=True, slots=True)
class Operation:
    """How an opcode computes: bits of each source and result, and the results as expressions.

    `build` gives None where the values of these operands have no expression. `undefined` gives two
    conditions on the sources of a division by the second one: that it is by zero, and that it
    overflows. Where one of them holds, the results may be anything. `signed` tells how a wider
    register takes a result.
    """

    sources: tuple[int, ...]
    results: tuple[int, ...]
    build: Build
    signed: bool = False
    undefined: Callable[[Values], tuple[Expr, Expr]] | None = None


Rule: TypeAlias = Callable[[re.Match[str]], Operation | None]
_RULES: list[tuple[re.Pattern[str], Rule]] = []


def _rule(pattern: str) -> Callable[[Rule], Rule]:
    def keep(rule: Rule) -> Rule:
        _RULES.append((re.compile(pattern), rule))
        return rule

    return keep


@lru_cache(maxsize=4096)
def operation(opcode: str, count: int) -> Operation | None:
    """What an opcode with `count` sources computes; None if this table does not say.

    >>> from swzverify.ir.expr import const
    >>> operation("shr.s32", 2).build((const(-8, 32), const(40, 32)))[0].value == 2**32 - 1
    True
    """
    for pattern, rule in _RULES:
        if found := pattern.fullmatch(opcode):
            made = rule(found)
            if made is not None and len(made.sources) == count:
                return made
    return None


def _width(type_name: str) -> int:
    return 1 if type_name == "pred" else int(re.sub(r"\D", "", type_name))


def _of_one(width: int, build: Callable[[Expr], Expr]) -> Operation:
    """A source and a result of one width."""
    return Operation((width,), (width,), lambda v: (build(v[0]),))


def _of_two(width: int, build: Callable[[Expr, Expr], Expr]) -> Operation:
    """Two sources and a result of one width."""
    return Operation((width,) * 2, (width,), lambda v: (build(v[0], v[1]),))


def _of_three(width: int, build: Callable[[Expr, Expr, Expr], Expr]) -> Operation:
    """Three sources and a result of one width."""
    return Operation((width,) * 3, (width,), lambda v: (build(v[0], v[1], v[2]),))


@_rule(r"mov\.(?:pred|[busf](?:16|32|64))")
def _mov(found: re.Match[str]) -> Operation:
    return _of_one(_width(found[0][4:]), lambda a: a)


@_rule(r"(add|sub)(?:\.cc)?\.([us](?:16|32|64))")
def _add(found: re.Match[str]) -> Operation:
    return _of_two(_width(found[2]), add if found[1] == "add" else sub)


@_rule(r"mul\.lo\.([us](?:16|32|64))")
def _mul(found: re.Match[str]) -> Operation:
    return _of_two(_width(found[1]), mul)


@_rule(r"mad\.lo(?:\.cc)?\.([us](?:16|32|64))")
def _mad(found: re.Match[str]) -> Operation:
    return _of_three(_width(found[1]), lambda a, b, c: add(mul(a, b), c))


def _product(a: Expr, b: Expr, *, signed: bool) -> Expr:
    """The whole product, in twice the bits."""
    return mul(widened(a, 2 * a.width, signed=signed), widened(b, 2 * b.width, signed=signed))


@_rule(r"(mul|mad)\.hi\.([us])(16|32)")
def _high(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"

    def high(a: Expr, b: Expr) -> Expr:
        return extract(_product(a, b, signed=signed), width, width)

    if found[1] == "mul":
        return _of_two(width, high)
    return _of_three(width, lambda a, b, c: add(high(a, b), c))


@_rule(r"(mul|mad)\.wide\.([us])(16|32)")
def _wide(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"
    if found[1] == "mul":
        return Operation((width,) * 2, (2 * width,), lambda v: (_product(v[0], v[1], signed=signed),))
    sources = (width, width, 2 * width)
    return Operation(sources, (2 * width,), lambda v: (add(_product(v[0], v[1], signed=signed), v[2]),))


@_rule(r"(mul24|mad24)\.(lo|hi)\.([us])32")
def _mul24(found: re.Match[str]) -> Operation | None:
    signed, low = found[3] == "s", 0 if found[2] == "lo" else 16

    def product(a: Expr, b: Expr) -> Expr:
        parts = [widened(extract(each, 0, 24), 48, signed=signed) for each in (a, b)]
        return extract(mul(parts[0], parts[1]), low, 32)

    if found[1] == "mul24":
        return _of_two(32, product)
    return _of_three(32, lambda a, b, c: add(product(a, b), c)) if found[2] == "lo" else None


@_rule(r"(div|rem)\.([us])(16|32|64)")
def _divide(found: re.Match[str]) -> Operation:
    """PTX leaves open what a division by zero gives, and what a quotient that does not fit is."""
    width, signed = int(found[3]), found[2] == "s"
    names = {"divu": BinaryOperator.UDIV, "divs": BinaryOperator.SDIV}
    names |= {"remu": BinaryOperator.UREM, "rems": BinaryOperator.SREM}
    operator = names[found[1] + found[2]]

    def undefined(values: Values) -> tuple[Expr, Expr]:
        by_zero = is_zero(values[1])
        if not signed:
            return by_zero, FALSE
        least = compare(Comparison.EQ, values[0], const(1 << (width - 1), width))
        return by_zero, both(least, compare(Comparison.EQ, values[1], ones(width)))

    def build(values: Values) -> Values:
        return (binary(operator, values[0], values[1]),)

    return Operation((width, width), (width,), build, signed, undefined)


@_rule(r"(min|max)\.([us])(16|32|64)")
def _least(found: re.Match[str]) -> Operation:
    signed, is_min = found[2] == "s", found[1] == "min"

    def pick(a: Expr, b: Expr) -> Expr:
        return ite(less(a, b, signed=signed), a, b) if is_min else ite(less(b, a, signed=signed), a, b)

    return _of_two(int(found[3]), pick)


@_rule(r"(abs|neg)\.s(16|32|64)")
def _sign(found: re.Match[str]) -> Operation:
    def minus(a: Expr) -> Expr:
        return sub(const(0, a.width), a)

    if found[1] == "neg":
        return _of_one(int(found[2]), minus)
    return _of_one(int(found[2]), lambda a: ite(is_negative(a), minus(a), a))


@_rule(r"sad\.([us])(16|32|64)")
def _sad(found: re.Match[str]) -> Operation:
    signed = found[1] == "s"
    return _of_three(int(found[2]), lambda a, b, c: add(c, ite(less(a, b, signed=signed), sub(b, a), sub(a, b))))


_TWO: Final = {"and": bit_and, "or": bit_or, "xor": bit_xor}


@_rule(r"(and|or|xor)\.(pred|b16|b32|b64)")
def _logic(found: re.Match[str]) -> Operation:
    return _of_two(_width(found[2]), _TWO[found[1]])


@_rule(r"not\.(pred|b16|b32|b64)")
def _not(found: re.Match[str]) -> Operation:
    return _of_one(_width(found[1]), bit_not)


@_rule(r"cnot\.b(16|32|64)")
def _cnot(found: re.Match[str]) -> Operation:
    return _of_one(int(found[1]), lambda a: widened(is_zero(a), a.width))


@_rule(r"(shl|shr)\.([bus])(16|32|64)")
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


@_rule(r"shf\.([lr])\.(wrap|clamp)\.b32")
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


@_rule(r"bfe\.([us])(32|64)")
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


@_rule(r"bfi\.b(32|64)")
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


@_rule(r"bfind(\.shiftamt)?\.([us])(32|64)")
def _find(found: re.Match[str]) -> Operation:
    width, signed = int(found[3]), found[2] == "s"

    def build(values: Values) -> Values:
        value = values[0]
        place = _highest(ite(is_negative(value), bit_not(value), value) if signed else value)
        if found[1] is None:
            return (place,)
        return (ite(compare(Comparison.EQ, place, ones(32)), place, sub(const(width - 1, 32), place)),)

    return Operation((width,), (32,), build)


@_rule(r"(popc|clz)\.b(32|64)")
def _count(found: re.Match[str]) -> Operation:
    width = int(found[2])

    def build(values: Values) -> Values:
        if found[1] == "clz":
            return (sub(const(width - 1, 32), _highest(values[0])),)
        total: Expr = const(0, 32)
        for at in range(width):
            total = add(total, widened(extract(values[0], at, 1), 32))
        return (total,)

    return Operation((width,), (32,), build)


@_rule(r"brev\.b(32|64)")
def _reverse(found: re.Match[str]) -> Operation:
    return _of_one(int(found[1]), lambda a: joined(tuple(extract(a, at, 1) for at in reversed(range(a.width)))))


@_rule(r"prmt\.b32")
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
        for inner in _TWO:
            for outer in _TWO:
                table = _tabled(outer, _tabled(inner, x, y), z)
                found.setdefault(table, (inner, outer, order, False))
                found.setdefault(table ^ 0xFF, (inner, outer, order, True))
    return found


@_rule(r"lop3\.b32")
def _three(_: re.Match[str]) -> Operation:
    def build(values: Values) -> Values | None:
        table = values[3]
        if not isinstance(table, Const):
            return None
        code = table.value & 0xFF
        if short := _short_forms().get(code):
            inner, outer, (x, y, z), turned = short
            whole = _TWO[outer](_TWO[inner](values[x], values[y]), values[z])
            return (bit_not(whole) if turned else whole,)
        result: Expr = const(0, 32)
        for row in range(8):
            if code >> row & 1:
                a, b, c = (v if row >> 2 - at & 1 else bit_not(v) for at, v in enumerate(values[:3]))
                result = bit_or(result, bit_and(bit_and(a, b), c))
        return (result,)

    return Operation((32, 32, 32, 32), (32,), build)


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


@_rule(rf"setp\.{_COMPARED}\.([bus])(16|32|64)")
def _setp(found: re.Match[str]) -> Operation:
    return _predicates(int(found[4]), found[2], lambda a, b: _compared(found[1], found[3], a, b))


@_rule(rf"setp\.{_COMPARED_FLOATS}\.(b?f16|f32|f64)")
def _setp_floats(found: re.Match[str]) -> Operation | None:
    if found[3] and found[4] not in ("f16", "f32"):
        return None
    ftz = found[3] is not None
    return _predicates(_width(found[4]), found[2], lambda a, b: _compared_floats(found[1], found[4], a, b, ftz=ftz))


def _predicates(width: int, combine: str | None, answer_of: Callable[[Expr, Expr], Expr | None]) -> Operation:
    """The second result combines the opposite of the comparison."""

    def build(values: Values) -> Values | None:
        answer = answer_of(values[0], values[1])
        if answer is None:
            return None
        if combine is None:
            return answer, negation(answer)
        return _TWO[combine](answer, values[2]), _TWO[combine](negation(answer), values[2])

    return Operation((width, width) + ((1,) if combine else ()), (1, 1), build)


@_rule(rf"set\.{_COMPARED}\.([usf])32\.([bus])(16|32|64)")
def _set(found: re.Match[str]) -> Operation:
    return _marks(int(found[5]), found[2], found[3], lambda a, b: _compared(found[1], found[4], a, b))


@_rule(rf"set\.{_COMPARED_FLOATS}\.([usf])32\.(f32|f64)")
def _set_floats(found: re.Match[str]) -> Operation | None:
    if found[3] and found[5] != "f32":
        return None
    ftz, width = found[3] is not None, _width(found[5])
    return _marks(width, found[2], found[4], lambda a, b: _compared_floats(found[1], found[5], a, b, ftz=ftz))


def _marks(width: int, combine: str | None, into: str, answer_of: Callable[[Expr, Expr], Expr | None]) -> Operation:
    """1.0 or all ones where a comparison holds, else 0."""
    yes = const(0x3F800000 if into == "f" else -1, 32)

    def build(values: Values) -> Values | None:
        answer = answer_of(values[0], values[1])
        if answer is None:
            return None
        if combine is not None:
            answer = _TWO[combine](answer, values[2])
        return (ite(answer, yes, const(0, 32)),)

    return Operation((width, width) + ((1,) if combine else ()), (32,), build)


@_rule(r"selp\.[busf](16|32|64)")
def _select(found: re.Match[str]) -> Operation:
    width = int(found[1])
    return Operation((width, width, 1), (width,), lambda v: (choose(v[2], v[0], v[1]),))


@_rule(r"slct\.[busf](16|32|64)\.s32")
def _select_sign(found: re.Match[str]) -> Operation:
    width = int(found[1])
    return Operation((width, width, 32), (width,), lambda v: (ite(is_negative(v[2]), v[1], v[0]),))


@_rule(r"cvt\.([us])(8|16|32|64)\.([us])(8|16|32|64)")
def _convert(found: re.Match[str]) -> Operation:
    """The source's type tells how it is widened, the result's how a wider register takes it."""
    width, source = int(found[2]), int(found[4])
    signed = found[3] == "s"
    return Operation((source,), (width,), lambda v: (widened(v[0], width, signed=signed),), found[1] == "s")


@_rule(r"szext\.(wrap|clamp)\.([us])32")
def _keep(found: re.Match[str]) -> Operation:
    clamp, signed = found[1] == "clamp", found[2] == "s"

    def build(values: Values) -> Values:
        value, count = values
        count = _limited(count, clamp=clamp)
        away = sub(const(32, 32), count)
        kept = shift_right(shift_left(value, away), away, signed=signed)
        return (ite(is_zero(count), const(0, 32), kept),)

    return Operation((32, 32), (32,), build)


@_rule(r"bmsk\.(wrap|clamp)\.b32")
def _mask(found: re.Match[str]) -> Operation:
    wrap = found[1] == "wrap"

    def build(values: Values) -> Values:
        start, count = (bit_and(each, const(31, 32)) if wrap else each for each in values)
        return (shift_left(_low_ones(count), start),)

    return Operation((32, 32), (32,), build)
