"""Questions to Z3 share a context for a quick `unsat` and for nothing else.

What could go wrong, each with its test: a model or a budget that depends on what was asked before;
a question that is given up there and counted as `unsat`; one context used by two threads; a context
used again after an interrupt.
"""

from __future__ import annotations

import itertools
import threading

import pytest
import z3

from swzverify.engines.obligations import Always, Answer
from swzverify.engines.smt import SMT
from swzverify.engines.smt import query as smt_query
from swzverify.engines.smt.query import (
    QUICK_RLIMIT,
    SHARED_RLIMIT,
    TIMEOUT_MS,
    OutOfBudgetError,
    OutOfClockError,
    Query,
)
from swzverify.engines.smt.terms import Translator
from swzverify.errors import InternalError
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Comparison, Expr, Var, binary, compare, const, extend, negation, var

PLENTY = 30_000_000


@pytest.fixture(autouse=True)
def _no_shared_context() -> None:
    smt_query._shared.place = None


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> list[z3.Context]:
    """Every context that is made."""
    made: list[z3.Context] = []
    new = z3.Context

    def counted() -> z3.Context:
        made.append(new())
        return made[-1]

    monkeypatch.setattr(z3, "Context", counted)
    return made


def product(bits: int, value: int) -> Expr:
    """x * y == value, with factors of so many bits."""
    both = binary(BinaryOperator.MUL, wide("x", bits), wide("y", bits))
    return compare(Comparison.EQ, both, const(value, 2 * bits))


def wide(name: str, bits: int) -> Expr:
    """A variable of so many bits, in twice as many."""
    return extend(var(name, 1 << bits), 2 * bits, signed=False)


def asked(condition: Expr, rlimit: int = PLENTY) -> dict[str, int] | None:
    query = Query()
    query.require(query.terms.truth(condition))
    model = query.solve(rlimit)
    return None if model is None else {d.name(): model[d].as_long() for d in model.decls()}


def chatter(seed: int) -> None:
    """Questions that leave other ids behind each time."""
    for step in range(seed):
        asked(product(2 + step % 3, (step * 7 + seed) % 11))
        assert asked(compare(Comparison.ULT, wide("x", 3 + step % 4), const(0, 6 + 2 * (step % 4)))) is None


def test_unsat_questions_share_one_context(contexts: list[z3.Context]) -> None:
    for _ in range(5):
        assert asked(compare(Comparison.ULT, wide("x", 4), const(0, 8))) is None
    assert len(contexts) == 1


def test_a_model_comes_from_a_context_of_its_own(contexts: list[z3.Context]) -> None:
    assert asked(product(4, 15)) is not None
    assert len(contexts) == 2
    assert asked(product(4, 15)) is not None
    assert len(contexts) == 3


def test_models_do_not_depend_on_what_was_asked_before() -> None:
    questions = [product(5, 12 * n) for n in range(1, 20)] + [product(6, 899), product(7, 8633)]
    first = [asked(question) for question in questions]
    for seed in (1, 4, 9):
        chatter(seed)
        assert [asked(question) for question in questions] == first
    assert None not in first


def test_small_budgets_do_not_depend_on_what_was_asked_before() -> None:
    question = product(7, 16129 - 2)  # no two factors of seven bits
    least = next(r for r in range(1000, SHARED_RLIMIT, 1000) if _answers(question, r))
    for seed in (1, 5):
        chatter(seed)
        assert not _answers(question, least - 1000)
        assert _answers(question, least)
    assert least < QUICK_RLIMIT


def _answers(question: Expr, rlimit: int) -> bool:
    try:
        return asked(question, rlimit) is None
    except OutOfBudgetError:
        return False


def test_what_the_shared_context_gives_up_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt_query, "QUICK_RLIMIT", 10)
    chatter(2)
    assert asked(product(5, 35)) is not None
    assert asked(product(7, 16129 - 2)) is None


@pytest.mark.parametrize(("rlimit", "made"), [(SHARED_RLIMIT - 1, 2), (SHARED_RLIMIT, 1)])
def test_the_least_budget_of_a_shared_context(contexts: list[z3.Context], rlimit: int, made: int) -> None:
    assert asked(compare(Comparison.ULT, wide("x", 4), const(0, 8)), rlimit) is None
    assert len(contexts) == made


