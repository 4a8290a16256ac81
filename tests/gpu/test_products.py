"""`delivers` on the device: the simulated tensor core agrees with the library, each change of it shows."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from swzverify.claims import Delivers
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.emit import Emitted
from swzverify.gpu.launch import DeviceAnswer, Launch
from swzverify.gpu.product_source import NO_INSTRUCTION
from swzverify.gpu.products import ENCODINGS, mma_function, wgmma_function
from swzverify.gpu.source import PRELUDE
from swzverify.hardware.fragments import MMA_SHAPES, find_mma
from swzverify.hardware.tensor_cores import ELEMENT_BYTES, Major, OperandRole, find_tensor_instruction
from tests.gpu import operands, simulated
from tests.gpu.simulated import answers_of
from tests.gpu.specs import SPECS, checked, claims_in, claims_of_file

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")

SPEC = """
swzverify: 1
target: sm_90a
memories: {smem: {bytes: 65536, align: 1024}}
tiles:
  A: {element: f16, tma: {swizzle: 128B, box: [64, 64]}, base: {in: smem}, stages: 2}
  V: {element: bf16, layout: "((64,2),16):((1,1024),64)", swizzle: {bits: 3, base: 4, shift: 3, on: address}}
  q: {element: f8e5m2, layout: "(64,64):(64,1)", swizzle: "Swizzle<2,4,3>"}
  t: {element: tf32, layout: "((8,2),(4,4)):((4,128),(1,32))"}
  La: {element: f16, layout: "(32,32):(40,1)"}
operands:
  A:
    instruction: wgmma.m64n8k16.f16
    role: A
    for: {stage: 2, k: 2}
    descriptor: {start: stage*8192 + k*32, sbo: 1024, swizzle: 128B}
    reads: {tile: A, at: [0, k*16], stage: stage}
  wrong:
    instruction: wgmma.m64n8k16.f16
    role: A
    descriptor: {start: 0, sbo: 1024, swizzle: 64B}
    reads: {tile: A, at: [0, 0], stage: 0}
  odd:
    instruction: wgmma.m64n8k16.f16
    role: A
    descriptor: {start: 8, sbo: 1024, swizzle: 128B}
    reads: {tile: A, at: [0, 0], stage: 0}
  V:
    instruction: wgmma.m64n128k16.bf16
    role: B
    major: MN
    descriptor: {start: 0, lbo: 2048, sbo: 1024, swizzle: 128B}
    reads: {tile: V, at: [0, 0]}
  t:
    instruction: wgmma.m64n16k8.tf32
    role: B
    for: {k: 2}
    descriptor: {start: k*256, lbo: 128, sbo: 512, swizzle: none}
    reads: {tile: t, at: [0, k*8]}
accesses:
  matrix:
    tile: A
    instruction: ldmatrix.x4
    threads: 64
    for: {k: 2}
    coord: [warp*16 + lane%16, k*16 + lane/16*8]
    fragment: {mma: m16n8k16.f16, role: A, at: [warp*16, k*16]}
  turned:
    tile: A
    instruction: ldmatrix.x2.trans
    threads: 32
    coord: [lane%16, 8]
    fragment: {mma: m16n8k16.f16, role: B, at: [0, 8], modes: [K, MN]}
  not_turned:
    tile: A
    instruction: ldmatrix.x2
    threads: 32
    coord: [lane%16, 8]
    fragment: {mma: m16n8k16.f16, role: B, at: [0, 8], modes: [K, MN]}
  fp8:
    tile: q
    instruction: ldmatrix.x4
    threads: 32
    coord: [lane%16, lane/16*16]
    fragment: {mma: m16n8k32.e5m2, role: A, at: [0, 0]}
  wide_A:
    tile: La
    instruction: ld.shared.v4.b32
    threads: 32
    for: {h: 2}
    coord: [h*8 + lane/4, lane%4*8]
    fragment: {mma: m16n8k16.f16, role: A, at: [0, register/2*16], register: register%2*2 + h}
  wide_B:
    tile: La
    instruction: ld.shared.v4.b32
    threads: 32
    coord: [lane/4, lane%4*8]
    fragment: {mma: m16n8k16.f16, role: B, at: [0, register/2*16], register: register%2}
claims:
  - delivers: {operand: A}
  - {delivers: wrong, expect: refuted}
  - {delivers: odd, expect: refuted}
  - delivers: {operand: V}
  - delivers: {operand: t}
  - delivers: matrix
  - delivers: turned
  - {delivers: not_turned, expect: refuted}
  - delivers: fp8
  - {delivers: wide_A, expect: refuted}
  - delivers: [wide_A, wide_B]
