"""Registers of one loop in an address: they have the values of one trip, in every trip and in no
more than these. The loop is also run here, a trip after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.kernel import KernelAccess, LoopLeaf, TripsLeaf, induction
from swzverify.compiled.kernel.flow import Loop
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import var
from tests.kernel.texts import found_in, last
from tests.nightly import share

reader = import_module("swzverify.compiled.kernel.accesses")  # the package has a function of this name
MASK = 0xFFFFFFFF
STEPS: tuple[tuple[str, tuple[int, ...], Callable[[int], int]], ...] = (
    ("shl.b32 {0}, {0}, 1;", (1, 4, 3 << 20), lambda value: value << 1 & MASK),
    ("shr.u32 {0}, {0}, 1;", (64, 7, 1 << 31), lambda value: value >> 1),
    ("shr.u32 {0}, {0}, 3;", (512, 999), lambda value: value >> 3),
    ("xor.b32 {0}, {0}, 12;", (0, 5), lambda value: value ^ 12),
    ("mul.lo.u32 {0}, {0}, 3; and.b32 {0}, {0}, 15;", (1, 5, 100), lambda value: value * 3 & 15),
    (
        "add.u32 {0}, {0}, 1; setp.eq.u32 %p4, {0}, 3; selp.u32 {0}, 0, {0}, %p4;",
        (0, 2),
        lambda value: 0 if value == 2 else value + 1,
    ),
    ("mad.lo.u32 {0}, {0}, 5, 1; and.b32 {0}, {0}, 7;", (0, 50), lambda value: value * 5 + 1 & 7),
    ("min.u32 {0}, {0}, 4;", (9, 2), lambda value: min(value, 4)),
)
"""What a trip makes of a register, as PTX and as a function, with values that it may begin with."""
TRIPS = 300
LANES = (0, 1, 5, 63)


def kernel(seed: int) -> tuple[str, list[list[int]]]:
    """A loop of two or three registers, one of which multiplies the lane, and what the address is
    beyond the base, of each trip for some lanes. Every third loop has a counter in the address.
    """
    source = random.Random(seed)
    chosen = [source.choice(STEPS) for _ in range(source.choice((2, 2, 3)))]
    values = [source.choice(begins) for _, begins, _ in chosen]
    counts = seed % 3 == 0
    most = source.choice((1, 4, 9)) if seed % 4 == 0 else None
    body = "".join(f"mov.u32 %r{5 + at}, {value};" for at, value in enumerate(values))
    body += "mov.u32 %r9, 0; LOOP: mad.lo.u32 %r20, %r1, %r5, %r6;"
    body += "add.u32 %r20, %r20, %r7;" if len(chosen) == 3 else ""
    body += "add.u32 %r20, %r20, %r9;" if counts else ""
    body += "mad.lo.u32 %r20, %r20, 4, %r3; ld.shared.u32 %r30, [%r20];"
    body += "".join(text.format(f"%r{5 + at}") for at, (text, _, _) in enumerate(chosen))
    body += f"add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, {'%r2' if most is None else most}; @%p1 bra LOOP;"
    rows: list[list[int]] = []
    for trip in range(TRIPS if most is None else most):
        rest = sum(values[1:]) + counts * trip
        rows.append([(lane * values[0] + rest) * 4 & MASK for lane in LANES])
        values = [step(value) for value, (_, _, step) in zip(values, chosen, strict=True)]
    return body, rows


def place_of(access: KernelAccess) -> list[str]:
    """The leaves of loops in an address."""
    return [leaf.name for leaf in access.leaves if isinstance(leaf, LoopLeaf)]


def held(seed: int) -> int:
    """Compare the address with the run; how many registers it reads by the place of the trip."""
    body, rows = kernel(seed)
    access = last(body)
    assert access.address is not None
    names = place_of(access)
    assert len(names) <= 1, seed
    (leaf,) = [each for each in access.leaves if each.name in names] or [None]
    counts = leaf is not None and isinstance(leaf, TripsLeaf)
    assert counts == (seed % 3 == 0), seed
    places = range(len(rows)) if counts else range(1 if leaf is None else leaf.variable.limit)
    found: list[list[int]] = []
    for place in places:
        point = dict.fromkeys(names, place) | {"shared s": 0}
        found.append([evaluate(access.address, point | {"tid.x": lane}) for lane in LANES])
    if counts:
        assert found == rows, seed
    else:
        assert rows[: len(found)] == found, seed
        assert all(row in found for row in rows), seed
    return int(leaf is not None and not counts)


@pytest.mark.parametrize("start", share(range(0, 120, 40), 3))
def test_the_address_has_the_values_of_each_trip_and_no_others(start: int) -> None:
    assert sum(held(seed) for seed in range(start, start + 40)) > 10


# ---- planted mistakes


def found_by_some(most: int = 120) -> None:
    with pytest.raises(AssertionError):
        sum(map(held, range(most)))


def test_registers_of_one_loop_as_variables_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    original = induction._place

    def place(slices: induction.Slices, loop: Loop, count: int, turn: int) -> induction.Leaf:
        made = original(slices, loop, count, turn)
        other = replace(made, variable=var(f"{made.name}, of {len(slices.leaves.by_name)}", count))
        slices.carried[other.variable] = slices.carried[made.variable]
        slices.leaves.add(other)
        return other

    whole = induction.in_one_trip

    def apart(slices: Any, read: Any, most: Any) -> Any:
        found = [whole(slices, [each], most) for each in read]
        return {each: of for known, _ in found for each, of in known.items()}, [
            each for _, made in found for each in made
        ]

    monkeypatch.setattr(induction, "_place", place)
    monkeypatch.setattr(reader, "in_one_trip", apart)
    found_by_some()


def test_a_table_without_the_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A register that goes round is taken to stay at the last value of its list."""
    original = induction.sequence_of

    def without(carried: induction.Carried) -> induction.Sequence | None:
        found = original(carried)
        return None if found is None else replace(found, turn=len(found.values) - 1)

    monkeypatch.setattr(induction, "sequence_of", without)
    found_by_some()


def test_a_round_of_one_register_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two registers that go round in 2 and in 3 trips do so together in 6, and not in 3."""
    monkeypatch.setattr(induction, "lcm", max)
    found_by_some()


def test_the_trip_and_the_place_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter of the loop in the same address has the trip, and the registers have their own."""
    original = induction.in_one_trip

    def apart(slices: Any, read: Any, most: Any) -> Any:
        return original(slices, [each for each in read if "trips" not in each.name], most)

    monkeypatch.setattr(reader, "in_one_trip", apart)
    found_by_some()


TO_AND_FRO = "shr.u32 %r7, %r6, 1; xor.b32 %r8, %r6, 1; setp.gt.u32 %p2, %r6, 1; selp.u32 %r6, %r7, %r8, %p2;"
"""From 4 on: 4, 2, 1, 0, 1, 0 and so on."""


def test_places_that_turn_back_elsewhere_are_not_one() -> None:
    load = "mad.lo.u32 %r20, %r1, {0}, %r3; ld.shared.u32 %r30, [%r20];"
    text = "mov.u32 %r5, 1; mov.u32 %r6, 4; LOOP: " + load.format("%r5") + load.format("%r6") + TO_AND_FRO
    text += (
        "mul.lo.u32 %r5, %r5, 3; and.b32 %r5, %r5, 15; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r2; @%p1 bra LOOP;"
    )
    first, second = found_in(text)
    ((one,), (other,)) = place_of(first), place_of(second)
    assert one != other
