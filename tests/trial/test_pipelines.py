"""Runs with a clock for each thread: named barriers, mbarrier objects, bulk copies, wgmma, release and acquire.

Each order has a kernel that has it, and twins with one mistake. Planted mistakes in the runs show in these kernels.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from swzverify.compiled.trial import clocked, flags, history, knowledge, objects, products, touches
from tests.trial.test_clocks import FIRST, run

MINE, OTHERS = "st.shared.u32 [%r4], %r1;", "ld.shared.u32 %r7, [%r8];"
"""A thread stores its word; it loads the word of the same lane of the other warp of two."""
OTHER_WARP = "xor.b32 %r8, %r3, 128;\nadd.u32 %r8, %r2, %r8;\n"


def roles(first: str, second: str) -> str:
    """Threads below 32 run one text, the others another one."""
    return f"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra C;\n{first}\nbra E;\nC:\n{second}\nE:\n"


def two(first: str, second: str) -> str:
    """The same, where each knows the other warp's word."""
    return OTHER_WARP + roles(first, second)


def objects_of(*counts: int) -> str:
    """Thread 0 makes mbarrier objects at s+2048, s+2056, ..., which all threads know behind a barrier."""
    made = (f"@%p3 mbarrier.init.shared.b64 [s+{2048 + 8 * at}], {count};\n" for at, count in enumerate(counts))
    return "setp.eq.u32 %p3, %r1, 0;\n" + "".join(made) + "bar.sync 0;\n"


def wait(parity: int, at: int = 2048, name: str = "W", words: str = "") -> str:
    return f"{name}:\nmbarrier.try_wait.parity{words}.shared.b64 %p2, [s+{at}], {parity};\n@!%p2 bra {name};\n"


ASK = "mbarrier.try_wait.parity.shared.b64 %p2, [s+{}], {};"
ARRIVE = "mbarrier.arrive.shared.b64 _, [s+2048];"
ELECTED = "setp.eq.u32 %p3, %r1, 0;\n@%p3 mbarrier.arrive.shared.b64 _, [s+2048];"
EXPECT = "mbarrier.arrive.expect_tx.shared.b64 _, [s+2048], {};"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 128, [s+2048];"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 128;"
COMMIT = "cp.async.bulk.commit_group;"
FENCE = "fence.proxy.async.shared::cta;"
DOWN = "sub.u32 %r8, %r4, 128;\n"
"""%r8 is the word of a thread of the second warp in the first 128 bytes."""
SET, SEE = "st.release.cta.shared.u32 [s+2048], 1;", "ld.acquire.cta.shared.u32 %r9, [s+2048];"
SPIN = "L:\n{}\nsetp.eq.u32 %p2, %r9, 0;\n@%p2 bra L;\n"
CLEAR = "setp.eq.u32 %p3, %r1, 0;\nmov.u32 %r9, 0;\n@%p3 st.shared.u32 [s+2048], %r9;\nbar.sync 0;\n"
COPY = "cp.async.ca.shared.global [%r4], [%rd2], 4;"
# Without a swizzle, rows of 16 bytes: 64 rows of A at s, 8 of B at s+2048, 32 bytes of K each.
MATRICES = (
    "shr.u32 %r8, %r2, 4;\ncvt.u64.u32 %rd3, %r8;\nmov.u64 %rd2, 0x0000000800400000;\nor.b64 %rd3, %rd3, %rd2;\n"
    "shl.b32 %r8, %r1, 4;\nadd.u32 %r8, %r2, %r8;\n"
)
WRITE, REWRITE = "st.shared.u32 [%r8], %r1;", "st.shared.u32 [%r8+4], %r1;"
PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %rd3, %rd3, 1, 1, 1, 0, 0;"
CLOSE, DONE = "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned {};"


@dataclass(frozen=True)
class Case:
    """A kernel: the pairs that race, by their texts, those that lack a fence, and where threads wait for ever."""

    body: str
    pairs: tuple[tuple[str, str], ...] = ()
    fences: tuple[tuple[str, str], ...] = ()
    hangs: tuple[str, ...] = ()
    threads: int = 64


