"""All warps of one block, from the kernel's begin to its end.

In each warp the lanes at the earliest block run. The order of blocks puts each block behind those
that lead to it, and keeps loops in one piece. So lanes that parted wait for each other wherever
their ways join; only lanes that leave a loop early do not wait. All warps that are at one
instruction run it together.

Source: PTX ISA, Control Flow Instructions; Parallel Synchronization and Communication
Instructions: bar, barrier. That an H200 has the same lanes together is measured:
tests/ptx_oracle/h200_answers.npz.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache, lru_cache
from typing import Final

import numpy as np

from swzverify.compiled.kernel.flow import Block, Flow, FlowError, in_one_piece
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.ptx import Function, Immediate, Instruction, Module, PtxError, Space, Symbol, SymbolRef
from swzverify.compiled.trial.code import Code, CutOffError, EndError
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.launch import Launch
from swzverify.compiled.trial.memory import (
    BUFFER_BASE,
    BUFFER_STEP,
    CONSTANT_BASE,
    LOCAL_BASE,
    PARAMETER_BASE,
    SHARED_WINDOW,
    SYMBOL_BASE,
    Array,
    FaultError,
    LimitError,
    Mask,
    Memory,
    Region,
)
from swzverify.hardware import LANES

SHARED_BEGIN: Final = 1024
"""Where a block's variables begin in shared memory."""
MOST_SEEN: Final = 400
"""Different warp instructions that are kept of one instruction."""
MOST_LOCAL_BYTES: Final = 1 << 16
MOST_SYMBOL_BYTES: Final = 1 << 22
_BARRIER: Final = re.compile(r"bar(?:\.cta)?\.sync|barrier(?:\.cta)?\.sync(?:\.aligned)?")
_OTHER_BARRIER: Final = re.compile(r"bar(?:rier)?\..*")


class _Kind(Enum):
    """What the machine does with an instruction."""

    PLAIN = auto()
    JUMP = auto()
    BARRIER = auto()
    OTHER_BARRIER = auto()
    TRAP = auto()


@cache
def _kind(opcode: str) -> _Kind:
    name = opcode.partition(".")[0]
    if _BARRIER.fullmatch(opcode):
        return _Kind.BARRIER
    if _OTHER_BARRIER.fullmatch(opcode) and opcode != "bar.warp.sync":
        return _Kind.OTHER_BARRIER
    if name == "trap":
        return _Kind.TRAP
    return _Kind.JUMP if name in ("bra", "brx", "ret", "exit") else _Kind.PLAIN


