"""The circuits against the expression form's operators: as clauses, as bits of many points, as
affine forms.
"""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from swzrecheck.affine import forms, left_inverse, numbering, rank, times
from swzrecheck.cnf import Clauses, clauses_of
from swzrecheck.meaning import BINARY, COMPARISONS
from swzrecheck.program import Operation, Program, evaluate
from swzrecheck.table import table
from swzverify.ir.expr import BinaryOperator, Comparison, apply_binary, apply_comparison
from tests.certificates.judge import all_points, box, random_program
from tests.nightly import counts


class Propagation:
    """Unit propagation, which must settle every variable once the inputs are given."""

    def __init__(self, clauses: Clauses) -> None:
        self.clauses = clauses.clauses
        self.inputs, self.outputs = clauses.inputs, clauses.outputs
        self.watchers: dict[int, list[int]] = defaultdict(list)
        for number, clause in enumerate(self.clauses):
            for literal in clause:
                self.watchers[-literal].append(number)

    def run(self, point: dict[str, int]) -> dict[int, bool] | None:
        """The variables' values; None when the clauses contradict the inputs."""
        pending = [clause[0] for clause in self.clauses if len(clause) == 1]
        for name, literals in self.inputs.items():
            pending += [literal if point[name] >> bit & 1 else -literal for bit, literal in enumerate(literals)]
        values: dict[int, bool] = {}
        while pending:
            literal = pending.pop()
            if values.setdefault(abs(literal), literal > 0) != (literal > 0):
                return None
            for number in self.watchers[literal]:
                clause = self.clauses[number]
                if any(values.get(abs(other)) == (other > 0) for other in clause if abs(other) in values):
                    continue
                open_literals = [other for other in clause if abs(other) not in values]
                if not open_literals:
                    return None
                if len(open_literals) == 1:
                    pending.append(open_literals[0])
        return values

    def output(self, point: dict[str, int]) -> int | None:
        """The last line's value, each of its bits settled."""
        values = self.run(point)
        if values is None:
            return None
        bits = [values[abs(literal)] == (literal > 0) for literal in self.outputs]
        return sum(1 << place for place, bit in enumerate(bits) if bit)


def wanted(operator: str, width: int, a: int, b: int) -> int:
    if operator in BINARY:
        return apply_binary(BinaryOperator(operator), a, b, width)
    return int(apply_comparison(Comparison(operator), a, b, width))


def two(operator: str, width: int) -> Program:
    inputs = tuple(Operation("var", width, number=1 << width, name=name) for name in "ab")
    return (*inputs, Operation(operator, 1 if operator in COMPARISONS else width, (0, 1)))


