"""The operands of an instruction, each a small value that compares and hashes by what it says.

Source: PTX ISA, Instruction Operands.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Register:
    """A declared register: its name, its scope, and its type without the dot (`b32`, `pred`, `v2.f32`).

    Two scopes may use one name; the number of the scope distinguishes them. Scope 1 is the function with
    its parameters; nested blocks count from 2 in the order of their braces.

    >>> Register("%p", 2, "pred") == Register("%p", 3, "pred")
    False
    """

    name: str
    scope: int
    type: str


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A register that the hardware sets, with its component: `%tid.x`, `%laneid`.

    Source: PTX ISA, Special Registers.
    """

    name: str


@dataclass(frozen=True, slots=True)
class SymbolRef:
    """A variable, parameter or function by its name, plus a number of bytes: `smem`, `smem+16`.

    `scope` is that of the declaration: 0 for the module, 1 for the function and its parameters, as
    in `Register`.
    """

    name: str
    scope: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """A place of the function, a table of branch targets or a prototype, by name and scope.

    The scope is as in `Register`.
    """

    name: str
    scope: int


@dataclass(frozen=True, slots=True)
class Immediate:
    """An integer as it is written, from -2^63 to 2^64 - 1.

    `0xFFFFFFFF` is 4294967295 and `-1` is -1. The instruction's type says how many of its bits count.
    """

    value: int


@dataclass(frozen=True, slots=True)
class FloatImmediate:
    """A floating-point number as its bits, 32 or 64 of them.

    A decimal number (`1.5`) has 64, as PTX says.

    >>> FloatImmediate(0x3F800000, 32).value
    1.0
    """

    bits: int
    width_bits: int

    @property
    def value(self) -> float:
        """The number that the bits stand for."""
        data = self.bits.to_bytes(self.width_bits // 8, "little")
        return float(struct.unpack("<f" if self.width_bits == 32 else "<d", data)[0])


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`: the offset in bytes; without a base (None) it is the address itself."""

    base: Register | SymbolRef | None
    offset: int


@dataclass(frozen=True, slots=True)
class Bracketed:
    """`[a, b, ...]`: a tensor map with its coordinates, a texture with its sampler and the like."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Indexed:
    """An element of an array, `symbol[index]` without an address bracket, as in hand-written PTX."""

    symbol: SymbolRef
    index: Operand


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, ...}`."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`(a, b, ...)`: results or arguments of a call."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`: two results of one instruction."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`: a predicate turned round."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Minus:
    """`-r`: a register with its sign turned, which `vmad` may have."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Plus:
    """A register plus a number, `r+4` outside of brackets, which ptxas accepts in place of a register."""

    register: Register
    offset: int


@dataclass(frozen=True, slots=True)
class Part:
    """`r.x`, `r.b0`, `r.h1`: a component of a vector register, or a byte or half of a register."""

    register: Register
    selector: str


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result that nobody takes."""


Operand: TypeAlias = (
    Register
    | SpecialRegister
    | SymbolRef
    | Label
    | Immediate
    | FloatImmediate
    | Address
    | Bracketed
    | Indexed
    | Vector
    | Group
    | Pair
    | Negated
    | Minus
    | Plus
    | Part
    | Sink
)


def nested(operand: Operand) -> Iterator[Operand]:
    """An operand, and all operands inside of it.

    >>> list(nested(Pair(Sink(), Negated(Register("%p", 1, "pred")))))[3]
    Register(name='%p', scope=1, type='pred')
    """
    yield operand
    match operand:
        case Pair(first, second) | Indexed(first, second):
            yield from nested(first)
            yield from nested(second)
        case Vector(items) | Group(items) | Bracketed(items):
            for item in items:
                yield from nested(item)
        case Negated(inner) | Minus(inner) | Part(inner) | Plus(inner):
            yield from nested(inner)
        case Address(base) if base is not None:
            yield base
        case _:
            pass
