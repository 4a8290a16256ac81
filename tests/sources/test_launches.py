"""Blocks of launches that stand in a source file: only what has a value there, and only where all launches agree."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.apps.run import launches
from swzverify.apps.run.launches import blocks_of_files, forget_texts
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Blocks, LaunchedBlock, judged_block
from swzverify.spec.sources.launches import constant_in, launched_blocks
from tests.binaries.test_files import has_tool

_KERNELS = ("i", "j", "k")


def _blocks(source: str) -> dict[str, LaunchedBlock]:
    return _known(_launched(source, _KERNELS))


def _launched(source: str, kernels: Sequence[str]) -> dict[str, LaunchedBlock]:
    return launched_blocks(source, lambda name: constant_in((source,), name), kernels)


def _known(found: dict[str, LaunchedBlock]) -> dict[str, LaunchedBlock]:
    return {name: each for name, each in found.items() if each.extents}


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
        ("int n = 64; int m = rounded(n, 7); k<<<m, n>>>(p);", (64,)),
        ("dim3 b; b = dim3(64); k<<<1, b>>>(p); b = dim3(32); j<<<1, b>>>(p);", (64,)),
        ("dim3 a, b; if (m) { } b = dim3(64); while (m) { k<<<1, b>>>(p); } b = dim3(32);", (64,)),
        ("dim3 b(32); if (m) { b = dim3(64, 2); k<<<1, b>>>(p); }", (64, 2)),
    ],
)
def test_numbers(launch: str, extents: tuple[int, ...]) -> None:
    """With a macro and a constant before it, and other functions around it."""
    head = "#define W 32\nconstexpr int H = 16; void g(int n) { n = 1; dim3 b(n); } int rounded(int a, int b) {}"
    x, y, z = (*extents, 1, 1)[:3]
    source = f"{head} void f()\n{{\n{launch}\n}}\nvoid h(int n) {{ int b = n++; }}"
    assert _blocks(source)["k"] == LaunchedBlock((x, y, z), 4 + launch.count("\n"))


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
        "void read(int &n) { n = 1; } void f() { int n = 64; read(n); k<<<1, n>>>(p); }",
        "void read(int n) { } void read(int &n); void f() { int n = 64; read(n); k<<<1, n>>>(p); }",
        "int &read(int n) { } void f() { int n = 64; read(n) = 1; k<<<1, n>>>(p); }",
        "#define read(n) n = 1\nvoid read(int n) { } void f() { int n = 64; read(n); k<<<1, n>>>(p); }",
        "dim3 b; b = dim3(64); while (m) { k<<<1, b>>>(p); b = dim3(32); }",
        "dim3 b; if (m) { b = dim3(64); } k<<<1, b>>>(p);",
        "dim3 b; if (m) b = dim3(64); k<<<1, b>>>(p);",
        "dim3 b; b = dim3(64); if (m) b = dim3(32); k<<<1, b>>>(p);",
        "dim3 b; dim3 &a = b; b = dim3(64); a = dim3(32); k<<<1, b>>>(p);",
        "dim3 b; b = dim3(64); b.y = m; k<<<1, b>>>(p);",
        "dim3 b; b = dim3(64); sizes(b); k<<<1, b>>>(p);",
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
        "#if __A\n#define N 64\n#else\n#define N 128\n#endif\nvoid f() { k<<<1, N>>>(p); }",
        "#define N 64\n#ifdef A\n#undef N\n#define N 128\n#endif\n#define A\nvoid f() { k<<<1, N>>>(p); }",
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
        "void f() { dim3 b; b = dim3(64); again: k<<<1, b>>>(p); b = dim3(128); goto again; }",
        "void f() { dim3 b; b = dim3(64); if (m) goto end; b = dim3(32); end: k<<<1, b>>>(p); }",
        "void f() { dim3 b; b = dim3(64); auto g = [&] { k<<<1, b>>>(p); }; b = dim3(32); g(); }",
        "void f() { dim3 b; auto g = [&] { b = dim3(32); }; b = dim3(64); g(); k<<<1, b>>>(p); }",
        "void f() { dim3 b; switch (m) { case 0: g(); b = dim3(32); break; case 1: k<<<1, b>>>(p); } }",
        "void f() { int n; int *q = &n; n = 64; *q = 32; k<<<1, n>>>(p); }",
        "struct S { dim3 b; void g() { b = dim3(32); } void f() { b = dim3(64); g(); k<<<1, b>>>(p); } };",
        "dim3 b; void f() { b = dim3(64); g(); k<<<1, b>>>(p); } void g() { b = dim3(32); }",
        "struct S { int n = 64; S(int m) : n(m) { } void f() { k<<<1, n>>>(p); } };",
        "const int n = 64;\n#define n 32\nvoid f() { k<<<1, n>>>(p); }",
        "#define SET n = 32\nvoid f() { int n; n = 64; SET; k<<<1, n>>>(p); }",
        "void f() {\n#if __A\nint n = 64;\n#else\nint n = 32;\n#endif\nk<<<1, n>>>(p); }",
        "void f() { dim3 b;\n#if __A\ng(); b = dim3(64);\n#else\ng(); b = dim3(32);\n#endif\nk<<<1, b>>>(p); }",
        'int n = 64; asm("mov.u32 %0, 32;" : "=r"(n)); k<<<1, n>>>(p);',
        "int n = 64; read<int>(n); k<<<1, n>>>(p);",
        "int n = 64; (*read)(n); k<<<1, n>>>(p);",
        "int n = 64; reads[0](n); k<<<1, n>>>(p);",
        "int n = 64; [](int &m) { m = 32; }(n); k<<<1, n>>>(p);",
        "int n = 64; Writer write{n, 1}; write(); k<<<1, n>>>(p);",
        "int n = 64; auto q = &(n); *q = 32; k<<<1, n>>>(p);",
        "int n = 64; ++(n); k<<<1, n>>>(p);",
        "int n = 64; (n)++; k<<<1, n>>>(p);",
        "int n = 64; n xor_eq 1; k<<<1, n>>>(p);",
        "dim3 b(64); (b).x = 32; k<<<1, b>>>(p);",
        "dim3 b(64); b.x++; k<<<1, b>>>(p);",
        "dim3 b(64); std::swap(b.x, b.y); k<<<1, b>>>(p);",
        "dim3 b(64); b.operator=(a); k<<<1, b>>>(p);",
        "void f() { auto k = m ? i : j; k<<<1, 64>>>(p); }",
        "void f(void (*k)(int *)) { k<<<1, 64>>>(p); }",
        "template <class K> void f(K k) { k<<<1, 64>>>(p); }",
        "void f() { auto run = &k<8>; run<<<1, 64>>>(p); k<<<1, 32>>>(p); }",
        "void g(Run run) { run<<<1, 64>>>(p); } void f() { g(ns::k); k<<<1, 32>>>(p); }",
        "void f() { auto run = (void *)k; cudaLaunchKernel(run, 1, 128, args); k<<<1, 64>>>(p); }",
        "k<<<1, 64>>>(p); cudaLaunchKernel(k, 1, 128, args);",
        "k<<<1, 64>>>(p); cudaLaunchKernelEx(&config, k<8>, p);",
        "k<<<1, 64>>>(p);" + " j<<<1, 64>>>(p);" * 2000 + " k<<<1, 128>>>(p);",
        "",
    ],
)
def test_what_is_no_number_or_differs(launch: str) -> None:
    assert "k" not in _blocks(launch)


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
        "struct S { static const int n = 128; void f(); }; void S::f() { LAUNCH }",
        "struct B { static const int n = 128; }; struct S : B { void f() { LAUNCH } };",
        "struct S { S(int n): m(n) { LAUNCH } };",
        "struct S { S(int n) : m{1}, l{2} { LAUNCH } };",
        "void f(int (*n)()) { LAUNCH }",
        "void f() { run(3, [](auto... n) { LAUNCH }); }",
        "void f() { enum { m, n, l = 3 }; LAUNCH }",
        "struct S { enum { n = 128 }; void f() { LAUNCH } };",
        "void f() { if (int n = g()) { } else if (m) { } else LAUNCH }",
    ],
)
def test_a_constant_that_is_hidden(hides: str) -> None:
    """In any way that C++ has, also in one that is not understood."""
    launch = "k<<<1, n>>>(p);"
    assert _blocks(f"const int n = 64; void f() {{ {launch} }}") != {}
    assert _blocks("const int n = 64; " + hides.replace("LAUNCH", launch)) == {}


@pytest.mark.parametrize(
    "head", ["for (int n = 128;;) { }", "for (int n = 128; n < m;) g();", "if (int n = 128; m) { }"]
)
def test_a_name_that_only_a_statement_sees(head: str) -> None:
    assert _blocks(f"const int n = 64; void f() {{ {head} k<<<1, n>>>(p); }}")["k"].extents == (64, 1, 1)


def test_a_variable_that_is_named_like_a_kernel_afterwards() -> None:
    assert _blocks("void f() { k<<<1, 64>>>(p); long k = 0; g(k); }")["k"].extents == (64, 1, 1)


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("template <int N> void f() { k<N><<<1, N>>>(p); }", {"k<64>": 64, "k<128>": 128}),
        ("template <int N> void f() { dim3 b(N / 2); k<float, N><<<1, b>>>(p); }", {"k<float, 64>": 32}),
        (
            "template <class T, int N> void f() { k<T, N><<<1, N>>>(p); }",
            {"k<(anonymous), 64>": 64, "k<P<1, 2>, 32>": 32},
        ),
        ("void f() { k<8><<<1, 64>>>(p); k<16><<<1, 128>>>(p); }", {"k<8>": 64, "k<16>": 128}),
        ("void f() { k<float><<<1, 64>>>(p); k<double><<<1, 128>>>(p); }", {"k<float>": 64, "k<double>": 128}),
        ("void f() { k<true><<<1, 64>>>(p); k<false><<<1, 128>>>(p); }", {"k<true>": 64, "k<false>": 128}),
        ("const int N = 8; void f() { k<N><<<1, 64>>>(p); k<2 * N><<<1, 32>>>(p); }", {"k<8u>": 64, "k<16u>": 32}),
        ("template <int N> void f() { k<N><<<1, N>>>(p); k<N><<<1, 64>>>(p); }", {"k<64>": 64, "k<32>": None}),
        ("template <int N> void f() { { int N = n; k<M><<<1, N>>>(p); } }", {"k<64>": None}),
        (
            "template <int N> void f() { k<N><<<1, n>>>(p); } template <int n> void g() { k<n><<<1, 8>>>(p); }",
            {"k<8>": None},
        ),
        ("void f() { k<half><<<1, 64>>>(p); k<T><<<1, 128>>>(p); }", {"k<__half>": None}),
    ],
)
def test_template_arguments(source: str, blocks: dict[str, int | None]) -> None:
    """They tell which launches an instance has, and what the parameters of the template are that launches."""
    found = _known(_launched(source, [*blocks]))
    assert {name: found[name].extents[0] if name in found else None for name in blocks} == blocks


@pytest.mark.parametrize(
    ("macro", "use", "threads"),
    [
        ("RUN(K, N) K<N><<<1, N>>>(p)", "RUN(k, 64);", 64),
        ("RUN(N) k<<<1, 2 * N>>>(p)", "int n = 32; { RUN((n + 4)); }", 72),
        ("RUN k<<<1, n>>>(p)", "int n = 32; RUN;", 32),
        ("RUN(...) k<<<1, n>>>(__VA_ARGS__)", "int n = 32; RUN(p, q);", 32),
        ("RUN(K) k ## K<<<1, 64>>>(p)", "RUN(3);", None),
        ("RUN(N) k<<<1, N>>>(p)", "RUN(64); RUN(32);", None),
        ("RUN(N) k<<<1, N>>>(p)", "RUN(m);", None),
        ("RUN(N) k<<<1, 64>>>(p)", "", 64),
        ("RUN(N) k<<<1, N>>>(p)\n#define BOTH(N) RUN(2 * N)", "BOTH(32);", 64),
        ("RUN(N) k<<<1, N>>>(p)\n#define BOTH(N) RUN(2 * N); \\\n RUN(N)", "BOTH(32);", None),
        ("RUN(N) k<<<1, N>>>(p)", "RUN(64);" * 201, None),
        ("RUN(K) { int n = 32; K<<<1, n>>>(p); }", "int n = 64; RUN(k);", None),
        ("RUN(N) { int n = 32; k<<<1, N>>>(p); }", "int n = 64; RUN(n);", None),
        ("RUN n = 32; k<<<1, n>>>(p)", "int n = 64; RUN;", None),
        ("RUN k<<<1, n>>>(p); n /= 2", "int n = 64; RUN; RUN;", None),
        ("RUN(N) k<<<1, N>>>(p)\n#undef RUN\n#define RUN(N) j<<<1, N>>>(p)", "RUN(64);", None),
    ],
)
def test_macros_that_launch(macro: str, use: str, threads: int | None) -> None:
    """Their launches are those of the places that use them."""
    found = _blocks(f"#define {macro}\nvoid f() {{ {use} }}")
    assert (found["k"].extents[0] if "k" in found else None) == threads


@pytest.mark.parametrize(
    ("conditions", "threads"),
    [
        ("#ifndef N\n#define N 64\n#endif", 64),
        ("#ifdef SIZE\n#define N SIZE\n#elif defined(OTHER) || SIZE > 4\n#define N 8\n#else\n#define N 64\n#endif", 64),
        ("#define SIZE\n#ifdef SIZE\n#define N 64\n#else\n#define N 8\n#endif", 64),
        ("#if !defined(A) && 1\n# if defined A\n# define N 8\n# else\n# define N 64\n# endif\n#endif", 64),
        ("#ifdef __CUDACC__\n#define N 64\n#else\n#define N 8\n#endif", 64),
        ("#if __CUDA_ARCH__ > 800\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#ifdef GIVEN\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#if f(A)\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#ifdef N\n#define N 8\n#endif\n#define N 64", None),
        ("#ifdef linux\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#ifdef NDEBUG\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#if INT_MAX > 40000 && true\n#define N 64\n#else\n#define N 8\n#endif", None),
        ("#ifdef A\n#define N 64\n#endif\n#define A\n#ifndef N\n#define N 8\n#endif", None),
        ("#ifdef GPU\n#define N 64\n#endif", 64),
        ("#ifdef GPU\n#define N (64u)\n#elif defined(CPU)\n#define N (64u)\n#endif", 64),
        ("#ifdef GPU\n#define N 64\n#elif defined(CPU)\n#define N 8\n#endif", None),
        ("#ifdef GPU\n#define N 64\n#undef N\n#endif", None),
        ("#ifdef GPU\n#define N(x) 64\n#endif", None),
        ("#ifdef GPU\n#define N 64\n#else\nconst int N = g();\n#endif", None),
        ("#ifdef GPU\n#define NN 64\n#endif", None),
    ],
)
def test_branches_of_conditions(tmp_path: Path, conditions: str, threads: int | None) -> None:
    """What no text defines and no argument of the compiler gives is no macro, unless the launch needs its branch."""
    path = tmp_path / "k.cu"
    path.write_text(f"{conditions}\nvoid f() {{ k<<<1, N>>>(p); }}", encoding="utf-8")
    found = _known(blocks_of_files([str(path)], _KERNELS, given=frozenset({"GIVEN"})))
    assert (found["k"].extents[0] if "k" in found else None) == threads


def test_sources_beside_the_kernel(tmp_path: Path) -> None:
    """A kernel in a header is launched by what includes it; another kernel of the same name is not this one."""
    header = tmp_path / "kernels.h"
    header.write_text("__global__ void k(int *p) { *p = 1; }", encoding="utf-8")
    main_cu = tmp_path / "main.cu"
    main_cu.write_text('#include "kernels.h"\nvoid f() { k<<<1, 64>>>(p); }', encoding="utf-8")
    other = "__global__ __launch_bounds__(32) void k(float *p) { }\nvoid g() { k<<<1, 32>>>(p); j<<<1, 8>>>(); }"
    (tmp_path / "other.cu").write_text(other, encoding="utf-8")
    named = [str(header)]
    assert blocks_of_files(named, _KERNELS) == {}
    found = blocks_of_files(named, _KERNELS, named)
    assert found == {
        "k": LaunchedBlock((64, 1, 1), 2, str(main_cu)),
        "j": LaunchedBlock((8, 1, 1), 2, f"{tmp_path}/other.cu"),
    }
    assert blocks_of_files([*named, str(main_cu)], ["k"], [str(tmp_path / "none" / "k.h")]) == {"k": found["k"]}


@pytest.mark.parametrize(
    ("texts", "threads"),
    [
        ({"main.cu": "LAUNCH"}, 64),
        ({"main.cu": "LAUNCH", "b.cu": "__global__ void k(float *p) { }"}, None),
        ({"main.cu": '#include "a.cu"\nLAUNCH', "b.cu": "__global__ void k(float *p) { }"}, 64),
        ({"main.cu": '#include "b.h"\nLAUNCH', "b.h": "__global__ void k(float *p) { }"}, None),
        ({"main.cu": '#include "b.h"\nLAUNCH', "b.h": "__global__ void k(float *p);"}, 64),
        ({"main.cu": "void f() { k<<<1, N>>>(p); }", "b.cu": "#define N 64"}, None),
        ({"b.cu": " " * 900, "main.cu": "LAUNCH" + " " * 900}, None),
    ],
)
def test_a_neighbour_that_may_launch_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: dict[str, str], threads: int | None
) -> None:
    """It launches the kernel that it names; and all that is read beside the kernel's file has a limit together."""
    monkeypatch.setattr(launches, "_MOST_BYTES", 1000)
    source = tmp_path / "a.cu"
    for name, text in {"a.cu": "__global__ void k(int *p) { *p = 1; }", **texts}.items():
        (tmp_path / name).write_text(text.replace("LAUNCH", "void f() { k<<<1, 64>>>(p); }"), encoding="utf-8")
    found = _known(blocks_of_files([str(source)], ["k"], [str(source), "a\0.cu"]))
    assert (found["k"].extents[0] if found else None) == threads


