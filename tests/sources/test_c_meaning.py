"""Text that says one thing to a reader and another to a compiler: refused, each with a compiler as
the witness.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language
from tests.sources.compiler import compiles, has_value, needs_compiler

OLD = ("-std=c++14",)


@dataclass(frozen=True)
class Trap:
    """A source, what it seems to give a constant, the words of the refusal, and how a compiler is
    asked.

    The compiler takes the source, and the constant has another value or none; but with `same` it
    has that value, where other flags or another compiler would give another one, and with `invalid`
    this compiler does not take the source.
    """

    source: str
    seems: int
    words: str
    name: str = "BK"
    asked: str = ""
    flags: tuple[str, ...] = ("-std=c++20",)
    same: bool = False
    invalid: bool = False


KEYWORDS = {
    "a type": Trap("#define int bool\nconstexpr int BK = 64;", 64, "makes the keyword 'int' a macro at line 1"),
    "a type, later undefined": Trap(
        "#define int bool\nconstexpr int BK = 64;\n#undef int", 64, "makes the keyword 'int' a macro at line 1"
    ),
    "a sign": Trap("#define unsigned signed\nconst unsigned char BK = 200;", 200, "the keyword 'unsigned'"),
    "const": Trap("#define const\nconst int BK = 64;", 64, "the keyword 'const'"),
    "constexpr": Trap("#define constexpr const volatile\nconstexpr int BK = 64;", 64, "the keyword 'constexpr'"),
    "under a condition": Trap("#ifndef X\n#define int bool\n#endif\nconstexpr int BK = 64;", 64, "the keyword 'int'"),
    "with arguments": Trap("#define if(x) while (x)\nconstexpr int BK = 64;", 64, "the keyword 'if'", same=True),
    "namespace": Trap(
        "#define namespace namespace n::\nnamespace a { constexpr int BK = 64; }",
        64,
        "the keyword 'namespace'",
        "a::BK",
    ),
    "an operator": Trap(
        "#define and +\nconstexpr int BK = 6 and 4;", 1, "the keyword 'and'", flags=("-fno-operator-names",)
    ),
    "a fixed-width type": Trap(
        "#define int32_t bool\nconstexpr int32_t BK = 64;", 64, "declared with 'int32_t', which is a macro"
    ),
    "std": Trap(
        "namespace n { using uint32_t = bool; }\n#define std n\nconstexpr std::uint32_t BK = 64;",
        64,
        "'std', which is a macro",
    ),
    "a specifier": Trap(
        "#define __device__ volatile\n__device__ const int BK = 64;", 64, "'__device__', which is a macro"
    ),
    "a scope": Trap(
        "#define Config Other\nstruct Config { static constexpr int BK = 3; };\n#undef Config\n"
        "struct Real { static constexpr int BK = 4; };\nusing Config = Real;",
        3,
        "stands in 'Config', which is a macro too",
        "Config::BK",
    ),
    "a name in a class": Trap(
        "#define BK x\nstruct T { static constexpr int BK = 3; };\n#undef BK", 3, "is a macro too (line 1)", "T::BK"
    ),
    "a raw string's prefix": Trap(
        '#define R\nconst char* s = R"( " )";\nconstexpr int BK = 3;',
        3,
        "a raw string's prefix 'R'",
        same=True,
    ),
}

SPELLINGS = {
    "a directive": Trap("constexpr int BK = 64;\n??=define BK 32\n;", 64, "the trigraph `??=` at line 2", flags=OLD),
    "a directive, of a value": Trap(
        "constexpr int A = 64;\nnamespace n {\n??=define A 32\n}\nconstexpr int BK = A;",
        64,
        "the trigraph `??=`",
        flags=OLD,
    ),
    "a line's end": Trap("// what??/\nconstexpr int BK = 64;", 64, "the trigraph `??/` at line 1", flags=OLD),
    "a backslash": Trap(
        'const char* s = "??/"; constexpr int BK = 64; const char* t = " //";\n;', 64, "the trigraph `??/`", flags=OLD
    ),
    "a quote": Trap(
        "const char a = '??''; constexpr int BK = 64; // '", 64, "the trigraph `??'`", flags=OLD, same=True
    ),
    "a bracket": Trap("namespace n ??< constexpr int BK = 64; ??>", 64, "the trigraph `??<`", flags=OLD),
    "the digraph of a directive": Trap(
        "constexpr int A = 64;\n%:define BK 32", 64, "the digraph `%:` at line 2", "A", same=True
    ),
    "the digraph of a brace": Trap("namespace n <% constexpr int BK = 64; %>", 64, "the digraph `<%` at line 1"),
    "the digraph of a bracket": Trap("constexpr int a<:1:> = {3}, BK = 64;", 64, "the digraph `<:`", same=True),
    "a split name": Trap("namespace n { constexpr int B\\\nK = 64; }", 64, "a word or sign split", "n::B"),
    "a split number": Trap("constexpr int BK = 6\\\n4;", 6, "a word or sign split"),
    "a split sign": Trap("constexpr int BK = 64 >\\\n> 3;", 64, "a word or sign split"),
    "a split prefix": Trap(
        'const char* s = R\\\n"( " constexpr int BK = 3; )";constexpr int BK = 64;', 3, "a word or sign split"
    ),
    "a comment begun over two lines": Trap("/\\\n* ; constexpr int BK = 64; */", 64, "a comment's sign split"),
    "a comment begun over three lines": Trap(";/\\\n\\\n* ; constexpr int BK = 64; */", 64, "a comment's sign split"),
    "a comment ended over three lines": Trap(
        "/* *\\\n\\\n/ constexpr int BK = 32; /* */ namespace n { constexpr int BK = 64; }",
        64,
        "a comment's sign split",
    ),
    "blanks behind a backslash in a comment": Trap(
        "// x \\ \nconstexpr int BK = 64;", 64, "blanks between a backslash"
    ),
    "blanks behind a backslash in a string": Trap(
        'const char* s = "a\\ \n; constexpr int BK = 64; " ;', 64, "blanks between a backslash"
    ),
    "blanks behind a backslash in a macro": Trap("#define BK 64 \\\t\n * 2", 64, "blanks between a backslash"),
    "two backslashes": Trap('const char* s = "a\\\\\n"; constexpr int BK = 64; //";', 64, "two backslashes"),
    "a character's number": Trap("constexpr int \\u00e9BK = 64;", 64, "a character by its number"),
    "a character of no name": Trap("constexpr int BK\u0308 = 64;", 64, "the character '\\u0308'"),
}

STATEMENTS = {
    "a condition": Trap(
        "constexpr int BK = 64\n#ifdef X\n * 2\n#endif\n;", 128, "a directive of the preprocessor inside it, at line 2"
    ),
    "a condition of the type": Trap(
        "constexpr\n#ifdef X\nunsigned\n#endif\nchar BK = 64;",
        64,
        "a directive of the preprocessor inside it",
        same=True,
    ),
    "a name of a class's head": Trap(
        "struct\n#ifdef X\nA\n#else\nB\n#endif\n{ static constexpr int BK = 64; };",
        64,
        "defines no constant 'A::BK'",
        "A::BK",
    ),
    "pop_macro": Trap(
        '#define BK 64\n#pragma push_macro("BK")\n#pragma pop_macro("BK")',
        64,
        "is brought back by `pop_macro` at line 3",
        same=True,
    ),
    "pop_macro as an operator": Trap(
        '#define BK 64\n_Pragma("push_macro(\\"BK\\")") _Pragma("pop_macro(\\"BK\\")")',
        64,
        "by `pop_macro` at line 2",
        same=True,
    ),
    "pop_macro of anything": Trap("#define BK 64\n#pragma pop_macro(BK)", 64, "that names no macro", invalid=True),
    "undefined with more behind it": Trap("#define BK 64\n#undef BK;", 64, "undefined again"),
    "a macro of a name": Trap(
        "#define BK N\nconstexpr int N = 64;\ntemplate <int N> struct S { static constexpr int V = BK; };",
        64,
        "N is no macro",
        asked="S<3>::V",
    ),
    "a macro that opens a brace": Trap(
        "#define OPEN {\nstruct S OPEN static int v; static constexpr int BK = 64; };",
        64,
        "whose macro 'OPEN' opens or closes",
    ),
    "a macro that closes one": Trap(
        "#define CLOSE };\nnamespace a { namespace b { struct T { int v; CLOSE } constexpr int BK = 64; }",
        64,
        "whose macro 'CLOSE'",
        "a::b::BK",
    ),
}

TYPES = {
    "an alias": Trap(
        "namespace n { using int32_t = bool; constexpr int32_t BK = 64; }",
        64,
        "'int32_t', which this file declares itself (line 1)",
        "n::BK",
    ),
    "a typedef": Trap(
        "struct S { typedef bool uint; static constexpr uint BK = 64; };",
        64,
        "'uint', which this file declares itself",
        "S::BK",
    ),
    "one typedef of several": Trap(
        "struct S { typedef bool b, int8_t; static constexpr int8_t BK = 64; };", 64, "'int8_t', which", "S::BK"
    ),
    "a typedef in brackets": Trap(
        "struct S { typedef bool (int8_t); static constexpr int8_t BK = 64; };", 64, "'int8_t', which", "S::BK"
    ),
    "a using-declaration": Trap(
        "namespace m { using int8_t = bool; }\nnamespace n { using m::int8_t; constexpr int8_t BK = 64; }",
        64,
        "'int8_t', which",
        "n::BK",
    ),
    "a template's parameter": Trap(
        "template <class size_t> struct S { static constexpr size_t BK = 64; };",
        64,
        "'size_t', which",
        "S::BK",
        "S<bool>::BK",
    ),
    "a template's other parameter": Trap(
        "template <int N, typename uint> struct S { static constexpr uint BK = 64; };",
        64,
        "'uint', which",
        "S::BK",
        "S<3, bool>::BK",
    ),
    "a parameter with a concept": Trap(
        "template <class T> concept C = true;\ntemplate <C uint> struct S { static constexpr uint BK = 64; };",
        64,
        "'uint', which",
        "S::BK",
        "S<bool>::BK",
    ),
    "a base class": Trap(
        "struct B { using int8_t = bool; }; struct S : B { static constexpr int8_t BK = 64; };",
        64,
        "'int8_t', which",
        "S::BK",
    ),
    "a namespace std": Trap(
        "namespace a { namespace std { using uint32_t = bool; } constexpr std::uint32_t BK = 64; }",
        64,
        "'std', which",
        "a::BK",
    ),
    "a namespace std with a header's names": Trap(
        "namespace m { using uint32_t = bool; }\n"
        "namespace a { namespace std { using namespace m; } constexpr std::uint32_t BK = 64; }",
        64,
        "which this file declares itself",
        "a::BK",
    ),
    "narrow and unsigned": Trap(
        "constexpr std::uint16_t A = 65535; constexpr auto BK = (A << 16) / 2;", 2147450880, "an int overflows"
    ),
    "an int beside an unsigned": Trap("constexpr unsigned BK = ((1 << 31) / 2) + 0u;", 2**30, "an int overflows"),
    "an int for a size": Trap("constexpr std::size_t BK = 1 << 31;", 2**31, "an int overflows"),
    "an int for a wide unsigned": Trap(
        "constexpr std::uint64_t A = 1 << 31; constexpr int BK = A >> 40;", 0, "an int overflows"
    ),
    "an int that overflows": Trap("const long long BK = (2147483647 + 1) / 2 + 0u;", 2**30, "an int overflows"),
    "an unsigned literal with separators": Trap("constexpr int BK = -400 / 0x0'Au;", -40, "may wrap"),
    "an unsigned literal without a suffix": Trap("constexpr int BK = -1 < 0x80000000;", 1, "may wrap"),
}

TEMPLATES = {
    "in an inline namespace": Trap(
        "inline namespace v { template <int N> struct S { static constexpr int BK = 64; }; }\n"
        "template <> struct S<2> { static constexpr int BK = 32; };",
        64,
        "one of several definitions of 'v::S'",
        "v::S::BK",
        "v::S<2>::BK",
    ),
    "declared only": Trap(
        "template <int N> struct S { static constexpr int BK = 64; };\ntemplate <> struct S<2>;",
        64,
        "one of several definitions of 'S'",
        "S::BK",
        "S<2>::BK",
    ),
    "of a member's function": Trap(
        "template <int N> struct S { static constexpr int f(); };\n"
        "template <int N> constexpr int S<N>::f() { constexpr int BK = 64; return BK; }\n"
        "template <> constexpr int S<2>::f() { return 32; }",
        64,
        "one of several definitions of 'S::f'",
        "S::f::BK",
        "S<2>::f()",
    ),
    "of a function": Trap(
        "template <int N> constexpr int f() { constexpr int BK = 64; return BK; }\n"
        "template <> constexpr int f<2>() { return 32; }",
        64,
        "one of several definitions of 'f'",
        "f::BK",
        "f<2>()",
    ),
    "of a member": Trap(
        "template <int N> struct S { static constexpr int BK = 64; };\ntemplate <> constexpr int S<2>::BK = 32;",
        64,
        "`template <>` gives a value",
        "S::BK",
        "S<2>::BK",
        invalid=True,
    ),
}

TRAPS = {
    f"{kind}: {name}": trap
    for kind, traps in (
        ("a macro", KEYWORDS),
        ("spelt", SPELLINGS),
        ("inside", STATEMENTS),
        ("typed", TYPES),
        ("special", TEMPLATES),
    )
    for name, trap in traps.items()
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_text_that_a_compiler_may_take_otherwise_is_refused(trap: Trap) -> None:
    with pytest.raises(SwzError, match=re.escape(trap.words)) as caught:
        constant(trap.source + "\n", Language.C, trap.name)
    assert caught.value.code == ("SWZ122" if "defines no constant" in trap.words else "SWZ123")
    assert caught.value.hint


@needs_compiler
@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_compiler_takes_it_otherwise(trap: Trap) -> None:
    claim = has_value(trap.asked or trap.name, trap.seems)
    assert compiles(trap.source + "\n", trap.flags) != trap.invalid
    assert compiles(trap.source + claim, trap.flags) == trap.same


@needs_compiler
def test_a_file_that_goes_on_with_the_statement(tmp_path: Path) -> None:
    (tmp_path / "plus.inc").write_text("+ 1\n")
    source = 'constexpr int BK = 64\n#include "plus.inc"\n;\n'
    assert compiles(source + has_value("BK", 65), ("-I", str(tmp_path)))
    with pytest.raises(SwzError, match="a directive of the preprocessor inside it, at line 2"):
        constant(source, Language.C, "BK")


READ = {
    "an alias for the same": ("typedef unsigned int uint;\nconstexpr uint BK = 64;", 64),
    "another alias for the same": ("using uint = unsigned;\nconstexpr uint BK = 64;", 64),
    "names of the standard": (
        "using std::uint32_t; using ::std::size_t; using ::uint8_t;\nconstexpr uint32_t BK = 64;",
        64,
    ),
    "types as arguments": (
        "template <class T, class U = std::uint32_t> struct P { }; P<std::size_t, uint32_t> p;\n"
        "void f(const uint32_t, uint8_t = 3, uint32_t* = nullptr); inline uint32_t g() { return uint32_t{3}; }\n"
        "enum E : uint8_t { e }; constexpr uint32_t BK = 64;",
        64,
    ),
    "namespace std for a hash": (
        "namespace std { template <class T> struct hash; }\nconstexpr std::uint32_t BK = 64;",
        64,
    ),
    "a pragma before it": (
        "#pragma once\n#pragma GCC diagnostic push\nconstexpr int BK = 64;\n#pragma GCC diagnostic pop",
        64,
    ),
    "a macro that closes what it opens": (
        "#define LOOP(x) do { x; } while (0)\ninline void f() { LOOP(int y = 3); }\nconstexpr int BK = 64;",
        64,
    ),
    "a macro that opens and is not used": ("#define OPEN namespace x {\nconstexpr int BK = 64;", 64),
    "macros over lines": ("#define F(x) \\\n  do { \\\n    x; \\\n  } while (0)\nconstexpr int BK = 64;", 64),
    "a string over lines": ('const char* s = "a\\n\\\n  b\\n"; constexpr int BK = 64;', 64),
    "a box of stars": ("/******\\\n *     *\n\\******/\nconstexpr int BK = 64;", 64),
    "question marks": ('// what??!\nconst char* s = "what??!"; constexpr int BK = 64;', 64),
    "a raw string with all of it": ('const char* s = R"(??/ %: \\ \n \\\\\n)"; constexpr int BK = 64;', 64),
    "a name behind a bracket": ("template <class T> struct V { }; struct X { }; V<::X> v; constexpr int BK = 64;", 64),
    "letters beyond ASCII": (
        '// \u00e9\u0308\nconst char* s = "\u2192"; constexpr int \u00e9 = 3; constexpr int BK = 64;',
        64,
    ),
    "a host's empty specifier": (
        "#ifndef __CUDACC__\n#define __device__\n#define __host__\n#endif\n__device__ constexpr int BK = 64;",
        64,
    ),
    "another's specialisation": (
        "namespace a { struct S { static constexpr int BK = 3; }; }\n"
        "template <int N> struct S { };\ntemplate <> struct S<2> { };\nconstexpr int BK = 64;",
        64,
    ),
    "a template's member function": (
        "template <int N> struct S { static int f(); };\n"
        "template <int N> int S<N>::f() { constexpr int BK = 3; return BK; }\nconstexpr int BK = 64;",
        64,
    ),
    "a template whose parameters hang on a condition": (
        "template <\n#ifdef X\nint N = 1\n#else\nint N = 2\n#endif\n> struct S { static constexpr int LD = 64; };\n"
        "void f(int a\n#ifdef X\n, int b\n#endif\n) { constexpr int LD = 3; }\nconstexpr int BK = 64;",
        64,
    ),
    "an int's width in hexadecimal": ("constexpr unsigned BK = 0xFFFFFFFF;", 2**32 - 1),
    "an int's width in a macro": ("#define BK 0x80000000", 2**31),
    "a shift of an unsigned": ("constexpr unsigned BK = 1u << 31;", 2**31),
    "a narrow unsigned": ("constexpr uint8_t A = 255; constexpr int BK = (A << 8) / 2;", 32640),
    "a requires-expression": (
        "template <class T> requires requires(T t) { t + 1; } struct S { };\nconstexpr int BK = 64;",
        64,
    ),
    "a trailing requires-clause": ("template <int N> void f() requires (N > 2) { }\nconstexpr int BK = 64;", 64),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_plain_is_read(name: str) -> None:
    source, expected = READ[name]
    assert constant(source + "\n", Language.C, "BK").value == expected


def test_what_hangs_on_a_condition_behind_the_name_does_no_harm() -> None:
    source, _ = READ["a template whose parameters hang on a condition"]
    assert constant(source, Language.C, "S::LD").value == 64
    assert constant(source, Language.C, "f::LD").value == 3


@needs_compiler
@pytest.mark.parametrize("name", READ)
def test_a_compiler_agrees(name: str) -> None:
    source, expected = READ[name]
    assert compiles(source + has_value("BK", expected))
