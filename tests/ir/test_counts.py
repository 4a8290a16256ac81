"""Counts of bits in every reading: at every operand of few bits, and at the edges of 32 and 64."""

from __future__ import annotations

import random
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import z3

from swzverify.engines.obligations import Always, Answer
from swzverify.engines.smt import SMT
from swzverify.engines.smt.terms import Bits, Translated, Translator
from swzverify.ir.counts import size, summed
from swzverify.ir.domain import Domain
from swzverify.ir.evaluate import evaluate, evaluate_many
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Count,
    Expr,
    Var,
    binary,
    compare,
    const,
    count,
    extend,
    extract,
    ite,
    postorder,
    substitute,
    var,
)
from swzverify.ir.gf2 import VariableBits, affine_bits
from swzverify.ir.intervals import intervals
from swzverify.ir.periods import repetition
from tests.ir.c_functions import c_function
from tests.ir.reference import build, grid, random_tree
from tests.ir.test_every_operator import PARITY, edges, looked_up_line

WIDTHS = range(1, 9)
WIDE = (31, 32, 33, 63, 64)
COMPILER = shutil.which("gcc") or shutil.which("cc")


def ones(value: int) -> int:
    """The digits of a number that are 1, one after the other."""
    total = 0
    while value:
        total, value = total + value % 2, value // 2
    return total


def table(width: int) -> list[int]:
    return [ones(value) for value in range(1 << width)]


@pytest.mark.parametrize("width", WIDTHS)
def test_points(width: int) -> None:
    root, values = count(var("x", 1 << width)), table(width)
    assert root.width == width.bit_length()
    assert [evaluate(root, {"x": value}) for value in range(1 << width)] == values
    assert evaluate_many((root,), {"x": np.arange(1 << width)})[0].tolist() == values
    assert [count(const(value, width)) for value in range(1 << width)] == [const(each, root.width) for each in values]
    sums = summed(root)
    assert not any(isinstance(node, Count) for node in postorder(sums))
    assert evaluate_many((sums,), {"x": np.arange(1 << width)})[0].tolist() == values
    assert size(root) == len(postorder(sums))


def test_zeros_in_front_are_not_counted() -> None:
    x = var("x", 1 << 8)
    assert count(extend(x, 32, signed=False)) == extend(count(x), 6, signed=False)
    signed = count(extend(x, 32, signed=True))
    assert [evaluate(signed, {"x": value}) for value in (127, 128, 255)] == [7, 25, 32]
    assert substitute(count(x), {x: const(255, 8)}) == const(8, 4)


@pytest.mark.parametrize("width", WIDTHS)
def test_intervals(width: int) -> None:
    """Of all operands from a number to another one."""
    values = table(width)
    tight = 0
    for low, limit in product(range(1 << width), range(1, (1 << width) + 1)):
        if low + limit <= 1 << width:
            root = count(binary(BinaryOperator.ADD, Var("x", limit, width), const(low, width)))
            found = intervals(root)[root]
            here = values[low : low + limit]
            assert found[0] <= min(here) <= max(here) <= found[1], (low, limit)
            tight += found[1] == max(here)
    assert tight > 1 << width


@pytest.mark.parametrize("width", WIDTHS)
def test_forms_over_gf2(width: int) -> None:
    """The lowest bit is the parity; other bits have a form only where most of the operand is known."""
    x = var("x", 1 << width)
    numbering = VariableBits.of([x])
    for mask in range(1 << width):
        root = count(binary(BinaryOperator.AND, x, const(mask, width)))
        (bits,) = affine_bits([root], numbering)
        assert bits[0] is not None
        for value, (i, form) in product(range(1 << width), enumerate(bits)):
            if form is not None:
                assert PARITY[form & (1 | value << 1)] == ones(value & mask) >> i & 1
    one = count(binary(BinaryOperator.OR, x, const((1 << width) - 2, width)))
    assert None not in affine_bits([one], numbering)[0]


def holds(root: Expr, values: list[int], width: int) -> Answer:
    where = compare(Comparison.EQ, root, looked_up_line(values, root.width, width))
    return SMT().decide(Always(Domain((var("x", 1 << width),)), where, lambda _: (np.ones(1), np.ones(1)))).answer


@pytest.mark.parametrize("width", WIDTHS)
def test_z3_encoding(width: int) -> None:
    root, values = count(var("x", 1 << width)), table(width)
    assert holds(root, values, width) is Answer.HOLDS
    values[random.Random(width).randrange(1 << width)] ^= 1
    assert holds(root, values, width) is Answer.FAILS


def without_the_last(self: Translator, term: Bits, width: int) -> Bits:
    """A wrong sum: its highest bit is missing."""
    return self.widen(z3.Extract(width - 2, 0, Z3_COUNT(self, term, width)), width)


