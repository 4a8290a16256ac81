"""Warps that run as a group, until others are at an earlier instruction, do what all threads would do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.trial import kept, lanes, machine, memory, run_all
from swzverify.compiled.trial.memory import Array, Mask
from tests.trial.test_side_by_side import did, kernels, prepared

SEEDS = range(3)


def trials(seeds: range) -> list[dict[str, Any]]:
    """What launches of several kernels did."""
    found: list[dict[str, Any]] = []
    for text, shape in kernels(seeds):
        found += map(did, run_all(*prepared(text, shape), keeps_memory=True))
    return found


@cache
def plainly(seeds: range) -> list[dict[str, Any]]:
    """The same for all threads at once, of which those are chosen again behind each block that run next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine.Machine, "_lanes_of", lambda self, _: self.lanes)
        patch.setattr(machine.Machine, "_next", lambda *_: 0)
        patch.setattr(machine, "steps_of_blocks", lambda function, _: [1 << 40] * (len(function.instructions) + 1))
        patch.setattr(memory.Memory, "is_known", property(lambda _: False, lambda *_: None), raising=False)
        return trials(seeds)


def differing(seeds: range) -> list[int]:
    """The numbers of the launches that differ."""
    pairs = zip(trials(seeds), plainly(seeds), strict=True)
    return [at for at, (found, expected) in enumerate(pairs) if found != expected]


def test_groups_do_what_all_threads_do() -> None:
    assert differing(SEEDS) == []


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(6, 206, 20))
def test_many_groups_do_what_all_threads_do(start: int) -> None:
    assert differing(range(start, start + 20)) == []


def all_of_their_warps(self: Any, values: Any) -> Any:
    found = PART(self, values)
    return np.ones_like(found) if found.dtype == np.bool_ else found


def first_registers(self: Any, warps: Array) -> None:
    TAKE(self, warps)
    self.place = slice(0, self.threads)


def still_known(self: Any, threads: Array) -> None:
    before = self.is_known
    FORGET(self, threads)
    self.is_known = before


def all_go_on(self: Any, error: Exception, work: Any, group: Any, active: Mask) -> Mask:
    GO_ON(self, error, work, group, active)
    return active


PART, TAKE, FORGET = lanes.Lanes.part, lanes.Lanes._take, memory.Memory.forget
GO_ON = machine.Machine._go_on_without
PLANTED: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "a group goes on past threads that are behind it": (machine.Machine, "_next", lambda self, *_: self.end),
    "a group takes all threads of its warps along": (lanes.Lanes, "part", all_of_their_warps),
    "a group has the registers of the first warps": (lanes.Lanes, "_take", first_registers),
    "what is known of memory stays so": (memory.Memory, "forget", still_known),
    "steps are not counted up": (
        machine,
        "steps_of_blocks",
        lambda function, _: [0] * (len(function.instructions) + 1),
    ),
    "blocks that stop go on with their group": (machine.Machine, "_go_on_without", all_go_on),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, wrong = PLANTED[name]
    plainly(SEEDS)
    monkeypatch.setattr(where, attribute, wrong)
    try:
        found = differing(SEEDS)
    except (ValueError, IndexError):
        return
    assert found != []


class Never(dict[Any, Any]):
    """Has no key."""

    def __contains__(self, key: object) -> bool:
        return False


def accesses_kept(again: dict[Any, Any], seed: int) -> list[dict[int, tuple[object, ...]]]:
    """What is kept of random accesses of two blocks, many of which come again from elsewhere."""
    draw = np.random.default_rng(seed)
    mine = kept.Kept(2, 2)
    mine._kept = again
    instruction = read_module(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }", "k").functions[0]
    for _ in range(60):
        warps = np.flatnonzero(draw.random(4) < 0.7)
        if not len(warps):
            continue
        base = draw.integers(3, size=(len(warps), 1)) * 64 + np.arange(32) * draw.choice((4, 8))
        active = (draw.random((len(warps), 1)) < 0.8) & (np.arange(32) < draw.choice((16, 32)))
        addresses = None if draw.random() < 0.05 else base.reshape(-1)
        sources = (base * 2).reshape(-1) if draw.random() < 0.3 else None
        mine.keep(instruction.instructions[0], addresses, active.reshape(-1), sources, warps)
    return [
        {
            at: (each.rows, each.warps, each.is_all, [*map(bytes, each.addresses)], [*map(bytes, each.active)])
            for at, each in seen.items()
        }
        for seen in mine.seen
    ]


@pytest.mark.parametrize("most", [3, 400])
def test_patterns_that_come_again_change_nothing_more(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_SEEN", most)
    for seed in range(20):
        assert accesses_kept({}, seed) == accesses_kept(Never(), seed)
