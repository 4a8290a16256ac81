"""Constants of C sources: what is read is what a compiler says, and whatever could be something
else is refused.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.spec.sources.c_constants import c_definitions
from swzverify.spec.sources.c_text import Lines, read_c
from swzverify.spec.sources.constants import Constant, constant
from swzverify.spec.sources.languages import Language
from tests.nightly import counts

CPLUSPLUS = shutil.which("g++")
HEAD = "#include <cstddef>\n#include <cstdint>\n#define __global__\n#define __device__\n#define __launch_bounds__(n)\n"

READ = {
    "constexpr int BK = 64;": 64,
    "const int BK = 64;": 64,
    "static const unsigned int BK = 64u;": 64,
    "static constexpr std::uint32_t BK{0x40};": 64,
    "inline constexpr size_t BK = 1'024;": 1024,
    "int constexpr BK = 0b1000;": 8,
    "__device__ constexpr int BK = (3 + 5) * 8 - 1;": 63,
    "constexpr auto BK = 64;": 64,
    "constexpr long long BK = -8 / 3;": -2,
    "constexpr int BK = -8 % 3;": -2,
    "constexpr int BM = 128, BK = BM / 2, BN = 4;": 64,
    "constexpr int BM = 1 << 6;\nconstexpr int BK = BM > 32 ? BM : 0;": 64,
    "#define BK 64": 64,
    "#define BK (64 + 8)": 72,
    "# define BK ((2)*(4)) // the inner tile": 8,
    "#define BM 64\n#define BK BM": 64,
    "#define BM 64\n#define BK (BM / 2)": 32,
    "#define BM 64\nconstexpr int BK = BM / 2;": 32,
    "#define BK /* a\nb */ 64": 64,
    "#define BK \\\n 64": 64,
    "constexpr int BK = /* = 3; */ 64; // constexpr int BK = 3;": 64,
    'const char* s = "constexpr int BK = 3;"; constexpr int BK = 64;': 64,
    'const char* s = R"(\nconstexpr int BK = 3; " )"; constexpr int BK = 64;': 64,
    "constexpr char c = '\"'; constexpr int BK = 64; constexpr char d = '\"';": 64,
    "constexpr char c = ';'; constexpr int BK = 64;": 64,
    "constexpr int a[] = {1, 2, 3}; constexpr int BK = 64;": 64,
    "void f(int a = 3) { }\nconstexpr int BK = 64;": 64,
    "struct S { int a = 3; S& operator=(const S&) { return *this; } };\nconstexpr int BK = 64;": 64,
    "template <int A, int B = (3 > 2)> struct S { };\nconstexpr int BK = 64;": 64,
    "enum class E : int { a = 3, b };\nconstexpr int BK = 64;": 64,
    "auto f = [](int x) { const int y = 3; return x + y; };\nconstexpr int BK = 64;": 64,
    "#ifndef H\n#define H\nconstexpr int BK = 64;\n#endif": 64,
    "#pragma once\n#ifdef X\n#define Y 3\n#else\n#define Y 4\n#endif\nconstexpr int BK = 64;": 64,
    'extern "C" {\nconstexpr int BK = 64;\n}': 64,
    "namespace { constexpr int BK = 64; }": 64,
    "[[maybe_unused]] static constexpr int BK = 64;": 64,
    "constexpr unsigned short BK = 65535;": 65535,
    f"/* {'a licence ' * 1000}*/\nconstexpr int BK = 64;": 64,
    f"#define X 1\n// {'words ' * 1000}\nconstexpr int BK = 64;": 64,
    f"class S {{ int a; // {'words ' * 1000}\npublic: static const int LD = 3; }}; constexpr int BK = 64;": 64,
    "constexpr unsigned BK = 4294967295u;": 4294967295,
    "constexpr int BK = ~0 & 63;": 63,
    "constexpr int BK = -2147483647 - 1;": -2147483648,
}
"""Each defines BK at file scope, with the value that a compiler gives it."""

SCOPED = """
constexpr int BK = 64;
namespace gemm::detail {
struct Config { static constexpr int BK = 32; static constexpr int HALF = BK / 2; };
inline constexpr int ONLY = 7;
}
template <typename T, int N = 3>
struct Traits : Config { static constexpr int LD = 72; enum { kInner = 4 }; };
template <int BM>
__global__ void __launch_bounds__(256) kernel(const float* a, int n) {
  constexpr int BK = 16;
  for (int i = 0; i < 3; ++i) { constexpr int step = 5; }
  if (n) { const int twice = 2 * 8; }
}
struct outer { struct Inner; };
struct outer::Inner : Base<int> { static constexpr int X = 9; };
"""

REFUSED = {
    "": ("SWZ122", "defines no constant"),
    "int x;": ("SWZ122", "defines no constant"),
    "// constexpr int BK = 64;": ("SWZ122", "defines no constant"),
    "constexpr int BKK = 64;": ("SWZ122", "defines no constant"),
    "template <int BK = 64> struct S {};": ("SWZ122", "defines no constant"),
    "void f(int BK = 64);": ("SWZ123", "not declared as a plain integer"),
    "enum { BK = 64 };": ("SWZ122", "defines no constant"),
    "int BK = 64;": ("SWZ123", "neither constexpr nor const"),
    "static int BK = 64;": ("SWZ123", "neither constexpr nor const"),
    "constexpr float BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "constexpr bool BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "constexpr Index BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "constexpr int BK[] = {64};": ("SWZ123", "not declared as a plain integer"),
    "volatile const int BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "__constant__ const int BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "const int* BK = 64;": ("SWZ123", "not declared as a plain integer"),
    "template <int N> constexpr int BK = N;": ("SWZ123", "is a template"),
    "struct S { const int BK = 64; };": ("SWZ123", "a constructor may set", "S::BK"),
    "constexpr int BK = f(64);": ("SWZ123", "BK"),
    "constexpr int BK = min(64, 3);": ("SWZ123", "calls a function"),
    "constexpr int BK = sizeof(int);": ("SWZ123", "BK"),
    "constexpr int BK = (int)64;": ("SWZ123", "BK"),
    "constexpr int BK = N;": ("SWZ123", "N is not defined before it"),
    "constexpr int BK = threadIdx.x;": ("SWZ123", "not defined before it"),
    "constexpr int BK = BM;\nconstexpr int BM = 3;": ("SWZ123", "not defined before it"),
    "constexpr int BK = BK + 1;": ("SWZ123", "not defined before it"),
    "#define A B\n#define B A\nconstexpr int BK = A;": ("SWZ123", "by itself"),
    "constexpr int BK = 64 / 0;": ("SWZ123", "divisor"),
    "constexpr int BK = 1 << 40;": ("SWZ123", "shift"),
    "constexpr int BK = 1 << 31;": ("SWZ123", "an int overflows"),
    "constexpr int BK = 65536 * 65536 / 65536;": ("SWZ123", "BK"),
    "constexpr int BK = 2147483647 + 1 - 1;": ("SWZ123", "an int overflows"),
    "constexpr unsigned BK = 1u - 2u + 3u;": ("SWZ123", "may wrap"),
    "constexpr int BK = -1 / 2u;": ("SWZ123", "may wrap"),
    "constexpr unsigned N = 2;\nconstexpr int BK = -4 / N;": ("SWZ123", "may wrap"),
    "constexpr auto N = 2u;\nconstexpr auto M = N;\nconstexpr int BK = -4 / M;": ("SWZ123", "may wrap"),
    "#define N 2u\nconstexpr int BK = -4 / N;": ("SWZ123", "may wrap"),
    "constexpr unsigned BK = -1;": ("SWZ123", "may wrap"),
    "constexpr uint8_t BK = 256;": ("SWZ123", "outside 0 .. 255"),
    "constexpr short BK = 40000;": ("SWZ123", "outside"),
    "constexpr char BK = 200;": ("SWZ123", "outside"),
    "constexpr int BK = 010;": ("SWZ123", "octal"),
    "constexpr int BK = 'a';": ("SWZ123", "BK"),
    "constexpr int BK = 64.0;": ("SWZ123", "floating"),
    "constexpr int BK = true;": ("SWZ123", "true"),
    "constexpr int BK;": ("SWZ123", "BK"),
    "constexpr int BK = ;": ("SWZ123", "BK"),
    "constexpr int BK = {64};": ("SWZ123", "BK"),
    "#define BK": ("SWZ123", "without a value"),
    "#define BK(x) 64": ("SWZ123", "with arguments"),
    "#define BK 32 + 32": ("SWZ123", "without parentheses"),
    "#define BK (32) + (32)": ("SWZ123", "without parentheses"),
    "#define BK -1": ("SWZ123", "without parentheses"),
    "#define BK 64 /*\n*/ + 1": ("SWZ123", "without parentheses"),
    "#define BK 64 \\\n + 1": ("SWZ123", "without parentheses"),
    "#define BK 64\n#undef BK": ("SWZ123", "undefined again"),
    "#define BK 64\n#define BK 32": ("SWZ123", "2 times"),
    "#define BK 64\nconstexpr int BK = 64;": ("SWZ123", "2 times"),
    "#ifdef X\n#define BK 64\n#endif": ("SWZ123", "condition of the preprocessor"),
    "#ifndef BK\n#define BK 64\n#endif": ("SWZ123", "condition of the preprocessor"),
    "#ifndef BK\n#define BK 64\n#endif\nint x;": ("SWZ123", "condition of the preprocessor"),
    "int x;\n#ifndef H\n#define H\nconstexpr int BK = 64;\n#endif": ("SWZ123", "condition of the preprocessor"),
    "#ifndef H\n#define H\n#else\nconstexpr int BK = 64;\n#endif": ("SWZ123", "condition of the preprocessor"),
    "#if 0\nconstexpr int BK = 64;\n#endif": ("SWZ123", "condition of the preprocessor"),
    "#if A\nconstexpr int BK = 64;\n#else\nconstexpr int BK = 32;\n#endif": ("SWZ123", "2 times"),
    "#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nconstexpr int BK = 64;": (
        "SWZ123",
        "braces do not balance",
        "f::BK",
    ),
    "}\nconstexpr int BK = 64;": ("SWZ123", "braces do not balance"),
    "namespace n {\nconstexpr int BK = 64;": ("SWZ123", "braces do not balance", "n::BK"),
    "namespace a { constexpr int BK = 1; }\nnamespace b { constexpr int BK = 1; }": ("SWZ122", "a::BK (line 1), b::BK"),
    "namespace a { constexpr int BK = 1; }\nnamespace a { int x; }\nint BK;": ("SWZ122", "at file scope"),
    "constexpr int N = 8;\nstruct S { static constexpr int BK = N; };": (
        "SWZ123",
        "N is not defined before it",
        "S::BK",
    ),
    "constexpr int N = 8;\ntemplate <int N> struct S { static constexpr int BK = N * 2; };": (
        "SWZ123",
        "N is not",
        "S::BK",
    ),
    "constexpr int N = 8;\nvoid f(const int N) { const int BK = N; }": (
        "SWZ123",
        "N is not defined before it",
        "f::BK",
    ),
    "struct S { static constexpr int N = 2; };\nconstexpr int BK = N;": ("SWZ123", "N is not defined before it"),
    "constexpr int A = B * 2, B = 3, BK = A;": ("SWZ123", "B is not defined before it"),
    "constexpr int BK = B * 2;   constexpr int B = 3;": ("SWZ123", "B is not defined before it"),
    "namespace k { constexpr int BK = 32 + PAD, PAD = 1; }": ("SWZ123", "PAD is not defined before it", "k::BK"),
    "namespace old { constexpr int BK = 33; }\nenum : int { BM = 32, BK = 32 };": ("SWZ122", "at file scope"),
    "namespace old { constexpr int BK = 33; }\nconstexpr int BK(32);": ("SWZ122", "at file scope"),
    "namespace old { constexpr int BK = 33; }\nusing namespace old;": ("SWZ122", "at file scope"),
    "namespace ns { struct F { static constexpr int BK = 64; }; }\nstruct F { enum { BK = 32 }; };": (
        "SWZ122",
        "ns::F::BK",
        "F::BK",
    ),
    "template <class T> struct F { static constexpr int BK = 64; };\ntemplate <> struct F<int> { };": (
        "SWZ123",
        "one of several definitions of 'F'",
        "F::BK",
    ),
    "void f(int) { constexpr int BK = 64; }\nvoid f(long) { }": ("SWZ123", "one of several definitions", "f::BK"),
    "auto f = [] { constexpr int BK = 3; return BK; };": ("SWZ122", "at file scope"),
    "void f() { { constexpr int BK = 64; } }": ("SWZ122", "defines no constant", "f::BK"),
    "constexpr int BK = " + "1 + " * 200 + "1;": ("SWZ123", "longer"),
}


def value(source: str, name: str = "BK") -> int:
    return constant(source, Language.C, name).value


@pytest.mark.parametrize("source", READ)
def test_constants_are_read(source: str) -> None:
    assert value(source) == READ[source]


@pytest.mark.parametrize("source", REFUSED)
def test_what_may_be_another_value_is_refused(source: str) -> None:
    code, words, *name = REFUSED[source]
    with pytest.raises(SwzError, match=re.escape(words)) as caught:
        value(source, *name)
    assert caught.value.code == code
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "expected", "line"),
    [
        ("BK", 64, 2),
        ("gemm::detail::Config::BK", 32, 4),
        ("gemm.detail.Config.BK", 32, 4),
        ("gemm::detail::Config::HALF", 16, 4),
        ("gemm::detail::ONLY", 7, 5),
        ("outer::Inner::X", 9, 16),
        ("Traits::LD", 72, 8),
        ("kernel::BK", 16, 11),
    ],
)
def test_scopes(name: str, expected: int, line: int) -> None:
    assert constant(SCOPED, Language.C, name) == Constant(expected, line)


@pytest.mark.parametrize(
    "name",
    [
        "Traits::BK",
        "Config::BK",
        "detail::ONLY",
        "kernel::i",
        "kernel::step",
        "step",
        "kernel::{}::step",
        "other::BK",
        "BM",
        "n",
        "kInner",
        "",
    ],
)
def test_names_that_are_no_constants(name: str) -> None:
    with pytest.raises(SwzError, match=r"SWZ12[23]"):
        value(SCOPED, name)


def test_a_near_name_is_proposed() -> None:
    with pytest.raises(SwzError, match="did you mean 'kStages'"):
        value("constexpr int kStages = 3;", "kStage")


@pytest.mark.skipif(CPLUSPLUS is None, reason="needs a C++ compiler")
def test_the_compiler_agrees_with_every_value(tmp_path: Path) -> None:
    """Each accepted source is compiled by itself, with the value asserted."""
    for index, (source, expected) in enumerate(READ.items()):
        file = tmp_path / f"{index}.cpp"
        file.write_text(f'{HEAD}{source}\nstatic_assert(BK == {expected}{"u" if expected > 2**31 else ""}, "");\n')
        compiled(file)
    scoped = tmp_path / "scoped.cpp"
    text = SCOPED.replace("Traits : Config", "Traits").replace(" : Base<int>", "")
    facts = "BK == 64 && gemm::detail::Config::HALF == 16 && Traits<int>::LD == 72 && outer::Inner::X == 9"
    asserts = f'static_assert({facts}, "");'
    scoped.write_text(f"{HEAD}{text}\n{asserts}\n")
    compiled(scoped)


def compiled(file: Path) -> None:
    ran = subprocess.run(
        [str(CPLUSPLUS), "-std=c++20", "-fsyntax-only", "-w", str(file)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, file.read_text() + ran.stderr


OPERATORS = ["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


def expression(rng: random.Random, depth: int) -> str:
    """A constant expression as a kernel might have it, signs and suffixes mixed."""
    if depth == 0 or rng.random() < 0.2:
        small = [str(rng.randrange(70)), hex(rng.randrange(300)), "1'000", "0x0'A", "0b1'01"]
        literal = rng.choice([*small, *small, str(rng.randrange(2**31)), hex(rng.randrange(2**32))])
        return rng.choice([*[literal] * 6, f"{literal}u", f"{literal}Ul", f"{literal}L", *"AABBCDEF"])
    form = rng.choice(["binary"] * 6 + ["unary", "ternary", "parens"])
    parts = [expression(rng, depth - 1) for _ in range(3)]
    match form:
        case "unary":
            return f"{rng.choice('-~!+')}({parts[0]})"
        case "ternary":
            return f"({parts[0]} ? {parts[1]} : {parts[2]})"
        case "parens":
            return f"({parts[0]})"
        case _:
            op = rng.choice(OPERATORS)
            return f"{parts[0]} {op} {parts[1]}"


@pytest.mark.parametrize("count", counts(1000, 3000))
@pytest.mark.skipif(CPLUSPLUS is None, reason="needs a C++ compiler")
def test_the_compiler_agrees_with_random_expressions(count: int, tmp_path: Path) -> None:
    rng = random.Random(5)
    given_ = (
        "constexpr int A = 7;\nconstexpr unsigned B = 12;\n#define C (7 - 9)\nconstexpr std::uint16_t D = 65535;\n"
        "constexpr uint8_t E = 200;\nconstexpr auto F = B;\n"
    )
    asserts: list[str] = []
    refused = 0
    for index in range(count):
        kind = rng.choice(["int", "auto", "unsigned", "long", "std::size_t", "int64_t", "uint64_t", "short"])
        body = expression(rng, rng.randrange(1, 4))
        try:
            found = value(f"{given_}constexpr {kind} N = {body};\n", "N")
        except SwzError:
            refused += 1
            continue
        suffix = "u" if found >= 2**31 else ""
        quantifier = rng.choice(["constexpr", "const"])
        asserts.append(
            f'{quantifier} {kind} n{index} = {body};\nstatic_assert(n{index} == {found}{suffix}, "{index}");'
        )
    file = tmp_path / "all.cpp"
    file.write_text(HEAD + given_ + "\n".join(asserts) + "\n")
    compiled(file)
    assert len(asserts) > count // 6
    assert refused > count // 6


@given(st.text(alphabet="ab01=;{}()<>,\"'\\\n#/* :?%", max_size=60))
def test_no_text_breaks_the_scanner(text: str) -> None:
    code = read_c(text).code
    assert len(code) == len(text)
    assert Lines(code).of(len(code)) == text.count("\n") + 1
    with contextlib.suppress(SwzError):
        for each in c_definitions(text):
            assert 1 <= each.line <= text.count("\n") + 1


PIECES = ["constexpr int ", "BK", " = ", "64", ";", "{", "}", "(", ")", "#if X\n", "\n#endif\n", "struct S ", "const "]
MORE_PIECES = ["namespace n ", ", ", "template <int N> ", "//", "\n", "#define "]


@given(st.lists(st.sampled_from(PIECES + MORE_PIECES), max_size=14))
def test_what_is_read_is_written_there(pieces: list[str]) -> None:
    """No value comes from anywhere but a 64 behind a definition."""
    text = "".join(pieces)
    try:
        found = constant(text, Language.C, "BK")
    except SwzError:
        return
    assert set(str(found.value)) <= {"6", "4"}
    assert "BK" in text.split("\n")[found.line - 1]


def test_large_tables_take_no_time() -> None:
    table = "constexpr int t[] = {" + "{1, 2}, " * 30_000 + "};\n"
    assert value(f"{table}constexpr int BK = 64;\n{table}") == 64
    calls = "void f() { g(" + "{1, 2}, " * 30_000 + "0); }\n"
    assert value(f"{calls}constexpr int BK = 64;\n") == 64


LARGE = {
    "constants": "".join(f"const int a{index} = 1;\n" for index in range(8_000)),
    "macros": "".join(f"#define A{index} 1\n" for index in range(8_000)),
    "conditions": "".join(f"#if X\nconst int a{index} = 1;\n#endif\n" for index in range(4_000)),
    "conditions in one another": "#if X\n" * 8_000 + "#endif\n" * 8_000,
    "scopes in one another": "namespace a { const int b = 1; " * 4_000 + "}" * 4_000,
    "brackets in one another": "(" * 25_000 + ")" * 25_000 + ";",
    "heads of brackets": ("f(" * 1900 + "{}") * 25 + ")" * 1900 * 25 + ";",
    "heads of attributes": ("decltype((" * 390 + "{}") * 25 + "))" * 390 * 25 + ";",
    "heads of names": ("a::" * 1300 + "{}") * 25,
    "heads of templates": ("template <" * 390 + "{}") * 25,
    "blanks": (" " * 5000 + "x ? y : z;") * 20,
    "heads of arguments": ("struct S" + "<" * 1900 + ">" * 1900 + "{};") * 25,
    "choices": "int x = " + "a ? b : " * 15_000 + "c;",
    "specialisations": "template <> " * 8_000 + "int x;",
}


@pytest.mark.parametrize("name", LARGE)
def test_large_sources_take_time_in_proportion(name: str) -> None:
    """Steps that grow with the square of the text would take minutes here."""
    assert value(f"{LARGE[name]}\nconstexpr int BK = 64;\n{LARGE[name].replace('const', 'extern')}") == 64