def narrow(self: Translator, term: Bits, width: int) -> Bits:
    """A wrong sum: pairs of bits are added in one bit."""
    terms = [z3.Extract(at, at, term) for at in range(term.size())]
    while len(terms) > 1:
        terms = [one + other for one, other in zip(terms[::2], terms[1::2], strict=False)] + terms[len(terms) & ~1 :]
    return self.widen(terms[0], width)


Z3_COUNT = Translator._count  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("wrong", [without_the_last, narrow], ids=lambda each: each.__name__)
def test_a_wrong_encoding_is_noticed(wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Translator, "_count", wrong)
    assert holds(count(var("x", 16)), table(4), 4) is Answer.FAILS


@pytest.mark.parametrize("width", WIDE)
def test_edges_of_wide_operands(width: int) -> None:
    x = Var("x", 1 << width, width)
    root = count(x)
    terms = Translator(Translated(z3.Context()))
    term, at = terms.term(root), terms.variable(x)
    rng = random.Random(width)
    for value in (*edges(width), *(rng.getrandbits(width) for _ in range(50))):
        assert evaluate(root, {"x": value}) == ones(value)
        many = evaluate_many((root,), {"x": np.asarray([value], dtype=np.uint64)})[0]
        assert many.tolist() == [ones(value)]
        put = z3.substitute(term, (at, z3.BitVecVal(value, width, terms.context)))
        assert z3.simplify(put).as_long() == ones(value)
        assert evaluate(summed(root), {"x": value}) == ones(value)
    assert intervals(root)[root] == (0, width)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_c_source(tmp_path: Path) -> None:
    functions: list[str] = []
    calls: list[str] = []
    expected: list[int] = []
    for width in (1, 4, 31, 32, 33, 64):
        x = Var("x", 1 << width, width)
        functions.append(c_function(f"f{width}", [x], count(x)))
        for value in edges(width):
            calls.append(f"put(f{width}({value}{'ull' if width > 32 else 'u'}));\n")
            expected.append(ones(value))
    head = '#include <inttypes.h>\n#include <stdio.h>\nstatic void put(unsigned v) { printf("%u\\n", v); }\n'
    source = tmp_path / "all.c"
    source.write_text(f"{head}{''.join(functions)}int main(void) {{\n{''.join(calls)}  return 0;\n}}\n")
    assert COMPILER is not None
    subprocess.run([COMPILER, "-std=c11", "-w", str(source), "-o", str(tmp_path / "all")], check=True)
    ran = subprocess.run([str(tmp_path / "all")], capture_output=True, check=True, text=True)
    assert [int(line) for line in ran.stdout.split()] == expected


def counted(source: random.Random, limits: dict[str, int]) -> tuple[Expr, Expr, int]:
    """An expression that counts the bits of a random one and goes on, its operand, and what is added."""
    inner = build(random_tree(source, limits, source.randint(1, 5), source.randint(2, 9), linear=True))
    more = source.randrange(16)
    return binary(BinaryOperator.ADD, extend(count(inner), 8, signed=False), const(more, 8)), inner, more


def test_random_operands() -> None:
    """Values, intervals and forms over GF(2) of counts of random expressions."""
    source = random.Random(1)
    limits = {"x": 16, "y": 5}
    points = grid(limits)
    numbering = VariableBits.of([var(name, limit) for name, limit in limits.items()])
    formed = 0
    for _ in range(400):
        root, inner, more = counted(source, limits)
        values, operand = (np.broadcast_to(each, points["x"].shape) for each in evaluate_many((root, inner), points))
        assert values.ravel().tolist() == [ones(int(each)) + more for each in operand.ravel()]
        again = evaluate_many((summed(root),), points)[0]
        assert np.array_equal(np.broadcast_to(again, values.shape), values)
        low, high = intervals(root)[root]
        assert low <= values.min() <= values.max() <= high
        pattern = 1 | points["x"] << numbering.first["x"] + 1 | points["y"] << numbering.first["y"] + 1
        for i, form in enumerate(affine_bits([root], numbering)[0]):
            if form is not None:
                formed += 0 < i < 4
                assert np.array_equal(PARITY[pattern & form], values >> i & 1)
    assert formed > 100


def test_repetitions() -> None:
    """A count repeats as its operand does modulo its width."""
    source = random.Random(2)
    found = 0
    for _ in range(400):
        root, _, _ = counted(source, {"x": 256})
        repeats = repetition(root, "x")
        if repeats is not None and repeats.period < 256:
            found += 1
            values = np.broadcast_to(evaluate_many((root,), {"x": np.arange(256)})[0], (256,))
            step = values[repeats.period :] - values[: -repeats.period]
            assert (step == repeats.increment).all() if repeats.exact else (step % 256 == repeats.increment % 256).all()
    assert found > 40
    x = var("x", 256)
    assert repetition(count(extract(x, 0, 3)), "x") is not None
    assert repetition(ite(extract(count(x), 0, 1), x, x), "x") is not None
