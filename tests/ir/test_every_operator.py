"""Every operator at every pair of operands of up to 6 bits, in every reading, and at the edges of
32 and 64 bits.

One table a width and operator, from SMT-LIB's definitions in `reference`, and every reading of the
expression form held against it: one point, many points, GF(2) forms, intervals, Z3 terms, SMT-LIB
text, C source.
"""

# z3py ships no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import z3
from numpy.typing import NDArray

from swzverify.engines.obligations import Always, Answer
from swzverify.engines.smt import SMT
from swzverify.engines.smt.terms import Translated, Translator
from swzverify.ir.domain import Domain
from swzverify.ir.evaluate import evaluate, evaluate_many
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    var,
    variables,
)
from swzverify.ir.gf2 import VariableBits, affine_bits
from swzverify.ir.intervals import intervals
from tests.ir.c_functions import c_function
from tests.ir.reference import BINARY, COMPARISONS, operator_meaning

WIDTHS = range(1, 7)
WIDE = (31, 32, 33, 63, 64)
OPERATORS = [*BINARY, *COMPARISONS]
COMPILER = shutil.which("gcc") or shutil.which("cc")
Table = NDArray[np.int64]


def combined(name: str, left: Expr, right: Expr) -> Expr:
    return compare(Comparison(name), left, right) if name in COMPARISONS else binary(BinaryOperator(name), left, right)


def table(name: str, width: int) -> Table:
    size = 1 << width
    return np.array([[operator_meaning(name, a, b, width) for b in range(size)] for a in range(size)])


def pair(width: int) -> tuple[Var, Var]:
    return var("x", 1 << width), var("y", 1 << width)


def looked_up(values: Table, x: Var, y: Var, width: int) -> Expr:
    """The table as an expression: a choice by each bit of the operands, constants below."""

    def choose(rows: Table, bit: int) -> Expr:
        if bit < 0:
            return const(int(rows[0, 0]), width)
        node, low = (x, bit - y.width) if bit >= y.width else (y, bit)
        half = 1 << low
        zero, one = (rows[:half], rows[half:]) if node is x else (rows[:, :half], rows[:, half:])
        return ite(extract(node, low, 1), choose(one, bit - 1), choose(zero, bit - 1))

    return choose(values, x.width + y.width - 1)


# --- all operands of up to 6 bits ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATORS)
def test_points(name: str, width: int) -> None:
    """`evaluate` and `evaluate_many`, folding by constants included."""
    values, (x, y), size = table(name, width), pair(width), 1 << width
    root = combined(name, x, y)
    line = np.arange(size)
    (many,) = evaluate_many((root,), {"x": line[:, None], "y": line[None, :]})
    assert np.array_equal(np.broadcast_to(many, values.shape), values)
    for a, b in product(range(size), repeat=2):
        assert evaluate(root, {"x": a, "y": b}) == values[a, b]
    for c in range(size):
        fixed = const(c, width)
        left, right = evaluate_many((combined(name, fixed, y), combined(name, x, fixed)), {"x": line, "y": line})
        assert np.array_equal(np.broadcast_to(left, (size,)), values[c])
        assert np.array_equal(np.broadcast_to(right, (size,)), values[:, c])
        for d in range(0, size, 1 + size // 16):
            assert combined(name, fixed, const(d, width)) is const(int(values[c, d]), root.width)


PARITY = np.array([bin(number).count("1") % 2 for number in range(1 << 14)])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATORS)
def test_forms_over_gf2(name: str, width: int) -> None:
    """Where a result's bit has a form, the form gives that bit; of two variables, and of one with
    each constant.
    """
    values, (x, y), size = table(name, width), pair(width), 1 << width
    numbering = VariableBits.of([x, y])
    grid = np.arange(size)
    pattern = 1 | grid[:, None] << numbering.first["x"] + 1 | grid[None, :] << numbering.first["y"] + 1
    roots = [(combined(name, x, y), values)]
    for c in range(size):
        fixed = const(c, width)
        roots.append((combined(name, fixed, y), np.broadcast_to(values[c][None, :], values.shape)))
        roots.append((combined(name, x, fixed), np.broadcast_to(values[:, c][:, None], values.shape)))
    for bits, (_, expected) in zip(affine_bits([root for root, _ in roots], numbering), roots, strict=True):
        for i, form in enumerate(bits):
            if form is not None:
                assert np.array_equal(PARITY[pattern & form], expected >> i & 1)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATORS)
