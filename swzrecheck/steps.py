"""What a given step of a variable does to every line of a program: f(v + step) = f(v) + increase.

The prover finds such steps; here a given one is checked, line by line. An increase is `exact` when
it holds of the unsigned integers, else modulo 2^width only. None: nothing is known. It is claimed
wherever v and v + step both lie below v's limit, whatever the other variables are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzrecheck.bounds import Bounds, bounds
from swzrecheck.program import Operation, Program


@dataclass(frozen=True, slots=True)
class Step:
    """The increase of one line."""

    increase: int
    exact: bool

    @property
    def still(self) -> bool:
        """Whether the line does not change at all."""
        return self.exact and self.increase == 0


STILL = Step(0, exact=True)


def steps(program: Program, variable: int, step: int, ranges: Sequence[Bounds] | None = None) -> list[Step | None]:
    """The increase of every line when the variable at a place grows by `step`.

    `ranges` are those of the program, if they are known.

    >>> v, four = Operation("var", 6, number=64, name="v"), Operation("const", 6, number=4)
    >>> steps((v, four, Operation("bvurem", 6, (0, 1)), Operation("bvudiv", 6, (0, 1))), 0, 8)[2:]
    [Step(increase=0, exact=True), Step(increase=2, exact=True)]
    """
    ranges = bounds(program) if ranges is None else ranges
    found: list[Step | None] = []
    for place, line in enumerate(program):
        if line.operator in ("var", "const"):
            found.append(Step(step, exact=True) if place == variable else STILL)
            continue
        given = [found[operand] for operand in line.operands]
        # A line of one value does not change either, whatever its operands do.
        if ranges[place][0] == ranges[place][1] or all(one == STILL for one in given):
            found.append(STILL)
            continue
        known = [one for one in given if one is not None]
        result = None
        if len(known) == len(given):
            result = _line(line, known, [program[p] for p in line.operands], [ranges[p] for p in line.operands])
        found.append(_settled(result, line.width))
    return found


def _settled(step: Step | None, width: int) -> Step | None:
    """The step; an inexact increase that is 0 modulo 2^width is none."""
    if step is not None and not step.exact and step.increase % (1 << width) == 0:
        return STILL
    return step


def _line(
    line: Operation, given: Sequence[Step], operands: Sequence[Operation], ranges: Sequence[Bounds]
) -> Step | None:
    operator, full = line.operator, 1 << line.width
    if operator == "extract":
        return _extract(line, given[0], ranges[0])
    if operator in ("zero_extend", "sign_extend"):
        grows = operator == "sign_extend" and ranges[0][1] >= 1 << (operands[0].width - 1)
        return given[0] if given[0].exact and not grows else None
    if operator == "ite":
        if given[0].still and given[1].increase == given[2].increase:
            return Step(given[1].increase, given[1].exact and given[2].exact)
        return None
    a, b = given
    exact = a.exact and b.exact
    (a_low, a_high), (b_low, b_high) = ranges
    if operator == "=" and (a.increase - b.increase) % (1 << operands[0].width) == 0:
        return STILL
    if operator in ("bvult", "bvule"):
        # The order of two numbers does not change when both grow alike.
        return STILL if exact and a.increase == b.increase else None
    if operator == "bvadd":
        return Step(a.increase + b.increase, exact and a_high + b_high < full)
    if operator == "bvsub":
        return Step(a.increase - b.increase, exact and a_low >= b_high)
    if operator == "bvmul":
        for one, other, low, high in ((a, operands[1], b_low, a_high), (b, operands[0], a_low, b_high)):
            if other.operator == "const":
                return Step(one.increase * low, one.exact and high * low < full)
        return None
    if operator == "bvshl" and operands[1].operator == "const" and b_low < line.width:
        return Step(a.increase << b_low, a.exact and a_high << b_low < full)
    return _cutting(operator, a, b, operands, ranges)


def _cutting(operator: str, a: Step, b: Step, operands: Sequence[Operation], ranges: Sequence[Bounds]) -> Step | None:
    """Operators that cut a number at some bit; the increase must not cross it."""
    width = operands[0].width
    known = [line.number if line.operator == "const" else None for line in operands]
    if operator in ("bvand", "bvor", "bvxor"):
        return _bitwise(operator, (a, b), known, ranges, width)
    if not a.exact or known[1] is None:
        return None
    divisor = known[1]
    if operator in ("bvlshr", "bvashr"):
        if divisor >= width or (operator == "bvashr" and ranges[0][1] >> (width - 1)):
            return None
        divisor = 1 << divisor
        operator = "bvudiv"
    if operator in ("bvsdiv", "bvsrem"):
        if ranges[0][1] >> (width - 1) or divisor >> (width - 1):
            return None
        operator = {"bvsdiv": "bvudiv", "bvsrem": "bvurem"}[operator]
    if divisor == 0 or a.increase % divisor or operator not in ("bvudiv", "bvurem"):
        return None
    return Step(a.increase // divisor, exact=True) if operator == "bvudiv" else STILL


def _bitwise(
    operator: str, given: tuple[Step, Step], known: Sequence[int | None], ranges: Sequence[Bounds], width: int
) -> Step | None:
    """A mask, or a small value on low bits that the other side's increase does not reach."""
    for one, other, mask, high in (
        (given[0], given[1], known[1], ranges[1][1]),
        (given[1], given[0], known[0], ranges[0][1]),
    ):
        if operator == "bvand" and mask is not None:
            lowest = mask & -mask
            if mask and mask + lowest == 1 << width and one.increase % lowest == 0:
                return one
            # Bits up to the mask's top do not change when the increase is a multiple of what lies
            # above them.
            if one.increase % (1 << mask.bit_length()) == 0:
                return STILL
        if operator != "bvand" and other.still and one.increase % (1 << high.bit_length()) == 0:
            return one
    return None


def _extract(line: Operation, given: Step, span: Bounds) -> Step | None:
    """(x >> low) mod 2^width: the increase must be a multiple of 2^low."""
    if given.increase % (1 << line.number):
        return None
    top = line.number + line.width
    if not given.exact:
        if line.number == 0:
            return Step(given.increase, exact=False)
        # Modulo 2^width only, bits below `top` stay when the increase is a multiple of 2^top.
        return STILL if given.increase % (1 << top) == 0 else None
    return Step(given.increase >> line.number, span[1] >> top == 0)
