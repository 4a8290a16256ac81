"""The value of a C integer expression, at one point in Python ints and at many in numpy.

Both follow docs/semantics.md, section 1, strictly: every operand is evaluated and judged, also
where C's `? :`, `&&` and `||` would skip it, and every intermediate value must lie in `VALUE_MIN ..
VALUE_MAX`. They share no arithmetic: each has its own functions, so that one can check the other.
What goes wrong at one of many points is worded by the scalar reading.

Errors of both: SWZ301 unknown name (the leftmost, before any value is computed), SWZ303 value out
of range, SWZ304 shift amount outside 0..31, SWZ305 divisor 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Final, NoReturn, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import InternalError, SwzError
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
from swzverify.ir.c_names import name_hint

MAX_SHIFT: Final = 31

Int64s: TypeAlias = NDArray[np.int64]


def evaluate(node: Expression | CExpr, env: Mapping[str, int]) -> int:
    """The value where each name has its value in `env`, exact, in `VALUE_MIN .. VALUE_MAX`.

    Errors carry the text when an `Expression` is given, and the span of the offending part always.

    >>> from swzverify.ir.c_parse import parse
    >>> evaluate(parse("-7 / 2 + (tid >> 1)"), {"tid": 9})
    1
    >>> evaluate(parse("8 % (tid - 9)"), {"tid": 9})
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ305: the divisor 'tid - 9' is 0 when tid = 9
      8 % (tid - 9)
           ^^^^^^^
      divisors are judged for every value of their names, also under ?:, && and ||
    """
    root, text = _source(node)
    try:
        return _Scalar(env, text).value(root)
    except (KeyError, SwzError):
        _check_names(root, env, text)  # a name without a value is told before anything else
        raise


def evaluate_many(node: Expression | CExpr, env: Mapping[str, int | Int64s]) -> int | Int64s:
    """The values at every point: `env` holds ints and int64 arrays whose shapes broadcast to the
    result's.

    An int comes back when the expression reads no array. If any point is undefined, the error is
    the one that `evaluate` raises there; of several, the first in the order of evaluation. A
    TypeError for arrays that int64 does not hold, a ValueError for shapes that do not broadcast.

    >>> from swzverify.ir.c_parse import parse
    >>> evaluate_many(parse("tid % 4 * k"), {"tid": np.arange(6), "k": 10}).tolist()
    [0, 10, 20, 30, 0, 10]
    """
    root, text = _source(node)
    _check_names(root, env, text)
    used = {name: env[name] for name in names(root)}
    shapes = [value.shape for value in used.values() if isinstance(value, np.ndarray)]
    shape = np.broadcast_shapes(*shapes)
    if 0 in shape:
        return np.empty(shape, dtype=np.int64)
    result = _Many(used, text).values(root)
    # The copy is for a name alone, which must not hand out the caller's own array.
    return np.array(result).reshape(shape) if shapes else int(result.flat[0])


def evaluate_within(node: Expression | CExpr, env: Mapping[str, int | Int64s]) -> tuple[Int64s, NDArray[np.bool_]]:
    """The values at every point, and where no part of the expression leaves `VALUE_MIN ..
    VALUE_MAX`.

    For points that may leave the range, as the iterations of an unbounded loop do: there the value
    means nothing. Other errors, at points that stay inside, are those of `evaluate_many`.

    >>> from swzverify.ir.c_parse import parse
    >>> values, inside = evaluate_within(parse("k * 2000000000 % 7"), {"k": np.arange(4)})
    >>> values[inside].tolist(), inside.tolist()
    ([0, 5, 3], [True, True, True, False])
    """
    root, text = _source(node)
    _check_names(root, env, text)
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


def _source(node: Expression | CExpr) -> tuple[CExpr, str | None]:
    """The tree, and the text that its spans point into, if known."""
    return (node.root, node.text) if isinstance(node, Expression) else (node, None)


def _check_names(root: CExpr, known: Mapping[str, object], text: str | None) -> None:
    """Refuse the leftmost name that has no value (SWZ301), with the nearest known name."""
    pending: list[CExpr] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Name) and node.name not in known:
            listed = ", ".join(sorted(known)) or "none"
            hint = name_hint(node.name, known) or f"known names: {listed}"
            raise SwzError("SWZ301", f"unknown name '{node.name}'", hint=hint, text=text, span=node.span)
        pending.extend(reversed(children(node)))


# --- one point


class _Scalar:
    """Evaluation at one point, in exact Python ints."""

    __slots__ = ("env", "text")

    def __init__(self, env: Mapping[str, int], text: str | None) -> None:
        self.env = env
        self.text = text

    def value(self, node: CExpr) -> int:
        """The value of a node, after that of every operand, left to right."""
        match node:
            case Number():
                return node.value
            case Name():
                found = self.env.get(node.name)  # a mapping with a default has no value for a name that it lacks
                if found is None:
                    raise KeyError(node.name)
                result = index(found)  # numpy's own ints would wrap
            case Unary():
                result = _unary(node.op, self.value(node.operand))
            case Binary():
                left, right = self.value(node.left), self.value(node.right)
                self.check_right(node, right)
                result = _binary(node.op, left, right)
            case Conditional():
                condition, then, otherwise = (self.value(operand) for operand in children(node))
                result = then if condition else otherwise
            case Call():
                values = [self.value(argument) for argument in node.arguments]
                result = min(values) if node.function == "min" else max(values)
            case _:
                assert_never(node)
        if not VALUE_MIN <= result <= VALUE_MAX:
            hint = f"every intermediate value must lie in {VALUE_MIN}..{VALUE_MAX}"
            self.refuse("SWZ303", f"{self.quoted(node)} is {result}", node, hint)
        return result

    def check_right(self, node: Binary, right: int) -> None:
        """Refuse a divisor of 0 (SWZ305) and a shift amount outside 0..31 (SWZ304)."""
        match node.op:
            case BinaryOp.DIVIDE | BinaryOp.REMAINDER if right == 0:
                message = f"the divisor {self.quoted(node.right)} is 0"
                hint = "divisors are judged for every value of their names, also under ?:, && and ||"
                self.refuse("SWZ305", message, node.right, hint)
            case BinaryOp.SHIFT_LEFT | BinaryOp.SHIFT_RIGHT if not 0 <= right <= MAX_SHIFT:
                message = f"the shift amount {self.quoted(node.right)} is {right}, outside 0..{MAX_SHIFT}"
                hint = "judged for every value of its names; + and - bind tighter than << and >>"
                self.refuse("SWZ304", message, node.right, hint)
            case _:
                pass

    def quoted(self, node: CExpr) -> str:
        """The node's text as the user wrote it, else as rendered."""
        text = render(node) if self.text is None else self.text[slice(*node.span)]
        return f"'{' '.join(text.split())}'"

    def refuse(self, code: str, message: str, node: CExpr, hint: str) -> NoReturn:
        """Raise at the node, with the values of its names."""
        binding = ", ".join(f"{name} = {self.env[name]}" for name in sorted(names(node)))
        when = f" when {binding}" if binding and not isinstance(node, Name) else ""
        raise SwzError(code, message + when, hint=hint, text=self.text, span=node.span)


