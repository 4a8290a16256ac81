"""Sources drawn from fragments that change each other's meaning: every value that is read is the
compiler's.
"""

from __future__ import annotations

import random

import pytest

from swzverify.errors import SwzError
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language
from tests.sources.compiler import compiles, has_value, needs_compiler

NAMES = ("A", "B", "N", "M")
CLASSES = ("S", "T")
NAMESPACES = ("n", "m")
TYPES = (
    *("int", "unsigned", "short", "char", "unsigned char", "long", "auto", "uint8_t", "int8_t", "uint16_t", "uint"),
    *("int64_t", "std::size_t", "std::uint32_t"),
)
LITERALS = (
    *("1", "3", "7", "64", "255", "300", "65535", "65536", "2147483647", "0x80000000", "4294967295u", "1u", "0x10"),
    *("0b101", "1'000", "0x0'Au", "5L", "12ull", "-1"),
)
ALIASED = ("bool", "int", "unsigned", "unsigned char", "signed char")
MACROS = (*NAMES, *CLASSES, *NAMESPACES, "int", "const", "constexpr", "static", "uint", "uint8_t", "std", "E")
BODIES = (
    "",
    "bool",
    "int",
    "unsigned",
    "signed char",
    "S",
    "T",
    "m",
    "constexpr",
    "volatile",
    "{",
    "}",
    "namespace n {",
)
CONDITIONS = ("if 0", "if 1", "ifdef X", "ifndef X")
SPLICES = ("", "", "\\\n", "\\\n\\\n", "\\ \n")
FLAGS = (("-std=c++14",), ("-std=gnu++20",), ("-std=c++20", "-DX"), ("-std=c++17", "-trigraphs"))


