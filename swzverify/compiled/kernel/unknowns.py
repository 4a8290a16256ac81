"""Values of which little is known: the leaves of what an instruction writes and nobody computes here."""

from __future__ import annotations

from swzverify.compiled.kernel.flow import Flow
from swzverify.compiled.kernel.leaves import Leaves, Made, Moved, OpaqueLeaf
from swzverify.compiled.ptx import Instruction
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr, Var, var, variables


class Unknowns:
    """Makes unknown values of one function; the leaves are kept by their names."""

    def __init__(self, flow: Flow, leaves: Leaves) -> None:
        self.flow, self.leaves = flow, leaves
        self.asked: set[int] = set()
        """The blocks of shuffles for which it is being asked whether all lanes of a warp execute them."""

    def opaque(self, instruction: Instruction, at: int, width: int, reason: str) -> Var:
        """A value of which nothing is known; each lane has its own."""
        return self._unknown(instruction, at, width, reason, (), Made.ANYHOW)

    def exchanged(self, instruction: Instruction, at: int, width: int, reason: str, moved: Moved | None) -> Var:
        """A value that a lane gets from other lanes; with `moved`, it is known from which one, and what."""
        return self._unknown(instruction, at, width, reason, (), Made.EXCHANGED, moved=moved)

    def reduced(self, instruction: Instruction, width: int, feeds: tuple[Expr, ...], distances: int) -> Var:
        """A value that lanes at some distances share; one of the warp if these are all distances."""
        if distances == LANES - 1:
            reason = f"`{instruction.opcode}` gives all lanes of a warp one value"
            return self._unknown(instruction, 0, width, reason, (), Made.REDUCED, distances=distances)
        reason = f"`{instruction.opcode}` is not computed"
        return self._unknown(instruction, 0, width, reason, feeds, Made.DETERMINED, distances=distances)

    def determined(self, instruction: Instruction, at: int, width: int, reason: str, feeds: tuple[Expr, ...]) -> Var:
        """An unknown value that depends on `feeds` alone.

        If it is made of other values of this kind, `feeds` includes what those depend on.
        """
        inner = [self.leaves[each] for each in variables(*feeds)]
        more = [each for leaf in inner if isinstance(leaf, OpaqueLeaf) and not leaf.is_moment for each in leaf.feeds]
        return self._unknown(instruction, at, width, reason, tuple(dict.fromkeys((*feeds, *more))), Made.DETERMINED)

    def moment(
        self,
        instruction: Instruction,
        at: int,
        width: int,
        reason: str,
        feeds: tuple[Expr, ...],
        *,
        is_input: bool = False,
    ) -> Var:
        """A value that lanes share if they execute the instruction together, and share `feeds`."""
        return self._unknown(instruction, at, width, reason, feeds, Made.INPUT if is_input else Made.MOMENT)

    def _unknown(
        self,
        instruction: Instruction,
        at: int,
        width: int,
        reason: str,
        feeds: tuple[Expr, ...],
        made: Made,
        *,
        moved: Moved | None = None,
        distances: int = 0,
    ) -> Var:
        named = var(f"{instruction.opcode} at line {instruction.line}: {instruction.index}.{at}.{width}", 1 << width)
        block = self.flow.block_of[instruction.index]
        leaf = OpaqueLeaf(
            named,
            reason,
            instruction.line,
            block,
            feeds=feeds,
            made=made,
            moved=moved,
            distances=distances,
            index=instruction.index,
        )
        return self.leaves.add(leaf)
