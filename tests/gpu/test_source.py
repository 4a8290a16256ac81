"""The generated CUDA: its text for one access, and that all of it compiles where there is a
compiler.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from swzverify.gpu.costs import cost_source
from swzverify.gpu.crosscheck import plan_all
from swzverify.gpu.draw import drawn
from swzverify.gpu.emit import Emitted
from swzverify.gpu.source import access_kernel
from swzverify.hardware import INSTRUCTIONS, find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.subjects import Access, AlignedBase
from tests.gpu.specs import claims_in
from tests.gpu.test_simulated import SPEC

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")

GOLDEN = """\
    for (uint32_t row = 0; row < row_count; ++row) {
        const uint32_t v_base = (uint32_t)base;
        const uint32_t v_lane = threadIdx.x % 32u;
        const uint32_t t0 = v_base;
        const uint32_t t1 = (t0 << 7u) & 16777215u;
        const uint32_t t2 = v_lane;
        const uint32_t t3 = (t2 << 2u) & 127u;
        const uint32_t t4 = t3;
        const uint32_t t5 = (t1 + t4) & 16777215u;
        const uint64_t place = t5;
        const bool active = 1u != 0;
        const uint64_t index = (uint64_t)row * blockDim.x + threadIdx.x;
        if (pass == 0) places[index] = active ? place : 18446744073709551615ull;
        const uint64_t address = place;
        const bool inside = active && address >= window && address - window + 4 <= window_bytes;
        const uint32_t at = begin + (inside ? (uint32_t)(address - window) : 0u);
        uint32_t r[4] = {0, 0, 0, 0};
        if (touch && inside) { asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(r[0]) : "r"(at) : "memory"); }
        for (uint32_t q = 0; q < 1u; ++q) values[index * 1u + q] = r[q];
        __syncthreads();
    }
"""


def test_the_kernel_of_an_access() -> None:
    access = Access(
        "a",
        find_instruction("ld.shared.b32"),
        find_target("sm_90"),
        (32,),
        address=parse("tid*4"),
        base=AlignedBase(128),
        bytes=128,
    )
    assert GOLDEN in access_kernel("kernel", access)


def _compile(tmp_path: Path, text: str, *arguments: str) -> None:
    assert NVCC is not None
    (tmp_path / "k.cu").write_text(text)
    command = [NVCC, "-std=c++17", "-arch=sm_90", *arguments, "-o", str(tmp_path / "out"), str(tmp_path / "k.cu")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_nvcc
@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.nightly)])
def test_instructions_compile(every: int, tmp_path: Path) -> None:
    _compile(tmp_path, cost_source(list(INSTRUCTIONS)[::every]), "-cubin")


@needs_nvcc
def test_an_emitted_program_compiles(tmp_path: Path) -> None:
    plan = plan_all({"t": claims_in(SPEC)})["t"]
    kernels = tuple(run.source for run in plan.runs.values())
    some = {name: drawn(find_instruction(name), 3, 1) for name in ("ldmatrix.x2", "cp.async.16")}
    _compile(tmp_path, Emitted(kernels, plan.job.launches, some).source)
    usage = subprocess.run([str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert usage.returncode == 2
    assert "usage" in usage.stderr
