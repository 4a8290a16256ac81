"""Blocks of launches that stand in a source file: only what has a value there, and only where all launches agree."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.apps.run import launches
from swzverify.apps.run.launches import blocks_of_files
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Blocks, LaunchedBlock, judged_block
from swzverify.spec.sources.launches import constant_in, launched_blocks
from tests.binaries.test_files import has_tool


def blocks_of_source(source: str) -> dict[str, LaunchedBlock]:
    """The kernels of a source whose block is known."""
    found = launched_blocks(source, lambda name: constant_in((source,), name))
    return {name: each for name, each in found.items() if each is not None}


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
        ("k<<<1, 64 + 1>>>(p);", (65,)),
        ("k<<<1, 0x40>>>(p);", (64,)),
        ("const int n = 64; k<<<1, n * 2>>>(p);", (128,)),
        ("unsigned int n = 64, m = 2; k<<<m, n>>>(p);", (64,)),
        ("int m = 1, n = 64, l = 3; k<<<1, n>>>(p);", (64,)),
        ("const int m = 2, n = 64; if (m && n == 64) k<<<m, n>>>(p);", (64,)),
        ("dim3 b(32, 4); k<<<dim3(m), b, 0, stream>>>(p);", (32, 4)),
        ("dim3 b = dim3(32, 4); k<<<1, b>>>(p);", (32, 4)),
        ("dim3 b{32, 4}; k<<<1, b>>>(p);", (32, 4)),
        ("#define T (W * 4)\nk<<<1, T>>>(p);", (128,)),
        ("dim3 b(W, H / 2); k<<<1, b>>>(p);", (32, 8)),
        ("int n = 64; dim3 b(n, 1), g(m / n, n); k<<<g, b>>>(p);", (64,)),
        ("int n = 32; { int n = 64; k<<<1, n>>>(p); }", (64,)),
        ("int n = 64; for (int i = 0; i < n; ++i) k<<<max(1, n), n>>>(p);", (64,)),
        ('int n = 64; printf("%d", n); k<<<(m + n - 1) / n, n>>>(p);', (64,)),
    ],
)
def test_numbers(launch: str, extents: tuple[int, ...]) -> None:
    """With a macro and a constant before it, and other functions around it."""
    head = "#define W 32\nconstexpr int H = 16; void g(int n) { n = 1; dim3 b(n); }"
    x, y, z = (*extents, 1, 1)[:3]
    source = f"{head} void f()\n{{\n{launch}\n}}\nvoid h(int n) {{ int b = n++; }}"
    assert blocks_of_source(source)["k"] == LaunchedBlock((x, y, z), 4 + launch.count("\n"))


@pytest.mark.parametrize(
    "launch",
    [
        "k<<<1, n>>>(p);",
        "k<<<1, threads>>>(p);",
        "k<<<1, dim3(32, n)>>>(p);",
        "k<<<1, dim3()>>>(p);",
        "k<<<1, dim3(1, 2, 3, 4)>>>(p);",
        "k<<<1, -64>>>(p);",
        "k<<<1, 0>>>(p);",
        "dim3 b(32, 64); k<<<1, b>>>(p);",
        "int n = 0; sizes(m, n); k<<<1, n>>>(p);",
        "int n = 64; if (m) n = 128; k<<<1, n>>>(p);",
        "int n = 64; n <<= m; k<<<1, n>>>(p);",
        "int n = 64; dim3 g(read(n)); k<<<g, n>>>(p);",
        "int n = 64; read(&n); k<<<1, n>>>(p);",
        "int n = 64; std::cin >> n; k<<<1, n>>>(p);",
        "for (int n = 64; n < 128; n *= 2) k<<<1, n>>>(p);",
        "dim3 b(64); b.x = m; k<<<1, b>>>(p);",
        "int n = m; k<<<1, n>>>(p);",
        "int n; k<<<1, n>>>(p);",
        "int n = n; k<<<1, n>>>(p);",
        "{ int n = 64; } k<<<1, n>>>(p);",
        "const int n = 64; void f(int n) { k<<<1, n>>>(p); }",
        "const int n = 64; void f(int &n) { k<<<1, n>>>(p); }",
        "const int n = 64; template <int n> void f() { k<<<1, n>>>(p); }",
        "#if A\n#define N 64\n#else\n#define N 128\n#endif\nvoid f() { k<<<1, N>>>(p); }",
        "#define N 64\n#undef N\nvoid f() { k<<<1, N>>>(p); }",
        "k<<<1, 99999>>>(p);",
        "k<<<256>>>(p);",
        "k<<<1, 64",
        "k<<<1)>>>, 64>>>(p);",
        "k<<<1, 64>>>(p); k<<<1, n>>>(p);",
        "k<<<1, n>>>(p); k<<<1, 64>>>(p);",
        "k<<<1, 64>>>(p);\n k<<<1, 128>>>(p); k<<<1, 64>>>(p);",
        "k<8><<<1, 64>>>(p); k<16><<<1, 128>>>(p);",
        "(*q)<<<1, 64>>>(p);",
        "int n = 64; int &r = n; r = 128; k<<<1, n>>>(p);",
        "int n = 64; int &r{n}; r = 128; k<<<1, n>>>(p);",
        "int n = 64; (n) = 128; k<<<1, n>>>(p);",
        "int n = 64; ((n)) += m; k<<<1, n>>>(p);",
        "int n = 64, m = 1; (p ? n : m) = 128; k<<<1, n>>>(p);",
        "int n = 64; max(n, m) = 128; k<<<1, n>>>(p);",
        "int n = 64; reinterpret_cast<int &>(n) = 128; k<<<1, n>>>(p);",
        "k<<<1, 64>>>(p); cudaLaunchKernel(k, 1, 128, args);",
        "k<<<1, 64>>>(p); cudaLaunchKernelEx(&config, k<8>, p);",
        "k<<<1, 64>>>(p);" + " j<<<1, 64>>>(p);" * 2000 + " k<<<1, 128>>>(p);",
        "",
    ],
)
def test_what_is_no_number_or_differs(launch: str) -> None:
    assert "k" not in blocks_of_source(launch)


@pytest.mark.parametrize(
    "hides",
    [
        "void f() { int m(1), n = 128; LAUNCH }",
        "void f() { int m = 1, n(128); LAUNCH }",
        "void f() { int m, n, l; (n) = 128; LAUNCH }",
        "void f() { auto [n, m] = sizes(); LAUNCH }",
        "void f() { const auto& [m, n] = sizes(); LAUNCH }",
        "void f(std::integral_constant<int, 128> n) { LAUNCH }",
        "void f(Size &&n) { LAUNCH }",
        "void f(const Size<3>& n) { LAUNCH }",
        "void f() { Size<int> n = 128; LAUNCH }",
        "void f() { decltype(m) n = 128; LAUNCH }",
        "void f() { int (n) = 128; LAUNCH }",
        "void f() { for (int n : {64, 128}) LAUNCH }",
        "void f() { for (auto n : sizes) { LAUNCH } }",
        "void f() { for (const int n: {64, 128}) LAUNCH }",
        "void f() { for (int i = 0, n = 128; ; ) LAUNCH }",
        "void f() { if (int n = 128) LAUNCH }",
        "void f() { [n = 128] { LAUNCH }(); }",
        "void f() { using other::n; LAUNCH }",
        "struct S { void f() { LAUNCH } static const int n = 128; };",
        "struct S { void f() { LAUNCH } int n; };",
    ],
)
def test_a_constant_that_is_hidden(hides: str) -> None:
    """In any way that C++ has, also in one that is not understood."""
    launch = "k<<<1, n>>>(p);"
    assert blocks_of_source(f"const int n = 64; void f() {{ {launch} }}") != {}
    assert blocks_of_source("const int n = 64; " + hides.replace("LAUNCH", launch)) == {}


def test_what_is_no_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe would be waited for, and a device has no end; a PTX and a source may name any."""
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "dir.cu").mkdir()
    (tmp_path / "zero.cu").symlink_to("/dev/zero")
    names = ("pipe.cu", "dir.cu", "zero.cu", "a\0.cu", "a\udfff.cu", "a" * 100_000 + ".cu")
    assert blocks_of_files(tuple(str(tmp_path / each) for each in names)) == {}
    head = "".join(f'#include "{each}"\n' for each in (*names[:4], "/dev/zero"))
    (tmp_path / "k.cu").write_text(head + "void f() { k<<<1, 64>>>(); }", encoding="utf-8")
    assert [*blocks_of_files((str(tmp_path / "k.cu"),))] == ["k"]
    monkeypatch.setattr(launches, "_MOST_BYTES", 8)
    (tmp_path / "large.cu").write_text("void f() { k<<<1, 64>>>(); }", encoding="utf-8")
    assert blocks_of_files((str(tmp_path / "large.cu"),)) == {}


