"""The text of a scan: a summary of each kernel, each problem once, the worst one first."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from swzverify.compiled.ptx import Location
from swzverify.compiled.scan import LaneRow, ScannedAccess, Verdict
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict, not_known, size_unknown
from swzverify.compiled.scan.verdict import Decision, WarpTable
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_text import MOST_LANES, Detail, scan_text

PROVED = Claim(ClaimVerdict.PROVED)
FREE = Decision(Verdict.FREE, ways=1, wavefronts=1, minimum=1)
UNKNOWN = Decision(Verdict.UNKNOWN, "not decided at line 3")


def conflict(ways: int, colliding: int | None = None, **more: object) -> Decision:
    """A conflict whose first lanes collide."""
    hits = ways if colliding is None else colliding
    lanes = tuple(LaneRow(lane, (lane, 0, 0), 128 * lane, 0, lane < hits) for lane in range(32))
    found = Decision(Verdict.CONFLICT, ways=ways, wavefronts=ways, minimum=1, table=WarpTable(0, lanes))
    return replace(found, **more)  # pyright: ignore[reportArgumentType]  # fields of a decision


def access(decision: Decision, line: int, source: int | None = None, **more: object) -> ScannedAccess:
    location = None if source is None else Location(1, source, 0)
    found = ScannedAccess(
        kernel="k",
        is_entry=True,
        line=line,
        location=location,
        opcode="ld.shared.u32",
        instruction=f"ld.shared.u32 %r{line}, [%r2]",
        address="s",
        decision=decision,
    )
    return replace(found, **{"claims": (PROVED, PROVED), **more})  # pyright: ignore[reportArgumentType]


def lines_of(
    *accesses: ScannedAccess, known: tuple[bool, ...] = (), verbosity: int = 0, top: int | None = None
) -> list[str]:
    file = ScannedFile("k.ptx", accesses, {1: "/src/k.cu"})
    return scan_text([file], known, Detail(verbosity, top)).splitlines()


def heads(lines: list[str]) -> list[str]:
    """The first lines of the blocks."""
    return [line for line in lines if re.match(r"  (?:line|/src)", line)]


def test_an_unrolled_loop_is_one_block() -> None:
    lines = lines_of(*(access(conflict(2), line, 7) for line in range(10, 58)))
    words = "  /src/k.cu:7 (PTX lines 10, 11, 12 and 45 more): 48 instructions, such as ld.shared.u32 %r10, [%r2]"
    assert heads(lines) == [words]
    assert lines.count("    conflict: 2-way, 2 wavefronts (minimum 1)") == 1
    assert "    wasted: 48 wavefronts per execution of each" in lines
    assert len(lines_of(*(access(conflict(2), line, 7) for line in range(10, 58)), verbosity=1)) > 48 * 32


def test_a_source_line_with_several_figures_has_the_worst_table() -> None:
    lines = lines_of(access(conflict(2), 10, 7), access(conflict(4), 11, 7), access(conflict(2), 12, 7))
    assert heads(lines) == ["  /src/k.cu:7 (PTX lines 11, 10, 12): 3 instructions, such as ld.shared.u32 %r11, [%r2]"]
    at = lines.index("    conflict: 4-way, 4 wavefronts (minimum 1) (1 instruction)")
    assert lines[at + 1] == "    conflict: 2-way, 2 wavefronts (minimum 1) (2 instructions)"
    assert sum(line.endswith("  x") for line in lines) == 4


def test_verdicts_lines_and_faults_are_apart() -> None:
    outside = Claim(ClaimVerdict.REFUTED, "lane 0 is outside")
    several = (
        access(conflict(2), 10, 7),
        access(conflict(2), 11, 8),
        access(UNKNOWN, 12, 7),
        access(conflict(2), 13, 7, claims=(PROVED, outside)),
        access(FREE, 14, 7, claims=(PROVED, outside)),
    )
    assert len(heads(lines_of(*several))) == 5


def test_without_a_source_line_the_same_table_is_one_block() -> None:
    several = [access(conflict(2), line) for line in (10, 11)]
    several += [access(conflict(2, 6), 12), access(conflict(4), 13)]
    places = [line.partition(":")[0] for line in heads(lines_of(*several))]
    assert places == ["  line 13", "  lines 10, 11", "  line 12"]


def test_unknown_verdicts_are_apart_by_their_reasons() -> None:
    other = replace(UNKNOWN, reason="not decided at line 5")
    third = replace(UNKNOWN, reason="the address is not known")
    several = [access(each, line, 7) for line, each in enumerate((UNKNOWN, other, third), 10)]
    assert len(heads(lines_of(*several))) == 2


def test_the_table_has_the_lanes_that_collide_and_counts_the_others() -> None:
    lines = lines_of(access(conflict(2), 10))
    assert [line.split()[0] for line in lines if line.endswith("  x")] == ["0", "1"]
    assert "             30 other lanes" in lines
    lines = lines_of(access(conflict(20), 10))
    assert sum(line.endswith("  x") for line in lines) == MOST_LANES
    assert f"             {20 - MOST_LANES} more in this bank, 12 other lanes" in lines
    lines = lines_of(access(conflict(20), 10), verbosity=1)
    assert sum(line.endswith("  x") for line in lines) == 20
    assert not any("other lanes" in line for line in lines)


def test_free_accesses_are_counted_and_listed_only_if_asked() -> None:
    lines = lines_of(access(FREE, 10), access(conflict(2), 11))
    assert lines[:2] == ["k.ptx: kernel k", "  2 accesses: 1 free, 1 conflict"]
    assert [line.partition(":")[0] for line in heads(lines)] == ["  line 11"]
    assert len(heads(lines_of(access(FREE, 10), access(conflict(2), 11), verbosity=1))) == 2


def test_problems_are_sorted_by_what_they_waste() -> None:
    outside = Claim(ClaimVerdict.REFUTED, "lane 0 is outside")
    several = (
        access(UNKNOWN, 10),
        access(conflict(8), 11, executions=1),
        access(conflict(2), 12, executions=32, loops=(1,)),
        access(FREE, 13, claims=(PROVED, outside)),
        access(conflict(4), 14, executions=None, loops=(1,)),
    )
    places = [line.split()[1].rstrip(":") for line in heads(lines_of(*several))]
    assert places == ["13", "12", "11", "14", "10"]
    lines = lines_of(*several)
    assert "    wasted: 1 wavefront per execution, up to 32 per warp and launch" in lines
    assert "    wasted: 7 wavefronts per execution" in lines
    assert "    wasted: 3 wavefronts per execution" in lines
    least = lines_of(access(conflict(2, at_least=True), 12))
    assert "    wasted: at least 1 wavefront per execution" in least


def test_a_conflict_without_wavefronts_has_no_cost() -> None:
    assert not any("wasted" in line for line in lines_of(access(conflict(2, wavefronts=None, minimum=None), 10)))


def test_the_worst_of_all_kernels() -> None:
    first = [access(conflict(ways), line) for line, ways in ((10, 2), (11, 16))]
    second = [replace(access(conflict(ways), line), kernel="l") for line, ways in ((20, 32), (21, 4))]
    third = [replace(access(FREE, 30), kernel="m")]
    lines = lines_of(*first, *second, *third, top=2)
    assert [line.split()[1].rstrip(":") for line in heads(lines)] == ["20", "11"]
    assert [line for line in lines if "kernel" in line] == ["k.ptx: kernel l", "k.ptx: kernel k"]
    assert "2 of 4 problems shown" in lines
    assert lines[-1] == "5 accesses: 1 free, 4 conflict"


def test_reasons_of_claims_stand_once() -> None:
    sizes = [not_known(size_unknown("smem"), None)] + [
        not_known(f"{size_unknown('smem')}; the access needs the first {each} bytes", each)
        for each in (512, 4096, 1024)
    ]
    lines = lines_of(*(access(FREE, line, claims=(PROVED, each)) for line, each in enumerate(sizes, 10)))
    told = (
        "the size of smem is not known: give the dynamic shared memory by --smem; the access needs the first 4096 bytes"
    )
    assert lines[1:] == [
        "  4 accesses: 4 free",
        f"  in bounds: 4 unknown: {told}",
        "aligned: 4 proved",
        "in bounds: 4 unknown",
        "4 accesses: 4 free",
    ]


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_known_findings(verbosity: int) -> None:
    known, new = access(conflict(8), 10), access(conflict(2), 11)
    lines = lines_of(known, new, known=(True, False), verbosity=verbosity)
    shown = [line.split()[1].rstrip(":") for line in heads(lines)]
    assert shown == {-1: ["11"], 0: ["11", "10"], 1: ["10", "11"]}[verbosity]
    assert ("    conflict: 8-way, 8 wavefronts (minimum 1), known" in lines) == (verbosity >= 0)
    assert lines[-1] == "2 accesses: 2 conflict; 1 known"


def test_quiet_leaves_out_lanes_and_kernels_without_problems() -> None:
    free = replace(access(FREE, 12), kernel="l")
    lines = lines_of(access(conflict(2), 10), free, verbosity=-1)
    assert [line for line in lines if "kernel" in line] == ["k.ptx: kernel k"]
    assert not any(line.endswith("  x") or "address" in line for line in lines)
    assert lines[-1] == "2 accesses: 1 free, 1 conflict"


def test_a_kernel_for_another_block_says_so() -> None:
    never = Decision(Verdict.UNKNOWN, NEVER_MADE)
    hint = "  no lane makes any of them in a block of 32,8,1: if launches have another one, give it by --block"
    assert hint in lines_of(access(never, 3, block=(32, 8, 1)), access(never, 4, block=(32, 8, 1)))
    assert hint not in lines_of(access(never, 3, block=(32, 8, 1)), access(FREE, 4, block=(32, 8, 1)))
