"""Each trap has its verdict, and planted mistakes change the verdict of the trap that is there for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from swzverify.compiled.kernel import ArrayLeaf
from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.register_values import Registers
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order import arrays, in_memory, intervals, pairs, step
from swzverify.compiled.order.barriers import Orders, Scope, orders_of
from swzverify.compiled.order.instance import Instances, Place
from swzverify.compiled.order.intervals import Meeting, Trip, Trips, meetings
from swzverify.compiled.order.step import InStep, Sharing
from swzverify.compiled.ptx import Instruction
from swzverify.compiled.scan import race_witness
from swzverify.compiled.scan import races as judge
from swzverify.compiled.scan.race_replay import Runs
from swzverify.ir.expr import TRUE
from tests.order.conftest import races
from tests.order.traps import TRAPS

Patch = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("name", TRAPS)
def test_verdict(name: str) -> None:
    """The verdict is the one that a reader of the kernel gives."""
    trap = TRAPS[name]
    assert races(trap.body, trap.threads).verdict.value == trap.verdict


def _path_is_needed(patch: pytest.MonkeyPatch) -> None:
    """A meeting needs a path from one access to the other."""

    def wrong(kernel: Kernel, threads: InStep, *_: object) -> list[Meeting]:
        def leads(one: int, two: int) -> bool:
            blocks = reached([kernel.flow.block_of[one]], kernel.flow.following, lambda _: False)
            return kernel.flow.block_of[two] in blocks

        found = meetings(kernel, threads)
        return [each for each in found if leads(each.first, each.second) or leads(each.second, each.first)]

    patch.setattr(judge, "meetings", wrong)


def _back_edge_forgotten(patch: pytest.MonkeyPatch) -> None:
    """An edge back to a loop's header begins no new trip."""
    patch.setattr(intervals, "_next", lambda trip: trip)


def _lockstep(patch: pytest.MonkeyPatch) -> None:
    """Lanes of a warp are taken to run in lockstep."""
    right = judge._Judge.__init__

    def wrong(self: object, *args: object, is_lockstep: bool) -> None:
        del is_lockstep
        right(self, *args, is_lockstep=True)  # pyright: ignore[reportArgumentType]

    patch.setattr(judge._Judge, "__init__", wrong)


def _trips_are_tied(patch: pytest.MonkeyPatch) -> None:
    """Loops whose trips are not known are taken to be in one trip."""
    right = Instances.place

    def wrong(self: Instances, block: int, trips: Trips) -> Place:
        return tuple((header, trip or Trip(is_absolute=False, number=0)) for header, trip in right(self, block, trips))

    patch.setattr(Instances, "place", wrong)


