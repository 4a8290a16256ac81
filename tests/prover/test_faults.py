"""Faults in Z3's process: what is lost, cut off, forged or late there is `unknown`, and leaves
nothing behind.
"""

from __future__ import annotations

import hmac
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict

import pytest

from swzverify.claims import Bijective, ConflictFree, Outcome
from swzverify.engines.obligations import Always, Answer, Finding
from swzverify.engines.smt import SMT
from swzverify.engines.smt import query as smt_query
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Comparison, binary, compare, const, extend, negation, var
from swzverify.layout import Layout, Swizzle
from swzverify.prover import Limits, Options, isolation, prove
from swzverify.prover.isolation import IsolatedSMT, LostAnswerError, ask
from swzverify.subjects import Access, Tile
from tests.nightly import counts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="isolation needs fork")

QUICK = Limits(seconds=5, memory_mib=1024)
HOLDS = Finding("z3", Answer.HOLDS)


def _proved() -> Bijective:
    return Bijective(Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3)))


def _claims() -> list[Bijective | ConflictFree]:
    """Claims that hold; without an honest Z3 none of them may be proved."""
    access = Access(
        "X", find_instruction("ld.shared.b32"), find_target("sm_90"), (64,), address=parse("tid * 4"), assume=()
    )
    return [_proved(), ConflictFree(access)]


def _signed(key: bytes, value: object) -> bytes:
    body = json.dumps(value).encode()
    return hmac.digest(key, body, "sha256") + body


# --- what a process can do wrong, drawn at random ------------------------------------------------------------------


def killed_at_once(rng: random.Random, _pipe: int, _key: bytes) -> None:
    os.kill(os.getpid(), rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGPIPE]))


def killed_in_mid_answer(rng: random.Random, pipe: int, key: bytes) -> None:
    whole = _signed(key, asdict(HOLDS))
    os.write(pipe, whole[: rng.randrange(len(whole))])
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after_its_answer(_: random.Random, pipe: int, key: bytes) -> None:
    os.write(pipe, _signed(key, asdict(HOLDS)))
    os.kill(os.getpid(), signal.SIGKILL)


def truncated(rng: random.Random, pipe: int, key: bytes) -> None:
    whole = _signed(key, asdict(HOLDS))
    os.write(pipe, whole[: rng.randrange(len(whole))])
    os._exit(0)


def forged(rng: random.Random, pipe: int, key: bytes) -> None:
    body = json.dumps(asdict(HOLDS)).encode()
    wrong_keys = [b"", bytes(32), rng.randbytes(32), key[:-1]]
    os.write(pipe, rng.choice([body, *(hmac.digest(wrong, body, "sha256") + body for wrong in wrong_keys)]))
    os._exit(0)


def one_bit_off(rng: random.Random, pipe: int, key: bytes) -> None:
    whole = bytearray(_signed(key, asdict(HOLDS)))
    whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    os.write(pipe, bytes(whole))
    os._exit(0)


def nonsense_under_the_right_key(rng: random.Random, pipe: int, key: bytes) -> None:
    wrong: list[object] = [
        None,
        True,
        "holds",
        [],
        {},
        {**asdict(HOLDS), "answer": "proved"},
        {**asdict(HOLDS), "worst": {"wavefronts": 1}},
        {"engine": "z3", "answer": "holds"},
    ]
    os.write(pipe, _signed(key, rng.choice(wrong)))
    os._exit(0)


def ends_with_a_code(rng: random.Random, pipe: int, key: bytes) -> None:
    if rng.random() < 0.5:
        os.write(pipe, _signed(key, asdict(HOLDS)))
    os._exit(rng.randrange(1, 256))


def says_nothing(_: random.Random, _pipe: int, _key: bytes) -> None:
    os._exit(0)


FAULTS = [
    killed_at_once,
    killed_in_mid_answer,
    killed_after_its_answer,
    truncated,
    forged,
    one_bit_off,
    nonsense_under_the_right_key,
    ends_with_a_code,
    says_nothing,
]