def test_a_large_source_takes_no_time() -> None:
    begin = time.process_time()
    many = "void f() {" + "int n = 64; " * 20_000 + "k<<<1, n>>>(); }"
    for text in (
        many,
        "int n = 64; " + "k<<<1, n>>>(); " * 500,
        "<<<" * 20_000,
        "k>" * 20_000 + "<<<",
        "/*" * 50_000,
        "k<<<" + "(" * 50_000,
        "'" * 50_000,
        "void f() { int n = 64; " + "k<<<1, n>>>();\n" * 5_000 + "}",
        "int n = 64; " * 150 + " " * 1_000_000 + "void f() {" + "k<<<1, n>>>();\n" * 200 + "}",
        "void f() { int n = 64; " + "g(n + 1); h((n)); " * 10_000 + "k<<<1, n>>>(); }",
        "void f() { int n = 64; " + "dim3 a(n, n), " * 10_000 + "b; k<<<1, n>>>(); }",
        "void f() { " + "const " * 20_000 + "; k<<<1, n>>>(); }",
        "int a0 = 1; "
        + "".join(f"int a{i} = {' + '.join(['a' + str(i - 1)] * 9)};" for i in range(1, 9))
        + "f<<<1, a8>>>",
        "int a0 = 1, "
        + ";".join(f"int a{i} = " + "+".join(f"a{j}" for j in range(i)) for i in range(1, 30))
        + "; f<<<1, a29>>>",
    ):
        blocks_of_source(text)
    assert time.process_time() - begin < 10


