"""Lists of addresses: random questions, beside every point of them, which numpy evaluates without the package.

A planted mistake changes a piece of the text of `joins.py` or of a module that it uses. Each is found by a question at
which the changed lists say `never`, although there is a point.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from swzverify.compiled.kernel.arithmetic import add, less, mul, widened
from swzverify.compiled.order import joins, known, residues
from swzverify.compiled.order.joins import Ends
from swzverify.ir.expr import const, extract, var
from tests.nightly import counts
from tests.order.random_lists import questions

_QUESTIONS = 4
"""Questions of one seed, which are asked of the same lists."""
_SMALL = {"_MOST_VALUES": 8, "_FEW": 4}
"""Limits with which a variable that is not listed has few enough values to look at all of them."""


@dataclass(frozen=True)
class Wrong:
    """A piece of the text of a module, what it becomes, and a seed that finds it."""

    piece: str
    becomes: str
    seed: int
    module: ModuleType = joins


def _changed(wrong: Wrong | None = None) -> dict[str, Any]:
    """The names of `joins.py` with small limits, and perhaps with a mistake."""
    found: dict[ModuleType, dict[str, Any]] = {}
    for module in (residues, known, joins):
        source = inspect.getsource(module)
        if wrong is not None and wrong.module is module:
            assert source.count(wrong.piece) == 1
            source = source.replace(wrong.piece, wrong.becomes)
        found[module] = {"__name__": module.__name__}
        exec(compile(source, module.__name__, "exec", dont_inherit=True), found[module])  # noqa: S102 - our own text
    found[joins] |= _SMALL | {"plus_number": found[residues]["plus_number"], "part_of": found[known]["part_of"]}
    return found[joins]


def _answers(names: dict[str, Any], seeds: Iterable[int]) -> tuple[list[int], int, int, int]:
    """The seeds at which lists say `never` although there is a point; how often they say it, could, and are asked."""
    wrong: list[int] = []
    said = free = total = 0
    for seed in seeds:
        lists = names["Joins"]()
        for each in questions(seed, _QUESTIONS):
            never = lists.never_meet(each.ends, each.conditions, each.few)
            total += 1
            said += never
            free += not each.meets
            if never and each.meets:
                wrong.append(seed)
    return wrong, said, free, total


@pytest.mark.parametrize("count", counts(300, 30_000))
def test_never_is_never_wrong(count: int) -> None:
    wrong, said, free, total = _answers(_changed(), range(count))
    assert not wrong
    assert 1.5 * said > free > 0.5 * total


MISTAKES = {
    "a term with other factors is taken off": Wrong(
        "if sums[1].terms.get(term) == count}", "if term in sums[1].terms}", 5
    ),
    "a term is taken off one side": Wrong("if term in common else", "if term in common and who else", 20),
    "a part that is not known begins with 0": Wrong(
        "add(widened(cut, node.width), const(low, node.width))", "widened(cut, node.width)", 4521
    ),
    "a part that is not known never has its largest value": Wrong("high - low + 1)", "max(1, high - low))", 134),
    "a part that is not known is 0": Wrong(
        "found = Part(choose(found.lost, self._cuts[node], found.value), FALSE)", "found = Part(found.value, FALSE)", 92
    ),
    "the condition of a choice counts as known": Wrong("                parts[condition].lost,\n", "", 460, known),
    "the other side of a choice counts as known": Wrong(
        "both(negation(chosen), parts[otherwise].lost)", "FALSE", 1767, known
    ),
    "one side of a choice counts as known": Wrong("both(chosen, parts[then].lost)", "FALSE", 263, known),
    "the wrong side of `and` decides": Wrong(
        "if operator is BinaryOperator.AND else", "if operator is BinaryOperator.OR else", 263, known
    ),
    "one side of `and` counts as known": Wrong(
        "sides = (both(parts[left].lost, other), both(parts[right].lost, one))",
        "sides = (both(parts[left].lost, other),)",
        850,
        known,
    ),
    "an operation with one known operand counts as known": Wrong(
        "tuple(parts[each].lost for each in operands(node))",
        "tuple(parts[each].lost for each in operands(node)[1:])",
        1,
        known,
    ),
    "a remainder without the number": Wrong("const(found[1] % divisor, node.width)", "const(0, node.width)", 301),
    "a remainder with too few values": Wrong("np.arange(divisor)", "np.arange(divisor - 1)", 3),
    "a sum that wraps has a remainder": Wrong(
        "is_whole = count == 1 and term.limit <= 1 << least and term.limit + total.number <= 1 << value.width",
        "is_whole = count == 1 and term.limit <= 1 << least",
        2117,
        residues,
    ),
    "a multiple has a remainder": Wrong("is_whole = count == 1 and", "is_whole =", 3669, residues),
    "a term is left out": Wrong("modulus = min(modulus, count & -count)", "pass", 6),
    "a modulus that is no power of two": Wrong("min(modulus, count & -count)", "min(modulus, count)", 26),
    "the modulus of the last term": Wrong("modulus = min(modulus, count & -count)", "modulus = count & -count", 156),
    "a term that is sometimes not known counts as known": Wrong("lost = either(lost, part.lost)", "pass", 1),
    "a condition that is not known does not hold": Wrong(
        "may_hold = either(part.value, part.lost)", "may_hold = part.value", 7
    ),
    "an address that is not known is 0": Wrong("bool((holds & lost).any())", "False", 1),
    "addresses do not go round": Wrong("early = position < length", "early = position < 0", 43),
    "ranges go round by the wrong length": Wrong("ends.lengths[1 - who]", "ends.lengths[who]", 849),
    "the number is left out": Wrong("(self.position + number) % modulus", "self.position % modulus", 5),
    "high bits of few values are lost": Wrong(
        "dtype=np.uint64).astype(np.int64)", "dtype=np.uint64).astype(np.uint16).astype(np.int64)", 41
    ),
    "at most is less": Wrong(
        "limit = most + 1\n        case Binary(BinaryOperator.XOR, Compare(Comparison.ULE",
        "limit = most\n        case Binary(BinaryOperator.XOR, Compare(Comparison.ULE",
        7,
    ),
    "not more than is less": Wrong("limit = most + 1\n        case _", "limit = most\n        case _", 33),
    "bounds of one question for all": Wrong("key = (bounds, *few.items())", "key = tuple(few.items())", 3),
    "values that both threads share are combined": Wrong("listed.size(side.own)", "1", 0),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_found(name: str) -> None:
    wrong = MISTAKES[name]
    assert _answers(_changed(wrong), [wrong.seed])[0]


@pytest.mark.nightly
@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_found_by_other_seeds(name: str) -> None:
    wrong = MISTAKES[name]
    names = _changed(wrong)
    assert any(_answers(names, [seed])[0] for seed in range(wrong.seed + 1, wrong.seed + 20_000))


def _two_bounds(names: dict[str, Any]) -> tuple[bool, bool]:
    """The answers to two questions that have the same condition on threads, and other bounds of a parameter.

    The bounds stand before that condition, so that no side keeps them.
    """
    one, other, most = var("one", 4), var("other", 4), var("most", 64)
    addresses = [mul(widened(each, 32), const(4, 32)) for each in (one, other)]
    ends = Ends((addresses[0], add(addresses[1], const(8, 32))), (1, 1), (one, other))
    is_below = less(widened(one, 32), widened(most, 32), signed=False)
    lists = names["Joins"]()
    bounds = (less(most, const(limit, 6), signed=False) for limit in (2, 4))
    small, large = (lists.never_meet(ends, [each, is_below], {}) for each in bounds)
    return small, large


def test_points_are_of_questions_with_the_same_bounds() -> None:
    assert _two_bounds(_changed()) == (True, False)
    names = _changed(Wrong("self._points: dict[tuple[object, ...], Points] = {}", "self._points = _ALL", 0))
    names["_ALL"] = {}
    assert _two_bounds(names) == (True, True)


def test_a_sum_of_low_bits_has_no_remainder() -> None:
    x = var("x", 16)
    assert residues.plus_number(widened(extract(x, 0, 3), 32)) is None
    assert residues.plus_number(add(widened(x, 5), const(16, 5))) == (x, 16)
    assert residues.plus_number(add(widened(x, 5), const(17, 5))) is None
