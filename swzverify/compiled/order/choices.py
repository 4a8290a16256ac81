"""Conditions that have one value for a thread for some time, and choose what it does to barriers.

A condition on launch values and coordinates never changes. One that reads what an instruction gave to a register holds
until the thread comes to the block of this instruction again. One that reads the trips of a loop, or a register that it
carries, holds until the thread comes to the header again.

Source: docs/semantics.md, section 11, "Conditions that hold for a time".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from swzverify.compiled.kernel.leaves import CarriedLeaf, LoopLeaf, OpaqueLeaf, is_launch_value
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.booleans import BOOLEAN, boolean_parts
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Ite,
    Var,
    conjunction,
    conjuncts,
    negation,
    operands,
    postorder,
    rebuilt,
    substitute,
    var,
    variables,
)

_MOST_ASKED: Final = 400
"""Sets of choices of which it is asked whether they can be at one time."""


class OpenError(Exception):
    """A value depends on a choice that no path has decided yet."""

    def __init__(self, choice: Var) -> None:
        super().__init__(choice.name)
        self.choice = choice


class Choices:
    """The conditions that choose among parts of some values, and read what no run follows, each with a variable.

    `followed` are leaves that runs follow though loops do not make them: answers of waits, and words. `counted` puts
    the count of the launch into a value, which is followed, too. `never` says whether a condition is shown not to hold.
    """

    def __init__(
        self,
        kernel: Kernel,
        values: Iterable[Expr],
        followed: Collection[Var],
        counted: Callable[[Expr], Expr],
        never: Callable[[Expr], bool],
    ) -> None:
        self._never = never
        self.conditions = _conditions(values, _Open(kernel, followed, counted))
        self._variables = {choice: condition for condition, choice in self.conditions.items()}
        self._ends = _ends(kernel, self.conditions)
        self._put: dict[Expr, Expr] = {}
        self._possible: dict[frozenset[tuple[Var, Expr]], bool] = {}

    def __contains__(self, variable: Var) -> bool:
        return variable in self._variables

    @property
    def variables(self) -> Collection[Var]:
        """What stands for the conditions."""
        return self._variables

    def put(self, value: Expr) -> Expr:
        """A value with a variable for each condition."""
        if value not in self._put:
            new: dict[Expr, Expr] = dict(self.conditions)
            for node in postorder(value) if self.conditions else ():
                if node not in new:
                    new[node] = rebuilt(node, new)
            self._put[value] = new.get(value, value)
        return self._put[value]

    def put_back(self, value: Expr) -> Expr:
        """A value with the conditions again."""
        return substitute(value, self._variables)

    def ended(self, block: int) -> Collection[Var]:
        """The choices that may have another value from the begin of a block on."""
        return self._ends.get(block, ())

    def decided(self, condition: Expr) -> dict[Var, Expr]:
        """The choices that a condition decides, where it holds."""
        found: dict[Var, Expr] = {}
        for each in conjuncts(condition):
            match each:
                case Var() if each in self:
                    found[each] = TRUE
                case Binary(BinaryOperator.XOR, Var() as variable, Const(1)) if variable in self:
                    found[variable] = FALSE
                case _:
                    pass
        return found

    def check_decided(self, *values: Expr) -> None:
        """Ask for a choice that some values depend on.

        Raises:
            OpenError: There is one.
        """
        if (choice := next((each for each in variables(*values) if each in self), None)) is not None:
            raise OpenError(choice)

    def can_hold(self, values: Iterable[tuple[Var, Expr]]) -> bool:
        """Whether what is known of choices can hold at one time, as far as that is asked."""
        known = frozenset((each, value) for each, value in values if each in self)
        if known not in self._possible:
            parts = [
                self._variables[each] if value is TRUE else negation(self._variables[each])
                for each, value in sorted(known, key=lambda item: item[0].name)
            ]
            is_asked = len(parts) > 1 and len(self._possible) < _MOST_ASKED
            self._possible[known] = not (is_asked and self._never(conjunction(parts)))
        return self._possible[known]


def _conditions(values: Iterable[Expr], is_open: _Open) -> dict[Expr, Var]:
    found: dict[Expr, Var] = {}
    pending, seen = [*values], set[Expr]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if not isinstance(node, Ite):
            pending += operands(node)
            continue
        pending += [node.then, node.otherwise]
        for atom in boolean_parts(node.condition):
            if is_open.condition(atom):
                # What it reads is not needed any more.
                found.setdefault(atom, var(f"choice {len(found)}", 2))
            elif not _is_joined(atom):
                pending.append(atom)
    return found


def _ends(kernel: Kernel, conditions: Mapping[Expr, Var]) -> dict[int, set[Var]]:
    """The choices that may have another value from the begin of a block on, by blocks."""
    found: dict[int, set[Var]] = {}
    for condition, choice in conditions.items():
        for leaf in kernel.leaves.of(condition):
            if isinstance(leaf, OpaqueLeaf | LoopLeaf) and leaf.block is not None:
                found.setdefault(leaf.block, set()).add(choice)
    return found


class _Open:
    """Whether conditions and registers read what is not known: values of the launch, and what instructions gave."""

    def __init__(self, kernel: Kernel, followed: Collection[Var], counted: Callable[[Expr], Expr]) -> None:
        self._kernel, self._followed, self._counted = kernel, followed, counted
        self._registers: dict[Var, bool] = {}

    def condition(self, atom: Expr) -> bool:
        """Whether a condition has one value for some time, is not made of others, and reads what no run follows."""
        if _is_joined(atom):
            return False
        read = variables(atom)
        if any(each.name not in self._kernel.leaves.by_name or each in self._followed for each in read):
            return False
        leaves = self._kernel.leaves.of(atom)
        if any(isinstance(each, OpaqueLeaf) and each.block is None for each in leaves):
            return False
        return self._value(atom)

    def _register(self, variable: Var) -> bool:
        """Whether what a loop carries is made of what is not known, conditions left out."""
        if variable not in self._registers:
            self._registers[variable] = False
            carry = self._kernel.carried.get(variable)
            self._registers[variable] = carry is None or any(
                self._value(self._counted(each)) for each in (carry.before, carry.after)
            )
        return self._registers[variable]

    def _value(self, value: Expr) -> bool:
        pending, seen = [value], set[Expr]()
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            match node:
                case Var() if node in self._followed or node.name not in self._kernel.leaves.by_name:
                    pass
                case Var():
                    leaf = self._kernel.leaves[node]
                    if is_launch_value(leaf) or isinstance(leaf, OpaqueLeaf):
                        return True
                    if isinstance(leaf, CarriedLeaf) and self._register(node):
                        return True
                case Ite(condition, then, otherwise):
                    atoms = (each for each in boolean_parts(condition) if not _is_joined(each))
                    pending += [then, otherwise, *(each for each in atoms if not self.condition(each))]
                case _:
                    pending += operands(node)
        return False


def _is_joined(atom: Expr) -> bool:
    """Whether a condition is made of others."""
    return isinstance(atom, Ite) or (isinstance(atom, Binary) and atom.width == 1 and atom.operator in BOOLEAN)
