"""Control flow: basic blocks, and an order of them in which diverged lanes meet again.

Lanes of a warp that have parted run the earliest block first. In an order in which a block comes
after all blocks that lead to it, and all blocks of a loop before those after the loop, lanes then
wait for each other wherever their ways join: also for those that leave a loop or the kernel from
inside a nested branch, as on the chip, whose convergence barriers lanes can break out of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import ParseError, UnsupportedError
from .model import Function, Instr, Operand, Sym

ENDING = frozenset({"bra", "brx", "ret", "exit", "trap", "call", "bar", "barrier"})


def ends_block(instr: Instr) -> bool:
    """Say whether the lanes may part, wait or leave after this instruction."""
    if instr.op in ("bar", "barrier"):
        return "arrive" not in instr.mods
    return instr.op in ENDING or waits(instr)


def waits(instr: Instr) -> bool:
    """Say whether this asks an mbarrier for the end of a phase.

    Such an instruction has a block of its own.
    """
    return instr.op == "mbarrier" and instr.mods[0] in ("try_wait", "test_wait")


@dataclass(eq=False)
class Block:
    """Instructions `start` to `stop` run one after the other.

    `end` (if any) decides what comes next.
    """

    index: int
    start: int
    stop: int
    end: Instr | None = None
    targets: list[int] = field(default_factory=list)
    """Blocks that the ending instruction names, in its order."""
    follow: int = 0
    """The block after this one."""

    def successors(self) -> list[int]:
        """Blocks that may come next inside this function."""
        if self.end is None:
            return [self.follow]
        if self.end.op in ("bra", "brx", "ret"):
            nexts = list(dict.fromkeys(self.targets))
        else:
            nexts = [] if self.end.op in ("exit", "trap") else [self.follow]
        if self.end.pred is not None and self.follow not in nexts:
            nexts.append(self.follow)
        return nexts


class Flow:
    """The blocks of a function.

    The last one is the end: lanes there return to the caller, or leave the kernel.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks: list[Block] = []
        self._starts: dict[int, int] = {}
        self._cut()
        self.end = len(self.blocks)
        for block in self.blocks:
            block.follow = block.index + 1
            if block.end is not None:
                block.targets = self._targets(block.end)
        self.nexts = [block.successors() for block in self.blocks] + [[]]
        self.rank = [0] * len(self.nexts)
        """The place of each block in the order in which lanes run."""
        for place, block_index in enumerate(order(range(len(self.nexts)), self.nexts)):
            self.rank[block_index] = place

    def _cut(self) -> None:
        """Cut the instructions at labels and after whatever ends a block."""
        instrs = self.function.instrs
        places: set[int] = set()
        for scope in {id(instr.scope): instr.scope for instr in instrs}.values():
            at = scope
            while at is not None:
                places.update(at.labels.values())
                at = at.parent
        start = 0
        for at, instr in enumerate(instrs):
            if (at in places or waits(instr)) and at > start:
                self.blocks.append(Block(len(self.blocks), start, at))
                start = at
            if ends_block(instr):
                self.blocks.append(Block(len(self.blocks), start, at, instr))
                start = at + 1
        if start < len(instrs):
            self.blocks.append(Block(len(self.blocks), start, len(instrs)))
        self._starts = {block.start: block.index for block in self.blocks}

    def block_at(self, label: Operand, line: int) -> int:
        """The block that a label names."""
        place = label.scope.find("labels", label.name) if isinstance(label, Sym) else None
        if not isinstance(place, int):
            raise ParseError(f"no label {label}", line)
        return self._starts.get(place, self.end)

    def _targets(self, instr: Instr) -> list[int]:
        """Blocks that a branch or a return names."""
        needed = {"bra": 1, "brx": 2, "call": 1}.get(instr.op, 0)
        if len(instr.operands) < needed:
            raise ParseError(f"{instr.opcode} with {len(instr.operands)} operands", instr.line)
        if instr.op == "bra":
            return [self.block_at(instr.operands[0], instr.line)]
        if instr.op == "ret":
            return [self.end]
        if instr.op != "brx":
            return []
        table = instr.operands[1]
        labels = table.scope.find("targets", table.name) if isinstance(table, Sym) else None
        if not isinstance(labels, list):
            raise UnsupportedError("brx.idx without a table of labels", instr.line)
        return [self.block_at(label, instr.line) for label in labels]


def order(places: Iterable[int], nexts: list[list[int]]) -> list[int]:
    """Order blocks: each after all that lead to it, loops in one piece, their first block first."""
    inside = set(places)
    found: list[int] = []
    for part in components(sorted(inside), nexts, inside):
        if len(part) == 1:
            found += part
            continue
        region = set(part)
        outside = {after for place in inside - region for after in nexts[place]}
        head = min((place for place in part if place in outside), default=min(part))
        found.append(head)
        found += order(region - {head}, nexts)
    return found


def components(places: list[int], nexts: list[list[int]], inside: set[int]) -> list[list[int]]:
    """Strongly connected parts of a graph, each before those it leads to (Tarjan, as a loop)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    parts: list[list[int]] = []
    for root in places:
        todo = [(root, 0)] if root not in number else []
        while todo:
            place, at = todo.pop()
            if at == 0:
                number[place] = low[place] = len(number)
                stack.append(place)
                waiting.add(place)
            ways = [after for after in nexts[place] if after in inside]
            for after in ways[:at]:
                if after in waiting:
                    low[place] = min(low[place], low[after])
            if at < len(ways):
                todo.append((place, at + 1))
                if ways[at] not in number:
                    todo.append((ways[at], 0))
                continue
            if low[place] == number[place]:
                part = stack[stack.index(place) :]
                del stack[-len(part) :]
                waiting -= set(part)
                parts.append(part)
    return parts[::-1]