def _trips_unrelated(patch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the trips of loops in step."""
    right = Instances.place

    def wrong(self: Instances, block: int, trips: Trips) -> Place:
        return tuple((header, None) for header, _ in right(self, block, trips))

    patch.setattr(Instances, "place", wrong)


def _warp_for_block(patch: pytest.MonkeyPatch) -> None:
    """What a warp shares is taken as shared by the block."""
    right = Sharing.__init__

    def wrong(self: Sharing, kernel: Kernel, scope: Scope, barriers: set[int], **given: Any) -> None:
        del scope
        right(self, kernel, Scope.WARP, barriers, **given)

    patch.setattr(Sharing, "__init__", wrong)


def _array_of_the_symbol(patch: pytest.MonkeyPatch) -> None:
    """The array of an address is that of the symbols in it."""

    def wrong(kernel: Kernel, address: pairs.Expr) -> frozenset[str]:
        return frozenset(each.name for each in pairs.variables(address) if isinstance(kernel.leaves[each], ArrayLeaf))

    patch.setattr(arrays, "arrays_of", wrong)


def _any_array_counts(patch: pytest.MonkeyPatch) -> None:
    """A choice between an array and what is not followed is in the array."""
    right = arrays.arrays_of
    patch.setattr(arrays, "arrays_of", lambda *known: right(*known) - {""})


def _atomic_with_plain(patch: pytest.MonkeyPatch) -> None:
    """An atomic and a load do not race."""
    right = intervals._Walk.can_race

    def wrong(self: intervals._Walk, first: int, second: int) -> bool:
        accesses = self._accesses[first], self._accesses[second]
        return right(self, first, second) and not any(each.is_atomic for each in accesses)

    patch.setattr(intervals._Walk, "can_race", wrong)


def _one_group_too_few(patch: pytest.MonkeyPatch) -> None:
    """`wait_group N` waits for the last group but N - 1."""
    right = intervals._waited

    def wrong(instruction: Instruction, groups: int, *, is_done: bool) -> tuple[int, bool]:
        found = right(instruction, groups, is_done=is_done)
        return (found[0], found[1] or instruction.opcode == "cp.async.wait_group")

    patch.setattr(intervals, "_waited", wrong)


def _copies_end_at_barriers(patch: pytest.MonkeyPatch) -> None:
    """A copy is done at the next barrier, whether its thread has waited or not."""
    patch.setattr(intervals._Walk, "_flights", lambda _self, _index: ())


def _every_choice_is_shared(patch: pytest.MonkeyPatch) -> None:
    """All threads take one edge of every choice."""
    patch.setattr(Sharing, "is_shared_choice", lambda _self, _block: True)


def _choices_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Two threads may take different edges where all take one."""
    patch.setattr(intervals, "_contradict", lambda _first, _second: False)
    right = pairs.Asked.question
    patch.setattr(pairs.Asked, "question", lambda self, _way=None: right(self))


def _no_divergence(patch: pytest.MonkeyPatch) -> None:
    """Every barrier is reached by all threads."""
    patch.setattr(step, "_missed", lambda *_: {})


def _in_step_in_any_case(patch: pytest.MonkeyPatch) -> None:
    """Threads that pass by the barrier of a loop are still in step."""
    patch.setattr(Sharing, "_around_barriers", lambda _self, _header: [])


def _shuffles_order(patch: pytest.MonkeyPatch) -> None:
    """A shuffle is a barrier of the warp."""

    def wrong(kernel: Kernel) -> Orders:
        found = orders_of(kernel)
        shuffles = [each.index for each in kernel.function.instructions if each.opcode.startswith("shfl")]
        return Orders({**found.barriers, **dict.fromkeys(shuffles, Scope.WARP)}, found.unmodelled, found.left_out)

    patch.setattr(judge, "orders_of", wrong)


def _warp_barrier_for_block(patch: pytest.MonkeyPatch) -> None:
    """A barrier of a warp orders the block."""

    def wrong(kernel: Kernel) -> Orders:
        found = orders_of(kernel)
        return Orders(dict.fromkeys(found.barriers, Scope.BLOCK), found.unmodelled, found.left_out)

    patch.setattr(judge, "orders_of", wrong)


def _every_barrier_counts(patch: pytest.MonkeyPatch) -> None:
    """A barrier with a count is one of the block."""
    patch.setattr("swzverify.compiled.order.barriers._is_whole", lambda *_: True)


def _accesses_are_left_out(patch: pytest.MonkeyPatch) -> None:
    """An access that is not modelled is none."""
    right = Kernel.__init__

    def wrong(self: Kernel, *args: object) -> None:
        right(self, *args)  # pyright: ignore[reportArgumentType]
        self.accesses = [each for each in self.accesses if not each.reason]

    patch.setattr(Kernel, "__init__", wrong)


def _unknown_is_a_witness(patch: pytest.MonkeyPatch) -> None:
    """A value that nobody knows is what a witness needs."""
    patch.setattr(race_witness, "is_loose", lambda _leaf: False)


def _no_sign(patch: pytest.MonkeyPatch) -> None:
    """Terms of an offset have no sign."""
    patch.setattr(in_memory, "_of_some_sign", lambda term, _name, width: in_memory.widened(term, width))


def _offsets_wrap(patch: pytest.MonkeyPatch) -> None:
    """An offset may be 4 GiB behind its array."""
    patch.setattr(pairs, "is_in_memory", lambda *_: TRUE)


def _trips_without_end(patch: pytest.MonkeyPatch) -> None:
    """A counted loop may have more trips than it has."""
    patch.setattr(Instances, "_keep_most", lambda *_: None)


def _first_value_alone(patch: pytest.MonkeyPatch) -> None:
    """A register has in every trip one of the values that it has before the loop."""
    patch.setattr(Registers, "_may_repeat", lambda *_: False)


PLANTED: list[tuple[Patch, str, str]] = [
    (_path_is_needed, "two arms", "free"),
    (_back_edge_forgotten, "next trip", "free"),
    (_lockstep, "one warp", "free"),
    (_trips_are_tied, "no barrier in a loop", "free"),
    (_trips_unrelated, "two stages", "depends"),
    (_warp_for_block, "value of a warp", "free"),
    (_array_of_the_symbol, "array carried in a register", "free"),
    (_any_array_counts, "array or a pointer from local memory", "free"),
    (_any_array_counts, "array, and then a pointer from local memory", "free"),
    (_atomic_with_plain, "atomic and load", "free"),
    (_one_group_too_few, "copy, one group left", "free"),
    (_copies_end_at_barriers, "copy, barrier before the wait", "free"),
    (_every_choice_is_shared, "two arms", "free"),
    (_trips_without_end, "values of a register, which turns to 0", "race"),
    (_first_value_alone, "multiples that become even", "free"),
    (_choices_are_forgotten, "barrier in one arm", "depends"),
    (_no_divergence, "some miss the barrier", "race"),
    (_in_step_in_any_case, "barriers in other trips", "race"),
    (_shuffles_order, "shuffle", "free"),
    (_warp_barrier_for_block, "barrier of a warp for the block", "free"),
    (_every_barrier_counts, "named barrier", "free"),
    (_accesses_are_left_out, "bulk copy", "free"),
    (_unknown_is_a_witness, "value that nobody knows", "race"),
    (_no_sign, "offset below 0", "free"),
    (_offsets_wrap, "offset beyond 32 bits", "depends"),
]


@pytest.mark.parametrize(
    ("plant", "name", "wrong"), PLANTED, ids=[f"{each[0].__name__}: {each[1]}" for each in PLANTED]
)
def test_planted_mistake(plant: Patch, name: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the analysis shows: the trap has another verdict then, before a run confirms any race."""
    monkeypatch.setattr(Runs, "confirmed", lambda _, found, *__: found)
    plant(monkeypatch)
    trap = TRAPS[name]
    assert wrong != trap.verdict
    assert races(trap.body, trap.threads).verdict.value == wrong
