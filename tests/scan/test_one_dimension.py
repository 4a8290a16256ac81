"""One verdict for every block of one dimension, against the verdicts for blocks of given lengths."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, Verdict, decide, one_dimension
from swzverify.compiled.scan.claim import ClaimVerdict
from swzverify.compiled.scan.one_dimension import A_WARP, ONE_DIMENSION, has_one_dimension
from swzverify.compiled.scan.verdict import NO_BLOCK
from swzverify.ir.expr import TRUE
from tests.scan.texts import last, strided, text_of

LENGTHS = (1, 31, 32, 33, 48, 64, 100, 256, 1000, 1024)
NTID = "mov.u32 %r4, %ntid.x; "
INDICES = {
    "tid": "mov.u32 %r10, %r1;",
    "tid * k": "mul.lo.u32 %r10, %r1, {k};",
    "tid * ntid": "mul.lo.u32 %r10, %r1, %r4;",
    "tid + ntid": "add.u32 %r10, %r1, %r4;",
    "tid + ntid * k": "mad.lo.u32 %r10, %r4, {k}, %r1;",
    "tid % ntid": "rem.u32 %r10, %r1, %r4;",
    "tid / ntid": "div.u32 %r10, %r1, %r4;",
    "ntid - 1 - tid": "sub.u32 %r10, %r4, %r1; sub.u32 %r10, %r10, 1;",
    "tid % k * 32 + tid / k": "rem.u32 %r10, %r1, {k}; div.u32 %r11, %r1, {k}; mad.lo.u32 %r10, %r10, 32, %r11;",
    "tid ^ tid / 8": "shr.u32 %r10, %r1, 3; and.b32 %r10, %r10, 7; xor.b32 %r10, %r10, %r1;",
    "tid * (ntid / 32)": "shr.u32 %r10, %r4, 5; mul.lo.u32 %r10, %r10, %r1;",
    "tid * n": "mul.lo.u32 %r10, %r1, %r2;",
    "lane * k": "mov.u32 %r10, %laneid; mul.lo.u32 %r10, %r10, {k};",
    "n": "mov.u32 %r10, %r2;",
    "tid % 8 * 4 + tid / 8 % 2 * 2": "and.b32 %r10, %r1, 7; shl.b32 %r10, %r10, 2; bfe.u32 %r11, %r1, 3, 1;"
    " mad.lo.u32 %r10, %r11, 2, %r10;",
}
GUARDS = {
    "": "setp.eq.u32 %p1, %r1, %r1;",
    "tid < ntid / 2": "shr.u32 %r11, %r4, 1; setp.lt.u32 %p1, %r1, %r11;",
    "tid < k": "setp.lt.u32 %p1, %r1, {k};",
    "tid >= k": "setp.ge.u32 %p1, %r1, {k};",
    "tid + k < ntid": "add.u32 %r11, %r1, {k}; setp.lt.u32 %p1, %r11, %r4;",
    "tid < n": "setp.lt.u32 %p1, %r1, %r2;",
    "ntid > k": "setp.gt.u32 %p1, %r4, {k};",
    "tid < ntid": "setp.lt.u32 %p1, %r1, %r4;",
    "lane < k": "mov.u32 %r11, %laneid; setp.lt.u32 %p1, %r11, {k};",
    "tid % 2": "and.b32 %r11, %r1, 1; setp.eq.u32 %p1, %r11, 1;",
}
ACCESSES = {
    "ld.shared.u32 %r30, [%r20];": 4,
    "st.shared.u32 [%r20], %r1;": 4,
    "ld.shared.v4.u32 {{%r30, %r31, %r32, %r33}}, [%r20];": 16,
    "ld.shared.u8 %r30, [%r20];": 1,
    "ld.shared.u16 %r30, [%r20];": 2,
    "atom.shared.add.u32 %r30, [%r20], %r2;": 4,
    "cp.async.cg.shared.global [%r20], [%d1], 16;": 16,
    "cp.async.ca.shared.global [%r20], [%d1], 4;": 4,
}


def drawn(seed: int) -> str:
    """A body: an index, a guard and an access, now and then in a loop of strides."""
    draw = random.Random(seed)
    k = draw.choice((1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 100))
    access = draw.choice(list(ACCESSES))
    scale = ACCESSES[access] * draw.choice((1, 1, 1, 2, 8))
    index, guard = draw.choice(list(INDICES.values())), draw.choice(list(GUARDS.values()))
    body = f"{NTID}{index} {guard} mad.lo.u32 %r20, %r10, {scale}, %r3;"
    if draw.random() < 0.25:
        body += f" @!%p1 bra OUT; mov.u32 %r5, %r1; TOP: {access} add.u32 %r5, %r5, %r4;"
        body += f" mad.lo.u32 %r20, %r4, {scale}, %r20; setp.lt.u32 %p2, %r5, %r2; @%p2 bra TOP; OUT:"
    else:
        body += f" @%p1 {access}"
    return body.replace("{{", "{").replace("}}", "}").replace("{k}", str(k))


def every(body: str) -> ScannedAccess:
    return last(body, None)


def check(body: str) -> str:
    """Hold the verdict for every length against those for some; the verdict."""
    access = every(body)
    found = access.decision
    if found.verdict is Verdict.UNKNOWN and all(each.verdict is not ClaimVerdict.PROVED for each in access.claims):
        return found.verdict.value
    assert access.block is None
    for length in LENGTHS:
        there = last(body, (length, 1, 1))
        for mine, its in zip(access.claims, there.claims, strict=True):
            assert not mine.is_broken, (length, body)
            assert mine.verdict is not ClaimVerdict.PROVED or not its.is_broken, (length, body)
        if found.verdict is Verdict.FREE:
            assert there.decision.verdict in (Verdict.FREE, Verdict.UNKNOWN), (length, body, there.decision)
        elif found.verdict is not Verdict.UNKNOWN and length >= 32:
            assert {ONE_DIMENSION, A_WARP} <= {*found.assumes}
            assert there.decision.verdict is found.verdict, (length, body, found, there.decision)
            least, most = found.ways or 0, there.decision.ways or 0
            assert 1 < least <= most if found.at_least else least == most, (length, body, found, there.decision)
    return found.verdict.value


MANY = [pytest.param(range(start, start + 40), marks=pytest.mark.nightly) for start in range(40, 640, 40)]


@pytest.mark.parametrize("seeds", [range(40), *MANY])
def test_verdicts_for_every_length_are_those_for_each(seeds: range) -> None:
    assert {check(drawn(seed)) for seed in seeds} >= {"free", "conflict", "unknown"}


LOAD = "mad.lo.u32 %r20, %r10, {}, %r3; ld.shared.u32 %r30, [%r20];"
OFTEN = "mad.lo.u32 %r20, %r1, 128, %r3; @%p1 ld.shared.u32 %r30, [%r20];"
ARRAY = ".shared .align 128 .b8 z[8192]; "
COPY = "mov.u32 %r3, z; mad.lo.u32 %r20, {}, 16, %r3; cp.async.cg.shared.global [%r20], [%d1], 16;"

FLIPPED = (
    f"{NTID} shr.u32 %r5, %r4, 5; mov.u32 %r6, 4; LOOP: shr.u32 %r5, %r5, 1; xor.b32 %r6, %r6, 12;"
    " setp.ne.u32 %p1, %r5, 0; @%p1 bra LOOP; mul.lo.u32 %r10, %r1, %r6; "
)


def of_data(factor: str) -> str:
    """Lane t loads a word of global memory at `factor` times 4 t, which chooses a row of four."""
    return (
        f"{NTID} sub.u32 %r5, %r4, 32; mul.lo.u32 %r5, {factor}, %r1; mul.wide.u32 %d2, %r5, 4; ld.param.u64 %d1, [q];"
        " add.u64 %d1, %d1, %d2; ld.global.u32 %r10, [%d1]; and.b32 %r10, %r10, 3; shl.b32 %r10, %r10, 7;"
        " and.b32 %r11, %r1, 28; add.u32 %r10, %r10, %r11; add.u32 %r20, %r3, %r10; ld.shared.u32 %r30, [%r20];"
    )


CASES = {
    "words of the threads": (strided(4), "free"),
    "a stride": (strided(8), "conflict"),
    "a stride of N": (NTID + "mul.lo.u32 %r10, %r1, %r4;" + LOAD.format(4), "unknown"),
    "N is no part of the distance": (NTID + "add.u32 %r10, %r1, %r4;" + LOAD.format(8), "conflict"),
    "a remainder by N": (NTID + "rem.u32 %r10, %r1, %r4;" + LOAD.format(4), "free"),
    "threads of the second warp": ("setp.ge.u32 %p1, %r1, 32;" + OFTEN, "unknown"),
    "threads of the first half": (NTID + "shr.u32 %r5, %r4, 1; setp.lt.u32 %p1, %r1, %r5;" + OFTEN, "conflict"),
    "the first warp of short blocks": (NTID + "add.u32 %r5, %r1, %r4; setp.lt.u32 %p1, %r5, 64;" + OFTEN, "unknown"),
    "a parameter": ("mul.lo.u32 %r10, %r1, %r2;" + LOAD.format(4), "depends"),
    "one word": ("mov.u32 %r20, %r3; ld.shared.u32 %r30, [%r20];", "free"),
    "a stride that a loop of N trips leaves": (FLIPPED + LOAD.format(1), "unknown"),
    "data": (of_data("%r2"), "conflict"),
    "data at places that N decides": (of_data("%r5"), "unknown"),
}


@pytest.mark.parametrize(("body", "wanted"), CASES.values(), ids=CASES)
def test_a_kernel_of_one_dimension(body: str, wanted: str) -> None:
    assert check(body) == wanted


def test_the_verdict_says_what_it_assumes() -> None:
    free, conflict, whole = every(strided(4)), every(strided(8)), every(CASES["one word"][0])
    assert (free.assumptions, free.assumed_block) == ((ONE_DIMENSION,), ONE_DIMENSION)
    assert (conflict.assumptions, conflict.assumed_block) == ((ONE_DIMENSION, A_WARP), ONE_DIMENSION)
    assert (whole.assumptions, whole.assumed_block, whole.block) == ((), "", None)
    assert [each.assumptions for each in free.claims] == [(ONE_DIMENSION,)] * len(free.claims)


@pytest.mark.parametrize(
    ("extra", "is_line"),
    [
        ("", True),
        ("mov.u32 %r5, %ntid.x;", True),
        ("mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.z;", True),
        ("mov.u32 %r5, %tid.y;", False),
        ("mov.u32 %r5, %tid.z;", False),
        ("mov.u32 %r5, %ntid.y;", False),
        ("mov.u32 %r5, %ntid.z;", False),
        ("mov.v4.u32 {%r5, %r6, %r7, %r8}, %tid;", False),
        ("mov.v4.u32 {%r5, %r6, %r7, %r8}, %ntid;", False),
        ("cvt.u64.u32 %d5, %tid.y;", False),
        ("call deep;", False),
        ("call other;", False),
    ],
)
def test_what_a_kernel_of_one_dimension_reads(extra: str, is_line: bool) -> None:
    outside = ".func deep() { .reg .b32 %r<2>; mov.u32 %r1, %tid.y; ret; } .extern .func other();"
    module = read_module(text_of(extra + strided(4), outside), "k.ptx")
    function = module.function("k")
    assert function is not None
    assert has_one_dimension(module, function) is is_line
    access = last(extra + strided(4), None, outside)
    assert (access.decision.verdict is Verdict.FREE) is is_line or access.decision.reason


def test_bounds_hold_for_every_length_or_are_not_known() -> None:
    inside, outside = every(strided(8)), every(strided(16))
    assert inside.claim("in_bounds").verdict is ClaimVerdict.PROVED
    assert outside.claim("in_bounds").reason == NO_BLOCK
    below = every(NTID + "sub.u32 %r10, %r4, %r1; sub.u32 %r10, %r10, 1;" + LOAD.format(8))
    assert below.claim("in_bounds").verdict is ClaimVerdict.PROVED
    beyond = every(NTID + "sub.u32 %r10, %r4, %r1;" + LOAD.format(8))
    assert beyond.claim("in_bounds").reason == NO_BLOCK


@pytest.mark.parametrize("thread", ["%r1", "%r5"], ids=["tid", "laneid"])
def test_a_part_of_an_octet_may_cost_more(thread: str) -> None:
    body = "mov.u32 %r5, %laneid; " + COPY.format(thread)
    assert [last(body, (n, 1, 1), ARRAY).decision.verdict.value for n in (32, 35)] == ["free", "conflict"]
    for other in ("", "mov.u32 %r6, %tid.y;"):
        assert last(other + body, None, ARRAY).decision.reason == NO_BLOCK


# ---- planted mistakes


def found_by(name: str) -> None:
    with pytest.raises(AssertionError):
        test_a_kernel_of_one_dimension(*CASES[name])


def test_a_part_of_an_octet_that_is_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (one_dimension, decide):
        monkeypatch.setattr(module, "of_first_threads", lambda access: access)
    for thread in ("%r1", "%r5"):
        assert last("mov.u32 %r5, %laneid; " + COPY.format(thread), None, ARRAY).decision.verdict is Verdict.FREE


def test_conflicts_of_any_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_dimension, "_FIRST_WARP", (1024, 1, 1))
    found_by("threads of the second warp")


def test_the_length_taken_for_a_number_that_a_launch_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_dimension, "_reads_count", lambda *_: False)
    found_by("a stride of N")
    found_by("the first warp of short blocks")
    found_by("data at places that N decides")


def test_lanes_of_the_shortest_block_taken_for_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_dimension, "_with_a_warp", lambda *_, **__: TRUE)
    found_by("the first warp of short blocks")


def test_a_length_that_bounds_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_dimension, "of_first_threads", lambda access: access)
    found_by("a remainder by N")


def test_axes_that_are_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_dimension, "has_one_dimension", lambda *_: True)
    monkeypatch.setattr(decide, "has_one_dimension", lambda *_: True)
    body = "mov.u32 %r5, %tid.y; mad.lo.u32 %r20, %r1, 4, %r3; mad.lo.u32 %r20, %r5, 128, %r20;"
    body += " ld.shared.u32 %r30, [%r20];"
    assert last(body, (8, 4, 1)).decision.verdict is Verdict.CONFLICT
    assert last(body, None).decision.verdict is Verdict.FREE
