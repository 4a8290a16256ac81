"""Path conditions of random kernels: a thread that makes an access fulfils its guard, and one that
fulfils `sure` makes it.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from swzverify.compiled.kernel import CarriedLeaf, accesses, paths
from swzverify.compiled.ptx import read_module
from swzverify.ir.expr import FALSE, TRUE, Expr, Var, const, substitute, variables
from tests.kernel.differential import coordinates, watched
from tests.kernel.path_programs import GRID, NUMBERS, SHAPE, program
from tests.kernel.planted_paths import forget_joins
from tests.nightly import found_at, share
from tests.ptx_oracle import Buffer, launch


def held(seed: int, numbers: tuple[int, ...] = tuple(NUMBERS)) -> Counter[str]:
    """Hold the conditions of a kernel's accesses against who makes them, for every thread."""
    text = program(seed)
    module = read_module(text, "k.ptx")
    kernel = module.function("k")
    assert kernel is not None
    found = accesses(module, kernel, SHAPE)
    total: Counter[str] = Counter()
    for number in numbers:
        with watched() as events:
            result = launch(text, "k", [GRID], SHAPE, 0, [number, Buffer(1024, "iota")], 1, steps=6000)
        assert not result.error, result.error
        made: dict[int, set[tuple[int, int]]] = defaultdict(set)
        for event in events:
            made[event.line] |= {(event.block[0], 32 * event.warp + lane) for lane, _ in event.lanes}
        for access in found:
            trips = {each.trips for each in access.who.loops}
            for block in range(GRID):
                for thread in range(SHAPE[0]):
                    point = coordinates(thread % 32, thread // 32, SHAPE) | {"ctaid.x": block, "n+0:4": number}
                    known: dict[Var, Expr] = {}
                    for each in variables(access.who.guard, *(() if access.who.sure is None else (access.who.sure,))):
                        if each in trips or each.name in point:
                            known[each] = const(point.get(each.name, 0), each.width)
                    is_made = (block, thread) in made[access.site.line]
                    may = substitute(access.who.guard, {each: known[each] for each in known if each not in trips})
                    if is_made:
                        assert may is not FALSE, (seed, access.site.line, point)
                    elif access.who.sure is not None:
                        first = [
                            leaf for leaf in access.leaves if isinstance(leaf, CarriedLeaf) and leaf.first is not None
                        ]
                        known |= {each.variable: const(each.first or 0, each.variable.width) for each in first}
                        assert substitute(access.who.sure, known) is not TRUE, (seed, access.site.line, point)
                    total["made" if is_made else "not made"] += 1
                    total["decided"] += (may if is_made else substitute(access.who.guard, known)) in (TRUE, FALSE)
                    total["sure"] += access.who.sure is not None
    return total


@pytest.mark.parametrize("start", share(range(0, 24, 4), 6))
def test_conditions_say_who_gets_there(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 4):
        total += held(seed, (0, 2, 5))
    threads = total["made"] + total["not made"]
    assert total["made"]
    assert total["not made"]
    assert total["sure"] == threads
    assert total["decided"] > threads // 3


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(24, 2024, 25))
def test_conditions_of_many_kernels(start: int) -> None:
    for seed in range(start, start + 25):
        held(seed)


def _found(seeds: range) -> None:
    with pytest.raises(AssertionError):
        sum((held(seed, (0, 2, 5)) for seed in seeds), Counter())


@found_at(0, 24)
def test_only_the_first_path(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """A join is reached by its first path alone."""
    monkeypatch.setattr(paths.Paths, "_choice", lambda _self, _node, options: options[0][1] if options else FALSE)
    _found(seeds)


@found_at(0, 24)
def test_joins_that_every_path_reaches(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """What stands behind several paths is taken for what all threads reach."""
    forget_joins(monkeypatch)
    _found(seeds)


@found_at(5, 24)
def test_edges_back_taken_for_paths(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """A loop that is left in its middle counts as one that everybody leaves at its end."""
    monkeypatch.setattr(paths.Paths, "_leaves", lambda _self, target, _node, loop: target not in loop.blocks)
    _found(seeds)


@found_at(0, 24)
def test_behind_a_choice_that_all_paths_pass(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(paths, "leads_on", lambda *_: True)
    _found(seeds)
