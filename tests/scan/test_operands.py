"""Operands of wgmma: the fields of their descriptors, and the claims on them."""

import json
import random
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedOperand, operand_claims, operand_fields, scan_function
from swzverify.compiled.scan import operands as rows
from swzverify.compiled.scan.claim import size_unknown
from swzverify.hardware.tensor_cores import WGMMA_FIELDS, Family, OperandRole
from swzverify.subjects.descriptor import Descriptor
from swzverify.testing import assert_scan_free
from tests.nightly import counts
from tests.oracle.operands import WIDTHS, Operand
from tests.scan.whole import scan_operands

descriptors: Any = import_module("swzverify.compiled.kernel.descriptors")
listing: Any = import_module("swzverify.compiled.kernel.operands")
Plant: TypeAlias = AbstractContextManager[object]

HEAD = ".version 8.3 .target sm_90a .address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %rd<40>;"
CODES = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
F16 = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
SUMS = "{%f1, %f2, %f3, %f4}"


def high(lbo: int = 16, sbo: int = 1024, mode: str = "128B", base_offset: int = 0) -> int:
    """The bits of a descriptor but for the start address."""
    return (lbo >> 4) << 16 | (sbo >> 4) << 32 | base_offset << 49 | CODES[mode] << 62


def make(register: int, address: str, bits: int) -> str:
    """A descriptor in %rd, of an address in %r."""
    return (
        f"and.b32 %r30, {address}, 0x3ffff; shr.u32 %r30, %r30, 4; cvt.u64.u32 %rd30, %r30;"
        f"or.b64 %rd{register}, %rd30, {bits};\n"
    )


def text(body: str, arrays: str = ".shared .align 1024 .b8 tile[16384];", params: str = "") -> str:
    """A kernel with the array `tile` at %r1."""
    return f"{HEAD}{arrays}\n.entry k({params}) {{ {REGISTERS} mov.u32 %r1, tile;\n{body}\nret; }}"


def both(a: int, b: int, offset: int = 8192, flags: str = "1, 1, 0, 0") -> str:
    """A at the start of the array, B behind it."""
    body = make(1, "%r1", a) + f"add.u32 %r2, %r1, {offset};" + make(2, "%r2", b)
    return body + f"{F16} {SUMS}, %rd1, %rd2, %p1, {flags};"


def scan(
    ptx: str, block: tuple[int, int, int] | None = (128, 1, 1), smem: int | None = None, align: int | None = None
) -> list[ScannedOperand]:
    module = read_module(ptx, "k.ptx")
    return scan_operands(module, module.functions[0], block, Given(smem_align=align), smem)


def check_fields() -> None:
    """Each field is read from its place, for both roles."""
    a, b = scan(text(both(high(16, 1024, "128B"), high(256, 512, "64B", 5))))
    assert (a.fields.role, a.fields.start, a.fields.lbo, a.fields.sbo) == ("A", "tile", 16, 1024)
    assert (a.fields.swizzle, a.fields.base_offset, a.fields.major, a.fields.reads_lbo) == ("128B", 0, "K", False)
    assert (b.fields.role, b.fields.start, b.fields.lbo, b.fields.sbo) == ("B", "tile + 8192", 256, 512)
    assert (b.fields.swizzle, b.fields.base_offset) == ("64B", 5)
    assert not a.fields.unknown
    assert not b.fields.unknown


def check_majors() -> None:
    """The first flag is that of A, the second that of B; the only one is that of B if A is in registers."""
    found = [scan(text(both(high(), high(), flags=f"1, 1, {flags}"))) for flags in ("1, 0", "0, 1")]
    assert [[each.fields.major for each in pair] for pair in found] == [["MN", "K"], ["K", "MN"]]
    for flag, major in ((0, "K"), (1, "MN")):
        body = make(2, "%r1", high()) + f"{F16} {SUMS}, {{%r3, %r4, %r5, %r6}}, %rd2, %p1, 1, 1, {flag};"
        (only,) = scan(text(body))
        assert (only.fields.role, only.fields.major) == ("B", major)


