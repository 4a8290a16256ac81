"""What each operator of a certificate means, on plain unsigned integers.

Written from SMT-LIB's definitions, not from `ir`: a recheck shares no arithmetic with the prover.

Source: SMT-LIB 2.6, theory FixedSizeBitVectors and logic QF_BV.
"""

from __future__ import annotations

BINARY = frozenset(
    {
        *("bvadd", "bvsub", "bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem"),
        *("bvshl", "bvlshr", "bvashr", "bvand", "bvor", "bvxor"),
    }
)
"""Two operands and a result of one width."""

COMPARISONS = frozenset({"=", "bvult", "bvule", "bvslt", "bvsle"})
"""Two operands of one width, a result of one bit."""


def signed(value: int, width: int) -> int:
    """The two's complement reading of 0 <= value < 2^width.

    >>> signed(7, 3), signed(3, 3)
    (-1, 3)
    """
    return value - (value >> (width - 1) << width)


def binary(operator: str, width: int, a: int, b: int) -> int:
    """One of `BINARY` on two values of `width` bits.

    >>> binary("bvudiv", 4, 9, 0), binary("bvsrem", 4, 9, 2), binary("bvshl", 4, 9, 4)
    (15, 15, 0)
    """
    top = 1 << width
    if operator == "bvadd":
        return (a + b) % top
    if operator == "bvsub":
        return (a - b) % top
    if operator == "bvmul":
        return a * b % top
    if operator == "bvand":
        return a & b
    if operator == "bvor":
        return a | b
    if operator == "bvxor":
        return a ^ b
    if operator == "bvudiv":
        return a // b if b else top - 1
    if operator == "bvurem":
        return a % b if b else a
    if operator in ("bvsdiv", "bvsrem"):
        return _signed_division(operator, width, a, b)
    if operator == "bvshl":
        return (a << b) % top if b < width else 0
    if operator == "bvlshr":
        return a >> b if b < width else 0
    if operator == "bvashr":
        return (signed(a, width) >> min(b, width)) % top
    raise ValueError(f"no operator {operator}")


def _signed_division(operator: str, width: int, a: int, b: int) -> int:
    """By SMT-LIB's own reduction: divide the magnitudes, then put the sign back."""
    top = 1 << width
    minus_a, minus_b = a >> (width - 1), b >> (width - 1)
    magnitudes = ((top - a) % top if minus_a else a, (top - b) % top if minus_b else b)
    result = binary("bvudiv" if operator == "bvsdiv" else "bvurem", width, *magnitudes)
    negative = minus_a != minus_b if operator == "bvsdiv" else minus_a
    return (top - result) % top if negative else result


def comparison(operator: str, width: int, a: int, b: int) -> int:
    """One of `COMPARISONS` on two values of `width` bits; 1 or 0.

    >>> comparison("bvult", 4, 9, 2), comparison("bvslt", 4, 9, 2)
    (0, 1)
    """
    if operator == "=":
        return int(a == b)
    if operator == "bvult":
        return int(a < b)
    if operator == "bvule":
        return int(a <= b)
    if operator == "bvslt":
        return int(signed(a, width) < signed(b, width))
    if operator == "bvsle":
        return int(signed(a, width) <= signed(b, width))
    raise ValueError(f"no comparison {operator}")
