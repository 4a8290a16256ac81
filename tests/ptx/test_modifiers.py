"""Modifiers in any order: what ptxas makes of them, and that the reader takes them so."""

from __future__ import annotations

import random
import shutil
import subprocess
from itertools import permutations
from pathlib import Path

import pytest

from swzverify.compiled.ptx import body
from swzverify.compiled.ptx.body import in_order

FAMILIES = {
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": "{%r5,%r6,%r7,%r8}, [%r4];",
    "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16": "{%r5,%r6}, [%r4];",
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16": "[%r4], {%r5,%r6,%r7,%r8};",
    "ld.volatile.shared.v4.f32": "{%f1,%f2,%f3,%f4}, [%r4];",
    "ld.relaxed.gpu.shared.v2.b64": "{%rd3,%rd4}, [%r4];",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.f32": "{%f1,%f2,%f3,%f4}, [%rd1];",
    "ld.global.cg.u32": "%r5, [%rd1];",
    "ld.param.u64": "%rd2, [q];",
    "st.release.gpu.shared.b32": "[%r4], %r5;",
    "st.shared.v2.b32": "[%r4], {%r5,%r6};",
    "atom.acq_rel.cta.shared.exch.b32": "%r5, [%r4], %r6;",
    "atom.global.add.noftz.f16x2": "%r5, [%rd1], %r6;",
    "red.relaxed.cta.shared.add.u32": "[%r4], %r6;",
    "cp.async.cg.shared.global.L2::128B": "[%r4], [%rd1], 16;",
    "cp.async.ca.shared::cta.global": "[%r4], [%rd1], 4;",
}
HEAD = (
    ".version 8.7\n.target sm_90\n.address_size 64\n.extern .shared .align 128 .b8 s[];\n"
    ".visible .entry k(.param .u64 q)\n{ .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [q]; mov.u32 %r4, s;\n"
)
USED = (
    " st.global.v4.f32 [%rd1], {%f1,%f2,%f3,%f4}; st.global.v4.b32 [%rd1+16], {%r5,%r6,%r7,%r8};"
    " st.global.v2.u64 [%rd1+32], {%rd2,%rd3}; st.global.u64 [%rd1+48], %rd4; ret; }\n"
)
TRIED = 4


def orders(opcode: str) -> list[str]:
    """The opcode with its modifiers in all orders; of a copy, the space that it writes comes first."""
    base = "cp.async" if opcode.startswith("cp.") else opcode.partition(".")[0]
    parts = opcode.removeprefix(base + ".").split(".")
    spaces = [each for each in parts if each.startswith("shared") or each == "global"]
    found = permutations(parts)
    kept = found if len(spaces) < 2 else (each for each in found if each.index(spaces[0]) < each.index(spaces[1]))
    return [".".join((base, *each)) for each in kept]


@pytest.mark.parametrize("opcode", FAMILIES)
def test_every_order_is_read_as_one(opcode: str) -> None:
    assert {in_order(each) for each in orders(opcode)} == {opcode}


@pytest.mark.parametrize("opcode", FAMILIES)
def test_ptxas_makes_one_machine_code_of_every_order(opcode: str, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("ptxas is not installed")
    every = orders(opcode)
    drawn = random.Random(opcode).sample(every, min(len(every), TRIED))
    found = {_machine_code(ptxas, f"{each} {FAMILIES[opcode]}", tmp_path) for each in (opcode, *drawn)}
    assert len(found) == 1


def _machine_code(ptxas: str, instruction: str, folder: Path) -> bytes:
    (folder / "k.ptx").write_text(HEAD + instruction + USED)
    subprocess.run([ptxas, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=folder, check=True, capture_output=True)
    return (folder / "k.cubin").read_bytes()


@pytest.mark.parametrize(
    "opcode",
    [
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.shared::cluster.add.u32",
        "st.bulk.weak.shared::cta",
        "setp.lt.u32",
        "ld.shared.unheard",
        "ld",
    ],
)
def test_what_is_not_known_stays_as_it_is(opcode: str) -> None:
    assert in_order(opcode) == opcode


def test_a_modifier_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "_RANKS", tuple(each for each in body._RANKS if not each.fullmatch("trans")))
    with pytest.raises(AssertionError):
        test_every_order_is_read_as_one("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