def test_a_budget_is_spent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the plain solver may spend, the tactic of the logic has less."""
    budgets: list[dict[str, int]] = []
    logics: list[str] = []
    sound_set, sound_solver = z3.Solver.set, z3.SolverFor

    def heard(self: z3.Solver, **keys: int) -> None:
        budgets.append(keys)
        sound_set(self, **keys)

    def named(logic: str, ctx: z3.Context) -> z3.Solver:
        logics.append(logic)
        return sound_solver(logic, ctx=ctx)

    monkeypatch.setattr(z3.Solver, "set", heard)
    monkeypatch.setattr(z3, "SolverFor", named)
    monkeypatch.setattr(smt_query, "QUICK_RLIMIT", 10)
    assert asked(product(7, 16129 - 2), 300_000) is None
    assert budgets == [{"rlimit": rlimit, "timeout": TIMEOUT_MS} for rlimit in (10, 299_990)]
    assert logics == ["QF_BV"]


def test_giving_up_says_what_z3_says() -> None:
    solver = z3.SimpleSolver(ctx=z3.Context())
    query = Query()
    query.require(query.terms.truth(product(7, 16129 - 2)))
    solver.set(rlimit=10)
    solver.add(*(each.translate(solver.ctx) for each in query._conditions))
    assert solver.check() == z3.unknown
    with pytest.raises(OutOfBudgetError) as problem:
        query.solve(10)
    assert str(problem.value) == solver.reason_unknown() != ""


def a_clock_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every check takes an hour and more."""
    hours = itertools.count()
    monkeypatch.setattr(smt_query, "monotonic", lambda: next(hours) * 1.1 * TIMEOUT_MS / 1000)


def test_what_the_clock_ends_is_not_what_the_budget_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Z3 says `canceled` for both. Nothing else is tried then, as it is where a budget ends."""
    monkeypatch.setattr(smt_query, "QUICK_RLIMIT", 10)
    budgets: list[int] = []
    within = smt_query._within
    monkeypatch.setattr(
        smt_query, "_within", lambda solver, rlimit: (budgets.append(rlimit), within(solver, rlimit))[1]
    )
    with pytest.raises(OutOfBudgetError):
        asked(product(7, 16129 - 2), 20)
    assert budgets == [10, 10]
    a_clock_that_runs(monkeypatch)
    with pytest.raises(OutOfClockError, match="wall clock"):
        asked(product(7, 16129 - 2), 20)
    assert budgets == [10, 10, 10]


def test_the_engine_says_what_the_clock_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    condition = product(7, 16129 - 2)
    assert not SMT(rlimit=10).possible(condition).is_by_clock
    a_clock_that_runs(monkeypatch)
    found = SMT(rlimit=10).possible(condition)
    assert (found.answer, found.is_by_clock) == (Answer.UNDECIDED, True)
    nodes = tuple(var(name, 1 << 7) for name in "xy")
    goal = Always(Domain(nodes), negation(condition), lambda _: pytest.fail("nobody evaluates this"))
    assert SMT(rlimit=10).decide(goal).is_by_clock


def test_an_answer_counts_however_long_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    a_clock_that_runs(monkeypatch)
    assert asked(product(5, 35)) is not None
    assert asked(product(7, 16129 - 2)) is None


def gives_up_as_unsat(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(smt_query.Query, "_unsat_at_once", lambda *_: True)


def test_giving_up_counted_as_unsat_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    gives_up_as_unsat(monkeypatch)
    with pytest.raises(AssertionError):
        test_what_the_shared_context_gives_up_is_asked_again(monkeypatch)


def test_the_shared_solver_forgets_a_question(contexts: list[z3.Context]) -> None:
    """What was required of one question would make every later one `unsat`."""
    never = compare(Comparison.ULT, wide("x", 4), const(0, 8))
    for _ in range(3):
        assert asked(never) is None
        assert asked(product(4, 15)) is not None
        assert asked(compare(Comparison.EQ, wide("x", 4), const(7, 8))) == {"x": 7}
    assert len(contexts) == 7  # each model has one


def test_a_question_that_is_not_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Solver, "pop", lambda *_: None)
    assert asked(compare(Comparison.ULT, wide("x", 4), const(0, 8))) is None
    assert asked(product(4, 15)) is None


def test_what_the_shared_solver_gives_up_is_its_last(
    contexts: list[z3.Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    never = compare(Comparison.ULT, wide("x", 4), const(0, 8))
    assert asked(never) is None
    monkeypatch.setattr(smt_query, "QUICK_RLIMIT", 10)
    smt_query._shared.place = None
    assert asked(product(7, 16129 - 2)) is None
    assert len(contexts) == 3
    assert asked(never) is None
    assert len(contexts) == 4


def test_a_bound_is_a_part_of_every_question(contexts: list[z3.Context]) -> None:
    """The variables' terms are there from the first question on, and bounds differ where names do not."""
    for _ in range(3):
        assert asked(compare(Comparison.EQ, var("x", 10), const(11, 4))) is None
        assert asked(compare(Comparison.EQ, var("x", 12), const(12, 4))) is None
    assert len(contexts) == 1
    assert asked(compare(Comparison.EQ, var("x", 12), const(11, 4))) == {"x": 11}


