"""The values that registers of nested loops can take, as finite sets that have all of them.

A pipeline's stage goes through inner and outer loops: `stage == 3 ? 0 : stage + 1` in the inner one, and
the outer one takes over what the inner one left. The states of a loop are the values that its registers
have together at the start of a trip. They are the least sets such that

- the values before the loop are a state of it, for all states of the loops whose registers these read;
- what a trip makes of a state is a state, for all states of the other loops whose registers it reads.

A comparison that no state decides may hold or not: but within one state it is one bit wherever it
stands. So the sets have every value that a thread has, by induction on its steps. They may have more: a
proof may rest on them, a finding may not.

Source: Cousot and Cousot, "Abstract Interpretation" (1977).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Final, TypeAlias

from swzverify.compiled.kernel.counts import Counts
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.leaves import CarriedLeaf, Leaf
from swzverify.compiled.kernel.remainders import with_remainders
from swzverify.compiled.kernel.sequences import MOST_VALUES, sequence_of
from swzverify.compiled.kernel.slices import Carried, Slices
from swzverify.compiled.kernel.tables import table
from swzverify.compiled.kernel.uniform import Uniformity, UniformityOfTrips
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extract,
    Ite,
    Var,
    const,
    operands,
    postorder,
    rebuilt,
    substitute,
    var,
    variables,
)

State: TypeAlias = tuple[int, ...]
_OF_STATES: Final = "which state a loop is in"
_MOST_REGISTERS: Final = 16
_MOST_CASES: Final = 500
"""Cases of undecided comparisons that are looked at for one state."""


def is_state(leaf: Leaf) -> bool:
    """Whether a leaf is the place of a state.

    Threads in one trip of the loop may be in different states; if it is `uniform`, those of one warp group are not.
    """
    return leaf.reason == _OF_STATES


class TooManyError(Exception):
    """The registers have many values, or nobody knows which."""


class Reachable:
    """Finds the states of the loops of one function.

    `forms` are its registers that step; `choices` has what decides each choice, by its block. The states of registers
    that are `read` together are those of all of them.
    """

    def __init__(
        self, slices: Slices, forms: Forms, choices: Mapping[int, tuple[Expr, ...]], read: Sequence[Var] = ()
    ) -> None:
        self._slices, self._forms, self._choices = slices, forms, choices
        self._together = [each for each in read if each in slices.carried and not sequence_of(slices.carried[each])]
        self._known: dict[frozenset[Var], dict[int, tuple[tuple[Var, ...], list[State]]] | None] = {}
        self._in_launches: Uniformity | None = None
        self.registers: dict[Var, tuple[Var, ...]] = {}
        """The registers whose values a state says, by the leaf that is its place."""

    def values(self, read: Iterable[Var]) -> tuple[dict[Var, Expr], list[Leaf]]:
        """Registers of loops as functions of a state, for those that have few values.

        Returns:
            The registers with their values, and the new leaves that these values read: for each loop
            the place of the state among all states. A leaf's `values` are these places.
        """
        wanted = [each for each in read if each in self._slices.carried]
        if not set(wanted).isdisjoint(self._together):
            wanted = [*dict.fromkeys((*self._together, *wanted))]
        found: dict[Var, Expr] = {}
        made: list[Leaf] = []
        # Registers that change together have fewer values together than alone.
        groups = [wanted] if len(wanted) < 2 or self._solved(wanted) is not None else [[each] for each in wanted]
        for group in groups:
            for header, (registers, states) in (self._solved(group) or {}).items():
                read_here = [each for each in group if each in registers]
                if not read_here:
                    continue
                of_each = {each: registers.index(each) for each in read_here}
                rows = sorted({tuple(state[at] for at in of_each.values()) for state in states})
                place: Expr = const(0, 1)
                if len(rows) > 1:
                    leaf = self._place(header, read_here, len(rows))
                    place = leaf.variable
                    made.append(leaf)
                for at, each in enumerate(read_here):
                    found[each] = table(place, [row[at] for row in rows], each.width)
        return found, made

    @cached_property
    def in_groups(self) -> Uniformity:
        """Which registers have one value in each warp group."""
        return self._in_groups(())

    def in_launches(self, divisions: Collection[Var]) -> Uniformity:
        """The same, in launches in which some divisions have a result: their leaves are the value of no thread."""
        if self._in_launches is None:
            self._in_launches = self._in_groups(divisions)
        return self._in_launches

    @cached_property
    def in_block(self) -> Uniformity | None:
        """Which registers have one value in all threads of the block that are in the same trips of all loops around.

        What depends on more than launch values and trips, such as what memory holds, is no such value. Where all
        blocks of a cluster are one block, it is assumed that they make the same trips of their loops.
        """
        if self._slices.threads is None:
            return None
        ranks, count = prod(self._slices.arguments.cluster or ()), len(self._slices.threads.first_of_warp)
        return self._of_trips(count, self._of_trips(count // ranks).loops if ranks > 1 else ())

    def _of_trips(self, size: int, taken: Collection[int] = ()) -> Uniformity:
        """Which registers have one value in each group of so many threads that are in the same trips."""
        slices = self._slices
        threads = None if slices.threads is None else slices.threads.in_groups(size)
        counts = Counts(slices.flow, slices.leaves, self._choices, threads)
        return UniformityOfTrips(
            slices.flow, slices.leaves, slices.carried, self._choices, threads, counts, taken=taken
        )

    def is_of_block(self, variable: Var) -> bool:
        """Whether all threads of the block have one value of a register, of a state or of a number of trips."""
        if self.in_block is None:
            return False
        return all(map(self.in_block.leaf, self.registers.get(variable, (variable,))))

    def _in_groups(self, never_read: Collection[Var]) -> Uniformity:
        slices = self._slices
        threads = None if slices.threads is None else slices.threads.in_groups()
        counts = Counts(slices.flow, slices.leaves, self._choices, threads)
        return Uniformity(slices.flow, slices.leaves, slices.carried, self._choices, threads, counts, never_read)

    def _place(self, header: int, registers: Sequence[Var], count: int) -> Leaf:
        line = self._slices.line_of(header)
        names = ", ".join(each.name for each in registers)
        is_one = all(map(self.in_groups.leaf, registers))
        made = var(f"state among {count} of {names}", count)
        leaf = CarriedLeaf(made, _OF_STATES, line, header, values=tuple(range(count)), uniform=is_one)
        self._slices.leaves.add(leaf)
        self.registers[made] = tuple(registers)
        return leaf

    def _solved(self, wanted: Sequence[Var]) -> dict[int, tuple[tuple[Var, ...], list[State]]] | None:
        """The states of each loop on which some registers depend; None if they are not few.

        Registers that only decide between values are followed where this is needed, if they have few values.
        """
        key = frozenset(wanted)
        if key not in self._known:
            self._known[key] = None  # for registers that decide about each other
            found, deciding = self._tried(wanted)
            if found is None and (few := [each for each in deciding if self._solved([each]) is not None]):
                found, _ = self._tried([*wanted, *few])
            self._known[key] = self._tried(wanted, is_cut=True)[0] if found is None else found
        return self._known[key]

    def _tried(
        self, wanted: Sequence[Var], *, is_cut: bool = False
    ) -> tuple[dict[int, tuple[tuple[Var, ...], list[State]]] | None, list[Var]]:
        """The states, and other registers that decide between the values of these.

        If it `is_cut`, remainders may be any numbers below their divisors.
        """
        carried = self._closure(wanted, is_cut=is_cut)
        own = {each.variable for each in carried}
        read = variables(*(value for each in carried for value in (each.before, each.after)))
        deciding = [each for each in read if each in self._slices.carried and each not in own]
        try:
            return (_States(carried).solved() if 0 < len(carried) <= _MOST_REGISTERS else None), deciding
        except TooManyError:
            return None, deciding

    def _closure(self, wanted: Sequence[Var], *, is_cut: bool) -> list[Carried]:
        """The registers from which the values of some registers are made.

        Registers that only decide between values are not among them, and if it `is_cut`, parts of remainders.
        """
        found: dict[Var, Carried] = {}
        pending = list(wanted)
        while pending:
            each = pending.pop()
            if each in found:
                continue
            raw = self._slices.carried[each]
            before, after = (with_remainders(self._forms.resolve(value)) for value in (raw.before, raw.after))
            found[each] = Carried(each, raw.loop, before, after)
            parts = _made_of(before, after, is_cut=is_cut)
            pending += [node for node in parts if isinstance(node, Var) and node in self._slices.carried]
        return list(found.values())


class _States:
    """The least sets of states for some registers, by iteration until nothing is new."""

    def __init__(self, carried: Sequence[Carried]) -> None:
        self._of: dict[int, list[Carried]] = {}
        for each in carried:
            self._of.setdefault(each.loop.header, []).append(each)
        self._registers = {header: tuple(each.variable for each in of) for header, of in self._of.items()}
        self._loop_of = {each.variable: each.loop.header for each in carried}
        self._states: dict[int, dict[State, None]] = {header: {} for header in self._of}
        self._done: set[tuple[int, bool, tuple[State, ...]]] = set()

    def solved(self) -> dict[int, tuple[tuple[Var, ...], list[State]]]:
        """The states of each loop.

        Raises:
            TooManyError: There are many, or values that are not known.
        """
        changed = True
        while changed:
            changed = False
            for header, of in self._of.items():
                roots = {False: tuple(each.before for each in of), True: tuple(each.after for each in of)}
                for is_after, values in roots.items():
                    # What a trip makes of a state is asked for each state of its own loop.
                    changed |= self._step(header, values, is_after=is_after)
        if not all(self._states.values()):
            raise TooManyError
        return {header: (self._registers[header], list(states)) for header, states in self._states.items()}

    def _step(self, header: int, values: tuple[Expr, ...], *, is_after: bool) -> bool:
        """Add the states that some values give; whether one is new."""
        own, count = self._states[header], len(self._states[header])
        headers = {self._loop_of[each] for each in variables(*values) if each in self._loop_of}
        if is_after:
            headers.add(header)
        read = sorted(headers)
        for states in product(*(list(self._states[each]) for each in read)):
            key = header, is_after, states
            if key in self._done:
                continue
            self._done.add(key)
            known: dict[Var, Expr] = {
                variable: const(number, variable.width)
                for each, state in zip(read, states, strict=True)
                for variable, number in zip(self._registers[each], state, strict=True)
            }
            for state in cases(tuple(substitute(each, known) for each in values), _MOST_CASES):
                own[state] = None
                if len(own) > MOST_VALUES:
                    raise TooManyError
        return len(own) > count


def cases(values: tuple[Expr, ...], most: int) -> Iterator[State]:
    """What some values can be together, whatever comparisons and remainders are that nothing decides.

    Raises:
        TooManyError: More than so many cases are looked at, or a value is no number in one of them.

    >>> from swzverify.ir.expr import extend, ite
    >>> p = var("p", 2)
    >>> sorted(cases((ite(p, const(1, 8), const(2, 8)), extend(p, 8, signed=False)), 9))
    [(1, 1), (2, 0)]
    """
    pending = [values]
    while pending:
        some = pending.pop()
        most -= 1
        numbers = [each.value for each in some if isinstance(each, Const)]
        if len(numbers) == len(some):
            yield tuple(numbers)
            continue
        part = _undecided(some)
        if part is None or most < 0:
            raise TooManyError
        pending += [tuple(_decided(each, part, number) for each in some) for number in numbers_of(part)]


def _made_of(*values: Expr, is_cut: bool = False) -> list[Expr]:
    """The parts of some values, without what only chooses between parts; if it `is_cut`, not those of remainders."""

    def after(node: Expr) -> tuple[Expr, ...]:
        if is_cut and _has_few(node):
            return ()
        return (node.then, node.otherwise) if isinstance(node, Ite) else operands(node)

    return list(closure(values, after))


def _undecided(values: Sequence[Expr]) -> Expr | None:
    """What decides between parts of some values, the outermost choice first; None if nothing with few values does.

    A remainder of which a choice and the values are made comes before the choice: it is one number in both.
    """
    parts = postorder(*values)
    choice = next((node.condition for node in reversed(parts) if isinstance(node, Ite)), None)
    if choice is None:
        return next(filter(_is_whole, parts), None) or next(filter(_has_few, reversed(parts)), None)
    inside = postorder(choice)
    if rests := list(filter(_has_few, reversed(inside))):
        beside = set(_made_of(*values))
        rests = [each for each in rests if each in beside]
    return next(iter(rests), None) or next(filter(_is_whole, inside), None)


def _is_whole(node: Expr) -> bool:
    """Whether a node is a bit that is not made of other bits."""
    return node.width == 1 and not isinstance(node, Const) and all(each.width > 1 for each in operands(node))


def _has_few(node: Expr) -> bool:
    return bool(numbers_of(node))


def numbers_of(node: Expr) -> Iterable[int]:
    """The numbers that a bit or a remainder can be; none for other nodes, and where they are many."""
    match node:
        case Binary(BinaryOperator.UREM, _, Const(divisor)) if 0 < divisor <= MOST_VALUES:
            return range(divisor)
        case Binary(BinaryOperator.AND, _, Const(mask)) if mask < MOST_VALUES and mask & (mask + 1) == 0:
            return range(mask + 1)
        case Extract() if 1 < node.width <= MOST_VALUES.bit_length() - 1:
            return range(1 << node.width)
        case _:
            return range(2) if _is_whole(node) else ()


def _decided(value: Expr, part: Expr, number: int) -> Expr:
    """A value where a part of it has a number."""
    new: dict[Expr, Expr] = {}
    for node in postorder(value):
        new[node] = const(number, part.width) if node is part else rebuilt(node, new)
    return new[value]
