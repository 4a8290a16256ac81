"""The machine instructions of wmma: the rule and the scan's verdicts against what was read from machine code.

Banks are counted here by a loop of its own.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swzverify.compiled.binaries.tools import find_tool
from swzverify.compiled.kernel import fragments
from swzverify.compiled.kernel.fragments import MADE_BY_PTXAS, fragment_of, pieces_of
from swzverify.compiled.ptx import read_module
from swzverify.compiled.sass import read_listing
from swzverify.compiled.scan import ScannedAccess
from swzverify.compiled.scan.decide import scan_function
from swzverify.errors import SwzError
from tests.kernel.texts import HEAD, TOP
from tests.scan.texts import scanned
from tests.scan.whole import scan_module

DATA = Path(__file__).parents[1] / "data" / "wmma_lanes.json"
ROWS: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"]
SIZES = {
    "m16n16k16": (16, 16, 16),
    "m8n32k16": (8, 32, 16),
    "m32n8k16": (32, 8, 16),
    "m16n16k8": (16, 16, 8),
    "m8n8k4": (8, 8, 4),
}
ELEMENT = {"f16": 2, "bf16": 2, "u8": 1, "s8": 1, "f32": 4, "s32": 4, "tf32": 4, "f64": 8}


class Code(NamedTuple):
    """The machine instructions of one form: bytes and multiples of the stride by bit of the lane, and by start."""

    form: str
    targets: list[str]
    opcode: str
    lanes: list[tuple[int, int]]
    starts: list[tuple[int, int]]

    @property
    def ptx(self) -> str:
        """The opcode of the PTX."""
        operation, layout, shape, kind = self.form.split()
        return f"wmma.{operation}.sync.aligned.{layout}.{shape}.shared.{kind}"

    @property
    def width(self) -> int:
        """The bytes of a lane's address."""
        if self.opcode.startswith("LDSM"):
            return 16
        return {"U8": 1, "64": 8, "128": 16}.get(self.opcode.rpartition(".")[2], 4)

    def addresses(self, stride: int, start: tuple[int, int]) -> list[int]:
        """The byte addresses of the lanes that have one."""
        count = 1 << len(self.lanes)
        steps = [a + b * stride for a, b in self.lanes]
        return [
            start[0] + start[1] * stride + sum(s for bit, s in enumerate(steps) if lane >> bit & 1)
            for lane in range(count)
        ]


CODES = [
    Code(each["form"], each["made"], each["opcode"], [*map(tuple, each["lanes"])], [*map(tuple, each["starts"])])
    for each in ROWS
]
IDS = [f"{each.form} {each.targets[0]}" for each in CODES]


