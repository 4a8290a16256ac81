"""Generic addresses: which of them are shared ones, and where in shared memory they are.

Source: PTX ISA, Generic Addressing; Data Movement and Conversion Instructions: cvta.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from swzverify.compiled.kernel.arithmetic import add, sub, widened
from swzverify.compiled.kernel.graph import folded
from swzverify.compiled.kernel.leaves import LaneLeaf, TripsLeaf, UniformLeaf, are_all
from swzverify.compiled.kernel.linear import Sum, normal, sum_of
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.symbols import SHARED_WINDOW, WINDOW_ALIGN_BYTES
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    binary,
    const,
    ite,
    operands,
    substitute,
    variables,
)
from swzverify.ir.intervals import interval_of, intervals

MOST_CHOICES: Final = 8
"""Nested choices that are looked into for a shared address."""
_OF_LOW_BITS: Final = frozenset(
    {
        BinaryOperator.ADD,
        BinaryOperator.SUB,
        BinaryOperator.MUL,
        BinaryOperator.AND,
        BinaryOperator.OR,
        BinaryOperator.XOR,
    }
)
"""Operators whose low bits depend on the low bits of their operands alone."""

_ROUNDED: Final = frozenset(1 << bit for bit in range(9))
"""Powers of two of which allocations and windows of memory start at multiples."""


class InShared(NamedTuple):
    """A shared address of 32 bits, from a generic address.

    `holds` says where the generic address is a shared one. `whole` is the generic address minus the
    window's start, with all its bits. If `is_aligned`, all of this holds only where the window starts at a
    multiple of `WINDOW_ALIGN_BYTES`.
    """

    address: Expr
    holds: Expr
    whole: Expr
    is_aligned: bool = False


def in_shared(slices: Slices, generic: Expr) -> InShared | None:
    """The shared address of a generic one; None if it may belong to another space in unknown cases.

    An address that is the window's start plus a number was made of a shared address and stays in the
    window. One that starts with a pointer of the host is never in it: the host has no shared address.
    """
    return _in_window(slices, generic, slices.symbols.window("shared", generic.width), MOST_CHOICES)


def if_shared(slices: Slices, generic: Expr) -> InShared:
    """The shared address of a generic one of which it is not known whether it is shared, if it is."""
    whole = sub(generic, slices.symbols.window("shared", generic.width))
    return InShared(normal(widened(whole, 32)), TRUE, whole)


def in_aligned_shared(slices: Slices, generic: Expr) -> InShared | None:
    """As `in_shared`, and also if a program swizzles a generic address: it flips low bits of it by low bits.

    Where the window starts at a multiple of 2^k, the low k bits of a generic address are those of the shared
    one, and flipping them moves both alike.
    """
    found = in_shared(slices, generic)
    if found is not None:
        return found
    total = sum_of(generic)
    for term, count in total.terms.items():
        if count == 1 and isinstance(term, Binary) and term.operator is BinaryOperator.XOR:
            rest = total.plus(sum_of(term), -1).expression()
            for base, flips in ((term.left, term.right), (term.right, term.left)):
                inside, low = in_shared(slices, base), _of_low_bits(flips)
                if inside is not None and inside.holds is TRUE and low is not None:
                    whole = add(binary(BinaryOperator.XOR, inside.whole, low), rest)
                    return InShared(normal(widened(whole, 32)), TRUE, whole, is_aligned=True)
    return None


def _of_low_bits(value: Expr) -> Expr | None:
    """A value below the alignment of the window, as it is where the window starts at 0; None if it reads high bits."""
    windows: dict[Var, Expr] = {each: const(0, each.width) for each in variables(value) if each.name == SHARED_WINDOW}
    if folded(value, _read_by, _window_bits_read) is not _Read.LOW:
        return None
    found = substitute(value, windows)
    return found if interval_of(found, intervals(found))[1] < WINDOW_ALIGN_BYTES else None


class _Read(IntEnum):
    """Which bits of the window a value reads: none but the low ones, these for its own low bits alone, or any."""

    LOW = 0
    LOW_FOR_LOW = 1
    ANY = 2


def _read_by(node: Expr) -> tuple[Expr, ...]:
    masked = _masked(node)
    return operands(node) if masked is None else (masked,)


def _masked(node: Expr) -> Expr | None:
    """The value of which an expression reads some bits below the alignment of the window and no others."""
    match node:
        case Binary(BinaryOperator.AND, Binary(BinaryOperator.LSHR, value, Const(count)), Const(mask)):
            return value if count < value.width and mask << count < WINDOW_ALIGN_BYTES else None
        case Binary(BinaryOperator.AND, value, Const(mask)):
            return value if mask < WINDOW_ALIGN_BYTES else None
        case _:
            return None


def _window_bits_read(node: Expr, parts: list[_Read]) -> _Read:
    most = max(parts, default=_Read.LOW)
    match node:
        case Var(name):
            return _Read.LOW_FOR_LOW if name == SHARED_WINDOW else _Read.LOW
        case _ if _masked(node) is not None:
            return _Read.LOW if most is _Read.LOW_FOR_LOW else most
        case Binary(operator) if operator in _OF_LOW_BITS:
            return most
        case Binary(BinaryOperator.SHL, _, Const()) | Extract(_, 0) | Extend(_, _, False):
            return most
        case _:
            return _Read.LOW if most is _Read.LOW else _Read.ANY


def _in_window(slices: Slices, generic: Expr, window: Expr, left: int) -> InShared | None:
    found = sum_of(generic)
    if found.terms.get(window) == 1:
        whole = found.plus(sum_of(window), -1).expression()
        return InShared(normal(widened(whole, 32)), TRUE, whole)
    # A choice first: a number from the host beside it does not say which pointer is chosen.
    for term, count in found.terms.items():
        if isinstance(term, Ite) and count == 1 and left:
            rest = found.plus(sum_of(term), -1).expression()
            then = _in_window(slices, add(term.then, rest), window, left - 1)
            otherwise = None if then is None else _in_window(slices, add(term.otherwise, rest), window, left - 1)
            if then is not None and otherwise is not None:
                return _one_of(term.condition, then, otherwise)
            return None
    if _is_outside(slices, found, window):
        return InShared(const(0, 32), FALSE, const(0, generic.width))
    return None


def _one_of(condition: Expr, then: InShared, otherwise: InShared) -> InShared:
    holds = ite(condition, then.holds, otherwise.holds)
    if FALSE in (then.holds, otherwise.holds):
        return (otherwise if then.holds is FALSE else then)._replace(holds=holds)
    whole = ite(condition, then.whole, otherwise.whole)
    return InShared(ite(condition, then.address, otherwise.address), holds, whole)


def _is_outside(slices: Slices, place: Sum, window: Expr) -> bool:
    """Whether a generic address begins with the host's pointer, and no part may be a shared address."""
    place = _without_rounding(place)
    # A number beside a shared address may come from the host, too.
    read = {each for term in place.terms for each in variables(term)}
    is_known = are_all((slices.leaves[each] for each in read), (UniformLeaf, LaneLeaf, TripsLeaf))
    if not is_known or not read.isdisjoint(variables(window)):
        return False
    begins = [term for term, count in place.terms.items() if count == 1 and isinstance(term, Var)]
    return any(each.limit == 1 << 64 and slices.symbols.is_parameter(each) for each in begins)


def _without_rounding(place: Sum) -> Sum:
    """A sum with terms that are not rounded down to a multiple of a small power of two.

    Windows of memory start at multiples of it, so rounding leads from none of them into another one.
    """
    for term, count in place.terms.items():
        if count == 1 and isinstance(term, Binary) and term.operator is BinaryOperator.AND:
            for value, mask in ((term.left, term.right), (term.right, term.left)):
                if isinstance(mask, Const) and -mask.value % (1 << term.width) in _ROUNDED:
                    return _without_rounding(place.plus(sum_of(term), -1).plus(sum_of(value)))
    return place
