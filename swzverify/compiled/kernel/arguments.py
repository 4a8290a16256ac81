"""What is known of the arguments that a kernel is launched with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from swzverify.layout.tma import TmaMode


@dataclass(frozen=True, slots=True)
class Field:
    """Bytes of a parameter with their value, the lowest byte first; `size` is 8 at most."""

    offset: int
    size: int
    value: int


@dataclass(frozen=True, slots=True)
class Box:
    """What a tensor map moves at once, without gaps in shared memory, and how far its tensor's elements are apart.

    Attributes:
        extents: In elements, the innermost first.
        element_bytes: The bytes of an element.
        mode: How elements are swizzled in shared memory.
        strides_bytes: The strides of the tensor in global memory, from the second dimension on. A stride is not
            known if it is None, or if the tuple ends before it.

    >>> Box((64, 128), 2, TmaMode.B128).size_bytes
    16384
    """

    extents: tuple[int, ...]
    element_bytes: int
    mode: TmaMode
    strides_bytes: tuple[int | None, ...] = ()

    @property
    def size_bytes(self) -> int:
        """The bytes of a box."""
        return prod(self.extents) * self.element_bytes


@dataclass(frozen=True, slots=True)
class Arguments:
    """The known arguments of a function.

    `known` has fields of parameters by the parameters' names. `whole` names parameters of at most 8
    bytes. Every read of such a parameter is a part of one variable, so a condition on the variable holds
    for all reads. `grid` has the number of blocks along x, y and z; None if it is not known. `boxes` has the
    boxes of tensor maps, by the parameter and the byte in it at which a map begins. With `is_alone`, each
    block is the only one of its cluster. `cluster` has the number of blocks of a cluster along x, y and z, where all
    threads of a cluster are looked at together.
    """

    known: Mapping[str, tuple[Field, ...]] = field(default_factory=dict[str, tuple[Field, ...]])
    whole: frozenset[str] = frozenset()
    grid: tuple[int, int, int] | None = None
    boxes: Mapping[tuple[str, int], Box] = field(default_factory=dict[tuple[str, int], Box])
    is_alone: bool = False
    cluster: tuple[int, int, int] | None = None

    def value(self, name: str, offset: int, size: int) -> int | None:
        """The value of some bytes of a parameter; None where they are not all known.

        >>> Arguments({"n": (Field(0, 4, 0x10203),)}).value("n", 1, 2)
        258
        """
        known, value = self.bits(name, offset, size)
        return value if known == (1 << 8 * size) - 1 else None

    def bits(self, name: str, offset: int, size: int) -> tuple[int, int]:
        """The bits of some bytes of a parameter that are known, as a mask, and what they are.

        >>> Arguments({"n": (Field(2, 1, 0x7F),)}).bits("n", 0, 4) == (0xFF0000, 0x7F0000)
        True
        """
        mask = value = 0
        whole = (1 << 8 * size) - 1
        for each in self.known.get(name, ()):
            ones = (1 << 8 * each.size) - 1
            shift = 8 * (each.offset - offset)
            mask |= (ones << shift if shift >= 0 else ones >> -shift) & whole
            value |= ((each.value & ones) << shift if shift >= 0 else (each.value & ones) >> -shift) & whole
        return mask, value


NO_ARGUMENTS = Arguments()