def ways_of(addresses: list[int], width: int) -> int:
    """The most words of one bank in a group of lanes, which asks for at most 128 bytes."""
    lanes = min(32, 128 // max(width, 4))
    worst = 1
    for first in range(0, len(addresses), lanes):
        words = {
            (address + at) // 4 for address in addresses[first : first + lanes] for at in range(0, max(width, 4), 4)
        }
        worst = max(worst, *Counter(word % 32 for word in words).values())
    return worst


def kernel_of(code: Code, target: str, stride: str) -> str:
    """A kernel with this instruction, its fragment in global memory."""
    is_load = "load" in code.form
    kind = {"f32": "f32", "f64": "f64"}.get(code.form.split()[-1], "b32")
    count = registers(code)
    size = 8 if kind == "f64" else 4
    values = ", ".join(f"%v{number}" for number in range(count))
    moves = "".join(
        f"st.global.{kind} [%d1+{size * number}], %v{number};\n"
        if is_load
        else f"ld.global.{kind} %v{number}, [%d1+{size * number}];\n"
        for number in range(count)
    )
    stride = f", {stride}" if stride else ""
    own = f"{code.ptx} {{{values}}}, [%r3]{stride};\n" if is_load else f"{code.ptx} [%r3], {{{values}}}{stride};\n"
    top = TOP.replace("8.3", "8.7").replace("sm_90", target)
    return f"{top}{HEAD} .reg .{kind} %v<16>; ld.param.u64 %d1, [q];\n{own + moves if is_load else moves + own}ret; }}"


def registers(code: Code) -> int:
    """The registers of a fragment."""
    operation, _, shape, kind = code.form.split()
    operand = operation[-1]
    m, n, k = SIZES[shape]
    elements = {"a": m * k, "b": k * n}.get(operand, m * n)
    if kind == "f16":
        return 8 if operand in "ab" else 4
    return max(1, elements * ELEMENT[kind] // 32 // (8 if kind == "f64" else 4))


def scan_of(code: Code, target: str, stride: str) -> list[ScannedAccess]:
    found = scan_module(read_module(kernel_of(code, target, stride), "k.ptx"), (64, 1, 1), target=target)
    return [each for each in found if each.opcode.startswith("wmma")]


def test_there_is_a_row_for_each_form_and_target() -> None:
    assert Counter((each.form, target) for each in CODES for target in each.targets).most_common(1)[0][1] == 1
    newer = {each.form for each in CODES if "sm_80" in each.targets}
    assert len(newer) == 100
    assert all({*TARGETS[1:]} <= {*each.targets} for each in CODES if "sm_80" in each.targets)


@pytest.mark.parametrize("code", CODES, ids=IDS)
def test_the_rule_is_what_machine_code_does(code: Code) -> None:
    for target in code.targets:
        found = fragment_of(code.ptx, int(target[3:]))
        assert found is not None
        size = found.element_bytes
        assert [(each.bytes, each.strides * size) for each in found.lanes] == code.lanes
        assert sorted((each.bytes, each.strides * size) for each in found.starts) == sorted(code.starts)
        matrices = re.fullmatch(r"LDSM\.16\.(M|MT)88(?:\.([24]))?", code.opcode)
        if matrices:
            assert found.instruction == f"ldmatrix.x{matrices[2] or 1}{'.trans' if matrices[1] == 'MT' else ''}"
        else:
            operation = "ld" if code.opcode.startswith("LDS") else "st"
            assert found.instruction.startswith(f"{operation}.shared.")


@pytest.mark.parametrize("code", CODES, ids=IDS)
@pytest.mark.parametrize("more", [0, 1, *(pytest.param(more, marks=pytest.mark.nightly) for more in (2, 4))])
def test_the_verdict_is_that_of_the_machine_code(code: Code, more: int) -> None:
    """With a number for the stride: rows are so many pieces of 16 bytes longer. With 0 there is no stride."""
    found = fragment_of(code.ptx, int(code.targets[0][3:]))
    assert found is not None
    stride = found.dense_stride + more * 16 // found.element_bytes
    accesses = scan_of(code, code.targets[0], str(stride) if more else "")
    ways = [ways_of(code.addresses(stride, start), code.width) for start in code.starts]
    assert [each.decision.ways for each in accesses] == ways
    assert {each.decision.verdict.value for each in accesses} == {"free" if max(ways) == 1 else "conflict"}
    assert {each.in_bounds.verdict.value for each in accesses} == {"proved"}
    assert all(MADE_BY_PTXAS in each.assumptions for each in accesses)
    last = max(max(code.addresses(stride, start)) for start in code.starts) + code.width
    small = kernel_of(code, code.targets[0], str(stride)).replace("s[8192]", f"s[{last - 1}]")
    outside = scan_module(read_module(small, "k.ptx"), (64, 1, 1), target=code.targets[0])
    assert "refuted" in {each.in_bounds.verdict.value for each in outside}


def test_a_stride_in_a_register_is_an_unknown() -> None:
    code = next(each for each in CODES if each.form == "load.a row m16n16k16 f16" and "sm_90" in each.targets)
    (found,) = scan_of(code, "sm_90", "%r2")
    assert found.decision.verdict.value == "depends"
    assert found.decision.parameters == ("n",)
    (fixed,) = scanned(f"mov.u32 %r4, 24; {code.ptx} {{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}}, [%r3], %r4;")
    assert (fixed.decision.verdict.value, fixed.decision.wavefronts) == ("free", 4)


@pytest.mark.parametrize(
    "opcode",
    [
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
        "wmma.load.a.sync.aligned.row.m8n8k32.shared.u4",
        "wmma.load.c.sync.aligned.row.m8n8k32.shared.s32",
    ],
)
def test_other_forms_are_unknown(opcode: str) -> None:
    (found,) = scanned(f"{opcode} {{%r10}}, [%r3];")
    assert found.decision.verdict.value == "unknown"
    assert "wmma" in found.decision.reason
    assert pieces_of(opcode, 90) == ()


def test_earlier_targets_are_unknown_and_global_memory_is_no_access() -> None:
    code = next(each for each in CODES if each.form == "load.a row m16n16k16 f16")
    (found,) = scan_of(code, "sm_70", "")
    assert found.decision.verdict.value == "unknown"
    assert "sm_75" in found.decision.reason
    assert scanned("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r10}, [%d1];") == []


def test_a_mistake_in_the_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "_LARGER_FROM", 90)
    code = next(each for each in CODES if each.form == "load.a row m16n16k16 f16" and "sm_80" in each.targets)
    with pytest.raises(AssertionError):
        test_the_rule_is_what_machine_code_does(code)


def test_it_has_no_spec_and_no_fix() -> None:
    code = next(each for each in CODES if each.form == "load.c row m16n16k16 f32")
    module = read_module(kernel_of(code, "sm_90", "16"), "k.ptx")
    found = scan_function(module, module.functions[0], (32, 1, 1), suggest=True)
    assert {each.decision.verdict.value for each in found} == {"conflict"}
    assert {each.written.reason for each in found} == {"a spec does not say what ptxas makes of wmma"}
    assert {each.cures for each in found} == {()}
    assert "another stride" in found[0].no_cure


# ---- machine code


def on_chip(code: Code, names: list[str]) -> list[tuple[str, str]]:
    text = kernel_of(code, "sm_90", "16")
    module = read_module(text, "k.ptx")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if each.startswith("wmma"))
    listing = '\t.target\tsm_90\n\t.section\t.text.k,"ax",@progbits\n\t.other\tk,@"STO_CUDA_ENTRY STV_DEFAULT"\n'
    for number, name in enumerate(names):
        listing += f'\t//## File ".nv_debug_ptx_txt", line {line}\n        /*{16 * number:04x}*/    {name} ;\n'
    found = scan_function(module, module.functions[0], (64, 1, 1), machine=read_listing(listing))
    return [(each.chip.relation.value, each.chip.decision.verdict.value) for each in found if each.chip is not None]


