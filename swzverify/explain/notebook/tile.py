"""A tile that states its accesses, and an access that says what it costs."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify import subjects
from swzverify.core.shown import Drawn
from swzverify.errors import SwzError
from swzverify.explain.notebook.stated import (
    Expressions,
    Loops,
    Threads,
    block_of,
    constants_of,
    expression_of,
    expressions_of,
    loops_of,
)
from swzverify.hardware import Instruction, Kind, Target, find_instruction, find_target
from swzverify.ir.c_formula import CFormula
from swzverify.search.costs import AccessCosts, cost


class Tile(subjects.Tile, Drawn):
    """A layout placed in shared memory, which states the accesses to it.

    Fields and errors are those of `swzverify.subjects.Tile`. Notebooks show the logical grid with
    offsets and banks.

    >>> from swzverify import Layout, Swizzle
    >>> tile = Tile("A", 16, Layout("(8,64):(64,1)"), Swizzle("Swizzle<3,3,3>"))
    >>> tile.read("ldmatrix.x4", coord=["lane%8", "lane/8*8"], threads=32).cost().bank_conflicts
    0
    """

    def read(
        self,
        instruction: str | Instruction,
        *,
        coord: Expressions,
        threads: Threads,
        loops: Loops | None = None,
        predicate: str | int | CFormula | None = None,
        stage: str | int | CFormula | None = None,
        constants: Mapping[str, int] | None = None,
        target: str | Target = "sm_90",
        name: str = "",
    ) -> Access:
        """A load of the tile by all threads of a block.

        `coord` has one C expression per mode, of `tid`, `lane`, `warp`, loop variables and constants;
        `threads` is their number or the block's extents; `loops` are numbers of iterations, ranges or lists
        of values. Without a `stage` the access is to every stage.

        Raises:
            SwzError: SWZ105 for an instruction that writes, or an argument of another kind; SWZ401 and
                SWZ402 for an unknown instruction or target; those of `Access` and of expressions.

        >>> from swzverify import Layout
        >>> tile = Tile("A", 16, Layout("(64,64):(64,1)"))
        >>> where = ["warp*16 + lane%16", "k + lane/16*8"]
        >>> tile.read("ldmatrix.x4", coord=where, threads=128, loops={"k": range(0, 64, 16)}).cost().wavefronts
        32
        """
        row = _instruction(instruction)
        if row.kind.stores or row.kind is Kind.CP_ASYNC:
            raise SwzError("SWZ105", f"{row.name} writes, and a read was asked for", hint="write it by tile.write(...)")
        name = name or f"read {self.name}"
        return self._access(row, coord, threads, loops, predicate, stage, constants, target, name)

    def write(
        self,
        instruction: str | Instruction,
        *,
        coord: Expressions,
        threads: Threads,
        loops: Loops | None = None,
        predicate: str | int | CFormula | None = None,
        stage: str | int | CFormula | None = None,
        constants: Mapping[str, int] | None = None,
        target: str | Target = "sm_90",
        name: str = "",
    ) -> Access:
        """A store or an asynchronous copy to the tile; an atomic may be stated by `read` or `write`.

        Arguments and errors are those of `read`.

        >>> from swzverify import Layout
        >>> tile = Tile("A", 32, Layout("(32,32):(32,1)"))
        >>> tile.write("st.shared.b32", coord=["lane", "warp"], threads=1024).cost().wavefronts
        32
        """
        row = _instruction(instruction)
        if row.kind.loads:
            raise SwzError("SWZ105", f"{row.name} reads, and a write was asked for", hint="write it by tile.read(...)")
        name = name or f"write {self.name}"
        return self._access(row, coord, threads, loops, predicate, stage, constants, target, name)

    def _access(
        self,
        row: Instruction,
        coord: Expressions,
        threads: Threads,
        loops: Loops | None,
        predicate: str | int | CFormula | None,
        stage: str | int | CFormula | None,
        constants: Mapping[str, int] | None,
        target: str | Target,
        name: str,
    ) -> Access:
        return Access(
            name,
            row,
            _target(target),
            block_of(threads),
            loops=loops_of(loops),
            constants=constants_of(constants),
            tile=self,
            coord=expressions_of(coord),
            stage=None if stage is None else expression_of(stage, f"stage={stage!r}"),
            predicate=None if predicate is None else expression_of(predicate, f"predicate={predicate!r}"),
        )


def _instruction(instruction: object) -> Instruction:
    if isinstance(instruction, Instruction):
        return instruction
    if isinstance(instruction, str):
        return find_instruction(instruction)
    hint = 'the name of one, such as "ldmatrix.x4"'
    raise SwzError("SWZ105", f"{instruction!r} ({type(instruction).__name__}) is no instruction", hint=hint)


def _target(target: object) -> Target:
    if isinstance(target, Target):
        return target
    if isinstance(target, str):
        return find_target(target)
    raise SwzError("SWZ105", f"target={target!r} ({type(target).__name__}) is no target", hint='target="sm_90"')


class Access(subjects.Access, Drawn):
    """An instruction at a tile's coordinates, or at byte addresses outright, which says what it costs.

    Fields and errors are those of `swzverify.subjects.Access`. `Tile.read` and `Tile.write` make
    one, and specs have them in `spec.cases[0].accesses`. Notebooks show the groups of the worst warp
    instruction.

    >>> from swzverify import Layout, Tile
    >>> read = Tile("A", 32, Layout("(32,32):(32,1)")).read("ld.shared.b32", coord=["lane", 0], threads=32)
    >>> read.warps, read.cost().wavefronts
    (1, 32)
    """

    def cost(self) -> AccessCosts:
        """What all warp instructions of it take, at the worst stage and base. No engine is asked.

        Raises:
            SwzError: SWZ206 for a loop without a bound, values that each lane has of its own, or more than
                2^26 lanes to price; SWZ404 for a misaligned address; SWZ105 if there is no warp instruction
                with an active lane.

        >>> from swzverify import Layout, Tile
        >>> tile = Tile("A", 32, Layout("(32,32):(33,1)"))
        >>> print(tile.read("ld.shared.b32", coord=["lane", "k"], threads=32, loops={"k": 4}).cost())
        1 wavefront (minimum 1), 0 bank conflicts
          warp instructions  4
          wavefronts         4 in all; 4 take 1
          worst at           warp = 0, k = 0, base = 0
          evidence           measured
        """
        return cost(self)
