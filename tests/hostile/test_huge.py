"""Specs in good order that ask for too much: a cap says so, and below the caps the clock does."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from swzverify.errors import SwzError, nearest
from swzverify.ir import c_lower
from swzverify.layout import parse_notation
from swzverify.spec import SpecError, load, parse_spec
from swzverify.spec.limits import MAX_CONSTANTS, MAX_EXPRESSIONS, MAX_VARIABLES, MAX_WORK
from swzverify.spec.patience import OutOfPatience, patience
from swzverify.spec.problems import MAX_COUNTED, Problems, TooManyProblems

HEAD = "swzverify: 1\n"
HARD = (
    "accesses:\n  r:\n    instruction: ld.shared.b32\n    threads: 1024\n    for: {t: 1024, i: 256}\n"
    "    address: >-\n      " + f"min({','.join(['i+t'] * 500)})+t*16000*i" + "-t*16000*i+t*16000*i" * 30 + "\n"
)
"""Every difference is in range only because every point says so; going through all points at each
takes long.
"""

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no virtual timers")


def refusal(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        parse_spec(HEAD + text, path="a.yaml")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line > 0) == ("SWZ107", True)
    return problem.message


def test_constants() -> None:
    names = [f"c{i}" for i in range(MAX_CONSTANTS + 1)]
    assert parse_spec(HEAD + "constants: {" + ", ".join(f"{name}: 1" for name in names[1:]) + "}\n").claims == ()
    assert refusal("constants: {" + ", ".join(f"{name}: 1" for name in names) + "}\n").startswith("257 constants")


def test_cases_times_characters() -> None:
    cases = "constants: {a: [" + ", ".join(map(str, range(100))) + "]}\n"
    filler = "# " + "x" * (MAX_WORK // 100 - len(HEAD) - len(cases) - 3) + "\n"
    assert parse_spec(HEAD + cases + filler).claims == ()
    assert "100 cases of a file of" in refusal(cases + filler + "#\n")


@pytest.mark.parametrize("most", [MAX_VARIABLES])
def test_loops_and_variables(most: int) -> None:
    loops = ", ".join(f"i{i}: 1" for i in range(most + 1))
    access = "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: tid*4, for: {" + loops + "}}}\n"
    assert refusal(access) == f"{most + 1} loops: at most {most} are read"
    assert refusal("maps: {m: {over: {" + loops + "}, value: [i0]}}\n").startswith(f"{most + 1} variables")


def test_lists_of_expressions() -> None:
    many = "[" + "1, " * MAX_EXPRESSIONS + "1]"
    assert refusal(f"maps: {{m: {{over: {{i: 8}}, value: {many}}}}}\n").startswith("65 expressions")
    access = "accesses: {r: {instruction: ld.shared.b32, threads: 32, address: 0, assume: " + many + "}}\n"
    assert refusal(access).startswith("65 expressions")


@needs_timers
def test_what_takes_too_long_to_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "LOAD_SECONDS", 0.3)
    monkeypatch.setattr(c_lower, "MAX_EVALUATIONS", 1 << 60)
    started = time.process_time()
    assert refusal(HARD) == "reading this spec takes more than 0.3 seconds"
    assert time.process_time() - started < 20


def test_what_only_endless_enumeration_could_show_is_refused() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(HEAD + HARD, path="a.yaml")
    assert {problem.code for problem in caught.value.problems} == {"SWZ303"}


def _go_on() -> None:
    while True:
        pass


@needs_timers
def test_patience_leaves_nothing_behind() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(OutOfPatience), patience(0.05):
        _go_on()
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    with patience(0.05):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_patience_in_a_thread_does_nothing() -> None:
    done: list[bool] = []

    def work() -> None:
        with patience(0.001):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


@needs_timers
def test_patience_keeps_out_of_the_way_of_others() -> None:
    previous = signal.signal(signal.SIGVTALRM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGVTALRM)
        with patience(0.01):
            assert signal.getsignal(signal.SIGVTALRM) is mine
    finally:
        signal.signal(signal.SIGVTALRM, previous)


def test_the_search_for_a_near_name_is_bounded() -> None:
    known = [f"{'x' * 60}{i:04}" for i in range(10_000)]
    started = time.process_time()
    assert nearest("x" * 60 + "0000", known[:10]) != ""
    nearest("y" + "x" * 60, known)
    assert nearest("x" * 65, known) == ""
    assert time.process_time() - started < 20


def test_no_more_problems_are_looked_for_than_are_told() -> None:
    problems = Problems("a.yaml", ["x"] * 300)
    for index in range(MAX_COUNTED):
        problems.add("SWZ105", "x" * (index + 1), None)
    with pytest.raises(TooManyProblems):
        problems.add("SWZ105", "y", None)
    assert len(problems) == MAX_COUNTED


@pytest.mark.parametrize("text", ["S\u202ew<3,4,3> o 8:1", "(8,\x1b[31m):1", "8:1 o \u200b"])
def test_an_error_shows_no_control_characters(text: str) -> None:
    with pytest.raises(SwzError) as caught:
        parse_notation(text)
    assert "".join(str(caught.value).split("\n")).isprintable()


def test_a_hint_does_not_echo_everything() -> None:
    problems = Problems("a.yaml", ["x"])
    problems.add("SWZ105", "m" * 10_000, None, "h" * 100_000)
    with pytest.raises(SpecError) as caught:
        problems.raise_any()
    assert len(str(caught.value)) < 2000