def test_the_machine_code_of_a_fragment_has_the_verdict() -> None:
    code = next(each for each in CODES if each.form == "load.c row m16n16k16 f32")
    same = [f"LDS.64 R{2 * number}, [R4]" for number in range(4)]
    assert on_chip(code, same) == [("same", "conflict")] * 4
    assert on_chip(code, same * 2) == [("same", "conflict")] * 4
    assert on_chip(code, same[:3]) == [("unknown", "unknown")] * 4


def test_ptxas_makes_these_instructions(tmp_path: Path) -> None:
    """Of the forms of sm_90, by the tools that are installed."""
    ptxas = shutil.which("ptxas")
    try:
        nvdisasm = find_tool("nvdisasm")
    except SwzError:
        nvdisasm = None
    if ptxas is None or nvdisasm is None:
        pytest.skip("ptxas or nvdisasm is not installed")
    codes = [each for each in CODES if "sm_90" in each.targets]
    text = TOP.replace("8.3", "8.7") + ".shared .align 16 .b8 s[8192];\n"
    for number, code in enumerate(codes):
        body = kernel_of(code, "sm_90", "%r2").partition("s[8192];\n")[2]
        text += body.replace(".entry k(", f".entry k{number}(") + "\n"
    (tmp_path / "k.ptx").write_text(text)
    subprocess.run([ptxas, "-arch=sm_90", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        [nvdisasm, "-c", "k.cubin"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    parts = re.split(r"\.text\.k(\d+):", listed)
    for number, code in zip(parts[1::2], parts[2::2], strict=True):
        wanted = codes[int(number)]
        names = re.findall(r"\b((?:LDS|STS|LDSM)\b\S*)\s", code)
        assert Counter(names) == {wanted.opcode: len(wanted.starts)}, wanted.form
