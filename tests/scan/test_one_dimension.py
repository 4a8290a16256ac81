"""One verdict for every block of one dimension, against the verdicts for blocks of given lengths."""

from __future__ import annotations

import random
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, Verdict, one_dimension
from swzverify.compiled.scan.claim import ClaimVerdict
from swzverify.compiled.scan.one_dimension import A_WARP, ONE_DIMENSION, has_one_dimension
from tests.scan.texts import last, strided, text_of

decide = import_module("swzverify.compiled.scan.decide")
LENGTHS = (1, 31, 32, 33, 48, 64, 100, 256, 1000, 1024)
MOST_COPIES = "shl.b32 %r12, %r12, 4; add.u32 %r20, %r3, %r12;"
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
    if found.verdict is Verdict.UNKNOWN and not access.claims[0].verdict is ClaimVerdict.PROVED:
        return found.verdict.value
    assert access.block is None
    for length in LENGTHS:
        there = last(body, (length, 1, 1))
        for mine, its in zip(access.claims, there.claims, strict=True):
            assert not (mine.is_broken or (mine.verdict is ClaimVerdict.PROVED and its.is_broken)), (length, body)
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
