"""The text of obligations, and SMT-LIB scripts: one normal form, read without trust, refused with
the line.
"""

from __future__ import annotations

import json
import random
import re

import pytest

from swzrecheck.encode import Part, parts
from swzrecheck.errors import CertificateError
from swzrecheck.program import Operation, evaluate
from swzrecheck.smtlib import script
from swzrecheck.solvers import SolverAnswer, ask
from swzrecheck.statement import read_statement, write_statement
from swzverify.errors import SwzError
from swzverify.ir.expr import var
from tests.certificates.export import state
from tests.certificates.judge import all_points, random_program
from tests.engines import obligations as ob
from tests.engines.obligations import leaf, number

X = var("x", 7)
GOOD = write_statement(state(ob.injective((X,), (), ob.times(leaf(X), 3), 3)))


def test_the_text_is_what_the_page_shows() -> None:
    assert write_statement(state(ob.always((X,), ob.less(leaf(X), number(6))))) == (
        "swzverify obligation 1\n"
        '0 var 3 7 "x"\n'
        "1 const 1 1\n"
        "2 const 3 6\n"
        "3 bvult 1 0 2\n"
        "\n"
        "kind always\n"
        "variables 0\n"
        "assumption 1\n"
        "holds 3\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("swzverify obligation 1", "swzverify obligation 2"),
        ('0 var 3 7 "x"', '0 var 3 9 "x"'),
        ('0 var 3 7 "x"', "0 var 3 7 x"),
        ('0 var 3 7 "x"', "0 var 3 7 7"),
        ('0 var 3 7 "x"', '0 var 3 7 "x\'"'),
        ('0 var 3 7 "x"', '0 var 3 7 "lane i"'),
        ('0 var 3 7 "x"', '0 var 3 7  "x"'),
        ('0 var 3 7 "x"', '0 var 03 7 "x"'),
        ('0 var 3 7 "x"', '1 var 3 7 "x"'),
        ('0 var 3 7 "x"', "0 var 3 7 " + "[" * 100_000),
        ('0 var 3 7 "x"', "0 var"),
        ('0 var 3 7 "x"', "0 bvadd 3 0 0"),
        ('0 var 3 7 "x"', "0 input 3"),
        ('0 var 3 7 "x"', "0 var " + "9" * 5000 + ' 7 "x"'),
        ("kind injective", "kind injection"),
        ("kind injective", "kind always"),
        ("distinct 0", "distinct"),
        ("distinct 0", "distinct 1"),
        ("distinct 0", "distinct 99"),
        ("distinct 0", "distinct 0 0"),
        ("distinct 0", "distinct -1"),
        ("distinct 0", "distinct true"),
        ("distinct 0", "distinct 0.0"),
        ("distinct 0", "different 0"),
        ("assumption 1", "assumption 0"),
        ("extent 3", "extent 0"),
        ("extent 3", "extent 3 3"),
        ("extent 3", 'extent "3"'),
        ("outer", "outer 0 0"),
        ("outer", "outer 0"),
        ("outer", "outer 0 99"),
        ("\n\n", "\n"),
        ("inner ", "inner 9"),
    ],
)
def test_broken_texts_are_refused_with_their_line(old: str, new: str) -> None:
    assert read_statement(GOOD)
    assert old in GOOD
    with pytest.raises(CertificateError, match=r"SWZ605: obligation, line \d+: "):
        read_statement(GOOD.replace(old, new, 1))


def test_texts_that_break_off_are_refused() -> None:
    for end in range(len(GOOD)):
        with pytest.raises(CertificateError, match="SWZ605"):
            read_statement(GOOD[:end])


def test_any_edit_of_a_character_is_refused_or_another_statement() -> None:
    """Nothing is passed over: what is read back writes itself again."""
    rng = random.Random(1)
    other = 0
    for _ in range(600):
        place = rng.randrange(len(GOOD))
        text = GOOD[:place] + rng.choice('0123456789 \n"xabv') + GOOD[place + 1 :]
        if text == GOOD:
            continue
        try:
            statement = read_statement(text)
        except CertificateError:
            continue
        other += 1
        assert write_statement(statement) == text
    assert other >= 5


def test_names_are_kept_from_the_encodings_own() -> None:
    strange = var("x'", 7)
    with pytest.raises(SwzError, match="SWZ607"):
        state(ob.always((strange,), ob.less(leaf(strange), number(6))))


# --- scripts -------------------------------------------------------------------------------------------------------

