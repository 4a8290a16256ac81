"""cp.async of all sizes, bulk copies, and mbarriers.

Copies are done at once. Bulk copies and mbarriers have no addresses of lanes, and are listed
without a cost. The phase of an mbarrier counts arrivals only: bytes that it waits for are taken to
be there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .access import copy_async, everyone, load, store
from .errors import FaultError, UnsupportedError
from .fetch import Array, Batch, Env, Step
from .model import Addr, Imm, Instr, Operand
from .parse import address_of
from .spaces import SHARED_SPAN
from .table import nothing, opcode


@dataclass
class Mbarrier:
    """Arrivals that a phase expects, those that it still lacks, and the number of the phase."""

    expected: int
    pending: int
    phase: int = 0

    def arrive(self, count: int) -> bool:
        """Count arrivals; say whether they end the phase."""
        self.pending -= count
        if self.pending > 0:
            return False
        self.pending = self.expected
        self.phase += 1
        return True


def place_of(address: int) -> int:
    """The address in the shared window of a shared or generic address."""
    return address & (SHARED_SPAN - 1)


@opcode("cp")
def compile_cp(instr: Instr, env: Env) -> Step:
    """Compile the cp.async family."""
    mods = instr.mods
    if "mbarrier" in mods:
        return arrive(instr, env)
    if "prefetch" in mods or ("bulk" in mods and ("commit_group" in mods or "wait_group" in mods)):
        return nothing
    if "bulk" in mods:
        return bulk(instr, env)
    if any(mod in mods for mod in ("commit_group", "wait_group", "wait_all")):
        return group(instr)
    return copy_async(instr, env)


def group(instr: Instr) -> Step:
    """Compile what puts copies into groups and waits for them, which nothing but clocks notices."""
    pending = instr.operands[0] if instr.operands else None
    count = int(pending.value) if isinstance(pending, Imm) else None

    def step(batch: Batch, mask: Array) -> None:
        clocks, lanes = batch.block.clocks, np.flatnonzero(mask).tolist()
        if clocks is None:
            return
        if "commit_group" in instr.mods:
            clocks.commit(lanes)
        else:
            clocks.wait_copies(lanes, count)

    return step


def bulk(instr: Instr, env: Env) -> Step:
    """Compile bulk copies: plain ones move bytes, tensors and reductions leave memory as it is."""
    record = env.record(instr, "cp.async.bulk", 0, blind=True)
    plain = "tensor" not in instr.mods and "reduce" not in instr.mods
    into, source = (env.address(address_of(instr, at), instr.line) for at in (0, 1)) if plain else (None, None)
    size = env.src(instr.operands[2], "u32", instr.line) if plain else None
    spaces = [mod.split("::")[0] for mod in instr.mods if mod.split("::")[0] in ("shared", "global")]

    def step(batch: Batch, mask: Array) -> None:
        record.note(batch.block.index, mask, np.zeros(mask.shape, np.uint64))
        if into is None or source is None or size is None:
            return
        to, origin, count = (everyone(batch, get(batch)) for get in (into, source, size))
        for lane in np.flatnonzero(mask):
            offsets = np.arange(0, int(count[lane]), 4, dtype=np.uint64)
            lanes = np.full(len(offsets), lane)
            words = load(batch.block, spaces[1], lanes, origin[lane] + offsets, 4)
            store(batch.block, spaces[0], lanes, to[lane] + offsets, words)

    return step


@opcode("mbarrier")
def compile_mbarrier(instr: Instr, env: Env) -> Step:
    """Compile mbarrier instructions but for the waits, which end blocks."""
    action = instr.mods[0]
    if action in ("arrive", "arrive_drop"):
        return arrive(instr, env)
    if action == "pending_count":
        raise UnsupportedError(f"unknown opcode {instr.opcode}", instr.line)
    record = env.record(instr, "mbarrier", 8, blind=True)
    where = env.address(address_of(instr), instr.line)
    count = env.src(instr.operands[1], "u32", instr.line) if action == "init" else None

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        record.note(batch.block.index, mask, address)
        if count is None:
            return
        counts = everyone(batch, count(batch))
        for lane in np.flatnonzero(mask):
            number = int(counts[lane])
            batch.block.mbarriers[place_of(int(address[lane]))] = Mbarrier(number, number)

    return step


def arrive(instr: Instr, env: Env) -> Step:
    """Compile arrivals.

    Of cp.async.mbarrier.arrive only the .noinc form counts, as the other one expects itself.
    """
    record = env.record(instr, "mbarrier", 8, blind=True)
    where = env.address(address_of(instr), instr.line)
    silent = instr.op == "cp" and "noinc" not in instr.mods
    given = instr.op == "mbarrier" and "expect_tx" not in instr.mods
    after = instr.operands[_place(instr.operands) + 1 :]
    count = env.src(after[0], "u32", instr.line) if given and after else None
    put = env.dst(instr.operands[0], instr.line) if not isinstance(instr.operands[0], Addr) else None

    def step(batch: Batch, mask: Array) -> None:
        address = everyone(batch, where(batch))
        record.note(batch.block.index, mask, address)
        counts = everyone(batch, count(batch)) if count else None
        state = np.zeros(mask.shape, np.uint64)
        for lane in () if silent else np.flatnonzero(mask):
            barrier = find(batch, int(address[lane]))
            state[lane] = barrier.phase
            if "arrive_drop" in instr.mods:
                barrier.expected -= 1
            if barrier.arrive(1 if counts is None else int(counts[lane])):
                batch.block.woken = True
        if put is not None:
            put(batch, state, mask)

    return step


def _place(operands: list[Operand]) -> int:
    return next(at for at, operand in enumerate(operands) if isinstance(operand, Addr))


def find(batch: Batch, address: int) -> Mbarrier:
    """The mbarrier at an address."""
    barrier = batch.block.mbarriers.get(place_of(address))
    if barrier is None:
        raise FaultError(f"no mbarrier was made at {address:#x}")
    return barrier


class Wait:
    """A compiled mbarrier.test_wait or try_wait: whether the phase is over, for each lane."""

    def __init__(self, instr: Instr, env: Env) -> None:
        self.record = env.record(instr, "mbarrier", 8, blind=True)
        self.where = env.address(address_of(instr), instr.line)
        self.parity = "parity" in instr.mods
        after = instr.operands[_place(instr.operands) + 1]
        self.phase = env.src(after, "u32" if self.parity else "u64", instr.line)
        self.put = env.dst(instr.operands[0], instr.line)

    def over(self, batch: Batch, mask: Array) -> Array:
        """Say for each lane whether its phase is over."""
        address, phase = everyone(batch, self.where(batch)), everyone(batch, self.phase(batch))
        result = np.zeros(mask.shape, bool)
        for lane in np.flatnonzero(mask):
            now = find(batch, int(address[lane])).phase
            result[lane] = now % 2 != int(phase[lane]) if self.parity else now != int(phase[lane])
        return result
