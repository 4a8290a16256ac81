"""What accesses behind loops keep of the conditions by which these ended."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.kernel import KernelAccess, accesses, ended, paths
from swzverify.compiled.kernel.accesses import Reader
from swzverify.compiled.kernel.leaves import TripsLeaf
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.ir.expr import TRUE, Expr, variables
from tests.counted import calls_of, forget_everything
from tests.kernel.texts import HEAD, TOP, found_in, last
from tests.scan.whole import scan_module

COUNT = "mov.u32 %r9, 0;\n{0}: add.u32 %r9, %r9, {1}; setp.lt.u32 %p1, %r9, {2}; @%p1 bra {0};\n"
"""A loop with a label, a step and a bound; `%r9` is what it counts."""
PLACE = "shl.b32 %r20, {}, 2; add.u32 %r20, %r20, %r3;\n"
LOAD = "ld.shared.u32 %r21, [%r20];"


def trips_in(access: KernelAccess) -> int:
    """How many ended loops the guard reads."""
    assert access.who.sure is not None
    leaves = {leaf.variable: leaf for leaf in access.leaves}
    return sum(isinstance(leaves[each], TripsLeaf) for each in variables(access.who.guard))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COUNT.format("A", 1, "%r2") + PLACE.format("%r1") + LOAD, 0),
        (COUNT.format("A", 4, "%r2") + COUNT.format("B", 1, "%r2") + PLACE.format("%r1") + LOAD, 0),
        # The address reads what the loop counted, or the number that bounds it.
        (COUNT.format("A", 4, "%r2") + "add.u32 %r22, %r1, %r9;\n" + PLACE.format("%r22") + LOAD, 1),
        (COUNT.format("A", 4, "%r2") + "mul.lo.u32 %r22, %r1, %r2;\n" + PLACE.format("%r22") + LOAD, 1),
        # Lanes leave at different trips.
        ("add.u32 %r23, %r1, %r2;\n" + COUNT.format("A", 4, "%r23") + PLACE.format("%r1") + LOAD, 1),
        # A second loop counts on from where the first one ended.
        (
            COUNT.format("A", 4, "%r2")
            + COUNT.format("B", 1, "%r2").replace("mov.u32 %r9, 0;", "")
            + "add.u32 %r22, %r1, %r9;\n"
            + PLACE.format("%r22")
            + LOAD,
            2,
        ),
    ],
)
def test_the_end_of_a_loop_is_kept_if_something_reads_what_it_counted(body: str, expected: int) -> None:
    assert trips_in(last(body)) == expected


def test_a_condition_of_the_access_itself_stays() -> None:
    body = COUNT.format("A", 1, "%r2") + PLACE.format("%r1") + "setp.lt.u32 %p2, %r1, 8; @%p2 " + LOAD
    access = last(body)
    assert trips_in(access) == 0
    assert access.who.guard is not TRUE


ENDS = "mov.u32 %r9, 0;\nA: setp.eq.u32 %p1, %r9, {0}; @%p1 bra B; add.u32 %r9, %r9, {1}; bra A;\nB:\n"
"""A loop that ends where what it counts is a number."""
EITHER = """setp.le.s32 %p2, %r2, 3000; @%p2 bra ELSE;
mov.u32 %r9, 0;
A: add.u32 %r9, %r9, 1; setp.lt.s32 %p1, %r9, %r2; @%p1 bra A;
bra HERE;
ELSE: setp.gt.s32 %p3, %r2, 2000; @%p3 bra END;
HERE:
"""
"""A loop on one of two ways; on the other one threads return for some numbers of the launch."""


@pytest.mark.parametrize(
    ("begin", "expected"),
    [
        (ENDS.format("%r2", 1), 0),
        # No trip ends such a loop with an odd number: what is behind it is never executed then.
        (ENDS.format("%r2", 2), 1),
        (ENDS.format("5", 2), 1),
        (ENDS.format("6", 2), 0),
        # The condition says of a number of the launch when threads come here, as the sure condition does.
        (EITHER, 1),
    ],
)
def test_a_condition_stays_that_says_more_than_that_a_loop_ended(begin: str, expected: int) -> None:
    assert trips_in(last(begin + PLACE.format("%r1") + LOAD + "\nEND:")) == expected


@pytest.mark.parametrize(
    ("begin", "condition"), [(EITHER, "n == 2500"), (ENDS.format("%r2", 2), "n == 5"), (ENDS.format("5", 2), "n > 0")]
)
def test_what_is_never_executed_has_no_conflict(begin: str, condition: str) -> None:
    text = f"{TOP}{HEAD}{begin}{PLACE.format('%r1').replace(', 2;', ', 3;')}{LOAD}\nEND: ret; }}"
    (found,) = scan_module(read_module(text, "k.ptx"), (32, 1, 1), None, "sm_90", Given((), (condition,)))
    assert found.decision.reason == NEVER_MADE


def test_planted_each_loop_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ended, "_ends", lambda *_: True)
    assert trips_in(last(ENDS.format("5", 2) + PLACE.format("%r1") + LOAD)) == 0


def test_planted_the_sure_condition_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(guard: Expr, place: Any, _: Expr | None, *rest: Any) -> Expr:
        return real(guard, place, TRUE, *rest)

    real = ended.without_ended
    monkeypatch.setattr(import_module(Reader.__module__), "without_ended", mistaken)
    assert trips_in(last(EITHER + PLACE.format("%r1") + LOAD + "\nEND:")) == 0


def kernel(loops: int) -> str:
    one = "".join(COUNT.format(f"L{number}", 1, "%r2") + LOAD for number in range(loops))
    return f"{TOP}{HEAD}{PLACE.format('%r1')}{one}\nret; }}"


def test_an_access_behind_many_loops_costs_little_more_than_one_behind_few() -> None:
    """Twice as many loops are less than three times the work: the k-th access reads k conditions, and keeps none."""
    found: list[int] = []
    for loops in (20, 40):
        module = read_module(kernel(loops), "k.ptx")
        forget_everything()
        found.append(calls_of(lambda module=module: accesses(module, module.functions[0], (64, 1, 1))))
    assert found[1] < 3 * found[0]


@pytest.mark.parametrize("is_known", [True, False])
def test_predicates_that_differ_stay_apart(monkeypatch: pytest.MonkeyPatch, *, is_known: bool) -> None:
    """Two instructions of a block with equal guards count as executed together, also where paths are not known."""
    monkeypatch.setattr(paths, "MOST_JOINED", 128 if is_known else 1)
    tests = "shr.u32 %r23, %r2, 1; setp.ge.u32 %p6, %r9, %r2; setp.ge.u32 %p7, %r9, %r23;\n"
    either = "setp.gt.u32 %p4, %r1, 9; @%p4 bra I; setp.lt.u32 %p5, %r1, 3; @%p5 bra I; bra Z;\nI:\n"
    body = COUNT.format("A", 4, "%r2") + PLACE.format("%r1") + either + tests
    one, other = found_in(f"{body}@%p6 {LOAD} @%p7 {LOAD}\nZ:")
    assert (one.who.sure is not None) is is_known
    assert one.who.guard is not other.who.guard


def test_planted_what_is_asked_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    body = COUNT.format("A", 4, "%r2") + "add.u32 %r22, %r1, %r9;\n" + PLACE.format("%r22") + LOAD
    monkeypatch.setattr(ended, "_variables", lambda _: set())
    assert trips_in(last(body)) == 0
