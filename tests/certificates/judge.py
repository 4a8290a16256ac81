"""What the tests of certificates have in common: a solver's answer to a statement, and random
programs.
"""

from __future__ import annotations

import random

import pytest

from swzrecheck.encode import parts
from swzrecheck.meaning import BINARY, COMPARISONS
from swzrecheck.program import Operation, Program
from swzrecheck.smtlib import script
from swzrecheck.solvers import SolverAnswer, ask
from swzrecheck.statement import Statement
from swzverify.engines.obligations import Obligation
from tests.certificates.export import state


def holds(goal: Obligation | Statement, solver: str = "bitwuzla") -> bool:
    """Whether every question of a statement is answered `unsat`; nothing but a clear answer counts."""
    pytest.importorskip(solver)
    statement = goal if hasattr(goal, "program") else state(goal)
    answers = {ask(solver, script(part), 60) for part in parts(statement)}
    assert SolverAnswer.UNKNOWN not in answers
    return answers == {SolverAnswer.UNSAT}


def random_program(rng: random.Random, length: int = 14, widest: int = 7) -> Program:
    """Any operations on any earlier results: widths are brought together by extension and
    extraction.
    """
    lines: list[Operation] = []
    for index in range(rng.randint(1, 3)):
        width = rng.randint(1, 4)
        lines.append(Operation("var", width, number=rng.randint(1, 1 << width), name=f"v{index}"))

    def fitted(place: int, width: int) -> int:
        has = lines[place].width
        if has < width:
            lines.append(Operation(rng.choice(["zero_extend", "sign_extend"]), width, (place,)))
        elif has > width:
            lines.append(Operation("extract", width, (place,), rng.randint(0, has - width)))
        else:
            return place
        return len(lines) - 1

    while len(lines) < length:
        kind = rng.randrange(10)
        width = rng.randint(1, widest)
        if kind == 0:
            lines.append(Operation("const", width, number=rng.randrange(1 << width)))
            continue
        a, b = (fitted(rng.randrange(len(lines)), width) for _ in range(2))
        if kind == 1:
            condition = fitted(rng.randrange(len(lines)), 1)
            lines.append(Operation("ite", width, (condition, a, b)))
        elif kind in (2, 3):
            lines.append(Operation(rng.choice(sorted(COMPARISONS)), 1, (a, b)))
        else:
            if rng.random() < 0.5:
                lines.append(
                    Operation("const", width, number=rng.choice([0, 1, 2, 3, (1 << width) - 1]) % (1 << width))
                )
                b = len(lines) - 1
            lines.append(Operation(rng.choice(sorted(BINARY)), width, (a, b)))
    return tuple(lines)


def box(program: Program) -> list[tuple[int, int]]:
    """The variables with all their values."""
    return [(place, line.number) for place, line in enumerate(program) if line.operator == "var"]


def all_points(program: Program) -> list[dict[str, int]]:
    """Every point, the last variable fastest."""
    found: list[dict[str, int]] = [{}]
    for place, count in box(program):
        found = [{**point, program[place].name: value} for point in found for value in range(count)]
    return found
