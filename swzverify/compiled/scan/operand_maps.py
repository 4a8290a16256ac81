"""Affine maps from elements of an operand to global memory, and where along K one of them starts.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from typing import Final, TypeAlias, TypeVar, TypeVarTuple, cast

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.scan.fill_copies import dimension_of
from swzverify.compiled.scan.products import Product
from swzverify.ir.expr import Expr, to_signed

_WORD_BITS: Final = 32
_LEAST_ROWS: Final = 8
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
OTHER_ROWS: Final = "its rows come in another order"
OTHER_COLUMNS: Final = "its columns of K come in another order, alike in all rows"
"""Two orders of elements that may be meant."""
MEANT: Final = ", which may be meant: "
Address: TypeAlias = dict[Product, int]
"""An address in global memory: for each product of values that all threads share, a number that is not 0."""


@dataclass(frozen=True, slots=True)
class ElementMap:
    """Element (r, k) of an operand comes from `first` + r * `row` + `order[k]` * `column`; `order` begins with 0."""

    first: Address
    row: Address
    column: Address
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """An element that comes from another place than an affine map has it, which a corner of three elements says.

    Attributes:
        element: The element.
        corner: The first of the three elements.
        found: Where it comes from.
        expected: Where the map has it.
        may_be_meant: What breaks the map, if that may be meant, such as another order of rows; else empty.
    """

    element: tuple[int, int]
    corner: tuple[int, int]
    found: Address
    expected: Address
    may_be_meant: str


def element_map(
    numbers: Mapping[Product, NDArray[np.uint64]], present: NDArray[np.bool_], *, has_orders: bool = False
) -> ElementMap | Break | None:
    """The affine map of the elements that are present, from the addresses of all; or the first one that breaks it.

    None if the elements do not say which map that is. If it `has_orders`, elements along K may come in any order,
    the same one in all rows.
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
        may_be_meant = OTHER_ROWS if _are_rows(numbers, present) else ""
        found = ordered(numbers) if present.all() else ""
        if has_orders and present.all():
            if not isinstance(found, str):
                return found
            may_be_meant = found
        if not isinstance(found, str):
            may_be_meant = OTHER_COLUMNS
        if not may_be_meant and _are_matrices(numbers, present):
            may_be_meant = "its rows come from several matrices"
        place = tuple(map(int, np.argwhere(is_bad)[0]))
        return Break((place[0], place[1]), (r, k), _at(numbers, *place), _at(expected, *place), may_be_meant)
    first_of = _at(expected, 0, 0)
    row, column = (difference(_at(expected, *of), first_of) for of in ((1, 0), (0, 1)))
    return ElementMap(first_of, row, column, tuple(range(present.shape[1])))


def ordered(numbers: Mapping[Product, NDArray[np.uint64]]) -> ElementMap | str:
    """The map of elements of which those along K come in another order, the same one in all rows.

    If there is none, what else breaks an affine map that may be meant; empty if nothing does.
    """
    if any(bool((own != own[:, :1] + own[:1, :] - own[0, 0]).any()) for own in numbers.values()):
        return ""
    begin = _at(numbers, 0, 0)
    shape = next(iter(numbers.values())).shape
    rows = [difference(_at(numbers, r, 0), begin) for r in range(shape[0])]
    columns = [difference(_at(numbers, 0, k), begin) for k in range(shape[1])]
    along = {each for column in columns for each in column}
    step = {each: gcd(*(column.get(each, 0) for column in columns)) for each in along}
    is_affine = _are_multiples(rows)
    if len(step) == 1 and len({tuple(each.items()) for each in columns}) == len(columns):
        ((one, unit),) = step.items()
        if is_affine:
            return ElementMap(begin, rows[1], step, tuple(each.get(one, 0) // unit for each in columns))
        # Rows that follow each other and begin at different columns of K are no other order of rows.
        across = [{each: number for each, number in row.items() if each != one} for row in rows]
        is_shifted = across[1] and _are_multiples(across)
        return "" if is_shifted else OTHER_ROWS
    # A convolution moves by less than the rows of an operand for the next columns.
    moves = {one: [number * by for by in range(-shape[0] + 1, shape[0])] for one, number in rows[1].items()}
    is_moved = all(column.get(one, 0) in near for one, near in moves.items() for column in columns)
    if is_affine and moves and is_moved and len(along - set(moves)) <= 1:
        return "its columns go on along its rows"
    return ""


def _are_multiples(rows: Sequence[Address]) -> bool:
    """Whether each of some distances is the second one, times its number."""
    return all(each == {one: number * r for one, number in rows[1].items() if r} for r, each in enumerate(rows))


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


def _are_matrices(numbers: Mapping[Product, NDArray[np.uint64]], present: NDArray[np.bool_]) -> bool:
    """Whether rows come from several matrices, each of which has a pointer of its own, and one affine map.

    As in tiles that hold parts of two matrices, of 8 rows or a multiple of that.
    """
    pointers = [own for product, own in numbers.items() if _is_pointer(product) and not dimension_of(product[0])]
    pointers = [own for own in pointers if bool((own <= 1).all() and (own == own[:, :1]).all())]
    if not pointers or not present.all():
        return False
    held = np.stack([own[:, 0] for own in pointers], axis=1)
    begins = [0, *(1 + np.flatnonzero((held[1:] != held[:-1]).any(axis=1))).tolist(), len(held)]
    if len(begins) < 3 or len({tuple(held[at].tolist()) for at in begins[:-1]}) < len(begins) - 1:
        return False
    return all(
        (end - begin) % _LEAST_ROWS == 0 and all(_is_affine(own[begin:end]) for own in numbers.values())
        for begin, end in pairwise(begins)
    )


def _is_affine(own: NDArray[np.uint64]) -> bool:
    rows, columns = (np.arange(count, dtype=np.uint64) for count in own.shape)
    expected = own[:1, :1] + rows[:, None] * (own[1:2, :1] - own[:1, :1]) + columns * (own[:1, 1:2] - own[:1, :1])
    return bool((own == expected).all())


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


class Once:
    """Calls functions of objects that stay alive, each once for the same objects."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], tuple[object, tuple[object, ...]]] = {}

    def __call__(self, function: Callable[[*Ts], T], *of: *Ts) -> T:
        """The result of a function."""
        key = function, *map(id, of)
        if key not in self._known:
            self._known[key] = function(*of), of
        return cast("T", self._known[key][0])


def parts_between(one: ElementMap, other: ElementMap) -> tuple[Address, Address] | None:
    """How far a map starts behind another one, as `parts_of` has it."""
    return parts_of(difference(one.first, other.first), other)


def goes_along_rows(rest: Address, steps: ElementMap) -> bool:
    """Whether what `parts_of` leaves of a distance goes along the rows, and not along other dimensions of a tensor."""
    return any(_in_dimensions(product, steps) is None for product in rest)


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
