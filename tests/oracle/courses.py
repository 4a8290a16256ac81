"""How an expression goes with one open loop: the argument by which a few values of the loop stand
for all.

Let k be the variable of a loop marked `any`, everything else but other open loops being known. A
*course* says of the expression f on a stretch of consecutive values of k: there are a period P and
a slope a with `f(k + P) = f(k) + a*P` wherever both lie in the stretch, and `low <= f(k) - a*k <=
high`, whatever values the other open loops have. (What depends on those alone has P = 1, a = 0, and
bounds.) The rules below derive the course of an operator from those of its operands, each by
arithmetic that holds at every k:

- sums, differences, and products with a constant: of the courses.
- `f % c`, `f / c`, `f >> n`, `f & c`: adding a multiple of c (of 2^n, of a power of two above the
  mask) to f changes the result by a fixed amount. P is multiplied until a*P is such a multiple.
  Quotients need a sign that holds on the whole stretch, because C rounds towards zero.
- comparisons, `&&`, `||`, `!`, `? :`, `min`, `max`: either the bounds decide them on the whole
  stretch, or the stretch is *cut* where they begin to, and each piece is looked at anew; of
  operands without slope they repeat.

Of an iteration that exists every value lies in the range of section 1, so bounds are clipped to it:
where the clipped value itself leaves the range, the iteration does not exist, and what is concluded
further up says nothing. A value with a slope leaves the range beyond some k for certain: there the
stretch is *dead*. Where neither is decided (a value wavers about the limit) the stretch is cut
again; if that is no way out, it is *unclear*, and only enumeration helps.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from .c_expr import LEAST, MOST, Expr, Literal, Name, Op, truncating_quotient
from .course_rules import (
    Course,
    after,
    bitwise,
    both_or_any,
    constant_course,
    crossing,
    difference,
    negated,
    negation,
    product,
    shifted,
    total,
    without_slope,
)

UNDEFINED = Op("undefined", ())
"""What has no value, such as 1/0: it leaves no range, and nothing that is made of it does."""
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Stretch:
    """The values `first .. last` of one open loop; looking at trees finds cuts, dead ends and what
    is unclear.
    """

    def __init__(self, name: str, first: int, last: int) -> None:
        self.name = name
        self.first, self.last = first, last
        self.alive_first, self.alive_last = first, last
        self.periods: set[int] = set()
        self.unclear = False
        self._cuts: set[int] = set()
        self._memo: dict[Expr, Course | None] = {}

    @property
    def dead(self) -> bool:
        """No iteration of the stretch exists."""
        return self.alive_first > self.alive_last

    @property
    def cuts(self) -> set[int]:
        """The values with which pieces begin that must be looked at apart."""
        inside = {k for k in self._cuts if self.alive_first < k <= self.alive_last}
        return inside | {k for k in (self.alive_first, self.alive_last + 1) if self.first < k <= self.last}

    def course(self, tree: Expr) -> Course | None:
        """The course of a tree, None where none is found; what leaves the range is noted on the
        way.
        """
        if tree not in self._memo:
            self._memo[tree] = self._course(tree)
        return self._memo[tree]

    def truth(self, tree: Expr) -> Course | None:
        """The course of whether the tree is not zero."""
        course = self.course(tree)
        found = None if course is None else self._truth(course)
        self.unclear |= found is None
        return found

    def _course(self, tree: Expr) -> Course | None:
        match tree:
            case Literal(value):
                return constant_course(value)
            case Name(name):
                return Course(1, 1, 0, 0, exact=lambda k: k) if name == self.name else Course(1, 0, 0, MOST)
            case Op("undefined", operands):
                # Of what stands beside it some may leave the range all the same.
                self.unclear |= any(self.course(operand) is None for operand in operands)
                return constant_course(0, partial=True)
            case Op(symbol, operands):
                parts = [self.course(operand) for operand in operands]
        known = [part for part in parts if part is not None]
        made = self._combined(symbol, known) if len(known) == len(parts) else None
        if made is None:
            self.unclear = True
            return None
        return self._within_range(made)

    # --- the range of section 1 ---------------------------------------------------------------------------------------

    def _within_range(self, course: Course) -> Course:
        if course.slope:
            self._cut_by_range(course)
            return course
        low, high = ceil(course.low), floor(course.high)
        if course.partial or low < LEAST or high > MOST:
            self.periods.add(course.period)
        if not course.partial and (low > MOST or high < LEAST):
            self.alive_last = self.alive_first - 1
        low, high = (min(max(bound, LEAST), MOST) for bound in (low, high))
        return Course(course.period, 0, low, high, course.partial)

    def _cut_by_range(self, course: Course) -> None:
        """Drop the dead end of what moves, and cut off where it wavers about the limit."""
        if course.partial:
            self.periods.add(course.period)
        for bound, beyond in ((MOST + 1, True), (LEAST, False)):
            x, y = crossing(course, bound)
            dead_after = (course.slope > 0) is beyond
            if course.partial:
                self.unclear |= x <= self.alive_last if dead_after else y > self.alive_first
            elif dead_after:
                self.alive_last = min(self.alive_last, y - 1)
                self._cut_off(x, x <= self.alive_last)
            else:
                self.alive_first = max(self.alive_first, x)
                self._cut_off(y, y > self.alive_first)

    def _cut_off(self, at: int, wavers: bool) -> None:
        if wavers:
            self.unclear |= not self.alive_first < at <= self.alive_last
            self._cuts.add(at)

    def _at_least(self, course: Course, bound: int) -> bool | None:
        """Whether f >= bound on the whole stretch, or f < bound; None where both may be, cut where
        it can be.
        """
        if not course.slope:
            return True if course.low >= bound else False if course.high < bound else None
        x, y = crossing(course, bound)
        if self.first >= y:
            return course.slope > 0
        if self.last < x:
            return course.slope < 0
        self._cuts |= {x, y}
        return None

    # --- operators ----------------------------------------------------------------------------------------------------

    def _combined(self, symbol: str, parts: list[Course]) -> Course | None:
        match symbol, parts:
            case "-1", [f]:
                return negated(f)
            case "+1", [f]:
                return f
            case "~1", [f]:
                return difference(constant_course(-1), f)
            case "!1", [f]:
                return negation(self._truth(f))
            case "+", [f, g]:
                return total(f, g)
            case "-", [f, g]:
                return difference(f, g)
            case "&&" | "||", [f, g]:
                return both_or_any(symbol, self._truth(f), self._truth(g))
            case "?:", [condition, f, g]:
                return self._chosen(condition, f, g)
            case "min" | "max", [f, *others]:
                result: Course | None = f
                for g in others:
                    result = None if result is None else self._extreme(symbol, result, g)
                return result
            case _, [f, g] if symbol in COMPARISONS:
                return self._compared(symbol, f, g)
            case _, [f, g] if not f.slope and not g.slope:
                return without_slope(symbol, f, g)
            case "*", [f, g]:
                return product(f, g)
            case "/" | "%", [f, g]:
                return self._divided(symbol, f, g)
            case "<<" | ">>", [f, g]:
                return shifted(symbol, f, g)
            case "&" | "|" | "^", [f, g]:
                return bitwise(symbol, f, g) if f.slope else bitwise(symbol, g, f)
            case _:
                return None

    def _truth(self, f: Course) -> Course | None:
        return self._compared("!=", f, constant_course(0))

    def _compared(self, symbol: str, f: Course, g: Course) -> Course | None:
        """By the difference h = g - f: f < g is h >= 1, f <= g is h >= 0, f == g the second without
        the first.
        """
        h = difference(g, f)
        found = self._at_least(h, 1 if symbol in ("<", ">=") else 0)
        if symbol in ("==", "!=") and found is not False:
            above = self._at_least(h, 1)
            found = False if above else None if above is None else found
        if found is None:
            return None if h.slope else Course(h.period, 0, 0, 1, h.partial)
        return constant_course(found != (symbol in (">", ">=", "!=")), partial=h.partial)

    def _chosen(self, condition: Course, f: Course, g: Course) -> Course | None:
        truth = self._truth(condition)
        if truth is None:
            return None
        partial = truth.partial or f.partial or g.partial
        if truth.low == truth.high:
            taken = f if truth.low else g
            return replace(taken, partial=partial)
        if f.slope != g.slope:
            return None
        period = lcm(truth.period, f.period, g.period)
        return Course(period, f.slope, min(f.low, g.low), max(f.high, g.high), partial)

    def _extreme(self, symbol: str, f: Course, g: Course) -> Course | None:
        h = difference(f, g)
        most = self._at_least(h, 0)
        if most is not None:
            taken = f if most is (symbol == "max") else g
            return replace(taken, partial=h.partial)
        if h.slope:
            return None
        pick = max if symbol == "max" else min
        return Course(h.period, f.slope, pick(f.low, g.low), pick(f.high, g.high), h.partial)

    def _divided(self, symbol: str, f: Course, g: Course) -> Course | None:
        divisor = g.constant
        if divisor is None:
            return None
        if divisor == 0:
            return constant_course(0, partial=True)
        positive = self._at_least(f, 0)
        if positive is None:
            return None
        size = abs(divisor)
        period = f.period * (size // gcd(size, f.move))
        if symbol == "%":
            return Course(period, 0, 0 if positive else 1 - size, size - 1 if positive else 0, f.partial)
        rest = Fraction(size - 1, size)
        low, high = sorted((Fraction(f.low) / divisor, Fraction(f.high) / divisor))
        exact = after(f, lambda value: truncating_quotient(value, divisor))
        return Course(period, Fraction(f.slope) / divisor, low - rest, high + rest, f.partial, exact)
