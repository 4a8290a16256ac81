"""What a change of the kernel does to claims on its compiled code."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.diff.conftest import Repository

PTX = """.version 8.3
.target sm_90
.address_size 64
.shared .align 256 .b8 tile[4096];
.entry k()
{
.reg .b32 %r<9>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 4, %r2;
st.shared.u32 [%r3], %r1;
ret;
}
"""
SPEC = """\
swzverify: 1
target: sm_90
accesses:
  code: {instruction: st.shared.b32, threads: 32, compiled: {file: k.ptx, line: 11}, base: {align: 256}}
  said: {instruction: st.shared.b32, threads: 32, address: tid*4, base: {align: 256}}
claims:
  - equivalent: [code, said]
"""


@pytest.mark.parametrize(
    ("after", "code", "words"),
    [(PTX, 0, "1 unchanged"), (PTX.replace("%r1, 4, %r2", "%r1, 8, %r2"), 1, "proved -> refuted")],
    ids=["the same kernel", "another address"],
)
def test_the_kernel_of_each_side_counts(
    after: str, code: int, words: str, repository: Repository, swzverify: Callable[..., Result]
) -> None:
    repository.commit({"k.ptx": PTX, "a.swz.yaml": SPEC})
    repository.put({"k.ptx": after})
    result = swzverify("diff", "HEAD")
    assert (result.exit_code, words in result.stdout) == (code, True), result.stdout


RING = "\n".join(
    [
        ".version 8.3",
        ".target sm_90a",
        ".address_size 64",
        ".shared .align 1024 .b8 smem[8192];",
        ".entry k(.param .u32 n)",
        "{",
        ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<9>;",
        "mov.u32 %r1, smem; mov.u32 %r2, 0; mov.u32 %r3, 0; ld.param.u32 %r4, [n];",
        "L: mad.lo.u32 %r5, %r2, 2048, %r1; and.b32 %r5, %r5, 0x3ffff; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd1, %r5;",
        f"or.b64 %rd1, %rd1, {3 << 62 | 16 << 32 | 1 << 16};",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
        "xor.b32 %r2, %r2, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r4; @%p2 bra L;",
        "ret;",
        "}",
    ]
)
OPERAND = """\
swzverify: 1
target: sm_90a
tiles: {T: {element: f16, tma: {swizzle: 32B, box: [64, 16]}, stages: 2}}
operands:
  A:
    instruction: wgmma.m64n8k16.f16
    role: A
    for: {s: 2}
    threads: 128
    compiled: {file: k.ptx, line: 11, stages: s}
    reads: {tile: T, at: [0, 0], stage: s}
claims: [delivers: A]
"""
BY_HAND = "descriptor: {start: s*2048, sbo: 256, swizzle: 32B}"


@pytest.mark.parametrize(
    ("spec", "code", "status", "words"),
    [
        (OPERAND, RING, 0, "1 unchanged"),
        (OPERAND.replace("line: 11", "line: 12"), RING.replace("{\n", "{\n\n", 1), 0, "1 unchanged"),
        (OPERAND, RING.replace(f"{3 << 62 | 16 << 32 | 1 << 16}", f"{3 << 62 | 8 << 32 | 1 << 16}"), 1, "-> refuted"),
        (OPERAND, RING.replace(" 2048", " 1024"), 1, "proved -> unknown"),
        (
            OPERAND.replace("compiled: {file: k.ptx, line: 11, stages: s}", BY_HAND).replace("    threads: 128\n", ""),
            RING,
            1,
            "it no longer follows the code",
        ),
    ],
    ids=["the same", "another line", "another stride", "another distance", "by hand"],
)
def test_operands_follow_the_kernel(
    spec: str, code: str, status: int, words: str, repository: Repository, swzverify: Callable[..., Result]
) -> None:
    repository.commit({"k.ptx": RING, "a.swz.yaml": OPERAND})
    repository.put({"k.ptx": code, "a.swz.yaml": spec})
    result = swzverify("diff", "HEAD")
    assert (result.exit_code, words in result.stdout) == (status, True), result.stdout


def test_code_that_git_does_not_hold_is_no_success(repository: Repository, swzverify: Callable[..., Result]) -> None:
    repository.commit({".gitignore": "*.ptx\n", "a.swz.yaml": SPEC})
    repository.put({"k.ptx": PTX})
    result = swzverify("diff", "HEAD")
    assert result.exit_code == 2
    assert "k.ptx: No such file" in result.stderr
