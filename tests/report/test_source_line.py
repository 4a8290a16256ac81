"""The line of the source that is shown: the program's own, not that of a header which wraps it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.ptx import Location
from swzverify.report.source_line import source_line

USER, HEADER = "/home/me/mm/kernel.cu", "/home/me/mm/tile.cuh"
TOOLKIT = [
    "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/cuda_fp16.hpp",
    "/usr/local/cuda/include/mma.h",
    "/opt/conda/envs/t/include/cuda_bf16.hpp",
    "/opt/conda/envs/t/targets/x86_64-linux/include/sm_32_intrinsics.hpp",
    "/venv/lib/python3.12/site-packages/nvidia/cu13/include/crt/mma.hpp",
    "/venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_fp8.hpp",
    r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v13.0\include\cuda_fp16.hpp",
    "/usr/local/cuda/include/cub/block/block_scan.cuh",
    "/usr/include/c++/13/bits/move.h",
    "cuda_fp16.hpp",
    "/x/include/cooperative_groups/details/helpers.h",
]
WRAPPERS = [
    "/home/me/mm/third_party/cutlass/include/cutlass/arch/memory_sm75.h",
    "/home/me/mm/third_party/cutlass/include/cute/arch/copy_sm75.hpp",
    "/venv/lib/python3.12/site-packages/triton/language/standard.py",
]
OWN = [
    "/home/me/mm/include/cuda_helpers.cuh",
    "/home/me/mm/include/cuda/kernels.cuh",
    "/home/me/cuda/src/tile.cuh",
    "/home/me/mm/cutlass/include/cutlass/gemm/threadblock/mma_base.h",
]


def chain(*files: str) -> Location:
    """Code of the last file, inlined in that of the one before, and so on; each at line 10, 11, ..."""
    found: Location | None = None
    for number in range(len(files)):
        found = Location(number + 1, 10 + number, 0, None if found is None else "f", found)
    assert found is not None
    return found


def shown(*files: str) -> tuple[str, int]:
    found = source_line(chain(*files), dict(enumerate(files, 1)))
    assert found is not None
    return found.shown.file, found.shown.line


@pytest.mark.parametrize("header", TOOLKIT + WRAPPERS)
def test_a_header_of_others_is_not_shown(header: str) -> None:
    assert shown(USER, header) == (USER, 10)
    assert shown(USER, HEADER, header) == (HEADER, 11)
    assert shown(USER, header, header) == (USER, 10)


@pytest.mark.parametrize("header", OWN)
def test_a_header_of_the_program_is_shown(header: str) -> None:
    assert shown(USER, header) == (header, 11)


def test_a_wrapper_is_shown_before_the_toolkit() -> None:
    assert shown(WRAPPERS[0], TOOLKIT[0]) == (WRAPPERS[0], 10)
    assert shown(TOOLKIT[0], TOOLKIT[1]) == (TOOLKIT[1], 11)


def test_files_below_the_current_folder_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine, theirs = f"{tmp_path}/src/k.cu", "/home/others/tile.cuh"
    assert shown(mine, theirs) == (mine, 10)
    toolkit = f"{tmp_path}/venv/nvidia/cu13/include/cuda_fp16.hpp"
    assert shown(theirs, toolkit) == (theirs, 10)


def test_the_chain_has_each_line_once() -> None:
    files = (USER, HEADER, TOOLKIT[0], TOOLKIT[0])
    location = chain(*files)
    found = source_line(location, dict(enumerate(files, 1)))
    assert found is not None
    assert found.words == f"{HEADER}:11 -> ... -> cuda_fp16.hpp:13"
    assert [each.line for each in found.chain] == [11, 12, 13]
    assert [each.name for each in found.callers] == ["kernel.cu:10"]
    same = source_line(Location(2, 5, 1, "f", Location(2, 5, 0, "f", Location(1, 3, 0))), {1: USER, 2: TOOLKIT[0]})
    assert same is not None
    assert same.words == f"{USER}:3 -> cuda_fp16.hpp:5"


@pytest.mark.parametrize("location", [None, Location(1, 0, 0), Location(9, 5, 0)])
def test_no_line_is_known(location: Location | None) -> None:
    assert source_line(location, {1: USER}) is None


SOURCE = """\
#include <cuda_bf16.h>
__device__ void put(__nv_bfloat162 *to, const __nv_bfloat162 &value) {
    *to = value;
}
__global__ void k(float *out) {
    __shared__ __align__(16) __nv_bfloat16 tile[32 * 64];
    put(reinterpret_cast<__nv_bfloat162 *>(tile + threadIdx.x * 64), __floats2bfloat162_rn(out[0], out[1]));
    __syncthreads();
    out[threadIdx.x] = __bfloat162float(tile[threadIdx.x]);
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_what_nvcc_inlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE, encoding="utf-8")
    subprocess.run(["nvcc", "-ptx", "-lineinfo", "-arch=sm_80", "k.cu"], check=True, timeout=120)

    def run(form: str) -> str:
        words = ["scan", "k.ptx", "--block", "32", "--format", form]
        return CliRunner().invoke(main, words, prog_name="swzverify").stdout

    first = json.loads(run("json"))["accesses"][0]
    assert first["source"]["file"].endswith("cuda_bf16.hpp")
    assert [(Path(each["file"]).name, each["line"]) for each in first["inlined"]] == [
        ("k.cu", 3), ("cuda_bf16.hpp", first["source"]["line"])
    ]  # fmt: skip
    assert f"  k.cu:3 -> cuda_bf16.hpp:{first['source']['line']} (PTX line " in run("text")
    assert "    inlined at k.cu:7" in run("text").splitlines()
    assert "file=k.cu,line=3::" in run("github")
    (result,) = [each for each in json.loads(run("sarif"))["runs"][0]["results"] if each["level"] == "error"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("k.cu", 3)
