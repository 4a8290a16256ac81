"""The syntax tree of a C integer expression: its nodes, names and text.

Values are mathematical integers in `VALUE_MIN .. VALUE_MAX`. Section 1 of docs/semantics.md defines
each operator. A span is `(start, end)` in characters of the source text; it leaves out the
parentheses around the node itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal, TypeAlias, assert_never

from swzverify.errors import SwzError

VALUE_MIN: Final = -(2**31)
VALUE_MAX: Final = 2**32 - 1
MAX_CHARACTERS: Final = 4096
MAX_DEPTH: Final = 100
"""Operators above a leaf, and, in a text, parentheses open at one place."""
MAX_NODES: Final = 2000

CUDA_NAMES: Final = frozenset(
    f"{variable}.{axis}" for variable in ("threadIdx", "blockDim", "blockIdx", "gridDim") for axis in "xyz"
)
"""The only names with a dot."""

Span: TypeAlias = tuple[int, int]
NO_SPAN: Final[Span] = (0, 0)
"""The span of what stands in no text."""
FunctionName: TypeAlias = Literal["min", "max"]

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnaryOp(StrEnum):
    """A prefix operator, by its C spelling."""

    PLUS = "+"
    MINUS = "-"
    INVERT = "~"
    NOT = "!"


class BinaryOp(StrEnum):
    """An infix operator, by its C spelling."""

    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    ADD = "+"
    SUBTRACT = "-"
    SHIFT_LEFT = "<<"
    SHIFT_RIGHT = ">>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="
    BIT_AND = "&"
    BIT_XOR = "^"
    BIT_OR = "|"
    AND = "&&"
    OR = "||"


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, `0 .. VALUE_MAX`; a minus sign before it is a `Unary`. Out of range: SWZ303.

    >>> Number(8, (4, 5)).value
    8
    """

    value: int
    span: Span = NO_SPAN

    def __post_init__(self) -> None:
        """Refuse a negative or too large value."""
        if not 0 <= self.value <= VALUE_MAX:
            hint = "a negative value is a unary minus and a literal"
            raise SwzError("SWZ303", f"a literal must lie in 0..{VALUE_MAX}", hint=hint)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or constant: an ASCII identifier, or one of `CUDA_NAMES`. Anything else: SWZ302.

    >>> Name("threadIdx.x", (0, 11)).name
    'threadIdx.x'
    """

    name: str
    span: Span = NO_SPAN

    def __post_init__(self) -> None:
        """Refuse what is not a name."""
        if _IDENTIFIER.fullmatch(self.name) is None and self.name not in CUDA_NAMES:
            hint = "a name is letters, digits and '_', not starting with a digit"
            raise SwzError("SWZ302", f"{self.name!a} is not a name", hint=hint)


@dataclass(frozen=True, slots=True)
class Unary:
    """A prefix operator and its operand."""

    op: UnaryOp
    operand: CExpr
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Binary:
    """An infix operator and its operands. `&&` and `||` judge both, as all others do."""

    op: BinaryOp
    left: CExpr
    right: CExpr
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: CExpr
    then: CExpr
    otherwise: CExpr
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Call:
    """`min` or `max` of two or more arguments; fewer, or another function: SWZ302."""

    function: FunctionName
    arguments: tuple[CExpr, ...]
    span: Span = NO_SPAN

    def __post_init__(self) -> None:
        """Refuse other functions, and fewer than two arguments."""
        if self.function not in ("min", "max"):
            hint = "the functions are min and max"
            raise SwzError("SWZ302", f"unknown function {self.function!a}", hint=hint)
        if len(self.arguments) < 2:
            message = f"'{self.function}' needs two or more arguments, not {len(self.arguments)}"
            raise SwzError("SWZ302", message, hint=f"write {self.function}(a, b)")


CExpr: TypeAlias = Number | Name | Unary | Binary | Conditional | Call


@dataclass(frozen=True)
class Expression:
    """A parsed expression: the user's text, and its tree, whose spans point into that text."""

    text: str
    root: CExpr

    @property
    def names(self) -> frozenset[str]:
        """Every name that the expression reads."""
        return self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return names(self.root)

    def __str__(self) -> str:
        """The text as the user wrote it."""
        return self.text