def test_intervals(name: str, width: int) -> None:
    """Of variables of every limit that needs the width, from 0 and from a constant up."""
    values = table(name, width)
    limits = range((1 << width - 1) + 1, (1 << width) + 1, 1 + (width > 4) * 3)
    for first, other in product(limits, limits):
        root = combined(name, Var("x", first, width), Var("y", other, width))
        low, high = intervals(root)[root]
        here = values[:first, :other]
        assert low <= here.min() <= here.max() <= high
    top = 1 << width
    for c, limit in product(range(top), (1, 2, top // 2 + 1, top)):
        x = Var("x", limit, width)
        for root, here in (
            (combined(name, x, const(c, width)), values[:limit, c]),
            (combined(name, const(c, width), x), values[c, :limit]),
        ):
            low, high = intervals(root)[root]
            assert low <= here.min() <= here.max() <= high


@pytest.mark.parametrize("width", [pytest.param(w, marks=[pytest.mark.nightly] * (w > 4)) for w in WIDTHS])
@pytest.mark.parametrize("name", OPERATORS)
def test_z3_encoding(name: str, width: int) -> None:
    x, y = pair(width)
    root = combined(name, x, y)
    same = compare(Comparison.EQ, root, looked_up(table(name, width), x, y, root.width))
    unused = Always(Domain((x, y)), same, lambda _: (np.ones(1, bool), np.ones(1, bool)))
    assert SMT().decide(unused).answer is Answer.HOLDS
    # The check itself: one wrong entry is found, and where it is.
    spoilt = table(name, width)
    at = random.Random(width).randrange(1 << width), random.Random(name).randrange(1 << width)
    spoilt[at] ^= 1
    wrong = compare(Comparison.EQ, root, looked_up(spoilt, x, y, root.width))
    finding = SMT().decide(Always(Domain((x, y)), wrong, unused.definition))
    assert finding.answer is Answer.FAILS
    assert finding.point == {"x": at[0], "y": at[1]}


# --- what takes one operand, and choices --------------------------------------------------------------------


def slices(width: int) -> Iterator[tuple[Expr, Callable[[int], int]]]:
    """Every extraction and extension of a variable, with its meaning."""
    x = var("x", 1 << width)
    for low in range(width):
        for kept in range(1, width - low + 1):
            yield extract(x, low, kept), lambda v, low=low, kept=kept: v // 2**low % 2**kept
    for wide in (width, width + 1, width + 3, 12, 32, 62):
        if wide >= width:
            yield extend(x, wide, signed=False), lambda v: v
            top = 2 ** (width - 1)
            yield extend(x, wide, signed=True), lambda v, top=top, wide=wide: (v - 2 * top * (v >= top)) % 2**wide


@pytest.mark.parametrize("width", WIDTHS)
def test_slices_everywhere(width: int) -> None:
    numbering = VariableBits.of([var("x", 1 << width)])
    for root, meaning in slices(width):
        expected = [meaning(v) for v in range(1 << width)]
        assert [evaluate(root, {"x": v}) for v in range(1 << width)] == expected
        (many,) = evaluate_many((root,), {"x": np.arange(1 << width)})
        assert [int(v) % (1 << root.width) for v in many] == expected
        low, high = intervals(root)[root]
        assert low <= min(expected) <= max(expected) <= high
        for i, form in enumerate(affine_bits([root], numbering)[0]):
            assert form is not None
            assert [PARITY[form & (1 | v << 1)] for v in range(1 << width)] == [v >> i & 1 for v in expected]
        where = compare(Comparison.EQ, root, looked_up_line(expected, root.width, width))
        always = Always(Domain(variables(root)), where, lambda _: (np.ones(1, bool), np.ones(1, bool)))
        assert SMT().decide(always).answer is Answer.HOLDS


def looked_up_line(values: list[int], width: int, bits: int) -> Expr:
    x = var("x", 1 << bits)
    result: Expr = const(values[0], width)
    for v in range(1, 1 << bits):
        result = ite(compare(Comparison.EQ, x, const(v, bits)), const(values[v], width), result)
    return result


# --- the edges of wide ones, and C --------------------------------------------------------------------------


def edges(width: int) -> list[int]:
    top = 1 << width
    near = [0, 1, 2, 3, 5, 7, 31, 32, 33, width - 1, width, width + 1, top // 3]
    return sorted({value % top for value in [*near, *(top // 2 + d for d in (-2, -1, 0, 1)), top - 2, top - 1]})


@pytest.mark.parametrize("width", [pytest.param(w, marks=[pytest.mark.nightly] * (w not in (33, 64))) for w in WIDE])
@pytest.mark.parametrize("name", OPERATORS)
def test_edges_of_wide_operands(name: str, width: int) -> None:
    x, y = pair(width)
    root = combined(name, x, y)
    context = z3.Context()
    terms = Translator(Translated(context))
    symbolic = terms.term(root)
    at = (terms.variable(x), terms.variable(y))
    numbering = VariableBits.of([x, y])
    for a, b in product(edges(width), repeat=2):
        expected = operator_meaning(name, a, b, width)
        assert evaluate(root, {"x": a, "y": b}) == expected
        values = (z3.BitVecVal(a, width, context), z3.BitVecVal(b, width, context))
        assert z3.simplify(z3.substitute(symbolic, *zip(at, values, strict=True))).as_long() == expected
        with_constant = combined(name, x, const(b, width))
        (bits,) = affine_bits([with_constant], numbering)
        pattern = 1 | a << numbering.first["x"] + 1
        for i, form in enumerate(bits):
            if form is not None:
                assert (form & pattern).bit_count() % 2 == expected >> i & 1
        narrow = Var("x", a + 1, width)
        low, high = intervals(combined(name, narrow, const(b, width)))[combined(name, narrow, const(b, width))]
        assert low <= expected <= high


def loops(name: str, width: int) -> str:
    """C that prints a function's values at all pairs of small operands."""
    size = 1 << width
    call = f"(unsigned){name}(x, y)"
    return f"  for (unsigned x = 0; x < {size}; ++x) for (unsigned y = 0; y < {size}; ++y) put({call});\n"


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
@pytest.mark.parametrize("widths", [WIDTHS[:3], pytest.param(WIDTHS, marks=pytest.mark.nightly)], ids=str)
def test_c_source_everywhere(widths: range, tmp_path: Path) -> None:
    functions: list[str] = []
    calls: list[str] = []
    expected: list[int] = []
    for width, name in product(widths, OPERATORS):
        x, y = pair(width)
        label = f"f{len(functions)}"
        functions.append(c_function(label, [x, y], combined(name, x, y)))
        calls.append(loops(label, width))
        expected += table(name, width).ravel().tolist()
    for width, name in product(WIDE, OPERATORS):
        x, y = pair(width)
        label = f"f{len(functions)}"
        functions.append(c_function(label, [x, y], combined(name, x, y)))
        suffix = "ull" if width > 32 else "u"
        for a, b in product(edges(width), repeat=2):
            calls.append(f"  put({label}({a}{suffix}, {b}{suffix}));\n")
            expected.append(operator_meaning(name, a, b, width))
    head = '#include <inttypes.h>\n#include <stdio.h>\nstatic void put(uint64_t v) { printf("%" PRIu64 "\\n", v); }\n'
    parts = [f"static void part{n}(void) {{\n{''.join(calls[n : n + 500])}}}\n" for n in range(0, len(calls), 500)]
    body = "".join(f"  part{n}();\n" for n in range(0, len(calls), 500))
    source = tmp_path / "all.c"
    source.write_text(f"{head}{''.join(functions)}{''.join(parts)}int main(void) {{\n{body}  return 0;\n}}\n")
    assert COMPILER is not None
    command = [COMPILER, "-std=c11", "-O1", "-w", str(source), "-o", str(tmp_path / "all")]
    subprocess.run(command, capture_output=True, check=True)
    ran = subprocess.run([str(tmp_path / "all")], capture_output=True, check=True, text=True)
    assert [int(line) for line in ran.stdout.split()] == expected
