"""When a thread comes to an instruction before any loop makes a second trip, against a simulation in Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from swzverify.compiled.kernel import inlined
from swzverify.compiled.kernel.starts import Starts
from swzverify.compiled.ptx import read_module
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import FALSE, TRUE, Expr, variables
from tests.scan.texts import WHOLE, text_of

STORE = "and.b32 %r41, %r40, 7; setp.ne.u32 %p3, %r41, 5; @%p3 bra OUT; st.shared.u32 [%r3], %r1; OUT:"
WHILE = f"""
mad.lo.u32 %r40, %r2, 7, 3; AGAIN: setp.ge.u32 %p2, %r40, 40; @%p2 bra BEHIND;
add.u32 %r40, %r40, 50; bra AGAIN; BEHIND: {STORE}
"""
UNTIL = f"""
mad.lo.u32 %r40, %r2, 7, 3; setp.ge.u32 %p1, %r40, 400; @%p1 bra BEHIND;
AGAIN: add.u32 %r40, %r40, 50; setp.lt.u32 %p2, %r40, 100; @%p2 bra AGAIN; BEHIND: {STORE}
"""
THREE_TRIPS = f"""
mov.u32 %r42, 0; FIRST: add.u32 %r42, %r42, 1; setp.lt.u32 %p1, %r42, 3; @%p1 bra FIRST; {WHILE}
"""
DIVIDED = f"""
mov.u32 %r42, 100; div.u32 %r40, %r42, %r2; setp.eq.u32 %p1, %r2, 3; @%p1 bra OUT; {STORE}
"""
PARTED = f"""
mov.u32 %r40, %r2; setp.gt.u32 %p1, %r2, 20; @%p1 bra MORE; add.u32 %r40, %r40, 2; MORE: {STORE}
"""


def condition_of(body: str) -> Expr:
    """The condition of the only store of a kernel."""
    module = read_module(text_of(body), "k.ptx")
    function = module.function("k")
    assert function is not None
    whole = inlined(module, function).function
    index = next(each.index for each in whole.instructions if each.opcode == "st.shared.u32")
    return Starts(module, whole, WHOLE).to(index)


def launches_of(condition: Expr) -> list[int]:
    """The parameters below 64 for which a condition holds."""
    (read,) = variables(condition)
    return [n for n in range(64) if evaluate(condition, {read.name: n})]


def comes(n: int) -> bool:
    return n & 7 == 5


CASES: dict[str, tuple[str, Callable[[int], bool]]] = {
    "a loop that tests first": (WHILE, lambda n: 7 * n + 3 >= 40 and comes(7 * n + 3)),
    "a loop that tests last": (UNTIL, lambda n: comes(7 * n + 3) if 7 * n + 3 >= 400 else comes(7 * n + 53) and n >= 7),
    "a loop of three trips before": (THREE_TRIPS, lambda n: 7 * n + 3 >= 40 and comes(7 * n + 3)),
    "a division": (DIVIDED, lambda n: n not in (0, 3) and comes(100 // n)),
    "paths that join": (PARTED, lambda n: comes(n + 2 * (n <= 20))),
}


@pytest.mark.parametrize("name", CASES)
def test_the_launches_are_those_of_a_simulation(name: str) -> None:
    body, expected = CASES[name]
    found = launches_of(condition_of(body))
    assert found == [n for n in range(64) if expected(n)]
    assert 0 < len(found) < 32


def test_an_end_that_the_first_trip_cannot_have_is_taken_in_a_later_one() -> None:
    """Without that no launch would come to what is behind a loop of three trips."""
    body = f"mov.u32 %r42, 0; FIRST: add.u32 %r42, %r42, 1; setp.lt.u32 %p1, %r42, 3; @%p1 bra FIRST; {STORE}"
    assert condition_of(body) is not FALSE


def test_what_every_thread_comes_to_has_no_condition() -> None:
    assert condition_of("st.shared.u32 [%r3], %r1;") is TRUE
