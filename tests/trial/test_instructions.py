"""Instructions that trials run, and what they do not know: values that reach an address are
seen.
"""

from __future__ import annotations

import gc
import weakref

import pytest

from swzverify.compiled.kernel import inlined
from swzverify.compiled.ptx import read_module
from swzverify.compiled.trial import Launcher, Search, Trial, run
from swzverify.compiled.trial.atomics import can_run
from swzverify.compiled.trial.code import THREADS_PER_STEP
from tests.kernel.texts import HEAD, TOP

READ = "ld.shared.u32 %r50, [%r40];"


def trial_of(body: str, outside: str = "") -> tuple[Trial, int]:
    """The first trial of a kernel, and the index of its last instruction but one."""
    module = read_module(f"{TOP}{outside}{HEAD}{body}\nret; }}", "k.ptx")
    function = inlined(module, module.functions[0]).function
    last = len(function.instructions) - 2
    made = next(iter(Search(Launcher(function, (32, 1, 1), 0))))
    return run(module, function, made, [last], 500), last


def words(body: str, outside: str = "") -> list[int] | None:
    """Which words of the array the lanes of the last access read; None where that is not known."""
    trial, last = trial_of(body + READ, outside)
    assert not trial.fault, trial.fault
    if last not in trial.seen or not trial.seen[last].is_all:
        return None
    (row,) = trial.seen[last].addresses
    return [(int(each) - trial.starts[0][0]) // 4 for each in row]


STORED = "shl.b32 %r20, %r1, 2; add.u32 %r20, %r20, %r3; {} bar.sync 0; ld.shared.u32 %r21, [%r20];"
THERE = "shl.b32 %r40, %r21, 2; add.u32 %r40, %r40, %r3;"


@pytest.mark.parametrize(
    ("body", "first", "second"),
    [
        ("st.shared.u32 [%r20], %r1;", 0, 1),
        ("mov.u64 %d1, 7; st.shared.L2::cache_hint.u32 [%r20], %r1, %d1;", 0, 1),
        ("@%p1 st.shared.u32 [%r20], 5;", 0, 0),
        ("add.u32 %r22, %r20, 4; st.shared.u32 [%r22+0xfffffffffffffffc], %r1;", 0, 1),
        ("st.shared.u32 [%r20], 5; ld.param.u64 %d1, [q]; setp.eq.u32 %p1, %r1, 1; selp.u32 %r22, 0, 4, %p1;"
         "st.global.u32 [%d1], 7; cp.async.ca.shared.global [%r20], [%d1], 4, %r22;", 7, 0),
        ("st.shared.u32 [%r20], 5; ld.param.u64 %d1, [q]; setp.eq.u32 %p1, %r1, 1; selp.u32 %r22, 1, 4, %p1;"
         "st.global.u32 [%d1], 0x10007; cp.async.ca.shared.global [%r20], [%d1], 4, %r22; ld.shared.u32 %r22, [%r20];"
         "shr.u32 %r23, %r22, 16; add.u32 %r22, %r22, %r23; and.b32 %r22, %r22, 255;"
         "st.shared.u32 [%r20], %r22;", 8, 7),
        ("setp.eq.u32 %p1, %r1, 1; @!%p1 st.shared.u32 [%r20], 5;", 5, 0),
        ("st.shared.u32 [%r20], 9; atom.shared.exch.b32 %r22, [%r20], 4;", 4, 4),
        ("st.shared.u32 [%r20], %r1; atom.shared.cas.b32 %r22, [%r20], 1, 8;", 0, 8),
        ("st.shared.u32 [%r20], %r1; red.shared.inc.u32 [%r20], 1;", 1, 0),
        ("st.shared.u32 [%r20], %r1; red.shared.max.s32 [%r20], -1;", 0, 1),
        ("st.shared.u8 [%r20], 255; ld.shared.s8 %h1, [%r20]; cvt.s32.s16 %r22, %h1; neg.s32 %r22, %r22;"
         "st.shared.u32 [%r20], %r22;", 1, 1),
        ("add.u32 %r22, %r1, -2; popc.b32 %r22, %r22; st.shared.u32 [%r20], %r22;", 31, 32),
        ("mov.u64 %d1, -256; popc.b64 %r22, %d1; st.shared.u32 [%r20], %r22;", 56, 56),
        ("shfl.sync.bfly.b32 %r22, %r1, 1, 31, -1; st.shared.u32 [%r20], %r22;", 1, 0),
        ("shfl.sync.up.b32 %r22, %r1, 1, 0, -1; st.shared.u32 [%r20], %r22;", 0, 0),
        # 2 to the 24 and 1 and a little, which rounds up; in doubles the little is lost.
        (".reg .f32 %f<4>; mov.f32 %f1, 0f3F800800; mov.f32 %f2, 0f3F7FF001; mov.f32 %f3, 0f4B800000;"
         "fma.rn.f32 %f1, %f1, %f2, %f3; cvt.rzi.u32.f32 %r22, %f1; sub.u32 %r22, %r22, 16777216;"
         "st.shared.u32 [%r20], %r22;", 2, 2),
        ("setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %r22, %p1, -1; st.shared.u32 [%r20], %r22;", 2, 2),
        ("setp.lt.u32 %p1, %r1, 3; bar.red.popc.u32 %r22, 0, %p1; st.shared.u32 [%r20], %r22;", 3, 3),
        ("setp.lt.u32 %p1, %r1, 3; barrier.red.popc.aligned.u32 %r22, 1, 32, !%p1;"
         "st.shared.u32 [%r20], %r22;", 29, 29),
        ("setp.lt.u32 %p1, %r1, 3; bar.red.and.pred %p2, 0, %p1; selp.u32 %r22, 1, 2, %p2;"
         "st.shared.u32 [%r20], %r22;", 2, 2),
        ("setp.lt.u32 %p1, %r1, 3; bar.red.or.pred %p2, 0, %p1; selp.u32 %r22, 1, 2, %p2;"
         "st.shared.u32 [%r20], %r22;", 1, 1),
    ],
)  # fmt: skip
def test_what_is_stored_is_read(body: str, first: int, second: int) -> None:
    before = "setp.eq.u32 %p1, %r1, 999;"
    found = words(before + STORED.format(body) + THERE)
    assert found is not None
    assert found[:2] == [first, second]


@pytest.mark.parametrize(
    "body",
    [
        "mov.f32 %f1, 0f3F800000; ex2.approx.f32 %f1, %f1; mov.b32 %r22, %f1; st.shared.u32 [%r20], %r22;",
        "mov.f32 %f1, 0f00000001; add.ftz.f32 %f1, %f1, %f1; mov.b32 %r22, %f1; st.shared.u32 [%r20], %r22;",
        "mov.f32 %f1, 0fFF800000; sqrt.rn.f32 %f1, %f1; mov.b32 %r22, %f1; st.shared.u32 [%r20], %r22;",
        "mov.f64 %e1, 0d7FE0000000000000; fma.rn.f64 %e1, %e1, %e1, %e1; mov.b64 {%r22, %r23}, %e1;"
        "st.shared.u32 [%r20], %r22;",
        "st.shared.u32 [%r20], %r1; ld.param.u64 %d1, [q]; { .param .b32 given; st.param.b32 [given], %r1;"
        "proto: .callprototype _ (.param .b32 _); call %d1, (given), proto; }",
        "mov.u32 %r22, %clock; st.shared.u32 [%r20], %r22;",
        "mov.u32 %r22, %clock; setp.ne.u32 %p2, %r1, 5; @%p2 mov.u32 %r22, 0; setp.eq.u32 %p1, %r22, 0;"
        "bar.red.popc.u32 %r22, 0, %p1; st.shared.u32 [%r20], %r22;",
        "st.shared.u32 [%r20], %r30;",
        "div.u32 %r22, %r1, %r9; st.shared.u32 [%r20], %r22;",
        "st.shared.u32 [%r20], %r1; mov.u32 %r22, %clock; add.u32 %r22, %r22, %r3; st.shared.u32 [%r22], 1;",
        "st.shared.u32 [%r20], 0; red.shared.add.f32 [%r20], 0f3F800000;",
        "setp.lt.u32 %p1, %r1, 16; @%p1 shfl.sync.idx.b32 %r22, %r1, 20, 31, -1; @%p1 st.shared.u32 [%r20], %r22;",
        "mov.u32 %r24, %clock; mov.u32 %r23, 1; setp.eq.u32 %p1, %r1, 1; @%p1 mov.u32 %r23, %clock;"
        " add.u32 %r22, %r24, %r23; @%p1 mov.u32 %r22, 3; st.shared.u32 [%r20], %r22;",
    ],
)
def test_what_is_not_known_stays_so(body: str) -> None:
    assert words(".reg .f32 %f<9>; .reg .f64 %e<9>;" + STORED.format(body) + THERE) is None


@pytest.mark.parametrize(
    "body",
    [
        f"{opcode} {operands};"
        for opcode, target in (
            ("cvt.rn.f32.s32", "%f1"), ("cvt.rzi.s32.f32", "%r22"), ("cvt.f64.f32", "%e1"), ("cvt.rni.f32.f32", "%f1"),
            ("setp.lt.f32", "%p1"), ("add.f32", "%f1"), ("fma.rn.f64", "%e1"), ("sqrt.rn.f32", "%f1"),
        )
        for operands in (target, f"{target}, {target}, {target}", ", ".join([target] * 5), f"{{{target}, {target}}}, 1")
    ],
)  # fmt: skip
def test_a_float_instruction_with_wrong_operands_is_not_followed(body: str) -> None:
    trial, _ = trial_of(".reg .f32 %f<9>; .reg .f64 %e<9>;" + body + READ)
    assert not trial.ended


@pytest.mark.parametrize("kind", ["f8", "f128", "f16", "f32", "f64"])
def test_a_parameter_that_is_a_float(kind: str) -> None:
    text = f"{TOP}.entry k(.param .align 16 .b8 q[16]) {{ .reg .b32 %r; ld.param.{kind} %r, [q]; ret; }}"
    function = read_module(text, "k.ptx").functions[0]
    made = next(iter(Search(Launcher(function, (32, 1, 1), 0))))
    assert ("1.0" in made.words) == (kind in ("f16", "f32", "f64"))


def test_warps_reduce_at_one_instruction_alone() -> None:
    text = "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.red.or.pred %p2, 0, %p1; bra B; A: {}; B: mov.u32 %r40, %r3;"
    for other, ended in (
        ("bar.red.or.pred %p2, 0, %p1", "warps wait for a barrier that the others do not come to"),
        ("bar.sync 0", "warps wait for a barrier that the others do not come to"),
    ):
        module = read_module(f"{TOP}{HEAD}{text.format(other)}\nret; }}", "k.ptx")
        function = inlined(module, module.functions[0]).function
        made = next(iter(Search(Launcher(function, (64, 1, 1), 0))))
        assert run(module, function, made, [], 500).ended == ended


def test_a_branch_that_is_not_known_ends_the_trial() -> None:
    trial, last = trial_of("mov.u32 %r40, %r3; mov.u32 %r22, %clock; setp.eq.u32 %p1, %r22, 0; @%p1 bra E; E: " + READ)
    assert (trial.ended, last in trial.seen) == ("", True)
    trial, last = trial_of("mov.u32 %r22, %clock; setp.eq.u32 %p1, %r22, 0; @%p1 bra E; mov.u32 %r40, %r3; E: " + READ)
    assert trial.ended == "a branch is not known"
    assert last not in trial.seen


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r40, 0; ",
        "add.u32 %r40, %r3, 8192; ",
        "add.u32 %r40, %r3, 2; ",
        "mov.u32 %r40, %r3; trap; ",
        "mov.u32 %r40, %r3; ld.shared.v2.u32 {%r41, %r42}, [%r3+4]; ",
    ],
)
def test_a_launch_that_faults(body: str) -> None:
    assert trial_of(body + READ)[0].fault


