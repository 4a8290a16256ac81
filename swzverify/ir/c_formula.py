"""A C integer expression as a formula: what subjects and claims read of it.

A parser makes it from a text of the user. For an instruction of compiled code it is made as a tree,
without a text; `CFormula.of` writes the text that reports and certificates state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir.c_ast import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_NODES,
    VALUE_MAX,
    Binary,
    BinaryOp,
    Call,
    CExpr,
    Conditional,
    Expression,
    Name,
    Number,
    Unary,
    UnaryOp,
    children,
    nodes,
    render,
)
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_eval_many import Int64s, evaluate_many, evaluate_within
from swzverify.ir.c_lower import lower
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer

_ALIASES: Final[Mapping[str, CExpr]] = {f"threadIdx.{axis}": Name(f"tid_{axis}") for axis in "xyz"}
"""The other spelling of a thread's coordinates."""


class CFormula(Expression):
    """A parsed expression that can be evaluated, lowered and compared.

    >>> from swzverify.ir.c_parse import parse
    >>> formula = parse("(tid) * BK")
    >>> formula.at({"tid": 3, "BK": 16}), formula.spelled({"BK": 16}, {})
    (48, 'tid * 16')
    """

    @classmethod
    def of(cls, root: CExpr) -> CFormula:
        """The formula of a tree that no text was parsed for.

        Raises:
            SwzError: SWZ302 beyond the limits of a parsed one.

        >>> CFormula.of(joined(Name("tid"), BinaryOp.SUBTRACT, -1)).text
        'tid - -1'
        """
        size, pending = 0, [(root, 0)]
        while pending:
            node, depth = pending.pop()
            size += 1
            if size > MAX_NODES or depth > MAX_DEPTH:
                break
            pending += [(each, depth + 1) for each in children(node)]
        text = "" if pending else render(root)
        if pending or len(text) > MAX_CHARACTERS:
            limits = f"{MAX_NODES} literals, names and operators, {MAX_DEPTH} of them one inside the other"
            raise SwzError("SWZ302", f"the expression is longer than {limits}, or {MAX_CHARACTERS} characters")
        return cls(text, root)

    def replaced(self, stands_for: Mapping[str, CExpr]) -> CFormula:
        """The formula with trees in place of names. Errors are those of `of`."""
        return CFormula.of(_rewritten(self.root, stands_for))

    def at(self, env: Mapping[str, int]) -> int:
        """The value at one point, in plain Python integers.

        Errors are those of `c_eval.evaluate`.
        """
        return evaluate(self, env)

    def at_many(self, env: Mapping[str, int | Int64s]) -> Int64s:
        """The values at many points.

        Errors are those of `c_eval.evaluate_many`.
        """
        return np.asarray(evaluate_many(self, env), dtype=np.int64)

    def within(self, env: Mapping[str, int | Int64s]) -> tuple[Int64s, NDArray[np.bool_]]:
        """The values at many points, and where they mean something: see `c_eval.evaluate_within`."""
        return evaluate_within(self, env)

    def lowered(self, reading: Reading) -> Integer:
        """The exact value over expressions.

        Errors are those of `c_lower.lower`.
        """
        return lower(self, reading)

    def spelled(self, values: Mapping[str, int], renamed: Mapping[str, str]) -> str:
        """The text with values in place of constants, names exchanged, and no needless parentheses."""
        stands_for: dict[str, CExpr] = {**_ALIASES, **{name: literal(value) for name, value in values.items()}}
        stands_for |= {name: Name(other) for name, other in renamed.items()}
        return render(_rewritten(self.root, stands_for))

    def span_of(self, name: str) -> tuple[int, int]:
        """Where a name that it reads stands first."""
        return next(node.span for node in nodes(self.root) if isinstance(node, Name) and node.name == name)


def exchanged(formula: CFormula, texts: Mapping[str, str]) -> str:
    """The text of a formula with other texts in place of names.

    A text that needs parentheses must already have them.

    >>> from swzverify.ir.c_parse import parse
    >>> exchanged(parse("i*P + j"), {"i": "(tid/8)", "P": "9"})
    '(tid/8)*9 + j'
    """
    parts: list[str] = []
    done = 0
    for node in sorted((each for each in nodes(formula.root) if isinstance(each, Name)), key=lambda n: n.span):
        if node.name in texts:
            start, end = node.span
            parts += [formula.text[done:start], texts[node.name]]
            done = end
    return "".join([*parts, formula.text[done:]])


def every(conditions: Sequence[CFormula]) -> CFormula | None:
    """The formula that is true where all conditions are; None without any. Errors are those of `of`.

    >>> from swzverify.ir.c_parse import parse
    >>> str(every([parse("a ? b : c"), parse("d < 4")]))
    '(a ? b : c) && d < 4'
    """
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return CFormula.of(reduce(partial(Binary, BinaryOp.AND), [each.root for each in conditions]))


def joined(left: CExpr, op: BinaryOp, right: CExpr | int) -> CExpr:
    """The tree of two operands with an infix operator."""
    return Binary(op, left, literal(right) if isinstance(right, int) else right)


def number_text(value: int) -> str:
    """An integer as it stands in place of a name.

    >>> number_text(7), number_text(-7)
    ('7', '(-7)')
    """
    return f"({value})" if value < 0 else str(value)


def literal(value: int) -> CExpr:
    """The tree of an integer, -`VALUE_MAX` .. `VALUE_MAX`."""
    if 0 <= value <= VALUE_MAX:
        return Number(value)
    return Unary(UnaryOp.MINUS, Number(-value))


def _rewritten(node: CExpr, stands_for: Mapping[str, CExpr]) -> CExpr:
    """The tree with some names replaced."""
    match node:
        case Number():
            return node
        case Name():
            return stands_for.get(node.name, node)
        case Unary():
            return Unary(node.op, _rewritten(node.operand, stands_for), node.span)
        case Binary():
            left, right = (_rewritten(part, stands_for) for part in (node.left, node.right))
            return Binary(node.op, left, right, node.span)
        case Conditional():
            parts = [_rewritten(part, stands_for) for part in (node.condition, node.then, node.otherwise)]
            return Conditional(parts[0], parts[1], parts[2], node.span)
        case Call():
            return Call(node.function, tuple(_rewritten(each, stands_for) for each in node.arguments), node.span)
    assert_never(node)
