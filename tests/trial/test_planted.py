"""Mistakes planted in trials, one at a time: each is found by what the chip or the oracle says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.trial import atomics, code, exchange, floats, lanes, machine, memory, placement, schedule
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES
from tests.kernel.texts import HEAD, TOP
from tests.ptx_oracle.case_list import all_cases
from tests.ptx_oracle.test_chip import data
from tests.trial.float_programs import program
from tests.trial.test_against_oracle import Compared, compared, random_kernels
from tests.trial.test_chip import answered, run_program

BARRIER = """
setp.lt.u32 %p1, %r1, 32; shl.b32 %r20, %r1, 2; add.u32 %r20, %r20, %r3;
@!%p1 bra S;
bar.sync 0;
ld.shared.u32 %r5, [%r20]; and.b32 %r5, %r5, 60; add.u32 %r5, %r5, %r3; ld.shared.u32 %r6, [%r5];
bra E;
S: st.shared.u32 [%r20+-128], %r20; bar.sync 0;
E: bar.sync 0;
"""
"""The first warp reads what the second one wrote before the barrier."""
ARRAYS = """
mov.u32 %r4, other; shl.b32 %r20, %r1, 2; add.u32 %r5, %r4, %r20; add.u32 %r20, %r20, %r3;
mov.u32 %r6, 12; st.shared.u32 [%r20], %r6; mov.u32 %r7, 60; st.shared.u32 [%r5], %r7;
ld.shared.u32 %r8, [%r20]; mad.lo.u32 %r8, %r8, %r1, %r3; ld.shared.u32 %r9, [%r8];
"""
"""Two arrays do not overlap."""
STEP = 9
"""Each so many of the single instructions are run."""
REDUCTIONS = slice(509, 512)
"""Single instructions that reduce at a barrier."""
PROGRAMS = 8
FLOATS = (1, 4, 30, 106, 134)
"""Random kernels on floats."""
OTHER = ".shared .align 4 .b8 other[256];\n"


WHICH = [pytest.param(False, id="remembered"), pytest.param(True, marks=pytest.mark.nightly, id="all")]
"""Whether all questions are asked, or those that are known to show a mistake."""
Question = Callable[[], bool]


def text_differs(text: str) -> bool:
    out = Compared()
    compared(text, (64, 1, 1), out)
    return bool(out.differ)


def program_differs(seed: int) -> bool:
    return bool((run_program(seed)[1] != data()["traces"][seed].reshape(-1)).any())


def questions() -> dict[str, Question]:
    """Whether trials differ from the oracle or the chip, by what is run."""
    found: dict[str, Question] = {
        "barrier": lambda: text_differs(f"{TOP}{HEAD}{BARRIER}\nret; }}"),
        "arrays": lambda: text_differs(f"{TOP}{OTHER}{HEAD}{ARRAYS}\nret; }}"),
    }
    for seed in FLOATS:
        found[f"floats {seed}"] = lambda seed=seed: text_differs(program(seed))
    every = list(enumerate(zip(all_cases(), data()["answers"], strict=False)))
    for at, (case, chip) in (*every[::STEP], *every[REDUCTIONS]):
        found[f"case {at}"] = lambda case=case, chip=chip: not answered(case, chip)[1]
    for seed in range(PROGRAMS):
        found[f"program {seed}"] = lambda seed=seed: program_differs(seed)
    found["random kernels"] = lambda: bool(random_kernels(0, 2).differ)
    return found


@pytest.mark.parametrize("every", WHICH)
def test_nothing_is_found_without_a_mistake(every: bool) -> None:
    asked = questions()
    names = asked if every else {shown_by for *_, shown_by in PLANTED.values()}
    assert [name for name in names if asked[name]()] == []


def as_it_is(values: Array, _width: int) -> Array:
    return values


def never_less(_which: Mask) -> Array:
    return np.full(len(_which), (1 << 32) - 1, dtype=np.int64)


def lost(_operation: str, _kind: str, _width: int, old: int, _values: list[int]) -> int:
    return old


def loops_last(flow: Any) -> list[int]:
    return sorted(set(flow.place) - {flow.exit}, key=lambda block: (len(flow.around(block)) > 0, flow.place[block]))


def nobody_waits(self: Any, instruction: Any, active: Mask, block: Any) -> None:
    behind = instruction.index + 1
    self.at[active] = behind if behind < block.stop else self._start(block.ways[0].target)


def of_first_warp(instruction: Any, lanes: Any, active: Mask) -> None:
    alone = active & (np.arange(lanes.threads) < LANES)
    REDUCE(instruction, lanes, alone)
    value, known = lanes.read(instruction.operands[0], 1 if instruction.opcode.endswith(".pred") else 32)
    lanes.write(instruction.operands[0], np.full(lanes.threads, value[0]), known[:1].repeat(lanes.threads), active)


REDUCE = machine.reduce_at_barrier


def all_at_one_place(self: Any, symbols: list[Any], _dynamic_bytes: int) -> None:
    self.starts = ((placement.SHARED_BEGIN, 1),)
    for symbol in symbols:
        if symbol.space == "shared":
            self.addresses[placement.SymbolRef(symbol.name, symbol.scope)] = placement.SHARED_BEGIN
    self.regions.append(memory.Region(memory.SHARED_WINDOW + placement.SHARED_BEGIN, 1 << 16))


def write_known(self: Any, reached: Any, offset: int, width_bytes: int, values: Array, _known: Mask) -> None:
    WRITE_WORDS(self, reached, offset, width_bytes, values, np.ones(len(values), dtype=np.bool_))


WRITE_WORDS = memory.Memory.write


def guards_hold(self: Any, instruction: Any, active: Mask) -> None:
    self._do(instruction, active)


def one_source(self: Any, target: Any, values: Array, known: Mask, _active: Mask, **fits: bool) -> None:
    WRITE(self, target, values, known, self.everything, **fits)


WRITE = lanes.Lanes.write


def rounded_twice(first: Any, second: Any, third: Any) -> tuple[Any, Mask]:
    return (first * second + third).astype(first.dtype), np.ones(len(first), dtype=np.bool_)


def smaller(_least: bool, first: Any, second: Any) -> Any:
    return np.fmin(first, second)


PLANTED: dict[str, tuple[object, str, Any, str]] = {
    "a load of a signed type is not widened": (code, "signed", as_it_is, "case 207"),
    "results keep bits beyond their width": (lanes, "cut", as_it_is, "case 612"),
    "all lanes always vote": (exchange, "_ballot", never_less, "program 0"),
    "an atomic changes nothing": (atomics, "_new", lost, "case 477"),
    "what is behind a loop runs before it": (schedule, "in_one_piece", loops_last, "program 3"),
    "nobody waits at a barrier": (machine.Machine, "_wait", nobody_waits, "barrier"),
    "a barrier reduces one warp": (machine, "reduce_at_barrier", of_first_warp, "case 509"),
    "arrays overlap": (placement.Placement, "_shared", all_at_one_place, "arrays"),
    "what was not computed is stored as known": (memory.Memory, "write", write_known, "case 90"),
    "guards always hold": (code.Code, "run", guards_hold, "random kernels"),
    "lanes that are elsewhere are written too": (lanes.Lanes, "write", one_source, "case 504"),
    "a fused product is rounded before the sum": (floats, "_fused", rounded_twice, "floats 106"),
    "the greater one of two floats is the smaller one": (floats, "_extreme", smaller, "floats 134"),
    "floats are rounded to whole numbers towards zero": (
        floats,
        "_ROUNDED",
        dict.fromkeys(floats._ROUNDED, np.trunc),
        "floats 1",
    ),
    "less is not less": (floats, "_TOLD", {**floats._TOLD, "lt": np.less_equal}, "floats 4"),
}
"""What is replaced, by what, and the question that shows it."""


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["remembered", "searched"]
)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, every: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, wrong, shown_by = PLANTED[name]
    asked = questions()
    monkeypatch.setattr(where, attribute, wrong)
    # Nothing may be left of other orders.
    monkeypatch.setattr(machine, "paths_of", machine.paths_of.__wrapped__)
    try:
        found = any(each() for each in (asked.values() if every else [asked[shown_by]]))
    except AssertionError as error:
        # A trial that faults where the chip does not is found, too.
        found = any(word in str(error) for word in ("outside", "aligned"))
    assert found