def bytes_read(start: int, mode: str, major: str, fields: tuple[int, int, int]) -> tuple[int, int]:
    """The first byte that operand A of `F16` reads, and the one after the last, by the oracle."""
    nothing: Any = None
    shape = (64, 16, 2, major == "MN", WIDTHS[mode])
    read = Operand("A", *shape, *fields, base=nothing, tile=nothing, k_first=True, runs=())
    places = [read.read_at(start, *each) for each in read.elements]
    return min(places), max(places) + 2


def check_bounds(count: int = 60) -> None:
    """A verdict on bounds is that of the addresses of all elements, wherever the array begins."""
    draw = random.Random(20_261_126)
    seen: set[str] = set()
    for _ in range(count):
        mode, major, align = draw.choice(list(CODES)), draw.choice(["K", "MN"]), draw.choice([16, 16, 128, 1024])
        fields = 16 * draw.randrange(0, 40), 16 * draw.randrange(0, 80), draw.choice([0, 0, 1, 5])
        offset = 16 * draw.choice([0, 1, 2, 7, draw.randrange(0, 80)])
        begins = [4096 + align * at for at in range(max(1, 1024 // align))]
        spans = [bytes_read(begin + offset, mode, major, fields) for begin in begins]
        reach = [(first - begin, last - begin) for (first, last), begin in zip(spans, begins, strict=True)]
        size = max(1, max(last for _, last in reach) + draw.choice([-512, -64, -16, -2, 0, 0, 2, 64, 256]))
        inside = [first >= 0 and last <= size for first, last in reach]
        body = f"add.u32 %r2, %r1, {offset};" + make(1, "%r2", high(fields[0], fields[1], mode, fields[2]))
        body += make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, {int(major == 'MN')}, 0;"
        verdict = scan(text(body, f".shared .align {align} .b8 tile[{size}];"))[0].claim("in_bounds").verdict.value
        seen.add(verdict)
        shown = (mode, major, fields, offset, align, size, verdict)
        assert verdict != "proved" or all(inside), shown
        assert verdict != "refuted" or not any(inside), shown
        if mode == "none" or align == 1024:
            assert verdict == ("proved" if all(inside) else "refuted"), shown
    assert seen == {"proved", "refuted", "unknown"}


def check_base_offset() -> None:
    """The base offset moves the last byte that is read."""
    for base_offset in (1, 5):
        _, last = bytes_read(4096, "128B", "K", (16, 1024, base_offset))
        for size, verdict in ((last - 4096, "proved"), (last - 4097, "refuted")):
            body = both(high(base_offset=base_offset), high(), 0)
            a, _ = scan(text(body, f".shared .align 1024 .b8 tile[{size}];"))
            assert a.claim("in_bounds").verdict == verdict


def test_the_base_offset_counts() -> None:
    check_base_offset()


def test_each_field_is_read_from_its_place() -> None:
    check_fields()


def test_major_ness_is_that_of_the_role() -> None:
    check_majors()


@pytest.mark.parametrize("count", counts(25, 200))
def test_bounds_are_those_of_all_elements(count: int) -> None:
    check_bounds(count)


def test_descriptors_keep_their_registers() -> None:
    body = make(1, "%r1", high()) + make(2, "%r1", high())
    step = f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0; add.s64 %rd1, %rd1, 2;"
    found = [each.fields.start for each in scan(text(body + 3 * step))]
    assert found == ["tile", "tile", "tile + 32", "tile", "tile + 64", "tile"]


def test_a_stage_of_a_loop_is_part_of_the_start() -> None:
    body = "mov.u32 %r5, 0; L: shl.b32 %r6, %r5, 12; add.u32 %r6, %r6, %r1;" + make(1, "%r6", high(sbo=256, mode="32B"))
    body += make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    body += "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 4; @%p2 bra L;"
    for size, verdict in ((3 * 4096 + 2048, "proved"), (3 * 4096 + 2016, "refuted")):
        a, _ = scan(text(body, f".shared .align 1024 .b8 tile[{size}];"))
        assert (a.fields.unknown, a.claim("in_bounds").verdict) == ({}, verdict)
        assert re.fullmatch(r"tile \+ trips@\d+\*4096", a.fields.start or "")


def test_only_the_warp_group_that_runs_it_counts() -> None:
    """The other warp group would read before the array."""
    body = "mov.u32 %r7, %tid.x; shr.u32 %r8, %r7, 7; mul.lo.u32 %r8, %r8, 8192; add.u32 %r6, %r1, %r8;"
    body += "sub.u32 %r6, %r6, 8192;" + make(1, "%r6", high()) + make(2, "%r1", high())
    there = f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    guarded = f"setp.lt.u32 %p2, %r7, 128; @%p2 bra E; {there} E:"
    verdicts = [scan(text(body + each), (256, 1, 1))[0].claim("in_bounds").verdict for each in (guarded, there)]
    assert verdicts == ["proved", "refuted"]


def test_bounds_of_dynamic_memory_need_its_size() -> None:
    arrays = ".extern .shared .align 16 .b8 tile[];"
    body = text(both(high(), high()), arrays)
    a, b = (each.claim("in_bounds") for each in scan(body, align=1024))
    assert (a.needs, b.needs) == (8192, 9216)
    assert a.reason == f"{size_unknown('tile')}; the access needs the first 8192 bytes"
    assert [each.claim("in_bounds").verdict for each in scan(body, smem=9216, align=1024)] == ["proved", "proved"]
    assert [each.claim("in_bounds").verdict for each in scan(body, smem=9215, align=1024)] == ["proved", "refuted"]
    a, _ = (each.claim("in_bounds") for each in scan(body, smem=9216))
    assert (a.verdict, a.needs) == ("unknown", 128)


def test_a_start_is_a_multiple_of_16() -> None:
    (a, _) = scan(text(both(high(), high()), ".shared .align 8 .b8 tile[16384];"))
    assert "begins at a multiple of 8" in a.fields.unknown["start"]


def test_reserved_bits_are_told() -> None:
    (a, b) = scan(text(both(high(), high() | 1 << 46)))
    assert a.claim("reserved_bits").verdict == "proved"
    assert b.claim("reserved_bits").verdict == "refuted"
    assert b.claim("reserved_bits").reason == "the descriptor has the bits 0x400000000000 outside of its fields"
    assert a.claim("reserved_bits").assumptions[-1] == "shared arrays lie below byte 233472 of the shared window"
    assert a.claim("in_bounds").assumptions == a.assumptions
    carry = make(1, "%r1", high()) + "add.s64 %rd1, %rd1, 16383;" + make(2, "%r1", high())
    (a, _) = scan(text(carry + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"))
    assert a.claim("reserved_bits").verdict == "unknown"
    assert "where tile begins" in a.claim("reserved_bits").reason


def test_an_offset_that_is_not_read_is_not_judged() -> None:
    """The LBO of a K-major operand with a swizzle may be anything; without a swizzle it counts."""
    for mode, unknown in (("128B", set[str]()), ("none", {"lbo"})):
        body = make(1, "%r1", high(0, 1024, mode)) + make(2, "%r1", high())
        body += "ld.param.u64 %rd5, [n]; and.b64 %rd5, %rd5, 0x3fff; shl.b64 %rd5, %rd5, 16; or.b64 %rd1, %rd1, %rd5;"
        a, _ = scan(text(body + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;", params=".param .u64 n"))
        assert a.fields.lbo is None
        assert set(a.fields.unknown) == unknown
        assert a.claim("in_bounds").verdict == ("unknown" if unknown else "proved")


def test_what_has_no_known_rule_stays_an_access() -> None:
    """A sparse operand is an access of which nothing is known."""
    sparse = F16.replace("mma_async", "mma_async.sp").replace("k16", "k32")
    ptx = text(
        make(1, "%r1", high()) + make(2, "%r1", high()) + f"{sparse} {SUMS}, %rd1, %rd2, %r3, 0, %p1, 1, 1, 0, 0;"
    )
    assert scan(ptx) == []
    module = read_module(ptx, "k.ptx")
    (access,) = scan_function(module, module.functions[0], (128, 1, 1))
    assert access.decision.verdict == "unknown"


def test_a_descriptor_from_memory_is_unknown() -> None:
    body = "ld.shared.u64 %rd1, [%r1];" + make(2, "%r1", high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    a, b = scan(text(body))
    assert set(a.fields.unknown) == {"start", "lbo", "sbo", "swizzle", "base_offset"}
    assert not b.fields.unknown


def test_what_no_lane_executes_is_unknown() -> None:
    body = both(high(), high())
    found = scan(text(f"mov.u32 %r7, %tid.x; setp.lt.u32 %p2, %r7, 512; @%p2 bra E; {body} E:"))
    assert {why for each in found for why in each.fields.unknown.values()} == {"no lane makes this access"}


def test_threads_need_a_block() -> None:
    ptx = text("mov.u32 %r7, %tid.x; and.b32 %r7, %r7, 128; add.u32 %r1, %r1, %r7;" + both(high(), high()))
    assert {each.claim("in_bounds").reason for each in scan(ptx, None)} == {
        "the shape of the block is not known: give --block X,Y,Z, the block of the launch"
    }


# ---- the command


@pytest.fixture
def ptx_file(tmp_path: Path) -> str:
    """A kernel whose operand B leaves the array, and no other access."""
    path = tmp_path / "k.ptx"
    path.write_text(text(both(high(), high() | 1 << 52), ".shared .align 1024 .b8 tile[9200];"))
    return str(path)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["scan", *words, "--block", "128"])


def test_operands_are_rows_of_the_json(ptx_file: str) -> None:
    rows = json.loads(run(ptx_file, "--format", "json").output)["accesses"]
    assert [row["operand"]["role"] for row in rows] == ["A", "B"]
    assert {row["instruction"] for row in rows} == {F16}
    assert {row["verdict"] for row in rows} == {None}
    assert rows[0]["operand"] == {
        "role": "A",
        "shape": "m64n8k16.f16",
        "major": "K",
        "start": "tile",
        "lbo": 16,
        "sbo": 1024,
        "swizzle": "128B",
        "base_offset": 0,
        "reads_lbo": False,
        "unknown": {},
    }
    assert [[row[name]["verdict"] for name in ("aligned", "in_bounds", "reserved_bits")] for row in rows] == [
        ["proved", "proved", "proved"],
        ["proved", "refuted", "refuted"],
    ]
    lines = [json.loads(line) for line in run(ptx_file, "--format", "jsonl").output.splitlines()]
    assert (lines[-1]["operands"], lines[-1]["unknown"], lines[-1]["problems"]) == (2, 0, 0)


@pytest.mark.parametrize(
    ("kind", "code"), [("unknown", 0), ("conflict", 0), ("misaligned", 0), ("out-of-bounds", 1), ("bad-descriptor", 1)]
)
def test_what_fails(ptx_file: str, kind: str, code: int) -> None:
    assert run(ptx_file, "--fail-on", kind).exit_code == code


def test_text_has_a_block_for_each_line(ptx_file: str) -> None:
    lines = run(ptx_file).output.splitlines()
    assert lines[0].endswith("kernel k")
    assert "    B: K-major, swizzle 128B, LBO 16 (not read), SBO 1024, base offset 0; start tile + 8192" in lines
    assert "    not in bounds: operand B: it reads at byte 9216, counted from the start of the array" not in lines
    assert any(line.startswith("    not in bounds: operand B: it reads at byte ") for line in lines)
    assert lines[-1] == "0 accesses"
    assert "operand A" not in run(ptx_file, "--quiet").output


def test_pytest_allows_what_it_finds(ptx_file: str) -> None:
    assert assert_scan_free(ptx_file, block=128, allow=["wgmma.mma_async"]) == ()


# ---- mistakes


def fields_with(**changes: Any) -> Plant:
    wrong, stack = replace(WGMMA_FIELDS, **changes), ExitStack()
    stack.enter_context(mock.patch.object(operand_fields, "FIELDS", {Family.WGMMA: wrong}))
    stack.enter_context(mock.patch.object(descriptors, "WGMMA_FIELDS", wrong))
    return stack


def majors_swapped() -> Plant:
    right = listing.major_of
    other = {OperandRole.A: OperandRole.B, OperandRole.B: OperandRole.A}

    def wrong(instruction: Any, row: Any, role: OperandRole) -> Any:
        return right(instruction, row, other[role])

    return mock.patch.object(listing, "major_of", wrong)


def roles_swapped() -> Plant:
    right = listing.read_operands
    other = {OperandRole.A: OperandRole.B, OperandRole.B: OperandRole.A}

    def wrong(*arguments: Any) -> Any:
        found = right(*arguments)
        return replace(found, operands=tuple(replace(each, role=other[each.role]) for each in found.operands))

    return mock.patch.object(rows, "read_operands", wrong)


def swizzled_by(wrong: Callable[[Any, Any], Any]) -> Plant:
    return mock.patch.object(Descriptor, "swizzled", wrong)


def base_offset_added(self: Any, address: Any) -> Any:
    return address ^ (((address // 128 + self.base_offset) & self.line_mask) * 16)


def not_swizzled(_self: Any, address: Any) -> Any:
    return address


def not_rounded(start: Any, _chunk: int) -> Any:
    return start.address


MISTAKES: dict[str, tuple[Callable[[], Plant], Callable[[], None]]] = {
    "LBO and SBO swapped": (lambda: fields_with(lbo=WGMMA_FIELDS.sbo, sbo=WGMMA_FIELDS.lbo), check_fields),
    "64B and 32B swapped": (lambda: fields_with(modes=("none", "128B", "32B", "64B")), check_fields),
    "the base offset from bits 46 to 48": (lambda: fields_with(base_offset=(46, 3)), check_fields),
    "a start address of 9 bits": (lambda: fields_with(start=(0, 9)), check_fields),
    "majors of A and B swapped": (majors_swapped, check_majors),
    "roles of A and B swapped": (roles_swapped, check_fields),
    "no swizzle in what is read": (lambda: swizzled_by(not_swizzled), check_bounds),
    "the base offset added": (lambda: swizzled_by(base_offset_added), check_base_offset),
    "chunks are not rounded up": (lambda: mock.patch.object(operand_claims, "_last_of", not_rounded), check_bounds),
    "chunks are not rounded down": (lambda: mock.patch.object(operand_claims, "_first_of", not_rounded), check_bounds),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_found(name: str) -> None:
    plant, check = MISTAKES[name]
    with plant(), pytest.raises(AssertionError):
        check()


def test_of_an_operand_that_no_lane_reads_nothing_is_proved() -> None:
    body = "mov.u32 %r3, %tid.x; setp.lt.u32 %p2, %r3, 500; @%p2 bra END;" + both(high(), high()) + "END:"
    for each in scan(text(body)):
        assert {claim.verdict.value for claim in each.claims} == {"unknown"}
        assert {claim.reason for claim in each.claims} == {"no lane makes this access"}
    (read, *_) = scan(text(body.replace("500", "50")))
    assert read.claims[0].verdict.value == "proved"


@pytest.mark.parametrize("threads", [8, 32, 96, 100, 160])
def test_a_block_that_is_no_warp_groups_is_looked_at_without_a_fault(threads: int) -> None:
    """`wgmma` needs whole warp groups: a run ends at it, and refutes nothing."""
    body = both(high(), high()) + f"{F16} {SUMS}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    assert [each.claims[-1].verdict.value for each in scan(text(body), (threads, 1, 1))] == ["unknown"] * 4
