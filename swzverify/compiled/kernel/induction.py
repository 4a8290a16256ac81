"""Registers that loops step by a fixed amount, in all of their bits or in their low ones.

A counter of k bits has `begin + trips * step` modulo 2^k at the begin of each trip, where the step
does not change in the loop. A register is known in five cases, by induction on the trips:

- Its next value is itself plus the step: it is a counter of its own width.
- Its next value is F(low k bits of itself, plus the step), where F widens with zeros or with the
  sign. The low k bits of F(c) are c, so they are a counter. The register is F of the counter in
  each trip after the first one, and in the first one if its value before the loop is F of its own
  low bits. That is checked: a register that begins with other high bits has no such form.
- Its next value is itself with some bits flipped, the same ones in each trip: they are flipped in the
  trips with an odd number, which a counter of one bit tells.
- It is another register plus a number in each trip (`kept_distance`). That one may be any, also one without a form.
- Its next value is H(the next values of counters of this loop), where H reads nothing else that
  changes in the loop: it is H of the counters in each trip after the first one. In the first one it
  is so if its value before the loop is H of what the counters begin with. That is checked too.

A register that begins with a thread's coordinates, and from whose next value these cancel when what
it begins with is taken off, is what it begins with plus a register of its own, which no instruction
writes: that one begins with 0, and its next value is that difference. So pointers that go round
several stages keep the distances between lanes, if all lanes change them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import lcm
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, mul, shift_left, sub, widened
from swzverify.compiled.kernel.flow import Loop
from swzverify.compiled.kernel.kept_distances import kept_distance
from swzverify.compiled.kernel.leaves import CarriedLeaf, LaneLeaf, Leaf, LoopLeaf, OpaqueLeaf, TripsLeaf
from swzverify.compiled.kernel.linear import Sum, flipped, sum_of
from swzverify.compiled.kernel.narrow import is_same, low_bits, narrowed
from swzverify.compiled.kernel.powers import power_of
from swzverify.compiled.kernel.sequences import Sequence, sequence_of
from swzverify.compiled.kernel.slices import Carried, Slices
from swzverify.compiled.kernel.tables import table
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Comparison,
    Const,
    Expr,
    Extend,
    Ite,
    Var,
    compare,
    const,
    extend,
    extract,
    ite,
    operands,
    substitute,
    var,
    variables,
)

MOST_PLACES: Final = 1024
"""Trips up to which the registers of a loop are listed."""
MOST_CHOICES: Final = 8
"""Nested choices in the next value of a register."""
MOST_BITS: Final = 10
"""Low bits up to which multiples of powers of two are looked for."""


@dataclass(frozen=True, slots=True)
class Forms:
    """What carried registers are in terms of the trips of their loops, for those that step."""

    values: dict[Var, Expr]

    def resolve(self, value: Expr) -> Expr:
        """A value with its stepping registers put in."""
        wanted = {each: self.values[each] for each in variables(value) if each in self.values}
        return substitute(value, wanted) if wanted else value


def find_forms(slices: Slices) -> Forms:
    """The forms of all carried registers that were met so far.

    Inner loops come first, as what they leave behind is a part of the step of the outer one. A form
    holds registers of loops that begin earlier, which are then put in from the first loop on.
    """
    place = slices.flow.place
    ordered = sorted(slices.carried.values(), key=lambda each: place[each.loop.header])
    by_loop: dict[int, list[Carried]] = {}
    for carried in reversed(ordered):
        by_loop.setdefault(carried.loop.header, []).append(carried)
    forms: dict[Var, Expr] = {}
    for registers in by_loop.values():
        forms |= _Solver(slices, registers[0].loop, forms).solved(registers)
    finals = Forms({})
    for carried in ordered:
        if carried.variable in forms:
            finals.values[carried.variable] = finals.resolve(forms[carried.variable])
    return finals


def by_trip(slices: Slices, value: Expr) -> Expr:
    """A value with the registers of few values put in, in terms of the trips of their loops."""
    known: dict[Var, Expr] = {}
    for each in variables(value):
        carried = slices.carried.get(each)
        sequence = None if carried is None else sequence_of(carried)
        if carried is not None and sequence is not None:
            known[each] = sequence.at(trips_of(slices, carried.loop), each.width)
    return substitute(value, known) if known else value


def in_one_trip(
    slices: Slices, read: Iterable[Var], most: Callable[[Loop], int | None]
) -> tuple[dict[Var, Expr], list[Leaf]]:
    """The registers of few values among the leaves that an access reads, as functions of the trip.

    Registers of one loop have the values of one trip. `most` gives the last trip of a loop, if it is
    known.

    Returns:
        The registers with their values, and the new leaves that these values read: the index of the trip
        in the sequence of all these registers, unless the access reads the trip itself.
    """
    read = tuple(read)
    counted = {leaf.block for each in read if isinstance(leaf := slices.leaves[each], TripsLeaf)}
    by_loop: dict[int, dict[Var, Sequence]] = {}
    for each in read:
        carried = slices.carried.get(each)
        sequence = None if carried is None else sequence_of(carried)
        if carried is not None and sequence is not None:
            by_loop.setdefault(carried.loop.header, {})[each] = sequence
    known: dict[Var, Expr] = {}
    made: list[Leaf] = []
    for header, of_loop in by_loop.items():
        registers, loop = of_loop, slices.flow.loop_at[header]
        turn = max(each.turn for each in registers.values())
        count = turn + lcm(*(len(each.values) - each.turn for each in registers.values()))
        last = most(loop)
        if last is not None and last < count:
            turn, count = last, last + 1
            registers = {each: Sequence(tuple(map(of.in_trip, range(count))), turn) for each, of in of_loop.items()}
        if header in counted or count > MOST_PLACES:
            trips = trips_of(slices, loop)
            known |= {each: sequence.at(trips, each.width) for each, sequence in registers.items()}
            continue
        place: Expr = const(0, 1)
        if count > 1:
            leaf = _place(slices, loop, count, turn)
            place = leaf.variable
            made.append(leaf)
        for each, sequence in registers.items():
            known[each] = table(place, [sequence.in_trip(trip) for trip in range(count)], each.width)
    return known, made


def _place(slices: Slices, loop: Loop, count: int, turn: int) -> Leaf:
    """The leaf for the place of a trip among so many; after the last one comes the one at `turn`."""
    line = slices.line_of(loop.header)
    # Places that turn back elsewhere are others: accesses with equal terms have one distance in every trip.
    made = var(f"place among {count} that turns to {turn} in the loop at {line}.{loop.header}", count)
    reason = "how often the loop has gone back to its begin, up to where its registers repeat"
    leaf = CarriedLeaf(made, reason, line, loop.header, values=tuple(range(count)))
    is_last = compare(Comparison.EQ, made, const(count - 1, made.width))
    after = ite(is_last, const(turn, made.width), add(made, const(1, made.width)))
    slices.carried[made] = Carried(made, loop, const(0, made.width), after)
    slices.leaves.add(leaf)
    return leaf


@dataclass(frozen=True, slots=True)
class _Counter:
    """What a loop adds a step to: its value before the first trip, and the step."""

    begin: Expr
    step: Expr


class _Solver:
    """Finds the forms of the registers of one loop; `known` are those of the loops inside of it."""

    def __init__(self, slices: Slices, loop: Loop, known: dict[Var, Expr]) -> None:
        self._slices, self._loop, self._known = slices, loop, dict(known)
        self._counters: dict[Var, _Counter] = {}
        self._values: dict[Var, Expr] = {}
        """What registers of this loop are at the begin of a trip, in terms of counters."""

    def solved(self, registers: list[Carried]) -> dict[Var, Expr]:
        """The forms of those registers that have one."""
        found = -1
        while len(self._values) > found:
            found = len(self._values)
            for way in (self._step, self._flip, self._follow, self._keep_distance):
                for carried in registers:
                    if carried.variable not in self._values:
                        way(carried, _expanded(carried.after, self._known))
        beside = {
            each.variable: self._beside(each, _expanded(each.after, self._known))
            for each in registers
            if each.variable not in self._values and (self._reads_lanes(each.before) or sequence_of(each) is None)
        }
        ends = {
            variable: add(each.begin, mul(extract(trips_of(self._slices, self._loop), 0, each.begin.width), each.step))
            for variable, each in self._counters.items()
        }
        found = {variable: substitute(value, ends) for variable, value in self._values.items()}
        for carried in registers:
            if carried.variable not in found and carried.variable in beside and beside[carried.variable] is None:
                found |= self._beside_another(carried, found)
        return found | {variable: value for variable, value in beside.items() if value is not None}

    def _step(self, carried: Carried, after: Expr) -> None:
        """Keep a register as a counter, or as a widened counter, if it is one."""
        found = sum_of(after)
        if self._is_counted(carried.variable, found):
            self._count(carried, found, carried.before)
            return
        cut = narrowed(after)
        if isinstance(cut, Extend) and self._is_counted(carried.variable, sum_of(cut.operand)):
            begin = low_bits(carried.before, cut.operand.width)
            if is_same(carried.before, extend(begin, cut.width, signed=cut.signed)):
                self._count(carried, sum_of(cut.operand), begin, signed=cut.signed)

    def _flip(self, carried: Carried, after: Expr) -> None:
        """Keep a register of which each trip flips the same bits, as of the address in a double buffer."""
        bits = 0
        while isinstance(after, Binary) and after.operator is BinaryOperator.XOR and isinstance(after.right, Const):
            after, bits = after.left, bits ^ after.right.value
        if after is not carried.variable or sequence_of(carried) is not None:
            return
        odd = var(f"counter of 1 bit: {carried.variable.name}", 2)
        self._counters[odd] = _Counter(const(0, 1), const(1, 1))
        self._keep(carried, flipped(carried.before, bits, odd), is_fixed=False)

    def _is_counted(self, register: Var, after: Sum) -> bool:
        """Whether a sum is the low bits of a register plus what does not change in the loop."""
        own = extract(register, 0, after.width)
        rest = [each for each in after.terms if each is not own]
        return after.terms.get(own) == 1 and not any(
            varies(self._slices, each, self._loop) for each in variables(*rest)
        )

    def _count(self, carried: Carried, after: Sum, begin: Expr, *, signed: bool = False) -> None:
        register = carried.variable
        step = after.plus(sum_of(extract(register, 0, after.width)), -1).expression()
        counter = var(f"counter of {after.width} bits: {register.name}", 1 << after.width)
        self._counters[counter] = _Counter(begin, step)
        self._keep(carried, extend(counter, register.width, signed=signed), is_fixed=step is const(0, step.width))

    def _follow(self, carried: Carried, after: Expr) -> None:
        """Keep a register that each trip makes of the next values of counters, if it is one."""
        read = variables(after)
        if any(each not in self._values and varies(self._slices, each, self._loop) for each in read):
            return
        last = {each: sub(each, counter.step) for each, counter in self._counters.items()}
        values = {each: substitute(self._values[each], last) for each in read if each in self._values}
        value = narrowed(substitute(after, values))
        first = substitute(value, {each: counter.begin for each, counter in self._counters.items()})
        if is_same(first, carried.before):
            self._keep(carried, value, is_fixed=not any(each in self._counters for each in variables(value)))

    def _keep_distance(self, carried: Carried, after: Expr) -> None:
        """Keep a register that stays as far from one that is known as it begins, if it does."""
        for variable, distance in self._distances(carried, after):
            if variable in self._values:
                self._keep(carried, add(self._values[variable], distance), is_fixed=False)
                return

    def _beside_another(self, carried: Carried, found: dict[Var, Expr]) -> dict[Var, Expr]:
        """The form of a register that stays as far from one without a form as it begins; none if it does not."""
        for variable, distance in self._distances(carried, _expanded(carried.after, self._known)):
            if variable not in found:
                return {carried.variable: add(variable, distance)}
        return {}

    def _distances(self, carried: Carried, after: Expr) -> Iterator[tuple[Var, Const]]:
        """The registers of the loop that the next value of a register reads, and from which it keeps its distance."""
        for variable in variables(after):
            other = self._slices.carried.get(variable)
            if other is None or other.loop.header != self._loop.header or other is carried:
                continue
            of_other = variable, other.before, _expanded(other.after, self._known)
            distance = kept_distance((carried.variable, carried.before, after), of_other)
            if distance is not None:
                yield variable, distance

    def _beside(self, carried: Carried, after: Expr) -> Expr | None:
        """A register as what it begins with plus something without coordinates; None if it is not.

        That is a register of its own, which no instruction writes: 0 at first, and `after` less
        what the register began with next, in multiples of a power of two. Of a register that lanes
        share, only such multiples say more than the register itself, and only where trips add.
        """
        width, begin = carried.variable.width, sum_of(carried.before)
        of_lanes = self._reads_lanes(carried.before)
        for bits in range(min(MOST_BITS, width - 1), -1 if of_lanes else 0, -1):
            made = var(f"multiples of {1 << bits} beside {carried.variable.name}", 1 << (width - bits))
            beside = shift_left(widened(made, width), const(bits, width))
            whole = sum_of(substitute(after, {carried.variable: add(carried.before, beside)}))
            rest = self._without_lanes(whole.plus(begin, -1))
            if rest is None:
                return None
            if power_of(rest, 1 << bits) < 1 << bits:
                continue
            if not of_lanes and not _adds(rest, made, 1 << bits):
                return None
            line = self._slices.line_of(self._loop.header)
            reason = "each trip of a loop changes it, not always by the same"
            self._slices.leaves.add(CarriedLeaf(made, reason, line, self._loop.header))
            next_one = extract(rest, bits, width - bits)
            self._slices.carried[made] = Carried(made, self._loop, const(0, made.width), next_one)
            return add(carried.before, beside)
        return None

    def _without_lanes(self, whole: Sum, depth: int = 0) -> Expr | None:
        """A sum whose coordinates cancel, in each case if it is a choice; None if they do not."""
        terms = [term for term in whole.terms if self._reads_lanes(term)]
        if not terms:
            return whole.expression()
        choice = next((term for term in terms if isinstance(term, Ite) and whole.terms[term] == 1), None)
        if choice is None or depth == MOST_CHOICES or self._reads_lanes(choice.condition):
            return None
        rest = whole.plus(sum_of(choice), -1)
        then = self._without_lanes(rest.plus(sum_of(choice.then)), depth + 1)
        otherwise = None if then is None else self._without_lanes(rest.plus(sum_of(choice.otherwise)), depth + 1)
        return None if then is None or otherwise is None else ite(choice.condition, then, otherwise)

    def _reads_lanes(self, value: Expr) -> bool:
        leaves = self._slices.leaves.by_name  # what is only tried is no leaf yet
        return any(each.name in leaves and isinstance(leaves[each.name], LaneLeaf) for each in variables(value))

    def _keep(self, carried: Carried, value: Expr, *, is_fixed: bool) -> None:
        self._values[carried.variable] = value
        if is_fixed:
            self._known[carried.variable] = carried.before


def _adds(value: Expr, register: Var, multiple: int, known: dict[Expr, bool] | None = None) -> bool:
    """Whether a value is a multiple of a register plus something, or something else, in each case."""
    known = {} if known is None else known
    if value not in known:
        known[value] = all(
            register not in variables(term)
            or (count == multiple and register in (term, *operands(term)) and isinstance(term, Var | Extend))
            or (
                isinstance(term, Ite)
                and count == 1
                and register not in variables(term.condition)
                and _adds(term.then, register, multiple, known)
                and _adds(term.otherwise, register, multiple, known)
            )
            for term, count in sum_of(value).terms.items()
        )
    return known[value]


def _expanded(value: Expr, forms: dict[Var, Expr]) -> Expr:
    while wanted := {each: forms[each] for each in variables(value) if each in forms}:
        value = substitute(value, wanted)
    return value


def varies(slices: Slices, variable: Var, loop: Loop) -> bool:
    """Whether a leaf may be another one in the next trip of a loop."""
    leaf = slices.leaves[variable]
    return isinstance(leaf, LoopLeaf | OpaqueLeaf) and leaf.block in loop.blocks


def trips_of(slices: Slices, loop: Loop) -> Var:
    """How often a loop has gone back to its header: the leaf, of 64 bits."""
    line = slices.line_of(loop.header)
    made = var(f"trips of the loop at {line}.{loop.header}", 1 << 64)
    reason = "how often the loop has gone back to its begin"
    return slices.leaves.add(TripsLeaf(made, reason, line, loop.header))
