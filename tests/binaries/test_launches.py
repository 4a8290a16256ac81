"""Blocks of launches that stand in a source file: only numbers, and only where all launches agree."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.binaries.launches import LaunchedBlock, blocks_of_file, blocks_of_source
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Blocks, judged_block
from tests.binaries.test_files import has_tool


@pytest.mark.parametrize(
    ("launch", "extents"),
    [
        ("k<<<1, 256>>>(p);", (256,)),
        ("k<<<n / 2, 32 * 8>>>(p);", (256,)),
        ("k<<<dim3(n, m), dim3(32, 8)>>>(p);", (32, 8)),
        ("k <<< (n + f(1, 2)) , dim3{ 8u, 4 * 2, 2 } , smem, stream >>> (p);", (8, 8, 2)),
        ("ns::k<float, (N > 3), Pack<int, 4>><<<1, 64>>>(p);", (64,)),
        ("if (x) { k<8><<<1, 64>>>(p); }", (64,)),
        ("/* k<<<1, 1>>>() */ k<<<1, 64>>>(p); // k<<<1, 2>>>()", (64,)),
        ('puts("k<<<1, 2>>>"); k<<<1, 64>>>(p);', (64,)),
        ("k<<<1, 64>>>(p); k<<<2, dim3(64, 1)>>>(p);", (64,)),
        ("k<<<1, 64>>>(p); j<<<1, 32>>>(p);", (64,)),
    ],
)
def test_numbers(launch: str, extents: tuple[int, ...]) -> None:
    assert blocks_of_source(f"void f()\n{{\n{launch}\n}}")["k"] == LaunchedBlock(extents, 3)


@pytest.mark.parametrize(
    "launch",
    [
        "k<<<1, n>>>(p);",
        "k<<<1, threads>>>(p);",
        "k<<<1, dim3(32, n)>>>(p);",
        "k<<<1, dim3()>>>(p);",
        "k<<<1, dim3(1, 2, 3, 4)>>>(p);",
        "k<<<1, 64 + 1>>>(p);",
        "k<<<1, -64>>>(p);",
        "k<<<1, 0x40>>>(p);",
        "k<<<1, 99999>>>(p);",
        "k<<<256>>>(p);",
        "k<<<1, 64",
        "k<<<1)>>>, 64>>>(p);",
        "k<<<1, 64>>>(p); k<<<1, n>>>(p);",
        "k<<<1, n>>>(p); k<<<1, 64>>>(p);",
        "k<<<1, 64>>>(p);\n k<<<1, 128>>>(p); k<<<1, 64>>>(p);",
        "k<8><<<1, 64>>>(p); k<16><<<1, 128>>>(p);",
        "(*q)<<<1, 64>>>(p);",
        "",
    ],
)
def test_what_is_no_number_or_differs(launch: str) -> None:
    assert "k" not in blocks_of_source(launch)


def test_a_large_source_takes_no_time() -> None:
    begin = time.process_time()
    for text in ("<<<" * 20_000, "k>" * 20_000 + "<<<", "/*" * 50_000, "k<<<" + "(" * 50_000, "'" * 50_000):
        blocks_of_source(text)
    assert time.process_time() - begin < 10


def test_only_source_files_are_read(tmp_path: Path) -> None:
    for name, found in (("k.cu", True), ("k.ptx", False)):
        (tmp_path / name).write_text("void f() { k<<<1, 64>>>(); }", encoding="utf-8")
        assert bool(blocks_of_file(str(tmp_path / name))) is found


@pytest.mark.parametrize(
    ("directive", "every", "shape"),
    [
        ("", None, (32, 8, 1)),
        ("", (64, 1, 1), (64, 1, 1)),
        (".reqntid 128", None, (128, 1, 1)),
        (".maxntid 512", None, (32, 8, 1)),
        (".maxntid 128", None, (128, 1, 1)),
    ],
)
def test_what_goes_before_the_source(
    directive: str, every: tuple[int, int, int] | None, shape: tuple[int, int, int]
) -> None:
    text = f".version 8.3 .target sm_90 .address_size 64 .entry _ZN2ns1kILi8EEEvPf() {directive} {{ ret; }}"
    launched = {"k": LaunchedBlock((32, 8), 12)}
    found = judged_block(read_module(text, "k.ptx").functions[0], Blocks(every), launched, "src/k.cu")
    assert found.shape == shape
    assert ("line 12 of k.cu" in found.assumed) == (shape == (32, 8, 1))


@pytest.mark.skipif(not has_tool("nvcc"), reason="nvcc is not installed")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_source_that_is_scanned(tmp_path: Path, jobs: str) -> None:
    source = tmp_path / "k.cu"
    kernel = "__global__ void {}(float *p) {{ __shared__ float s[256]; s[threadIdx.x] = 1; p[0] = s[threadIdx.y]; }}\n"
    launches = "void f(float *p, int n) { k<<<n, dim3(32, 4)>>>(p); j<<<1, n>>>(p); }\n"
    source.write_text(kernel.format("k") + kernel.format("j") + launches, encoding="utf-8")
    result = CliRunner().invoke(main, ["scan", str(source), "--format", "json", "-j", jobs])
    rows = json.loads(result.stdout)["accesses"]
    assumed = "blocks of 32,4,1 threads, from line 3 of k.cu"
    told = {(each["demangled"], tuple(each["block"] or ()), *each["assumptions"]) for each in rows}
    assert told == {("k(float*)", (32, 4, 1), assumed), ("j(float*)", ())}
