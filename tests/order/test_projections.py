"""Projections of runs: they have all that the runs of all barriers together have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from swzverify.compiled.order import interleaved, projections
from swzverify.compiled.order.interleaved import moments_of
from swzverify.compiled.order.projections import Projections
from swzverify.compiled.order.together import ACTIVE, AllMoments, Being, Member
from tests.order.conftest import races_in

from .random_ranks import ranked
from .test_random_ranks import said

MOST = 3_000
_MOMENTS = Projections.moments


def _lacks(part: AllMoments, whole: AllMoments, count: int) -> bool:
    """Whether a projection lacks something that the runs of all barriers have."""

    def kind(being: Being) -> Being:
        return Being.FREE if being in ACTIVE else being

    def facts(of: AllMoments) -> set[object]:
        """All that two threads may do at one time. Some projections freeze a thread, and others do not."""
        found: set[object] = set()
        for one, two in product(range(count), repeat=2):
            moments = of.of(one, two)
            for (mine, mine_is), others in moments.nodes.items():
                found |= {(one, two, mine, its, kind(mine_is), kind(its_is)) for its, its_is in others}
            for index, of_copies in moments.copies.items():
                for who, places in of_copies.items():
                    for (node, being), values in places.items():
                        found |= {(one, two, who, index, each, node, kind(being)) for each in values}
        return found

    return any(
        not some <= others
        for some, others in ((facts(whole), facts(part)), (whole.early, part.early), (whole.unmade, part.unmade))
    )


def _lacking(monkeypatch: pytest.MonkeyPatch, seeds: Sequence[int]) -> tuple[int, int]:
    """How many projections were held against the whole runs of some random kernels, and how many lack something."""
    compared, lacking = 0, 0

    def moments(
        self: Projections, members: Sequence[Member], most: int, *, is_of_time: bool, is_of_first: bool
    ) -> tuple[AllMoments | None, int]:
        nonlocal compared, lacking
        part, states = _MOMENTS(self, members, most, is_of_time=is_of_time, is_of_first=is_of_first)
        whole, _ = moments_of(
            members, self._roles, self._barriers, MOST, is_of_time=is_of_time, is_of_first=is_of_first
        )
        every = Projections(self._roles, self._barriers, is_whole=True)
        exact, _ = _MOMENTS(every, members, MOST, is_of_time=is_of_time, is_of_first=is_of_first)
        if part is not None and whole is not None:
            compared += 1
            lacking += _lacks(part, whole, len(members))
            # With all barriers nothing is lost, and nothing is more than it was.
            lacking += exact is None or _lacks(exact, whole, len(members)) or _lacks(whole, exact, len(members))
        return part, states

    monkeypatch.setattr(Projections, "moments", moments)
    for seed in seeds:
        said(ranked(seed))
    return compared, lacking


@pytest.mark.parametrize(
    "seeds", [(1, 2, 4), pytest.param(range(400), marks=pytest.mark.nightly)], ids=["day", "night"]
)
def test_no_moment_is_lost(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    compared, lacking = _lacking(monkeypatch, seeds)
    assert compared >= len(seeds)
    assert not lacking


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """If places behind what is left out are forgotten, something is lost, or projections differ in what they need."""

    def wrong(_nodes: object, start: int, _keys: object) -> list[int]:
        return [start]

    monkeypatch.setattr(projections, "_reach", wrong)
    with pytest.raises(AssertionError):
        assert not _lacking(monkeypatch, (97,))[1]


_STAGES = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 src) .reqnctapercluster 2, 1, 1
{
.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>;
.shared .align 16 .b8 buf[128];
.shared .align 16 .b8 far[64];
.shared .align 8 .b8 bar[16];
ld.param.u64 %d2, [src]; mov.u32 %r1, %tid.x; mov.u32 %r2, buf; mov.u32 %r3, bar; mov.u32 %r8, far;
setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p3, %r1, 32; setp.eq.u32 %p4, %r1, 64;
@!%p1 bra A;
mbarrier.init.shared.b64 [%r3], 1;
mbarrier.init.shared.b64 [%r3+8], 1;
A:
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mapa.shared::cluster.u32 %r9, %r8, 1;
ld.shared::cluster.u32 %r10, [%r9];
and.b32 %r5, %r1, 1; shl.b32 %r6, %r5, 3; shl.b32 %r7, %r5, 2; add.u32 %r3, %r3, %r6; add.u32 %r2, %r2, %r7;
shl.b32 %r7, %r5, 6; mov.u32 %r2, buf; add.u32 %r2, %r2, %r7;
shr.u32 %r12, %r1, 1;
setp.eq.u32 %p3, %r12, 16; setp.eq.u32 %p4, %r12, 32; setp.eq.u32 %p6, %r1, 80; setp.eq.u32 %p7, %r1, 81;
@%p3 bra P;
@%p4 bra C;
@%p6 bra N0;
@%p7 bra N1;
bra E;
N0:
mbarrier.arrive.expect_tx.shared.b64 %d1, [%r3], 64;
bra E;
N1:
mbarrier.arrive.expect_tx.shared.b64 %d1, [%r3], 32;
NW:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
@!%p2 bra NW;
mbarrier.arrive.expect_tx.shared.b64 %d1, [%r3], 32;
bra E;
P:
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d2], 32, [%r3];
PW:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
@!%p2 bra PW;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+32], [%d2], 32, [%r3];
bra E;
C:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
@!%p2 bra C;
ld.shared.u32 %r11, [%r2+32];
E:
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
"""
"""Two stages, to which a thread copies twice, and waits between: one expects all bytes at once, the other one half.

The first copier waits forever. The second one copies again while the other thread reads, with which it has no order.
"""


@pytest.mark.parametrize("knows", [True, False])
def test_what_decides_the_runs(knows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of both stages have one graph: what their objects expect, which a third thread says, is another."""
    if not knows:
        monkeypatch.setattr(projections, "_facts", lambda key, *_: key if isinstance(key, int) else None)
    found = races_in(_STAGES, (96, 1, 1))
    assert (found.verdict.value == "free") is not knows


_NAMED = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k()
{
.reg .pred %p<9>; .reg .b32 %r<9>;
.shared .align 4 .b8 buf[4];
mov.u32 %r1, %tid.x; mov.u32 %r2, buf;
setp.ge.u32 %p1, %r1, 64;
@%p1 bra E;
bar.sync 1, 64;
st.shared.u32 [%r2], %r1;
E:
ret;
}
"""
"""Two of three warps meet, and store to one word."""


@pytest.mark.parametrize("knows", [True, False])
def test_a_phase_without_parity_lets_all_go_on(knows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not knows:
        monkeypatch.setattr(interleaved._Runs, "_released", staticmethod(lambda state, _: state.waits))
    found = races_in(_NAMED, (96, 1, 1))
    assert (found.verdict.value == "free") is not knows
