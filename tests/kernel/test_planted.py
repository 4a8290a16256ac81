"""Mistakes that are planted in the reading of kernels: the random kernels find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.kernel import calls, in_step, induction, linear, narrow, parameters, slices, special, uniform
from swzverify.compiled.kernel.arithmetic import add, mul, shift_right, widened
from swzverify.compiled.kernel.leaves import CarriedLeaf
from swzverify.compiled.kernel.opcodes import bits, comparisons, operation, whole_numbers
from swzverify.ir.expr import const, extract, var
from tests.kernel.test_programs import compared, held
from tests.kernel.traps import BODIES, text_of

Plant = Callable[[pytest.MonkeyPatch], None]


def shifts_without_sign(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bits, "shift_right", lambda a, n, **_: shift_right(a, n, signed=False))


def widening_without_sign(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(whole_numbers, "widened", lambda value, width, **_: widened(value, width))


def products_with_the_other_sign(patch: pytest.MonkeyPatch) -> None:
    original = whole_numbers._product
    patch.setattr(whole_numbers, "_product", lambda a, b, signed: original(a, b, signed=not signed))


def unsigned_compared_as_signed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(comparisons, "_UNSIGNED", {})


def guards_never_turned(patch: pytest.MonkeyPatch) -> None:
    def guard(self: Any, instruction: Any) -> Any:
        if instruction.guard is None:
            return const(1, 1)
        return (yield from self.before(instruction.guard.register, instruction.index))

    patch.setattr(slices.Slices, "guard", guard)


def guarded_writes_always_done(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(slices, "ite", lambda _condition, then, _otherwise: then)


def the_first_way_into_a_join(patch: pytest.MonkeyPatch) -> None:
    def pick(_self: Any, _block: int, options: Any) -> Any:
        yield from ()
        return options[0][1]

    patch.setattr(slices.Slices, "_pick", pick)


def steps_that_change(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(induction, "varies", lambda *_: False)


def one_counter_for_all_loops(patch: pytest.MonkeyPatch) -> None:
    def trips_of(reading: Any, loop: Any) -> Any:
        return reading.leaves.add(induction.TripsLeaf(var("trips", 1 << 64), "", 0, loop.header))

    patch.setattr(induction, "trips_of", trips_of)


def loops_that_end_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(induction, "add", lambda before, _steps: before)


def registers_that_begin_as_they_go_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(induction, "is_same", lambda *_: True)


def copies_that_begin_as_they_go_on(patch: pytest.MonkeyPatch) -> None:
    registers_that_begin_as_they_go_on(patch)


def _counted(patch: pytest.MonkeyPatch, change: Callable[[Any, Any, bool], tuple[Any, Any, bool]]) -> None:
    original = induction._Solver._count

    def count(self: Any, carried: Any, after: Any, begin: Any, *, signed: bool = False) -> None:
        after, begin, signed = change(after, begin, signed)
        original(self, carried, after, begin, signed=signed)

    patch.setattr(induction._Solver, "_count", count)


def counters_with_the_other_sign(patch: pytest.MonkeyPatch) -> None:
    _counted(patch, lambda after, begin, signed: (after, begin, not signed))


def counters_without_sign_with_one(patch: pytest.MonkeyPatch) -> None:
    counters_with_the_other_sign(patch)


def counters_of_a_bit_less(patch: pytest.MonkeyPatch) -> None:
    def less(after: Any, begin: Any, signed: bool) -> tuple[Any, Any, bool]:
        width = after.width - 1
        return induction.sum_of(extract(after.expression(), 0, width)), extract(begin, 0, width), signed

    _counted(patch, less)


def counters_that_never_wrap(patch: pytest.MonkeyPatch) -> None:
    def step(self: Any, carried: Any, after: Any) -> None:
        cut = induction.narrowed(after)
        inner = induction.sum_of(cut.operand if isinstance(cut, induction.Extend) else cut)
        own = induction.sum_of(extract(carried.variable, 0, inner.width))
        whole = induction.sum_of(widened(inner.plus(own, -1).expression(), cut.width))
        if self._is_counted(carried.variable, inner):
            self._count(carried, whole.plus(induction.sum_of(carried.variable)), carried.before)

    patch.setattr(induction._Solver, "_step", step)


def counters_that_begin_elsewhere(patch: pytest.MonkeyPatch) -> None:
    _counted(
        patch, lambda after, begin, signed: (after, shift_right(begin, const(1, begin.width), signed=False), signed)
    )


def registers_that_are_never_behind(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(induction, "sub", lambda value, _step: value)


def flips_in_all_trips(patch: pytest.MonkeyPatch) -> None:
    original = induction.flipped
    patch.setattr(induction, "flipped", lambda value, bits, _odd: original(value, bits, const(1, 1)))


def flips_that_are_added(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        induction,
        "flipped",
        lambda value, bits, odd: add(value, mul(widened(odd, value.width), const(bits, value.width))),
    )


def flips_above_which_nothing_stands_apart(patch: pytest.MonkeyPatch) -> None:
    def parted(total: linear.Sum, _bits: int) -> tuple[linear.Sum, linear.Sum]:
        return total, linear.Sum({}, 0, total.width)

    patch.setattr(linear, "_parted", parted)


def narrow_steps_that_change(patch: pytest.MonkeyPatch) -> None:
    steps_that_change(patch)


def masks_of_a_bit_less(patch: pytest.MonkeyPatch) -> None:
    original = narrow._mask
    patch.setattr(narrow, "_mask", lambda node: (original(node) or 1) - 1 or None)


def shifts_back_without_sign(patch: pytest.MonkeyPatch) -> None:
    original = narrow._back
    patch.setattr(narrow, "_back", lambda value, count, signed: original(value, count, signed=not signed))


def loops_that_all_leave_together(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(uniform.Uniformity, "_leaves_together", lambda *_: True)


def choices_that_do_not_part_lanes_in_a_loop(patch: pytest.MonkeyPatch) -> None:
    original = uniform._meets_inside

    def meets(flow: Any, loop: Any, block: int) -> bool:
        goes_out = any(target not in loop.blocks for target in flow.following[block])
        return original(flow, loop, block) or not goes_out

    patch.setattr(uniform, "_meets_inside", meets)


def lanes_that_stay_go_one_way(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(in_step.UniformityInStep, "_goes_one_way", lambda *_: True)


def inner_loops_in_step_whatever_outer_ones_are(patch: pytest.MonkeyPatch) -> None:
    original = in_step.UniformityInStep._leaves_together

    def leaves(self: Any, header: int) -> bool:
        kept, self.loops = self.loops, {each.header for each in self._flow.loops}
        found = original(self, header)
        self.loops = kept
        return found

    patch.setattr(in_step.UniformityInStep, "_leaves_together", leaves)


def values_that_are_shared_behind_loops(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(in_step.UniformityInStep, "left_together", {0, 1, 2, 3})


def moments_that_are_shared_in_any_loop(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(uniform.Uniformity, "_is_together", lambda *_: True)


def loads_that_are_shared_at_any_address(patch: pytest.MonkeyPatch) -> None:
    original = slices.Slices.moment
    patch.setattr(
        slices.Slices,
        "moment",
        lambda self, instruction, at, width, reason, _, **given: original(
            self, instruction, at, width, reason, (), **given
        ),
    )


def carried_values_that_are_shared(patch: pytest.MonkeyPatch) -> None:
    original = uniform.Uniformity._stays
    patch.setattr(
        uniform.Uniformity, "_stays", lambda self, leaf: isinstance(leaf, CarriedLeaf) or original(self, leaf)
    )


def coordinates_that_are_shared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(uniform.Threads, "is_uniform", lambda *_: True)


def rows_that_are_columns(patch: pytest.MonkeyPatch) -> None:
    original = special._coordinate
    patch.setattr(special, "_coordinate", lambda name, _axis, block, leaves: original(name, "x", block, leaves))


def what_is_not_known_is_zero(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(slices.Slices, "_unknown", lambda _self, _instruction, _at, width, *_, **__: const(0, width))


def calls_whose_guard_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    original = calls._Maker._call

    def call(self: Any, frame: Any, instruction: Any, callee: Any) -> None:
        operands = instruction.operands
        original(self, frame, instruction.copied(instruction.index, "call", operands, None, None), callee)

    patch.setattr(calls._Maker, "_call", call)


def arguments_in_another_order(patch: pytest.MonkeyPatch) -> None:
    original = calls._pairs

    def pairs(call: Any, callee: Any) -> Any:
        (one, first), *rest, (four, last), result = original(call, callee)
        return [(four, first), *rest, (one, last), result]

    patch.setattr(calls, "_pairs", pairs)


def narrow_arguments_without_sign(patch: pytest.MonkeyPatch) -> None:
    original = calls._Maker._add

    def add(self: Any, frame: Any, instruction: Any, opcode: str, operands: Any) -> None:
        original(self, frame, instruction, opcode.replace("cvt.s32.s8", "cvt.u32.u8"), operands)

    patch.setattr(calls._Maker, "_add", add)


def registers_that_callers_share(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(calls._Frame, "scope", lambda _, number: number)


def returns_that_end_the_kernel(patch: pytest.MonkeyPatch) -> None:
    original = calls._Maker._add

    def add(self: Any, frame: Any, instruction: Any, opcode: str, operands: Any) -> None:
        if instruction.opcode == "ret" and instruction.guard:
            opcode, operands = "ret", ()
        original(self, frame, instruction, opcode, operands)

    patch.setattr(calls._Maker, "_add", add)


def pieces_that_all_begin_at_zero(patch: pytest.MonkeyPatch) -> None:
    original = parameters.place_of

    def place(instruction: Any) -> Any:
        found = original(instruction)
        return found and replace(found, offset=0)

    for module in (parameters, calls):
        patch.setattr(module, "place_of", place)


def arguments_that_the_callee_shares_with_results(patch: pytest.MonkeyPatch) -> None:
    original = calls.names_in
    patch.setattr(calls, "names_in", lambda operands: () if len(operands) == 1 else original(operands))


PLANTED: dict[Plant, int | str] = {
    shifts_without_sign: 53,
    widening_without_sign: 0,
    products_with_the_other_sign: 0,
    unsigned_compared_as_signed: "a comparison without sign",
    guards_never_turned: 0,
    guarded_writes_always_done: 0,
    the_first_way_into_a_join: 0,
    steps_that_change: "a step that steps",
    one_counter_for_all_loops: "two loops",
    loops_that_end_at_once: 2,
    registers_that_begin_as_they_go_on: "a narrow counter that begins with more bits",
    copies_that_begin_as_they_go_on: "a copy of a counter that begins elsewhere",
    counters_with_the_other_sign: "a counter of 16 bits",
    counters_without_sign_with_one: "a counter of 16 bits without sign",
    counters_of_a_bit_less: "a counter of 16 bits without sign",
    counters_that_never_wrap: "a counter of 16 bits without sign",
    counters_that_begin_elsewhere: "a counter of 16 bits without sign",
    registers_that_are_never_behind: "a register that is one trip behind",
    narrow_steps_that_change: "a narrow step that steps",
    flips_in_all_trips: "an address whose bits flip",
    flips_that_are_added: "an address whose bits flip",
    flips_above_which_nothing_stands_apart: "an address whose bits flip",
    masks_of_a_bit_less: "a counter of 8 bits by a mask",
    shifts_back_without_sign: "a counter that is cut by shifts",
    loops_that_all_leave_together: "trips by lane and parameter",
    choices_that_do_not_part_lanes_in_a_loop: "lanes that go on early",
    lanes_that_stay_go_one_way: "a trip that lanes begin early",
    inner_loops_in_step_whatever_outer_ones_are: "lanes that run an inner loop anew",
    values_that_are_shared_behind_loops: "a break of some lanes",
    moments_that_are_shared_in_any_loop: "a load in trips by lane",
    loads_that_are_shared_at_any_address: "a load at an address of each lane",
    carried_values_that_are_shared: "a value that each trip makes of a lane",
    coordinates_that_are_shared: "trips by row and parameter",
    rows_that_are_columns: "rows",
    what_is_not_known_is_zero: "a load of what was stored",
    calls_whose_guard_is_forgotten: "a call by registers",
    arguments_in_another_order: "a call",
    narrow_arguments_without_sign: "a byte with a sign",
    registers_that_callers_share: "two calls",
    returns_that_end_the_kernel: "a return of some lanes",
    pieces_that_all_begin_at_zero: "a pair",
    arguments_that_the_callee_shares_with_results: "a variable for argument and result",
}
"""Each mistake with the seed of a random kernel, or the trap, that finds it."""


@pytest.fixture(autouse=True)
def _without_memory() -> Iterator[None]:
    operation.cache_clear()
    yield
    operation.cache_clear()


@pytest.mark.parametrize(("plant", "where"), PLANTED.items(), ids=[each.__name__ for each in PLANTED])
def test_a_planted_mistake_is_found(plant: Plant, where: int | str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    found = held(where) if isinstance(where, int) else compared(text_of(BODIES[where]), (16, 4, 1), 3)
    assert found.wrong
