"""When two threads write one value to each byte that both touch.

Values are equal as expressions, or because one instruction made them of equal values, whatever it does.

Source: docs/semantics.md, section 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import either, sub
from swzverify.compiled.kernel.leaves import Made, OpaqueLeaf
from swzverify.compiled.order.instance import Instances, Place
from swzverify.ir.expr import FALSE, Comparison, Expr, compare, conjunction, const, extract, variables

_MOST_DEEP: Final = 4
"""Instructions of which one makes what the next one reads."""
Words: TypeAlias = Sequence[Expr]


def write_one_value(
    instances: Instances,
    words: tuple[Words, Words],
    places: tuple[Place, Place],
    distance: Expr | None,
    are_of_one_warp: Expr | None,
) -> Expr | None:
    """That two threads write one value to each byte that both touch; None if it is not known what they write.

    Args:
        instances: The values of both threads.
        words: The words that each of them writes.
        places: Where they write them.
        distance: How far the second start is behind the first one; None if that is not known.
        are_of_one_warp: That both are lanes of one warp, if one instruction writes both in one trip.
    """
    one, two = words
    if not one or not two or distance is None:
        return None
    if one == two:
        same = conjunction(_is_one(instances, each, places) for each in one)
        if are_of_one_warp is not None and all(instances.is_one_in_warp(each, places[0]) for each in one):
            same = either(same, are_of_one_warp)
        return same
    first, second = ([instances.value(each, who, places[who]) for each in own] for who, own in enumerate(words))
    return equal_where_both(first, second, distance)


def equal_where_both(one: Words, two: Words, distance: Expr) -> Expr:
    """That two rows of words have one value where they overlap.

    The shorter row begins at a multiple of its bytes behind the start of the longer one: PTX aligns both.

    >>> equal_where_both([const(0x0102, 16)], [const(0x01, 8)], const(1, 32)).value
    1
    >>> equal_where_both([const(0x0102, 16)], [const(0x01, 8)], const(0, 32)).value
    0
    """
    unit = min(one[0].width, two[0].width)
    long, short = ([extract(each, at, unit) for each in row for at in range(0, each.width, unit)] for row in (one, two))
    if len(long) < len(short):
        long, short, distance = short, long, sub(const(0, distance.width), distance)
    found: Expr = FALSE
    for at in range(0, len(long), len(short)):
        equal = [compare(Comparison.EQ, *each) for each in zip(long[at:], short, strict=False)]
        is_here = compare(Comparison.EQ, distance, const(at * unit // 8, distance.width))
        found = either(found, conjunction((is_here, *equal)))
    return found


def _is_one(instances: Instances, word: Expr, places: tuple[Place, Place]) -> Expr:
    """That a word has one value in both threads."""
    one, two = (instances.value(word, who, place) for who, place in enumerate(places))
    equal, alike = compare(Comparison.EQ, one, two), made_alike(instances, word, places)
    return equal if alike is None else either(equal, alike)


def made_alike(instances: Instances, value: Expr, places: tuple[Place, Place], deep: int = _MOST_DEEP) -> Expr | None:
    """When a value of two threads is one, as far as instructions that are not followed depend on operands alone.

    None if nothing is known of it: no such instruction is read, or one is in a loop that the access is not in.
    """
    kernel = instances.kernel
    read = [kernel.leaves[each] for each in variables(value)]
    made = [each for each in read if isinstance(each, OpaqueLeaf) and is_of_operands(each)]
    known = [{header for header, _ in place} for place in places]
    blocks = [each.block for each in made if each.block is not None]
    headers = {loop.header for block in blocks for loop in kernel.flow.around(block)}
    if not made or not deep or any(each.block is None for each in made):
        return None
    if not all(headers <= each for each in known):
        return None
    found: dict[Expr, Expr] = {}
    for each in (
        *(leaf.variable for leaf in read if leaf not in made),
        *(feed for leaf in made for feed in leaf.feeds),
    ):
        if each not in found:
            one, two = (instances.value(each, who, place) for who, place in enumerate(places))
            found[each] = compare(Comparison.EQ, one, two)
            deeper = made_alike(instances, each, places, deep - 1)
            if deeper is not None:
                found[each] = either(found[each], deeper)
    return conjunction(found.values())


def is_of_operands(leaf: OpaqueLeaf) -> bool:
    """Whether a value depends on `feeds` alone, and PTX defines it for all of them."""
    return leaf.made is Made.DETERMINED and leaf.open is None
