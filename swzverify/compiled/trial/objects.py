"""Mbarrier objects of a block: their counts, their phases, and what each phase tells the threads that wait for it.

A phase is complete when its arrivals and its bytes have come. What the arriving threads did before, and the copies
whose bytes counted in the phase, come before what follows a wait for it.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier, cp.async.mbarrier.arrive;
docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel.effects import width_of
from swzverify.compiled.ptx import Address, Instruction, Operand, Register
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.history import Accesses, History
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, FaultError, Mask
from swzverify.compiled.trial.misses import Misuse

OBJECT_BYTES: Final = 8
NOT_MADE: Final = "thread {} uses a barrier object that nobody has initialised"
HAS_ENDED: Final = "thread {} uses a barrier object behind its `mbarrier.inval`"
IN_USE: Final = "thread {} initialises a barrier object that is in use: `mbarrier.inval` has to end it first"
TOO_OFTEN: Final = "thread {} arrives at a barrier object more often than its phase expects"


@dataclass(slots=True)
class Mbarrier:
    """One object.

    Attributes:
        expected: The arrivals of each phase.
        pending: The arrivals that the phase still lacks.
        component: Its component in what threads know.
        coming: What the arrivals of the phase tell.
        passed: What a wait for the phase before tells.
        bytes: The bytes that the phase still lacks; below 0 if copies came before they were expected.
        phase: The number of the phase.
        landed: The copies whose bytes have counted in the phase.
    """

    expected: int
    pending: int
    component: int
    coming: Array
    passed: Array
    bytes: int = 0
    phase: int = 0
    landed: int = 0


@dataclass(frozen=True, slots=True)
class Landing:
    """A copy in flight whose bytes count at an object when it lands.

    Attributes:
        place: The address of the object.
        size: Its bytes; None for a box of a tensor map.
        access: What it touches; None if that is not known.
        land: Writes its data. It is given the bytes that the object lacks, and whether no other copy brings some of
            them. What it touches beside `access` is the result.
    """

    place: int
    size: int | None
    access: Accesses | None
    land: Callable[[int, bool], Accesses | None]


class Objects:
    """The objects of a block, by their addresses; `on_phase` is told the address of each phase that completes.

    `has_boxes` says whether boxes of tensor maps were copied, of which the bytes are assumed. `misuse` is an operation
    on an object that is in no state for it.
    """

    def __init__(self, lanes: Lanes, history: History, on_phase: Callable[[int], None]) -> None:
        self._lanes, self._history, self._on_phase = lanes, history, on_phase
        self._found: dict[int, Mbarrier] = {}
        self._ended: set[int] = set()
        self._landings: list[Landing] = []
        self.has_boxes = False
        self.misuse: Misuse | None = None

    def run(self, instruction: Instruction, places: Array, active: Mask) -> None:
        """An operation that no thread waits at, on objects at `places`.

        Raises:
            EndError: A value is not known, or an object is in no state for the operation: then `misuse` is set.
        """
        words = instruction.opcode.split(".")
        threads = np.flatnonzero(active)
        if words[0] == "cp":
            self._arrive_by_copies(instruction, threads, places)
            return
        operation = words[1]
        behind = _behind_address(instruction)
        if operation == "inval":
            for place, mine in _by_place(threads, places):
                self._used(instruction, place, mine)
                del self._found[place]
                self._ended.add(place)
            return
        if operation == "init":
            self._init(instruction, threads, places, self._number(behind[0], active))
            return
        tells = "relaxed" not in words and operation in ("arrive", "arrive_drop")
        expects = operation == "expect_tx" or "expect_tx" in words
        size = self._number(behind[0], active) if behind else np.ones(len(active), dtype=np.int64)
        state = np.zeros(len(active), dtype=np.int64)
        for place, mine in _by_place(threads, places):
            found = self._used(instruction, place, mine)
            if expects or operation == "complete_tx":
                found.bytes += int(size[mine].sum()) * (-1 if operation == "complete_tx" else 1)
            if operation in ("expect_tx", "complete_tx"):
                self._settle(place)
                continue
            counts = np.ones(len(mine), dtype=np.int64) if expects else size[mine]
            self._arrive(instruction, mine, counts, place=place, tells=tells, state=state)
        if operation in ("arrive", "arrive_drop"):
            self._lanes.write(instruction.operands[0], state, self._lanes.everything, active)

    def passes(self, instruction: Instruction, places: Array, active: Mask) -> Mask:
        """The threads for which a wait answers true; they learn what the phase tells."""
        words = instruction.opcode.split(".")
        threads = np.flatnonzero(active)
        wanted = self._number(_behind_address(instruction)[0], active)
        found = np.zeros(len(active), dtype=np.bool_)
        for place, mine in _by_place(threads, places):
            each = self._used(instruction, place, mine)
            own = each.phase & 1 != wanted[mine] & 1 if "parity" in words else each.phase > wanted[mine]
            passing = mine[own]
            found[passing] = True
            if len(passing) and "relaxed" not in words:
                self._history.knowledge.learn(passing, each.passed)
        return found

    def _used(self, instruction: Instruction, place: int, threads: Array) -> Mbarrier:
        """The object at an address, which some threads work on."""
        if place not in self._found:
            raise self._misused(instruction, HAS_ENDED if place in self._ended else NOT_MADE, int(threads[0]))
        return self._found[place]

    def _misused(self, instruction: Instruction, reason: str, thread: int) -> EndError:
        """The error by which the run ends, as an object is in no state for what a thread does."""
        self.misuse = Misuse(instruction.line, instruction.opcode, reason.format(thread))
        return EndError(self.misuse.reason)

    def at(self, place: int) -> Mbarrier:
        """The object at an address."""
        if place not in self._found:
            raise EndError("an mbarrier object is used that was not initialised")
        return self._found[place]

    def send(self, landing: Landing) -> None:
        """A copy is in flight.

        Raises:
            FaultError: Its object expects no box.
        """
        if landing.size is None:
            self.has_boxes = True
            if self.at(landing.place).bytes <= 0:
                raise FaultError("a box is copied that its object does not expect")
        self.at(landing.place)
        self._landings.append(landing)

    def land(self) -> bool:
        """Let the copy that is longest in flight land; False if there is none."""
        if not self._landings:
            return False
        landing = self._landings.pop(0)
        found = self.at(landing.place)
        others = [each.size for each in self._landings if each.place == landing.place]
        for access in (landing.access, landing.land(found.bytes, not others and not found.landed)):
            if access is not None:
                access.components[:], access.closes[:] = found.component, found.phase + 1
        found.landed += 1
        if landing.size is not None:
            found.bytes -= landing.size
        elif None not in others:
            # The boxes bring what is expected: docs/semantics.md, section 11, boxes in a run.
            found.bytes = sum(each for each in others if each is not None)
        self._settle(landing.place)
        return True

    def _init(self, instruction: Instruction, threads: Array, places: Array, counts: Array) -> None:
        for place, mine in _by_place(threads, places):
            if place in self._found:
                raise self._misused(instruction, IN_USE, int(mine[0]))
            component = self._history.knowledge.new_object()
            if component is None:
                raise EndError("there are too many mbarrier objects")
            count, nothing = int(counts[mine[-1]]), self._history.knowledge.nothing()
            if count < 1:
                raise FaultError("an mbarrier object is initialised without a count")
            self._found[place] = Mbarrier(count, count, component, nothing, nothing)

    def _arrive(
        self, instruction: Instruction, threads: Array, counts: Array, *, place: int, tells: bool, state: Array
    ) -> None:
        """Arrivals of several threads, in their order; a phase may complete between two of them."""
        found, drops = self._used(instruction, place, threads), "arrive_drop" in instruction.opcode
        left = threads
        while len(left):
            sums = np.cumsum(counts)
            fits = int(np.searchsorted(sums, found.pending, side="right"))
            if not fits:
                raise self._misused(instruction, TOO_OFTEN, int(left[0]))
            now, left = left[:fits], left[fits:]
            state[now] = found.phase
            if tells:
                found.coming = np.maximum(found.coming, self._history.told(now))
            found.pending -= int(sums[fits - 1])
            if drops:
                found.expected -= int(sums[fits - 1])
            counts = counts[fits:]
            self._settle(place)

    def _arrive_by_copies(self, instruction: Instruction, threads: Array, places: Array) -> None:
        """Each thread's copies so far arrive once they have landed, which is at once."""
        one, state = np.ones(1, dtype=np.int64), np.zeros_like(places)
        for thread in threads.tolist():
            place, mine = int(places[thread]), np.array([thread])
            found = self._used(instruction, place, mine)
            found.pending += ".noinc" not in instruction.opcode
            self._history.end_copies(thread, found.component, found.phase + 1)
            self._arrive(instruction, mine, one, place=place, tells=True, state=state)

    def _settle(self, place: int) -> bool:
        """Complete the phase if nothing is lacking."""
        found = self.at(place)
        if found.pending or found.bytes:
            return False
        found.phase, found.landed = found.phase + 1, 0
        found.passed = np.maximum(found.passed, found.coming)
        found.passed[found.component] = found.phase
        found.coming, found.pending = self._history.knowledge.nothing(), found.expected
        self._on_phase(place)
        return True

    def _number(self, operand: Operand, active: Mask) -> Array:
        width = width_of(operand) if isinstance(operand, Register) else 32
        values, known = self._lanes.read(operand, width)
        if (active & ~known).any():
            raise EndError("a number of an mbarrier object is not known")
        return values


def _behind_address(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands behind the address of the object."""
    place = next(at for at, each in enumerate(instruction.operands) if isinstance(each, Address))
    return instruction.operands[place + 1 :]


def _by_place(threads: Array, places: Array) -> list[tuple[int, Array]]:
    """The threads of each address."""
    return [(place, threads[places[threads] == place]) for place in np.unique(places[threads]).tolist()]
