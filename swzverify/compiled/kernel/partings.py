"""Choices behind which lanes that part need not run together again, where their ways join.

ptxas writes YIELD into a loop in which a lane may wait for other threads, by a load, an atomic or a barrier object:
lanes that wait behind the loop then go on. They run one after the other until an instruction gathers the warp.

Source: docs/hardware.md, "Lanes that part".
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from swzverify.compiled.kernel.flow import Flow, Loop
from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.ptx import Immediate, Instruction

_YIELDS: Final = re.compile(
    r"(?:atom|multimem|mbarrier|cp\.async\.mbarrier|nanosleep|call)\b.*"
    r"|red\.(?!async|global\.).*|ldu?\.(?:.*\.)?(?:volatile|relaxed|acquire|mmio)\b.*"
)
"""A call that is not inlined counts, too: its function may have any of these."""
_OF_BLOCK: Final = re.compile(r"bar(?:\.cta)?\.(?:sync|red)\b.*|barrier(?:\.cta)?\.(?:sync|red)\.(?:.*\.)?aligned\b.*")
_OF_WARP: Final = re.compile(r"bar\.warp\.sync|(?:shfl|vote|redux)\.sync\..*|match\.(?:any|all)\.sync\..*")


class Partings:
    """The choices of a function behind which lanes may stay apart.

    `behind` has for each such choice the blocks that lanes reach by several of its sides before they are gathered.
    """

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        instructions = flow.function.instructions
        yielding = [loop for loop in flow.loops if _has(flow, loop)]
        self.behind: dict[int, frozenset[int]] = {}
        self._gathers: dict[int, int] = {}
        """The first instruction of a block that gathers the lanes of a warp."""
        if not yielding:
            return
        for each in instructions:
            if _gathers(each):
                self._gathers.setdefault(flow.block_of[each.index], each.index)
        for block in filter(flow.is_reachable, range(flow.exit)):
            if flow.blocks[block].is_choice and any(map(partial(self._is_between, block), yielding)):
                seen, twice = set[int](), set[int]()
                for target in flow.following[block]:
                    side = reached([target], flow.following, self._gathers.__contains__)
                    side |= {target, *(after for each in side for after in flow.following[each])}
                    twice |= seen & side
                    seen |= side
                self.behind[block] = frozenset(twice - {flow.exit})

    def gathers_before(self, index: int) -> bool:
        """Whether an instruction before this one, in its block, gathers the lanes of a warp."""
        return self._gathers.get(self._flow.block_of[index], index) < index

    def _is_between(self, block: int, loop: Loop) -> bool:
        """Whether lanes may wait, where the sides of a choice join, for others in a loop."""
        if loop.header != block:
            return loop.header in self._flow.parted(block)
        return any(each not in loop.blocks for each in self._flow.following[block])


def _has(flow: Flow, loop: Loop) -> bool:
    blocks = (flow.blocks[each] for each in loop.blocks)
    return any(
        _YIELDS.fullmatch(flow.function.instructions[at].opcode) for of in blocks for at in range(of.start, of.stop)
    )


def _gathers(instruction: Instruction) -> bool:
    """Whether an instruction waits for all lanes of a warp."""
    if instruction.guard is not None:
        return False
    if _OF_BLOCK.fullmatch(instruction.opcode):
        return True
    mask = instruction.operands[-1] if instruction.operands else None
    is_whole = isinstance(mask, Immediate) and mask.value in (-1, ALL_LANES)
    return _OF_WARP.fullmatch(instruction.opcode) is not None and is_whole
