"""Which iterations of an access with an `any` loop exist, by evaluating every sub-expression
(section 4 of the page).

What has no value, such as a quotient by zero, leaves no range; neither does anything that is made
of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .c_expr import BINARY, LEAST, MOST, UNARY, Expr, Literal, Name, Op, apply
from .oracle_errors import OracleError

Values = list[int | None]


class Survey:
    """The points at which a sub-expression of the trees looked at leaves the range.

    `doubtful` are those where a shift to the left by more than 31 would leave it: the page calls
    the amount an error and the value one that leaves the range, and does not say which of the two
    it is in an `any` loop.
    """

    def __init__(self, columns: Mapping[str, Sequence[int]], points: int) -> None:
        self.columns = columns
        self.points = points
        self.outside: set[int] = set()
        self.doubtful: set[int] = set()

    def look(self, tree: Expr) -> Values:
        """The values of the tree, None where it has none."""
        match tree:
            case Literal(value):
                return [value] * self.points
            case Name(name):
                if name not in self.columns:
                    raise OracleError(f"{name!r} is not known", "SWZ301")
                return list(self.columns[name])
            case Op(symbol, operands):
                parts = [self.look(operand) for operand in operands]
        values = self._values(symbol, parts)
        if any(value is not None and not LEAST <= value <= MOST for value in values):
            self.outside |= {point for point, x in enumerate(values) if x is not None and not LEAST <= x <= MOST}
            values = [None if point in self.outside else value for point, value in enumerate(values)]
        return values

    def _values(self, symbol: str, parts: list[Values]) -> Values:
        known = [[value for value in part if value is not None] for part in parts]
        if all(len(part) == self.points for part in known):
            try:
                return [*apply(symbol, known)]
            except OracleError:
                pass  # an amount or a divisor that is undefined somewhere: point by point, then
        values: Values = []
        for point, given in enumerate(zip(*parts, strict=True)):
            operands = [value for value in given if value is not None]
            values.append(self._value(symbol, operands, point) if len(operands) == len(given) else None)
        return values

    def _value(self, symbol: str, operands: list[int], point: int) -> int | None:
        match symbol, operands:
            case "?:", [condition, then, otherwise]:
                return then if condition else otherwise
            case "min", _:
                return min(operands)
            case "max", _:
                return max(operands)
            case _, [only]:
                return UNARY[symbol[0]](only)
            case "/" | "%", [_, 0]:
                return None
            case "<<" | ">>", [_, amount] if amount < 0:
                return None
            case "<<", [moved, amount] if amount > 31:
                if moved:
                    self.doubtful.add(point)
                    return None
                return 0
            case _, [left, right]:
                return BINARY[symbol](left, right)
            case _:
                raise OracleError(f"{symbol} with {len(operands)} operands")
