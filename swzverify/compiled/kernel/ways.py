"""The loads of shared memory from which registers come: one way for each path that decides it.

Source: docs/semantics.md, section 9, "Fragments of a compiled kernel".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import OpaqueLeaf, UniformLeaf
from swzverify.compiled.kernel.listing import Touch, use_of
from swzverify.compiled.kernel.slices import Carried, Slices
from swzverify.compiled.ptx import Instruction, size_of_type
from swzverify.hardware.fragments import CELL_BYTES, REGISTER_BYTES
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    const,
    postorder,
    var,
    variables,
)

MATRICES: Final = re.compile(r"ldmatrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?(?:\.shared(?:::cta)?)?\.b16")
"""The loads of matrices that are modelled: how many matrices, and whether these are transposed."""
MADE_BY: Final = re.compile(r": (\d+)\.(\d+)\.(\d+)$")
"""The end of the name of a value that an instruction makes: its place, which of its results, and its bits."""
_MOST_WAYS: Final = 16
_Part: TypeAlias = "Expr | tuple[Var | Ite, int]"
"""Some bits of a variable or of a choice, from one on; or what they are instead."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A byte that a lane gets from a load of shared memory.

    Attributes:
        load: The place of the load in the function.
        byte: The byte, counted over all registers of the load.
        before: The header of the loop in whose trip before the load was executed; None if it is the same trip.
    """

    load: int
    byte: int
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which the registers of an operand may have been loaded.

    Attributes:
        origins: For each part of each register, the first byte that it comes from.
        first: The header of a loop of which it is the first trip; None if that is not known.
        state: What decides that it is this way: variables, each with its number.
        conditions: The conditions among that, each with whether it holds.
        loop: The header of the loop whose trips decide it; None if none do.
    """

    origins: tuple[Origin, ...]
    first: int | None = None
    state: tuple[tuple[Var, int], ...] = ()
    conditions: tuple[tuple[Expr, bool], ...] = ()
    loop: int | None = None

    def in_trips(self, loop: int) -> tuple[Way, Way]:
        """The way in the first trip of a loop, and in later ones."""
        return (
            replace(self, first=loop, loop=loop, state=(*self.state, (_is_late(loop), 0))),
            replace(self, loop=loop, state=(*self.state, (_is_late(loop), 1))),
        )


def _is_late(loop: int) -> Var:
    return var(f"whether registers of the loop at block {loop} are of the trip before", 2)


@dataclass(frozen=True, slots=True)
class NotLoadedError(Exception):
    """Registers that are not followed to loads, in words; `is_computed` if some surely hold something else."""

    reason: str
    is_computed: bool = False


@dataclass(frozen=True, slots=True)
class _Opened:
    """A way of which something is not decided yet.

    Attributes:
        parts: Each part of each register, and the loop in whose trip before it was made.
        way: What is decided.
    """

    parts: tuple[tuple[_Part, int | None], ...]
    way: Way


