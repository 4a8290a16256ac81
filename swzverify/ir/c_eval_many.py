"""The value of a C integer expression at many points, in numpy's int64.

As strict as `c_eval`, with arithmetic of its own, so that one can check the other. What goes wrong
at one of many points is worded by the scalar reading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import Any, Final, NoReturn, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import InternalError
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
    children,
    names,
    render,
)
from swzverify.ir.c_eval import MAX_SHIFT, Scalar, check_names, source

Int64s: TypeAlias = NDArray[np.int64]


def evaluate_many(node: Expression | CExpr, env: Mapping[str, int | Int64s]) -> int | Int64s:
    """The values of an expression at every point of some arrays.

    The values of `env` are ints and int64 arrays; the result has their broadcast shape. If the
    expression reads no array, the result is an int. If any point is undefined, the error is the one
    that `evaluate` raises at the first such point in the order of evaluation.

    Raises:
        TypeError: An array's type does not fit into int64.
        ValueError: The shapes do not broadcast.

    >>> from swzverify.ir.c_parse import parse
    >>> evaluate_many(parse("tid % 4 * k"), {"tid": np.arange(6), "k": 10}).tolist()
    [0, 10, 20, 30, 0, 10]
    """
    root, text = source(node)
    check_names(root, env, text)
    used = {name: env[name] for name in names(root)}
    shapes = [value.shape for value in used.values() if isinstance(value, np.ndarray)]
    shape = np.broadcast_shapes(*shapes)
    if 0 in shape:
        return np.empty(shape, dtype=np.int64)
    result = _Many(used, text).values(root)
    # The copy is for a name alone, which must not hand out the caller's own array.
    return np.array(result).reshape(shape) if shapes else int(result.flat[0])


def evaluate_within(node: Expression | CExpr, env: Mapping[str, int | Int64s]) -> tuple[Int64s, NDArray[np.bool_]]:
    """The values at every point, and a mask of the points where all parts stay in C's range.

    The range is `VALUE_MIN .. VALUE_MAX`. At points where a part leaves it, as in the iterations of an
    unbounded loop, the value means nothing. At the other points, errors are those of `evaluate_many`.

    >>> from swzverify.ir.c_parse import parse
    >>> values, inside = evaluate_within(parse("k * 2000000000 % 7"), {"k": np.arange(4)})
    >>> values[inside].tolist(), inside.tolist()
    ([0, 5, 3], [True, True, True, False])
    """
    root, text = source(node)
    check_names(root, env, text)
    used = {name: env[name] for name in names(root)}
    shape = np.broadcast_shapes(*(value.shape for value in used.values() if isinstance(value, np.ndarray)))
    if 0 in shape:
        return np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.bool_)
    reading = _Many(used, text)
    reading.outside = np.zeros(1, dtype=np.bool_)
    values = reading.values(root)
    whole = shape or (1,)
    inside = np.array(np.broadcast_to(~reading.outside, whole)).reshape(shape)
    return np.array(np.broadcast_to(values, whole)).reshape(shape), inside


class _Many:
    """Evaluation at many points, in int64 arrays of at least one axis.

    A lone value is an array of one. int64 is wide enough: the operands lie in -2^31 .. 2^32 - 1, so
    every result but a product fits. A product that does not fit lies in 2^63 .. 2^64 - 2^33 + 1 and
    wraps to a value below -2^32, which is out of range again.

    If `outside` is an array, a value that leaves the range raises no error: its point is marked in
    `outside` and has the value 1 from then on, which every operator accepts.
    """

    __slots__ = ("arrays", "env", "outside", "text")

    def __init__(self, env: Mapping[str, int | Int64s], text: str | None) -> None:
        self.env = env
        self.arrays = {name: _as_int64s(value) for name, value in env.items()}
        self.outside: NDArray[np.bool_] | None = None
        self.text = text

    def values(self, node: CExpr) -> Int64s:
        """The node's values, after those of every operand, left to right."""
        match node:
            case Number():
                return np.array([node.value], dtype=np.int64)
            case Name():
                result = self.arrays[node.name]
            case Unary():
                result = _UNARY[node.op](self.values(node.operand)).astype(np.int64, copy=False)
            case Binary():
                left, right = self.values(node.left), self.inside(self.values(node.right))
                self.check_right(node, right)
                result = _BINARY[node.op](left, right).astype(np.int64, copy=False)
            case Conditional():
                condition, then, otherwise = (self.values(operand) for operand in children(node))
                result = np.where(condition != 0, then, otherwise)
            case Call():
                result = self.values(node.arguments[0])
                choose = np.minimum if node.function == "min" else np.maximum
                for argument in node.arguments[1:]:
                    result = choose(result, self.values(argument))
            case _:
                assert_never(node)
        if result.min() < VALUE_MIN or result.max() > VALUE_MAX:
            wrong = (result < VALUE_MIN) | (result > VALUE_MAX)
            if self.outside is None:
                self.refuse_at(wrong, node, node)
            self.outside = self.outside | wrong
        return self.inside(result)

    def inside(self, values: Int64s) -> Int64s:
        """The values, 1 at the points that have left the range."""
        if self.outside is None or not self.outside.any():
            return values
        return np.where(self.outside, 1, values)

    def check_right(self, node: Binary, right: Int64s) -> None:
        """Refuse a divisor of 0 and a shift amount outside 0..31 at any point."""
        match node.op:
            case BinaryOp.DIVIDE | BinaryOp.REMAINDER if not right.all():
                self.refuse_at(right == 0, node, node.right)
            case BinaryOp.SHIFT_LEFT | BinaryOp.SHIFT_RIGHT if right.min() < 0 or right.max() > MAX_SHIFT:
                self.refuse_at((right < 0) | (right > MAX_SHIFT), node, node.right)
            case _:
                pass

    def refuse_at(self, wrong: NDArray[np.bool_], node: CExpr, judged: CExpr) -> NoReturn:
        """Raise what the scalar reading says of `node` at the first point where `judged` is wrong."""
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        point: dict[str, int] = {}
        for name in names(node):
            value = self.env[name]
            if not isinstance(value, np.ndarray):
                point[name] = index(value)
            elif name in names(judged):
                point[name] = int(np.broadcast_to(value, wrong.shape)[place])
            else:
                point[name] = int(value.flat[0])
        Scalar(point, self.text).value(node)
        raise InternalError(f"numpy finds '{render(node)}' undefined at {point}, and plain integers do not")


