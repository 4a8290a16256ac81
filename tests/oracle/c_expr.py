"""C index expressions over columns of concrete values (docs/semantics.md, section 1).

A column holds one integer per point; an expression is evaluated for all points at once, operand by
operand, so that every operand of `?:`, `&&` and `||` is judged, whether C would reach it or not.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .oracle_errors import OracleError
from .yaml_values import Yaml

LEAST, MOST = -(2**31), 2**32 - 1
TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)(?P<suffix>[uUlL]*)(?![\w.])"
    r"|(?P<name>[A-Za-z_]\w*(?:\.[xyz]\b)?)"
    r"|(?P<symbol><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:(),]))"
)
# From the loosest to the tightest binary operators of C.
LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A number; `spelling` is its text where that is not plain decimal."""

    value: int
    spelling: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Op:
    symbol: str
    operands: tuple[Expr, ...]


Expr: TypeAlias = Literal | Name | Op


def truncating_quotient(a: int, b: int) -> int:
    """C's `a / b`, rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def truncating_remainder(a: int, b: int) -> int:
    """C's `a % b`, with the sign of `a`."""
    return a - truncating_quotient(a, b) * b


BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": truncating_quotient,
    "%": truncating_remainder,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(a != 0 and b != 0),
    "||": lambda a, b: int(a != 0 or b != 0),
}
UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda a: int(a == 0),
}


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise OracleError(f"{wanted or 'an operand'} is missing in {self.text!r}")
        self.at += 1
        return token

    def ternary(self) -> Expr:
        condition = self.binary(0)
        if self.peek() != "?":
            return condition
        self.take()
        then = self.ternary()
        self.take(":")
        return Op("?:", (condition, then, self.ternary()))

    def binary(self, level: int) -> Expr:
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            symbol = self.take()
            left = Op(symbol, (left, self.binary(level + 1)))
        return left

    def unary(self) -> Expr:
        if self.peek() in UNARY:
            symbol = self.take()
            return Op(symbol + "1", (self.unary(),))
        if self.peek() == "(":
            self.take()
            inside = self.ternary()
            self.take(")")
            return inside
        token = self.take()
        if token[0].isdigit():
            return _literal(token)
        if token in ("min", "max"):
            return self.call(token)
        if not (token[0].isalpha() or token[0] == "_"):
            raise OracleError(f"{token!r} is no operand in {self.text!r}")
        return Name(token)

    def call(self, name: str) -> Expr:
        self.take("(")
        operands = [self.ternary()]
        while self.peek() == ",":
            self.take()
            operands.append(self.ternary())
        self.take(")")
        if len(operands) < 2:
            raise OracleError(f"{name} needs two arguments in {self.text!r}")
        return Op(name, tuple(operands))


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None:
            raise OracleError(f"cannot read {text[at:]!r} in {text!r}")
        number = match["number"] and match["number"] + match["suffix"]
        tokens.append(number or match["name"] or match["symbol"])
        at = match.end()
    return tokens


def _literal(text: str) -> Literal:
    digits = text.rstrip("uUlL")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        raise OracleError(f"{digits} is octal in C", "SWZ302")
    return Literal(int(digits, 0), "" if text.isdigit() else text)


def parse(value: Yaml) -> Expr:
    """The tree of an expression written as text or as a plain integer.

    >>> evaluate(parse("a << 4 + 1"), {"a": [1, 3]}, 2)
    [32, 96]
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise OracleError(f"an expression is wanted, not {value!r}")
    parser = _Parser(str(value))
    tree = parser.ternary()
    if parser.peek():
        raise OracleError(f"{parser.peek()!r} is left over in {value!r}")
    return tree


def names_in(tree: Expr) -> set[str]:
    """All names that occur in `tree`."""
    match tree:
        case Literal():
            return set()
        case Name(name):
            return {name}
        case Op(_, operands):
            return {name for operand in operands for name in names_in(operand)}


def largest_literal(tree: Expr) -> int:
    """The largest number written in `tree`, 0 where there is none."""
    match tree:
        case Literal(value):
            return value
        case Name():
            return 0
        case Op(_, operands):
            return max(map(largest_literal, operands), default=0)


def evaluate(tree: Expr, columns: Mapping[str, Sequence[int]], points: int) -> list[int]:
    """The values of `tree` at all points; an undefined operation or a value out of range is an
    OracleError.

    >>> evaluate(parse("-7 / 2 * 10 + -7 % 2"), {}, 1)
    [-31]
    """
    match tree:
        case Literal(value):
            values = [value] * points
        case Name(name):
            if name not in columns:
                raise OracleError(f"{name!r} is not known", "SWZ301")
            values = list(columns[name])
        case Op(symbol, operands):
            values = apply(symbol, [evaluate(operand, columns, points) for operand in operands])
    if values and not (min(values) >= LEAST and max(values) <= MOST):
        raise OracleError(f"a value of {tree} leaves -2^31 .. 2^32 - 1", "SWZ303")
    return values


def apply(symbol: str, operands: list[list[int]]) -> list[int]:
    """The values of one operator at all points, of any size; an undefined operation is an
    OracleError.
    """
    match symbol, operands:
        case "?:", [condition, then, otherwise]:
            return [a if c else b for c, a, b in zip(condition, then, otherwise, strict=True)]
        case "min", _:
            return [min(values) for values in zip(*operands, strict=True)]
        case "max", _:
            return [max(values) for values in zip(*operands, strict=True)]
        case _, [only]:
            return list(map(UNARY[symbol[0]], only))
        case _, [left, right]:
            if symbol in ("/", "%") and (0 in right or (right and min(right) < 0 < max(right))):
                raise OracleError("a divisor can be 0, or has both signs", "SWZ305")
            if symbol in ("<<", ">>") and right and not (min(right) >= 0 and max(right) <= 31):
                raise OracleError("a shift amount can lie outside 0 .. 31", "SWZ304")
            return list(map(BINARY[symbol], left, right))
        case _:
            raise OracleError(f"{symbol} with {len(operands)} operands")


def constant(value: Yaml, constants: Mapping[str, int]) -> int:
    """The value of an expression of constants."""
    return evaluate(parse(value), {name: [number] for name, number in constants.items()}, 1)[0]
