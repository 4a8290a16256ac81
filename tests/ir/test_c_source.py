"""C source of expressions: names, texts, and values as a C compiler computes them."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from swzverify.ir.c_source import c_identifier, c_locals, c_type
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, Comparison, Expr, Var, binary, compare, const, extend, ite, var, variables
from tests.ir.c_functions import c_function
from tests.ir.reference import build, random_tree

COMPILER = shutil.which("gcc") or shutil.which("cc")
SANITIZED = ["-fsanitize=undefined", "-fno-sanitize-recover=all"]


def every_operator() -> list[Expr]:
    """Each operator on two variables, at widths around those of the C types."""
    found: list[Expr] = []
    for width in (1, 3, 31, 32, 33, 63, 64):
        x, y = var(f"x{width}", 1 << width), var(f"y{width}", 1 << width)
        found += [binary(operator, x, y) for operator in BinaryOperator]
        found += [binary(operator, x, const(value, width)) for operator in BinaryOperator for value in (0, 3, -1)]
        found += [compare(comparison, x, y) for comparison in Comparison]
        found += [
            extend(x, wider, signed=signed) for wider in (32, 40, 64) if wider >= width for signed in (True, False)
        ]
        found.append(ite(compare(Comparison.SLT, x, y), x, y))
    return found


def some_point(source: random.Random, root: Expr) -> dict[str, int]:
    point: dict[str, int] = {}
    for node in variables(root):
        edges = [
            0,
            1,
            2,
            node.width,
            node.limit // 2 - 1,
            node.limit // 2,
            node.limit - 1,
            source.randrange(node.limit),
        ]
        point[node.name] = min(max(0, source.choice(edges)), node.limit - 1)
    return point


def program(roots: list[Expr], source: random.Random, times: int) -> tuple[str, list[int]]:
    """One function an expression, called at some points; what it must print."""
    functions: list[str] = []
    calls: list[str] = []
    expected: list[int] = []
    for at, root in enumerate(roots):
        parameters: list[Var] = list(variables(root))
        functions.append(c_function(f"f{at}", parameters, root))
        for _ in range(times):
            point = some_point(source, root)
            arguments = ", ".join(f"{point[node.name]}u{'ll' if node.width > 32 else ''}" for node in parameters)
            calls.append(f'  printf("%" PRIu64 "\\n", (uint64_t)f{at}({arguments}));')
            expected.append(evaluate(root, point))
    head = "#include <inttypes.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    return head + "".join(functions) + "int main(void) {\n" + "\n".join(calls) + "\n  return 0;\n}\n", expected


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_values_are_those_of_a_c_compiler(tmp_path: Path) -> None:
    source = random.Random(7)
    limits = {"x": 200, "leaf.0": 16, "k'": 7, "wide": 2**33}
    trees = [
        random_tree(source, limits, source.randint(2, 12), source.randint(1, 40), most_bits=64) for _ in range(200)
    ]
    text, expected = program(every_operator() + [build(tree) for tree in trees], source, 6)
    (tmp_path / "all.c").write_text(text)
    assert COMPILER is not None
    base = [COMPILER, "-std=c11", "-O0", "-w", str(tmp_path / "all.c"), "-o", str(tmp_path / "all")]
    # A machine without the sanitizer's library still compares the values.
    made = subprocess.run([*base, *SANITIZED], capture_output=True, check=False)
    if made.returncode:
        subprocess.run(base, capture_output=True, check=True)
    ran = subprocess.run([str(tmp_path / "all")], capture_output=True, check=True, text=True)
    assert [int(line) for line in ran.stdout.split()] == expected


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_source_has_no_warnings(tmp_path: Path) -> None:
    text, _ = program(every_operator()[:140], random.Random(1), 1)
    (tmp_path / "some.c").write_text(text)
    assert COMPILER is not None
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-parameter", "-fsyntax-only"]
    ran = subprocess.run([COMPILER, *strict, str(tmp_path / "some.c")], capture_output=True, check=False, text=True)
    assert ran.returncode == 0, ran.stderr


NAMES = ["x", "leaf.0", "leaf_0", "leafd0", "leafZd0", "k'", "k", "kZq", "a__b", "a_Zub", "a_b", "_x", "x_", "__",
         "Z", "d", "int", "t0", "v_x", "threadIdx.x", "\u03bb", "Zx3bbz", "", "a b", "a-b", "_", "9"]  # fmt: skip


def test_identifiers_are_different_and_never_reserved() -> None:
    made = [c_identifier(name) for name in NAMES]
    assert len(set(made)) == len(NAMES)
    for text in made:
        assert text.isascii()
        assert text.isidentifier()
        assert text.startswith("v_")
        assert "__" not in text


def test_text_is_linear_in_shared_nodes() -> None:
    node: Expr = var("x", 8)
    for _ in range(300):
        node = binary(BinaryOperator.SDIV, node, node)
    declared = c_locals(node, node)
    assert len(declared.declarations) == 300
    assert len("".join(declared.declarations)) < 300 * 250
    assert declared.values == ("t299", "t299")


def test_refused() -> None:
    x = var("x", 8)
    with pytest.raises(ValueError, match="at most 64 bits, not 65"):
        c_type(65)
    with pytest.raises(ValueError, match="at most 64 bits, not 70"):
        c_locals(extend(x, 70, signed=True))
