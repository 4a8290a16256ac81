"""C expressions lowered to bit-vectors: their values, their errors, and what enumeration decides."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_eval_many import evaluate_many
from swzverify.ir.c_lower import lower
from swzverify.ir.c_parse import parse
from swzverify.ir.evaluate import evaluate as evaluate_bits
from swzverify.ir.formula import Enumeration, Reading, no_enumeration
from tests.ir.reference import grid, points

LIMITS = {"tid": 24, "k": 3, "one": 1}
BINARY = [
    "*",
    "*",
    "/",
    "%",
    "+",
    "+",
    "-",
    "-",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&",
    "^",
    "|",
    "&&",
    "||",
]


def enumeration(limits: Mapping[str, int]) -> Enumeration:
    """Every joint value of the names asked for."""

    def every(names: frozenset[str]) -> Mapping[str, NDArray[np.int64]]:
        return grid({name: limit for name, limit in limits.items() if name in names})

    return every


def reading(limits: Mapping[str, int], enumerate_names: Enumeration = no_enumeration) -> Reading:
    return Reading({name: ints.named(name, limit) for name, limit in limits.items()}, enumerate_names)


def value_at(value: ints.Integer, point: Mapping[str, int]) -> int:
    bits = evaluate_bits(value.bits, point)
    width = value.bits.width
    return bits - 2**width if value.low < 0 and bits >= 2 ** (width - 1) else bits


def random_text(source: random.Random, size: int) -> str:
    if size <= 0:
        return source.choice([*LIMITS, "tid", "k", str(source.choice([0, 1, 2, 3, 5, 7, 8, 16, 31, 100, 65536]))])
    first = source.randint(0, size - 1)
    a, b = random_text(source, first), random_text(source, size - 1 - first)
    kind = source.random()
    if kind < 0.12:
        return f"{source.choice('+-~!')}({a})"
    if kind < 0.2:
        return f"{source.choice(['min', 'max'])}({a}, {b})"
    if kind < 0.26:
        return f"(({a}) ? ({b}) : {random_text(source, 0)})"
    operator = source.choice(BINARY)
    if operator in ("/", "%", "<<", ">>") and source.random() < 0.7:
        b = source.choice(["1", "2", "3", "4", "(k + 1)", "k", "-3", "(k - 4)"])
    return f"(({a}) {operator} ({b}))"


@pytest.mark.parametrize("with_enumeration", [True, False], ids=["enumerated", "intervals-only"])
def test_lowered_value_is_the_expressions(with_enumeration: bool) -> None:
    source = random.Random(17)
    lowered = refused = 0
    for _ in range(700):
        text = random_text(source, source.randint(0, 8))
        how = reading(LIMITS, enumeration(LIMITS) if with_enumeration else no_enumeration)
        error: SwzError | None = None
        try:
            value = lower(parse(text), how)
        except SwzError as caught:
            error = caught
        if error is not None:
            refused += 1
            assert error.code in ("SWZ303", "SWZ304", "SWZ305")
            assert error.text == text
            assert error.span is not None
            assert 0 <= error.span[0] < error.span[1] <= len(text)
            if with_enumeration:
                check_refusal(text, error)
            continue
        lowered += 1
        for point in source.sample(points(LIMITS), 8):
            exact = evaluate(parse(text), point)
            assert value.low <= exact <= value.high
            assert value_at(value, point) == exact, (text, point)
        # What was lowered is defined at every point.
        evaluate_many(parse(text), grid(LIMITS))
    assert lowered > 250
    assert refused > 60


def check_refusal(text: str, error: SwzError) -> None:
    """With every value at hand, what is refused is undefined at some point, or a divisor of both
    signs.
    """
    try:
        evaluate_many(parse(text), grid(LIMITS))
    except SwzError:
        return
    assert error.code == "SWZ305"
    assert error.span is not None
    divisor = np.asarray(evaluate_many(parse(text[slice(*error.span)]), grid(LIMITS)))
    assert divisor.min() < 0 < divisor.max()


TID = {"tid": 128, "k": 4}
# text, code, the offending part, words of the message, words of the hint
ERRORS = [
    ("tidd / 8", "SWZ301", "tidd", "unknown name 'tidd'", "tid"),
    ("tid + zzz", "SWZ301", "zzz", "unknown name 'zzz'", "known names: k, tid"),
    ("tid * 65536 * 65536", "SWZ303", "tid * 65536 * 65536", "to 545460846592, outside", "bound its variables"),
    ("k + (-2147483647 - tid)", "SWZ303", "-2147483647 - tid", "from -2147483774 to -2147483647", "bound"),
    ("tid << 4 + 2048", "SWZ304", "4 + 2048", "'4 + 2048' can go from 2052 to 2052", "parentheses around the shift"),
    ("tid >> k - 1", "SWZ304", "k - 1", "from -1 to 2: it must lie in 0..31", "did you mean parentheses"),
    ("1 << tid", "SWZ304", "tid", "can go from 0 to 127", "32 or more"),
    ("tid / k", "SWZ305", "k", "the divisor 'k' cannot be shown to differ from 0", "before `if`"),
    ("8 + tid % (k - 2) * 3", "SWZ305", "k - 2", "the divisor 'k - 2'", "every value"),
]


@pytest.mark.parametrize(("text", "code", "part", "message", "hint"), ERRORS, ids=[row[0] for row in ERRORS])
def test_error(text: str, code: str, part: str, message: str, hint: str) -> None:
    with pytest.raises(SwzError) as caught:
        lower(parse(text), reading(TID))
    error = caught.value
    assert error.span is not None
    assert (error.code, error.text, text[slice(*error.span)]) == (code, text, part)
    assert message in error.message
    assert hint in error.hint


def test_shift_of_a_sum_tells_the_precedence_trap() -> None:
    for enumerate_names in (no_enumeration, enumeration({"a": 8})):
        with pytest.raises(SwzError, match="the shift amount '4 \\+ 2048'") as caught:
            lower(parse("a << 4 + 2048"), reading({"a": 8}, enumerate_names))
        assert (caught.value.code, caught.value.span) == ("SWZ304", (5, 13))
        assert "did you mean parentheses around the shift?" in caught.value.hint


# Too coarse for intervals, decided by every value.
REFINED = [
    pytest.param("64 / (tid % 4 + 2 - tid % 4)", id="divisor-that-cancels"),
    pytest.param("1 << (tid - tid / 32 * 32)", id="amount-that-stays-low"),
    pytest.param("tid >> (k - k)", id="amount-that-is-always-0"),
    pytest.param("100 % (k * k - 4 * k - 1)", id="divisor-below-0"),
    pytest.param("(tid - tid) * 65536 * 65536 + tid", id="product-that-stays-in-range"),
    pytest.param("65536 * 65536 * (k / 4) * 0 + tid", id="product-out-of-range-by-constants"),
]


@pytest.mark.parametrize("text", REFINED)
def test_enumeration_decides(text: str) -> None:
    with pytest.raises(SwzError):
        lower(parse(text), reading(TID))
    how = reading(TID, enumeration(TID))
    if "65536 * 65536 * (" in text:
        with pytest.raises(SwzError, match="4294967296"):
            lower(parse(text), how)
        return
    value = lower(parse(text), how)
    for point in points(TID):
        assert value_at(value, point) == evaluate(parse(text), point)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("tid / k", "SWZ305", "the divisor 'k' can be 0"),
        ("1 << tid % 33", "SWZ304", "the shift amount 'tid % 33' goes from 0 to 32"),
        ("tid * tid * 1000000", "SWZ303", "can go from 0 to 16129000000"),
        ("(tid - k * 2) * 2147483647", "SWZ303", "can go from -12884901882 to 272730423169"),
    ],
)
def test_enumeration_tells_the_exact_reach(text: str, code: str, message: str) -> None:
    with pytest.raises(SwzError, match=code) as caught:
        lower(parse(text), reading(TID, enumeration(TID)))
    assert message in caught.value.message


def test_values_that_leave_the_range_are_noted() -> None:
    leaving: list[ints.Integer] = []
    value = lower(parse("tid * 65536 * 65536 * 65536"), Reading({"tid": ints.named("tid", 128)}, leaving=leaving))
    assert (value.low, value.high) == (0, 127 * 2**48)
    assert value_at(value, {"tid": 3}) == 3 * 2**48
    # The product by 2^16 stays; those by 2^32 and 2^48 leave.
    assert [noted.high for noted in leaving] == [127 * 2**32, 127 * 2**48]