def _unary(op: UnaryOp, a: int) -> int:
    match op:
        case UnaryOp.PLUS:
            return a
        case UnaryOp.MINUS:
            return -a
        case UnaryOp.INVERT:
            return ~a
        case UnaryOp.NOT:
            return int(a == 0)
    assert_never(op)


def _binary(op: BinaryOp, a: int, b: int) -> int:
    """`a op b`, where a divisor is not 0 and a shift amount lies in 0..31."""
    match op:
        case BinaryOp.ADD:
            return a + b
        case BinaryOp.SUBTRACT:
            return a - b
        case BinaryOp.MULTIPLY:
            return a * b
        case BinaryOp.DIVIDE:
            return _quotient(a, b)
        case BinaryOp.REMAINDER:
            return a - b * _quotient(a, b)
        case BinaryOp.SHIFT_LEFT:
            return a << b
        case BinaryOp.SHIFT_RIGHT:
            return a >> b
        case BinaryOp.BIT_AND:
            return a & b
        case BinaryOp.BIT_XOR:
            return a ^ b
        case BinaryOp.BIT_OR:
            return a | b
        case BinaryOp.AND:
            return int(a != 0 and b != 0)
        case BinaryOp.OR:
            return int(a != 0 or b != 0)
        case BinaryOp.LESS:
            return int(a < b)
        case BinaryOp.LESS_EQUAL:
            return int(a <= b)
        case BinaryOp.GREATER:
            return int(a > b)
        case BinaryOp.GREATER_EQUAL:
            return int(a >= b)
        case BinaryOp.EQUAL:
            return int(a == b)
        case BinaryOp.NOT_EQUAL:
            return int(a != b)
    assert_never(op)


