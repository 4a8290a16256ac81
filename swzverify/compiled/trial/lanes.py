"""Registers of all threads of some blocks, and the reading and writing of operands."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.effects import width_of
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.special import BlockShape, special
from swzverify.compiled.ptx import (
    FloatImmediate,
    Immediate,
    Negated,
    Operand,
    Plus,
    Register,
    SpecialRegister,
    SymbolRef,
    Vector,
)
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, variables

_WORD = 64
_MOST_PARTS = 64
"""Sets of warps whose lanes are kept."""
_Item = TypeVar("_Item", np.int64, np.bool_)


def cut(values: Array, width: int) -> Array:
    """The low bits of each value, as bit patterns."""
    return values if width >= _WORD else values & ((1 << width) - 1)


def signed(values: Array, width: int) -> Array:
    """The numbers with a sign that bit patterns stand for."""
    if width >= _WORD:
        return values
    sign = 1 << (width - 1)
    return (cut(values, width) ^ sign) - sign


class Lanes:
    """Registers of the threads of some blocks of one shape, whole warps of them.

    A value is a bit pattern of its register's width. `coordinates` are values of leaves of
    special registers, by name; `addresses` are those of symbols; `exists` tells which threads
    the blocks have, of which there are `blocks`. What was not written is not known, or `undefined` if
    that is a number. `numbers` are those of the threads among all threads of the blocks, and `of_block` are the
    threads of one block.
    """

    def __init__(
        self,
        block: BlockShape,
        coordinates: Mapping[str, Array],
        addresses: Mapping[SymbolRef, int],
        exists: Mask,
        blocks: int = 1,
        undefined: int | None = None,
    ) -> None:
        self.blocks, self.of_block = blocks, len(exists) // blocks
        self._block, self._coordinates, self._addresses = block, coordinates, addresses
        self._undefined = undefined
        self._registers: dict[Register, tuple[Array, Mask]] = {}
        self._all, self._all_exist = len(exists), exists
        self._take(np.arange(len(exists) // LANES))

    def _take(self, warps: Array) -> None:
        """Be the lanes of these warps."""
        self.warps, self.threads = warps, len(warps) * LANES
        self.numbers = (warps[:, None] * LANES + np.arange(LANES)).reshape(-1)
        begin, end = int(warps[0]) * LANES, (int(warps[-1]) + 1) * LANES
        self.place = slice(begin, end) if end - begin == self.threads else self.numbers
        """Where registers have the threads."""
        self.exists = self._all_exist[self.place]
        blocks = warps * LANES // self.of_block
        self.block_of = np.repeat(blocks, LANES)
        first = [at for at, block in enumerate(blocks.tolist()) if not at or block != blocks[at - 1]]
        self.block_list: list[int] = blocks[first].tolist()
        """The blocks of the threads, where the first thread of each is, and how many of its threads are here."""
        self.starts = np.array(first) * LANES
        self.sizes: list[int] = np.diff(self.starts, append=self.threads).tolist()
        self._parts: dict[bytes, Lanes] = {}
        self._numbers: dict[int, Array] = {}
        self._specials: dict[tuple[str, int], tuple[Array, Mask]] = {}
        self.nothing = np.zeros(self.threads, dtype=np.bool_)
        self.everything = np.ones(self.threads, dtype=np.bool_)

    def of_warps(self, which: Mask) -> Lanes:
        """Some warps of all these lanes. They share the registers: what one writes, the other reads."""
        key = which.tobytes()
        if key not in self._parts:
            if len(self._parts) == _MOST_PARTS:
                self._parts.clear()
            found = self._parts[key] = copy(self)
            found._take(np.flatnonzero(which))
        return self._parts[key]

    def blocks_of(self, which: Mask) -> list[int]:
        """The blocks that have marked threads here."""
        if which is self.everything:
            return self.block_list
        here = np.logical_or.reduceat(which, self.starts).tolist()
        return [block for block, is_here in zip(self.block_list, here, strict=True) if is_here]

    def are_known(self, known: Mask) -> bool:
        """Whether something is known in all threads that are here."""
        return known is self.everything or np.count_nonzero(known) == self.threads

    def part(self, values: NDArray[_Item]) -> NDArray[_Item]:
        """A value of each of all threads, of those that are here."""
        return values[self.place]

    def spread(self, which: Mask) -> Mask:
        """The marks of the threads that are here, for all threads."""
        found = np.zeros(self._all, dtype=np.bool_)
        found[self.place] = which
        return found

    def scattered(self, values: NDArray[_Item], which: Mask) -> NDArray[_Item]:
        """The values of marked threads, for all that are here."""
        if which is self.everything:
            return values
        found = np.zeros(self.threads, dtype=values.dtype)
        found[which] = values
        return found

    def in_blocks(self, values: NDArray[_Item]) -> NDArray[_Item]:
        """A value of each of all threads as one row for each block."""
        return values.reshape(self.blocks, self.of_block)

    def whole_blocks(self, which: Mask) -> Mask:
        """All threads of the blocks in which some thread is marked."""
        marked = np.zeros(self.blocks, dtype=np.bool_)
        marked[self.block_of[which]] = True
        return marked[self.block_of]

    def read(self, operand: Operand, width: int) -> tuple[Array, Mask]:
        """An operand as so many bits, and where it is known; of a register these may be its own arrays."""
        match operand:
            case Register():
                its_width = width_of(operand)
                if its_width < width:
                    return self._unknown()
                if (found := self._registers.get(operand)) is None:
                    return self._unknown() if self._undefined is None else self._one(self._undefined, width)
                values = found[0][self.place]
                return values if its_width == width else cut(values, width), found[1][self.place]
            case Immediate(value):
                return self._one(value if width > 1 else int(value != 0), width)
            case FloatImmediate(bits, its_width):
                return self._one(bits, width) if its_width == width else self._unknown()
            case SpecialRegister(name):
                return self._special(name, width)
            case SymbolRef(name, scope, offset):
                begin = self._addresses.get(SymbolRef(name, scope))
                return self._unknown() if begin is None else self._one(begin + offset, width)
            case Negated(inner):
                value, known = self.read(inner, width)
                return cut(~value, width), known
            case Plus(register, offset):
                value, known = self.read(register, width)
                return cut(value + self._one(offset, 64)[0], width), known
            case Vector(items) if items and width % len(items) == 0:
                return self._packed(items, width // len(items))
            case _:
                return self._unknown()

    def write(self, target: Operand, values: Array, known: Mask, active: Mask, *, fits: bool = False) -> None:
        """Write a register of the active lanes; of another operand nothing is kept.

        Values that `fits` says to have no bits beyond its width are written as they are.
        """
        if not isinstance(target, Register):
            return
        values = values if fits else cut(values, width_of(target))
        found = self._registers.get(target)
        if found is None:
            width = width_of(target)
            before, is_known = (0, False) if self._undefined is None else (self._undefined, True)
            bits = np.array(before & ((1 << width) - 1), dtype=np.uint64).view(np.int64)
            found = self._registers[target] = np.full(self._all, bits), np.full(self._all, is_known)
        if active is self.everything:
            found[0][self.place] = values
            found[1][self.place] = known
        else:
            here = self.numbers[active]
            found[0][here] = values[active] if values.ndim else values
            found[1][here] = known[active]

    def forget(self, target: Operand, active: Mask) -> None:
        """The active lanes no longer know a register."""
        if isinstance(target, Register) and target in self._registers:
            self._registers[target][1][self.numbers[active]] = False

    def snapshot(self, threads: Array) -> bytes:
        """All registers of some threads, to compare with those of another time."""
        return b"".join(part[threads].tobytes() for register in self._registers.values() for part in register)

    def _packed(self, items: tuple[Operand, ...], width: int) -> tuple[Array, Mask]:
        values, known = np.zeros(self.threads, dtype=np.int64), self.everything
        for at, item in enumerate(items):
            part, of_part = self.read(item, width)
            values = values | part << (at * width)
            known = known & of_part
        return values, known

    def _special(self, name: str, width: int) -> tuple[Array, Mask]:
        if (name, width) not in self._specials:
            value = special(name, width, self._block, Leaves()) if width > 1 else None
            self._specials[name, width] = self._unknown() if value is None else self.value(value)
        return self._specials[name, width]

    def value(self, expression: Expr) -> tuple[Array, Mask]:
        """What an expression of special registers is."""
        names = {each.name for each in variables(expression)}
        if not names <= self._coordinates.keys():
            return self._unknown()
        (found,) = evaluate_many((expression,), {name: self.part(self._coordinates[name]) for name in names})
        return np.broadcast_to(found, (self.threads,)), self.everything

    def same(self, value: int) -> Array:
        """A number for each thread; the array has it once."""
        if value not in self._numbers:
            found = np.array(value & ((1 << _WORD) - 1), dtype=np.uint64).view(np.int64)
            self._numbers[value] = np.broadcast_to(found, (self.threads,))
        return self._numbers[value]

    def _one(self, value: int, width: int) -> tuple[Array, Mask]:
        return self.same(value & ((1 << width) - 1)), self.everything

    def _unknown(self) -> tuple[Array, Mask]:
        return self._one(0, 1)[0], self.nothing
