"""C integer expressions lowered to bit-vectors that cannot wrap.

Intervals decide whether an operation is defined and stays in range; where they are too coarse, the
reading's `enumerate_names` gives every value of the names involved and the sub-expression's exact
range decides. What remains possible is an error with the sub-expression marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import (
    VALUE_MAX,
    VALUE_MIN,
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
    names,
    nodes,
    render,
)
from swzverify.ir.c_eval_many import evaluate_many
from swzverify.ir.c_names import name_hint
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer

MAX_EVALUATIONS = 1 << 26
"""Operators times points that one reading may evaluate; some seconds' worth."""


def lower(expression: Expression, reading: Reading) -> Integer:
    """The expression's exact value at every point.

    Raises:
        SwzError: SWZ301 for an unknown name, SWZ303 for a value out of range, SWZ304 for a shift
            amount, SWZ305 for a zero divisor; each with its span.

    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.ir.integers import named
    >>> value = lower(parse("((tid >> 1) & 7) << 4"), Reading({"tid": named("tid", 128)}))
    >>> value.low, value.high
    (0, 112)
    """
    return Lowering(reading, expression.text).value(expression.root)


@dataclass(frozen=True, slots=True)
class Lowering:
    """One expression's text, and how it is read."""

    reading: Reading
    text: str

    def value(self, node: CExpr) -> Integer:
        """The value of a part of the expression, over expressions."""
        match node:
            case Number(value):
                return ints.integer(value)
            case Name(name, span):
                found = self.reading.env.get(name)
                if found is None:
                    hint = name_hint(name, self.reading.env) or "known names: " + ", ".join(sorted(self.reading.env))
                    raise SwzError("SWZ301", f"unknown name '{name}'", hint=hint, text=self.text, span=span)
                return found
            case Unary(operator, operand):
                return self._in_range(_UNARY[operator](self.value(operand)), node)
            case Binary(operator, left, right):
                a, b = self.value(left), self.value(right)
                if operator in (BinaryOp.DIVIDE, BinaryOp.REMAINDER):
                    b = self._divisor(b, right)
                if operator in (BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT):
                    b = self._amount(b, right)
                return self._in_range(_BINARY[operator](a, b), node)
            case Conditional(condition, then, otherwise):
                chooser = ints.truth(self.value(condition))
                return ints.choose(chooser, self.value(then), self.value(otherwise))
            case Call(function, arguments):
                values = [self.value(argument) for argument in arguments]
                result = values[0]
                for value in values[1:]:
                    result = ints.minimum(result, value) if function == "min" else ints.maximum(result, value)
                return result
            case _:
                assert_never(node)

    def _divisor(self, value: Integer, node: CExpr) -> Integer:
        if value.low > 0 or value.high < 0:
            return value
        every = self._values(node)
        if every is None:
            possible = "cannot be shown to differ from 0"
        elif np.any(every == 0):
            possible = "can be 0"
        else:
            low, high = int(every.min()), int(every.max())
            if low > 0 or high < 0:
                return _narrowed(value, low, high)
            possible = f"goes from {low} to {high}: swzverify reads only divisors that keep one sign"
        raise SwzError(
            "SWZ305",
            f"the divisor '{render(node)}' {possible}",
            hint="judged over every value of its variables, before `if` and `assume` apply",
            text=self.text,
            span=node.span,
        )

    def _amount(self, value: Integer, node: CExpr) -> Integer:
        if value.low >= 0 and value.high <= ints.MAX_SHIFT_BITS:
            return value
        every = self._values(node)
        if every is not None:
            low, high = int(every.min()), int(every.max())
            if low >= 0 and high <= ints.MAX_SHIFT_BITS:
                return _narrowed(value, low, high)
            reach = f"goes from {low} to {high}"
        else:
            reach = f"can go from {value.low} to {value.high}"
        hint = "C leaves a shift of 32 or more undefined"
        if isinstance(node, Binary) and node.op in (BinaryOp.ADD, BinaryOp.SUBTRACT):
            hint += "; + and - bind tighter than << and >>: did you mean parentheses around the shift?"
        message = f"the shift amount '{render(node)}' {reach}: it must lie in 0..{ints.MAX_SHIFT_BITS}"
        raise SwzError("SWZ304", message, hint=hint, text=self.text, span=node.span)

    def _in_range(self, value: Integer, node: CExpr) -> Integer:
        if value.low >= VALUE_MIN and value.high <= VALUE_MAX:
            return value
        if self.reading.leaving is not None:
            self.reading.leaving.append(value)
            return value
        every = self._values(node)
        low, high = (value.low, value.high) if every is None else (int(every.min()), int(every.max()))
        if low >= VALUE_MIN and high <= VALUE_MAX:
            return _narrowed(value, low, high)
        raise SwzError(
            "SWZ303",
            f"'{render(node)}' can go from {low} to {high}, outside -2^31..2^32-1",
            hint="bound its variables, or write it so that no step grows that large",
            text=self.text,
            span=node.span,
        )

    def _values(self, node: CExpr) -> NDArray[np.int64] | None:
        """Every value of a sub-expression; None if there are too many points or one is undefined.

        Each sub-expression of a long expression may ask, so the sum of their points is bounded too.
        """
        if self.reading.spent[0] > MAX_EVALUATIONS:
            return None
        arrays = self.reading.enumerate_names(names(node))
        if arrays is None:
            return None
        points = max((array.size for array in arrays.values()), default=1)
        self.reading.spent[0] += points * sum(1 for _ in nodes(node))
        if self.reading.spent[0] > MAX_EVALUATIONS:
            return None
        try:
            result = np.asarray(evaluate_many(node, arrays))
        except SwzError:
            return None
        return result if result.size else None


def _narrowed(value: Integer, low: int, high: int) -> Integer:
    """The same value under a tighter interval that every point of interest keeps to."""
    if low == high:
        return ints.integer(low)
    return Integer(ints.resize(value, ints.width_for(low, high)), low, high)


_UNARY: Final[Mapping[UnaryOp, Callable[[Integer], Integer]]] = {
    UnaryOp.PLUS: lambda value: value,
    UnaryOp.MINUS: ints.negate,
    UnaryOp.INVERT: ints.invert,
    UnaryOp.NOT: ints.logical_not,
}
_BINARY: Final[Mapping[BinaryOp, Callable[[Integer, Integer], Integer]]] = {
    BinaryOp.MULTIPLY: ints.multiply,
    BinaryOp.DIVIDE: ints.divide,
    BinaryOp.REMAINDER: ints.remainder,
    BinaryOp.ADD: ints.add,
    BinaryOp.SUBTRACT: ints.subtract,
    BinaryOp.SHIFT_LEFT: ints.shift_left,
    BinaryOp.SHIFT_RIGHT: ints.shift_right,
    BinaryOp.LESS: ints.less,
    BinaryOp.LESS_EQUAL: ints.less_equal,
    BinaryOp.GREATER: lambda a, b: ints.less(b, a),
    BinaryOp.GREATER_EQUAL: lambda a, b: ints.less_equal(b, a),
    BinaryOp.EQUAL: ints.equal,
    BinaryOp.NOT_EQUAL: lambda a, b: ints.logical_not(ints.equal(a, b)),
    BinaryOp.BIT_AND: ints.bit_and,
    BinaryOp.BIT_XOR: ints.bit_xor,
    BinaryOp.BIT_OR: ints.bit_or,
    BinaryOp.AND: ints.logical_and,
    BinaryOp.OR: ints.logical_or,
}
