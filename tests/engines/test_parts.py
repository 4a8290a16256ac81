"""Costs whose wide variables are read in two parts: the worst case is that of every value."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from swzverify.claims import Coalesced, Wavefronts
from swzverify.engines.obligations import Answer, Cost, Finding
from swzverify.engines.prices import price
from swzverify.engines.smt import SMT, cost, parts
from swzverify.hardware import LANES, find_any_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, binary, const, extend, substitute, var
from swzverify.subjects import Access, AlignedBase
from tests.nightly import counts

GLOBAL = ("ld.global.b8", "st.global.b16", "ld.global.f32", "st.global.v2.f32", "ld.global.v4.f32")


def goal_of(seed: int, at_most: int | None = None) -> Cost:
    """The cost of a random access with a base in steps of the width, whose bases are few enough to try
    each of them.
    """
    draw = random.Random(seed)
    row = find_any_instruction(draw.choice([*GLOBAL, "cp.async.16"]))
    width = row.width_bytes
    terms = [f"lane*{width * draw.choice([1, 1, 2, 3, 8])}", f"(lane^{draw.randrange(32)})*{width}"]
    address = draw.choice([*terms, f"lane%{draw.choice([2, 4, 8])}*{width * draw.randrange(1, 40)} + lane/8*{width}"])
    base = AlignedBase(width * draw.choice([1, 1, 2]))
    access = Access("a", row, find_target("sm_90"), (LANES,), address=parse(address), base=base)
    claim = Coalesced(access, at_most) if row.is_global else Wavefronts(access, at_most or 1)
    (goal,) = (each.obligation for each in claim.plan().goals if isinstance(each.obligation, Cost))
    return goal


def narrowed(goal: Cost, limit: int) -> Cost:
    """The same with at most so many bases."""
    (base,) = (node for node in goal.free if node.name == "base")
    few = var("base", limit)
    new = {base: binary(BinaryOperator.OR, const(0, base.width), extend(few, base.width, signed=False))}
    nodes = tuple(few if node is base else node for node in goal.domain.variables)
    domain = replace(goal.domain, variables=nodes, assumption=substitute(goal.domain.assumption, new), enough=())
    return replace(goal, domain=domain, address=substitute(goal.address, new), active=substitute(goal.active, new))


def told(found: Finding) -> tuple[Answer, int, int]:
    assert found.worst is not None
    return found.answer, found.worst.most_wavefronts.wavefronts, found.worst.most_conflicts.bank_conflicts


def check_values(goal: Cost, split: parts.Parts) -> None:
    """Each base is one pair of parts, at which the address is the same."""
    low, high = (next(node for node in split.goal.free if node.name == f"base/{end}") for end in ("low", "high"))
    bases: list[int] = []
    for first in range(low.limit):
        for second in range(high.limit):
            rest = {node.name: 0 for node in goal.free} | {"lane": 5}
            mine = split.restored(Finding("", Answer.HOLDS, {low.name: first, high.name: second})).point
            assert mine is not None
            bases.append(mine["base"])
            there = rest | {low.name: first, high.name: second}
            assert evaluate(split.goal.address, there) == evaluate(goal.address, rest | mine)
    assert sorted(bases) == list(range(256))


def compared(seed: int) -> bool:
    """Whether the parts were used, and gave what all of 256 bases give."""
    goal = narrowed(goal_of(seed, random.Random(seed).choice([None, 1, 4, 17])), 256)
    whole = cost._by_separation(goal, 10_000_000)
    assert whole is not None
    split = parts.parts_of(goal, 16)
    found = None if split is None else cost._by_separation(split.goal, 10_000_000)
    if split is None:
        return False
    check_values(goal, split)
    if found is None:
        return False
    found = split.restored(found)
    assert told(found) == told(whole)
    names = {node.name for node in goal.free}
    for each in (found.worst.most_wavefronts, found.worst.most_conflicts) if found.worst else ():
        assert set(each.point) == names
        assert (each.wavefronts, each.minimum) == _priced(goal, each.point)
    assert found.point is None or set(found.point) == names
    return True


def _priced(goal: Cost, point: Mapping[str, int]) -> tuple[int, int]:
    lanes = [{**point, "lane": lane} for lane in range(LANES)]
    found = price(goal.instruction, [evaluate(goal.address, at) if evaluate(goal.active, at) else None for at in lanes])
    return found.wavefronts, found.minimum


def parts_are_sound(count: int = 20) -> None:
    assert sum(compared(seed) for seed in range(count)) > count // 3


@pytest.mark.parametrize("count", counts(20, 60))
def test_parts_give_what_every_base_gives(count: int) -> None:
    parts_are_sound(count)


def test_a_base_in_steps_of_a_float_is_decided_at_once() -> None:
    """Without the parts the rule itself would be the question, all 32 lanes of it."""
    load = find_any_instruction("ld.global.f32")
    access = Access("a", load, find_target("sm_90"), (128,), address=parse("tid*4"), base=AlignedBase(4))
    (cost_goal,) = (each.obligation for each in Coalesced(access, 5).plan().goals if isinstance(each.obligation, Cost))
    found = SMT(1_000_000).decide(cost_goal)
    assert told(found) == (Answer.HOLDS, 5, 1)
    assert told(SMT(1_000_000).decide(replace(cost_goal, at_most=4)))[0] is Answer.FAILS


@pytest.mark.parametrize("change", [-1, 1])
def test_a_wrong_number_of_bits_is_found(change: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """High parts that overlap the low ones, or leave values out."""
    sound = parts.const
    monkeypatch.setattr(parts, "const", lambda value, width: sound(max(0, value + change), width))
    with pytest.raises(AssertionError):
        parts_are_sound()


def test_points_that_lose_their_high_part_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_part(_: parts.Parts, point: dict[str, int]) -> dict[str, int]:
        return {name.partition("/")[0]: value for name, value in point.items()}

    monkeypatch.setattr(parts.Parts, "_whole", first_part)
    with pytest.raises(AssertionError):
        parts_are_sound()


@pytest.mark.parametrize("name", ["ld.shared.b8", "ld.shared.b32", "ld.shared.v4.b32", "ldmatrix.x4"])
def test_words_of_shared_memory_have_parts_where_a_lane_is_narrower(name: str) -> None:
    row = find_any_instruction(name)
    access = Access("a", row, find_target("sm_90"), (LANES,), address=parse("lane*16"), base=AlignedBase(16))
    (goal,) = (each.obligation for each in Wavefronts(access, 4).plan().goals if isinstance(each.obligation, Cost))
    assert (parts.parts_of(goal, 16) is not None) == (row.width_bytes < 4)
