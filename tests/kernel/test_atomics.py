"""What is said of atomics that ptxas may merge, and what ptxas makes of them, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.kernel import atomics
from swzverify.compiled.kernel.atomics import Merging
from swzverify.compiled.ptx import read_module
from swzverify.errors import SwzError
from tests.kernel.texts import TOP, found_in
from tests.scan.texts import text_of
from tests.scan.whole import scan_module

USE = " st.global.u32 [%d1], %r30;"
ORDINARY = Merging()
ONCE = Merging(of_words=True, of_warps=True)
PERHAPS = Merging(of_words=None, of_warps=True)
WARPS = Merging(of_warps=True)
PAIRS = "shr.u32 %r20, %r1, 1; mad.lo.u32 %r20, %r20, 4, %r3; cvt.u64.u32 %d2, %r20; cvta.shared.u64 %d2, %d2; "

INCREMENTS = {
    "red.shared.add.u32 [%r20], 1;": ONCE,
    "red.shared.add.u32 [%r20], 0x1;": ONCE,
    "red.shared::cta.add.u32 [%r20], 1;": ONCE,
    "red.relaxed.cta.shared.add.u32 [%r20], 1;": ONCE,
    "red.release.cta.shared.add.u32 [%r20], 1;": ONCE,
    "atom.shared.add.u32 %r30, [%r20], 1;": ONCE,
    "atom.shared.add.u32 _, [%r20], 1;": ONCE,
    "red.shared.inc.u32 [%r20], 0xFFFFFFFF;": ONCE,
    "atom.acquire.cta.shared.add.u32 %r30, [%r20], 1;": PERHAPS,
    "atom.acq_rel.gpu.shared.add.u32 %r30, [%r20], 1;": PERHAPS,
    "mov.u32 %r31, 1; red.shared.add.u32 [%r20], %r31;": PERHAPS,
    "red.add.u32 [%d2], 1;": PERHAPS,
}
"""Atomics that add 1 and whose result nobody reads."""
OTHERS = {
    "red.shared.add.s32 [%r20], 1;": WARPS,
    "red.shared.add.u32 [%r20], -1;": WARPS,
    "red.shared.add.s32 [%r20], -1;": WARPS,
    "red.shared.add.u32 [%r20], 2;": WARPS,
    "red.shared.add.u32 [%r20], %r2;": WARPS,
    "red.shared.inc.u32 [%r20], 1;": ORDINARY,
    f"atom.shared.add.u32 %r30, [%r20], 1;{USE}": WARPS,
    f"atom.shared.max.u32 %r30, [%r20], 1;{USE}": ORDINARY,
    "atom.shared.exch.b32 %r30, [%r20], 1;": ORDINARY,
    "red.shared.dec.u32 [%r20], 1;": ORDINARY,
    "red.shared.add.u64 [%r20], 1;": WARPS,
    "atom.shared.cas.b32 %r30, [%r20], 0, 1;": ORDINARY,
    **{f"red.shared.{each} [%r20], %r2;": WARPS for each in ("min.u32", "max.s32", "and.b32", "or.b32", "xor.b32")},
}

ALL = {**INCREMENTS, **OTHERS}


@pytest.mark.parametrize(("body", "expected"), ALL.items())
def test_what_ptxas_may_make_of_an_atomic(body: str, expected: Merging) -> None:
    assert merging_of(PAIRS + body) == expected


def merging_of(body: str) -> Merging:
    return next(each for each in found_in(body) if each.site.opcode.startswith(("atom", "red"))).cost.merging


def verdict(body: str, target: str = "sm_90") -> tuple[str, int | None]:
    found = scan_module(read_module(text_of(body), "k.ptx"), (64, 1, 1), target=target)
    decision = next(each for each in found if each.opcode.startswith(("atom", "red"))).decision
    return decision.verdict.value, decision.ways


def test_no_target_before_sm_80_counts_lanes_of_one_word_once() -> None:
    body = PAIRS + "red.shared.add.u32 [%r20], 1;"
    assert [verdict(body, target) for target in ("sm_75", "sm_80", "sm_90")] == [
        ("conflict", 2),
        ("free", 1),
        ("free", 1),
    ]


def test_one_less_is_a_conflict() -> None:
    """An H100 takes 4 wavefronts for `atomicSub(&s[t >> 2], 1)`."""
    quarters = "shr.u32 %r20, %r1, 2; mad.lo.u32 %r20, %r20, 4, %r3; "
    assert verdict(quarters + "red.shared.add.u32 [%r20], -1;") == ("conflict", 4)
    assert verdict(quarters + "red.shared.add.s32 [%r20], 1;") == ("conflict", 4)


@pytest.mark.parametrize("place", ["", "shr.u32 %r5, %r1, 5; ", "shfl.sync.idx.b32 %r5, %r1, 0, 31, -1; "])
def test_one_lane_may_do_it_for_a_warp(place: str) -> None:
    at = f"{place or 'mov.u32 %r5, %r2; '} mad.lo.u32 %r20, %r5, 4, %r3; "
    for operation in ("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"):
        assert verdict(f"{at}red.shared.{operation} [%r20], %r1;")[0] == "unknown", operation
    for operation in ("inc.u32", "dec.u32", "exch.b32"):
        found = verdict(f"{at}atom.shared.{operation} %r30, [%r20], %r1;")
        assert found == ("conflict", 32) or "shfl" in place, operation


def test_lanes_that_differ_do_it_themselves() -> None:
    assert verdict(PAIRS + "red.shared.max.u32 [%r20], %r1;") == ("conflict", 2)


# ---- the compiler


LOADED = (
    "ld.param.u64 %d1, [q]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3;"
    " ld.global.u32 %r2, [%d1]; st.shared.u32 [%r3], %r2; bar.sync 0; "
)
ONE = (
    "ld.param.u32 %r20, [n]; shl.b32 %r20, %r20, 2; add.u32 %r20, %r20, %r3; cvt.u64.u32 %d2, %r20;"
    " cvta.shared.u64 %d2, %d2; "
)
"""One address for all lanes."""


def machine_code(bodies: list[str], target: str, folder: Path) -> list[str]:
    """What ptxas makes of each body."""
    ptxas = shutil.which("ptxas")
    try:
        nvdisasm = find_tool("nvdisasm")
    except SwzError as error:
        pytest.skip(str(error))
    if ptxas is None:
        pytest.skip("ptxas is not installed")
    kernels = [text_of(LOADED + body).replace(TOP, "").replace(" s[", f" s{at}[") for at, body in enumerate(bodies)]
    named = [
        text.replace(".entry k(", f".entry k{at}(").replace("mov.u32 %r3, s;", f"mov.u32 %r3, s{at};")
        for at, text in enumerate(kernels)
    ]
    (folder / "k.ptx").write_text("\n".join([TOP.replace("sm_90", target), *named]))
    subprocess.run([ptxas, f"-arch={target}", str(folder / "k.ptx"), "-o", str(folder / "k.cubin")], check=True)
    text = subprocess.run([nvdisasm, str(folder / "k.cubin")], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^\.text\.k(\d+):", text, flags=re.MULTILINE)
    found = dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))
    return [found[at] for at in range(len(bodies))]


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_ptxas_increments_where_it_is_said(target: str, tmp_path: Path) -> None:
    codes = machine_code([PAIRS + body for body in ALL], target, tmp_path)
    for (body, expected), code in zip(ALL.items(), codes, strict=True):
        assert re.search(r"\bATOM", code), body
        assert expected.of_words is None or ("ATOMS.POPC.INC" in code) == expected.of_words, body


def test_ptxas_reduces_over_lanes_where_it_is_said(tmp_path: Path) -> None:
    codes = machine_code([ONE + body for body in ALL], "sm_90", tmp_path)
    for (body, expected), code in zip(ALL.items(), codes, strict=True):
        is_reduced = re.search(r"\b(REDUX|VOTEU?)\b", code) is not None
        assert is_reduced == (expected.of_warps and "ATOMS.POPC.INC" not in code), body


# ---- planted mistakes


@pytest.mark.parametrize(
    ("name", "value"), [("_INCREMENTS", {"add": 0xFFFFFFFF}), ("_INCREMENTS", {}), ("_REDUCED", frozenset({"inc"}))]
)
def test_planted_operations(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomics, name, value)
    said = [merging_of(PAIRS + body) == expected for body, expected in ALL.items()]
    assert not all(said)
