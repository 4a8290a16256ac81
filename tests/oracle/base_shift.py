"""How an expression of `base` moves with it: which bases are enough for a map that reads `base`."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from . import c_expr
from .c_expr import Expr, Literal, Name, Op

Shift = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Box:
    """The columns of a map's variables over all points of its box."""

    columns: dict[str, list[int]]
    points: int


def shift_in_base(tree: Expr, box: Box) -> Shift | None:
    """(P, D) with P a power of two and f(base + P) = f(base) + D at every point for every base, if
    found.

    The values of bases below P then give all others. The rules, for operands that move by D and D':
    `+ -` add; `*` by a constant scales; `x & y`, `x | y`, `x ^ y` with `0 <= y < 2^j` where y does
    not move and D is a multiple of 2^j: by 0, D, D, as adding a multiple of 2^j leaves x's low j
    bits alone; `>> n`, and `/ 2^n` of non-negative values, with D a multiple of 2^n: by D / 2^n; `%
    2^n`: by 0. Operands that do not move may combine in any way.

    >>> shift_in_base(c_expr.parse("base + c ^ base >> 3 & 112"), Box({"c": [0, 4]}, 2))
    (1024, 1024)
    """
    if "base" not in c_expr.names_in(tree):
        return 1, 0
    match tree:
        case Name():
            return 1, 1
        case Literal():
            return 1, 0
        case Op(symbol, operands):
            shifts = [shift_in_base(operand, box) for operand in operands]
    known = [shift for shift in shifts if shift is not None]
    if len(known) < len(shifts):
        return None
    period = lcm(*(p for p, _ in known))
    moves = [d * (period // p) for p, d in known]
    if not any(moves):
        return period, 0
    if len(operands) != 2:
        return None
    return _combine(symbol, operands, (moves[0], moves[1]), period, box)


def _combine(
    symbol: str,
    operands: tuple[Expr, ...],
    moves: tuple[int, int],
    period: int,
    box: Box,
) -> Shift | None:
    left, right = operands
    match symbol:
        case "+":
            return period, moves[0] + moves[1]
        case "-":
            return period, moves[0] - moves[1]
        case "*" if isinstance(right, Literal):
            return period, moves[0] * right.value
        case "*" if isinstance(left, Literal):
            return period, moves[1] * left.value
        case ">>" if isinstance(right, Literal) and 0 <= right.value <= 31:
            period, move = _scaled(period, moves[0], 1 << right.value)
            return period, move >> right.value
        case "<<" if isinstance(right, Literal) and 0 <= right.value <= 31:
            return period, moves[0] << right.value
        case "/" | "%" if isinstance(right, Literal) and right.value > 0 and right.value & (right.value - 1) == 0:
            if not _never_negative(left, box):
                return None
            period, move = _scaled(period, moves[0], right.value)
            return period, move // right.value if symbol == "/" else 0
        case "&" | "|" | "^":
            mover, other = (moves[0], right) if moves[0] else (moves[1], left)
            bound = _bound(other, box)
            if (moves[0] and moves[1]) or bound is None:
                return None
            period, move = _scaled(period, mover, bound)
            return period, 0 if symbol == "&" else move
        case _:
            return None


def _scaled(period: int, move: int, unit: int) -> Shift:
    """The pair scaled by powers of two until the move is a multiple of `unit`, itself a power of
    two.
    """
    while move % unit:
        period, move = 2 * period, 2 * move
    return period, move


def _never_negative(tree: Expr, box: Box) -> bool:
    match tree:
        case Literal(value):
            return value >= 0
        case Name(name):
            return name == "base" or min(box.columns[name]) >= 0
        case Op(symbol, operands):
            if symbol == "&":
                return any(_never_negative(operand, box) for operand in operands)
            safe = symbol in ("+", "*", "/", "%", "<<", ">>", "|", "^")
            return safe and all(_never_negative(operand, box) for operand in operands)


def _bound(tree: Expr, box: Box) -> int | None:
    """A power of two above every value of `tree`, None if there is a negative one or none is found."""
    if "base" not in c_expr.names_in(tree):
        values = c_expr.evaluate(tree, box.columns, box.points)
        return None if min(values) < 0 else 1 << max(values).bit_length()
    match tree:
        case Op("&", (left, right)):
            bounds = [bound for side in (left, right) if (bound := _bound(side, box)) is not None]
            return min(bounds, default=None)
        case Op("<<" | "*", (left, Literal(value))):
            bound = _bound(left, box)
            factor = 1 << value if tree.symbol == "<<" else 1 << value.bit_length()
            return None if bound is None else bound * factor
        case Op(">>" | "/", (left, Literal())) if _never_negative(left, box):
            return _bound(left, box)
        case Op("%", (left, Literal(value))) if _never_negative(left, box):
            return 1 << value.bit_length()
        case Op("|" | "^", (left, right)):
            bounds = [_bound(left, box), _bound(right, box)]
            known = [bound for bound in bounds if bound is not None]
            return max(known) if len(known) == 2 else None
        case _:
            return None