EVERY_WIDTH = [1, 2, 3, pytest.param(4, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("operator", sorted(BINARY | COMPARISONS))
@pytest.mark.parametrize("width", EVERY_WIDTH)
def test_clauses_on_every_input(operator: str, width: int) -> None:
    found = Propagation(clauses_of(two(operator, width)))
    for a in range(1 << width):
        for b in range(1 << width):
            assert found.output({"a": a, "b": b}) == wanted(operator, width, a, b), (a, b)


@pytest.mark.parametrize("operator", sorted(BINARY | COMPARISONS))
@pytest.mark.parametrize("width", EVERY_WIDTH)
def test_clauses_with_a_constant_on_either_side(operator: str, width: int) -> None:
    """Constants make other, smaller circuits."""
    result = 1 if operator in COMPARISONS else width
    x = Operation("var", width, number=1 << width, name="x")
    for value in range(1 << width):
        constant = Operation("const", width, number=value)
        right = Propagation(clauses_of((x, constant, Operation(operator, result, (0, 1)))))
        left = Propagation(clauses_of((x, constant, Operation(operator, result, (1, 0)))))
        for other in range(1 << width):
            assert right.output({"x": other}) == wanted(operator, width, other, value), (other, value)
            assert left.output({"x": other}) == wanted(operator, width, value, other), (value, other)


@pytest.mark.parametrize("operator", sorted(BINARY | COMPARISONS))
@pytest.mark.parametrize("width", [5, 8, 13, 32])
@pytest.mark.parametrize("some", counts(4, 24))
def test_clauses_on_edges_of_larger_widths(operator: str, width: int, some: int) -> None:
    found = Propagation(clauses_of(two(operator, width)))
    top = 1 << width
    rng = random.Random(width)
    edges = [0, 1, 2, 3, width - 1, width, width + 1, top // 2 - 1, top // 2, top - 2, top - 1]
    cases = [(a % top, b % top) for a in edges for b in edges]
    some = some // 4 + 1 if width == 32 else some
    cases = rng.sample(cases, some) + [(rng.randrange(top), rng.randrange(top)) for _ in range(some // 6 + 1)]
    for a, b in cases:
        assert found.output({"a": a, "b": b}) == wanted(operator, width, a, b), (a, b)


def test_limits_of_variables_are_clauses() -> None:
    for limit in range(1, 17):
        found = Propagation(clauses_of((Operation("var", 4, number=limit, name="x"),)))
        for value in range(16):
            assert found.output({"x": value}) == (value if value < limit else None), (limit, value)


def test_clauses_of_whole_programs() -> None:
    for seed in range(60):
        program = random_program(random.Random(seed))
        found = Propagation(clauses_of(program))
        for point in all_points(program):
            assert found.output(point) == evaluate(program, point)[-1], (seed, point)


def test_dimacs_declares_what_it_uses() -> None:
    for seed in range(40):
        program = (*random_program(random.Random(seed)), Operation("extract", 1, (13,), 0))
        head, *rows = clauses_of(program).dimacs().splitlines()
        _, form, variables, clauses = head.split()
        literals = [[int(word) for word in row.split()] for row in rows]
        assert form == "cnf"
        assert len(rows) == int(clauses)
        assert all(row[-1] == 0 and 0 not in row[:-1] and len(row) > 1 for row in literals)
        assert {abs(literal) for row in literals for literal in row[:-1]} <= set(range(1, int(variables) + 1))


def test_tables_have_the_values_of_every_point() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        program = random_program(rng)
        roots = rng.sample(range(len(program)), 3)
        found = table(program, roots, box(program))
        values = [evaluate(program, point) for point in all_points(program)]
        for index, root in enumerate(roots):
            assert found.numbers(index) == [row[root] for row in values], (seed, root)
        first = [row[roots[0]] & 1 == 1 for row in values]
        assert found.flags(found.words[0][0]) == first


def test_tables_of_part_of_the_values() -> None:
    x, y = Operation("var", 3, number=7, name="x"), Operation("var", 2, number=4, name="y")
    program = (x, y, Operation("zero_extend", 3, (1,)), Operation("bvmul", 3, (0, 2)))
    assert table(program, [3], [(1, 3), (0, 2)]).numbers(0) == [0, 0, 0, 1, 0, 2]
    # A variable that is not named has the value 0.
    assert table(program, [3, 0], [(0, 5)]).numbers(1) == [0, 1, 2, 3, 4]


def test_tables_refuse_more_points_than_they_can_hold() -> None:
    with pytest.raises(ValueError, match="points are more than"):
        table((Operation("var", 22, number=1 << 22, name="x"),), [0], [(0, 1 << 22)])


def test_affine_forms_hold_at_every_point() -> None:
    """Where a bit is said to be affine it has the form's value; and linear programs are seen to be
    affine.
    """
    seen = 0
    for seed in range(300):
        rng = random.Random(seed)
        program = random_program(rng)
        variables = [place for place, _ in box(program)]
        first = numbering(program, variables)
        rows = forms(program, variables, range(len(program)))
        for point in all_points(program):
            bits = sum(point[program[place].name] << (first[place] + 1) for place in variables) | 1
            for line, row in zip(evaluate(program, point), rows, strict=True):
                for place, form in enumerate(row):
                    if form is not None:
                        seen += 1
                        assert (form & bits).bit_count() % 2 == line >> place & 1, (seed, form)
    assert seen > 10_000


def test_left_inverses() -> None:
    found = 0
    for seed in range(400):
        rng = random.Random(seed)
        matrix = [rng.randrange(1 << 7) for _ in range(rng.randint(1, 7))]
        inverse = left_inverse(matrix)
        assert (inverse is not None) == (rank(matrix) == len(matrix)), matrix
        if inverse is not None:
            found += 1
            assert [times(inverse, column) for column in matrix] == [1 << i for i in range(len(matrix))]
    assert 100 < found < 390
