"""What the variables of a kernel's expressions stand for.

A value of a kernel is an `ir.expr` expression. For each of its variables a table of leaves says
what it is, where it comes from, and under which conditions all lanes of a warp see one value of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeGuard

from swzverify.compiled.kernel.arithmetic import add, bit_and, shift_left, widened
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.ptx import Symbol
from swzverify.ir.expr import Expr, Var, const, operands, var, variables


class Made(StrEnum):
    """How the value of an `OPAQUE` leaf comes about.

    - `DETERMINED`: it depends on `feeds` alone.
    - `MOMENT`: it depends on `feeds`, and on the time at which lanes execute the instruction.
    - `INPUT`: as `MOMENT`: words of global or constant memory, of which `feeds` has the first address.
    - `EXCHANGED`: a lane gets it from other lanes.
    - `REDUCED`: all lanes of a warp made it together, from what each of them had.
    - `ANYHOW`: nothing is known of it.
    """

    DETERMINED = "determined"
    MOMENT = "moment"
    INPUT = "input"
    EXCHANGED = "exchanged"
    REDUCED = "reduced"
    ANYHOW = "anyhow"


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """The division of the instruction `index`.

    PTX leaves its result undefined where `by_zero` or `overflow` holds; elsewhere it is `result`.
    """

    by_zero: Expr
    overflow: Expr
    divisor: Expr
    result: Expr
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """A value that each lane gets from the lane at a distance of 1, 2, 4, 8 or 16, by an XOR of their numbers."""

    value: Expr
    distance: int

    def is_of(self, value: Expr) -> bool:
        """Whether lanes exchanged this value."""
        return self.value is value


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A variable of the kernel's expressions; each kind of leaf is a class.

    Attributes:
        variable: The variable.
        reason: Why it is not followed further, or its name in words.
        line: The line of the PTX where it comes from.
        block: The block of the instruction that makes it, or the header of its loop; None of a value that no
            instruction makes.
        uniform: Whether all lanes share it.
        values: All values of the number of a trip, or of the index of a trip, in the order of the trips, if
            they are few; None otherwise.
    """

    variable: Var
    reason: str
    line: int
    block: int | None
    uniform: bool = False
    values: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name


