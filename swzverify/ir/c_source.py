"""Reading: portable C (and CUDA) source that computes an expression, as SMT-LIB defines it.

Each shared node becomes one local, so the text is linear in the nodes. Values live in uint32_t up
to 32 bits and in uint64_t up to 64. They are masked to their width after every operation that can
leave it. Nothing relies on undefined or implementation-defined behaviour of C: no shift reaches the
type's width, no divisor is 0, and signed operators work on magnitudes. The text needs <stdint.h>,
and an `int` of at most 32 bits.

Source: SMT-LIB 2.6, theory FixedSizeBitVectors; ISO/IEC 9899:2011, 6.5.5 and 6.5.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Count,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    postorder,
)

MAX_C_WIDTH = 64
_NARROW_WIDTH = 32
_ESCAPES = {".": "Zd", "'": "Zq", "Z": "ZZ"}


@dataclass(frozen=True, slots=True)
class CLocals:
    """Declarations of locals in order, and the text of each root: a local, parameter or literal."""

    declarations: tuple[str, ...]
    values: tuple[str, ...]


def c_type(width: int) -> str:
    """The unsigned C type that holds `width` bits.

    Raises:
        ValueError: The width is beyond 64 bits.

    >>> c_type(32), c_type(33)
    ('uint32_t', 'uint64_t')
    """
    if width > MAX_C_WIDTH:
        raise ValueError(f"C source holds at most {MAX_C_WIDTH} bits, not {width}")
    return "uint32_t" if width <= _NARROW_WIDTH else "uint64_t"


def c_identifier(name: str) -> str:
    """A C identifier for a variable's name.

    Different names give different identifiers, and none of them is reserved.

    >>> c_identifier("tid"), c_identifier("leaf.0"), c_identifier("k'"), c_identifier("a__b")
    ('v_tid', 'v_leafZd0', 'v_kZq', 'v_a_Zub')
    """
    text = "v_"
    for character in name:
        if character == "_":
            # C++ reserves every identifier with two underscores in a row.
            text += "Zu" if text.endswith("_") else "_"
        elif character.isascii() and character.isalnum() and character != "Z":
            text += character
        else:
            text += _ESCAPES.get(character, f"Zx{ord(character):x}z")
    return text


def c_locals(*roots: Expr) -> CLocals:
    """The statements that compute some expressions from their variables' identifiers.

    Raises:
        ValueError: A sub-expression has more than 64 bits.

    >>> from swzverify.ir.expr import binary, const, var
    >>> c_locals(binary(BinaryOperator.ADD, var("x", 8), const(5, 3)))
    CLocals(declarations=('const uint32_t t0 = (v_x + 5u) & 7u;',), values=('t0',))
    """
    names: dict[Expr, str] = {}
    declarations: list[str] = []
    for node in postorder(*roots):
        kind = c_type(node.width)
        match node:
            case Const(value, width):
                names[node] = _literal(value, width)
            case Var(name):
                names[node] = c_identifier(name)
            case _:
                names[node] = f"t{len(declarations)}"
                declarations.append(f"const {kind} {names[node]} = {_value(node, names)};")
    return CLocals(tuple(declarations), tuple(names[root] for root in roots))


def _literal(value: int, width: int) -> str:
    return f"{value}{'u' if width <= _NARROW_WIDTH else 'ull'}"


def _masked(text: str, width: int) -> str:
    """A text of the type of `width` bits, cut to them; the type itself cuts to 32 and 64."""
    if width in (_NARROW_WIDTH, MAX_C_WIDTH):
        return text
    return f"({text}) & {_literal((1 << width) - 1, width)}"


def _value(node: Binary | Compare | Extract | Extend | Ite | Count, names: dict[Expr, str]) -> str:
    """One node's value over the names of its operands."""
    match node:
        case Binary(operator, left, right, width):
            if operator in _SHIFTS:
                return _shift(operator, names[left], right, names[right], width)
            if operator in _DIVISIONS:
                return _division(operator, names[left], right, names[right], width)
            return _ring(operator, names[left], names[right], width)
        case Compare(comparison, left, right):
            return f"{_comparison(comparison, names[left], names[right], left.width)} ? 1u : 0u"
        case Extract(operand, low, width):
            shifted = f"{names[operand]} >> {low}" if low else names[operand]
            if c_type(width) != c_type(operand.width):
                return _masked(f"(uint32_t)({shifted})", width)
            return shifted if low + width == operand.width else _masked(shifted, width)
        case Extend(operand, width, signed):
            inner = names[operand] if c_type(width) == c_type(operand.width) else f"(uint64_t){names[operand]}"
            if not signed:
                return inner
            # Flipping the sign bit and subtracting it again copies it into every higher bit.
            sign = _literal(1 << (operand.width - 1), width)
            return _masked(f"({inner} ^ {sign}) - {sign}", width)
        case Ite(condition, then, otherwise):
            return f"{names[condition]} ? {names[then]} : {names[otherwise]}"
        case Count(operand):
            return " + ".join(f"(uint32_t)({names[operand]} >> {at} & 1u)" for at in range(operand.width))
        case _:
            assert_never(node)


