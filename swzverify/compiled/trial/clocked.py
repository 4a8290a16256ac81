"""One block whose threads wait one by one: at barriers, at mbarrier objects, and for the writes of others.

A thread that asks in vain is parked until something changes for it. If no thread can go on, copies in flight land
one by one; then one warp after the other goes on with the answer false. If all warps come back to where they
were, and nothing has changed, the block hangs. Source: docs/semantics.md, sections 10 and 11.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Final

import numpy as np

from swzverify.compiled.kernel.clusters import assumption_on_clusters
from swzverify.compiled.kernel.flow import Block
from swzverify.compiled.ptx import Function, Instruction, Module, Operand, PtxError
from swzverify.compiled.trial.code import CutOffError, EndError
from swzverify.compiled.trial.exchange import REDUCTION, reduce_at_barrier
from swzverify.compiled.trial.flags import strong_of
from swzverify.compiled.trial.gatherings import CLUSTER, Gathering
from swzverify.compiled.trial.history import History
from swzverify.compiled.trial.kinds import Kind, kind_of
from swzverify.compiled.trial.launch import Launch
from swzverify.compiled.trial.machine import Machine
from swzverify.compiled.trial.memory import SHARED_WINDOW, Array, FaultError, Mask, StopError
from swzverify.compiled.trial.misses import Hang, Misses, Replay
from swzverify.compiled.trial.recorder import Recorder, uses_async_proxy
from swzverify.compiled.trial.touches import Sides
from swzverify.hardware import LANES, capability_of

_WARP_BARRIER: Final = "bar.warp.sync"
_WAITS: Final = ("mbarrier.test_wait", "mbarrier.try_wait")
_EVERY_LANE: Final = (1 << LANES) - 1


class Clocked(Machine):
    """One block of a launch, with the history of its accesses to shared memory.

    With `wanted`, accesses of these threads alone are compared, and the run ends when it has these pairs. With
    `is_late`, the warps run first that have come furthest in the code; else those that are furthest behind. With
    `lockstep`, the lanes of a warp run each instruction together. With `follows_boxes` it goes on at copies of boxes.
    """

    def __init__(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        most_steps: int,
        wanted: frozenset[Sides] | None = None,
        *,
        is_late: bool = False,
        lockstep: bool = False,
        follows_boxes: bool = False,
    ) -> None:
        super().__init__(module, function, [launch], frozenset(), [most_steps], None)
        self.wanted, self.is_late, self.waiting = wanted, is_late, frozenset[int]()
        has_proxies = any(uses_async_proxy(each.opcode) for each in function.instructions)
        only = None if wanted is None else frozenset(thread for sides in wanted for _, thread in sides)
        self.history = History(self.threads, only, has_proxies=has_proxies, lockstep=lockstep)
        self.history.ended = ~self.lanes.exists
        told = self.lanes, self.memory, self.history, self._grant, capability_of(module.target)
        self.code = self.recorder = Recorder(*told, follows_boxes=follows_boxes)
        # Threads may wait at all barriers, and wherever they ask for what others do.
        self.kinds = [_kind(each.opcode) for each in function.instructions]
        self.is_alone = False
        self.size = prod(launch.block)
        self.stands, self.numbers, self.asked, self.last, self.last_place, self.seen = (
            np.full(self.threads, -1, dtype=np.int64) for _ in range(6)
        )
        self.gathered: dict[int, Gathering] = {}
        self.of_warp, self.parked, self.forced, self.of_cluster = np.zeros((4, self.threads), dtype=np.bool_)
        """`of_cluster`: the threads that have arrived at the barrier of the cluster, and not waited there yet."""
        self.told_in_cluster = self.history.knowledge.nothing()
        self.completed = 0
        self.held: dict[int, tuple[object, ...]] = {}
        self.misses = Misses(function, self.flow)
        self.hangs: dict[int, Hang] = {}

    def result(self) -> Replay:
        """What the run showed."""
        self.history.look()
        lost, objects = self.recorder.lost, self.recorder.objects
        is_open = bool(lost) or objects.has_boxes or assumption_on_clusters(self.function) is not None
        ended, kind = self.stopped.get(0, (lost, EndError))
        return Replay(
            tuple(self.history.found.values()),
            frozenset(self.misses.lines),
            ended,
            kind is CutOffError,
            () if is_open else tuple(self.hangs.values()),
            kind is FaultError,
            objects.has_boxes,
            self.history.is_partial,
            None if is_open else objects.misuse,
        )

    def _choose(self, order: Array, first: int) -> Mask:
        if not self.is_late:
            return super()._choose(order, first)
        of_warps = order.reshape(-1, LANES).min(axis=1)
        latest = of_warps[of_warps < self.end].max()
        return (order == latest) & np.repeat(of_warps == latest, LANES)

    # ---- coming to where threads wait

    def _wait(self, instruction: Instruction, active: Mask, block: Block) -> None:  # noqa: ARG002 - machine's
        """Threads wait whose guard holds; others go on."""
        coming = active
        if (guard := instruction.guard) is not None:
            holds, known = self.lanes.read(guard.register, 1)
            if (active & ~known).any():
                raise EndError("a guard is not known")
            coming = active & ((holds == 0) if guard.negated else (holds != 0))
        if instruction.opcode.startswith(_WAITS):
            self._ask(instruction, active, coming)
        elif strong_of(instruction.opcode) is not None:
            self._read(instruction, active, coming)
        elif instruction.opcode == _WARP_BARRIER:
            masks = [self._number(each, coming) for each in instruction.operands]
            self.at[active] = self._behind(instruction.index)
            self._stand_at(instruction.index, coming)
            self.of_warp[coming] = True
            self.numbers[coming] = masks[0][coming] if masks else _EVERY_LANE
        else:
            self._come(instruction, active, coming)

    def _behind(self, index: int) -> int:
        block = self.flow.blocks[self.flow.block_of[index]]
        return index + 1 if index + 1 < block.stop else self._start(block.ways[0].target)

    def _stand_at(self, index: int, threads: Mask) -> None:
        self.waits |= threads
        self.stands[threads] = index
        self.of_warp[threads] = False

    def _park(self, index: int, threads: Mask, places: Array) -> None:
        self._stand_at(index, threads)
        self.parked |= threads
        self.at[threads] = index
        self.asked[threads] = places[threads]

    def _ask(self, instruction: Instruction, active: Mask, coming: Mask) -> None:
        """Threads ask whether a phase is complete; they are parked if it is not, and others can go on."""
        places = self.recorder.places(instruction, coming)
        passing = self.recorder.objects.passes(instruction, places, coming)
        answered = passing | (coming & self.forced)
        self.lanes.write(instruction.operands[0], passing.astype(np.int64), self.lanes.everything, answered)
        self.at[active] = self._behind(instruction.index)
        self.forced[coming] = False
        self._park(instruction.index, coming & ~answered, places)

    def _grant(self, place: int) -> None:
        """A phase is complete: threads that are parked for it go on."""
        here = self.parked & (self.asked == place)
        for index in _numbers(self.stands[here]):
            instruction = self.function.instructions[index]
            if instruction.opcode.startswith(_WAITS):
                mine = here & (self.stands == index)
                passing = self.recorder.objects.passes(instruction, self.asked, mine)
                self.lanes.write(instruction.operands[0], passing.astype(np.int64), self.lanes.everything, passing)
                self._unpark(passing)
                self.at[passing] = self._behind(index)

    def _read(self, instruction: Instruction, active: Mask, coming: Mask) -> None:
        """Threads read what others write; one that reads again although nothing changed is parked."""
        places = self.recorder.asked(instruction, coming)
        again = coming & ~self.forced & (self.last == instruction.index) & (self.last_place == places)
        again &= self.seen == self.recorder.changes
        running = coming & ~again
        if running.any():
            self.recorder.run(instruction, running)
        self.at[active] = self._behind(instruction.index)
        self.forced[coming] = False
        self.last[running], self.last_place[running] = instruction.index, places[running]
        self.seen[running] = self.recorder.changes
        self._park(instruction.index, again, places)

    def _unpark(self, threads: Mask) -> None:
        self.parked &= ~threads
        self.waits &= ~threads

    def _come(self, instruction: Instruction, active: Mask, coming: Mask) -> None:
        """Threads come to a barrier of the block, or of a part of it; each warp counts as a whole there."""
        words = instruction.opcode.split(".")
        if "cluster" in words:
            self._come_in_cluster(instruction, active, coming)
            return
        waits = "arrive" not in words
        named = instruction.operands[1:-1] if _reduces(instruction) else instruction.operands
        numbers = [self._number(each, coming) for each in named]
        at = numbers[0] if numbers else np.zeros(self.threads, dtype=np.int64)
        self.at[active] = self._behind(instruction.index)
        for number in np.unique(at[coming]).tolist():
            mine = coming & (at == number)
            counts = np.unique(numbers[1][mine]).tolist() if len(numbers) > 1 else [None]
            if len(counts) > 1:
                raise EndError("threads come to a barrier with several counts")
            count = None if counts[0] == -(-self.size // LANES) * LANES and waits else counts[0]
            if count is None:
                self._gather(instruction, number, None, mine, waits=True)
                continue
            live = self.waits | (self.at < self.end)
            for warp in np.unique(np.flatnonzero(mine) // LANES).tolist():
                here = np.zeros(self.threads, dtype=np.bool_)
                here[warp * LANES : (warp + 1) * LANES] = True
                if (here & live & ~mine).any():
                    raise EndError("some lanes of a warp come to a barrier, and others do not")
                self._gather(instruction, number, count, here & mine, waits=waits)

    def _come_in_cluster(self, instruction: Instruction, active: Mask, coming: Mask) -> None:
        """Threads arrive at the barrier of a cluster of one block, or wait for the phase in which they arrived."""
        self.at[active] = self._behind(instruction.index)
        if not coming.any():
            return
        if ".arrive" in instruction.opcode:
            # A relaxed arrival tells no more than is told here: then fewer races are shown.
            self.of_cluster |= coming
            self._gather(instruction, CLUSTER, None, coming, waits=False)
            return
        if (coming & ~self.of_cluster).any():
            raise EndError("threads wait at the barrier of the cluster that have not arrived")
        self.of_cluster &= ~coming
        held = coming & (self.gathered[CLUSTER].arrived if CLUSTER in self.gathered else False)
        self.history.knowledge.learn(np.flatnonzero(coming & ~held), self.told_in_cluster)
        if held.any():
            self.gathered[CLUSTER].waiting |= held
            self._stand_at(instruction.index, held)
            self.numbers[held] = CLUSTER

    def _gather(self, instruction: Instruction, number: int, count: int | None, mine: Mask, *, waits: bool) -> None:
        nothing = np.zeros(self.threads, dtype=np.bool_)
        new = Gathering(count, nothing, nothing.copy(), self.history.knowledge.nothing())
        found = self.gathered.setdefault(number, new)
        whole = -(-self.size // LANES) * LANES
        if (found.count or whole) != (count or whole):
            raise EndError("threads come to a barrier with several counts")
        if (found.arrived & mine).any():
            raise EndError("threads come to a barrier that they have come to before it was complete")
        found.count = None if found.count is None and waits else count
        found.arrived |= mine
        found.row = np.maximum(found.row, self.history.told(np.flatnonzero(mine)))
        if waits:
            found.waiting |= mine
            self._stand_at(instruction.index, mine)
            self.numbers[mine] = number
        self._complete_if_full(number)

    def _complete_if_full(self, number: int) -> bool:
        """Let the threads of a barrier go on if enough have come; whether they do."""
        found = self.gathered[number]
        alive = self.waits | (self.at < self.end)
        if found.count is None:
            is_full = not (alive & ~found.arrived).any()
        else:
            is_full = len(np.unique(np.flatnonzero(found.arrived) // LANES)) * LANES >= found.count
        if not is_full:
            return False
        del self.gathered[number]
        waiting = np.flatnonzero(found.waiting)
        if number == CLUSTER:
            gone = np.flatnonzero(~alive)
            self.told_in_cluster = np.maximum(found.row, self.history.told(gone)) if len(gone) else found.row
            self.history.knowledge.learn(waiting, self.told_in_cluster)
            self.completed += 1
            self.waits &= ~found.waiting
            return True
        is_whole = not (alive & ~found.waiting).any()
        if is_whole and len(waiting):
            self.misses.note_parted(self.stands, waiting)
            self.misses.note_ended(self.stands, waiting, ~alive, self.recorder.touched)
            self.recorder.touched.clear()
        places = [self.function.instructions[each] for each in _numbers(self.stands[waiting])]
        if any(map(_reduces, places)):
            if len(places) > 1:
                raise EndError("threads reduce a predicate at several instructions")
            reduce_at_barrier(places[0], self.lanes, found.waiting)
        self.completed += 1
        self.waits &= ~found.waiting
        if is_whole:
            self.history.block_barrier()
            shown = {each.sides for each in self.history.found.values() if each.is_harmful}
            if self.wanted is not None and self.wanted <= shown:
                raise EndError("it has shown the pair")
        else:
            self.history.knowledge.learn(waiting, found.row)
        return True

    # ---- when all threads wait

    def _release(self) -> None:
        try:
            self._go_on()
        except (StopError, PtxError) as error:
            self._stop(0, error)

    def _go_on(self) -> None:
        """All threads wait: let some go on."""
        alive = self.waits | (self.at < self.end)
        self.history.ended = ~alive
        if self._release_warps(alive):
            return
        if any([self._complete_if_full(each) for each in [*self.gathered]]):  # noqa: C419 - all of them
            return
        if self.recorder.objects.land():
            self.recorder.changes += 1
            return
        is_read = ~np.isin(
            self.stands, [each.index for each in self.function.instructions if each.opcode.startswith(_WAITS)]
        )
        resumed = self.parked & is_read & (self.seen != self.recorder.changes)
        if resumed.any():
            self._unpark(resumed)
        elif not self._force(alive):
            self._stop_stuck(alive)

    def _force(self, alive: Mask) -> bool:
        """Let the threads of a warp that ask go on with the answer that they have, unless this changed nothing."""
        key = (self.recorder.changes, self.completed, int(alive.sum()))
        parked = np.flatnonzero(self.parked)
        for warp in np.unique(parked // LANES).tolist():
            mine = parked[parked // LANES == warp]
            held = (key, mine.tobytes(), self.at[mine].tobytes(), self.lanes.snapshot(mine))
            if self.held.get(warp) != held:
                self.held[warp] = held
                self.forced[mine] = True
                self.parked[mine] = self.waits[mine] = False
                return True
        return False

    def _stop_stuck(self, alive: Mask) -> None:
        """No thread can go on: note where they wait, unless other blocks may set what they wait for."""
        counted = [each.index for each in self.function.instructions if _has_count(each)]
        hanging = self.parked | (self.waits & np.isin(self.stands, counted))
        asked = self.asked[self.parked]
        if not self.parked.any():
            self.misses.note_stuck(self.stands, self.numbers, self.of_warp, alive)
        if ((asked >= SHARED_WINDOW) & (asked < 2 * SHARED_WINDOW)).all():
            for index in _numbers(self.stands[hanging]):
                each = self.function.instructions[index]
                thread = int(np.flatnonzero(hanging & (self.stands == index))[0])
                self.hangs[index] = Hang(each.line, each.opcode, thread)
        self._stop(0, EndError("threads wait for a barrier that the others do not come to"))

    def _release_warps(self, alive: Mask) -> bool:
        """Let lanes go on whose warp's barrier is complete: whether there are any."""
        found = False
        for warp in np.unique(np.flatnonzero(self.waits & self.of_warp) // LANES).tolist():
            here = slice(warp * LANES, (warp + 1) * LANES)
            waits, masks = self.waits[here] & self.of_warp[here], self.numbers[here]
            for mask in np.unique(masks[waits]).tolist():
                named = (mask >> np.arange(LANES) & 1 != 0) & self.lanes.exists[here]
                coming = named & alive[here]
                if (coming & ~(waits & (masks == mask))).any() or not coming.any():
                    continue
                found = True
                self.waits[warp * LANES + np.flatnonzero(coming)] = False
                self.completed += 1
                # What a lane did before it returned comes first, too: docs/semantics.md, section 10.
                self.history.warp_barrier(warp * LANES + np.flatnonzero(named))
        return found

    def _number(self, operand: Operand, waiting: Mask) -> Array:
        values, known = self.lanes.read(operand, 32)
        if (waiting & ~known).any():
            raise EndError("a barrier's number is not known")
        return values


def depends_on_others(instruction: Instruction) -> bool:
    """Whether what an instruction does depends on what other threads have done, and on more than barriers of all."""
    opcode = instruction.opcode
    return strong_of(opcode) is not None or "mbarrier" in opcode or "arrive" in opcode or _has_count(instruction)


@cache
def _kind(opcode: str) -> Kind:
    is_barrier = opcode.startswith(("bar.", "barrier.", *_WAITS))
    strong = strong_of(opcode)
    return (
        Kind.BARRIER if is_barrier or (strong is not None and strong.reads and opcode[:3] != "red") else kind_of(opcode)
    )


def _numbers(values: Array) -> list[int]:
    """The values, each once."""
    return np.unique(values).tolist()


def _has_count(instruction: Instruction) -> bool:
    """Whether an instruction waits at a barrier for a number of threads that it names."""
    is_barrier = instruction.opcode.startswith(("bar.", "barrier.")) and instruction.opcode != _WARP_BARRIER
    return is_barrier and len(instruction.operands) - (2 if _reduces(instruction) else 0) > 1


def _reduces(instruction: Instruction) -> bool:
    """Whether a barrier makes something of a predicate of each thread."""
    return REDUCTION.fullmatch(instruction.opcode) is not None
