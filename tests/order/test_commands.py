"""Loads of words that say what threads do, from stores of numbers before a barrier of the block."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.order import handed
from swzverify.compiled.order.handed import Handed
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.scan.race_parts import Parts
from swzverify.compiled.scan.race_replay import Runs
from swzverify.ir.expr import Expr, Var
from tests.nightly import counts
from tests.order.commands import COMMANDS, MEET, SEE_ZERO
from tests.order.commands import kernel as kernel_of
from tests.order.conftest import HEAD, races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

from .pipeline_pieces import HEAD as PIPELINE_HEAD
from .random_kernels import Kernel
from .random_words import drawn, runs_of

Patch = Callable[[pytest.MonkeyPatch], None]
HARMLESS = ("free", "race-benign")


def text_of(name: str) -> str:
    """The PTX of a kernel."""
    return f"{HEAD}{COMMANDS[name].body}\nret;\n}}\n"


def found(name: str) -> KernelRaces:
    """The verdict on a kernel."""
    return races_in(text_of(name))


@pytest.mark.parametrize("name", COMMANDS)
def test_free_only_if_right(name: str) -> None:
    wanted, said = COMMANDS[name].verdict, found(name).verdict.value
    assert said == wanted if wanted in HARMLESS else said not in HARMLESS


@pytest.mark.parametrize("name", [name for name, each in COMMANDS.items() if each.verdict != "open"])
def test_runs_say_so_too(name: str) -> None:
    """The oracle runs the kernels in some orders, with some values of the parameter."""
    runs = [
        launched(text_of(name), "k", (64,), params=[Buffer(8), number, Buffer(8)], shuffle=order, steps=3000)
        for number in (0, 3)
        for order in (None, 1)
    ]
    seen = {each.verdict for each in runs}
    wanted = COMMANDS[name].verdict
    assert seen == {wanted} if wanted in HARMLESS else not seen.issubset(HARMLESS)


def test_arrays_of_dynamic_memory_have_one_start() -> None:
    """A store to one array writes the word that a load of another one reads."""
    head = HEAD.replace(".visible", ".extern .shared .align 16 .b8 a[];\n.extern .shared .align 16 .b8 b[];\n.visible")
    load = f"{MEET}ld.shared.u8 %r20, [a+5];\nld.shared.u8 %r21, [b+1];\nsetp.gt.u32 %p6, %r21, 1;\n@%p6 bra OUT;\n"
    tells = "@%p4 st.shared.u8 [a+5], 1;\n", "@%p4 st.shared.u64 [b], 0;\n"
    seen: list[set[str]] = []
    for first in (tells, tells[::-1]):
        body = kernel_of("".join(first) + MEET + SEE_ZERO, load=load, end="@%p4 st.shared.u8 [a+5], 7;\n")
        text = f"{head}{body}\nret;\n}}\n"
        said = races_in(text, smem=1024).verdict.value
        shown = launched(text, "k", (64,), smem=1024, params=[Buffer(8), 0, Buffer(8)], steps=3000).verdict
        assert said not in HARMLESS or shown == "free"
        seen.append({said, shown})
    assert any("race" in each for each in seen)


# ---- planted mistakes


def _big_end_first(patch: pytest.MonkeyPatch) -> None:
    right = handed._numbers

    def wrong(*given: Any) -> dict[Var, int]:
        known = right(*given)
        return dict(zip(known, reversed(known.values()), strict=True))

    patch.setattr(handed, "_numbers", wrong)


def _nothing_changes_meanwhile(patch: pytest.MonkeyPatch) -> None:
    """Stores behind a barrier come after all loads behind it."""
    right = Handed._interval
    patch.setattr(Handed, "_interval", lambda *given: replace(right(*given), stored=frozenset()))


def _the_highest_number(patch: pytest.MonkeyPatch) -> None:
    """Of two numbers that threads store before a barrier, the higher one stays."""

    def wrong(self: Handed, places: frozenset[tuple[int, int]], known: Mapping[Var, int]) -> dict[Var, int]:
        stored = [of for each in places for _, of in self._after(each)]
        return dict(known) | {each: max(of.get(each, 0) for of in stored) for of in stored for each in of}

    patch.setattr(Handed, "_behind", wrong)


def _all_stores_are_sure(patch: pytest.MonkeyPatch) -> None:
    right = Handed.stored

    def wrong(self: Handed, index: int, _: Callable[[Expr], bool | None]) -> dict[Var, Expr | None]:
        return right(self, index, lambda _: True)

    patch.setattr(Handed, "stored", wrong)


def _nobody_else_writes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Parts, "_keep_from_word", lambda *_: None)


PLANTED: list[tuple[Patch, str]] = [
    (_big_end_first, "a wider store, the bytes exchanged"),
    (_nothing_changes_meanwhile, "stored behind the barrier, in order by another one"),
    (_the_highest_number, "two lanes in order"),
    (_all_stores_are_sure, "stored if the launch says so"),
    (_nobody_else_writes, "a number of the launch, behind a command"),
]
"""Mistakes, each with a kernel that is called free once the mistake is in the code."""


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=[each.__name__ for each, _ in PLANTED])
def test_planted_mistakes_are_found(plant: Patch, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that is wrong is called free, or as harmless as no run says: the table finds the mistake."""
    monkeypatch.setattr(Runs, "searched", lambda _, found: found)
    assert found(name).verdict.value not in HARMLESS
    plant(monkeypatch)
    assert found(name).verdict.value in HARMLESS


# ---- random kernels


@pytest.mark.parametrize("count", counts(2, 100))
def test_what_has_no_mistake_is_harmless(count: int) -> None:
    for seed in range(count):
        right, _, block = drawn(seed, -1)
        text = PIPELINE_HEAD + "\n".join(right.lines) + "\nret;\n}\n"
        kernel = Kernel(seed, text, block, frozenset())
        assert {each.verdict for each in runs_of(kernel)} <= {*HARMLESS}, seed