_SHIFTS = frozenset({BinaryOperator.SHL, BinaryOperator.LSHR, BinaryOperator.ASHR})
_DIVISIONS = frozenset({BinaryOperator.UDIV, BinaryOperator.UREM, BinaryOperator.SDIV, BinaryOperator.SREM})
_RING = {
    BinaryOperator.ADD: "+",
    BinaryOperator.SUB: "-",
    BinaryOperator.MUL: "*",
    BinaryOperator.AND: "&",
    BinaryOperator.OR: "|",
    BinaryOperator.XOR: "^",
}
_COMPARISONS = {
    Comparison.EQ: "==",
    Comparison.ULT: "<",
    Comparison.ULE: "<=",
    Comparison.SLT: "<",
    Comparison.SLE: "<=",
}
_BITWISE = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})


def _ring(operator: BinaryOperator, a: str, b: str, width: int) -> str:
    text = f"{a} {_RING[operator]} {b}"
    return text if operator in _BITWISE else _masked(text, width)


def _shift(operator: BinaryOperator, a: str, amount: Expr, b: str, width: int) -> str:
    """A shift; an amount of the width or more is caught before C sees it."""
    sign, ones, zero = (_literal(value, width) for value in (1 << (width - 1), (1 << width) - 1, 0))
    match operator:
        case BinaryOperator.SHL:
            inside, outside = f"({_masked(f'{a} << {b}', width)})", zero
        case BinaryOperator.LSHR:
            inside, outside = f"({a} >> {b})", zero
        case _:
            # Shifting the complement of a negative value in zeros, and complementing again, shifts
            # in ones.
            inside = f"({a} & {sign} ? ~((~{a} & {ones}) >> {b}) & {ones} : {a} >> {b})"
            outside = f"({a} & {sign} ? {ones} : {zero})"
    if isinstance(amount, Const):
        chosen = inside if amount.value < width else outside
        return chosen[1:-1] if chosen.startswith("(") else chosen
    return f"{b} < {_literal(width, width)} ? {inside} : {outside}"


def _division(operator: BinaryOperator, a: str, divisor: Expr, b: str, width: int) -> str:
    """A quotient or remainder; SMT-LIB's value for the divisor 0."""
    sign, ones, zero = (_literal(value, width) for value in (1 << (width - 1), (1 << width) - 1, 0))
    size_a, size_b = (f"({x} & {sign} ? ({zero} - {x}) & {ones} : {x})" for x in (a, b))
    match operator:
        case BinaryOperator.UDIV:
            result, by_zero = f"{a} / {b}", ones
        case BinaryOperator.UREM:
            result, by_zero = f"{a} % {b}", a
        case BinaryOperator.SDIV:
            quotient = f"{size_a} / {size_b}"
            result = f"(({a} ^ {b}) & {sign} ? ({zero} - {quotient}) & {ones} : {quotient})"
            by_zero = f"({a} & {sign} ? {_literal(1, width)} : {ones})"
        case _:
            rest = f"{size_a} % {size_b}"
            result, by_zero = f"({a} & {sign} ? ({zero} - {rest}) & {ones} : {rest})", a
    if isinstance(divisor, Const):
        return result if divisor.value else by_zero
    return f"{b} == {zero} ? {by_zero} : {result}"


def _comparison(comparison: Comparison, a: str, b: str, width: int) -> str:
    if comparison in (Comparison.SLT, Comparison.SLE):
        # Flipping both sign bits turns signed order into unsigned order.
        sign = _literal(1 << (width - 1), width)
        a, b = f"({a} ^ {sign})", f"({b} ^ {sign})"
    return f"{a} {_COMPARISONS[comparison]} {b}"
