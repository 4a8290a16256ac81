"""Registers of all threads of some blocks, and the reading and writing of operands."""

from __future__ import annotations

from collections.abc import Mapping
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
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, variables

_WORD = 64
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
    that is a number.
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
        self.threads, self.exists = len(exists), exists
        self.blocks, self.of_block = blocks, len(exists) // blocks
        self._block, self._coordinates, self._addresses = block, coordinates, addresses
        self._undefined = undefined
        self._values: dict[Register, Array] = {}
        self._known: dict[Register, Mask] = {}
        self._numbers: dict[int, Array] = {}
        self._specials: dict[tuple[str, int], tuple[Array, Mask]] = {}
        self.nothing = np.zeros(self.threads, dtype=np.bool_)
        self.everything = np.ones(self.threads, dtype=np.bool_)

    def in_blocks(self, values: NDArray[_Item]) -> NDArray[_Item]:
        """A value of each thread as one row for each block."""
        return values.reshape(self.blocks, self.of_block)

    def whole_blocks(self, which: Mask) -> Mask:
        """All threads of the blocks in which some thread is marked."""
        return np.repeat(self.in_blocks(which).any(axis=1), self.of_block)

    def read(self, operand: Operand, width: int) -> tuple[Array, Mask]:
        """An operand as so many bits, and where it is known; of a register these are its own arrays."""
        match operand:
            case Register():
                its_width = width_of(operand)
                if its_width < width:
                    return self._unknown()
                if (values := self._values.get(operand)) is None:
                    return self._unknown() if self._undefined is None else self._one(self._undefined, width)
                return values if its_width == width else cut(values, width), self._known[operand]
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

    def write(self, target: Operand, values: Array, known: Mask, active: Mask) -> None:
        """Write a register of the active lanes; of another operand nothing is kept."""
        if not isinstance(target, Register):
            return
        width = width_of(target)
        mine = self._values.get(target)
        if mine is None:
            before, known_before = self.read(target, width)
            mine = self._values[target] = before.copy()
            self._known[target] = known_before.copy()
        np.copyto(mine, cut(values, width), where=active)
        if known is self.everything:
            self._known[target] |= active
        else:
            np.copyto(self._known[target], known, where=active)

    def forget(self, target: Operand, active: Mask) -> None:
        """The active lanes no longer know a register."""
        if isinstance(target, Register) and target in self._values:
            self._known[target][active] = False

    def snapshot(self, threads: Array) -> bytes:
        """All registers of some threads, to compare with those of another time."""
        parts = (each[threads] for kept in (self._values, self._known) for each in kept.values())
        return b"".join(part.tobytes() for part in parts)

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
        if any(each.name not in self._coordinates for each in variables(expression)):
            return self._unknown()
        (found,) = evaluate_many((expression,), self._coordinates)
        return np.broadcast_to(found, (self.threads,)), self.everything

    def _one(self, value: int, width: int) -> tuple[Array, Mask]:
        bits = value & ((1 << width) - 1)
        if bits not in self._numbers:
            found = np.array(bits, dtype=np.uint64).view(np.int64)
            self._numbers[bits] = np.broadcast_to(found, (self.threads,))
        return self._numbers[bits], self.everything

    def _unknown(self) -> tuple[Array, Mask]:
        return self._one(0, 1)[0], self.nothing
