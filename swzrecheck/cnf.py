"""A question as clauses for a SAT solver: Tseitin's variables for the gates of `gates`, as DIMACS.

Source: DIMACS CNF as the SAT competitions read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from swzrecheck.gates import Circuit
from swzrecheck.program import Program

TRUE = 1
"""The literal that is always true: the first variable, which a clause of its own fixes."""


@dataclass(slots=True)
class ClauseGates:
    """Literals as bits. Each new gate gets a variable and clauses; equal gates share one."""

    zero: int = -TRUE
    one: int = TRUE
    variables: int = 1
    clauses: list[tuple[int, ...]] = field(default_factory=lambda: [(TRUE,)])
    _known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def fresh(self) -> int:
        """Return a literal that nothing constrains yet."""
        self.variables += 1
        return self.variables

    def _gate(self, kind: str, inputs: tuple[int, ...]) -> int:
        """The output of a gate; its clauses are the rows of its truth table."""
        key = (kind, *inputs)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.fresh()
            for row in product((False, True), repeat=len(inputs)):
                wrong_inputs = [-literal if bit else literal for literal, bit in zip(inputs, row, strict=True)]
                self.clauses.append((*wrong_inputs, found if _truth(kind, row) else -found))
        return found

    def xor(self, a: int, b: int) -> int:
        """Negations move out of the gate, so that all spellings of a gate share it."""
        if abs(a) == TRUE or abs(b) == TRUE:
            constant, other = (a, b) if abs(a) == TRUE else (b, a)
            return -other if constant == TRUE else other
        if abs(a) == abs(b):
            return self.zero if a == b else self.one
        found = self._gate("xor", tuple(sorted((abs(a), abs(b)))))
        return found if (a > 0) == (b > 0) else -found

    def conj(self, a: int, b: int) -> int:
        """Return a literal that is true where both are."""
        if -TRUE in (a, b) or a == -b:
            return self.zero
        if a in (TRUE, b):
            return b
        if b == TRUE:
            return a
        return self._gate("and", tuple(sorted((a, b))))

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """A choice; constants make a simpler gate of it."""
        if then == otherwise or condition == TRUE:
            return then
        if condition == -TRUE:
            return otherwise
        if then == -otherwise:
            return self.xor(condition, otherwise)
        if then in (TRUE, condition):
            return -self.conj(-condition, -otherwise)
        if then in (-TRUE, -condition):
            return self.conj(-condition, otherwise)
        if otherwise in (TRUE, -condition):
            return -self.conj(condition, -then)
        if otherwise in (-TRUE, condition):
            return self.conj(condition, then)
        return self._gate("choose", (condition, then, otherwise))

    def majority(self, a: int, b: int, c: int) -> int:
        """Two of three; a constant or a repeated input makes a simpler gate of it."""
        for x, y, z in ((a, b, c), (b, c, a), (c, a, b)):
            if x == y:
                return x
            if x == -y:
                return z
            if x == TRUE:
                return -self.conj(-y, -z)
            if x == -TRUE:
                return self.conj(y, z)
        return self._gate("majority", tuple(sorted((a, b, c))))


def _truth(kind: str, inputs: tuple[bool, ...]) -> bool:
    """The truth tables of the gates."""
    if kind == "xor":
        return inputs[0] != inputs[1]
    if kind == "and":
        return all(inputs)
    if kind == "choose":
        return inputs[1] if inputs[0] else inputs[2]
    return sum(inputs) >= 2


@dataclass(frozen=True, slots=True)
class Clauses:
    """A program's clauses, the literals of its variables by name, and those of its last line."""

    variables: int
    clauses: tuple[tuple[int, ...], ...]
    inputs: dict[str, list[int]]
    outputs: list[int]

    def dimacs(self) -> str:
        """The text, with one more clause: the last line, which has one bit, is 1."""
        rows = [*self.clauses, (self.outputs[0],)]
        head = f"p cnf {self.variables} {len(rows)}\n"
        return head + "".join(" ".join(map(str, row)) + " 0\n" for row in rows)


def clauses_of(program: Program) -> Clauses:
    """The clauses of a program; variables stay below their limits.

    >>> from swzrecheck.program import Operation
    >>> x = Operation("var", 1, number=2, name="x")
    >>> print(clauses_of((x, Operation("const", 1, number=1), Operation("bvxor", 1, (0, 1)))).dimacs(), end="")
    p cnf 2 2
    1 0
    -2 0
    """
    gates = ClauseGates()
    circuit = Circuit(gates)
    given: dict[int, list[int]] = {}
    for place, line in enumerate(program):
        if line.operator == "var":
            given[place] = [gates.fresh() for _ in range(line.width)]
    for place, word in given.items():
        line = program[place]
        if line.number < 1 << line.width:
            top = [TRUE if line.number - 1 >> bit & 1 else -TRUE for bit in range(line.width)]
            gates.clauses.append((-circuit.less(top, word),))
    words = circuit.run(program, given)
    inputs = {program[place].name: word for place, word in given.items()}
    return Clauses(gates.variables, tuple(gates.clauses), inputs, words[-1])
