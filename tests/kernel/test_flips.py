"""Loops that flip bits of a register, as the address of a double buffer: what is said of them, and an interpreter."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel.linear import sum_of
from tests.kernel.test_programs import SHAPES, compared
from tests.kernel.texts import last, own
from tests.kernel.traps import COUNT, text_of
from tests.scan.test_programs import compared as judged

STARTS = (
    "mad.lo.u32 %r6, %r0, 4, %r51;",
    "xor.b32 %r6, %r0, 5;\nmad.lo.u32 %r6, %r6, 4, %r51;",
    "mad.lo.u32 %r6, %r1, 64, %r51;\nadd.u32 %r6, %r6, 8;",
    "mad.lo.u32 %r6, %r0, 36, 12288;\nxor.b32 %r6, %r6, %r51;",
    "mad.lo.u32 %r6, %r2, 16, %r51;",
)
FLIPS = (
    "xor.b32 %r6, %r6, 8192;",
    "xor.b32 %r6, %r6, 16;",
    "xor.b32 %r6, %r6, 20;",
    "xor.b32 %r6, %r6, 8;\nxor.b32 %r6, %r6, 4096;",
    "xor.b32 %r6, %r6, 16;\nadd.u32 %r6, %r6, 4;",
    "xor.b32 %r6, %r6, 16;\nxor.b32 %r6, %r6, 16;",
    "add.u32 %r6, %r6, 16;\nxor.b32 %r6, %r6, 4;\nsub.u32 %r6, %r6, 16;",
    "shl.b32 %r8, %r4, 3;\nxor.b32 %r6, %r6, %r8;",
    "and.b32 %r8, %r4, 1;\nsetp.eq.u32 %p3, %r8, 0;\n@%p3 xor.b32 %r6, %r6, 32;",
)
BESIDE = (
    "mov.u32 %r7, %r6;",
    "add.u32 %r7, %r6, 4;",
    "xor.b32 %r7, %r6, 64;",
    "shl.b32 %r7, %r4, 2;\nadd.u32 %r7, %r7, %r6;",
)
AROUND = "M:\nmov.u32 %r4, 0;\n{0}add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 3;\n@%p2 bra M;"


def body(seed: int) -> str:
    """A loop that flips bits of the address in %r6, with another address in %r7 that is made of its next value."""
    source = random.Random(seed)
    flip, beside = source.choice(FLIPS), source.choice(BESIDE)
    lines = ["L:", "st.shared.u32 [%r6], %r0;"]
    if is_beside := source.random() < 0.5:
        lines.append("st.shared.u32 [%r7], %r1;")
    lines.append(flip)
    if is_beside:
        lines.append(beside)
    lines.append(COUNT.format(source.choice(("4", "%r2", "%r0"))))
    loop = "\n".join(lines) + "\n"
    if source.random() < 0.3:
        loop = AROUND.format(loop)
    before = ["mov.u32 %r51, pool;", source.choice(STARTS)]
    if is_beside:
        before.append(source.choice((beside, "mov.u32 %r7, %r6;")))
    return "\n".join(before) + "\n" + loop + "st.shared.u32 [%r6], %r1;"


def address_of(step: str) -> list[str]:
    """What the lanes may have of their own in the address of a loop with this step."""
    return own(
        last(f"mad.lo.u32 %r6, %r1, 4, %r3; L: st.shared.u32 [%r6], %r9; {step} setp.lt.s32 %p1, %r6, %r2; @%p1 bra L;")
    )


@pytest.mark.parametrize("flip", ["xor.b32 %r6, %r6, 12;", "xor.b32 %r6, %r6, 8; xor.b32 %r6, %r6, 4;"])
def test_flips_of_the_same_bits_are_known(flip: str) -> None:
    assert address_of(flip) == []


@pytest.mark.parametrize(
    "step",
    [
        "xor.b32 %r6, %r6, 4; add.u32 %r6, %r6, 4;",
        "or.b32 %r6, %r6, 12;",
        "ld.global.u32 %r12, [%d1]; xor.b32 %r6, %r6, %r12;",
    ],
)
def test_other_steps_are_not_taken_for_flips(step: str) -> None:
    assert "carried" in address_of(step)


def test_an_array_that_is_aligned_stays_known_under_flips() -> None:
    step = "L: st.shared.u32 [%r6], %r9; xor.b32 %r6, %r6, 4096; setp.lt.s32 %p1, %r6, %r2; @%p1 bra L;"
    access = last(
        f"mov.u32 %r6, big; mad.lo.u32 %r6, %r1, 4, %r6; {step}", outside=".shared .align 8192 .b8 big[8192];"
    )
    assert access.address is not None
    assert 8192 in sum_of(access.address).terms.values()


def all_explained(seed: int) -> None:
    tally = compared(text_of(body(seed)), SHAPES[seed % len(SHAPES)], 1 + seed % 7, seed)
    assert tally.wrong == (), seed


@pytest.mark.parametrize("seed", range(6))
def test_every_execution_of_flips_is_explained(seed: int) -> None:
    all_explained(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6, 120))
def test_every_execution_of_many_flips_is_explained(seed: int) -> None:
    all_explained(seed)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_flips_are_no_worse_than_what_is_said_of_them(seed: int) -> None:
    judged(text_of(body(seed)), SHAPES[seed % len(SHAPES)], seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 60))
def test_many_flips_are_no_worse_than_what_is_said_of_them(seed: int) -> None:
    judged(text_of(body(seed)), SHAPES[seed % len(SHAPES)], seed)