def _quotient(a: int, b: int) -> int:
    """The quotient rounded towards zero."""
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


# --- many points


class _Many:
    """Evaluation at many points, in int64 arrays of at least one axis; a lone value is an array of
    one.

    int64 is wide enough: the operands lie in -2^31 .. 2^32 - 1, so every result but a product fits.
    A product that does not fit lies in 2^63 .. 2^64 - 2^33 + 1 and wraps to a value below -2^32,
    out of range again.

    With an array for `outside`, points where a value leaves the range are marked there, and no
    error; from then on they have the value 1, which no operator refuses.
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
                result = _unary_many(node.op, self.values(node.operand))
            case Binary():
                left, right = self.values(node.left), self.inside(self.values(node.right))
                self.check_right(node, right)
                result = _binary_many(node.op, left, right)
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
        _Scalar(point, self.text).value(node)
        raise InternalError(f"numpy finds '{render(node)}' undefined at {point}, and plain integers do not")


def _as_int64s(value: int | Int64s) -> Int64s:
    """An int64 array of at least one axis; a TypeError for floats and unsigned 64-bit integers."""
    if isinstance(value, np.ndarray):
        return np.atleast_1d(value.astype(np.int64, casting="safe", copy=False))
    exact = index(value)
    # A value that int64 cannot hold is out of range in any case: one past the range stands for it.
    return np.array([max(VALUE_MIN - 1, min(VALUE_MAX + 1, exact))], dtype=np.int64)


def _unary_many(op: UnaryOp, a: Int64s) -> Int64s:
    match op:
        case UnaryOp.PLUS:
            return a
        case UnaryOp.MINUS:
            return np.negative(a)
        case UnaryOp.INVERT:
            return np.invert(a)
        case UnaryOp.NOT:
            return _truth(np.logical_not(a))
    assert_never(op)


def _binary_many(op: BinaryOp, a: Int64s, b: Int64s) -> Int64s:
    """`a op b` elementwise, where no divisor is 0 and every shift amount lies in 0..31."""
    match op:
        case BinaryOp.ADD:
            return np.add(a, b)
        case BinaryOp.SUBTRACT:
            return np.subtract(a, b)
        case BinaryOp.MULTIPLY:
            return np.multiply(a, b)
        case BinaryOp.DIVIDE:
            return _quotient_many(a, b)
        case BinaryOp.REMAINDER:
            # |b * (a / b)| <= |a|, so nothing wraps here.
            return np.subtract(a, np.multiply(b, _quotient_many(a, b)))
        case BinaryOp.SHIFT_LEFT:
            return np.multiply(a, np.left_shift(np.int64(1), b))
        case BinaryOp.SHIFT_RIGHT:
            return np.right_shift(a, b)
        case BinaryOp.BIT_AND:
            return np.bitwise_and(a, b)
        case BinaryOp.BIT_XOR:
            return np.bitwise_xor(a, b)
        case BinaryOp.BIT_OR:
            return np.bitwise_or(a, b)
        case BinaryOp.AND:
            return _truth(np.logical_and(a, b))
        case BinaryOp.OR:
            return _truth(np.logical_or(a, b))
        case BinaryOp.LESS:
            return _truth(np.less(a, b))
        case BinaryOp.LESS_EQUAL:
            return _truth(np.less_equal(a, b))
        case BinaryOp.GREATER:
            return _truth(np.greater(a, b))
        case BinaryOp.GREATER_EQUAL:
            return _truth(np.greater_equal(a, b))
        case BinaryOp.EQUAL:
            return _truth(np.equal(a, b))
        case BinaryOp.NOT_EQUAL:
            return _truth(np.not_equal(a, b))
    assert_never(op)


def _quotient_many(a: Int64s, b: Int64s) -> Int64s:
    """The quotient rounded towards zero: numpy's floor, plus one where it is inexact and the signs
    differ.
    """
    floor = np.floor_divide(a, b)
    inexact = np.not_equal(np.multiply(floor, b), a)
    return np.add(floor, np.logical_and(inexact, np.less(np.bitwise_xor(a, b), 0)))


def _truth(values: NDArray[np.bool_]) -> Int64s:
    """1 for true, 0 for false."""
    return values.astype(np.int64)
