"""A count of trips that a launch gives, on which the stage of a pipeline depends behind a loop.

CUTLASS takes the stage and the phase behind its loop over k-tiles from the number of these tiles: `(stage + n) % 7`.
What is needed of `n` is the same for n and n + 14, so a few numbers stand for all. A thread that leaves the loop has
made `n` trips, which says the number.

Source: docs/semantics.md, section 11, "Counts that a launch gives".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, bit_xor, less, widened
from swzverify.compiled.kernel.flow import Loop
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.remainders import with_remainders
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.booleans import BOOLEAN
from swzverify.compiled.order.instance import BASE, MOST_TRIPS
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Comparison,
    Const,
    Expr,
    Extend,
    Ite,
    Var,
    compare,
    conjunction,
    const,
    negation,
    operands,
    postorder,
    rebuilt,
    substitute,
    var,
    variables,
)
from swzverify.ir.intervals import intervals
from swzverify.ir.operators import to_signed

ASSUMED: Final = "the number of trips that {} gives is at least 0, and less than 2^30"
_WIDTH: Final = 32
_MOST_LEAST: Final = 4
"""The largest number that conditions of the count alone may tell apart from all larger ones."""
_MOST_AHEAD: Final = 8
_MOST_FEW: Final = 16
_MOST_POINTS: Final = 64
_SAMPLES: Final = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 256, 257, 1000, 4096)
_FAR: Final = 1000


@dataclass(frozen=True, slots=True)
class LoopTest:
    """A condition at the end of a block: `trip + ahead < count`, or its negation, where the count is `ahead` or more.

    Where it says that the count is reached, a thread leaves the loop.
    """

    trip: Var
    ahead: int
    is_negated: bool


class LaunchCount:
    """A number of trips that depends on launch values alone, `value`.

    Numbers below `start` stand for themselves, and those from `start` to `end` - 1 for all with their remainder. Of a
    count that is not known, the least number that it may be is: `end + k` stands for any number from k on.

    Attributes:
        variable: What stands for the count in values; it is below 2^30, which is assumed.
        start: The first number that stands for others.
        end: The first one that others stand for; `start` as long as no period is known.
        tests: The conditions of loops that compare their trip with the count.
        exits: The test of each edge with which a thread leaves such a loop.
        least: Conditions of the count alone, with the number from which on they are the same.
    """

    def __init__(self, kernel: Kernel, value: Expr, never: Callable[[Expr], bool]) -> None:
        self._kernel, self._never, self._value = kernel, never, value
        self.variable = var(f"{BASE}the count of the launch", MOST_TRIPS)
        self._wide = widened(self.variable, _WIDTH)
        self._put: dict[Expr, Expr] = {value: self._wide}
        self._known: dict[Expr, Expr] = {}
        self.tests: dict[Expr, LoopTest] = {}
        self.exits: dict[tuple[int, int], LoopTest] = {}
        self.least: dict[Expr, int] = {}
        self.start = 1
        for each in dict.fromkeys(atom for edge in self._edges() for atom in atoms_of(self.put(edge))):
            self._keep_least(each)
        self._put = {value: self._wide}
        for loop in kernel.flow.loops:
            for block in loop.blocks:
                self._keep_test(loop, block)
        self.end = self.start

    @property
    def leaf(self) -> Var:
        """A leaf of the kernel from which the count comes."""
        return variables(self._value)[0]

    @property
    def assumption(self) -> str:
        """What is assumed of the count, in words."""
        names = dict.fromkeys(self._kernel.leaves[each].reason for each in variables(self._value))
        words, total = " and ".join(names), sum_of(self._value)
        times, number = total.terms.get(self.leaf, 0), to_signed(total.number, _WIDTH)
        if number and len(total.terms) == 1 and to_signed(times, _WIDTH) == -1:
            words = f"{number} minus {words}"
        elif number and len(total.terms) == 1 and times == 1:
            words += f" {'minus' if number < 0 else 'plus'} {abs(number)}"
        return ASSUMED.format(words)

    def put(self, value: Expr) -> Expr:
        """A value with the variable for the count, and with its comparisons with small numbers."""
        for node in postorder(value) if value not in self._put else ():
            if node not in self._put:
                new = rebuilt(node, self._put)
                self._put[node] = self._known.get(new, new)
        return self._put[value]

    def reads(self, value: Expr) -> bool:
        """Whether a value depends on the count."""
        return self.variable in variables(self.put(value))

    def drop(self, trip: Var) -> None:
        """Forget the conditions of a trip: they are taken both ways, and say nothing of the count."""
        self.tests = {atom: test for atom, test in self.tests.items() if test.trip is not trip}
        self.exits = {edge: test for edge, test in self.exits.items() if test.trip is not trip}

    # ---- while a thread is followed

    def truth(self, atom: Expr, values: Mapping[Var, Expr], exact: int) -> Expr | None:
        """A condition that compares the count, as far as it is known; None if it is no such condition.

        `exact` is the number of trips that stand for themselves.
        """
        limit, test = self.least.get(atom), self.tests.get(atom)
        number, at_least = self._meant(values.get(self.variable))
        if limit is not None:
            known = at_least if number is None else number
            is_known = number is not None or limit <= at_least
            return const(evaluate(atom, {self.variable.name: known}), 1) if is_known else atom
        if test is None:
            return None
        trip = values.get(test.trip)
        if not isinstance(trip, Const):
            return atom
        is_exact, ahead = trip.value < exact, trip.value + test.ahead
        if number is not None and number < self.start:
            point = {self.variable.name: number, test.trip.name: trip.value}
            return const(evaluate(atom, point), 1) if is_exact else atom
        is_before = is_exact and ahead < (at_least if number is None else self.start)
        if is_before or (number is not None and self._number(ahead) != number):
            return FALSE if test.is_negated else TRUE
        return atom

    def left(self, source: int, target: int, values: Mapping[Var, Expr], exact: int) -> Mapping[Var, Expr]:
        """What an edge out of a loop says of the count."""
        test = self.exits.get((source, target))
        trip = None if test is None else values.get(test.trip)
        number, _ = self._meant(values.get(self.variable))
        if test is None or not isinstance(trip, Const) or number is not None:
            return {}
        found = trip.value + test.ahead
        is_number = trip.value < exact and found < self.start
        return {self.variable: const(found if is_number else self._number(found), self.variable.width)}

    def cases(self, known: Expr | None, need: int) -> Iterator[Expr]:
        """What the count may be, one by one; nothing if that is known well enough.

        `need` is the first number that need not be told apart from larger ones, or `end` if each has to be.
        """
        number, at_least = self._meant(known)
        if number is None and need > at_least:
            yield from (const(each, self.variable.width) for each in range(at_least, need))
            if need < self.end:
                yield const(self.end + need, self.variable.width)

    def need(self, condition: Expr) -> int:
        """From which number on a condition need not tell counts apart."""
        tests = (self.tests[each].ahead for each in atoms_of(condition) if each in self.tests)
        return max((*tests, *(self.least.get(each, 0) for each in atoms_of(condition))), default=0)

    def is_number(self, known: Expr | None) -> bool:
        """Whether what is known of a count is a number, and not only the least one."""
        return self._meant(known)[0] is not None

    def _meant(self, known: Expr | None) -> tuple[int | None, int]:
        """The number that is known of the count, if it is one, and the least number that it may be."""
        if not isinstance(known, Const):
            return None, 0
        return (known.value, known.value) if known.value < self.end else (None, known.value - self.end)

    def _number(self, count: int) -> int:
        return self.start + (count - self.start) % (self.end - self.start)

    # ---- periods

    def is_periodic(self, value: Expr, start: int, end: int, few: Mapping[Var, int]) -> bool:
        """Whether a value is shown to be the same for counts from `start` on that are `end - start` apart.

        `few` are limits of variables.
        """
        small = [each for each in variables(value) if each in few]
        if prod(few[each] for each in small) > _MOST_POINTS:
            return False
        one, two = (with_remainders(self._later(value, by)) for by in (start, end))
        for numbers in product(*(range(few[each]) for each in small)):
            point: dict[Var, Expr] = {
                each: const(number, each.width) for each, number in zip(small, numbers, strict=True)
            }
            first, second = (bounded(substitute(each, point)) for each in (one, two))
            if first is not second and not self._never(negation(compare(Comparison.EQ, first, second))):
                return False
        return True

    def _later(self, value: Expr, by: int) -> Expr:
        """A value with a count that is greater by a number, also where it reads the count with other widths."""
        later = add(self._wide, const(by, _WIDTH))
        new: dict[Expr, Expr] = {self.variable: widened(later, self.variable.width)}
        for node in postorder(value):
            if isinstance(node, Extend) and node.operand is self.variable and not node.signed:
                new[node] = widened(later, node.width)
            elif node not in new:
                new[node] = rebuilt(node, new)
        return new[value]

    # ---- conditions

    def _edges(self) -> Iterator[Expr]:
        flow = self._kernel.flow
        for block in flow.blocks:
            if block.is_choice and flow.is_reachable(block.index):
                yield from (self._kernel.edge(block.index, target) for target in flow.following[block.index])

    def _keep_least(self, atom: Expr) -> None:
        """Keep a condition of launch values that compares the count with a small number."""
        read, given = variables(atom), variables(self._value)
        others = [each for each in read if each is not self.variable]
        if not read or any(each not in given for each in others) or (others and len(given) > 1):
            return
        whole = _rebuilt(atom, {self._wide: self._value}) if others else atom
        count: Expr = self._value if others else self._wide
        rows: list[tuple[int, bool]] = []
        for number in _SAMPLES:
            point = {each.name: number % each.limit for each in variables(whole, count)}
            rows.append((evaluate(count, point), bool(evaluate(whole, point))))
        rows = [each for each in rows if each[0] < MOST_TRIPS]
        in_range = less(count, const(MOST_TRIPS, _WIDTH), signed=False)
        for limit in range(1, _MOST_LEAST + 1):
            is_below = all((number < limit) is holds for number, holds in rows)
            if not is_below and not all((number < limit) is not holds for number, holds in rows):
                continue
            wanted = less(count, const(limit, _WIDTH), signed=False)
            if self._never(conjunction((in_range, bit_xor(whole, wanted if is_below else negation(wanted))))):
                below = less(self._wide, const(limit, _WIDTH), signed=False)
                self._known[atom] = below if is_below else negation(below)
                self.least |= dict.fromkeys(atoms_of(below), limit)
                self.start = max(self.start, limit)
                return

    def _keep_test(self, loop: Loop, block: int) -> None:
        """Keep the condition with which a block leaves a loop, if each further trip needs that it did not hold."""
        kernel, flow = self._kernel, self._kernel.flow
        targets = flow.following[block]
        inside = [each for each in targets if each in loop.blocks]
        if len(targets) != 2 or len(inside) != 1 or not all(flow.dominators.above(block, e) for e in loop.latches):
            return
        stays, trip = self.put(kernel.edge(block, inside[0])), kernel.trips(loop.header)
        (outside,) = (each for each in targets if each != inside[0])
        parts = atoms_of(stays)
        if len(parts) != 1 or set(variables(stays)) != {self.variable, trip}:
            return

        def holds(at: int) -> bool:
            return bool(evaluate(stays, {self.variable.name: _FAR, trip.name: at}))

        first = next((at for at in range(_FAR + 1) if not holds(at)), None)
        ahead = -1 if first is None else _FAR - first
        if not 0 <= ahead <= _MOST_AHEAD:
            return
        reached = less(add(widened(trip, _WIDTH), const(ahead, _WIDTH)), self._wide, signed=False)
        known = (
            less(trip, const(MOST_TRIPS, trip.width), signed=False) if trip.limit > MOST_TRIPS else TRUE,
            negation(less(self._wide, const(ahead, _WIDTH), signed=False)),
        )
        if self._never(conjunction((*known, bit_xor(stays, reached)))):
            self.start = max(self.start, ahead)
            is_negated = evaluate(parts[0], {self.variable.name: _FAR, trip.name: 0}) != 1
            test = LoopTest(trip, ahead, is_negated)
            self.tests[parts[0]] = self.exits[block, outside] = test


def launch_count_of(
    kernel: Kernel, needed: Iterable[Expr], choices: Collection[Expr], never: Callable[[Expr], bool]
) -> LaunchCount | None:
    """The count of trips through which some values depend on the launch; None if there is none.

    These values mix it with what loops make of registers, as the stage behind a loop does. What conditions among
    `choices` read is not needed: a run takes them both ways.
    """
    mixed: dict[Expr, None] = {}
    pending, seen = [*needed], set[Expr]()
    while pending:
        node = pending.pop()
        # A condition on launch values and coordinates is one choice of a thread: what it reads is not needed.
        is_choice = node in choices or (node.width == 1 and kernel.leaves.are_of_thread(node))
        if node in seen or is_choice or kernel.leaves.are_of_launch(node):
            continue
        seen.add(node)
        mixed |= dict.fromkeys(e for e in operands(node) if e.width == _WIDTH and kernel.leaves.are_of_launch(e))
        pending += operands(node)
    parts = dict.fromkeys(node for each in mixed for node in postorder(each) if node.width == _WIDTH)
    for part in sorted(parts, key=lambda each: -len(postorder(each))):
        stand_in = var("count", MOST_TRIPS)
        put: dict[Expr, Expr] = {part: widened(stand_in, _WIDTH)}
        if kernel.leaves.are_of_launch(part) and all(variables(_rebuilt(each, put)) == (stand_in,) for each in mixed):
            return LaunchCount(kernel, part, never)
    return None


def few_of(kernel: Kernel, leaves: Iterable[Var], put: Callable[[Expr], Expr]) -> dict[Var, int]:
    """Limits of what loops carry, where it has few values: before the loop, and behind a trip that began with few."""
    carries = {each: kernel.carried[each] for each in leaves if each in kernel.carried}
    parts = {
        each: (with_remainders(put(carry.before)), with_remainders(put(carry.after))) for each, carry in carries.items()
    }
    limits = dict.fromkeys(carries, 2)
    for _ in range(_MOST_FEW):
        small: dict[Var, Expr] = {
            each: widened(var(each.name, limits[each]), each.width) for each in carries if limits[each] < each.limit
        }
        new = dict(limits)
        for each, both in parts.items():
            for part in both:
                found = bounded(substitute(part, small))
                new[each] = max(new[each], intervals(found)[found][1] + 1)
        new = {each: limit if limit <= _MOST_FEW else each.limit for each, limit in new.items()}
        if new == limits:
            return {each: limit for each, limit in limits.items() if limit <= _MOST_FEW}
        limits = new
    return {}


def atoms_of(condition: Expr) -> list[Expr]:
    """The parts of a condition that are no ands, ors and choices of others, constants left out."""
    found: dict[Expr, None] = {}
    pending = [condition]
    while pending:
        match pending.pop():
            case Binary(operator, left, right) as node if node.width == 1 and operator in BOOLEAN:
                pending += [left, right]
            case Ite(test, then, otherwise) as node if node.width == 1:
                pending += [test, then, otherwise]
            case Const():
                pass
            case node:
                found[node] = None
    return list(found)


def _rebuilt(value: Expr, put: Mapping[Expr, Expr]) -> Expr:
    new = dict(put)
    for node in postorder(value):
        if node not in new:
            new[node] = rebuilt(node, new)
    return new[value]
