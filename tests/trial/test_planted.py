"""Mistakes planted in trials, one at a time: each is found by what the chip or the oracle says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.trial import atomics, code, exchange, floats, lanes, machine, memory
from swzverify.compiled.trial.memory import Array, Mask
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
PROGRAMS = 8
FLOATS = (1, 4, 30, 106, 134)
"""Random kernels on floats."""
OTHER = ".shared .align 4 .b8 other[256];\n"


def mistakes() -> Iterator[str]:
    """What trials say and the chip and the oracle do not say; a planted mistake needs the first alone."""
    out = Compared()
    for body, outside in ((BARRIER, ""), (ARRAYS, OTHER)):
        compared(f"{TOP}{outside}{HEAD}{body}\nret; }}", (64, 1, 1), out)
    yield from out.differ
    for seed in FLOATS:
        out = Compared()
        compared(program(seed), (64, 1, 1), out)
        yield from out.differ
    for case, chip in list(zip(all_cases(), data()["answers"], strict=False))[::STEP]:
        if not answered(case, chip)[1]:
            yield case.name
    for seed in range(PROGRAMS):
        if (run_program(seed)[1] != data()["traces"][seed].reshape(-1)).any():
            yield f"program {seed}"
    yield from random_kernels(0, 2).differ


def test_nothing_is_found_without_a_mistake() -> None:
    assert not list(mistakes())


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


def all_at_one_place(self: Any, symbols: list[Any], _dynamic_bytes: int) -> None:
    self.starts = (machine.SHARED_BEGIN,)
    for symbol in symbols:
        if symbol.space == "shared":
            self.addresses[machine.SymbolRef(symbol.name, symbol.scope)] = machine.SHARED_BEGIN
    self.regions.append(memory.Region(machine.SHARED_WINDOW + machine.SHARED_BEGIN, 1 << 16))


def store_known(self: Any, addresses: Array, threads: Array, width_bytes: int, values: Array, _known: Mask) -> None:
    STORE(self, addresses, threads, width_bytes, values, np.ones(len(values), dtype=np.bool_))


STORE = memory.Memory.store


def guards_hold(self: Any, instruction: Any, active: Mask) -> None:
    self._do(instruction, active)


def one_source(self: Any, target: Any, values: Array, known: Mask, _active: Mask) -> None:
    WRITE(self, target, values, known, self.everything)


WRITE = lanes.Lanes.write


def rounded_twice(first: Any, second: Any, third: Any) -> tuple[Any, Mask]:
    return (first * second + third).astype(first.dtype), np.ones(len(first), dtype=np.bool_)


def smaller(_least: bool, first: Any, second: Any) -> Any:
    return np.fmin(first, second)


PLANTED: dict[str, tuple[object, str, Any]] = {
    "a load of a signed type is not widened": (code, "signed", as_it_is),
    "results keep bits beyond their width": (lanes, "cut", as_it_is),
    "all lanes always vote": (exchange, "_ballot", never_less),
    "an atomic changes nothing": (atomics, "_new", lost),
    "what is behind a loop runs before it": (machine, "in_one_piece", loops_last),
    "nobody waits at a barrier": (machine._Machine, "_wait", nobody_waits),
    "arrays overlap": (machine._Placed, "_shared", all_at_one_place),
    "what was not computed is stored as known": (memory.Memory, "store", store_known),
    "guards always hold": (code.Code, "run", guards_hold),
    "lanes that are elsewhere are written too": (lanes.Lanes, "write", one_source),
    "a fused product is rounded before the sum": (floats, "_fused", rounded_twice),
    "the greater one of two floats is the smaller one": (floats, "_extreme", smaller),
    "floats are rounded to whole numbers towards zero": (floats, "_ROUNDED", dict.fromkeys(floats._ROUNDED, np.trunc)),
    "less is not less": (floats, "_TOLD", {**floats._TOLD, "lt": np.less_equal}),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_mistake_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, attribute, wrong = PLANTED[name]
    monkeypatch.setattr(where, attribute, wrong)
    # Nothing may be left of other orders.
    monkeypatch.setattr(machine, "_paths", machine._paths.__wrapped__)
    try:
        found = bool(next(mistakes(), ""))
    except AssertionError as error:
        # A trial that faults where the chip does not is found, too.
        found = any(word in str(error) for word in ("outside", "aligned"))
    assert found