@dataclass(frozen=True, slots=True, eq=False)
class LaneLeaf(Leaf):
    """A coordinate of the thread, or its lane; known once the block is."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UniformLeaf(Leaf):
    """The same for all threads of the block: parameters, indices of the block, addresses.

    `assumed` are the conditions that hold for a parameter, and `candidates` some values that these allow.
    """

    assumed: tuple[Expr, ...] = ()
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ArrayLeaf(UniformLeaf):
    """The address of a symbol, as so many times `multiple`, a power of two that divides it."""

    symbol: Symbol
    multiple: int


@dataclass(frozen=True, slots=True, eq=False)
class LoopLeaf(Leaf):
    """A value that changes with the trips of a loop.

    `first` is the value in the first trip of each loop around an access; None if that is no number, or the
    loop is not around the access.
    """

    block: int
    first: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TripsLeaf(LoopLeaf):
    """How often a loop has gone back to its header; `most` is the last trip of any thread, if it is counted."""

    most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CarriedLeaf(LoopLeaf):
    """What a register has at the begin of a trip of a loop.

    Or the place of the trip among those after which the loop's registers repeat their values.
    """


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OpaqueLeaf(Leaf):
    """A value that is not followed further; `reason` says why.

    It is uniform for the lanes of a warp that execute an access together if it is not `is_own` and all
    `feeds` are uniform. If it is `is_moment`, the lanes must also have executed the instruction that made it
    together, because the contents of memory may change over time.

    Attributes:
        feeds: The values on which it depends.
        made: How it comes about.
        open: The division whose result it is where PTX leaves it undefined.
        moved: What lanes of whole warps exchanged here, by a butterfly.
        distances: Lanes at these distances of each other, as bits, have one value, in one trip of the loops around.
        index: The index of the instruction that makes it; -1 for none.
        is_forwarded: Whether a lane may have what it stored itself in place of the word that it loads.
        is_written: Whether the kernel itself may write the words of global memory that it loads.
    """

    feeds: tuple[Expr, ...] = ()
    made: Made = Made.DETERMINED
    open: Open | None = None
    moved: Moved | None = None
    distances: int = 0
    index: int = -1
    is_forwarded: bool = False
    is_written: bool = False

    @property
    def is_own(self) -> bool:
        """Whether each lane has its own value, whatever feeds it."""
        return self.is_forwarded or self.made in (Made.ANYHOW, Made.EXCHANGED)

    @property
    def is_moment(self) -> bool:
        """Whether its value depends on the time at which lanes executed its instruction."""
        return self.made in (Made.MOMENT, Made.INPUT, Made.REDUCED)


def begin_of(leaf: ArrayLeaf, width: int, rounded: int = 1) -> Expr:
    """The address of the symbol that a leaf stands for, as so many bits; the next multiple of a power of two."""
    begin = shift_left(widened(leaf.variable, width), const(leaf.multiple.bit_length() - 1, width))
    return begin if rounded <= 1 else bit_and(add(begin, const(rounded - 1, width)), const(-rounded, width))


def parameter_variable(name: str, begin: int, size: int) -> Var:
    """The variable for some bytes of a parameter.

    >>> parameter_variable("n", 0, 4).name
    'n+0:4'
    """
    return var(f"{name}+{begin}:{size}", 1 << (8 * size))


def are_all(leaves: Iterable[Leaf], kind: type[Leaf] | tuple[type[Leaf], ...]) -> bool:
    """Whether all leaves are of some kinds."""
    return all(isinstance(each, kind) for each in leaves)


def is_launch_value(leaf: Leaf) -> bool:
    """Whether a leaf is a value of the launch, and not the address of an array."""
    return isinstance(leaf, UniformLeaf) and not isinstance(leaf, ArrayLeaf)


def is_input(leaf: Leaf) -> TypeGuard[OpaqueLeaf]:
    """Whether a leaf is words of global or constant memory."""
    return isinstance(leaf, OpaqueLeaf) and leaf.made is Made.INPUT


def is_given(leaf: Leaf) -> TypeGuard[OpaqueLeaf]:
    """Whether a leaf is words of global or constant memory that a launch can give any value."""
    return is_input(leaf) and not leaf.is_written


def is_written_perhaps(leaf: Leaf) -> TypeGuard[OpaqueLeaf]:
    """Whether a leaf is words of global memory that a store may change while the kernel runs."""
    opcode = leaf.name.partition(" ")[0].split(".")
    return is_input(leaf) and "global" in opcode and "nc" not in opcode


class Leaves:
    """The leaves of one function, by the names of their variables."""

    def __init__(self) -> None:
        self.by_name: dict[str, Leaf] = {}

    def __getitem__(self, variable: Var) -> Leaf:
        return self.by_name[variable.name]

    def of(self, *values: Expr) -> list[Leaf]:
        """The leaves that some values read."""
        return [self.by_name[each.name] for each in variables(*values)]

    def are_of_launch(self, value: Expr) -> bool:
        """Whether a value depends on values of the launch alone, and on one of them at least."""
        return bool(read := self.of(value)) and all(map(is_launch_value, read))

    def are_of_thread(self, value: Expr) -> bool:
        """Whether a value depends on the launch, and on nothing else but coordinates of the thread."""
        read = self.of(value)
        is_of_launch = [is_launch_value(each) for each in read]
        return any(is_of_launch) and all(
            of_launch or isinstance(each, LaneLeaf) for each, of_launch in zip(read, is_of_launch, strict=True)
        )

    def add(self, leaf: Leaf) -> Var:
        """Keep a leaf, unless one of its name is there; give its variable."""
        return self.by_name.setdefault(leaf.name, leaf).variable

    def tell(self, variable: Var, division: Open) -> None:
        """Keep the division that a leaf is the result of."""
        self.by_name[variable.name] = replace(self[variable], open=division)

    def mark(self, words: Iterable[OpaqueLeaf], *, is_forwarded: bool, is_written: bool = False) -> None:
        """Keep what stores of the kernel may do to the words of one load."""
        for leaf in words:
            self.by_name[leaf.name] = replace(leaf, is_forwarded=is_forwarded, is_written=is_written)

    def uniform(self, name: str, width: int, reason: str, line: int = 0, limit: int | None = None) -> Expr:
        """A value that all threads of the block share."""
        made = var(name, limit or 1 << width)
        return widened(self.add(UniformLeaf(made, reason, line, None)), width)

    def lane(self, name: str, limit: int) -> Expr:
        """A coordinate of the thread, as 32 bits."""
        if limit == 1:
            return const(0, 32)
        return widened(self.add(LaneLeaf(var(name, limit), name, 0, None)), 32)

    def address(self, name: str, width: int, multiple: int, limit: int, reason: str, symbol: Symbol) -> Expr:
        """The address of a symbol: a multiple of its alignment, below a limit."""
        places = max(1, limit // multiple)
        leaf = ArrayLeaf(var(name, places), reason, symbol.line, None, multiple=multiple, symbol=symbol)
        return shift_left(widened(self.add(leaf), width), const(multiple.bit_length() - 1, width))


def largest_parts(root: Expr, is_wanted: Callable[[Var], bool]) -> tuple[Expr, ...]:
    """The largest parts of an expression that read variables of one kind, and no others.

    >>> from swzverify.compiled.kernel.arithmetic import add
    >>> x, y = var("x", 8), var("y", 8)
    >>> largest_parts(add(add(x, x), y), lambda each: each is x) == (add(x, x),)
    True
    """

    def kinds(node: Expr) -> set[bool]:
        return {is_wanted(each) for each in variables(node)}

    nodes = closure([root], lambda node: operands(node) if len(kinds(node)) > 1 else ())
    return tuple(node for node in nodes if kinds(node) == {True})
