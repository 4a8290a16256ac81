"""`delivers` of a load that is read from compiled code: what it puts into the registers of `mma.sync`."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.claims import Delivers
from swzverify.prover import prove
from swzverify.spec import SpecError, load_spec


def kernel(
    load: str = "ldmatrix.sync.aligned.m8n8.x4.shared.b16", stage: int = 8192, xor: int = 7, rows: int = 15
) -> str:
    """Each of four warps loads 16 x 16 parts of a tile of 64 x 64 halves, in a ring of two stages.

    A chunk of 16 bytes is XORed with the row modulo 8.
    """
    return f"""
.version 8.3
.target sm_80
.address_size 64
.shared .align 1024 .b8 smem[32768];
.entry k()
{{
.reg .pred %p<4>; .reg .b32 %r<40>;
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; and.b32 %r3, %r2, 31; shr.u32 %r4, %r2, 5;
and.b32 %r5, %r3, {rows}; mad.lo.u32 %r5, %r4, 16, %r5;
shr.u32 %r6, %r3, 4; and.b32 %r7, %r5, {xor}; mov.u32 %r8, 0;
STAGE:
mov.u32 %r9, 0;
STEP:
mad.lo.u32 %r10, %r9, 2, %r6; xor.b32 %r10, %r10, %r7;
mad.lo.u32 %r11, %r5, 128, %r1; mad.lo.u32 %r11, %r10, 16, %r11; mad.lo.u32 %r11, %r8, {stage}, %r11;
{load} {{%r20, %r21, %r22, %r23}}, [%r11];
add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 4; @%p1 bra STEP;
add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 2; @%p2 bra STAGE;
ret;
}}"""


def spec_of(
    folder: Path, code: str, instruction: str = "ldmatrix.x4", fragment: str = "", base: str = "{in: smem}"
) -> Path:
    (folder / "k.ptx").write_text(code)
    lines = code.split("\n")
    line = next(at for at, each in enumerate(lines, 1) if each.startswith("ldmatrix"))
    stage, step = (next(at for at, each in enumerate(lines, 2) if each == name) for name in ("STAGE:", "STEP:"))
    path = folder / "k.swz.yaml"
    path.write_text(
        f"""swzverify: 1
target: sm_80
memories: {{smem: {{bytes: 32768, align: 1024}}}}
tiles:
  A: {{element: f16, layout: "(64,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {{in: smem}}, stages: 2}}
accesses:
  load_A:
    instruction: {instruction}
    threads: 128
    for: {{s: 2, k: 4}}
    compiled: {{file: k.ptx, line: {line}, loops: {{s: {stage}, k: {step}}}}}
    base: {base}
    fragment: {{mma: m16n8k16.f16, role: A, {fragment or "tile: A, stage: s, at: [warp*16, k*16]"}}}
claims: [delivers: load_A]
"""
    )
    return path


def verdict(path: Path) -> str:
    (each,) = load_spec(path).claims
    assert isinstance(each.claim, Delivers)
    return prove(each.claim).outcome.value


TRANSPOSED = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"


@pytest.mark.parametrize(
    ("code", "instruction", "wanted"),
    [
        (kernel(), "ldmatrix.x4", "proved"),
        (kernel(stage=4096), "ldmatrix.x4", "refuted"),
        (kernel(xor=3), "ldmatrix.x4", "refuted"),
        (kernel(rows=7), "ldmatrix.x4", "refuted"),
        (kernel(TRANSPOSED), "ldmatrix.x4.trans", "refuted"),
        (kernel().replace("%r9, 2, %r6", "%r9, 1, %r6"), "ldmatrix.x4", "refuted"),
    ],
    ids=["right", "stage", "xor", "rows", "trans", "step"],
)
def test_what_the_code_loads_is_compared_with_the_tile(
    code: str, instruction: str, wanted: str, tmp_path: Path
) -> None:
    assert verdict(spec_of(tmp_path, code, instruction)) == wanted


def test_the_scope_and_the_notes_name_the_tile_and_the_line(tmp_path: Path) -> None:
    (each,) = load_spec(spec_of(tmp_path, kernel())).claims
    assert each.claim.scope().endswith("ldmatrix.x4, tile A: all 2 stages, 0 bytes into smem, at any multiple of 1024")
    assert each.notes == ("load_A is read from k.ptx, line 17",)


def test_a_fragment_needs_a_tile_and_a_place(tmp_path: Path) -> None:
    for changes, words in (
        ({"fragment": "at: [warp*16, k*16]"}, "its fragment no tile"),
        ({"fragment": "tile: A, at: [warp*16, k*16]"}, "has 2 stages"),
        ({"base": "{align: 1024}"}, "not related"),
    ):
        with pytest.raises(SpecError, match=words):
            load_spec(spec_of(tmp_path, kernel(), **changes))
