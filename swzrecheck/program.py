"""The form of an expression in a certificate: operations, each on the results of earlier ones.

Nothing of `ir` is used, so that the recheck reads the text with code of its own. `Builder` makes
such lists, and folds constants: an address of 32 lanes is 32 copies of one expression, in which most
values are known.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from swzrecheck.meaning import BINARY, COMPARISONS, binary, comparison, signed


class Operation(NamedTuple):
    """One line: an operator, the width of its result, the places of its operands.

    `number` is a constant's value, a variable's limit, or the lowest bit that `extract` takes;
    `name` is a variable's. A formula has thousands of these: a tuple is made and compared in less
    than half the time of a dataclass.
    """

    operator: str
    width: int
    operands: tuple[int, ...] = ()
    number: int = 0
    name: str = ""


Program = tuple[Operation, ...]
MAX_WIDTH = 256
"""Wider than anything the front end makes; a certificate that asks for more is refused."""


def check_operation(line: Operation, before: Sequence[Operation]) -> None:
    """Refuse, by ValueError, an operation that SMT-LIB would not allow after the given ones."""
    if not 1 <= line.width <= MAX_WIDTH:
        raise ValueError(f"a width of {line.width} bits is not in 1..{MAX_WIDTH}")
    if any(not 0 <= place < len(before) for place in line.operands):
        raise ValueError(f"operand {max(line.operands)} is not an earlier line")
    widths = [before[place].width for place in line.operands]
    if line.operator in BINARY:
        fits = len(widths) == 2 and widths == [line.width, line.width]
    elif line.operator in COMPARISONS:
        fits = len(widths) == 2 and widths[0] == widths[1] and line.width == 1
    elif line.operator == "const":
        fits = not widths and 0 <= line.number < 1 << line.width
    elif line.operator == "var":
        fits = not widths and 1 <= line.number <= 1 << line.width and bool(line.name)
    elif line.operator == "extract":
        fits = len(widths) == 1 and line.number >= 0 and line.number + line.width <= widths[0]
    elif line.operator in ("zero_extend", "sign_extend"):
        fits = len(widths) == 1 and line.width >= widths[0]
    elif line.operator == "ite":
        fits = len(widths) == 3 and widths == [1, line.width, line.width]
    else:
        raise ValueError(f"there is no operator {line.operator!r}")
    if not fits:
        raise ValueError(f"{line.operator} of {line.width} bits does not take operands of {widths} bits")


def value_of(line: Operation, values: Sequence[int], widths: Sequence[int]) -> int:
    """An operation's value from its operands' values and widths; not for variables."""
    if line.operator in BINARY:
        return binary(line.operator, line.width, values[0], values[1])
    if line.operator in COMPARISONS:
        return comparison(line.operator, widths[0], values[0], values[1])
    if line.operator == "const":
        return line.number
    if line.operator == "extract":
        return values[0] >> line.number & ((1 << line.width) - 1)
    if line.operator == "zero_extend":
        return values[0]
    if line.operator == "sign_extend":
        return signed(values[0], widths[0]) % (1 << line.width)
    if line.operator == "ite":
        return values[1] if values[0] else values[2]
    raise ValueError(f"{line.operator} has no value of its own")


def evaluate(program: Program, point: Mapping[str, int]) -> list[int]:
    """The value of every line where variables have the values of `point`.

    Raises:
        ValueError: A variable has no value, or one outside its limit.

    >>> x = Operation("var", 3, number=8, name="x")
    >>> evaluate((x, Operation("const", 3, number=5), Operation("bvxor", 3, (0, 1))), {"x": 6})
    [6, 5, 3]
    """
    values: list[int] = []
    for line in program:
        if line.operator == "var":
            value = point.get(line.name, -1)
            if not 0 <= value < line.number:
                raise ValueError(f"{line.name} = {point.get(line.name)} is not in 0..{line.number - 1}")
            values.append(value)
        else:
            operands = [values[place] for place in line.operands]
            values.append(value_of(line, operands, [program[place].width for place in line.operands]))
    return values


def reachable(program: Sequence[Operation], roots: Iterable[int], given: Container[int] = ()) -> list[int]:
    """The places that some roots need, in order; not given places, nor what only those need."""
    needed = {root for root in roots if root not in given}
    pending = list(needed)
    while pending:
        fresh = [place for place in program[pending.pop()].operands if place not in needed and place not in given]
        needed.update(fresh)
        pending += fresh
    return sorted(needed)


def selected(program: Sequence[Operation], places: Sequence[int]) -> tuple[Program, dict[int, int]]:
    """The lines at some places as a program, and where each of them went.

    Each line comes after its operands, which are among the places too.
    """
    again = {old: new for new, old in enumerate(places)}
    lines = (program[place] for place in places)
    return tuple(moved(line, [again[operand] for operand in line.operands]) for line in lines), again


def moved(line: Operation, operands: Iterable[int]) -> Operation:
    """The same operation on operands at other places."""
    return Operation(line.operator, line.width, tuple(operands), line.number, line.name)


class Builder:
    """A program in the making; equal operations share one place, constants are folded."""

    def __init__(self) -> None:
        self.lines: list[Operation] = []
        self._places: dict[Operation, int] = {}

    def place(self, line: Operation) -> int:
        """The place of an operation, added if it is new."""
        found = self._places.get(line)
        if found is None:
            check_operation(line, self.lines)
            found = self._places[line] = len(self.lines)
            self.lines.append(line)
        return found

    def width(self, place: int) -> int:
        """The width in bits of the formula at a place."""
        return self.lines[place].width

    def known(self, place: int) -> int | None:
        """The value at a place, if it is a constant."""
        line = self.lines[place]
        return line.number if line.operator == "const" else None

    def const(self, value: int, width: int) -> int:
        """A constant, modulo 2^width."""
        return self.place(Operation("const", width, number=value % (1 << width)))

    def var(self, name: str, limit: int, width: int) -> int:
        """A variable with values 0 .. limit - 1."""
        return self.place(Operation("var", width, number=limit, name=name))

    def copies(self, program: Program, places: Sequence[int], mark: str = "") -> dict[int, int]:
        """Another program's variables, place there to place here, with a mark after their names."""
        lines = [(place, program[place]) for place in places]
        return {place: self.var(line.name + mark, line.number, line.width) for place, line in lines}

    def add(self, line: Operation) -> int:
        """An operation, folded where its operands are constants or one of them is neutral."""
        if line.operator in ("const", "var"):
            return self.place(line)
        known = [self.known(place) for place in line.operands]
        values = [value for value in known if value is not None]
        if len(values) == len(known):
            return self.const(value_of(line, values, [self.width(place) for place in line.operands]), line.width)
        kept = self._same(line, known)
        return self.place(line) if kept is None else kept

    def _same(self, line: Operation, known: Sequence[int | None]) -> int | None:
        """The place or constant that an operation visibly equals at every point; else None."""
        places, operator = line.operands, line.operator
        if operator == "ite":
            if known[0] is not None:
                return places[1] if known[0] else places[2]
            return places[1] if places[1] == places[2] else None
        if operator in ("extract", "zero_extend", "sign_extend"):
            return places[0] if line.width == self.width(places[0]) else None
        if operator in COMPARISONS:
            return self.const(int(operator in ("=", "bvule", "bvsle")), 1) if places[0] == places[1] else None
        mask = (1 << line.width) - 1
        if known[1] == 0 and operator in ("bvadd", "bvsub", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr"):
            return places[0]
        if known[0] == 0 and operator in ("bvadd", "bvor", "bvxor"):
            return places[1]
        if operator in ("bvand", "bvmul") and 0 in known:
            return self.const(0, line.width)
        if operator == "bvand":
            for value, other in ((known[0], places[1]), (known[1], places[0])):
                if value == mask:
                    return other
        if operator == "bvor" and mask in known:
            return self.const(mask, line.width)
        return None

    def op(self, operator: str, a: int, b: int) -> int:
        """A binary operator or a comparison."""
        return self.add(Operation(operator, 1 if operator in COMPARISONS else self.width(a), (a, b)))

    def extract(self, a: int, low: int, width: int) -> int:
        """Bits low .. low + width - 1."""
        return self.add(Operation("extract", width, (a,), low))

    def widen(self, a: int, width: int) -> int:
        """Zeros in front, to `width` bits."""
        return self.add(Operation("zero_extend", width, (a,)))

    def ite(self, condition: int, then: int, otherwise: int) -> int:
        """Add a choice between two formulas."""
        return self.add(Operation("ite", self.width(then), (condition, then, otherwise)))

    def negate(self, a: int) -> int:
        """The opposite of one bit."""
        return self.op("bvxor", a, self.const(1, 1))

    def all(self, bits: Sequence[int]) -> int:
        """Whether all of some bits are 1; 1 for none. It joins pairs, so no chain gets deep."""
        return self._join("bvand", bits, 1)

    def any(self, bits: Sequence[int]) -> int:
        """Whether one of some bits is 1; 0 for none."""
        return self._join("bvor", bits, 0)

    def _join(self, operator: str, bits: Sequence[int], nothing: int) -> int:
        level = list(bits) or [self.const(nothing, 1)]
        while len(level) > 1:
            joined = [self.op(operator, a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            level = joined + level[len(joined) * 2 :]
        return level[0]

    def total(self, bits: Sequence[int]) -> int:
        """How many of some bits are 1, in as many bits as that needs."""
        level = list(bits) or [self.const(0, 1)]
        width = 1
        while len(level) > 1:
            width += 1
            wide = [self.widen(a, width) for a in level]
            joined = [self.op("bvadd", a, b) for a, b in zip(wide[::2], wide[1::2], strict=False)]
            level = joined + wide[len(joined) * 2 :]
        return level[0]

    def copy(self, program: Program, roots: Sequence[int], values: Mapping[int, int]) -> list[int]:
        """Rewrite the roots of another program here; `values` has places here for places there."""
        here = dict(values)
        for place in reachable(program, roots, values):
            line = program[place]
            here[place] = self.add(moved(line, [here[operand] for operand in line.operands]))
        return [here[root] for root in roots]