def _as_int64s(value: int | Int64s) -> Int64s:
    """An int64 array of at least one axis; a TypeError for floats and unsigned 64-bit integers."""
    if isinstance(value, np.ndarray):
        return np.atleast_1d(value.astype(np.int64, casting="safe", copy=False))
    exact = index(value)
    # A value that int64 cannot hold is out of range in any case: one past the range stands for it.
    return np.array([max(VALUE_MIN - 1, min(VALUE_MAX + 1, exact))], dtype=np.int64)


def _quotient_many(a: Int64s, b: Int64s) -> Int64s:
    """The quotient rounded towards zero.

    This is numpy's floor, plus one where the division is inexact and the signs differ.
    """
    floor = np.floor_divide(a, b)
    inexact = np.not_equal(np.multiply(floor, b), a)
    return np.add(floor, np.logical_and(inexact, np.less(np.bitwise_xor(a, b), 0)))


_UNARY: Final[Mapping[UnaryOp, Callable[[Int64s], NDArray[Any]]]] = {
    UnaryOp.PLUS: np.positive,
    UnaryOp.MINUS: np.negative,
    UnaryOp.INVERT: np.invert,
    UnaryOp.NOT: np.logical_not,
}
_BINARY: Final[Mapping[BinaryOp, Callable[[Int64s, Int64s], NDArray[Any]]]] = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUBTRACT: np.subtract,
    BinaryOp.MULTIPLY: np.multiply,
    BinaryOp.DIVIDE: _quotient_many,
    # |b * (a / b)| <= |a|, so nothing wraps here.
    BinaryOp.REMAINDER: lambda a, b: np.subtract(a, np.multiply(b, _quotient_many(a, b))),
    BinaryOp.SHIFT_LEFT: lambda a, b: np.multiply(a, np.left_shift(np.int64(1), b)),
    BinaryOp.SHIFT_RIGHT: np.right_shift,
    BinaryOp.BIT_AND: np.bitwise_and,
    BinaryOp.BIT_XOR: np.bitwise_xor,
    BinaryOp.BIT_OR: np.bitwise_or,
    BinaryOp.AND: np.logical_and,
    BinaryOp.OR: np.logical_or,
    BinaryOp.LESS: np.less,
    BinaryOp.LESS_EQUAL: np.less_equal,
    BinaryOp.GREATER: np.greater,
    BinaryOp.GREATER_EQUAL: np.greater_equal,
    BinaryOp.EQUAL: np.equal,
    BinaryOp.NOT_EQUAL: np.not_equal,
}
"""`a op b` elementwise, where no divisor is 0 and every shift amount lies in 0..31; truths are Booleans."""
