"""What one instruction does to the registers and the memory of the threads that run it.

Source: PTX ISA, Instruction Set.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from swzverify.compiled.kernel.copies import limit_of_source
from swzverify.compiled.kernel.effects import width_of, written
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.ptx import Address, Immediate, Instruction, Operand, Register, Vector, size_of_type
from swzverify.compiled.trial.atomics import apply, can_run
from swzverify.compiled.trial.exchange import can_exchange, exchange
from swzverify.compiled.trial.floats import compute as compute_floats
from swzverify.compiled.trial.kept import UNREAD
from swzverify.compiled.trial.lanes import Lanes, cut, signed
from swzverify.compiled.trial.memory import SHARED_WINDOW, Array, FaultError, Mask, Memory, Reached, StopError
from swzverify.compiled.trial.plain import plain
from swzverify.compiled.trial.prepared import Formula, address_of, as_offset, formula_of, load_of
from swzverify.hardware import Kind
from swzverify.ir.evaluate import Unsigned

_WINDOW_BYTES: Final = 1 << 32
"""Addresses of the shared window have 32 bits."""
THREADS_PER_STEP: Final = 4
"""Threads that, one by one, take as long as an instruction of all threads at once."""
MOST_COMPARED: Final = 512
"""Numbers that are kept of the comparisons of a launch."""
_FROM_NEGATIVE: Final = 1 << 63
"""The bits of the least number below 0."""
_SILENT: Final = frozenset(
    {"membar", "fence", "nanosleep", "prefetch", "prefetchu", "discard", "applypriority"}
    | {"pmevent", "griddepcontrol", "setmaxnreg"}
)
"""Opcodes that change neither registers nor what a block reads."""
_MATRIX_LOADS: Final = frozenset(kind.value for kind in Kind if kind.moves_matrices and kind.loads)
_COPY: Final = re.compile(r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\w+)*")
_LEAST_OF_COPY: Final = 3
"""Its operands: where it writes, where it reads, and the bytes."""
_COPIED: Final = re.compile(r"cp\.async\.(?:commit_group|wait_group|wait_all)")
_WINDOW: Final = re.compile(r"cvta(\.to)?\.shared(?:::cta)?\.u64")
_WINDOWLESS: Final = re.compile(r"cvta(?:\.to)?\.(?:global|const|local|param)(?:::\w+)?\.u64")
_LONG: Final = re.compile(r"(?:mul|mad)\.hi\.[us]64")
_MOVE: Final = re.compile(r"mov\.(?:pred|[busf]\d+)")

Watch = Callable[[Instruction, Array | None, Mask, Array | None, Array], None]
"""Is told each access to shared memory: the addresses in its window, None if some of them are not
known, the threads that make it, where a copy that is made in full reads, and the warps of the threads.
"""


class EndError(StopError):
    """The trial cannot go on: a value is needed that it does not know."""


class CutOffError(EndError):
    """The trial has no steps left."""


class Code:
    """Runs instructions of one function one by one, for threads of several blocks at once.

    The watch is told what the instructions with the indices `watched` do, or all. For each block, `steps` counts
    the cost of threads that run alone, and `compared` are the numbers of comparisons that had the same result in all
    its lanes.
    """

    def __init__(self, lanes: Lanes, memory: Memory, watch: Watch, watched: frozenset[int] | None = None) -> None:
        self._lanes, self._memory, self._watch, self._watched = lanes, memory, watch, watched
        self.steps = np.zeros(lanes.blocks, dtype=np.int64)
        self.compared: list[dict[int, None]] = [{} for _ in range(lanes.blocks)]

    def turn_to(self, lanes: Lanes) -> None:
        """Run the next instructions for threads of these warps."""
        self._lanes = lanes

    def run(self, instruction: Instruction, active: Mask) -> None:
        """One instruction that is no branch and no barrier, for the threads that come to it."""
        guard = instruction.guard
        if guard is not None:
            holds, known = self._lanes.read(guard.register, 1)
            if not self._lanes.are_known(known) and np.count_nonzero(unsure := active & ~known):
                if not self._is_plain(instruction):
                    raise EndError("a guard is not known", self._lanes.numbers[unsure])
                for target in written(instruction):
                    self._lanes.forget(target, unsure)
            active = active & known & ((holds == 0) if guard.negated else (holds != 0))
            count = np.count_nonzero(active)
            if not count:
                return
            active = self._lanes.everything if count == self._lanes.threads else active
        self._do(instruction, active)

    def _is_plain(self, instruction: Instruction) -> bool:
        """Whether an instruction changes registers of its own thread alone."""
        if any(isinstance(each, Address) for each in instruction.operands):
            return base_name(instruction) in ("ld", "ldu")
        return base_name(instruction) not in ("shfl", "vote", "activemask", "match", "redux", "call", "cp")

    def _do(self, instruction: Instruction, active: Mask) -> None:
        self._runner(instruction)(self, instruction, active)

    @staticmethod
    @lru_cache(maxsize=1 << 14)
    def _runner(instruction: Instruction) -> Callable[[Code, Instruction, Mask], None]:
        """What runs an instruction."""
        name, opcode = base_name(instruction), instruction.opcode
        if name in _SILENT or _COPIED.match(opcode) or opcode == "bar.warp.sync":
            return Code._skip
        match name:
            case "ld" | "ldu":
                return Code._load
            case "st" if len(instruction.operands) > 1:
                return Code._store
            case "atom" | "red" if can_run(instruction):
                return Code._atomic
            case "cp" if _COPY.fullmatch(opcode) and len(instruction.operands) >= _LEAST_OF_COPY:
                return Code._copy
            case "cvta" if len(instruction.operands) == 2:
                return Code._change_space
            case "mov" if _MOVE.fullmatch(opcode) and len(instruction.operands) == 2:
                return Code._move
            case "call":
                return Code._call
            case _ if can_exchange(instruction):
                return Code._exchange
            case _ if formula_of(instruction) is not None:
                return Code._compute
            case _:
                return Code._compute_long if _LONG.fullmatch(opcode) else Code._compute_floats

    def _skip(self, instruction: Instruction, active: Mask) -> None:
        """An instruction that changes nothing."""

    def _atomic(self, instruction: Instruction, active: Mask) -> None:
        places, sure = self._reached(instruction, active)
        if np.count_nonzero(active & ~sure):
            raise EndError("an atomic's address is not known", self._lanes.numbers[active & ~sure])
        apply(instruction, self._lanes, self._memory, places, active)
        self._count_alone(active)

    def _exchange(self, instruction: Instruction, active: Mask) -> None:
        exchange(instruction, self._lanes, active)

    def _compute_floats(self, instruction: Instruction, active: Mask) -> None:
        if not compute_floats(instruction, self._lanes, active):
            self._lose(instruction, active)

    def _count_alone(self, active: Mask) -> None:
        """Count the steps of threads that run one by one."""
        self.steps += np.bincount(self._lanes.block_of[active], minlength=self._lanes.blocks) // THREADS_PER_STEP

    def _call(self, instruction: Instruction, active: Mask) -> None:
        """Run a call.

        A call through a pointer is assumed to return; its results and its stores are unknown. A call by name
        may be a trap.
        """
        if not any(isinstance(each, Register) for each in instruction.operands):
            raise EndError("a function is called")
        self._memory.forget(self._lanes.numbers[active])

    def _lose(self, instruction: Instruction, active: Mask) -> None:
        """An instruction that is not followed: what it may write is not known."""
        for target in written(instruction):
            for each in target.items if isinstance(target, Vector) else (target,):
                self._lanes.forget(each, active)
        if any(isinstance(each, Address) for each in instruction.operands):
            self._reached(instruction, active)
            if base_name(instruction) not in _MATRIX_LOADS and not instruction.opcode.startswith("wmma.load."):
                self._memory.forget(self._lanes.numbers[active])

    # ---- computing

    def _compute(self, instruction: Instruction, active: Mask) -> None:
        formula, lanes = formula_of(instruction), self._lanes
        if formula is None:
            raise AssertionError(instruction.opcode)
        values: list[Unsigned] = []
        known = lanes.everything
        for operand, width in formula.sources:
            value, of_this = lanes.read(operand, width)
            values.append(value.view(np.uint64))
            if not lanes.are_known(of_this):
                known = of_this if known is lanes.everything else known & of_this
        results = [each.view(np.int64) for each in formula.program.run(values)]
        if formula.may_be_undefined:
            known = known & (results.pop() == 0)
        if formula.compares:
            # Of numbers alone, one result is for all lanes.
            result = results[0] if results[0].ndim else np.broadcast_to(results[0], active.shape)
            self._note_compared(formula, result, values, active if known is lanes.everything else active & known)
        for (target, extended), result in zip(formula.targets, results, strict=False):
            if extended is None:
                lanes.write(target, result, known, active, fits=True)
            else:
                lanes.write(target, signed(result, extended) if extended else result, known, active)

    def _note_compared(self, formula: Formula, result: Array, operands: list[Unsigned], active: Mask) -> None:
        """Note the numbers of blocks in which the comparison has one result, which is 0 or 1."""
        lanes = self._lanes
        if active is lanes.everything:
            count, holds = lanes.sizes, np.add.reduceat(result, lanes.starts).tolist()
        else:
            count = np.add.reduceat(active, lanes.starts, dtype=np.int64).tolist()
            holds = np.add.reduceat(np.where(active, result, 0), lanes.starts).tolist()
        for at, block in enumerate(lanes.block_list):
            compared = self.compared[block]
            if count[at] and holds[at] in (0, count[at]) and len(compared) < MOST_COMPARED:
                thread = lanes.starts[at]
                thread += 0 if active is lanes.everything else active[thread:].argmax()
                numbers = (each.item(thread) for each in operands)
                compared |= dict.fromkeys(each for each in formula.numbers if each >= 0)
                compared |= dict.fromkeys(each for each in numbers if each < _FROM_NEGATIVE)

    def _compute_long(self, instruction: Instruction, active: Mask) -> None:
        """The high half of a product of 128 bits, thread by thread."""
        self._count_alone(active)
        target, *operands = instruction.operands
        read = [self._lanes.read(each, 64) for each in operands]
        result = np.zeros(self._lanes.threads, dtype=np.uint64)
        for thread in np.flatnonzero(active).tolist():
            found = plain(instruction.opcode, [int(values[thread]) % (1 << 64) for values, _ in read])
            result[thread] = 0 if found is None else found[0]
        known = np.logical_and.reduce([of_this for _, of_this in read])
        self._lanes.write(target, result.view(np.int64), known, active)

    def _move(self, instruction: Instruction, active: Mask) -> None:
        """A move between registers, symbols and numbers, or between a register and its parts."""
        kind = instruction.opcode.rpartition(".")[2]
        width = 1 if kind == "pred" else 8 * (size_of_type(kind) or 8)
        value, known = self._lanes.read(instruction.operands[1], width)
        targets = written(instruction)
        piece = width // max(1, len(targets))
        for at, target in enumerate(targets):
            part = value if piece == width else cut(value >> (at * piece), piece)
            self._lanes.write(target, part, known, active)

    def _change_space(self, instruction: Instruction, active: Mask) -> None:
        target, source = instruction.operands[:2]
        value, known = self._lanes.read(source, 64)
        if found := _WINDOW.fullmatch(instruction.opcode):
            value = value - SHARED_WINDOW if found[1] else value + SHARED_WINDOW
        elif not _WINDOWLESS.fullmatch(instruction.opcode):
            known = self._lanes.nothing
        self._lanes.write(target, value, known, active)

    # ---- memory

    def _reached(self, instruction: Instruction, active: Mask, sources: Array | None = None) -> tuple[Array, Mask]:
        """The generic addresses of threads, and the active threads of blocks in which all are known.

        The watch gets the addresses in shared memory, and the `sources` of a copy.
        """
        operand, lanes = address_of(instruction)[0], self._lanes
        is_watched = self._watched is None or instruction.index in self._watched
        found, known = (lanes.numbers, lanes.nothing) if operand is None else self._place(operand)
        sure = active
        if not lanes.are_known(known) and np.count_nonzero(unknown := active & ~known):
            lost = active & lanes.whole_blocks(unknown)
            if is_watched:
                self._watch(instruction, None, lost, None, lanes.warps)
            sure = active & ~lost
        found, _ = self._generic(instruction, found, known)
        if is_watched:
            places = found - SHARED_WINDOW
            inside = sure & (places.view(np.uint64) < _WINDOW_BYTES)
            if np.count_nonzero(inside):
                self._watch(instruction, places, inside, sources, lanes.warps)
        return found, sure

    def _generic(self, instruction: Instruction, places: Array, known: Mask) -> tuple[Array, Mask]:
        """The generic addresses of places in the space of an instruction."""
        return (cut(places, 32) + SHARED_WINDOW if address_of(instruction)[1] else places), known

    def _place(self, operand: Address) -> tuple[Array, Mask]:
        base = operand.base
        if base is None:
            return self._lanes.read(Immediate(operand.offset), 64)
        value, known = self._lanes.read(base, width_of(base) if isinstance(base, Register) else 64)
        return (value + as_offset(operand.offset) if operand.offset else value), known

    def _load(self, instruction: Instruction, active: Mask) -> None:
        targets, size, is_signed = load_of(instruction)
        places, sure = self._reached(instruction, active)
        if not 0 < size <= 8:
            sure = self._lanes.nothing
        reached = self._reach(places, sure, size * len(targets))
        for at, target in enumerate(targets):
            values, known = np.zeros(self._lanes.threads, dtype=np.int64), self._lanes.nothing
            if reached is not None:
                values, known = self._memory.read(reached, at * size, size)
                values, known = self._lanes.scattered(values, sure), self._lanes.scattered(known, sure)
            self._lanes.write(target, signed(values, 8 * size) if is_signed else values, known, active)

    def _reach(self, places: Array, sure: Mask, width_bytes: int) -> Reached | None:
        """The words of the marked threads; None if there are none."""
        if sure is self._lanes.everything:
            return self._memory.reach(places, self._lanes.numbers, width_bytes)
        threads = self._lanes.numbers[sure]
        return self._memory.reach(places[sure], threads, width_bytes) if len(threads) else None

    def _store(self, instruction: Instruction, active: Mask) -> None:
        places, sure = self._reached(instruction, active)
        size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
        if not 0 < size <= 8:
            sure = self._lanes.nothing
        source = instruction.operands[1]
        items = source.items if isinstance(source, Vector) else (source,)
        reached = self._reach(places, sure, size * len(items))
        if sure is not active and np.count_nonzero(active & ~sure):
            self._memory.forget(self._lanes.numbers[active & ~sure])
        if reached is None:
            return
        for at, item in enumerate(items):
            values, known = self._lanes.read(item, 8 * size)
            if sure is not self._lanes.everything:
                values, known = values[sure], known[sure]
            self._memory.write(reached, at * size, size, values, known)

    def _copy(self, instruction: Instruction, active: Mask) -> None:
        """Copy from global memory at once; bytes that are not copied become zero."""
        operands = instruction.operands
        source, of_source = (
            self._place(operands[1]) if isinstance(operands[1], Address) else (self._lanes.numbers, self._lanes.nothing)
        )
        size = operands[2].value if isinstance(operands[2], Immediate) else 0
        limit = limit_of_source(instruction)
        count, of_count = self._copied(limit[0] if limit else Immediate(size), size)
        # What a copy of fewer bytes costs is not known.
        whole = np.broadcast_to(of_source & of_count & (count >= size), active.shape)
        into, sure = self._reached(instruction, active, np.where(whole, source, UNREAD))
        if size not in (4, 8, 16) or len(limit) > 1:
            raise EndError("a copy is not followed")
        numbers = self._lanes.numbers
        if np.count_nonzero(lost := active & ~(sure & of_source)):
            raise EndError("a copy is not followed", numbers[lost])
        if np.count_nonzero(lost := active & ~of_count):
            raise EndError("a copy's size is not known", numbers[lost])
        threads, source, into = numbers[active], source[active], into[active]
        self._memory.reach(into, threads, size)
        if np.count_nonzero(misaligned := source % size != 0):
            raise FaultError("an address is not aligned", threads[misaligned])
        if self._memory.is_known and not np.count_nonzero(count[active] < size):
            self._memory.copy(source, into, threads, size)
            return
        each = np.arange(size)
        read = (count[active][:, None] > each).reshape(-1)
        threads = np.repeat(threads, size)
        from_places, to_places = ((places[:, None] + each).reshape(-1) for places in (source, into))
        values, known = np.zeros(len(threads), dtype=np.int64), np.ones(len(threads), dtype=np.bool_)
        if np.count_nonzero(read):
            values[read], known[read] = self._memory.load(from_places[read], threads[read], 1)
        self._memory.store(to_places, threads, 1, values, known)

    def _copied(self, limit: Operand, size: int) -> tuple[Array, Mask]:
        """The bytes that a copy reads: a number, or none where a predicate holds."""
        if isinstance(limit, Register) and width_of(limit) == 1:
            ignores, known = self._lanes.read(limit, 1)
            return np.where(ignores != 0, 0, size), known
        return self._lanes.read(limit, 32)


def runs_alone(instruction: Instruction) -> bool:
    """Whether threads may run an instruction one by one, which takes steps of their own."""
    return base_name(instruction) in ("atom", "red") or _LONG.fullmatch(instruction.opcode) is not None