"""


@pytest.fixture(scope="module")
def claims() -> list:
    return claims_in(SPEC)


def test_an_honest_tensor_core_agrees(claims: list) -> None:
    found = checked(claims).results["t"]
    # no descriptor can hold a start that is no multiple of 16
    assert [result.agrees for result in found] == [None if claim.subject == "odd" else True for claim, _ in claims]
    assert any("an address is misaligned" in each for each in found[2].comparison.left_out)
    assert found[0].seen.text.startswith("12288 elements, 0 against the claim")
    assert sum(result.comparison.places for result in found) > 30_000


@pytest.mark.parametrize("name", ["flash_attention_2", "mistake_modes_differ"])
def test_the_library_agrees(name: str) -> None:
    claims = claims_of_file(SPECS / "operands" / f"{name}.swz.yaml")
    delivers = [each for each in claims if isinstance(each[0], Delivers)]
    assert [result.agrees for result in checked(delivers).results["t"]] == [True] * len(delivers)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_changed_answer_shows(claims: list, every: int) -> None:
    plan = plan_all({"t": claims})["t"]
    answers, rng = answers_of(plan), np.random.default_rng(2)
    for number, launch in [*enumerate(plan.job.launches)][::every]:
        for field in ("places", "values"):
            array = getattr(answers[number], field).copy()
            if not launch.touch and field == "values":
                continue
            array.flat[rng.integers(array.size)] ^= 1
            other = {"places": answers[number].places, "values": answers[number].values, field: array}
            changed = [*answers[:number], DeviceAnswer(0, image=answers[number].image, **other), *answers[number + 1 :]]
            assert False in [result.agrees for result in checked(claims, changed).results["t"]], (launch.kernel, field)


def test_another_rule_of_the_hardware_shows(claims: list, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "MASKS", {"none": 0, "32B": 1, "64B": 3, "128B": 3})
    found = checked(claims).results["t"]
    wrong = [claim.subject for (claim, _), result in zip(claims, found, strict=True) if result.agrees is False]
    assert wrong == ["A", "V"]
    assert "the model says that it is read at" in found[0].differences[0]


def test_a_device_without_the_instruction_has_no_answer(claims: list) -> None:
    plan = plan_all({"t": claims})["t"]
    answers = answers_of(plan)
    for number, launch in enumerate(plan.job.launches):
        if launch.touch:
            answers[number].values.flat[0] = NO_INSTRUCTION
    found = checked(claims, answers).results["t"]
    assert {result.agrees for result in found} == {None}
    assert "not run: this device has no such instruction" in found[0].comparison.left_out


def _compile(tmp_path: Path, text: str, target: str) -> None:
    assert NVCC is not None
    (tmp_path / "k.cu").write_text(text)
    command = [NVCC, "-std=c++17", f"-arch={target}", "-cubin", "-o", str(tmp_path / "out"), str(tmp_path / "k.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_nvcc
@pytest.mark.parametrize("target", ["sm_90", "sm_90a"])
def test_the_kernels_compile(claims: list, target: str, tmp_path: Path) -> None:
    _compile(tmp_path, plan_all({"t": claims})["t"].job.source, target)


@needs_nvcc
@pytest.mark.nightly
def test_every_instruction_compiles(tmp_path: Path) -> None:
    """Every type, role and major of wgmma at the smallest and the largest N, every shape of mma.sync."""
    text, calls = [PRELUDE, ENCODINGS], list[str]()
    for element, size in ELEMENT_BYTES.items():
        for n in (8, 256):
            instruction = find_tensor_instruction(f"wgmma.m64n{n}k{32 // size}.{element}")
            for role in OperandRole:
                for major in Major if size == 2 else (Major.K,):
                    text.append(wgmma_function(f"f{len(calls)}", instruction, role, major))
                    calls.append(f"f{len(calls)}(d, at, out);")
    for (m, n, k), types in MMA_SHAPES.items():
        for element in types:
            for role in OperandRole:
                text.append(mma_function(f"f{len(calls)}", find_mma(f"m{m}n{n}k{k}.{element}"), role))
                calls.append(f"f{len(calls)}(r, out);")
    text.append('extern "C" __global__ void k(uint64_t d, uint32_t at, uint32_t* out) { uint32_t r[4] = {1, 2, 3, 4};')
    _compile(tmp_path, "\n".join([*text, *calls, "}"]), "sm_90a")


def test_the_command_compares_with_what_the_rule_says() -> None:
    """The parts of `python -m tests.gpu.operands` that need no device, with a device made of plain loops."""

    def run(kernels: Sequence[str], launches: Sequence[Launch]) -> list[DeviceAnswer]:
        assert len(kernels) == len(launches)
        forms: dict[object, list[operands.Drawn]] = {}
        for each in map(operands.draw, range(40)):
            forms.setdefault(each.form, []).append(each)
        found: list[DeviceAnswer] = []
        for (form, drawn), launch in zip(forms.items(), launches, strict=True):
            row = find_tensor_instruction(form.name)
            places = np.array([each.addresses.ravel() // row.element_bytes + 1 for each in drawn])
            places[0, 0] += launch.kernel == "wgmma_0"
            values = simulated._digits(places, row.element, launch.passes)
            found.append(DeviceAnswer(0, np.zeros(0, dtype=np.uint64), values, np.zeros((1, 0), dtype=np.uint8)))
        return found

    count, wrong = operands.check_descriptors(range(40), run)
    assert count > 40 * 128
    assert len(wrong) == 1
    assert "1 of" in wrong[0]
    _, failed = operands.check_fragments(_nothing)
    assert len(failed) == 2 * sum(map(len, MMA_SHAPES.values()))
    assert operands.check_loads(range(3), _nothing)[0] == 0


def _nothing(_: Sequence[str], launches: Sequence[Launch]) -> list[DeviceAnswer]:
    """A driver that starts no launch."""
    return [DeviceAnswer.failed(1, each) for each in launches]


@needs_nvcc
@pytest.mark.nightly
def test_the_kernels_of_the_command_compile(tmp_path: Path) -> None:
    """As a whole program, which ends at once without a device."""

    def run(kernels: Sequence[str], launches: Sequence[Launch]) -> list[DeviceAnswer]:
        _compile(tmp_path, Emitted(tuple(kernels), tuple(launches), {}).source, "sm_90a")
        return _nothing(kernels, launches)

    operands.check_fragments(run)
    operands.check_descriptors(range(12), run)
    operands.check_loads(range(3), run)
