"""Where the bytes of an operand lie in shared memory, for each state of the loops that decide it.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import Leaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.leaves import are_all
from swzverify.compiled.kernel.parts import FIRST_TRIP, Parts, falls_below
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.fill_copies import Frame, frame_of
from swzverify.compiled.scan.operand_offsets import first_threads
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.stages import OperandRead
from swzverify.ir.expr import Const, Expr, Var, const, substitute, to_signed, variables
from swzverify.layout.tma import TmaMode
from swzverify.subjects.descriptor import REPEATS_BYTES

Key: TypeAlias = tuple[int, frozenset[tuple[Var, int]]]
"""A warp group or a warp, and a number for each leaf that decides between places."""
Reader: TypeAlias = tuple[int, int]
"""An instruction that reads shared memory: its basic block, and its place in the function."""

MOST_POINTS: Final = 512


class Places(Protocol):
    """The places of an operand.

    Attributes:
        frame: What the places count from.
        array: The array in words.
        multiple: What the start of the array is a multiple of, as far as its swizzle reads that.
        points: For each warp group and each state, the number of its places; None if these do not decide it.
        has_orders: Whether elements along K may come in any order that A and B share.
        mode: The swizzle mode of its descriptor; None if it has none.
    """

    @property
    def frame(self) -> Frame:
        """What the places count from."""
        ...

    @property
    def array(self) -> str:
        """The array in words."""
        ...

    @property
    def multiple(self) -> int:
        """What the start of the array is a multiple of."""
        ...

    @property
    def points(self) -> Mapping[Key, int | None]:
        """The number of its places for each state."""
        ...

    @property
    def has_orders(self) -> bool:
        """Whether elements along K may come in any order."""
        ...

    @property
    def mode(self) -> TmaMode | None:
        """The swizzle mode of its descriptor."""
        ...

    def readers(self, start: int) -> tuple[Reader, ...]:
        """The instructions that read the bytes of the places with a number."""
        ...

    def addresses(self, start: int, begin: int) -> NDArray[np.int64]:
        """The byte of each element, of the places with a number, counted from where the array begins.

        That is `begin` bytes behind a multiple of 1024.
        """
        ...


@dataclass(frozen=True, slots=True)
class DescribedPlaces:
    """The places of an operand that a matrix descriptor names; their number is the start address.

    Attributes:
        read: The operand.
        points: The start address for each warp group and each state.
    """

    read: OperandRead
    points: Mapping[Key, int | None]

    @property
    def has_orders(self) -> bool:
        """Columns that come in another order are a mistake: the instruction reads 16 bytes at once."""
        return False

    @property
    def mode(self) -> TmaMode:
        """The swizzle mode of its descriptor."""
        return self.read.descriptor.swizzle

    @property
    def frame(self) -> Frame:
        """What the places count from."""
        return frame_of(self.read.start)

    @property
    def array(self) -> str:
        """The array in words."""
        return "its array" if self.read.start.base is None else spell_leaf(self.read.start.base)

    @property
    def multiple(self) -> int:
        """What the start of the array is a multiple of."""
        return self.read.start.multiple if self.read.descriptor.line_mask else REPEATS_BYTES

    def readers(self, start: int) -> tuple[Reader, ...]:
        """The instruction itself reads the bytes, wherever they are."""
        del start
        kernel = self.read.subject.operand
        return ((kernel.block, kernel.access.site.index),)

    def addresses(self, start: int, begin: int) -> NDArray[np.int64]:
        """The byte of each element, counted from where the array begins."""
        operand, row = self.read.subject.operand, self.read.subject.operand.row
        rows, columns = np.arange(row.rows(operand.role))[:, None], np.arange(row.k)[None, :]
        linear = self.read.descriptor.linear(rows, columns, row.element_bytes, self.read.major)
        return self.read.descriptor.swizzled(begin + start + linear) - begin


def described_places(read: OperandRead, shape: BlockShape, parts: Parts) -> DescribedPlaces | str:
    """The places of an operand that a matrix descriptor names; in words why they are not known.

    `parts` are those of all operands of the function.
    """
    leaves = {leaf.variable: leaf for leaf in read.subject.leaves_of(read.start.offset)}
    if falls_below(read.start.offset, lambda names: are_all([leaves[each] for each in names], TripsLeaf)):
        return f"where it starts depends on a remainder of {FIRST_TRIP}"
    return DescribedPlaces(read, dict(_points(read, shape, parts)))


def is_cut(leaves: Sequence[Leaf]) -> bool:
    """Whether a part of an address with few numbers is one that all threads share, and whose leaves have many."""
    return are_all(leaves, (UniformLeaf, TripsLeaf)) and any(leaf.values is None for leaf in leaves)


def _points(read: OperandRead, shape: BlockShape, parts: Parts) -> Iterator[tuple[Key, int | None]]:
    subject = read.subject
    leaves = {leaf.variable: leaf for leaf in subject.leaves_of(read.start.offset)}
    offset, decide = parts.cut(read.start.offset, lambda names: is_cut([leaves[each] for each in names]))
    left = set(variables(offset))
    decide |= {each: leaf.values for each, leaf in leaves.items() if leaf.values is not None and each in left}
    if prod(map(len, decide.values())) > MOST_POINTS:
        yield (0, frozenset()), None
        return
    for group, lanes in first_threads(subject, shape).items():
        for numbers in product(*decide.values()):
            state = dict(zip(decide, numbers, strict=True))
            at: dict[Var, Expr] = {each: const(number, each.width) for each, number in state.items()}
            value = substitute(offset, lanes | at)
            number = to_signed(value.value, value.width) if isinstance(value, Const) else None
            yield (group, frozenset(state.items())), number