RACE = ((MINE, OTHERS),)
CASES = {
    # ---- named barriers
    "arrive, sync": Case(two(f"{MINE}\nbar.arrive 1, 64;", f"bar.sync 1, 64;\n{OTHERS}")),
    "arrive, sync with registers": Case(
        two(f"{MINE}\nmov.u32 %r9, 3;\nmov.u32 %r10, 64;\nbar.arrive %r9, %r10;", f"barrier.sync 3, 64;\n{OTHERS}")
    ),
    "arrive first, then store": Case(two(f"bar.arrive 1, 64;\n{MINE}", f"bar.sync 1, 64;\n{OTHERS}"), RACE),
    "a count of one warp": Case(two(f"{MINE}\nbar.arrive 1, 32;", f"bar.sync 1, 32;\n{OTHERS}"), RACE),
    "two numbers": Case(two(f"{MINE}\nbar.sync 1, 32;", f"bar.sync 2, 32;\n{OTHERS}"), RACE),
    "who arrives does not wait": Case(two(f"bar.arrive 1, 64;\n{OTHERS}", f"{MINE}\nbar.sync 1, 64;"), RACE),
    "both sync": Case(two(f"bar.sync 1, 64;\n{OTHERS}", f"{MINE}\nbar.sync 1, 64;")),
    "a count that nobody reaches": Case(two(MINE, "bar.sync 1, 96;"), hangs=("bar.sync 1, 96;",)),
    "two barriers crosswise": Case(
        roles("bar.sync 1, 64;\nbar.sync 2, 64;", "bar.sync 2, 64;\nbar.sync 1, 64;"),
        hangs=("bar.sync 1, 64;", "bar.sync 2, 64;"),
    ),
    "two of three warps": Case(
        OTHER_WARP + "setp.gt.u32 %p1, %r1, 63;\n@%p1 ret;\n" + f"{MINE}\nbar.sync 2, 64;\n{OTHERS}", threads=96
    ),
    # ---- mbarrier objects
    "a phase": Case(objects_of(32) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS)),
    "a phase by its state": Case(
        objects_of(64) + f"{OTHER_WARP}{MINE}\nmbarrier.arrive.shared.b64 %rd3, [s+2048];\nW:\n"
        f"mbarrier.test_wait.shared.b64 %p2, [s+2048], %rd3;\n@!%p2 bra W;\n{OTHERS}"
    ),
    "the phase before": Case(
        objects_of(32) + two(f"{MINE}\n{ARRIVE}", wait(1) + OTHERS), RACE, hangs=(ASK.format(2048, 1),)
    ),
    "half the arrivals": Case(
        objects_of(16) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS), RACE, hangs=(ASK.format(2048, 0),)
    ),
    "a relaxed arrival": Case(
        objects_of(32) + two(f"{MINE}\n{ARRIVE.replace('.shared', '.relaxed.cta.shared')}", wait(0) + OTHERS),
        RACE,
    ),
    "a relaxed wait": Case(objects_of(32) + two(f"{MINE}\n{ARRIVE}", wait(0, words=".relaxed.cta") + OTHERS), RACE),
    "a count operand": Case(
        objects_of(64) + two(f"{MINE}\nmbarrier.arrive.shared.b64 _, [s+2048], 2;", wait(0) + OTHERS)
    ),
    "one lane arrives for its warp": Case(
        objects_of(1) + two(f"{MINE}\nbar.warp.sync -1;\n{ELECTED}", wait(0) + OTHERS)
    ),
    "one lane arrives without a barrier of its warp": Case(
        objects_of(1) + two(f"{MINE}\n{ELECTED}", wait(0) + OTHERS), RACE
    ),
    "no barrier behind init": Case(
        objects_of(32).replace("bar.sync 0;\n", "") + two(ARRIVE, ""),
        (("@%p3 mbarrier.init.shared.b64 [s+2048], 32;", ARRIVE),),
    ),
    "an arrival less in the next phase": Case(
        objects_of(64)
        + two(
            f"mbarrier.arrive_drop.shared.b64 _, [s+2048];\n{wait(0)}bar.sync 1, 64;\n{wait(1, name='V')}{OTHERS}",
            f"{ARRIVE}\n{wait(0, name='U')}bar.sync 1, 64;\n{MINE}\n{ARRIVE}",
        )
    ),
    "an answer that the kernel does not wait for": Case(
        objects_of(32)
        + two(f"{MINE}\n{ARRIVE}", "mbarrier.test_wait.parity.shared.b64 %p2, [s+2048], 1;\n" + wait(0) + OTHERS)
    ),
    "an arrival that does not come": Case(
        objects_of(33) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS),
        hangs=(ASK.format(2048, 0),),
    ),
    "producer and consumer wait for each other": Case(
        objects_of(32, 32)
        + two(f"{wait(0, 2056)}{MINE}\n{ARRIVE}", f"{wait(0, name='V')}mbarrier.arrive.shared.b64 _, [s+2056];"),
        hangs=(
            ASK.format(2048, 0),
            ASK.format(2056, 0),
        ),
    ),
    "copies arrive": Case(
        objects_of(32) + two(f"{COPY}\ncp.async.mbarrier.arrive.noinc.shared.b64 [s+2048];", wait(0) + OTHERS)
    ),
    "copies that arrive before they are made": Case(
        objects_of(32) + two(f"cp.async.mbarrier.arrive.noinc.shared.b64 [s+2048];\n{COPY}", wait(0) + OTHERS),
        ((COPY, OTHERS),),
    ),
    "an arrival does not wait for copies": Case(
        objects_of(32) + two(f"{COPY}\n{ARRIVE}", wait(0) + OTHERS), ((COPY, OTHERS),)
    ),
    # ---- bulk copies
    "a bulk load": Case(objects_of(1) + roles(f"@!%p3 bra E;\n{EXPECT.format(128)}\n{LOAD}", DOWN + wait(0) + OTHERS)),
    "the bytes are expected behind the copy": Case(
        objects_of(1) + roles(f"@!%p3 bra E;\n{LOAD}\n{EXPECT.format(128)}", DOWN + wait(0) + OTHERS)
    ),
    "no wait for a bulk load": Case(
        objects_of(1) + roles(f"@!%p3 bra E;\n{EXPECT.format(128)}\n{LOAD}", DOWN + OTHERS), ((LOAD, OTHERS),)
    ),
    "its own thread does not wait": Case(
        objects_of(1) + f"@!%p3 ret;\n{EXPECT.format(128)}\n{LOAD}\nld.shared.u32 %r7, [s];",
        ((LOAD, "ld.shared.u32 %r7, [s];"),),
    ),
    "no bytes are expected": Case(
        objects_of(1) + roles(f"@!%p3 bra E;\n{ARRIVE}\n{LOAD}", DOWN + wait(0) + OTHERS), ((LOAD, OTHERS),)
    ),
    "too many bytes are expected": Case(
        objects_of(1) + roles(f"@!%p3 bra E;\n{EXPECT.format(256)}\n{LOAD}", DOWN + wait(0) + OTHERS),
        hangs=(ASK.format(2048, 0),),
    ),
    "a stage is filled while it is read": Case(
        objects_of(1, 32)
        + roles(
            f"@!%p3 bra E;\n{EXPECT.format(128)}\n{LOAD}\n{wait(0, name='V')}{EXPECT.format(128)}\n{LOAD}",
            f"{DOWN}{wait(0)}{OTHERS}",
        ),
        ((LOAD, OTHERS),),
    ),
    "a stage is filled when it was read": Case(
        objects_of(1, 32)
        + roles(
            f"@!%p3 bra E;\n{EXPECT.format(128)}\n{LOAD}\n{wait(0, 2056, 'V')}{EXPECT.format(128)}\n{LOAD}",
            f"{DOWN}{wait(0)}{OTHERS}\nmbarrier.arrive.shared.b64 _, [s+2056];",
        )
    ),
    "a bulk load over stores": Case(
        objects_of(1) + f"{MINE}\n{FENCE}\nbar.sync 0;\n@!%p3 ret;\n{EXPECT.format(128)}\n{LOAD}"
    ),
    "a bulk load over stores without a fence": Case(
        objects_of(1) + f"{MINE}\nbar.sync 0;\n@!%p3 ret;\n{EXPECT.format(128)}\n{LOAD}", fences=((MINE, LOAD),)
    ),
    "a bulk store": Case(
        f"{MINE}\n{FENCE}\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra A;\n{STORE}\n{COMMIT}\n"
        f"cp.async.bulk.wait_group.read 0;\nA:\nbar.sync 0;\n{REWRITE.replace('%r8+4', '%r4')}"
    ),
    "the fence of the thread that copies": Case(
        f"{MINE}\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 ret;\n{FENCE}\n{STORE}"
    ),
    "a bulk store without a fence": Case(
        f"{MINE}\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 ret;\n{STORE}", fences=((MINE, STORE),)
    ),
    "a fence before the stores": Case(
        f"{FENCE}\n{MINE}\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 ret;\n{STORE}", fences=((MINE, STORE),)
    ),
    "a fence of another space": Case(
        f"{MINE}\nfence.proxy.async.global;\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 ret;\n{STORE}",
        fences=((MINE, STORE),),
    ),
    "a source that is written too early": Case(
        f"{FENCE}\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra A;\n{STORE}\n{COMMIT}\n"
        f"cp.async.bulk.wait_group.read 1;\nA:\nbar.sync 0;\n{MINE}",
        ((STORE, MINE),),
    ),
    "a group that is not closed": Case(
        f"setp.ne.u32 %p3, %r1, 0;\n@%p3 bra A;\n{STORE}\ncp.async.bulk.wait_group.read 0;\nA:\nbar.sync 0;\n{MINE}",
        ((STORE, MINE),),
    ),
    "groups of other copies": Case(
        f"setp.ne.u32 %p3, %r1, 0;\n@%p3 bra A;\n{STORE}\ncp.async.commit_group;\ncp.async.wait_all;\nA:\nbar.sync 0;\n"
        f"{MINE}",
        ((STORE, MINE),),
    ),
    # ---- wgmma
    "a product": Case(
        f"{MATRICES}{WRITE}\n{FENCE}\nbar.sync 0;\n{PRODUCT}\n{CLOSE}\n{DONE.format(0)}\nbar.sync 0;\n{REWRITE}",
        threads=128,
    ),
    "a product without a fence": Case(
        f"{MATRICES}{WRITE}\nbar.sync 0;\nwgmma.fence.sync.aligned;\n{PRODUCT}", fences=((WRITE, PRODUCT),), threads=128
    ),
    "a product without a barrier": Case(f"{MATRICES}{WRITE}\n{FENCE}\n{PRODUCT}", threads=128),
    "a product that is still read": Case(
        f"{MATRICES}{WRITE}\n{FENCE}\nbar.sync 0;\n{PRODUCT}\n{CLOSE}\n{DONE.format(1)}\nbar.sync 0;\n{REWRITE}",
        ((PRODUCT, REWRITE),),
        threads=128,
    ),
    "a product that no group has": Case(
        f"{MATRICES}{WRITE}\n{FENCE}\nbar.sync 0;\n{PRODUCT}\n{DONE.format(0)}\n{REWRITE}",
        ((PRODUCT, REWRITE),),
        threads=128,
    ),
    "the other warpgroup does not wait for a product": Case(
        f"{MATRICES}{FENCE}\nsetp.gt.u32 %p1, %r1, 127;\n@%p1 bra A;\n{PRODUCT}\n{CLOSE}\n{DONE.format(0)}\nbra B;\n"
        f"A:\nadd.u32 %r8, %r8, -2048;\n{REWRITE}\nB:",
        ((PRODUCT, REWRITE),),
        threads=256,
    ),
    # ---- release and acquire
    "a flag": Case(CLEAR + two(f"{MINE}\nbar.warp.sync -1;\n@!%p3 bra E;\n{SET}", SPIN.format(SEE) + OTHERS)),
    "a flag for one lane": Case(CLEAR + two(f"{MINE}\n@!%p3 bra E;\n{SET}", SPIN.format(SEE) + OTHERS), RACE),
    "a flag with fences": Case(
        CLEAR
        + two(
            f"{MINE}\nbar.warp.sync -1;\n@!%p3 bra E;\nfence.acq_rel.cta;\nst.relaxed.cta.shared.u32 [s+2048], 1;",
            SPIN.format("ld.relaxed.cta.shared.u32 %r9, [s+2048];") + f"fence.acq_rel.cta;\n{OTHERS}",
        )
    ),
    "a flag without a fence": Case(
        CLEAR
        + two(
            f"{MINE}\nbar.warp.sync -1;\n@!%p3 bra E;\nst.relaxed.cta.shared.u32 [s+2048], 1;",
            SPIN.format("ld.relaxed.cta.shared.u32 %r9, [s+2048];") + f"fence.acq_rel.cta;\n{OTHERS}",
        ),
        RACE,
    ),
    "a lock": Case(
        CLEAR + "setp.ne.u32 %p3, %r5, %r4;\nL:\natom.acquire.cta.shared.cas.b32 %r9, [s+2048], 0, 1;\n"
        "setp.ne.u32 %p2, %r9, 0;\n@%p2 bra L;\nld.shared.u32 %r7, [s];\nadd.u32 %r7, %r7, 1;\n"
        "st.shared.u32 [s], %r7;\n"
        "st.release.cta.shared.u32 [s+2048], 0;"
    ),
    "a lock that is not released": Case(
        CLEAR + "L:\natom.acquire.cta.shared.cas.b32 %r9, [s+2048], 0, 1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra L;",
        hangs=("atom.acquire.cta.shared.cas.b32 %r9, [s+2048], 0, 1;",),
    ),
    "a lock without order": Case(
        CLEAR + "L:\natom.shared.cas.b32 %r9, [s+2048], 0, 1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra L;\n"
        "st.shared.u32 [s], %r1;\natom.shared.exch.b32 %r9, [s+2048], 0;",
        (("st.shared.u32 [s], %r1;", "st.shared.u32 [s], %r1;"),),
    ),
}