@pytest.mark.parametrize(
    "outside",
    [
        ".shared .align 4 .b8 huge[1099511627776];\n",
        "".join(f".global .align 4 .b8 g{at}[4194304];\n" for at in range(40)),
    ],
)
def test_more_memory_than_a_trial_has(outside: str) -> None:
    trial, _ = trial_of("mov.u32 %r40, %r3; " + READ, outside)
    assert "more than a trial has" in trial.ended
    assert trial.seen == {}


def test_local_memory_of_all_threads_counts() -> None:
    locals_ = "".join(f".local .align 8 .b8 l{at}[65536]; " for at in range(80))
    assert "more than a trial has" in trial_of(locals_ + "mov.u32 %r40, %r3; " + READ)[0].ended


def test_the_memory_of_a_trial_goes_with_it() -> None:
    """A cycle of references would keep it until Python looks for such, some hundred trials later."""
    gc.disable()
    try:
        trial, _ = trial_of("")
        memory = weakref.ref(trial.memory)
        del trial
        assert memory() is None
    finally:
        gc.enable()


def test_an_endless_loop_ends() -> None:
    assert trial_of("L: add.u32 %r40, %r3, 0; bra L; " + READ)[0].ended == "it takes more steps than a trial has"


def test_threads_that_run_one_by_one_cost_more_steps() -> None:
    plain, _ = trial_of("mov.u32 %r40, %r3; st.shared.u32 [%r3], 1; " + READ)
    atomic, _ = trial_of("mov.u32 %r40, %r3; red.shared.add.u32 [%r3], 1; " + READ)
    assert atomic.steps == plain.steps + 32 // THREADS_PER_STEP


def test_atomics_of_other_blocks_and_vectors_are_not_run() -> None:
    body = "red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%r1], %r2, [%r3];"
    module = read_module(f"{TOP}{HEAD}{body}\nret; }}", "k.ptx")
    assert not can_run(module.functions[0].instructions[-2])
