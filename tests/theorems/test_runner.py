"""Terms, records, verdicts and the pool: what makes `proved` of a theorem worth trusting."""

from __future__ import annotations

import dataclasses
import os
import signal

import pytest
import z3

from swzverify.apps.theorems import Obligation, Outcome, Sequent, Symbols, Theorem, choose, choose_whole
from swzverify.apps.theorems.discover import check_catalogue, find_theorems, proofs_folder, select_theorems
from swzverify.apps.theorems.listing import Entry
from swzverify.apps.theorems.pool import judge_all
from swzverify.apps.theorems.solve import judge, settle
from swzverify.errors import SwzError


def value(word) -> int:
    return z3.simplify(word.term).as_long()


def holds(truth) -> bool:
    return z3.is_true(z3.simplify(truth.term))


def theorem(*encodings, **changes) -> Theorem:
    obligations = tuple(Obligation(f"part {i}", encode) for i, encode in enumerate(encodings))
    return Theorem("a-theorem", "statement", "x", "source", "x", obligations, **changes)


def true(v: Symbols) -> Sequent:
    x = v.word("x")
    return Sequent((), x ^ x == 0)


def false_from_five(v: Symbols) -> Sequent:
    x, y = v.word("x"), v.word("y", below=10)
    return Sequent((x >= 5,), ~((x < 100) & (y >= 3)))


def vacuous(v: Symbols) -> Sequent:
    x = v.word("x")
    return Sequent((x < 5, x > 5), x == 0)