def test_only_source_files_are_read(tmp_path: Path) -> None:
    for name, found in (("k.cu", True), ("k.ptx", False)):
        (tmp_path / name).write_text("void f() { k<<<1, 64>>>(); }", encoding="utf-8")
        assert bool(blocks_of_files((str(tmp_path / name), str(tmp_path / "none.cu")))) is found


def test_constants_of_headers_in_quotes(tmp_path: Path) -> None:
    """Of headers of headers too; what two of them define differently has no value, what the file itself defines has."""
    (tmp_path / "all.h").write_text('#include "sizes.h"\n#include "none.h"\n#define BOTH 2\n', encoding="utf-8")
    (tmp_path / "sizes.h").write_text("#define THREADS 64\n#define BOTH 1\n#define OWN 8\n", encoding="utf-8")
    source = '#include "all.h"\n#define OWN 4\nvoid f() { k<<<1, THREADS>>>(); j<<<1, BOTH>>>(); i<<<1, OWN>>>(); }'
    (tmp_path / "k.cu").write_text(source, encoding="utf-8")
    path = str(tmp_path / "k.cu")
    blocks = {"k": LaunchedBlock((64, 1, 1), 3, path), "i": LaunchedBlock((4, 1, 1), 3, path)}
    assert blocks_of_files((path,)) == blocks


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """As `scan --watch` does; a header counts like the source."""
    header, source = tmp_path / "sizes.h", tmp_path / "k.cu"
    source.write_text('#include "sizes.h"\nvoid f() { k<<<1, W>>>(); }', encoding="utf-8")
    for threads in (64, 128):
        header.write_text(f"#define W {threads}\n", encoding="utf-8")
        assert blocks_of_files((str(source),))["k"].extents == (threads, 1, 1)


def test_a_launch_in_a_header_of_a_kernel_elsewhere(tmp_path: Path) -> None:
    """Its constants may stand in the file that includes it."""
    (tmp_path / "launch.cuh").write_text("void f() { k<<<1, dim3(W, 2)>>>(); }", encoding="utf-8")
    (tmp_path / "k.cu").write_text("constexpr int W = 32;\n", encoding="utf-8")
    header, source = str(tmp_path / "launch.cuh"), str(tmp_path / "k.cu")
    assert blocks_of_files((source, header)) == {"k": LaunchedBlock((32, 2, 1), 1, header)}


def test_files_that_differ(tmp_path: Path) -> None:
    for name, threads in (("a.cu", 64), ("b.cu", 64), ("c.cu", 32)):
        (tmp_path / name).write_text(f"void f() {{ k<<<1, {threads}>>>(); }}", encoding="utf-8")
    a, b, c = (str(tmp_path / name) for name in ("a.cu", "b.cu", "c.cu"))
    assert blocks_of_files((a, b)) == {"k": LaunchedBlock((64, 1, 1), 1, a)}
    assert blocks_of_files((a, b, c)) == blocks_of_files((c, a)) == {}


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
    launched = {"k": LaunchedBlock((32, 8, 1), 12, "src/k.cu")}
    found = judged_block(read_module(text, "k.ptx").functions[0], Blocks(every), launched)
    assert found.shape == shape
    assert ("line 12 of k.cu" in found.assumed) == (shape == (32, 8, 1))


def test_the_source_of_a_ptx(tmp_path: Path) -> None:
    """The table of lines names it."""
    source = tmp_path / "k.cu"
    source.write_text("void f() { k<<<1, dim3(32, 4)>>>(p); }", encoding="utf-8")
    text = ".version 8.3 .target sm_90 .address_size 64\n"
    text += ".visible .entry k() { .reg .b32 %r<3>; .shared .b32 s[256]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
    text += f'.loc 1 1 1\nst.shared.u32 [%r2], %r1; ret; }}\n.file 1 "{source}"\n'
    (tmp_path / "k.ptx").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["scan", str(tmp_path / "k.ptx"), "--format", "json"])
    (row,) = json.loads(result.stdout)["accesses"]
    assert (row["block"], row["assumptions"]) == ([32, 4, 1], ["blocks of 32,4,1 threads, from line 1 of k.cu"])


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
