"""Misreadings of addresses that move with a loop: random specs of them must show each one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import pytest

from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import parse
from swzverify.spec import build_access
from swzverify.subjects import Loop, walk
from swzverify.subjects.listed_loop import AnyLoop
from tests.differential.comparison import first_disagreement

Patch = pytest.MonkeyPatch
SEEDS = range(300)


def the_step_comes_before_the_xor(patch: Patch) -> None:
    original = walk.walked

    def walked(
        loop: AnyLoop,
        start: CFormula,
        *,
        step: CFormula | None = None,
        xor: CFormula | None = None,
        constants: Mapping[str, int] | None = None,
    ) -> CFormula:
        if step is None or xor is None or loop.count is None:
            return original(loop, start, step=step, xor=xor, constants=constants)
        text = f"({start.text})"
        for at in range(loop.count - 1):
            added, changed = (walk._after(loop.name, loop.value(at), each) for each in (step, xor))
            text = f"(({text} + {added}) ^ {changed})"
        return parse(text)

    patch.setattr(build_access, "walked", walked)


def a_step_is_seen_in_its_own_iteration(patch: Patch) -> None:
    original = walk._after
    patch.setattr(walk, "_after", lambda *stated: original(*stated).replace(" > ", " >= ", 1))


def a_step_reads_the_iteration_that_runs(patch: Patch) -> None:
    patch.setattr(walk, "exchanged", lambda formula, _: formula.text)


def a_step_reads_the_next_value(patch: Patch) -> None:
    original = walk.exchanged

    def exchanged(formula: CFormula, texts: Mapping[str, str]) -> str:
        return original(formula, {name: f"({text} + 1)" for name, text in texts.items()})

    patch.setattr(walk, "exchanged", exchanged)


def the_step_loses_its_parentheses(patch: Patch) -> None:
    def after(name: str, value: int, formula: CFormula) -> str:
        return f"(({name} > {value}) * {walk.exchanged(formula, {name: str(value)})})"

    patch.setattr(walk, "_after", after)


def every_loop_begins_at_zero(patch: Patch) -> None:
    original = walk._product
    patch.setattr(
        walk, "_product", lambda loop, *rest: original(replace(loop, start=0, stop=loop.stop - loop.start), *rest)
    )


def every_loop_steps_by_one(patch: Patch) -> None:
    original = walk._product

    def product(loop: Loop, *rest: object) -> object:
        return original(replace(loop, step=1), *rest)  # type: ignore[arg-type]

    patch.setattr(walk, "_product", product)


def every_step_is_the_first_one(patch: Patch) -> None:
    def product(loop: Loop, start: CFormula, step: CFormula, _: object) -> CFormula:
        first = walk.exchanged(step, {loop.name: f"({loop.start})"})
        return parse(f"({start.text}) + ({loop.name} - ({loop.start}))/{loop.step}*({first})")

    patch.setattr(walk, "_product", product)


PLANTS = [
    a_step_is_seen_in_its_own_iteration,
    a_step_reads_the_iteration_that_runs,
    a_step_reads_the_next_value,
    every_loop_begins_at_zero,
    every_loop_steps_by_one,
    every_step_is_the_first_one,
    the_step_comes_before_the_xor,
    the_step_loses_its_parentheses,
]


FOUND_AT: dict[Callable[[Patch], None], int] = {
    the_step_comes_before_the_xor: 47,
    every_loop_steps_by_one: 58,
    the_step_loses_its_parentheses: 84,
    every_loop_begins_at_zero: 266,
    every_step_is_the_first_one: 179,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("seeds", [{SEEDS[0], *FOUND_AT.values()}, pytest.param(SEEDS, marks=pytest.mark.nightly)])
def test_nothing_is_found_as_it_is(seeds: Iterable[int]) -> None:
    assert first_disagreement(sorted(seeds), "walks") is None


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_of_walks_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS], "walks") is not None
