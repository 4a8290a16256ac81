"""The value of a C integer expression at one point, in Python ints; `c_eval_many` has many points.

Both follow docs/semantics.md, section 1, strictly: every operand is evaluated and judged, also
where C's `? :`, `&&` and `||` would skip it, and every intermediate value must lie in `VALUE_MIN ..
VALUE_MAX`. They share no arithmetic: each has its own functions, so that one can check the other.

Errors of both: SWZ301 unknown name (the leftmost, before any value is computed), SWZ303 value out
of range, SWZ304 shift amount outside 0..31, SWZ305 divisor 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import index
from typing import Final, NoReturn, assert_never

from swzverify.errors import SwzError
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
    root, text = source(node)
    try:
        return Scalar(env, text).value(root)
    except (KeyError, SwzError):
        check_names(root, env, text)  # a name without a value is told before anything else
        raise


def source(node: Expression | CExpr) -> tuple[CExpr, str | None]:
    """The tree, and the text that its spans point into, if known."""
    return (node.root, node.text) if isinstance(node, Expression) else (node, None)


def check_names(root: CExpr, known: Mapping[str, object], text: str | None) -> None:
    """Refuse the leftmost name that has no value (SWZ301), with the nearest known name."""
    pending: list[CExpr] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Name) and node.name not in known:
            listed = ", ".join(sorted(known)) or "none"
            hint = name_hint(node.name, known) or f"known names: {listed}"
            raise SwzError("SWZ301", f"unknown name '{node.name}'", hint=hint, text=text, span=node.span)
        pending.extend(reversed(children(node)))


class Scalar:
    """Evaluation at one point, in exact Python ints.

    `env` has the value of each name; errors quote `text`.
    """

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
                result = int(_UNARY[node.op](self.value(node.operand)))
            case Binary():
                left, right = self.value(node.left), self.value(node.right)
                self.check_right(node, right)
                result = int(_BINARY[node.op](left, right))
            case Conditional():
                condition, then, otherwise = (self.value(each) for each in children(node))
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


def _quotient(a: int, b: int) -> int:
    """The quotient rounded towards zero."""
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


_UNARY: Final[Mapping[UnaryOp, Callable[[int], int]]] = {
    UnaryOp.PLUS: lambda a: a,
    UnaryOp.MINUS: lambda a: -a,
    UnaryOp.INVERT: lambda a: ~a,
    UnaryOp.NOT: lambda a: a == 0,
}
_BINARY: Final[Mapping[BinaryOp, Callable[[int, int], int]]] = {
    BinaryOp.ADD: lambda a, b: a + b,
    BinaryOp.SUBTRACT: lambda a, b: a - b,
    BinaryOp.MULTIPLY: lambda a, b: a * b,
    BinaryOp.DIVIDE: _quotient,
    BinaryOp.REMAINDER: lambda a, b: a - b * _quotient(a, b),
    BinaryOp.SHIFT_LEFT: lambda a, b: a << b,
    BinaryOp.SHIFT_RIGHT: lambda a, b: a >> b,
    BinaryOp.BIT_AND: lambda a, b: a & b,
    BinaryOp.BIT_XOR: lambda a, b: a ^ b,
    BinaryOp.BIT_OR: lambda a, b: a | b,
    BinaryOp.AND: lambda a, b: a != 0 and b != 0,
    BinaryOp.OR: lambda a, b: a != 0 or b != 0,
    BinaryOp.LESS: lambda a, b: a < b,
    BinaryOp.LESS_EQUAL: lambda a, b: a <= b,
    BinaryOp.GREATER: lambda a, b: a > b,
    BinaryOp.GREATER_EQUAL: lambda a, b: a >= b,
    BinaryOp.EQUAL: lambda a, b: a == b,
    BinaryOp.NOT_EQUAL: lambda a, b: a != b,
}
"""`a op b`, where a divisor is not 0 and a shift amount lies in 0..31."""
