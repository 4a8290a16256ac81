"""How many low bits of a register count, where loops carry it: a counter of tiles may be read for its parity alone.

Low bits of sums, differences, products and bitwise operations depend on as many low bits of their operands.

Source: docs/semantics.md, section 11, "Low bits".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from swzverify.ir.expr import Binary, BinaryOperator, Const, Expr, Extend, Extract, Ite, Var, operands

_BITWISE: Final = frozenset({BinaryOperator.OR, BinaryOperator.XOR})
_SUMS: Final = frozenset({BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL})


def low_bits(values: Iterable[tuple[Expr, int]], carried: Callable[[Var], tuple[Expr, ...]]) -> dict[Var, int]:
    """How many low bits of each variable decide the low bits of some values, which each number says.

    `carried` has for a variable the values of which a loop makes it.

    >>> from swzverify.compiled.kernel.arithmetic import add
    >>> from swzverify.ir.expr import const, var
    >>> tiles = var("tiles", 1 << 32)
    >>> low_bits([(add(tiles, const(3, 32)), 1)], lambda each: (add(each, const(1, 32)),))[tiles]
    1
    """
    asked: dict[Expr, int] = {}
    pending = [*values]
    while pending:
        node, bits = pending.pop()
        bits = min(bits, node.width)
        if bits <= asked.get(node, 0):
            continue
        asked[node] = bits
        if isinstance(node, Var):
            pending += [(each, bits) for each in carried(node)]
        else:
            pending += _of_operands(node, bits)
    return {node: bits for node, bits in asked.items() if isinstance(node, Var)}


def _of_operands(node: Expr, bits: int) -> list[tuple[Expr, int]]:
    """How many low bits of its operands decide some low bits of a value."""
    match node:
        case Binary(BinaryOperator.AND, left, right):
            return [(one, _length(two, bits)) for one, two in ((left, right), (right, left))]
        case Binary(operator, left, right) if operator in _SUMS or operator in _BITWISE:
            return [(left, bits), (right, bits)]
        case Binary(BinaryOperator.SHL, left, Const(by)):
            return [(left, bits - by)] if by < bits else []
        case Binary(BinaryOperator.LSHR, left, Const(by)):
            return [(left, bits + by)] if by < left.width else []
        case Ite(condition, then, otherwise):
            return [(condition, 1), (then, bits), (otherwise, bits)]
        case Extract(operand, low):
            return [(operand, low + bits)]
        case Extend(operand):
            return [(operand, bits)]
        case _:
            return [(each, each.width) for each in operands(node)]


def _length(value: Expr, bits: int) -> int:
    """How many of some low bits of a value have bits behind them that may be set, or may be set themselves."""
    return (value.value & ((1 << bits) - 1)).bit_length() if isinstance(value, Const) else bits
