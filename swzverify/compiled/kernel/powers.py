"""Powers of two that divide every value of an expression."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.ir.expr import Binary, BinaryOperator, Const, Expr, Extend, Extract, Ite, operands, postorder


def power_of(root: Expr, most: int = 128) -> int:
    """A power of two that divides every value of an expression, `most` at most.

    >>> from swzverify.ir.expr import binary, const, var
    >>> row = binary(BinaryOperator.SHL, var("x", 256), const(5, 8))
    >>> power_of(binary(BinaryOperator.ADD, row, const(0x50, 8)))
    16
    """
    found: dict[Expr, int] = {}
    for node in postorder(root):
        found[node] = min(most, _power(node, [found[each] for each in operands(node)], most))
    return found[root]


def power_of_terms(terms: Mapping[Expr, int], most: int = 128) -> int:
    """A power of two that divides every value of a sum of multiples of terms, `most` at most.

    >>> from swzverify.ir.expr import var
    >>> power_of_terms({var("x", 256): 12, var("y", 256): 8})
    4
    """
    return min((most, *((factor & -factor) * power_of(term) for term, factor in terms.items())))


def _power(node: Expr, parts: list[int], most: int) -> int:
    match node:
        case Const(value):
            return value & -value or most
        case Extend():
            return parts[0]
        case Extract(_, low):
            # All values of fewer bits than the power has are 0.
            return max(1, parts[0] >> low)
        case Ite():
            return min(parts[1:])
        case Binary(BinaryOperator.AND):
            return max(parts)
        case Binary(BinaryOperator.OR | BinaryOperator.XOR | BinaryOperator.ADD | BinaryOperator.SUB):
            return min(parts)
        case Binary(BinaryOperator.MUL):
            return parts[0] * parts[1]
        case Binary(BinaryOperator.SHL, _, Const(count)):
            return parts[0] << min(count, most.bit_length())
        case _:
            return 1
