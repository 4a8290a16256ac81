"""One-bit conditions: two lanes of a group meet in a bank with different words, or any lane runs.

Two lanes' copies of the thread's coordinates, and of each value that lanes do not share, are
separate variables; a value that lanes share is one variable. Aligned words of 4 bytes or more meet
in their banks exactly if their addresses are equal modulo 128, so values that all lanes share drop
out of the difference. Narrower words are compared word by word.
"""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.compiled.kernel import Leaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.arithmetic import add, less, mul, shift_right, widened
from swzverify.compiled.kernel.special import BlockShape, launch_facts
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.hardware import CHUNKS_PER_LINE
from swzverify.ir.expr import (
    Comparison,
    Expr,
    Var,
    compare,
    conjunction,
    conjuncts,
    const,
    extract,
    negation,
    substitute,
    var,
    variables,
)

_NUMBER_BITS = 32


class Lane:
    """One of some lanes of a warp: its coordinates, and its copies of what lanes do not share.

    `mark` is the end of the copies' names.
    """

    def __init__(self, block: BlockShape, leaves: Mapping[str, Leaf], mark: str) -> None:
        self._leaves, self._mark = leaves, mark
        number: Expr = const(0, _NUMBER_BITS)
        factor = 1
        for axis, extent in zip("xyz", block, strict=True):
            if extent > 1:
                number = add(number, mul(widened(self._copy(var(f"tid.{axis}", extent)), 32), const(factor, 32)))
            factor *= extent
        self.number = number

    def _copy(self, variable: Var) -> Var:
        return var(variable.name + self._mark, variable.limit)

    def of(self, value: Expr) -> Expr:
        """A value as this lane has it."""
        new: dict[Var, Expr] = {}
        for each in variables(value):
            leaf = self._leaves[each.name]
            if each.name == "laneid":
                new[each] = extract(self.number, 0, each.width)
                if each.width > 5:
                    new[each] = widened(extract(self.number, 0, 5), each.width)
            elif not is_shared(leaf):
                new[each] = self._copy(each)
        return substitute(value, new)

    def known(self, *values: Expr) -> list[Expr]:
        """What is known of the leaves of some values, of this lane."""
        return [self.of(each) for each in known_of(variables(*values), self._leaves)]


def known_of(read: tuple[Var, ...], leaves: Mapping[str, Leaf]) -> list[Expr]:
    """What is known of the leaves' values, by the analysis and by what is assumed."""
    return [*found_of(read, leaves), *assumed_of(read, leaves)]


def assumed_of(read: tuple[Var, ...], leaves: Mapping[str, Leaf]) -> list[Expr]:
    """What is assumed of the leaves' values; wider than 64 bits, perhaps."""
    given = [leaf for each in read if isinstance(leaf := leaves[each.name], UniformLeaf)]
    return list(dict.fromkeys(condition for leaf in given for condition in leaf.assumed))


def found_of(read: tuple[Var, ...], leaves: Mapping[str, Leaf]) -> list[Expr]:
    """What is known of the leaves' values: by the analysis, and because it is so in every launch."""
    found = launch_facts(read)
    for each in read:
        leaf = leaves[each.name]
        if isinstance(leaf, TripsLeaf) and leaf.values is not None:
            found.append(less(each, const(len(leaf.values), each.width), signed=False))
    return found


def lane_runs(block: BlockShape, parts: Parts) -> Expr:
    """Whether some lane makes the access at all."""
    lane = Lane(block, parts.leaves, "")
    guard = conjunction((parts.own_guard, parts.other_guard))
    return conjunction(dict.fromkeys((lane.of(guard), *lane.known(guard, parts.varying))))


def octet_parts(block: BlockShape, parts: Parts) -> Expr:
    """Whether one of two lanes of an octet executes the access and the other does not.

    Conditions that depend on coordinates alone let both of them through.
    """
    first, second = (Lane(block, parts.leaves, mark) for mark in ("", "'"))
    octet = const(CHUNKS_PER_LINE.bit_length() - 1, _NUMBER_BITS)
    places = [shift_right(lane.number, octet, signed=False) for lane in (first, second)]
    own = parts.own_guard
    # What all lanes share parts none of them.
    guard = conjunction(
        [each for each in conjuncts(parts.other_guard) if not all(map(is_shared, parts.leaves_of(each)))]
    )
    known = [each for lane in (first, second) for each in (lane.of(own), *lane.known(guard))]
    ways = [first.of(guard), negation(second.of(guard))]
    return conjunction(dict.fromkeys((compare(Comparison.EQ, *places), *known, *ways)))