@dataclass(slots=True)
class Seen:
    """Warp instructions that an access made: rows of 32 addresses in shared memory, which lanes
    took part, and the warp of each row. `is_all` is False where some were not known, or too
    many.
    """

    addresses: list[Array] = field(default_factory=list[Array])
    active: list[Mask] = field(default_factory=list[Mask])
    warps: list[int] = field(default_factory=list[int])
    is_all: bool = True
    patterns: set[bytes] = field(default_factory=set[bytes], repr=False)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a launch did, by the index of the instruction; why it ended before its end, and the
    steps that it took. A launch with a `fault` says nothing. `starts` are where the variables in
    shared memory begin, in their order; `memory` is what the launch leaves behind. `ways` are the
    choices that it made, with how often, roughly, and `compared` numbers that it compared.
    `is_cut_off` tells that it would go on with more steps.
    """

    seen: dict[int, Seen]
    ended: str
    fault: str
    steps: int
    starts: tuple[int, ...]
    memory: Memory
    ways: frozenset[tuple[int, ...]] = frozenset()
    compared: frozenset[int] = frozenset()
    is_cut_off: bool = False


def run(module: Module, function: Function, launch: Launch, wanted: Iterable[int], most_steps: int) -> Trial:
    """Run one block of a launch of a function with its calls put in place, and keep what the
    instructions with the indices `wanted` reach in shared memory.
    """
    ended, fault, is_cut_off = "", "", False
    try:
        machine = _Machine(module, function, launch, frozenset(wanted))
    except (FlowError, LimitError) as error:
        return Trial({}, str(error), "", 0, (), Memory((), 0))
    try:
        machine.run(most_steps)
    except EndError as error:
        ended, is_cut_off = str(error), isinstance(error, CutOffError)
    except PtxError as error:
        ended = error.message
    except FaultError as error:
        fault = str(error)
    steps = machine.steps + machine.code.steps
    ways = frozenset((*way, count.bit_length()) for way, count in machine.ways.items())
    compared = frozenset(machine.code.compared)
    return Trial(machine.kept.seen, ended, fault, steps, machine.starts, machine.memory, ways, compared, is_cut_off)


class _Kept:
    """What the instructions with some indices reach in shared memory.

    It does not hold the machine: else a machine and its memory would live on until Python looks for
    cycles.
    """

    def __init__(self, wanted: frozenset[int]) -> None:
        self._wanted = wanted
        self.seen: dict[int, Seen] = {}

    def keep(self, instruction: Instruction, addresses: Array | None, active: Mask) -> None:
        if instruction.index not in self._wanted:
            return
        seen = self.seen.setdefault(instruction.index, Seen())
        if addresses is None:
            seen.is_all = False
            return
        rows, on = addresses.reshape(-1, LANES), active.reshape(-1, LANES)
        for warp in np.flatnonzero(on.any(axis=1)).tolist():
            if len(seen.patterns) >= MOST_SEEN:
                seen.is_all = False
                return
            row, here = np.where(on[warp], rows[warp], 0), on[warp]
            pattern = (row - row[here].min() * here).tobytes() + here.tobytes()
            if pattern not in seen.patterns:
                seen.patterns.add(pattern)
                seen.addresses.append(row)
                seen.active.append(here.copy())
                seen.warps.append(warp)


class _Machine:
    """One block: where each of its threads is, and which warps wait at which barrier."""

    def __init__(self, module: Module, function: Function, launch: Launch, wanted: frozenset[int]) -> None:
        self.function, self.kept = function, _Kept(wanted)
        self.flow, self.order = _paths(function)
        self.steps = 0
        rows, here = Threads(launch.block).in_warps()
        self.warps, exists = len(here), here.reshape(-1)
        point = {name: values.reshape(-1) for name, values in rows.items()}
        # The last warp has lane numbers for the lanes that are not there, too.
        point["laneid"] = np.arange(self.warps * LANES) % LANES
        point |= {name: np.array([value]) for name, value in _places(launch).items()}
        placed = _Placed(module, function, launch)
        self.starts = placed.starts
        self.memory = Memory(placed.regions, self.warps * LANES)
        self.lanes = Lanes(launch.block, point, placed.addresses, exists)
        self.code = Code(self.lanes, self.memory, self.kept.keep)
        self.end = len(function.instructions)
        self.at = np.where(exists, 0, self.end)
        self.waits = np.zeros(self.warps, dtype=np.bool_)
        self.barriers: dict[tuple[int, int | None], list[int]] = {}
        self.ways: Counter[tuple[int, int]] = Counter()

    def run(self, most_steps: int) -> None:
        """Run until all threads are at the end; an `EndError` where it cannot go on."""
        while (self.at < self.end).any():
            order = np.where(np.repeat(self.waits, LANES), self.end, self.order[self.at])
            first = order.min()
            if first == self.end:
                self._release()
            else:
                active = order == first
                self._together(int(self.at[active][0]), active, most_steps)

    def _together(self, at: int, active: Mask, most_steps: int) -> None:
        """Run threads from an instruction to the end of its block, or to a barrier."""
        block = self.flow.blocks[self.flow.block_of[at]]
        for index in range(at, block.stop):
            instruction = self.function.instructions[index]
            self.steps += 1
            if self.steps + self.code.steps > most_steps:
                raise CutOffError("it takes more steps than a trial has")
            match _kind(instruction.opcode):
                case _Kind.PLAIN:
                    self.code.run(instruction, active)
                case _Kind.BARRIER:
                    self._wait(instruction, active, block)
                    return
                case _Kind.OTHER_BARRIER:
                    raise EndError(f"`{instruction.opcode}` is not followed")
                case _Kind.TRAP:
                    raise FaultError("a trap is reached")
                case _Kind.JUMP:
                    pass
        self._leave(block, active)

    def _start(self, block: int) -> int:
        """The first instruction of a block; behind the last one for the end."""
        return self.flow.blocks[block].start if block < self.flow.exit else self.end

    def _leave(self, block: Block, active: Mask) -> None:
        if not block.is_choice:
            self.at[active] = self._start(block.ways[0].target)
            return
        last = self.function.instructions[block.stop - 1]
        holds, known = self.lanes.everything, self.lanes.everything
        if last.guard is not None:
            bit, known = self.lanes.read(last.guard.register, 1)
            holds = (bit == 0) if last.guard.negated else (bit != 0)
        index = np.zeros(self.lanes.threads, dtype=np.int64)
        if any(way.cases is not None for way in block.ways):
            index, of_index = self.lanes.read(last.operands[0], 32)
            known = known & (of_index | ~holds)
        if (active & ~known).any():
            raise EndError("a branch is not known")
        targets = np.full(self.lanes.threads, -1, dtype=np.int64)
        for way in block.ways:
            takes = self.lanes.everything if way.guard is None else holds == way.guard
            if way.cases is not None:
                takes = takes & np.isin(index, way.cases)
            targets[takes] = self._start(way.target)
        if (targets[active] < 0).any():
            raise FaultError("a branch has no such case")
        self.at[active] = targets[active]
        self._count(block, targets, active)

    def _count(self, block: Block, targets: Array, active: Mask) -> None:
        """Count the ways that are taken, and whether lanes of a warp part."""
        taken = targets[active]
        least, most = int(taken.min()), int(taken.max())
        self.ways[block.index, least] += 1
        if least == most:
            return
        self.ways.update((block.index, target) for target in np.unique(taken).tolist() if target > least)
        rows, on = targets.reshape(-1, LANES), active.reshape(-1, LANES)
        if (rows.max(axis=1, where=on, initial=-1) > rows.min(axis=1, where=on, initial=self.end + 1)).any():
            self.ways[block.index, -1] += 1

    # ---- barriers

    def _wait(self, instruction: Instruction, active: Mask, block: Block) -> None:
        numbers = [each.value for each in instruction.operands if isinstance(each, Immediate)]
        if instruction.guard is not None or len(numbers) != len(instruction.operands) or len(numbers) > 2:
            raise EndError("a barrier's number is not known")
        here, live = active.reshape(-1, LANES), (self.at < self.end).reshape(-1, LANES)
        coming = np.flatnonzero(here.any(axis=1))
        if (here[coming] != live[coming]).any():
            raise EndError("some lanes of a warp wait at a barrier, and others do not")
        behind = instruction.index + 1
        self.at[active] = behind if behind < block.stop else self._start(block.ways[0].target)
        self.waits[coming] = True
        barrier = ((*numbers, 0)[0], numbers[1] if len(numbers) == 2 else None)
        self.barriers.setdefault(barrier, []).extend(coming.tolist())

    def _release(self) -> None:
        """Let those go on that all wait for one barrier."""
        left = np.flatnonzero((self.at < self.end).reshape(-1, LANES).any(axis=1) | self.waits)
        full = [
            barrier
            for barrier, waiting in self.barriers.items()
            if len(waiting) * LANES == (barrier[1] or len(left) * LANES)
        ]
        if not full:
            raise EndError("warps wait for a barrier that the others do not come to")
        for barrier in full:
            self.waits[self.barriers.pop(barrier)] = False


@lru_cache(maxsize=4)
def _paths(function: Function) -> tuple[Flow, Array]:
    """The control flow of a function, and the order in which its instructions run first; the end
    and what is not reached come last.
    """
    flow = Flow(function)
    end = len(function.instructions)
    order = np.full(end + 1, end, dtype=np.int64)
    at = 0
    for block in map(flow.blocks.__getitem__, in_one_piece(flow)):
        order[block.start : block.stop] = np.arange(at, at + block.stop - block.start)
        at += block.stop - block.start
    return flow, order


def _places(launch: Launch) -> dict[str, int]:
    """What special registers say of the block's place in the grid."""
    found: dict[str, int] = {}
    for axis, extent, place in zip("xyz", launch.grid, launch.place, strict=True):
        found |= {f"ctaid.{axis}": place, f"nctaid.{axis}": extent}
        found |= {f"clusterid.{axis}": place, f"nclusterid.{axis}": extent}
        found |= {f"cluster_ctaid.{axis}": 0, f"cluster_nctaid.{axis}": 1}
    return found | {
        "cluster_ctarank": 0,
        "cluster_nctarank": 1,
        "is_explicit_cluster": 0,
        "dynamic_smem_size": launch.dynamic_bytes,
    }