@pytest.mark.parametrize("seeds", counts(2, 100))
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_faults_of_a_kind_never_prove(fault: Callable, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(seeds):
        _inject(monkeypatch, lambda pipe, key, seed=seed: fault(random.Random(seed), pipe, key))
        claim = _claims()[seed % 2]
        # A budget of its own a case: answers are remembered, and the last one must not be.
        verdict = prove(claim, options=Options(rlimit=1_000_000 + seed, limits=QUICK))
        assert verdict.outcome is Outcome.UNKNOWN, verdict
        assert "Z3's process" in verdict.reason


def _inject(monkeypatch: pytest.MonkeyPatch, act: Callable[[int, bytes], None]) -> None:
    def child(_: object, pipe: int, key: bytes, *__: object) -> None:
        try:
            act(pipe, key)
        finally:
            os._exit(0)

    monkeypatch.setattr(isolation, "_answer", child)


def test_endless_talk_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def talk(pipe: int, _: bytes) -> None:
        while True:
            os.write(pipe, b"holds" * 8192)

    _inject(monkeypatch, talk)
    verdict = prove(_proved(), options=Options(limits=QUICK))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "more than any answer" in verdict.reason


@pytest.mark.parametrize("keeps_pipe", [True, False])
@pytest.mark.parametrize("hangs", [3, pytest.param(10, marks=pytest.mark.nightly)])
def test_a_hang_ends_at_the_time_limit(keeps_pipe: bool, hangs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_LAST_SECONDS", 0.2)
    forked = _children(monkeypatch)

    def hang(pipe: int, key: bytes) -> None:
        if not keeps_pipe:
            os.write(pipe, _signed(key, asdict(HOLDS)))
            os.close(pipe)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)

    _inject(monkeypatch, hang)
    for seed in range(hangs):
        started = time.monotonic()
        verdict = prove(_proved(), options=Options(rlimit=2_000_000 + seed, limits=Limits(seconds=0.2)))
        assert verdict.outcome is Outcome.UNKNOWN
        assert time.monotonic() - started < 20, "a limit of a fifth of a second"
    assert len(forked) >= hangs
    assert not any(map(_alive, forked))


# --- the real solver, interrupted at work -------------------------------------------------------------------------


PRIME = 2**47 - 115


def _hard(bits: int = 24) -> Always:
    """No two numbers of 24 bits multiply to a prime of 47: true, and too much for any bit-level
    solver.

    With more bits it is another question, and one that takes memory.
    """
    nodes = tuple(var(name, 1 << bits) for name in "xy")
    x, y = (extend(node, 2 * bits, signed=False) for node in nodes)
    meets = compare(Comparison.EQ, binary(BinaryOperator.MUL, x, y), const(PRIME, 2 * bits))
    return Always(Domain(nodes), negation(meets), lambda _: pytest.fail("nobody evaluates this"))


def _children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    forked: list[int] = []
    fork = os.fork

    def recorded() -> int:
        child = fork()
        if child:
            forked.append(child)
        return child

    monkeypatch.setattr(isolation.os, "fork", recorded)
    return forked


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("kills", [8, pytest.param(100, marks=pytest.mark.nightly)])
def test_many_kills_while_the_solver_works(kills: int, monkeypatch: pytest.MonkeyPatch) -> None:
    forked = _children(monkeypatch)
    check = smt_query.Query._check

    def told(self: smt_query.Query, solver: object, conditions: list[object]) -> object:
        os.write(works, b"!")  # in the child: from here on it is the solver's
        while True:  # the solver works until the signal comes, on a fast machine too
            check(self, solver, conditions)

    monkeypatch.setattr(smt_query.Query, "_check", told)
    goal = _hard()
    rng = random.Random(7)
    for _ in range(kills):
        sign, delay = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU]), rng.random() / 25
        working, works = os.pipe()

        def strike(sign: int = sign, delay: float = delay, working: int = working) -> None:
            os.read(working, 1)
            time.sleep(delay)
            os.kill(forked[-1], sign)

        killer = threading.Thread(target=strike)
        killer.start()
        found = IsolatedSMT(SMT(), Limits(seconds=60)).decide(goal)
        killer.join()
        assert found.answer is Answer.UNDECIDED
        assert "was killed by" in found.detail
        os.close(working)
        os.close(works)
    assert len(forked) == kills
    assert not any(map(_alive, forked))


def test_a_real_query_ends_at_the_time_limit() -> None:
    found = IsolatedSMT(SMT(rlimit=2_000_000_000), Limits(seconds=0.5)).decide(_hard())
    assert found.answer is Answer.UNDECIDED
    assert "time limit" in found.detail


def test_out_of_memory_is_undecided() -> None:
    found = IsolatedSMT(SMT(rlimit=2_000_000_000), Limits(seconds=60, memory_mib=48)).decide(_hard(256))
    assert found.answer is Answer.UNDECIDED
    assert "time limit" not in found.detail

    with pytest.raises(LostAnswerError, match=r"MemoryError|killed"):
        ask(lambda: len(bytearray(1 << 30)), Limits(seconds=20, memory_mib=64))


def test_an_exception_of_the_solver_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("solver: invalid argument")

    monkeypatch.setattr(SMT, "decide", broken)
    verdict = prove(_proved(), options=Options(rlimit=3_000_000, limits=QUICK))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "RuntimeError: solver: invalid argument" in verdict.reason


# --- the sound case, and what is left behind -----------------------------------------------------------------------


def test_isolated_answers_are_the_same() -> None:
    for claim in _claims():
        here = prove(claim, options=Options(rlimit=4_000_000))
        apart = prove(claim, options=Options(rlimit=4_000_000, limits=QUICK))
        assert (here.outcome, here.engines, here.measure) == (apart.outcome, apart.engines, apart.measure)
        assert here.outcome is Outcome.PROVED


def test_ctrl_c_leaves_no_process_behind() -> None:
    program = (
        "import sys\n"
        "from swzverify.engines.smt import SMT\n"
        "from swzverify.prover.isolation import IsolatedSMT, Limits\n"
        "from tests.prover import test_faults as t\n"
        "import os; fork = os.fork\n"
        "def told():\n"
        "    child = fork()\n"
        "    if child: print(child, flush=True)\n"
        "    return child\n"
        "os.fork = told\n"
        "IsolatedSMT(SMT(rlimit=2_000_000_000), Limits(seconds=300)).decide(t._hard())\n"
    )
    for sign in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        child = int(process.stdout.readline())
        time.sleep(0.2)
        process.send_signal(sign)
        process.wait(timeout=30)
        process.stdout.close()
        deadline = time.monotonic() + 10
        while _running(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _running(child), f"after {sign!r}"


def _running(process: int) -> bool:
    """Whether it still does anything; one that init has not yet reaped does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_limits_must_allow_something() -> None:
    with pytest.raises(ValueError, match="positive"):
        Limits(seconds=0)
