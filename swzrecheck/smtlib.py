"""A question as an SMT-LIB 2 script that any solver of QF_BV can judge; `unsat` is what proves.

Plain and deterministic: every variable and every line gets a declaration of its own under a short
name, no operator has an unusual number of operands, comparisons are spelt as one bit.

Source: SMT-LIB 2.6 reference manual, sections 3.6, 3.7 and 3.9; logic QF_BV.
"""

from __future__ import annotations

import json

from swzrecheck.encode import Part
from swzrecheck.meaning import COMPARISONS
from swzrecheck.program import Operation, Program


def script(part: Part) -> str:
    """The script of one question.

    >>> x = Operation("var", 3, number=7, name="x")
    >>> question = Part("x is 6", (x, Operation("const", 3, number=6), Operation("=", 1, (0, 1))))
    >>> print(script(question), end="")
    ; unsat unless x is 6
    (set-info :smt-lib-version 2.6)
    (set-logic QF_BV)
    ; v0 is "x", below 7
    (declare-const v0 (_ BitVec 3))
    (assert (bvult v0 (_ bv7 3)))
    (define-fun n2 () (_ BitVec 1) (ite (= v0 (_ bv6 3)) #b1 #b0))
    (assert (= n2 #b1))
    (check-sat)
    (exit)
    """
    program = part.program
    # No (set-info :status unsat): cvc5 then answers `sat` with an error.
    lines = [f"; unsat unless {part.name}", "(set-info :smt-lib-version 2.6)", "(set-logic QF_BV)"]
    for place, line in enumerate(program):
        if line.operator == "var":
            lines += _declaration(place, line)
    for place, line in enumerate(program):
        if line.operator not in ("var", "const"):
            lines.append(f"(define-fun n{place} () (_ BitVec {line.width}) {_term(program, line)})")
    lines += [f"(assert (= {_name(program, len(program) - 1)} #b1))", "(check-sat)", "(exit)"]
    return "\n".join(lines) + "\n"


def _declaration(place: int, line: Operation) -> list[str]:
    """A variable and its limit; a limit of all values needs no assertion."""
    found = [
        f"; v{place} is {json.dumps(line.name)}, below {line.number}",
        f"(declare-const v{place} (_ BitVec {line.width}))",
    ]
    if line.number < 1 << line.width:
        found.append(f"(assert (bvult v{place} (_ bv{line.number} {line.width})))")
    return found


def _name(program: Program, place: int) -> str:
    line = program[place]
    if line.operator == "var":
        return f"v{place}"
    return f"(_ bv{line.number} {line.width})" if line.operator == "const" else f"n{place}"


def _term(program: Program, line: Operation) -> str:
    names = [_name(program, place) for place in line.operands]
    if line.operator in COMPARISONS:
        return f"(ite ({line.operator} {names[0]} {names[1]}) #b1 #b0)"
    if line.operator == "extract":
        return f"((_ extract {line.number + line.width - 1} {line.number}) {names[0]})"
    if line.operator in ("zero_extend", "sign_extend"):
        return f"((_ {line.operator} {line.width - program[line.operands[0]].width}) {names[0]})"
    if line.operator == "ite":
        return f"(ite (= {names[0]} #b1) {names[1]} {names[2]})"
    return f"({line.operator} {names[0]} {names[1]})"
