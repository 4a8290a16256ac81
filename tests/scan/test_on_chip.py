"""What machine code makes of accesses: by a recorded listing, by small ones, and by the tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.ptx import read_module
from swzverify.compiled.sass import Listing, read_listing
from swzverify.compiled.scan import ScannedAccess, scan_function
from swzverify.errors import SwzError
from swzverify.report.scan_chip import chip_record, chip_words
from tests.scan.texts import GUARDED, WHOLE, strided, text_of

DATA = Path(__file__).parents[1] / "data" / "sass"
PTX = (DATA / "k.ptx").read_text(encoding="utf-8")
LISTING = (DATA / "k.lst").read_text(encoding="utf-8")
STORES, FIRST, SECOND = (40, 42, 44, 46), (52, 54, 56, 58), (60, 62, 64, 66)


def recorded(text: str = LISTING, shift: int = 0) -> dict[int, ScannedAccess]:
    module = read_module(PTX, "k.ptx")
    found = scan_function(module, module.functions[0], (64, 1, 1), machine=read_listing(text, shift))
    return {each.line: each for each in found}


def told(access: ScannedAccess) -> tuple[Any, ...]:
    assert access.chip is not None
    decision = access.chip.decision
    return access.chip.relation.value, decision.verdict.value, decision.ways, decision.wavefronts, decision.minimum


def listing(code: list[tuple[int | None, str]]) -> Listing:
    """A listing of lines and instructions."""
    text = '\t.target\tsm_90\n\t.section\t.text.k,"ax",@progbits\n\t.other\tk,@"STO_CUDA_ENTRY STV_DEFAULT"\n'
    for number, (line, name) in enumerate(code):
        place = '"/k.cu", line 1' if line is None else f'".nv_debug_ptx_txt", line {line}'
        text += f"\t//## File {place}\n        /*{16 * number:04x}*/    {name} ;\n"
    return read_listing(text)


def chips(body: str, *code: tuple[int | None, str]) -> list[tuple[str, str]]:
    """Relation and verdict of each access of a small kernel; the PTX's lines count from the first
    access on, each statement in a line of its own.
    """
    text = text_of(body.replace(";", ";\n"))
    module = read_module(text, "k.ptx")
    function = module.function("k")
    assert function is not None
    lines = [each.line for each in scan_function(module, function, WHOLE)]
    machine = listing([(None if at is None else lines[at], name) for at, name in code])
    found = scan_function(module, function, WHOLE, machine=machine)
    return [told(each)[:2] for each in found]


# ---- the recorded listing


def test_merged_accesses_are_priced_as_the_wide_one() -> None:
    found = recorded()
    for line in STORES:
        assert told(found[line]) == ("merged", "free", 1, 4, 4)
        assert found[line].chip.lines == STORES  # type: ignore[union-attr]
    for lines in (FIRST, SECOND):
        for line in lines:
            assert told(found[line]) == ("merged", "conflict", 2, 8, 4)
            assert found[line].chip.lines == lines  # type: ignore[union-attr]


def test_an_access_of_its_own_width_keeps_its_verdict() -> None:
    found = recorded()[72]
    assert told(found)[:2] == ("same", "depends")
    assert [(each.name, each.opcode.width_bits) for each, _ in found.chip.instructions] == [("LDS", 32)]  # type: ignore[union-attr]


def test_a_bulk_copy_has_no_verdict_on_the_chip_either() -> None:
    text = text_of("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 16;")
    line = next(at for at, each in enumerate(text.splitlines(), 1) if "bulk_group" in each)
    module = read_module(text, "k.ptx")
    code = listing([(line, "UBLKCP.G.S [UR4], [UR8], UR6")])
    (found,) = scan_function(module, module.functions[0], (64, 1, 1), machine=code)
    record = chip_record(found, "")
    assert record["sass"]["instructions"][0]["opcode"].startswith("UBLKCP")
    assert record["sass"]["verdict"] is None


def test_the_words() -> None:
    chip = recorded()[42].chip
    assert chip is not None
    words = "on the chip: merged into STS.128 (lines 40, 42, 44, 46): free, 4 wavefronts (minimum 4)"
    assert chip_words(chip) == words


@pytest.mark.parametrize("shift", [-1, 1, 2, 4, 8])
def test_a_wrong_line_is_seen(shift: int) -> None:
    found = recorded(shift=shift)
    right = recorded()
    assert any(told(found[line]) != told(right[line]) for line in found)


def test_a_width_in_bytes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.sass.opcodes._BITS", {"64": 8, "128": 16})
    assert told(recorded()[40])[:2] != ("merged", "free")


def test_a_merged_access_priced_as_a_scalar_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.scan.on_chip._SUFFIXES", {128: "b32"})
    assert told(recorded()[52]) != ("merged", "conflict", 2, 8, 4)


# ---- small ones

FOUR = "mad.lo.u32 %r20, %r1, 16, %r3; " + " ".join(f"ld.shared.u32 %r3{at}, [%r20+{4 * at}];" for at in range(4))


def test_the_same_width() -> None:
    assert chips(strided(4), (0, "LDS R1, [R2]")) == [("same", "free")]
    assert chips(strided(8), (0, "LDS R1, [R2]"), (0, "@P0 LDS R3, [R2]")) == [("same", "conflict")]


def test_a_gap_is_not_filled() -> None:
    code = [(0, "LDS.128 R4, [R2]"), (2, "LDS R9, [R2+0x8]")]
    assert chips(FOUR, *code)[0] == ("merged", "unknown")


def test_alignment_says_where_a_wide_load_begins() -> None:
    # The base is a multiple of 16 here: 64 bits that have the second word begin at the first.
    found = chips(FOUR, (1, "LDS.64 R4, [R2]"), (3, "LDS R9, [R2+0xc]"))
    assert found == [("merged", "conflict"), ("merged", "conflict"), ("none", "unknown"), ("same", "conflict")]


def test_free_survives_a_merge_that_is_not_clear() -> None:
    assert chips(strided(16, "ld.shared.v2.u32 {%r30, %r31}, [%r20];"), (0, "LDS.128 R4, [R2]"))[0][0] == "merged"
    assert chips("mad.lo.u32 %r20, %r1, 4, %r3; ld.shared.u8 %r30, [%r20];", (0, "LDS R4, [R2]")) == [
        ("merged", "free")
    ]


def test_a_split_access_is_priced_again() -> None:
    wide = strided(16, "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r20];")
    assert chips(wide, (0, "LDS.128 R4, [R2]")) == [("same", "free")]
    assert chips(wide, (0, "LDS R4, [R2]"), (0, "LDS.64 R6, [R2+0x8]")) == [("split", "conflict")]


def test_nothing_is_said_of_what_is_gone() -> None:
    two = strided(4) + " ld.shared.u32 %r31, [%r20+256];"
    assert chips(two, (1, "LDS R1, [R2]")) == [("none", "unknown"), ("same", "free")]
    assert chips(two, (1, "LDS R1, [R2]"), (None, "LDS R1, [R2]")) == [("unknown", "unknown"), ("same", "free")]


def test_another_kind_of_instruction_is_no_agreement() -> None:
    assert chips(strided(4), (0, "STS [R2], R1")) == [("unknown", "unknown")]
    assert chips(strided(4), (0, "LDS.NEW R1, [R2]")) == [("unknown", "unknown")]


def test_an_access_that_is_gone_from_the_other_branch_casts_doubt() -> None:
    body = "setp.lt.u32 %p1, %r1, 5; mad.lo.u32 %r20, %r1, 4, %r3; @%p1 ld.shared.u32 %r30, [%r20];"
    both = body + " @!%p1 ld.shared.u32 %r31, [%r20+64];"
    assert chips(both, (0, "LDS R1, [R2]"), (1, "LDS R1, [R2]")) == [("same", "free")] * 2
    assert chips(both, (0, "LDS R1, [R2]")) == [("same", "unknown"), ("none", "unknown")]


def test_a_guard_counts_on_the_chip_too() -> None:
    assert chips(GUARDED, (0, "LDS R1, [R2]")) == [("same", "conflict")]


def test_an_atomic_that_adds_one_but_counts_equal_words() -> None:
    body = "shr.u32 %r10, %r1, 1; mad.lo.u32 %r20, %r10, 4, %r3; red.shared.add.u32 [%r20], 1;"
    assert chips(body, (0, "ATOMS.POPC.INC.32 RZ, [R2]")) == [("same", "free")]
    assert chips(body, (0, "ATOMS.ADD RZ, [R2], R3")) == [("same", "conflict")]


# ---- the command


def has(*names: str) -> bool:
    try:
        return all(find_tool(name) for name in names)
    except SwzError:
        return False


def rows(*words: str) -> list[dict[str, Any]]:
    found = CliRunner().invoke(main, ["scan", *words, "--block", "64", "--format", "json"])
    return json.loads(found.output)["accesses"]


def test_without_machine_code_the_key_is_null_and_says_why() -> None:
    assert {(each["sass"], each["sass_reason"]) for each in rows(str(DATA / "k.ptx"))} == {
        (None, "no machine code was given")
    }


@pytest.mark.skipif(not has("nvcc", "nvdisasm"), reason="no nvcc, or no nvdisasm")
def test_nvcc_and_nvdisasm_themselves(tmp_path: Path) -> None:
    import subprocess

    source, cubin = str(DATA / "k.cu"), str(tmp_path / "k.cubin")
    relations = [each["sass"]["relation"] for each in rows(source)]
    assert len(relations) == 13
    assert set(relations) <= {"same", "merged"}
    subprocess.run([find_tool("nvcc"), "-cubin", "-lineinfo", "-arch=sm_90", source, "-o", cubin], check=True)
    assert [each["sass"] for each in rows(cubin)] == [each["sass"] for each in rows(source)]
    plain = rows(str(DATA / "k.ptx"), "--cubin", cubin)
    # Whether this nvcc makes the recorded text is its own affair; if not, nothing is claimed.
    assert all(each["sass"] is not None or "not made of this PTX" in each["sass_reason"] for each in plain)
    subprocess.run([find_tool("nvcc"), "-cubin", "-arch=sm_90", source, "-o", cubin], check=True)
    assert "-lineinfo" in rows(str(DATA / "k.ptx"), "--cubin", cubin)[0]["sass_reason"]
