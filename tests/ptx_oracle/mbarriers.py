"""Mbarrier objects: their counts and phases, who arrives, and what a wait answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .access import everyone
from .errors import FaultError, UnsupportedError
from .fetch import Array, Batch, Env, Step
from .knowledge import Told
from .model import Addr, Instr, Operand
from .parse import address_of
from .spaces import SHARED_SPAN
from .table import opcode


@dataclass
class Mbarrier:
    """Arrivals that a phase expects and those that it still lacks, bytes to come, and the phase."""

    expected: int
    pending: int
    phase: int = 0
    bytes: int = 0
    """The tx-count: bytes that are expected and not copied."""
    behind: Told | None = None
    """What comes before the end of the current phase."""
    completed: Told | None = None
    """What came before the end of the phase before it."""

    def arrive(self, count: int) -> bool:
        """Count arrivals; say whether they end the phase."""
        self.pending -= count
        if self.pending < 0:
            raise FaultError("more arrivals at an mbarrier than its phase expects")
        return self.ends()

    def expect(self, count: int) -> bool:
        """Change the bytes to come; say whether that ends the phase."""
        self.bytes += count
        return self.ends()

    def hear(self, told: Told) -> None:
        """Something comes before the end of the current phase."""
        self.behind = told.joined(self.behind)

    def ends(self) -> bool:
        """Begin the next phase if nothing is lacking in this one."""
        if self.pending or self.bytes:
            return False
        self.pending = self.expected
        self.phase += 1
        self.completed, self.behind = self.behind, None
        return True


def place_of(address: int) -> int:
    """The address in the shared window of a shared or generic address."""
    return address & (SHARED_SPAN - 1)


def find(batch: Batch, place: int) -> Mbarrier:
    """The mbarrier at a place of the windows."""
    barrier = batch.block.mbarriers.get(place)
    if barrier is None:
        raise FaultError(f"no mbarrier was made at {place:#x}")
    return barrier


def is_relaxed(instr: Instr) -> bool:
    """Whether an operation orders nothing."""
    return "relaxed" in instr.mods


@opcode("mbarrier")
def compile_mbarrier(instr: Instr, env: Env) -> Step:
    """Compile mbarrier instructions but for the waits, which end blocks."""
    action = instr.mods[0]
    if action in ("arrive", "arrive_drop"):
        return arrive(instr, env)
    if action not in ("init", "inval", "expect_tx", "complete_tx"):
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    record = env.record(instr, "mbarrier", 8, blind=True)
    record.is_placed = True
    where = env.address(address_of(instr), instr.line)
    count = None if action == "inval" else env.src(instr.operands[1], "u32", instr.line)

    def step(batch: Batch, mask: Array) -> None:
        block, address = batch.block, everyone(batch, where(batch))
        record.note(block.index, mask, address)
        counts = everyone(batch, count(batch)) if count else np.zeros(mask.shape, np.uint32)
        for lane in np.flatnonzero(mask).tolist():
            place, number = block.place(lane, int(address[lane])), int(counts[lane])
            if block.clocks is not None:
                block.clocks.touch_in([lane], batch.place, batch.depth)
                how = action if action in ("init", "inval") else ""
                block.clocks.touch_object(instr.line, lane, place, how=how)
            if action == "init":
                if place in block.mbarriers:
                    raise FaultError(f"the mbarrier at {place:#x} is in use")
                block.mbarriers[place] = Mbarrier(number, number)
            elif action == "inval":
                block.mbarriers.pop(place, None)
            elif block.counts_bytes and find(batch, place).expect(number if action == "expect_tx" else -number):
                block.woken = True

    return step


def arrive(instr: Instr, env: Env) -> Step:
    """Compile arrivals of threads."""
    record = env.record(instr, "mbarrier", 8, blind=True)
    record.is_placed = True
    where = env.address(address_of(instr), instr.line)
    after = instr.operands[place_in(instr.operands) + 1 :]
    number = env.src(after[0], "u32", instr.line) if after else None
    expects = "expect_tx" in instr.mods
    put = env.dst(instr.operands[0], instr.line) if not isinstance(instr.operands[0], Addr) else None

    def step(batch: Batch, mask: Array) -> None:
        block, address = batch.block, everyone(batch, where(batch))
        record.note(block.index, mask, address)
        numbers = everyone(batch, number(batch)) if number else np.ones(mask.shape, np.uint32)
        state = np.zeros(mask.shape, np.uint64)
        for lane in np.flatnonzero(mask).tolist():
            given, place = int(numbers[lane]), block.place(lane, int(address[lane]))
            if block.clocks is not None:
                block.clocks.touch_in([lane], batch.place, batch.depth)
                block.clocks.touch_object(instr.line, lane, place)
            barrier = find(batch, place)
            state[lane] = barrier.phase
            if block.clocks is not None and not is_relaxed(instr):
                barrier.hear(block.clocks.release(lane))
            count = 1 if expects else given
            if expects and block.counts_bytes:
                barrier.bytes += given
            if "arrive_drop" in instr.mods:
                barrier.expected -= count
            if barrier.arrive(count):
                block.woken = True
        if put is not None:
            put(batch, state, mask)

    return step


def place_in(operands: list[Operand]) -> int:
    """Where among the operands the address is."""
    return next(at for at, operand in enumerate(operands) if isinstance(operand, Addr))


class Wait:
    """A compiled mbarrier.test_wait or try_wait: whether the phase is over, for each lane."""

    def __init__(self, instr: Instr, env: Env) -> None:
        self.instr = instr
        self.record = env.record(instr, "mbarrier", 8, blind=True)
        self.record.is_placed = True
        self.where = env.address(address_of(instr), instr.line)
        self.parity = "parity" in instr.mods
        after = instr.operands[place_in(instr.operands) + 1]
        self.phase = env.src(after, "u32" if self.parity else "u64", instr.line)
        self.put = env.dst(instr.operands[0], instr.line)

    def over(self, batch: Batch, mask: Array) -> Array:
        """Say for each lane whether its phase is over."""
        address, phase = everyone(batch, self.where(batch)), everyone(batch, self.phase(batch))
        result = np.zeros(mask.shape, bool)
        for lane in np.flatnonzero(mask):
            barrier = batch.block.mbarriers.get(batch.block.place(lane, int(address[lane])))
            if barrier is not None:
                now = barrier.phase
                result[lane] = now % 2 != int(phase[lane]) % 2 if self.parity else now != int(phase[lane])
        return result

    def answer(self, batch: Batch, over: Array, mask: Array) -> None:
        """Give lanes their answers."""
        address = everyone(batch, self.where(batch))
        self.record.note(batch.block.index, mask, address)
        clocks = batch.block.clocks
        for lane in np.flatnonzero(mask).tolist() if clocks is not None else ():
            clocks.touch_in([lane], batch.place, batch.depth)
            place = batch.block.place(lane, int(address[lane]))
            clocks.touch_object(self.instr.line, lane, place)
            if over[lane] and not is_relaxed(self.instr):
                clocks.acquire(lane, find(batch, place).completed)
        self.put(batch, over, mask)
