"""What the tensor core reads through a descriptor that the kernel computes, and what it should read.

Everything here is the plain definition, in integers; `lowered_operand` has the expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import Target
from swzverify.hardware.tensor_cores import Major, OperandRole, TensorInstruction, require_tensor
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import Var, var
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, Descriptor, check_known
from swzverify.subjects.listed_loop import AnyLoop
from swzverify.subjects.loop import NOT_FOR_MAPS, STAGE, check_variables, own_constants, own_tuple
from swzverify.subjects.memory import Base
from swzverify.subjects.tile import Tile

Array: TypeAlias = NDArray[np.int64]
NOT_FOR_OPERANDS = NOT_FOR_MAPS - {STAGE}
"""What no loop variable of an operand may be called: an operand has no threads and no stage of its own."""
MAX_ITERATIONS = 1 << 16
"""Joint values of an operand's loops; each is looked at once."""
MN, K = "element.mn", "element.k"
"""The variables of an element. No loop has such a name."""


class Reach(NamedTuple):
    """The least and the greatest value of a formula, over all iterations."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class FromCode:
    """The compiled code that computes an operand's descriptor.

    `place` has its lines in words. `stages` is the loop whose iterations are the start addresses that are
    possible, of which some may never occur; empty if each line has one.
    """

    place: str
    stages: str = ""


@dataclass(frozen=True, eq=False)
class Operand:
    """An operand of the tensor core, and the elements of a tile that it should be.

    Attributes:
        name: Its name in reports.
        instruction: What reads it.
        target: The GPU that runs the instruction.
        role: Operand A or B.
        major: Along which dimension elements lie side by side.
        descriptor: The fields of the descriptor but for the start address.
        start: The start address in bytes from `base`, an expression of loops and constants.
        tile: The tile that holds the operand.
        at: The tile's coordinate of element (0, 0): one expression for each mode.
        stage: The tile's stage; None for a tile with one.
        modes: Which of the operand's dimensions each mode of the tile is.
        base: Where `start` counts from; None for the tile's own base.
        loops: The loops around the instruction: stages, steps of K, warp groups.
        constants: The constants that the expressions name.
        code: The compiled code that computes the descriptor; None if the spec states it.

    Errors: SWZ105 what does not fit together, SWZ206 a loop without a bound, SWZ306 a start before
    the base, or elements that the tile does not have, SWZ403 another target's instruction, SWZ410 a
    start beyond what a descriptor holds, SWZ411 an operand whose rule is not known.
    """

    name: str
    instruction: TensorInstruction
    target: Target
    role: OperandRole
    major: Major
    descriptor: Descriptor
    start: CFormula
    tile: Tile
    at: tuple[CFormula, ...]
    stage: CFormula | None = None
    modes: tuple[str, str] = ("MN", "K")
    base: Base | None = None
    loops: tuple[AnyLoop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    code: FromCode | None = None

    def __post_init__(self) -> None:
        """Refuse what no instruction reads, and what the tile does not have."""
        owner = f"operand {self.name}"
        for each in ("at", "loops", "modes"):
            object.__setattr__(self, each, own_tuple(owner, each, getattr(self, each)))
        object.__setattr__(self, "constants", own_constants(owner, self.constants))
        check_variables(owner, [loop.name for loop in self.loops], self.constants, NOT_FOR_OPERANDS)
        require_tensor(self.target, self.instruction)
        check_known(self.instruction, self.descriptor, self.major)
        self._check_loops()
        self._check_tile()
        self._check_start()

    def _check_loops(self) -> None:
        for loop in self.loops:
            if loop.count is None:
                raise SwzError(
                    "SWZ206",
                    f"operand {self.name}: loop '{loop.name}' has no bound: not modelled",
                    hint=f"give it one, such as `for: {{{loop.name}: 4}}`",
                )
        if self.iterations > MAX_ITERATIONS:
            raise SwzError(
                "SWZ107",
                f"operand {self.name}: its loops have {self.iterations} iterations; at most {MAX_ITERATIONS} are read",
                hint="the claim is about stages, steps of K and warp groups: leave the loop over blocks of K out",
            )

    def _check_tile(self) -> None:
        tile, owner = self.tile, f"operand {self.name}"
        if sorted(self.modes) != ["K", "MN"]:
            raise SwzError("SWZ105", f"{owner}: modes {list(self.modes)}", hint="[MN, K] or [K, MN]")
        if tile.element_bits != 8 * self.instruction.element_bytes:
            raise SwzError(
                "SWZ105",
                f"{owner}: {self.instruction.name} reads elements of {8 * self.instruction.element_bytes} bits, and "
                f"tile {tile.name} has elements of {tile.element_bits}",
            )
        if len(tile.extents) != 2 or len(self.at) != 2:
            raise SwzError(
                "SWZ105",
                f"{owner}: tile {tile.name} has {len(tile.extents)} modes, and `at` {len(self.at)} coordinates",
                hint="an operand is read from a tile of two modes, rows and K; a mode may be nested: ((64,2),64)",
            )
        if self.stage is None and tile.stages > 1:
            raise SwzError(
                "SWZ104",
                f"{owner}: tile {tile.name} has {tile.stages} stages, and `reads` does not say which one is read",
                hint="add a loop over the stages, and `stage: s` in `reads`",
            )
        if self.iterations == 0:
            return
        for value, extent, mode in zip(self.at, self.span, tile.extents, strict=True):
            reach = self.reach(value)
            if reach.low < 0 or reach.high + extent > mode:
                raise self._outside(
                    value,
                    f"'{value}' goes from {reach.low} to {reach.high}, and {extent} elements from there are outside of "
                    f"0..{mode - 1}",
                )
        if self.stage is not None:
            reach = self.reach(self.stage)
            if reach.low < 0 or reach.high >= tile.stages:
                raise self._outside(
                    self.stage,
                    f"the stage '{self.stage}' goes from {reach.low} to {reach.high}, but the stages are "
                    f"0..{tile.stages - 1}",
                )

    def _outside(self, value: CFormula, what: str) -> SwzError:
        message = f"operand {self.name} of tile {self.tile.name}: {what}"
        return SwzError("SWZ306", message, text=value.text, span=(0, len(value.text)))

    def _check_start(self) -> None:
        if self.iterations == 0:
            return
        reach = self.reach(self.start)
        if reach.low < 0:
            raise self._outside(self.start, f"the start '{self.start}' can be {reach.low}; it must not be negative")
        if reach.high >= ADDRESS_LIMIT:
            raise SwzError(
                "SWZ410",
                f"operand {self.name}: the start '{self.start}' can be {reach.high}, and a descriptor holds addresses "
                f"below {ADDRESS_LIMIT}",
                hint="a larger sum carries into the field of the leading byte offset",
                text=self.start.text,
                span=(0, len(self.start.text)),
            )

    @property
    def rows(self) -> int:
        """The operand's rows: of M for A, of N for B."""
        return self.instruction.rows(self.role)

    @property
    def columns(self) -> int:
        """The operand's elements along K."""
        return self.instruction.k

    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
        return self.instruction.element_bytes

    @property
    def span(self) -> tuple[int, int]:
        """How many elements of each of the tile's modes it takes."""
        along = {"MN": self.rows, "K": self.columns}
        return along[self.modes[0]], along[self.modes[1]]

    @property
    def own_base(self) -> Base:
        """Where `start` counts from."""
        return self.tile.base if self.base is None else self.base

    @property
    def stages_of_code(self) -> AnyLoop | None:
        """The loop whose iterations are start addresses of compiled code that may never occur, if it has several."""
        name = "" if self.code is None else self.code.stages
        return next((loop for loop in self.loops if loop.name == name and loop.count != 1), None)

    @property
    def iterations(self) -> int:
        """The joint values of the loops."""
        return prod(loop.count or 0 for loop in self.loops)

    @property
    def variables(self) -> tuple[Var, ...]:
        """The loops, counted from 0, then the row and the column of an element."""
        loops = tuple(var(loop.name, max(1, loop.count or 0)) for loop in self.loops)
        return (*loops, var(MN, self.rows), var(K, self.columns))

    @cached_property
    def _every(self) -> Mapping[str, int | Array]:
        """Every joint value of the loops, with the constants."""
        return self.joint_values(frozenset(loop.name for loop in self.loops))

    def joint_values(self, names: frozenset[str]) -> dict[str, Array]:
        """Every joint value of the loops with these names, and the constants."""
        loops = [loop for loop in self.loops if loop.name in names]
        grids = np.meshgrid(*(np.arange(loop.count or 0, dtype=np.int64) for loop in loops), indexing="ij")
        found = {name: np.full(1, value, dtype=np.int64) for name, value in self.constants.items()}
        return found | {loop.name: loop.values_at(grid.ravel()) for loop, grid in zip(loops, grids, strict=True)}

    def environment(self, point: Mapping[str, Array]) -> dict[str, int | Array]:
        """The names that expressions read, from arrays of the loops' iterations."""
        values = {loop.name: loop.values_at(point[loop.name]) for loop in self.loops}
        return {**dict(self.constants), **values}

    def reach(self, value: CFormula) -> Reach:
        """The bounds of one of its expressions, exactly; some iteration must exist."""
        found = np.asarray(value.at_many(self._every))
        return Reach(int(found.min()), int(found.max()))

    @cached_property
    def farthest(self) -> int:
        """The end of what it reads or should read, in bytes from the two bases, before the swizzle."""
        rows, columns = np.arange(self.rows)[:, None], np.arange(self.columns)[None, :]
        linear = self.descriptor.linear(rows, columns, self.element_bytes, self.major)
        return self.reach(self.start).high + int(linear.max()) + self.element_bytes

    def starts(self, point: Mapping[str, Array], base: Array) -> Array:
        """The start addresses at some points."""
        return base + np.asarray(self.start.at_many(self.environment(point)))

    def reads(self, point: Mapping[str, Array], base: Array) -> Array:
        """The byte addresses that the tensor core reads for the elements at some points.

        Starts must be multiples of 16.
        """
        linear = self.descriptor.linear(point[MN], point[K], self.element_bytes, self.major)
        return self.descriptor.swizzled(self.starts(point, base) // CHUNK_BYTES * CHUNK_BYTES + linear)

    def coordinates(self, point: Mapping[str, Array]) -> tuple[Array, Array]:
        """The tile's coordinates of the elements at some points."""
        env, element = self.environment(point), {"MN": point[MN], "K": point[K]}
        first, second = (
            np.asarray(value.at_many(env)) + element[mode] for value, mode in zip(self.at, self.modes, strict=True)
        )
        return first, second

    def stages(self, point: Mapping[str, Array]) -> Array:
        """The tile's stages at some points."""
        if self.stage is None:
            return np.zeros(1, dtype=np.int64)
        return np.asarray(self.stage.at_many(self.environment(point)))

    def wanted(self, point: Mapping[str, Array], base: Array) -> Array:
        """The byte address of the tile's element at some points, from the tile's base."""
        return np.asarray(self.tile.position(self.coordinates(point), stage=self.stages(point), base=base))

    def binding(self, point: Mapping[str, int]) -> dict[str, int]:
        """The loops' values as people know them."""
        return {loop.name: loop.value(point.get(loop.name, 0)) for loop in self.loops}

    def described(self) -> str:
        """The operand in words."""
        fields = self.descriptor
        lbo = f"LBO {fields.lbo_bytes}, " if fields.reads_lbo(self.major) else ""
        offset = f", base offset {fields.base_offset}" if fields.base_offset else ""
        code = "" if self.code is None else f", as {self.code.place} compute"
        return (
            f"{self.rows} x {self.columns} elements of {self.role} of {self.instruction.name}, {self.major}-major, "
            f"{lbo}SBO {fields.sbo_bytes}, swizzle {fields.swizzle}{offset}{code}"
        )

    def with_descriptor(self, descriptor: Descriptor) -> Operand:
        """The same operand through another descriptor. Errors: its own."""
        return replace(self, descriptor=descriptor)
