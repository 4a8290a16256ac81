"""Counts of bits in words that every reader of expressions knows."""

from __future__ import annotations

from swzverify.ir.expr import (
    BinaryOperator,
    Count,
    Expr,
    binary,
    extend,
    extract,
    postorder,
    rebuilt,
)


def summed(root: Expr) -> Expr:
    """The same value, with a sum of single bits in the place of each count.

    >>> from swzverify.ir.evaluate import evaluate
    >>> from swzverify.ir.expr import count, var
    >>> found = summed(count(var("x", 256)))
    >>> found.width, [evaluate(found, {"x": x}) for x in (0, 7, 255)]
    (4, [0, 3, 8])
    """
    nodes = postorder(root)
    if not any(isinstance(node, Count) for node in nodes):
        return root
    new: dict[Expr, Expr] = {}
    for node in nodes:
        new[node] = _sum(new[node.operand], node.width) if isinstance(node, Count) else rebuilt(node, new)
    return new[root]


def size(*roots: Expr) -> int:
    """How many parts some expressions have with sums in the place of counts, as Z3 reads them.

    >>> from swzverify.ir.expr import count, var
    >>> x = count(var("x", 1 << 32))
    >>> size(x), len(postorder(summed(x)))
    (96, 96)
    """
    nodes = postorder(*roots)
    return len(nodes) + sum(3 * node.operand.width - 2 for node in nodes if isinstance(node, Count))


def _sum(value: Expr, width: int) -> Expr:
    """The sum of all bits: of neighbours first, so that it is not deep."""
    terms = [extend(extract(value, at, 1), width, signed=False) for at in range(value.width)]
    while len(terms) > 1:
        pairs = [binary(BinaryOperator.ADD, one, other) for one, other in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
    return terms[0]