def test_two_kernels_of_one_name(tmp_path: Path) -> None:
    """As of two namespaces: a launch does not tell which of them it is."""
    source = tmp_path / "a.cu"
    source.write_text("void f() { a::k<<<1, 64>>>(p); j<<<1, 32>>>(p); }", encoding="utf-8")
    assert [*blocks_of_files([str(source)], ["k", "j", "k"])] == ["j"]


def test_what_is_no_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe would be waited for, and a device has no end; a PTX and a source may name any."""
    os.mkfifo(tmp_path / "pipe.cu")
    (tmp_path / "dir.cu").mkdir()
    (tmp_path / "zero.cu").symlink_to("/dev/zero")
    names = ("pipe.cu", "dir.cu", "zero.cu", "a\0.cu", "a\udfff.cu", "a" * 100_000 + ".cu")
    assert blocks_of_files(tuple(str(tmp_path / each) for each in names), _KERNELS) == {}
    head = "".join(f'#include "{each}"\n' for each in (*names[:4], "/dev/zero"))
    (tmp_path / "k.cu").write_text(head + "void f() { k<<<1, 64>>>(); }", encoding="utf-8")
    assert [*blocks_of_files((str(tmp_path / "k.cu"),), _KERNELS)] == ["k"]
    monkeypatch.setattr(launches, "_MOST_BYTES", 8)
    (tmp_path / "large.cu").write_text("void f() { k<<<1, 64>>>(); }", encoding="utf-8")
    assert blocks_of_files((str(tmp_path / "large.cu"),), _KERNELS) == {}


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
        "void f() { cudaLaunchKernel(g); x =" + " " * 100_000 + "; k<<<1, 64>>>(); }",
        "const int n = 64; void S::f()" + "{" * 5_000 + "k<<<1, n>>>();" * 500 + "}" * 5_000,
        "int a0 = 1; "
        + "".join(f"int a{i} = {' + '.join(['a' + str(i - 1)] * 9)};" for i in range(1, 9))
        + "f<<<1, a8>>>",
        "int a0 = 1, "
        + ";".join(f"int a{i} = " + "+".join(f"a{j}" for j in range(i)) for i in range(1, 30))
        + "; f<<<1, a29>>>",
    ):
        _blocks(text)
    assert time.process_time() - begin < 10


def test_only_source_files_are_read(tmp_path: Path) -> None:
    for name, found in (("k.cu", True), ("k.ptx", False)):
        (tmp_path / name).write_text("void f() { k<<<1, 64>>>(); }", encoding="utf-8")
        assert bool(blocks_of_files((str(tmp_path / name), str(tmp_path / "none.cu")), _KERNELS)) is found


def test_constants_of_headers_in_quotes(tmp_path: Path) -> None:
    """Of headers of headers too; what two of them define differently has no value, what the file itself defines has."""
    (tmp_path / "all.h").write_text('#include "sizes.h"\n#include "none.h"\n#define BOTH 2\n', encoding="utf-8")
    (tmp_path / "sizes.h").write_text("#define THREADS 64\n#define BOTH 1\n#define OWN 8\n", encoding="utf-8")
    source = '#include "all.h"\n#define OWN 4\nvoid f() { k<<<1, THREADS>>>(); j<<<1, BOTH>>>(); i<<<1, OWN>>>(); }'
    (tmp_path / "k.cu").write_text(source, encoding="utf-8")
    path = str(tmp_path / "k.cu")
    blocks = {"k": LaunchedBlock((64, 1, 1), 3, path), "i": LaunchedBlock((4, 1, 1), 3, path)}
    assert _known(blocks_of_files((path,), _KERNELS)) == blocks


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """As `scan --watch` does; a header counts like the source."""
    header, source = tmp_path / "sizes.h", tmp_path / "k.cu"
    source.write_text('#include "sizes.h"\nvoid f() { k<<<1, W>>>(); }', encoding="utf-8")
    for threads in (64, 128):
        header.write_text(f"#define W {threads}\n", encoding="utf-8")
        assert blocks_of_files((str(source),), _KERNELS)["k"].extents == (threads, 1, 1)


def test_a_launch_in_a_header_of_a_kernel_elsewhere(tmp_path: Path) -> None:
    """Its constants may stand in the file that includes it."""
    (tmp_path / "launch.cuh").write_text("void f() { k<<<1, dim3(W, 2)>>>(); }", encoding="utf-8")
    (tmp_path / "k.cu").write_text("constexpr int W = 32;\n", encoding="utf-8")
    header, source = str(tmp_path / "launch.cuh"), str(tmp_path / "k.cu")
    assert blocks_of_files((source, header), _KERNELS) == {"k": LaunchedBlock((32, 2, 1), 1, header)}


def test_files_that_differ(tmp_path: Path) -> None:
    for name, threads in (("a.cu", 64), ("b.cu", 64), ("c.cu", 32)):
        (tmp_path / name).write_text(f"void f() {{ k<<<1, {threads}>>>(); }}", encoding="utf-8")
    a, b, c = (str(tmp_path / name) for name in ("a.cu", "b.cu", "c.cu"))
    assert blocks_of_files((a, b), _KERNELS) == {"k": LaunchedBlock((64, 1, 1), 1, a)}
    for paths in ((a, b, c), (c, a)):
        (each,) = blocks_of_files(paths, _KERNELS).values()
        assert each.extents is None
        assert {"64,1,1", "32,1,1"} < set(each.why_not.split())


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
    launched = {"k<8>": LaunchedBlock((32, 8, 1), 12, "src/k.cu")}
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


def test_why_the_block_is_not_known(tmp_path: Path) -> None:
    """The launch that does not tell it is named, where it could be read."""
    source = tmp_path / "k.cu"
    text = ".version 8.3 .target sm_90 .address_size 64\n"
    text += ".visible .entry k() { .reg .b32 %r<4>; .shared .b32 s[256]; mov.u32 %r3, %tid.y;\n"
    text += "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
    text += f'.loc 1 1 1\nst.shared.u32 [%r2], %r1; ret; }}\n.file 1 "{source}"\n'
    (tmp_path / "k.ptx").write_text(text, encoding="utf-8")
    for launches_text, why in (
        (
            "k<<<1, size>>>(p);",
            "line 1 of k.cu launches it with `size` threads, whose number is not clear from the source",
        ),
        (
            "k<<<1, 64>>>(p);\nk<<<1, 32>>>(p);",
            "line 1 of k.cu launches it with 64,1,1 threads, and line 2 of k.cu with 32,1,1",
        ),
    ):
        source.write_text(f"void f() {{ {launches_text} }}", encoding="utf-8")
        result = CliRunner().invoke(main, ["scan", str(tmp_path / "k.ptx"), "--format", "json"])
        found = json.loads(result.stdout)
        reason = f"the shape of the block is not known: {why}; give --block X,Y,Z, the block of the launch"
        assert (found["accesses"][0]["reason"], found["kernels"][0]["races"]["reason"]) == (reason, reason)


def test_texts_are_freed_before_kernels_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("void f() { k<<<1, 64>>>(p); }", encoding="utf-8")
    before = _known(blocks_of_files([str(path)], _KERNELS))
    forget_texts()
    assert not launches._read.cache_info().currsize
    assert not launches._resolved.cache_info().currsize
    assert _known(blocks_of_files([str(path)], _KERNELS)) == before