class Ways:
    """Follows registers of one function to loads of shared memory."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._conditions: dict[Expr, int] = {}

    def of(self, values: Sequence[Expr], block: int, size: int) -> tuple[Way, ...]:
        """The ways in which registers with some values were loaded, for parts of some bytes.

        Raises:
            NotLoadedError: They are not followed.
        """
        parts = [self._bits(value, 8 * byte, 8 * size) for value in values for byte in range(0, REGISTER_BYTES, size)]
        pending, found = [_Opened(tuple((each, None) for each in parts), Way(()))], list[Way]()
        while pending:
            opened = pending.pop()
            if more := [*self._decided(opened, size)]:
                pending += reversed(more)
                if len(pending) + len(found) > _MOST_WAYS:
                    raise NotLoadedError("which load filled its registers depends on many paths")
                continue
            try:
                origins = tuple(self._origin(*each, block, size) for each in opened.parts)
            except NotLoadedError as other:
                if not opened.way.state:
                    raise
                raise NotLoadedError(("on some path, " if opened.way.conditions else "") + other.reason) from None
            found.append(replace(opened.way, origins=origins))
        return tuple(found)

    def split(self, way: Way, condition: Expr) -> tuple[Way, ...]:
        """A way where a condition holds, and where it does not; the way itself if that is known."""
        return (way,) if condition in dict(way.conditions) else self._both(way, condition)

    def _both(self, way: Way, condition: Expr) -> tuple[Way, Way]:
        number = self._conditions.setdefault(condition, len(self._conditions))
        made = var(f"whether condition {number} holds", 2)
        one, other = (
            replace(way, state=(*way.state, (made, int(holds))), conditions=(*way.conditions, (condition, holds)))
            for holds in (True, False)
        )
        return one, other

    def _decided(self, opened: _Opened, size: int) -> Iterator[_Opened]:
        """The ways that a choice, or the first trip of a loop, makes of one; none if everything is decided."""
        choices = [each[0] for each, _ in opened.parts if isinstance(each, tuple)]
        for choice in (each for each in choices if isinstance(each, Ite)):
            if not self._is_shared(choice.condition):
                raise NotLoadedError("which load filled its registers depends on the path")
            for way in self.split(opened.way, choice.condition):
                holds = dict(way.conditions)[choice.condition]
                yield _Opened(
                    tuple((self._chosen(each, choice.condition, size, holds=holds), at) for each, at in opened.parts),
                    way,
                )
            return
        carried = [self._carried(each) if late is None else None for each, late in opened.parts]
        loops = {each.loop.header for each in carried if each is not None}
        if not loops or opened.way.loop is not None:
            return
        if len(loops) > 1:
            raise NotLoadedError("its registers change from trip to trip of several loops")
        (header,) = loops
        for is_late, way in enumerate(opened.way.in_trips(header)):
            parts = list(opened.parts)
            for at, each in enumerate(carried):
                part = parts[at][0]
                if each is not None and isinstance(part, tuple):
                    value = each.after if is_late else each.before
                    parts[at] = self._bits(value, part[1], 8 * size), header if is_late else None
            yield _Opened(tuple(parts), way)

    def _carried(self, part: _Part) -> Carried | None:
        """The register that a part is made of, if a loop changes it."""
        return self._slices.carried.get(part[0]) if isinstance(part, tuple) and isinstance(part[0], Var) else None

    def _chosen(self, part: _Part, condition: Expr, size: int, *, holds: bool) -> _Part:
        """A part where a condition holds, or does not."""
        match part:
            case (Ite(own, then, otherwise), low) if own is condition:
                return self._bits(then if holds else otherwise, low, 8 * size)
            case _:
                return part

    def _is_shared(self, condition: Expr) -> bool:
        """Whether a condition has one value in a launch: all threads of the block share it, whenever it is read."""
        return all(isinstance(self._slices.leaves[each], UniformLeaf) for each in variables(condition))

    def _origin(self, part: _Part, late: int | None, block: int, size: int) -> Origin:
        """Where a part of a register comes from."""
        if not isinstance(part, tuple):
            if isinstance(part, Const):
                raise NotLoadedError("some of its registers are numbers", is_computed=True)
            if any(isinstance(each, Ite) for each in postorder(part)):
                raise NotLoadedError("which load filled its registers depends on the path")
            raise NotLoadedError("some of its registers are computed", is_computed=True)
        variable, low = part
        if isinstance(variable, Ite):
            raise NotLoadedError("which load filled its registers depends on the path")
        leaf = self._slices.leaves[variable]
        made = MADE_BY.search(variable.name)
        if not isinstance(leaf, OpaqueLeaf) or made is None:
            raise NotLoadedError(f"its registers are not followed: {leaf.reason} (line {leaf.line})")
        instruction = self._slices.function.instructions[int(made[1])]
        use = use_of(instruction)
        name = base_name(instruction)
        if name not in ("ld", "ldmatrix") or use is None or use.touch not in (Touch.SHARED, Touch.GENERIC):
            verb = "loaded from elsewhere" if name in ("ld", "ldu") else "computed"
            where = f"`{instruction.opcode}` at line {leaf.line}"
            raise NotLoadedError(f"some of its registers are {verb}: {where}", is_computed=True)
        byte = self._byte(instruction, int(made[2]), low // 8, block, size)
        return Origin(instruction.index, byte, late)

    def _byte(self, load: Instruction, register: int, byte: int, block: int, size: int) -> int:
        """A byte of a register that a load writes, counted over all of its registers."""
        flow = self._slices.flow
        where = f"`{load.opcode}` at line {load.line}"
        around = {each.header for each in flow.around(block)}
        is_left = not {each.header for each in flow.around(flow.block_of[load.index])} <= around
        matrix = MATRICES.fullmatch(load.opcode)
        if base_name(load) == "ldmatrix":
            if matrix is None:
                raise NotLoadedError(f"what {where} puts where is not modelled")
            if matrix[2] and size > CELL_BYTES:
                raise NotLoadedError(f"{where} puts halves of two elements into one register")
            return register * REGISTER_BYTES + byte
        if is_left:
            # Lanes may leave the loop at different trips; all of them execute an `ldmatrix` together.
            raise NotLoadedError(f"{where} is in a loop that the product is not in")
        each = size_of_type(load.opcode.rpartition(".")[2])
        if not each:
            raise NotLoadedError(f"what {where} puts where is not modelled")
        return register * each + byte

    def _bits(self, value: Expr, low: int, width: int) -> _Part:
        """Some bits of a value: bits of a variable or a choice, from one on; or what they are instead."""
        while True:
            match value:
                case Extract():
                    value, low = value.operand, low + value.low
                case Extend(operand) if low + width <= operand.width:
                    value = operand
                case Extend(operand, _, signed) if low >= operand.width and not signed:
                    return const(0, width)
                case Binary(BinaryOperator.SHL, left, Const(by)):
                    if low + width <= by:
                        return const(0, width)
                    if low < by:
                        return value
                    value, low = left, low - by
                case Binary(BinaryOperator.LSHR, left, Const(by)) if low + by + width <= value.width:
                    value, low = left, low + by
                case Binary(BinaryOperator.OR, left, right):
                    sides = [self._bits(each, low, width) for each in (left, right)]
                    other = [each for each in sides if not (isinstance(each, Const) and each.value == 0)]
                    return other[0] if len(other) == 1 else value if other else sides[0]
                case Var() | Ite():
                    return value, low
                case _:
                    return value
