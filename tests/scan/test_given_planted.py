"""Wrong readings of what is given of parameters, planted one at a time: each is noticed by a launch
that the interpreter runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from swzverify.compiled.kernel import Arguments, Leaf, UniformLeaf, parameter_variable
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, collide, given
from swzverify.ir import integers
from swzverify.ir.expr import Comparison, Expr, Var, compare, conjunction, const, negation
from tests.ptx_oracle import Buffer, run_kernel
from tests.scan.test_given import BY_SIGN, ODD
from tests.scan.texts import SKEWED, text_of
from tests.scan.whole import scan_module


def is_wrong(body: str, launch: int, *conditions: str, parameters: tuple[str, ...] = ()) -> bool:
    """Whether the last access is free by the scan though this launch, which is allowed, conflicts; or
    the other way around.
    """
    text = text_of(body)
    given = Given(parameters, conditions)
    found = scan_module(read_module(text, "k.ptx"), (64, 1, 1), None, "sm_90", given)[-1].decision
    ways = list(run_kernel(text, "k", (64,), params=[launch, Buffer(64)]).by_line().values())[-1].ways
    if found.verdict.value == "free":
        return ways > 1
    return found.verdict.value == "conflict" and ways == 1


HIGH = "ld.param.u16 %h1, [n+2]; cvt.u32.u16 %r10, %h1; mul.lo.u32 %r11, %r1, %r10; "
HIGH += "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];"
RARE = "setp.eq.u32 %p1, %r2, 3001; selp.b32 %r12, 32, 1, %p1; mul.lo.u32 %r11, %r1, %r12; "
RARE += "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];"
"""Conflicts for one value of n alone, which no sample tries."""
CASES: dict[str, Callable[[], bool]] = {
    "low": lambda: is_wrong(BY_SIGN, 2**32 - 1, "n < 128"),
    "high": lambda: is_wrong(BY_SIGN, 2**32 - 1, "n > 128"),
    "bytes": lambda: is_wrong(HIGH, 0x0001_0002, parameters=("n=0x10002",)),
    "value": lambda: is_wrong(SKEWED, 2**32 - 2, parameters=("n=-2",)),
    "parts": lambda: is_wrong(HIGH, 0x0002_0001, ODD),
    "tried": lambda: is_wrong(RARE, 3001, "n < 5000"),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_wrong_as_it_is(name: str) -> None:
    assert not CASES[name]()


def test_all_parameters_without_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    def readings(_: object, size: int, __: object) -> list[integers.Integer]:
        return [integers.variable(parameter_variable("n", 0, size))]

    monkeypatch.setattr(given, "_readings", readings)
    assert CASES["low"]()


def test_all_parameters_with_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    def readings(_: object, size: int, __: object) -> list[integers.Integer]:
        return [integers.Integer(parameter_variable("n", 0, size), -(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)]

    monkeypatch.setattr(given, "_readings", readings)
    assert CASES["high"]()


def test_bytes_in_the_other_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(self: Arguments, name: str, offset: int, size: int) -> int | None:
        known = self.known.get(name, ())
        return int.from_bytes(known[0].value.to_bytes(4, "big")[offset : offset + size], "little") if known else None

    monkeypatch.setattr(Arguments, "value", value)
    assert CASES["bytes"]()


def test_an_offset_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Arguments.value
    monkeypatch.setattr(Arguments, "value", lambda self, name, _, size: right(self, name, 0, size))
    assert CASES["bytes"]()


def test_a_condition_on_a_part_that_is_not_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The condition taken for one on any part of the parameter."""
    monkeypatch.setattr("swzverify.compiled.kernel.evaluate.extract", lambda value, _, width: _low(value, width))
    assert CASES["parts"]()


def test_values_that_are_tried_taken_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    right = collide.found_of

    def found_of(read: tuple[Var, ...], leaves: Mapping[str, Leaf]) -> list[Expr]:
        found = right(read, leaves)
        for each in read:
            leaf = leaves[each.name]
            values = leaf.candidates if isinstance(leaf, UniformLeaf) else ()
            tried = [compare(Comparison.EQ, each, const(value, each.width)) for value in values]
            found += [negation(conjunction([negation(one) for one in tried]))] if tried else []
        return found

    monkeypatch.setattr(collide, "found_of", found_of)
    assert CASES["tried"]()


def _low(value: object, width: int) -> object:
    from swzverify.ir.expr import extract

    return extract(value, 0, width)  # type: ignore[arg-type]
