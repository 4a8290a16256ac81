"""Choices behind which lanes that part need not run together again, where their ways join.

Lanes wait where ways join, and go on by themselves if a lane on another way yields. ptxas makes lanes yield in a
loop in which they may wait for other threads, by a load, an atomic or a barrier object. Some instructions yield
wherever they are. Lanes then run one after the other until an instruction gathers the warp.

Source: docs/hardware.md, "Lanes that part".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from swzverify.compiled.kernel.flow import Flow, Loop
from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.ptx import Immediate, Instruction
from swzverify.ir.expr import Expr

_YIELDS: Final = re.compile(
    r"(?:atom|multimem|mbarrier|cp\.async\.mbarrier|nanosleep|call)\b.*"
    r"|red\.(?!async|global\.).*|ldu?\.(?:.*\.)?(?:volatile|relaxed|acquire|mmio)\b.*"
)
"""In a loop, these make lanes yield. A call that is not inlined counts, too: its function may have any of these."""
_YIELDS_ALONE: Final = re.compile(
    r"nanosleep\b.*|call\b.*|(?:bar|barrier)(?:\.cta|\.cluster)?\.(?:sync|red|arrive|wait)\b.*"
)
_TRY: Final = re.compile(r"mbarrier\.try_wait\b.*")
_WITH_TIME: Final = 4
"""The operands of `mbarrier.try_wait` with a limit of the time."""
_OF_BLOCK: Final = re.compile(r"bar(?:\.cta)?\.(?:sync|red)\b.*|barrier(?:\.cta)?\.(?:sync|red)\.(?:.*\.)?aligned\b.*")
_OF_WARP: Final = re.compile(r"bar\.warp\.sync|(?:shfl|vote|redux)\.sync\..*|match\.(?:any|all)\.sync\..*")


class Partings:
    """The choices of a function behind which lanes may stay apart.

    `calls` has for each instruction the calls through which it is reached, which ptxas may leave as they are, and
    `guard_of` gives the guard of an instruction.

    Attributes:
        behind: For each such choice the blocks that lanes reach by several of its sides before they are gathered.
        guarded: For instructions that a part of the lanes may execute by a guard: the guard, the block, and
            the blocks that lanes reach behind it before they are gathered.
    """

    def __init__(self, flow: Flow, calls: Sequence[tuple[int, ...]], guard_of: Callable[[Instruction], Expr]) -> None:
        self._flow = flow
        instructions = flow.function.instructions
        self._loops = [loop for loop in flow.loops if _has(flow, loop)]
        alone = [each for each in instructions if _yields_alone(each, is_of_call=bool(calls[each.index]))]
        self._alone = {flow.block_of[each.index] for each in alone}
        self.behind: dict[int, frozenset[int]] = {}
        self.guarded: list[tuple[Expr, int, set[int]]] = []
        self._gathers: dict[int, int] = {}
        """The first instruction of a block that gathers the lanes of a warp."""
        if not self._loops and not alone:
            return
        guarded = [each for each in alone if each.guard is not None and flow.is_reachable(flow.block_of[each.index])]
        not_told = {flow.block_of[each.index] for each in guarded}
        for each in instructions:
            if _gathers(each) and (block := flow.block_of[each.index]) not in not_told:
                self._gathers.setdefault(block, each.index)
        for each in guarded:
            block = flow.block_of[each.index]
            self.guarded.append((guard_of(each), block, self._reached(block)))
        for block in filter(flow.is_reachable, range(flow.exit)):
            if flow.blocks[block].is_choice and self._may_part(block):
                seen, twice = set[int](), set[int]()
                for target in flow.following[block]:
                    side = self._reached(target)
                    twice |= seen & side
                    seen |= side
                self.behind[block] = frozenset(twice - {flow.exit})

    def gathers_before(self, index: int) -> bool:
        """Whether an instruction before this one, in its block, gathers the lanes of a warp."""
        return self._gathers.get(self._flow.block_of[index], index) < index

    def _reached(self, block: int) -> set[int]:
        """A block and those that lanes reach from it before they are gathered, or where they are."""
        side = reached([block], self._flow.following, self._gathers.__contains__)
        return {block, *side, *(after for each in side for after in self._flow.following[each])}

    def _may_part(self, block: int) -> bool:
        """Whether lanes may yield while others wait where the sides of a choice join."""
        between = self._flow.parted(block)
        return not self._alone.isdisjoint(between) or any(map(partial(self._is_between, block, between), self._loops))

    def _is_between(self, block: int, between: Collection[int], loop: Loop) -> bool:
        """Whether lanes may wait, where the sides of a choice join, for others in a loop."""
        if loop.header != block:
            return loop.header in between
        return any(each not in loop.blocks for each in self._flow.following[block])


def _has(flow: Flow, loop: Loop) -> bool:
    blocks = (flow.blocks[each] for each in loop.blocks)
    return any(
        _YIELDS.fullmatch(flow.function.instructions[at].opcode) for of in blocks for at in range(of.start, of.stop)
    )


def _yields_alone(instruction: Instruction, *, is_of_call: bool) -> bool:
    """Whether a lane that executes an instruction yields, in a loop or not."""
    opcode = instruction.opcode
    if _OF_BLOCK.fullmatch(opcode):
        return False  # all lanes of a warp execute it together, or the launch has no meaning
    if _TRY.fullmatch(opcode) and len(instruction.operands) >= _WITH_TIME:
        return True
    return _YIELDS_ALONE.fullmatch(opcode) is not None or (is_of_call and _YIELDS.fullmatch(opcode) is not None)


def _gathers(instruction: Instruction) -> bool:
    """Whether an instruction waits for all lanes of a warp."""
    if instruction.guard is not None:
        return False
    if _OF_BLOCK.fullmatch(instruction.opcode):
        return True
    mask = instruction.operands[-1] if instruction.operands else None
    is_whole = isinstance(mask, Immediate) and mask.value in (-1, ALL_LANES)
    return _OF_WARP.fullmatch(instruction.opcode) is not None and is_whole