class _Placed:
    """Where parameters, variables and buffers are."""

    def __init__(self, module: Module, function: Function, launch: Launch) -> None:
        self.regions: list[Region] = []
        self.addresses: dict[SymbolRef, int] = {}
        self._next = {
            Space.LOCAL: LOCAL_BASE,
            Space.PARAM: 2 * LOCAL_BASE,
            Space.CONST: CONSTANT_BASE,
            Space.GLOBAL: SYMBOL_BASE,
        }
        at = PARAMETER_BASE
        for parameter in function.parameters:
            raw = launch.parameters.get(parameter.name, b"")
            if raw:
                at = -(-at // 16) * 16
                self.addresses[SymbolRef(parameter.name, 1)] = at
                self.regions.append(Region(at, len(raw), np.frombuffer(raw, dtype=np.uint8)))
                at += len(raw)
        self._shared([*module.symbols, *function.symbols], launch.dynamic_bytes)
        for symbol in (*module.symbols, *function.symbols):
            if symbol.space is not Space.SHARED:
                self._variable(symbol)
        for number, buffer in enumerate(launch.buffers):
            data = buffer.content
            self.regions.append(Region(BUFFER_BASE + number * BUFFER_STEP, len(data), data))

    def _shared(self, symbols: list[Symbol], dynamic_bytes: int) -> None:
        at = SHARED_BEGIN
        inside = [each for each in symbols if each.space is Space.SHARED]
        starts: set[int] = set()
        for symbol in sorted(inside, key=lambda each: each.is_extern or each.size_bytes is None):
            at = -(-at // symbol.align_bytes) * symbol.align_bytes
            self.addresses[SymbolRef(symbol.name, symbol.scope)] = at
            starts.add(at)
            if not symbol.is_extern:
                at += symbol.size_bytes or 0
        self.starts = tuple(sorted(starts))
        size = at - SHARED_BEGIN + (dynamic_bytes if any(each.is_extern for each in inside) else 0)
        if size:
            self.regions.append(Region(SHARED_WINDOW + SHARED_BEGIN, size))

    def _variable(self, symbol: Symbol) -> None:
        """A variable of global, constant or local memory, or one through which calls pass
        values.
        """
        space, size = symbol.space, symbol.size_bytes
        is_own = space in (Space.LOCAL, Space.PARAM)
        if symbol.is_extern or not size or size > (MOST_LOCAL_BYTES if is_own else MOST_SYMBOL_BYTES) or symbol.note:
            return
        begin = -(-self._next[space] // max(16, symbol.align_bytes)) * max(16, symbol.align_bytes)
        self._next[space] = begin + size
        self.addresses[SymbolRef(symbol.name, symbol.scope)] = begin
        data = np.frombuffer((symbol.data or b"").ljust(size, b"\0"), dtype=np.uint8)
        self.regions.append(Region(begin, size, None if is_own else data, per_thread=is_own))
