"""Affine maps from elements of an operand to global memory, and where along K one of them starts.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.scan.fill_copies import dimension_of
from swzverify.compiled.scan.products import Product
from swzverify.ir.expr import Expr, to_signed

_WORD_BITS: Final = 32
Address: TypeAlias = dict[Product, int]
"""An address in global memory: for each product of values that all threads share, a number that is not 0."""


@dataclass(frozen=True, slots=True)
class ElementMap:
    """Element (r, k) of an operand comes from `first` + r * `row` + k * `column`."""

    first: Address
    row: Address
    column: Address


@dataclass(frozen=True, slots=True)
class Break:
    """An element that comes from another place than an affine map has it, which a corner of three elements says.

    Attributes:
        element: The element.
        corner: The first of the three elements.
        found: Where it comes from.
        expected: Where the map has it.
        is_of_rows: Whether only the order of rows breaks the map, in a way that may be meant.
    """

    element: tuple[int, int]
    corner: tuple[int, int]
    found: Address
    expected: Address
    is_of_rows: bool


def element_map(numbers: Mapping[Product, NDArray[np.uint64]], present: NDArray[np.bool_]) -> ElementMap | Break | None:
    """The affine map of the elements that are present, from the addresses of all; or the first one that breaks it.

    None if the elements do not say which map that is.
    """
    corner = present[:-1, :-1] & present[1:, :-1] & present[:-1, 1:]
    if not corner.any():
        return None
    r, k = map(int, np.argwhere(corner)[0])
    rows = np.arange(present.shape[0], dtype=np.uint64)[:, None] - np.uint64(r)
    columns = np.arange(present.shape[1], dtype=np.uint64)[None, :] - np.uint64(k)
    expected: dict[Product, NDArray[np.uint64]] = {}
    is_bad = np.zeros(present.shape, dtype=np.bool_)
    for product, own in numbers.items():
        first = own[r : r + 1, k : k + 1]
        row, column = own[r + 1 : r + 2, k : k + 1] - first, own[r : r + 1, k + 1 : k + 2] - first
        expected[product] = first + rows * row + columns * column
        is_bad |= own != expected[product]
    is_bad &= present
    if is_bad.any():
        place = tuple(map(int, np.argwhere(is_bad)[0]))
        return Break(
            (place[0], place[1]), (r, k), _at(numbers, *place), _at(expected, *place), _are_rows(numbers, present)
        )
    first_of = _at(expected, 0, 0)
    return ElementMap(first_of, difference(_at(expected, 1, 0), first_of), difference(_at(expected, 0, 1), first_of))


def _are_rows(numbers: Mapping[Product, NDArray[np.uint64]], present: NDArray[np.bool_]) -> bool:
    """Whether only the order of rows breaks the map, in a way that may be meant.

    Each row is affine with one step along K; where it begins has a summand for each bit of its number; no other row
    begins there, and none where it ends.
    """
    count, columns = present.shape[0], np.arange(present.shape[1], dtype=np.uint64)
    rows = np.arange(count, dtype=np.uint64)
    begins, ends = list[NDArray[np.uint64]](), list[NDArray[np.uint64]]()
    for own in numbers.values():
        step, first = own[:1, 1:2] - own[:1, :1], own[:, 0]
        expected = first[0] + np.zeros(count, dtype=np.uint64)
        for at in range((count - 1).bit_length()):
            expected = expected + (rows >> np.uint64(at) & np.uint64(1)) * (first[1 << at : (1 << at) + 1] - first[:1])
        if bool((own != own[:, :1] + columns * step).any() or (first != expected).any()):
            return False
        begins.append(first)
        ends.append(first + (step * np.uint64(len(columns)))[0])
    places = {tuple(each) for each in np.stack(begins, axis=1).tolist()}
    return (
        bool(present.all()) and len(places) == count and places.isdisjoint(map(tuple, np.stack(ends, axis=1).tolist()))
    )


def difference(left: Address, right: Address) -> Address:
    """How far an address is behind another one."""
    found = {each: _signed(left.get(each, 0) - right.get(each, 0)) for each in {**left, **right}}
    return {each: number for each, number in found.items() if number}


def parts_of(distance: Address, steps: ElementMap) -> tuple[Address, Address] | None:
    """A distance in global memory as steps along K, and what is left: whole steps along the rows.

    Steps along other dimensions of a tensor count as both: A and B make them alike, but they may be rows of one. None
    if it is not the sum of such steps, or not of these in one way only.
    """
    if len(steps.column) != 1 or len(steps.row) > 1:
        return None
    ((along, step),) = steps.column.items()
    across, pitch = next(iter(steps.row.items()), (None, 0))
    of_k: Address = {}
    rest: Address = {}
    for product, number in distance.items():
        if (others := _in_dimensions(product, steps)) is not None:
            of_k[others] = rest[product] = number
            continue
        inner = _without(product, along)
        other = None if across is None else _without(product, across)
        if inner is not None and other is not None and len(inner) == len(other):
            # Both strides are numbers, or have one factor: less than a row is along K.
            if inner or abs(number) >= abs(pitch) or number % step:
                return None
            of_k[inner] = number // step
        elif other is not None and (inner is None or len(other) < len(inner)):
            if number % pitch:
                return None
            rest[product] = number
        elif inner is not None and number % step == 0:
            of_k[inner] = number // step
        else:
            return None
    return of_k, rest


def leaves_dimensions(steps: ElementMap) -> bool:
    """Whether an operand has a place along dimensions of a tensor that are neither its rows nor its columns."""
    return any(_in_dimensions(product, steps) is not None for product in steps.first)


def _in_dimensions(product: Product, steps: ElementMap) -> Product | None:
    """A product with dimensions in the place of strides that are none of the steps; None if it has no such stride."""
    own = {factor for step in (steps.row, steps.column) for each in step for factor in each}
    found = [(factor, dimension_of(factor)) for factor in product]
    if all(dimension is None or factor in own for factor, dimension in found):
        return None
    return tuple(factor if dimension is None else dimension for factor, dimension in found)


def pointers_of(address: Address, steps: ElementMap) -> frozenset[Product]:
    """The pointers from which an address counts, of an operand with such steps: strides are none."""
    own = {factor for step in (steps.row, steps.column) for each in step for factor in each}
    found = filter(_is_pointer, address)
    return frozenset(each for each in found if each[0] not in own and dimension_of(each[0]) is None)


def _is_pointer(product: Product) -> bool:
    return len(product) == 1 and product[0].width > _WORD_BITS


def spelled(address: Address, names: Mapping[str, str]) -> str:
    """An address in words."""
    words: list[str] = []
    for product, number in sorted(address.items(), key=_place):
        factors = [_name(each, names) for each in product]
        bare = "*".join(factors + ([str(abs(number))] if abs(number) != 1 or not factors else []))
        words.append(("- " if number < 0 else "+ ") + bare)
    whole = " ".join(words).removeprefix("+ ")
    return whole or "0"


def _place(term: tuple[Product, int]) -> tuple[bool, bool, int]:
    """Pointers first, numbers last."""
    product, _ = term
    return not _is_pointer(product), not product, -len(product)


def _name(factor: Expr, names: Mapping[str, str]) -> str:
    name = getattr(factor, "name", None)
    return names.get(name, name) if name is not None else "(...)"


def _without(product: Product, factors: Product) -> Product | None:
    """A product without some of its factors; None if it does not have them."""
    left = list(product)
    for each in factors:
        if each not in left:
            return None
        left.remove(each)
    return tuple(left)


def _at(numbers: Mapping[Product, NDArray[np.uint64]], row: int, column: int) -> Address:
    found = {each: _signed(int(of[row, column])) for each, of in numbers.items()}
    return {each: number for each, number in found.items() if number}


def _signed(number: int) -> int:
    return to_signed(number % (1 << 64), 64)