ARITY = {
    "ite": 3,
    "=": 2,
    **dict.fromkeys(
        ["bvadd", "bvsub", "bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvshl", "bvlshr", "bvashr"], 2
    ),
    **dict.fromkeys(["bvand", "bvor", "bvxor", "bvult", "bvule", "bvslt", "bvsle"], 2),
}
WORD = re.compile(r"[()]|[^\s()]+")

Term = str | list["Term"]


def read_terms(text: str) -> list[Term]:
    """A reader of S-expressions of the test's own."""
    stack: list[list[Term]] = [[]]
    for word in WORD.findall("\n".join(line for line in text.splitlines() if not line.startswith(";"))):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    assert len(stack) == 1
    return stack[0]


def check_term(term: Term, known: set[str]) -> None:
    """Every symbol is declared before it is used, and every operator has its number of operands."""
    if isinstance(term, str):
        assert term in known or re.fullmatch(r"#b[01]", term), term
        return
    head, *rest = term
    if head == "_":
        assert isinstance(rest[0], str)
        assert re.fullmatch(r"bv\d+", rest[0])
        return
    if isinstance(head, list):
        assert head[0] == "_"
        assert head[1] in ("extract", "zero_extend", "sign_extend")
        assert len(rest) == 1
    else:
        assert len(rest) == ARITY[head], term
    for part in rest:
        check_term(part, known)


def check_script(text: str) -> None:
    assert text.isascii()
    known: set[str] = set()
    commands = read_terms(text)
    assert commands[-2:] == [["check-sat"], ["exit"]]
    for command in commands:
        assert isinstance(command, list)
        if command[0] == "declare-const":
            assert command[1] not in known
            known.add(str(command[1]))
        elif command[0] == "define-fun":
            assert command[1] not in known
            check_term(command[4], known)
            known.add(str(command[1]))
        elif command[0] == "assert":
            check_term(command[1], known)
        else:
            assert command[0] in ("set-logic", "set-info", "check-sat", "exit")


def test_scripts_declare_everything_and_have_no_odd_operators() -> None:
    from tests.engines.test_random_obligations import apart_case, cost_case, injective_case

    t = var("t", 5)
    goals = [ob.covers((), (t,), leaf(t), None, 2, (X,), leaf(X), 1, times) for times in (1, 2)]
    for seed in range(25):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        goals += [ob.injective(nodes, shared, inner, extent, assumed=assumed), apart_case(seed).goal]
        goals.append(cost_case(seed, [1, 2, 3])[0])
    for goal in goals:
        for part in parts(state(goal)):
            check_script(script(part))


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
def test_solvers_read_every_operator_as_it_is_meant(solver: str) -> None:
    """Programs that must have one value at one point: `unsat` that it is another, `sat` that it is
    this one.
    """
    pytest.importorskip(solver)
    for seed in range(60):
        rng = random.Random(seed)
        program = random_program(rng)
        point = rng.choice(all_points(program))
        value, width = evaluate(program, point)[-1], program[-1].width
        lines = list(program)
        last = len(lines) - 1
        bits: list[int] = []
        for place, line in enumerate(program):
            if line.operator == "var":
                lines.append(Operation("const", line.width, number=point[line.name]))
                lines.append(Operation("=", 1, (place, len(lines) - 1)))
                bits.append(len(lines) - 1)
        lines.append(Operation("const", width, number=value))
        lines.append(Operation("=", 1, (last, len(lines) - 1)))
        same = len(lines) - 1
        for wanted in (SolverAnswer.SAT, SolverAnswer.UNSAT):
            here = list(lines)
            result = same
            if wanted is SolverAnswer.UNSAT:
                here += [Operation("const", 1, number=1), Operation("bvxor", 1, (same, len(here)))]
                result = len(here) - 1
            for bit in bits:
                here.append(Operation("bvand", 1, (result, bit)))
                result = len(here) - 1
            text = script(Part("a test", tuple(here)))
            assert ask(solver, text, 30) is wanted, (seed, json.dumps(point))


def test_scripts_of_the_same_goal_are_the_same_bytes() -> None:
    def made() -> list[str]:
        return [script(part) for part in parts(state(ob.injective((X,), (), ob.times(leaf(X), 3), 3)))]

    assert made() == made()


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
def test_answers_that_are_none(solver: str) -> None:
    pytest.importorskip(solver)
    for text in ("", "(foo)", "(set-logic QF_BV)\n(assert (or true))\n(check-sat)\n", "(set-logic QF_BV)\n(assert x)"):
        with pytest.raises(ValueError, match=r"refuses the script|answers"):
            ask(solver, text, 5)