class TestTerms:
    def test_everything_is_unsigned(self):
        v = Symbols()
        top, one = v.number(1 << 31), v.number(1)
        assert holds(top > one)
        assert holds(one < top)
        assert holds(top >= 1)
        assert holds(one <= top)
        assert value(top >> 31) == 1
        assert value(top // 2) == 1 << 30
        assert value((top + 1) % 4) == 1

    def test_arithmetic_follows_integers(self):
        v = Symbols()
        for a in (0, 1, 5, 200, (1 << 32) - 1):
            for b in (1, 3, 7, 31):
                x, y = v.number(a), v.number(b)
                assert value(x + y) == (a + b) % 2**32
                assert value(x - y) == (a - b) % 2**32
                assert value(b - x) == (b - a) % 2**32
                assert value(x * y) == a * b % 2**32
                assert value(x << y) == (a << b) % 2**32
                assert value(x >> y) == a >> b
                assert value(1 << y) == 1 << b
                assert value(x ^ y) == a ^ b
                assert value(x | y) == a | b
                assert value(x & y) == a & b
                assert value(~x) == a ^ (2**32 - 1)
                assert value(x // b) == a // b
                assert value(x % b) == a % b
                assert holds(x == y) == (a == b)
                assert holds(x != y) == (a != b)
                assert value(choose(x < y, x, y)) == min(a, b)
                assert value(v.count([x == y, x < y, x > y])) == 1

    def test_a_shift_by_the_width_gives_zero(self):
        v = Symbols()
        assert value(v.number(1) << v.number(32)) == 0
        assert value(v.number(1) >> v.number(40)) == 0

    def test_nothing_wraps_in_silence(self):
        v = Symbols()
        for bad in (1 << 32, -1):
            with pytest.raises(ValueError, match="does not fit"):
                v.number(bad)
            with pytest.raises(ValueError, match="does not fit"):
                _ = v.word(f"x{bad}") + bad
        with pytest.raises(ValueError, match="division"):
            _ = v.number(3) % 0
        with pytest.raises(TypeError, match="bits"):
            _ = v.number(3) + v.number(3).bits(7, 0)

    def test_a_formula_is_no_bool(self):
        v = Symbols()
        x = v.word("x")
        with pytest.raises(TypeError, match="neither true nor false"):
            bool(x == x + 1)
        with pytest.raises(TypeError, match="iff"):
            _ = (x == 1) == (x == 2)
        with pytest.raises(TypeError, match="compared"):
            _ = x == "1"

    def test_a_name_is_used_once(self):
        v = Symbols()
        v.word("x")
        with pytest.raises(ValueError, match="two variables"):
            v.word("x")


class TestWholeNumbers:
    def test_nothing_wraps_and_differences_may_be_negative(self):
        def encode(v: Symbols) -> Sequent:
            a, b = v.whole("a", 1, 1 << 40), v.whole("b", 1, 1 << 40)
            return Sequent((a < b,), (a - b < 0) & (a * b >= b) & (3 * a + 1 > a) & (a != b) & (b > a) & (a <= b))

        assert settle(Obligation("o", encode)).outcome is Outcome.PROVED

    def test_the_smallest_point(self):
        def encode(v: Symbols) -> Sequent:
            a, b = v.whole("a", 2), v.whole("b", 2)
            return Sequent((), a * b != 35)

        answer = settle(Obligation("o", encode))
        assert (answer.outcome, answer.point) == (Outcome.REFUTED, (("a", 5), ("b", 7)))

    def test_bounds_are_hypotheses(self):
        def encode(v: Symbols) -> Sequent:
            a = v.whole("a", 3, 4)
            return Sequent((), (a == 3) | (a == 4))

        assert settle(Obligation("o", encode)).outcome is Outcome.PROVED

    def test_a_choice_is_either(self):
        def encode(v: Symbols) -> Sequent:
            a, b = v.whole("a"), v.whole("b")
            least = choose_whole(a < b, a, b)
            return Sequent((), (least <= a) & (least <= b) & ((least == a) | (least == b)))

        assert settle(Obligation("o", encode)).outcome is Outcome.PROVED

    def test_an_impossible_range_is_vacuous(self):
        def encode(v: Symbols) -> Sequent:
            return Sequent((), v.whole("a", 5, 4) == 0)

        assert settle(Obligation("o", encode)).outcome is Outcome.VACUOUS

    def test_what_has_no_meaning_is_refused(self):
        v = Symbols()
        a = v.whole("a")
        with pytest.raises(ValueError, match="two variables"):
            v.whole("a")
        with pytest.raises(ValueError, match="negative"):
            v.whole("b", -1)
        with pytest.raises(TypeError, match="compared"):
            _ = a == "1"
        v.word("c")
        with pytest.raises(TypeError, match="never both"):
            _ = v.logic


class TestVerdicts:
    def test_proved_and_refuted_with_the_smallest_point(self):
        assert settle(Obligation("o", true)).outcome is Outcome.PROVED
        answer = settle(Obligation("o", false_from_five))
        assert answer.outcome is Outcome.REFUTED
        assert answer.point == (("x", 5), ("y", 3))

    def test_bounds_are_hypotheses(self):
        def encode(v: Symbols) -> Sequent:
            return Sequent((), v.word("x", below=4) <= 3)

        assert settle(Obligation("o", encode)).outcome is Outcome.PROVED

    def test_an_unsatisfiable_hypothesis_is_never_proved(self):
        assert settle(Obligation("o", vacuous)).outcome is Outcome.VACUOUS
        assert judge(theorem(true, vacuous)).outcome is Outcome.VACUOUS

    def test_out_of_budget_is_unknown(self):
        def hard(v: Symbols) -> Sequent:
            x, y = v.word("x"), v.word("y")
            return Sequent((x > 1, y > 1, x < 1 << 16, y < 1 << 16), x * y != 4_294_049_777)

        answer = settle(Obligation("o", hard, rlimit=20_000))
        assert answer.outcome is Outcome.UNKNOWN
        assert answer.reason
        judgement = judge(dataclasses.replace(theorem(true), obligations=(Obligation("o", hard, rlimit=20_000),)))
        assert judgement.outcome is Outcome.UNKNOWN
        assert not Entry(theorem(true), judgement).ok

    def test_one_failing_part_refutes_the_whole(self):
        judgement = judge(theorem(true, false_from_five))
        assert judgement.outcome is Outcome.REFUTED
        assert judgement.counterexample is not None
        assert judgement.counterexample.obligation == "part 1"

    def test_a_counterexample_must_fail_in_plain_integers(self):
        wrong = {"expected": Outcome.REFUTED, "because": "it is", "mended_by": "another"}
        good = theorem(false_from_five, refutes=lambda point: point["x"] == 5, **wrong)
        assert judge(good).outcome is Outcome.REFUTED
        bad = theorem(false_from_five, refutes=lambda point: point["x"] == 6, **wrong)
        assert judge(bad).outcome is Outcome.ERROR

    def test_a_fault_in_an_encoding_is_an_error(self):
        def broken(v: Symbols) -> Sequent:
            return Sequent((), v.word("x") == 1 << 40)

        judgement = judge(theorem(broken))
        assert judgement.outcome is Outcome.ERROR
        assert "does not fit" in judgement.reason


class TestRecords:
    @pytest.mark.parametrize(
        "changes",
        [
            {"name": "A theorem"},
            {"statement": " "},
            {"source": ""},
            {"latex": ""},
            {"obligations": ()},
            {"obligations": (Obligation("o", true), Obligation("o", true))},
            {"expected": Outcome.UNKNOWN},
            {"expected": Outcome.REFUTED},
            {"because": "it is", "mended_by": "x", "refutes": lambda _: True},
        ],
    )
    def test_half_a_record_is_refused(self, changes):
        with pytest.raises(ValueError, match="theorem"):
            dataclasses.replace(theorem(true), **changes)

    def test_the_catalogue(self):
        one = theorem(true)
        with pytest.raises(ValueError, match="share a name"):
            check_catalogue([one, one])
        wrong = theorem(
            true, expected=Outcome.REFUTED, refutes=lambda _: True, because="it is", mended_by="no-such-theorem"
        )
        with pytest.raises(ValueError, match="no-such-theorem"):
            check_catalogue([wrong])

    def test_what_the_repository_has(self):
        found = find_theorems()
        assert sum(t.expected is Outcome.PROVED for t in found) >= 35
        assert sum(t.expected is Outcome.REFUTED for t in found) >= 15
        for t in found:
            if "iff" in t.statement.split() and t.expected is Outcome.PROVED and t.name != "universal-columns":
                names = " ".join(o.name for o in t.obligations)
                assert "only if" in names, t.name
                assert "if" in names.replace("only if", ""), t.name

    def test_selection(self):
        found = find_theorems()
        assert len(select_theorems(found, ())) == len(found)
        assert {t.name for t in select_theorems(found, ("xor-tile", "pitch-free"))} == {
            "xor-tile-rows",
            "xor-tile-columns",
            "xor-tile-tall",
            "pitch-free",
        }
        with pytest.raises(SwzError, match="no theorem") as raised:
            select_theorems(found, ("swizle-involution",))
        assert "swizzle-involution" in raised.value.hint

    def test_proofs_never_come_from_the_working_directory(self, tmp_path, monkeypatch):
        (tmp_path / "proofs").mkdir()
        (tmp_path / "proofs" / "__init__.py").write_text("raise SystemExit('a stranger ran')", encoding="utf-8")
        (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        assert tmp_path not in proofs_folder().parents
        assert find_theorems()


class TestPool:
    def test_two_processes_say_what_one_says(self):
        chosen = select_theorems(find_theorems(), ("tma-",))
        together = {j.name: j.outcome for j in judge_all(chosen, 2)}
        assert together == {j.name: j.outcome for j in judge_all(chosen, 1)}
        assert set(together) == {t.name for t in chosen}

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed differently here")
    def test_a_process_that_dies_costs_one_theorem(self, monkeypatch):
        from swzverify.core import pool

        start = pool.start
        started = []

        def start_and_kill_the_first(*arguments, first):
            process, pipe = start(*arguments, first=first)
            started.append(process)
            if len(started) == 1:
                os.kill(process.pid, signal.SIGKILL)
            return process, pipe

        monkeypatch.setattr(pool, "start", start_and_kill_the_first)
        chosen = select_theorems(find_theorems(), ("xor-tile", "xor-double"))
        judgements = list(judge_all(chosen, 2))
        lost = [j for j in judgements if j.outcome is Outcome.ERROR]
        assert [j.name for j in lost] == [chosen[0].name]
        assert "-9" in lost[0].reason
        assert {j.name for j in judgements} == {t.name for t in chosen}
        assert not any(process.is_alive() for process in started)

    def test_leaving_early_ends_the_processes(self, monkeypatch):
        from swzverify.core import pool

        start, started = pool.start, []

        def remember(*arguments, first):
            started.append(start(*arguments, first=first))
            return started[-1]

        monkeypatch.setattr(pool, "start", remember)
        judgements = judge_all(select_theorems(find_theorems(), ("swizzle",)), 2)
        next(judgements)
        judgements.close()
        assert len(started) == 2
        assert not any(process.is_alive() for process, _ in started)