def check(name: str) -> None:
    case = CASES[name]
    orders = [run(case.body, case.threads, is_late=each) for each in (False, True)]
    lines = case.body.splitlines()
    races: list[touches.Unordered] = [each for found in orders for each in found.races]

    def texts(each: touches.Unordered) -> tuple[str, ...]:
        return tuple(sorted(lines[line - FIRST] for line in each.lines))

    shown = {texts(each) for each in races if not each.lacks_fence and not each.one_value}
    assert shown == {tuple(sorted(each)) for each in case.pairs}, (name, orders)
    assert {texts(each) for each in races if each.lacks_fence} == {tuple(sorted(each)) for each in case.fences}
    assert {lines[each.line - FIRST] for found in orders for each in found.hangs} == set(case.hangs)
    for found in orders:
        assert bool(found.ended) == bool(found.hangs), found.ended
        assert not found.is_fault


@pytest.mark.parametrize("name", CASES)
def test_orders_and_their_twins(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    "body",
    [
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], %r1, [%r4];",
        objects_of(1) + LOAD.replace("bulk.shared", "bulk.tensor.1d.shared").replace("[%rd1], 128", "[%rd1, {0}]"),
        objects_of(1) + LOAD.replace("bytes ", "bytes.multicast::cluster "),
        "tcgen05.fence::before_thread_sync;",
        "mbarrier.pending_count.b64 %r7, %rd1;",
    ],
)
def test_what_is_not_followed_ends_a_run(body: str) -> None:
    assert "not followed" in run(body).ended


