"""The values of C integer expressions: by hand, against an oracle, in numpy, and against a C
compiler.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import floor, trunc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir.c_ast import (
    Binary,
    BinaryOp,
    Call,
    CExpr,
    Conditional,
    Name,
    Number,
    Unary,
    UnaryOp,
    render,
)
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_eval_many import evaluate_many
from swzverify.ir.c_parse import parse

LOW, HIGH = -(2**31), 2**32 - 1
ABC = {"a": 7, "b": -3, "c": 12}

VALUES = [
    pytest.param("a << 4 + 2048 / 512", {"a": 3}, 3 * 2**8, id="sum-before-shift"),
    pytest.param("a + 1 << 2", {"a": 3}, 16, id="sum-before-shift-left"),
    pytest.param("a & 1 == 1", {"a": 6}, 0, id="equality-before-and"),
    pytest.param("(a & 2) == 2", {"a": 6}, 1, id="and-in-parentheses"),
    pytest.param("a ^ b & 6", {"a": 5, "b": 3}, 7, id="and-before-xor"),
    pytest.param("a | b ^ 1", {"a": 1, "b": 1}, 1, id="xor-before-or"),
    pytest.param("tid % 8 * 8", {"tid": 13}, 40, id="remainder-then-product"),
    pytest.param("tid / 8 % 4", {"tid": 45}, 1, id="quotient-then-remainder"),
    pytest.param("a - b - c", ABC, -2, id="difference-to-the-left"),
    pytest.param("128 >> 2 >> 1", {}, 16, id="shifts-to-the-left"),
    pytest.param("0 <= a < 4", {"a": 9}, 1, id="chained-comparison"),
    pytest.param("-7 / 2", {}, -3, id="quotient-minus-plus"),
    pytest.param("7 / -2", {}, -3, id="quotient-plus-minus"),
    pytest.param("-7 / -2", {}, 3, id="quotient-minus-minus"),
    pytest.param("-8 / 2", {}, -4, id="quotient-exact"),
    pytest.param("-1 / 2", {}, 0, id="quotient-to-zero"),
    pytest.param("-7 % 2", {}, -1, id="remainder-minus-plus"),
    pytest.param("7 % -2", {}, 1, id="remainder-plus-minus"),
    pytest.param("-7 % -2", {}, -1, id="remainder-minus-minus"),
    pytest.param("-8 % 4", {}, 0, id="remainder-exact"),
    pytest.param("-7 >> 1", {}, -4, id="shift-right-floors"),
    pytest.param("-1 >> 31", {}, -1, id="shift-right-minus-one"),
    pytest.param("-3 << 2", {}, -12, id="shift-left-negative"),
    pytest.param("1 << 31", {}, 2**31, id="shift-left-most"),
    pytest.param("5 << 0", {}, 5, id="shift-by-zero"),
    pytest.param("~0", {}, -1, id="invert-zero"),
    pytest.param("~5 & 0xFF", {}, 250, id="invert-and-mask"),
    pytest.param("-1 & 0xFFFFFFFF", {}, HIGH, id="and-of-negative"),
    pytest.param("-4 | 1", {}, -3, id="or-of-negative"),
    pytest.param("-1 ^ 5", {}, -6, id="xor-of-negative"),
    pytest.param("0u - 1", {}, -1, id="suffix-does-not-wrap"),
    pytest.param("!0 + !7 + !-1", {}, 1, id="not"),
    pytest.param("+a - -b", {"a": 1, "b": 2}, 3, id="signs"),
    pytest.param("3 && -2", {}, 1, id="and-of-truths"),
    pytest.param("0 && 1 || 2", {}, 1, id="and-before-or"),
    pytest.param("0 || 0", {}, 0, id="or-of-falsehoods"),
    pytest.param("(1 < 2) + (2 <= 2) + (3 > 2) + (2 >= 3)", {}, 3, id="comparisons-count"),
    pytest.param("(1 == 1) + (1 != 1)", {}, 1, id="equalities-count"),
    pytest.param("-1 < 1", {}, 1, id="comparison-is-signed"),
    pytest.param("a ? b : c", {"a": -1, "b": 4, "c": 5}, 4, id="ternary-nonzero"),
    pytest.param("a ? b : c", {"a": 0, "b": 4, "c": 5}, 5, id="ternary-zero"),
    pytest.param("0 ? 1 : 0 ? 2 : 3", {}, 3, id="ternary-to-the-right"),
    pytest.param("min(a, b, c) * 100 + max(a, b, c)", ABC, -288, id="min-and-max"),
    pytest.param("threadIdx.x + 1", {"threadIdx.x": 31}, 32, id="dotted-name"),
    pytest.param("-2147483648", {}, LOW, id="lowest"),
    pytest.param("65535 * 65537", {}, HIGH, id="highest"),
    pytest.param("((tid >> 1) & 7) << 4", {"tid": 63}, 112, id="swizzled-column"),
]


@pytest.mark.parametrize(("text", "env", "value"), VALUES)
def test_value(text: str, env: Mapping[str, int], value: int) -> None:
    assert evaluate(parse(text), env) == value
    assert evaluate(parse(text).root, env) == value
    assert evaluate_many(parse(text), env) == value
    spread = {name: np.full((3, 2), number, dtype=np.int64) for name, number in env.items()}
    if spread:
        assert np.array_equal(evaluate_many(parse(text), spread), np.full((3, 2), value))


# text, env, code, span of the offending part, the message.
ERRORS: list[tuple[str, dict[str, int], str, tuple[int, int], str]] = [
    ("tidd / 8", {"tid": 1}, "SWZ301", (0, 4), "unknown name 'tidd'"),
    ("1 / 0 + q", {}, "SWZ301", (8, 9), "unknown name 'q'"),
    ("a + q + r", {"a": 1}, "SWZ301", (4, 5), "unknown name 'q'"),
    ("a / b", {"a": 1, "b": 0}, "SWZ305", (4, 5), "the divisor 'b' is 0"),
    ("a % (b - 3)", {"a": 1, "b": 3}, "SWZ305", (5, 10), "the divisor 'b - 3' is 0 when b = 3"),
    ("1 / 0", {}, "SWZ305", (4, 5), "the divisor '0' is 0"),
    ("a ? 1 : 8 % b", {"a": 1, "b": 0}, "SWZ305", (12, 13), "the divisor 'b' is 0"),
    ("b && 8 / b", {"b": 0}, "SWZ305", (9, 10), "the divisor 'b' is 0"),
    ("!b || 8 / b", {"b": 0}, "SWZ305", (10, 11), "the divisor 'b' is 0"),
    ("1 << s", {"s": 32}, "SWZ304", (5, 6), "the shift amount 's' is 32, outside 0..31"),
    ("1 >> s - 3", {"s": 2}, "SWZ304", (5, 10), "the shift amount 's - 3' is -1, outside 0..31 when s = 2"),
    ("a << 4 + 2048", {"a": 0}, "SWZ304", (5, 13), "the shift amount '4 + 2048' is 2052, outside 0..31"),
    ("s ? 1 << s : 0", {"s": -1}, "SWZ304", (9, 10), "the shift amount 's' is -1, outside 0..31"),
    ("0 * (65536 * 65536)", {}, "SWZ303", (5, 18), "'65536 * 65536' is 4294967296"),
    ("0 ? a*a : 0", {"a": 2**16}, "SWZ303", (4, 7), "'a*a' is 4294967296 when a = 65536"),
    ("a + 1", {"a": HIGH}, "SWZ303", (0, 5), "'a + 1' is 4294967296 when a = 4294967295"),
    ("1 - (a)", {"a": 2**31 + 2}, "SWZ303", (0, 7), "'1 - (a)' is -2147483649 when a = 2147483650"),
    ("-4294967295", {}, "SWZ303", (0, 11), "'-4294967295' is -4294967295"),
    ("0 & ~a", {"a": HIGH}, "SWZ303", (4, 6), "'~a' is -4294967296 when a = 4294967295"),
    ("-1 ^ a", {"a": HIGH}, "SWZ303", (0, 6), "'-1 ^ a' is -4294967296 when a = 4294967295"),
    ("3 << 31", {}, "SWZ303", (0, 7), "'3 << 31' is 6442450944"),
    ("a * b", {"a": HIGH, "b": HIGH}, "SWZ303", (0, 5), f"'a * b' is {HIGH**2} when a = {HIGH}, b = {HIGH}"),
    ("a % 8", {"a": 2**32}, "SWZ303", (0, 1), "'a' is 4294967296"),
    ("a % 8", {"a": -(2**80)}, "SWZ303", (0, 1), f"'a' is -{2**80}"),
]


def test_a_mapping_with_a_default_has_no_value_for_a_name_that_it_lacks() -> None:
    for run in (evaluate, evaluate_many):
        known = defaultdict(int, tid=3)
        with pytest.raises(SwzError, match="SWZ301: unknown name 'lane'"):
            run(parse("tid + lane"), known)
        assert dict(known) == {"tid": 3}


@pytest.mark.parametrize(("text", "env", "code", "span", "message"), ERRORS, ids=[row[0] for row in ERRORS])
def test_error(text: str, env: Mapping[str, int], code: str, span: tuple[int, int], message: str) -> None:
    for run in (evaluate, evaluate_many):
        with pytest.raises(SwzError) as caught:
            run(parse(text), env)
        error = caught.value
        assert (error.code, error.span, error.text, error.message) == (code, span, text, message)
        assert error.hint


def test_error_of_a_tree_without_text_quotes_the_tree() -> None:
    root = parse("8/(b-3)").root
    for run in (evaluate, evaluate_many):
        with pytest.raises(SwzError, match="the divisor 'b - 3' is 0 when b = 3") as caught:
            run(root, {"b": 3})
        assert (caught.value.text, caught.value.span) == (None, (3, 6))


@pytest.mark.parametrize(
    ("known", "hint"),
    [
        ({"tid": 1, "lane": 2}, "did you mean 'lane'?"),
        ({"k": 1, "BK": 2}, "known names: BK, k"),
        ({}, "known names: none"),
    ],
)
def test_unknown_name_is_told_the_nearest(known: Mapping[str, int], hint: str) -> None:
    with pytest.raises(SwzError) as caught:
        evaluate(parse("lan % 8"), known)
    assert hint in caught.value.hint


def test_numpy_integers_do_not_wrap() -> None:
    with pytest.raises(SwzError, match=f"is {(2**32 - 2) * HIGH} when"):
        evaluate(parse("a * 4294967295"), {"a": np.int64(2**32 - 2)})  # pyright: ignore[reportArgumentType]
    assert type(evaluate(parse("a"), {"a": np.int64(4)})) is int  # pyright: ignore[reportArgumentType]


def test_deepest_tree_has_a_value() -> None:
    text = "min(1, " * 100 + "0" + ")" * 100
    assert evaluate(parse(text), {}) == evaluate_many(parse(text), {}) == 0


# --- an oracle that shares nothing with the package: trees of tuples, each with a number of its own

Tree = tuple[int, str, tuple["Tree", ...]]
"""Number of the node, its operator (or literal, or name), its operands."""
SYMBOLS = "* / % + - << >> < <= > >= == != & ^ | && ||"
UNARY, BINARY = ["+", "-", "~", "!"], SYMBOLS.split()
BITS = 80  # wide enough for every value in range, and then some


class UndefinedError(Exception):
    """The code and the number of the offending node."""


def oracle(tree: Tree, env: Mapping[str, int]) -> int:
    """The value from the words of docs/semantics.md, by fractions and by lists of bits."""
    number, op, operands = tree
    values = [oracle(operand, env) for operand in operands]
    if not operands:
        value = env[op] if op in env else int(op)
    elif op in ("/", "%") and values[1] == 0:
        raise UndefinedError("SWZ305", operands[1][0])
    elif op in ("<<", ">>") and values[1] not in range(32):
        raise UndefinedError("SWZ304", operands[1][0])
    elif len(operands) == 1:
        (a,) = values
        value = {"+": a, "-": 0 - a, "~": -a - 1, "!": 0 if a else 1}[op]
    elif op in ("min", "max"):
        value = sorted(values)[0 if op == "min" else -1]
    elif op == "?":
        value = values[1] if values[0] != 0 else values[2]
    else:
        value = oracle_binary(op, values[0], values[1])
    if value < -(2**31) or value > 2**32 - 1:
        raise UndefinedError("SWZ303", number)
    return value


def oracle_binary(op: str, a: int, b: int) -> int:
    if op in ("&", "^", "|"):
        pairs = [(a // 2**i % 2, b // 2**i % 2) for i in range(BITS)]
        ones = {"&": (2,), "^": (1,), "|": (1, 2)}[op]
        bits = [1 if x + y in ones else 0 for x, y in pairs]
        return sum(bit * 2**i for i, bit in enumerate(bits)) - bits[-1] * 2**BITS
    if op in ("<", "<=", ">", ">=", "==", "!="):
        sign = (a > b) - (a < b)
        return int(sign in {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "==": (0,), "!=": (-1, 1)}[op])
    if op in ("&&", "||"):
        true = [x != 0 for x in (a, b)]
        return int(all(true) if op == "&&" else any(true))
    if op in ("<<", ">>"):
        return floor(Fraction(a) * Fraction(2) ** (b if op == "<<" else -b))
    if op == "/":
        return trunc(Fraction(a, b))
    if op == "%":
        return a - b * trunc(Fraction(a, b))
    return {"*": a * b, "+": a + b, "-": a - b}[op]


def node_of(tree: Tree) -> CExpr:
    """The package's node for a tree; the span carries the tree's number."""
    number, op, operands = tree
    span = (number, number)
    nodes = tuple(node_of(operand) for operand in operands)
    if not nodes:
        return Number(int(op), span) if op.isdigit() else Name(op, span)
    if len(nodes) == 1:
        return Unary(UnaryOp(op), nodes[0], span)
    if op == "?":
        return Conditional(nodes[0], nodes[1], nodes[2], span)
    if op in ("min", "max"):
        return Call("min" if op == "min" else "max", nodes, span)
    return Binary(BinaryOp(op), nodes[0], nodes[1], span)


def random_tree(source: random.Random, operators: int, names: tuple[str, ...], most_arguments: int = 3) -> Tree:
    """A tree with this many operators, the numbers in the order of creation."""
    counter = iter(range(10**6))

    def build(left: int) -> Tree:
        number = next(counter)
        if left == 0:
            small = str(source.choice([0, 1, 2, 3, 5, 8, 31, 32, 255, 2**16, 2**31, HIGH, source.randrange(64)]))
            return (number, source.choice(names) if source.random() < 0.6 else small, ())
        kind = source.choices(["unary", "binary", "?", "call"], [2, 9, 1, 1])[0]
        count = {"unary": 1, "binary": 2, "?": 3}.get(kind, source.randint(2, most_arguments))
        shares = [0] * count
        for _ in range(left - 1):
            shares[source.randrange(count)] += 1
        op = {"unary": source.choice(UNARY), "binary": source.choice(BINARY), "?": "?"}.get(
            kind, source.choice(["min", "max"])
        )
        return (number, op, tuple(build(share) for share in shares))

    return build(operators)


EDGES = [0, 1, 2, 3, 31, 32, 2**16, 2**31 - 1, 2**31, HIGH, -1, -2, -32, LOW]
SOURCES = st.integers(0, 2**64).map(random.Random)
NUMBERS = st.sampled_from(EDGES) | st.integers(-70, 70) | st.integers(LOW, HIGH)
ENVS = st.fixed_dictionaries({"a": NUMBERS, "b": NUMBERS, "c": NUMBERS})


def outcome(tree: Tree, env: Mapping[str, int]) -> int | tuple[str, int]:
    """The oracle's value, or its code and the offending node's number."""
    try:
        return oracle(tree, env)
    except UndefinedError as error:
        return error.args[0], error.args[1]


def package_outcome(run: object, node: CExpr, env: Mapping[str, int]) -> int | tuple[str, int]:
    """The same of the package."""
    assert callable(run)
    try:
        value = run(node, env)
    except SwzError as error:
        return error.code, error.span[0] if error.span is not None else -1
    assert isinstance(value, int)
    return value


@given(SOURCES, st.integers(0, 12), ENVS)
def test_evaluate_is_the_oracle(source: random.Random, operators: int, env: Mapping[str, int]) -> None:
    tree = random_tree(source, operators, ("a", "b", "c"))
    assert package_outcome(evaluate, node_of(tree), env) == outcome(tree, env)


@pytest.mark.parametrize("run", [evaluate, evaluate_many])
def test_every_operator_at_the_edges(run: object) -> None:
    for op, a, b in product(BINARY, EDGES, EDGES):
        tree: Tree = (0, op, ((1, "a", ()), (2, "b", ())))
        env = {"a": a, "b": b}
        assert package_outcome(run, node_of(tree), env) == outcome(tree, env), (op, env)
    for op, a in product(UNARY, EDGES):
        tree = (0, op, ((1, "a", ()),))
        assert package_outcome(run, node_of(tree), {"a": a}) == outcome(tree, {"a": a}), (op, a)


@given(SOURCES, st.integers(0, 10), ENVS)
def test_text_keeps_the_value(source: random.Random, operators: int, env: Mapping[str, int]) -> None:
    tree = random_tree(source, operators, ("a", "b", "c"))
    result = package_outcome(evaluate, parse(render(node_of(tree))).root, env)
    expected = outcome(tree, env)
    if isinstance(expected, int):
        assert result == expected
    else:
        assert isinstance(result, tuple)
        assert result[0] == expected[0]


# --- many points


def points(grid: Mapping[str, int | NDArray[np.int64]], shape: tuple[int, ...]) -> list[dict[str, int]]:
    """The environment at every point, in the order of the flattened result."""
    spread = {name: np.broadcast_to(np.asarray(value), shape) for name, value in grid.items()}
    return [{name: int(value[at]) for name, value in spread.items()} for at in np.ndindex(*shape)]


ROWS, COLUMNS = (st.lists(NUMBERS, min_size=size, max_size=size) for size in (3, 4))


@given(SOURCES, st.integers(0, 10), ROWS, COLUMNS, NUMBERS)
def test_many_is_each(source: random.Random, operators: int, rows: list[int], columns: list[int], single: int) -> None:
    root = node_of(random_tree(source, operators, ("a", "b", "c")))
    grid: dict[str, int | NDArray[np.int64]] = {
        "a": np.array(rows, dtype=np.int64)[:, None],
        "b": np.array(columns, dtype=np.int64),
        "c": single,
    }
    everywhere = (root, grid, points(grid, (3, 4)))
    singles = [package_outcome(evaluate, root, point) for point in everywhere[2]]
    undefined = [single for single in singles if isinstance(single, tuple)]
    if not undefined:
        many = np.broadcast_to(evaluate_many(root, grid), (3, 4))
        assert many.dtype == np.int64
        assert many.ravel().tolist() == singles
        return
    with pytest.raises(SwzError) as caught:
        evaluate_many(root, grid)
    assert caught.value.span is not None
    assert (caught.value.code, caught.value.span[0]) in undefined
    # The binding that the text names is one where the plain evaluation fails in the same words.
    messages: set[str] = set()
    for point, single_outcome in zip(everywhere[2], singles, strict=True):
        if isinstance(single_outcome, tuple):
            with pytest.raises(SwzError) as plain:
                evaluate(root, point)
            messages.add(str(plain.value))
    assert str(caught.value) in messages


def test_many_keeps_the_shape() -> None:
    rows, columns = np.arange(3, dtype=np.int64)[:, None], np.arange(4, dtype=np.int64)
    grid = evaluate_many(parse("r * 10 + c"), {"r": rows, "c": columns, "unused": np.arange(7)})
    assert isinstance(grid, np.ndarray)
    assert grid.tolist() == [[10 * r + c for c in range(4)] for r in range(3)]
    assert np.shape(evaluate_many(parse("r + 1"), {"r": rows})) == (3, 1)
    assert np.shape(evaluate_many(parse("r + 1"), {"r": np.array(4)})) == ()
    assert np.shape(evaluate_many(parse("r + 1"), {"r": np.array([4])})) == (1,)
    assert type(evaluate_many(parse("k + 1"), {"k": 3, "r": rows})) is int
    assert type(evaluate_many(parse("2 + 1"), {"r": rows})) is int


def test_many_of_no_points_is_empty() -> None:
    nothing = np.empty((0, 4), dtype=np.int64)
    for text in ("a", "a / 0", "1 << a", "min(a, 3) * a"):
        result = evaluate_many(parse(text), {"a": nothing})
        assert isinstance(result, np.ndarray)
        assert (result.shape, result.dtype) == ((0, 4), np.int64)
    with pytest.raises(SwzError, match="unknown name 'q'"):
        evaluate_many(parse("a + q"), {"a": nothing})


def test_many_names_an_offending_point() -> None:
    text = "64 / (row - col) + k"
    rows, columns = np.array([[5], [2]]), np.array([3, 7, 2])
    with pytest.raises(SwzError) as caught:
        evaluate_many(parse(text), {"row": rows, "col": columns, "k": 1})
    assert caught.value.message == "the divisor 'row - col' is 0 when col = 2, row = 2"
    assert (caught.value.code, caught.value.span) == ("SWZ305", (6, 15))


def test_many_never_hands_out_the_callers_array() -> None:
    given_array = np.arange(4, dtype=np.int64)
    for text in ("a", "+a", "(a)"):
        result = evaluate_many(parse(text), {"a": given_array})
        assert isinstance(result, np.ndarray)
        assert not np.shares_memory(result, given_array)
    evaluate_many(parse("-a * a % 3 + min(a, 2)"), {"a": given_array})
    assert given_array.tolist() == [0, 1, 2, 3]


def test_many_takes_arrays_that_int64_holds() -> None:
    narrow = np.array([2**31 - 1], dtype=np.int32)
    assert np.array_equal(evaluate_many(parse("a + 1"), {"a": narrow}), [2**31])  # pyright: ignore
    for wrong in (np.array([2**64 - 1], dtype=np.uint64), np.array([1.5])):
        with pytest.raises(TypeError):
            evaluate_many(parse("a + 1"), {"a": wrong})  # pyright: ignore


def test_a_million_points_take_well_under_a_second() -> None:
    text = "(~(a >> 3) & 7 ^ a / 8 % b) * 16 + min(a, b, k) + (a < b && b > 3 ? a / b : -a % k) | a % 8 << 1"
    ramp = np.arange(2**20, dtype=np.int64)
    started = time.process_time()
    result = evaluate_many(parse(text), {"a": ramp, "b": ramp % 97 + 1, "k": 5})
    assert time.process_time() - started < 3  # about 0.2 s; the rest is for slow machines
    assert isinstance(result, np.ndarray)
    for at in (0, 5, 96, 97, 1000, 2**20 - 1):
        assert result[at] == evaluate(parse(text), {"a": at, "b": at % 97 + 1, "k": 5})


# --- a C compiler's opinion

FIXED = {"a": 7, "b": -3, "c": 12, "d": 100000, "e": 0}


def flat_text(source: random.Random) -> str:
    """Operands and operators in a row: nothing but precedence says how they group."""
    words: list[str] = []
    for _ in range(source.randint(2, 7)):
        if source.random() < 0.3:
            words.append(source.choice(UNARY))
        words.append(source.choice([*FIXED, "1", "2", "3", "5"]))
        words.append(source.choice([*BINARY, "?"]))
        if words[-1] == "?":
            words += [source.choice([*FIXED, "4"]), ":"]
    return " ".join([*words, source.choice([*FIXED, "1", "2"])])


def defined_texts() -> dict[str, int]:
    """300 expressions that C defines too, and their values; on those made as trees the oracle
    agrees.
    """
    source = random.Random(20240229)
    texts: dict[str, int] = {}
    while len(texts) < 150:
        tree = random_tree(source, source.randint(2, 9), tuple(FIXED), most_arguments=4)
        expected = outcome(tree, FIXED)
        if isinstance(expected, int):
            text = render(node_of(tree))
            assert evaluate(parse(text), FIXED) == expected
            # A comparison is an `int` in C, so that `(a < c) << 31` would overflow there.
            if not re.search(r"\b31\b", text):
                texts[text] = expected
    while len(texts) < 300:
        text = flat_text(source)
        try:
            texts[text] = evaluate(parse(text), FIXED)
        except SwzError:
            continue
    return texts


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
def test_values_are_those_of_a_c_compiler(tmp_path: Path) -> None:
    texts = defined_texts()
    prelude = """
