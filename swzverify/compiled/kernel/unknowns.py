"""Values of which little is known: the leaves of what an instruction writes and nobody computes here."""

from __future__ import annotations

from swzverify.compiled.kernel.flow import Flow
from swzverify.compiled.kernel.leaves import Kind, Leaf, Leaves
from swzverify.compiled.ptx import Instruction
from swzverify.ir.expr import Expr, Var, var, variables


class Unknowns:
    """Makes unknown values of one function; the leaves are kept by their names."""

    def __init__(self, flow: Flow, leaves: Leaves) -> None:
        self.flow, self.leaves = flow, leaves

    def opaque(self, instruction: Instruction, at: int, width: int, reason: str, *, is_exchanged: bool = False) -> Var:
        """A value of which nothing is known; each lane has its own."""
        return self._unknown(instruction, at, width, reason, per_lane=True, is_exchanged=is_exchanged)

    def determined(self, instruction: Instruction, at: int, width: int, reason: str, feeds: tuple[Expr, ...]) -> Var:
        """An unknown value that depends on `feeds` alone.

        If it is made of other values of this kind, `feeds` includes what those depend on.
        """
        inner = [self.leaves[each] for each in variables(*feeds)]
        more = [each for leaf in inner if leaf.kind is Kind.OPAQUE and not leaf.is_moment for each in leaf.feeds]
        return self._unknown(instruction, at, width, reason, feeds=tuple(dict.fromkeys((*feeds, *more))))

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
        return self._unknown(instruction, at, width, reason, feeds=feeds, is_moment=True, is_input=is_input)

    def _unknown(
        self,
        instruction: Instruction,
        at: int,
        width: int,
        reason: str,
        *,
        feeds: tuple[Expr, ...] = (),
        per_lane: bool = False,
        is_moment: bool = False,
        is_input: bool = False,
        is_exchanged: bool = False,
    ) -> Var:
        made = var(f"{instruction.opcode} at line {instruction.line}: {instruction.index}.{at}.{width}", 1 << width)
        block = self.flow.block_of[instruction.index]
        leaf = Leaf(
            *(made, Kind.OPAQUE, reason, instruction.line, block, feeds, per_lane, is_moment),
            is_input=is_input,
            is_exchanged=is_exchanged,
        )
        return self.leaves.add(leaf)
