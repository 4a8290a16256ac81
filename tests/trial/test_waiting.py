"""Loops that wait for other blocks: what is left of their trips is counted, and does what making them would do."""

from __future__ import annotations

from functools import partial
from itertools import islice

import pytest

from swzverify.compiled.kernel import inlined
from swzverify.compiled.ptx import Function, read_module
from swzverify.compiled.trial import Launcher, Search, Trial, machine, run_all, schedule
from tests.counted import calls_of
from tests.kernel.texts import HEAD, TOP
from tests.trial.test_side_by_side import did

WORD = "ld.param.u64 %d1, [q]; "
STORE = "shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %r3; st.shared.u32 [%r7], %r5; "
INDEX = "and.b32 %r4, %r1, {}; mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2; "
ALL_WAIT = WORD + "L: ld.acquire.gpu.global.u32 %r5, [%d1]; setp.ne.u32 %p1, %r5, 77777; @%p1 bra L; "
SOME_WAIT = WORD + INDEX.format(3) + "L: ld.global.u32 %r5, [%d1]; and.b32 %r6, %r5, 1; fence.acq_rel.gpu; "
SOME_WAIT += (
    "setp.ne.u32 %p1, %r6, 0; @%p1 bra L; shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %r3; st.shared.u32 [%r7], %r5; "
)
WAITS_ON = "mov.u32 %r8, 0; " + WORD + "L: ld.global.u32 %r5, [%d1]; add.u32 %r8, %r8, 1; "
WAITS_ON += (
    "setp.lt.u32 %p1, %r8, 9; @%p1 bra L; shl.b32 %r7, %r8, 2; add.u32 %r7, %r7, %r3; st.shared.u32 [%r7], %r5; "
)
STORES = WORD + "L: ld.global.u32 %r5, [%d1]; add.u32 %r6, %r5, 1; st.global.u32 [%d1], %r6; and.b32 %r6, %r6, 7; "
STORES += "setp.ne.u32 %p1, %r6, 0; @%p1 bra L; st.shared.u32 [%r3], %r5; "
GUARDED = "mov.u32 %r8, 0; " + WORD + "L: ld.global.u32 %r5, [%d1]; setp.lt.u32 %p2, %r8, 9; @%p2 add.u32 %r8, %r8, 1; "
GUARDED += "setp.lt.u32 %p1, %r8, 9; @%p1 bra L; st.shared.u32 [%r3], %r5; "
WATCHED = "L: ld.shared.u32 %r5, [%r3]; setp.eq.u32 %p1, %r5, 0; @%p1 bra L; "
KERNELS = {
    "all threads wait": (ALL_WAIT, True),
    "some threads wait": (SOME_WAIT, True),
    "a register counts the trips": (WAITS_ON, False),
    "the loop changes the word": (STORES, False),
    "a guarded instruction counts the trips": (GUARDED, False),
    "the word is in shared memory": (WATCHED, False),
}
"""Bodies, and whether they wait."""
STEPS = (900, 901, 902, 903, 140)


def function_of(body: str) -> Function:
    module = read_module(f"{TOP}{HEAD}{body}ret; }}", "k.ptx")
    function = module.function("k")
    assert function is not None
    return inlined(module, function).function


def trials_of(body: str, times: int = 1) -> list[Trial]:
    module = read_module(f"{TOP}{HEAD}{body}ret; }}", "k.ptx")
    whole = function_of(body)
    wanted = [each.index for each in whole.instructions if "shared" in each.opcode]
    made = [*islice(Search(Launcher(whole, (64, 1, 1), 0)), 10)]
    steps = [times * STEPS[at % len(STEPS)] for at in range(len(made))]
    return run_all(module, whole, made, wanted, steps, keeps_memory=True)


def differs(body: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether trials that count what is left of a loop differ from those that make each trip."""
    found, paths_of = trials_of(body), machine.paths_of
    with monkeypatch.context() as made_all:
        made_all.setattr(machine, "paths_of", lambda function: (*paths_of(function)[:2], frozenset()))
        expected = trials_of(body)
    return list(map(did, found)) != list(map(did, expected))


@pytest.mark.parametrize("name", KERNELS)
def test_counted_trips_do_what_trips_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body, waits = KERNELS[name]
    assert not differs(body, monkeypatch)
    waiting = machine.paths_of(function_of(body))[2]
    assert bool(waiting) is waits
    assert not waits or any(each.is_cut_off for each in trials_of(body))


def test_trips_of_threads_that_wait_take_no_work() -> None:
    trials_of(ALL_WAIT)
    few, many = (calls_of(partial(trials_of, ALL_WAIT, times=times)) for times in (1, 20))
    assert many < 1.1 * few


PLANTED = {
    "loops that count are taken for loops that wait": ("_read", lambda _: set(), "a register counts the trips"),
    "loops that store are taken for loops that wait": ("_is_plain", lambda _: True, "the loop changes the word"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute, wrong, shown_by = PLANTED[name]
    monkeypatch.setattr(schedule, attribute, wrong)
    monkeypatch.setattr(machine, "paths_of", machine.paths_of.__wrapped__)
    assert differs(KERNELS[shown_by][0], monkeypatch)