#include <stdio.h>
static long long pick(int most, int n, const long long *x) {
  long long r = x[0];
  for (int i = 1; i < n; ++i) if (most ? x[i] > r : x[i] < r) r = x[i];
  return r;
}
#define LIST(...) (int)(sizeof((long long[]){__VA_ARGS__}) / sizeof(long long)), (long long[]){__VA_ARGS__}
#define min(...) pick(0, LIST(__VA_ARGS__))
#define max(...) pick(1, LIST(__VA_ARGS__))
int main(void) {
"""
    variables = "".join(f"  long long {name} = {value};\n" for name, value in FIXED.items())
    # Every literal is 64 bits wide, so that C does not wrap; `!` and comparisons still give an int,
    # 0 or 1.
    wide = [re.sub(r"\b\d+\b", r"\g<0>LL", text) for text in texts]
    prints = "".join(f'  printf("%lld\\n", (long long)({text}));\n' for text in wide)
    program = tmp_path / "values.c"
    program.write_text(prelude + variables + prints + "}\n")
    binary = tmp_path / "values"
    subprocess.run(["gcc", "-std=c99", "-O0", "-w", "-fwrapv", "-o", binary, program], check=True, timeout=120)
    printed = subprocess.run([binary], check=True, timeout=60, capture_output=True, text=True).stdout
    compiled = [int(line) for line in printed.split()]
    assert dict(zip(texts, compiled, strict=True)) == texts
    # The literals with their suffixes mean the same here.
    assert [evaluate(parse(text), FIXED) for text in wide] == compiled