def test_a_descriptor_that_is_not_known_ends_a_run() -> None:
    body = f"mov.u64 %rd3, %clock64;\n{PRODUCT}"
    assert run(body, 128).ended == "a matrix descriptor is not known"


# ---- planted mistakes


def ignores_phases(self: Any, _: Any, places: Any, active: Any) -> Any:
    for place in set(places[active].tolist()):
        self._history.knowledge.learn(active.nonzero()[0], self.at(place).coming)
    return active.copy()


def waits_at_arrive(self: Any, *args: Any, waits: bool) -> None:  # noqa: ARG001
    GATHER(self, *args, waits=True)


def counts_one_more(self: Any, instruction: Any, threads: Any, places: Any, counts: Any) -> None:
    INIT(self, instruction, threads, places, counts + 1)


def counts_one_less(self: Any, instruction: Any, threads: Any, places: Any, counts: Any) -> None:
    INIT(self, instruction, threads, places, counts - (counts > 1))


def bulk_writes_at_once(self: Any, line: int, effect: Any, *rest: Any, **more: Any) -> Any:
    is_load = effect is touches.Effect.BULK_WRITE
    found = ACCESS(self, line, effect, *rest, **more)
    if is_load and found is not None:
        found.ends[:] = self.time
    return found


def lands_at_once(self: Any, landing: Any) -> None:
    """The bytes count before the copy is there, and the copy ends with no phase."""
    SEND(self, landing)
    landing = self._landings.pop()
    self.at(landing.place).bytes -= landing.size
    self._settle(landing.place)