def nodes(root: CExpr) -> Iterator[CExpr]:
    """Every node of a tree, as often as it stands there.

    >>> sum(1 for _ in nodes(Binary(BinaryOp.ADD, Name("lane"), Name("k"))))
    3
    """
    pending: list[CExpr] = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node))


def names(root: CExpr) -> frozenset[str]:
    """Every name in the tree.

    Names in operands that C would skip are included, because they are evaluated too.

    >>> sorted(names(Binary(BinaryOp.ADD, Name("lane"), Name("k"))))
    ['k', 'lane']
    """
    return frozenset(node.name for node in nodes(root) if isinstance(node, Name))


def children(node: CExpr) -> tuple[CExpr, ...]:
    """The direct operands of a node, in the order of the text.

    >>> children(Number(1, (0, 1)))
    ()
    """
    match node:
        case Number() | Name():
            return ()
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Conditional():
            return (node.condition, node.then, node.otherwise)
        case Call():
            return node.arguments
    assert_never(node)


CONDITIONAL_PRECEDENCE: Final = 1
UNARY_PRECEDENCE: Final = 12
_PRIMARY_PRECEDENCE: Final = 13
_LOOSEST_FIRST: Final = ("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %")
_BINARY_PRECEDENCE: Final = {
    BinaryOp(spelling): CONDITIONAL_PRECEDENCE + 1 + level
    for level, spellings in enumerate(_LOOSEST_FIRST)
    for spelling in spellings.split()
}


def precedence(op: BinaryOp) -> int:
    """How tightly an infix operator binds, 2 (`||`) to 11 (`* / %`); all associate to the left.

    Source: ISO/IEC 9899:2018, 6.5.5 to 6.5.14, where each production names the next tighter one.

    >>> precedence(BinaryOp.SHIFT_LEFT) < precedence(BinaryOp.ADD)
    True
    """
    return _BINARY_PRECEDENCE[op]


def render(node: CExpr) -> str:
    """Text with as few parentheses as C allows, which parses back to the same tree (spans aside).

    >>> from swzverify.ir.c_parse import parse
    >>> render(parse("(a << (4)) + (b*(c*d)) - (-(-1))").root)
    '(a << 4) + b * (c * d) - - -1'
    """
    match node:
        case Number():
            return str(node.value)
        case Name():
            return node.name
        case Unary():
            # `--` and `++` would be read as one token.
            glue = " " if isinstance(node.operand, Unary) and node.operand.op == node.op else ""
            return node.op.value + glue + _render_within(node.operand, UNARY_PRECEDENCE)
        case Binary():
            level = precedence(node.op)
            left, right = _render_within(node.left, level), _render_within(node.right, level + 1)
            return f"{left} {node.op.value} {right}"
        case Conditional():
            condition = _render_within(node.condition, CONDITIONAL_PRECEDENCE + 1)
            return f"{condition} ? {render(node.then)} : {render(node.otherwise)}"
        case Call():
            return f"{node.function}({', '.join(render(argument) for argument in node.arguments)})"
    assert_never(node)


def _render_within(node: CExpr, least: int) -> str:
    """`render(node)`, in parentheses when it binds looser than `least`."""
    match node:
        case Binary():
            own = precedence(node.op)
        case Conditional():
            own = CONDITIONAL_PRECEDENCE
        case Unary():
            own = UNARY_PRECEDENCE
        case Number() | Name() | Call():
            own = _PRIMARY_PRECEDENCE
        case _:
            assert_never(node)
    return render(node) if own >= least else f"({render(node)})"