def test_a_bound_that_is_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    question, sound = compare(Comparison.EQ, var("x", 10), const(11, 4)), Translator.variable
    assert asked(question) is None

    def without_bound(self: Translator, node: Var, name: str | None = None) -> object:
        made = sound(self, node, name)
        self.bounds.clear()
        return made

    monkeypatch.setattr(Translator, "variable", without_bound)
    assert asked(question) == {"x": 11}


def test_one_name_with_two_bounds_in_one_question_is_refused() -> None:
    for limit in (10, 12):  # both are known to the context
        assert asked(compare(Comparison.EQ, var("x", limit), const(15, 4))) is None
    query = Query()
    with pytest.raises(InternalError, match="two variables are called x"):
        query.require(*(query.terms.truth(compare(Comparison.EQ, var("x", n), const(3, 4))) for n in (10, 12)))


@pytest.mark.parametrize("logic", ["QF_BV", "QF_LIA"])
def test_each_logic_has_a_solver_of_its_own(contexts: list[z3.Context], logic: str) -> None:
    query = Query(logic)
    number = z3.Int("n", query.terms.context)
    width = query.terms.truth(compare(Comparison.ULT, wide("x", 4), const(0, 8)))
    query.require(width if logic == "QF_BV" else z3.And(number > 3, number < 4))
    assert query.solve(PLENTY) is None
    assert query._place.solver(logic) is not query._place.solver("QF_UF")
    assert len(contexts) == 1


def test_a_context_serves_so_many_questions(contexts: list[z3.Context], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt_query, "MAX_SHARED_QUERIES", 3)
    for _ in range(7):
        assert asked(compare(Comparison.ULT, wide("x", 4), const(0, 8))) is None
    assert len(contexts) == 3


def test_threads_have_contexts_of_their_own(contexts: list[z3.Context]) -> None:
    never = compare(Comparison.ULT, wide("x", 4), const(0, 8))
    answers: list[object] = []
    # one after the other: z3py's own bookkeeping is not made for two at a time
    for _ in range(3):
        thread = threading.Thread(target=lambda: answers.append(asked(never)))
        thread.start()
        thread.join()
    assert answers == [None] * 3
    assert len(contexts) == 3


def test_after_an_interrupt_there_is_another_context(
    contexts: list[z3.Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    check = Query._check

    def interrupted(self: Query, *_: object) -> None:
        del self
        raise KeyboardInterrupt

    never = compare(Comparison.ULT, wide("x", 4), const(0, 8))
    monkeypatch.setattr(Query, "_check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        asked(never)
    monkeypatch.setattr(Query, "_check", check)
    assert asked(never) is None
    assert len(contexts) == 2


def test_a_key_that_is_pressed_ends_the_run_and_is_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Z3 takes the signal during a query and answers `unknown`."""
    monkeypatch.setattr(z3.Solver, "check", lambda *_: z3.unknown)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda _: "interrupted from keyboard")
    with pytest.raises(KeyboardInterrupt):
        asked(product(8, 2))