def waits_for_one_more(self: Any, active: Any, left: int, *rest: Any) -> None:
    WAIT(self, active, max(0, left - 1), *rest)


def reaches_one_more(self: Any, threads: Any, component: int, time: int) -> None:
    REACH(self, threads, component, time + 1)


def forgets_fences(*_: Any) -> None:
    pass


def needs_no_fence(a: Any, *_: Any) -> Any:
    return a.byte == a.byte


def relaxed_is_acquire(self: Any, strong: Any, *rest: Any) -> None:
    ACCESS_FLAG(self, flags.Strong(strong.reads, strong.writes, acquires=True, releases=True), *rest)


GATHER, INIT, SEND = clocked.Clocked._gather, objects.Objects._init, objects.Objects.send
ACCESS, WAIT, REACH = history.History.access, history.History.wait_for_copies, knowledge.Knowledge.reach
ACCESS_FLAG = flags.Flags.access
PLANTED: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "a phase is ignored": (objects.Objects, "passes", ignores_phases, "the phase before"),
    "arrive waits": (clocked.Clocked, "_gather", waits_at_arrive, "who arrives does not wait"),
    "a count is one too large": (objects.Objects, "_init", counts_one_more, "a phase"),
    "a count is one too small": (objects.Objects, "_init", counts_one_less, "an arrival that does not come"),
    "a bulk load ends at once": (history.History, "access", bulk_writes_at_once, "its own thread does not wait"),
    "bytes count before the copy": (objects.Objects, "send", lands_at_once, "a bulk load"),
    "wait_group 1 is wait_group 0": (
        history.History,
        "wait_for_copies",
        waits_for_one_more,
        "a source that is written too early",
    ),
    "wgmma.wait_group 1 is 0": (knowledge.Knowledge, "reach", reaches_one_more, "a product that is still read"),
    "a fence is ignored": (knowledge.Knowledge, "fence_proxy", forgets_fences, "a bulk store"),
    "no fence is needed": (touches, "_is_fenced", needs_no_fence, "a product without a fence"),
    "relaxed is acquire and release": (flags.Flags, "access", relaxed_is_acquire, "a flag without a fence"),
    "operands are not read": (products.Products, "_read", forgets_fences, "a product that is still read"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, mistake, case = PLANTED[name]
    check(case)
    monkeypatch.setattr(owner, attribute, mistake)
    with pytest.raises(AssertionError):
        check(case)
