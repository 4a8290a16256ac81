"""An expression's exact value, and when it has one: docs/semantics.md, section 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce

from swzrecheck.c_text import Node, read_expression
from swzrecheck.exact import MAX_SHIFT, Arithmetic, Exact

VALUE_MIN, VALUE_MAX = -(1 << 31), (1 << 32) - 1
MAX_EXACT_BITS = 64


@dataclass(slots=True)
class Conditions:
    """One-bit lines that bounds do not show: values `inside` C's range, `defined` operations."""

    inside: list[int] = field(default_factory=list[int])
    defined: list[int] = field(default_factory=list[int])


class Values:
    """Expressions over names of exact integers.

    `names` has their values. `conditions` collects what must hold.
    """

    def __init__(self, numbers: Arithmetic, names: Mapping[str, Exact], conditions: Conditions) -> None:
        self.numbers, self.names, self.conditions = numbers, names, conditions

    def of(self, text: str) -> Exact:
        """The value of a text.

        >>> from swzrecheck.program import Builder
        >>> numbers = Arithmetic(Builder())
        >>> value = Values(numbers, {"tid": numbers.variable("tid", 128)}, Conditions()).of("((tid >> 1) & 7) << 4")
        >>> value.low, value.high
        (0, 112)
        """
        return self._node(read_expression(text))

    def _node(self, node: Node) -> Exact:
        if node.operator == "number":
            return self.numbers.number(node.number)
        if node.operator == "name":
            return self.names[node.name]
        given = [self._node(operand) for operand in node.operands]
        if node.operator in ("min", "max"):
            return reduce(self.numbers.least if node.operator == "min" else self.numbers.largest, given)
        if node.operator == "?":
            return self.numbers.choose(self.numbers.truth(given[0]), given[1], given[2])
        if len(given) == 1:
            return self._in_range(self._prefix(node.operator, given[0]))
        self._check_operands(node.operator, given[1])
        return self._in_range(_INFIX[node.operator](self.numbers, given[0], given[1]))

    def _prefix(self, operator: str, value: Exact) -> Exact:
        numbers = self.numbers
        if operator == "u!":
            return numbers.bit(numbers.equal(value, numbers.number(0)))
        if operator == "u~":
            return numbers.invert(value)
        return numbers.subtract(numbers.number(0), value) if operator == "u-" else value

    def _check_operands(self, operator: str, second: Exact) -> None:
        """Note as conditions that no divisor is 0 and that shifts are by 0 to 31 bits."""
        numbers = self.numbers
        if operator in ("/", "%") and second.low <= 0 <= second.high:
            self.conditions.defined.append(numbers.out.negate(numbers.equal(second, numbers.number(0))))
        if operator in ("<<", ">>") and not 0 <= second.low <= second.high <= MAX_SHIFT:
            self.conditions.defined.append(numbers.within(second, 0, MAX_SHIFT))

    def _in_range(self, value: Exact) -> Exact:
        """The value. Where it may leave C's range, a condition says that it does not."""
        if value.low >= VALUE_MIN and value.high <= VALUE_MAX:
            return value
        inside = self.numbers.within(value, VALUE_MIN, VALUE_MAX)
        # What an undefined operation gives is no value: it must not look like one that leaves the
        # range.
        undefined = [self.numbers.out.negate(one) for one in self.conditions.defined]
        self.conditions.inside.append(self.numbers.out.any([*undefined, inside]))
        # Exact as long as that is cheap: then a statement about more iterations than there are can
        # be judged too.
        wide = self.numbers.out.width(value.place) > MAX_EXACT_BITS
        return self.numbers.cut(value, VALUE_MIN, VALUE_MAX) if wide else value


def _compared(compare: Callable[[Arithmetic, Exact, Exact], int]) -> Callable[[Arithmetic, Exact, Exact], Exact]:
    return lambda numbers, a, b: numbers.bit(compare(numbers, a, b))


_INFIX: Mapping[str, Callable[[Arithmetic, Exact, Exact], Exact]] = {
    "*": Arithmetic.multiply,
    "/": Arithmetic.divide,
    "%": Arithmetic.remainder,
    "+": Arithmetic.add,
    "-": Arithmetic.subtract,
    "<<": Arithmetic.shift_left,
    ">>": Arithmetic.shift_right,
    "&": lambda numbers, a, b: numbers.bitwise("bvand", a, b),
    "|": lambda numbers, a, b: numbers.bitwise("bvor", a, b),
    "^": lambda numbers, a, b: numbers.bitwise("bvxor", a, b),
    "<": _compared(Arithmetic.less),
    "<=": _compared(Arithmetic.less_equal),
    ">": _compared(lambda numbers, a, b: numbers.less(b, a)),
    ">=": _compared(lambda numbers, a, b: numbers.less_equal(b, a)),
    "==": _compared(Arithmetic.equal),
    "!=": _compared(lambda numbers, a, b: numbers.out.negate(numbers.equal(a, b))),
    "&&": _compared(lambda numbers, a, b: numbers.out.all([numbers.truth(a), numbers.truth(b)])),
    "||": _compared(lambda numbers, a, b: numbers.out.any([numbers.truth(a), numbers.truth(b)])),
}