class Drawn:
    """Fragments of a source, by chance."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def one(self, of: tuple[str, ...]) -> str:
        return self.rng.choice(of)

    def value(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.4:
            return self.one((self.one(LITERALS), self.one(LITERALS), self.one(NAMES)))
        left, right, third = (self.value(depth - 1) for _ in range(3))
        op = self.one(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", ">", "=="))
        unary, choice = f"{self.one(tuple('-~!'))}({left})", f"({left} ? {right} : {third})"
        return self.one((f"({left})", f"{left} {op} {right}", unary, choice))

    def constant(self) -> str:
        specifiers = self.one(("constexpr", "const", "static constexpr", "static const"))
        head = f"{specifiers} {self.one(TYPES)} {self.one(NAMES)}"
        more = f"\n#{self.one(CONDITIONS)}\n {self.one(tuple('+-*'))} {self.one(LITERALS)}\n#endif\n"
        return self.one(
            (
                *[f"{head} = {self.value(2)};"] * 3,
                f"{head}{{{self.one(LITERALS)}}};",
                f"{head} = {self.one(LITERALS)}, {self.one(NAMES)} = {self.value(1)};",
                f"{head} = {self.one(LITERALS)}{more};",
            )
        )

    def member(self) -> str:
        return f"static constexpr {self.one(TYPES)} {self.one(NAMES)} = {self.value(1)};"

    def alias(self) -> str:
        name = self.one(("uint", "int8_t", "uint8_t", "int64_t"))
        return self.one((f"using {name} = {self.one(ALIASED)};", f"typedef {self.one(ALIASED)} {name};"))

    def macro(self) -> str:
        name = self.one(NAMES)
        sign = self.one(("#", "#", "#", "# ", "%:", "??="))
        return self.one(
            (
                *[f"{sign}define {name} {self.one((self.one(LITERALS), f'({self.value(1)})', self.one(NAMES)))}"] * 3,
                f"#define {name}(x) x",
                f"{sign}undef {name}{self.one(('', ';', ' // x'))}",
                f"#define {self.one(MACROS)} {self.one(BODIES)}",
                f'#pragma {self.one(("push", "pop"))}_macro("{name}")',
            )
        )

    def template(self) -> str:
        name = self.one(CLASSES)
        parameter = self.one(("int K", "int N", "class K", "class uint"))
        return self.one(
            (
                f"template <{parameter}> struct {name} {{ {self.member()} }};",
                f"template <> struct {name}<{self.one(('2', 'int'))}> {{ {self.member()} }};",
                f"template <> struct {name}<2>;",
            )
        )

    def scope(self) -> str:
        inner = f"{self.fragment()}\n{self.constant()}"
        return self.one(
            (
                f"namespace {self.one((*NAMESPACES, '', 'n::m'))} {{\n{inner}\n}}",
                f"inline namespace {self.one(NAMESPACES)} {{\n{inner}\n}}",
                f"struct {self.one(CLASSES)} {{ {self.one(('', self.alias()))} {self.member()} {self.member()} }};",
                f"void {self.one(('f', 'g'))}() {{ {self.constant()} }}",
                f"auto l{self.rng.randrange(999)} = [] {{ {self.constant()} return 0; }};",
            )
        )

    def odd(self) -> str:
        string = self.one(('"/*"', '"a\\\nb"', 'R"(" )"', '"??/""', '"a\\\\"', "'\"'", '"\\\\\n"'))
        return self.one(
            (
                f"// {self.one(('x', 'do not', chr(39), 'what??/', chr(92), chr(92) + ' '))}",
                f"/{self.one(SPLICES)}* {self.constant()} *{self.one(SPLICES)}/",
                f"auto s{self.rng.randrange(999)} = {string};",
                f"enum {{ {self.one(NAMES)} = {self.one(LITERALS)} }};",
                self.one(MACROS),
            )
        )

    def fragment(self) -> str:
        kind = self.rng.randrange(12)
        if kind < 3:
            return self.constant()
        if kind < 6:
            return self.macro()
        if kind < 7:
            branch = self.one(("", f"#else\n{self.constant()}\n"))
            return f"#{self.one(CONDITIONS)}\n{self.fragment()}\n{branch}#endif"
        return (self.alias, self.template, self.scope, self.scope, self.odd)[kind - 7]()

    def source(self) -> str:
        return "\n".join(self.fragment() for _ in range(self.rng.randrange(1, 7))) + "\n"


def asked() -> list[tuple[str, str]]:
    """Names for this program, and what a compiler is asked for."""
    outer = ("", "n::", "m::", "n::m::")
    plain = [f"{scope}{name}" for scope in (*outer, "S::", "T::", "n::S::") for name in NAMES]
    of_templates = [
        (f"{of}::{name}", f"{of}<{by}>::{name}") for of in CLASSES for name in NAMES for by in ("2", "5", "int")
    ]
    return [*((each, each) for each in plain), *of_templates]


def values(source: str) -> list[tuple[str, int]]:
    """What is read, as the compiler is asked for it."""
    found: list[tuple[str, int]] = []
    for name, expression in asked():
        try:
            found.append((expression, constant(source, Language.C, name).value))
        except SwzError:
            continue
    return found


def judge(seeds: range) -> int:
    """How many values a compiler had the same; where it has the name at all, it must."""
    agreed = 0
    for seed in seeds:
        drawn = Drawn(seed)
        source = drawn.source()
        flags = drawn.rng.choice(FLAGS)
        found = values(source)
        if not found or not compiles(source, flags):
            continue
        if compiles(source + "".join(has_value(*each) for each in found), flags):
            agreed += len(found)
            continue
        for expression, value in found:
            if compiles(f"{source}\nauto probe = {expression};\n", flags):
                assert compiles(source + has_value(expression, value), flags), (
                    f"{flags}: {expression} = {value}\n{source}"
                )
                agreed += 1
    return agreed


@needs_compiler
def test_drawn_sources() -> None:
    assert judge(range(30)) > 1


@pytest.mark.nightly
@needs_compiler
def test_many_drawn_sources() -> None:
    assert judge(range(30, 200)) > 5
    assert judge(range(1000, 11_000)) > 400
