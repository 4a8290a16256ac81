"""Control flow of a function: basic blocks, the ways between them, loops, and where lanes meet.

Source: PTX ISA, Control Flow Instructions (bra, brx.idx, call, ret, exit), trap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from swzverify.compiled.kernel.graph import Tree, immediate_dominators, inverted, reached, reverse_postorder
from swzverify.compiled.ptx import Function, Instruction, Label, PtxError

_ENDS: Final = frozenset({"bra", "brx", "ret", "exit", "trap"})
_LEAVES: Final = frozenset({"ret", "exit", "trap"})

MOST_BLOCKS: Final = 10_000
"""The most blocks of a function that is scanned: the time can grow with their square."""


class FlowError(Exception):
    """Control flow that cannot be followed; the text is `reason`, and `line` is its line of the PTX."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Way:
    """One edge out of a block, to `target`.

    It is taken if the guard of the last instruction is `guard` (None: always), and if its index is one of
    `cases` (None: any).
    """

    target: int
    guard: bool | None = None
    cases: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions `start` to `stop` - 1, which run one after the other, and the ways on.

    With two or more ways the last instruction chooses.
    """

    index: int
    start: int
    stop: int
    ways: tuple[Way, ...]

    @property
    def is_choice(self) -> bool:
        """Whether lanes may part here."""
        return len(self.ways) > 1


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: all its blocks, and the blocks that lead back to its header."""

    header: int
    latches: tuple[int, ...]
    blocks: frozenset[int]


class Flow:
    """The blocks of a function; block `exit` is behind the last one and has no instructions.

    A `FlowError` for labels that lead nowhere, for loops with several entries, and for too many
    blocks.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k() { .reg .pred %p;"
    >>> flow = Flow(read_module(text + " L: @%p bra L; ret; }", "k.ptx").functions[0])
    >>> [each.header for each in flow.loops], flow.blocks[0].ways[0].target, flow.exit
    ([0], 0, 2)
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks = _blocks(function)
        if len(self.blocks) > MOST_BLOCKS:
            raise FlowError(f"the function has more than {MOST_BLOCKS} blocks", function.line)
        self.exit = len(self.blocks)
        self.following = [list(dict.fromkeys(way.target for way in block.ways)) for block in self.blocks] + [[]]
        self.before = inverted(self.following)
        self.order = reverse_postorder(0, self.following)
        self.place = {block: at for at, block in enumerate(self.order)}
        self.dominators = Tree(immediate_dominators(0, self.following))
        self.block_of = [block.index for block in self.blocks for _ in range(block.start, block.stop)]
        self._check_reducible()
        self.loops = self._find_loops()
        self.loop_at = {loop.header: loop for loop in self.loops}
        self._around: dict[int, list[Loop]] = {}

    def is_reachable(self, block: int) -> bool:
        """Whether some way leads to a block."""
        return block in self.place

    def is_back(self, source: int, target: int) -> bool:
        """Whether an edge leads back to the header of a loop."""
        return self.dominators.above(target, source)

    def entries(self, block: int) -> list[int]:
        """The blocks before a block, those that lead back to it left out."""
        return [each for each in self.before[block] if self.is_reachable(each) and not self.is_back(each, block)]

    def around(self, block: int) -> list[Loop]:
        """The loops that a block stands in, the outermost first."""
        if block not in self._around:
            found = [loop for loop in self.loops if block in loop.blocks]
            self._around[block] = sorted(found, key=lambda loop: -len(loop.blocks))
        return self._around[block]

    @cached_property
    def meeting(self) -> list[int | None]:
        """The block where all lanes that part at a block meet again; None where they need not.

        Source: immediate post-dominators.
        """
        return immediate_dominators(self.exit, self.before)

    def parted(self, block: int) -> set[int]:
        """The blocks between a choice and the place where its lanes meet again."""
        ends = {self.meeting[block], self.exit, block}
        return reached(self.following[block], self.following, ends.__contains__)

    @cached_property
    def shared_sides(self) -> dict[int, list[int]]:
        """For each block, the branches whose lanes may reach it at different times.

        They reach it by both sides, or by one side in different trips of a loop, before the immediate
        post-dominator of the branch.
        """
        found: dict[int, list[int]] = {}
        for block in self.blocks:
            if not block.is_choice or not self.is_reachable(block.index):
                continue
            seen: set[int] = set()
            twice: set[int] = set()
            ends = {self.meeting[block.index], self.exit}
            for target in self.following[block.index]:
                side = reached([target], self.following, ends.__contains__)
                twice |= seen & side
                seen |= side
            for each in twice:
                found.setdefault(each, []).append(block.index)
        return found

    @cached_property
    def controlling(self) -> list[set[int]]:
        """For each block, the choices that decide directly whether a thread reaches it.

        A choice from which some thread need not come to an end counts for all blocks.
        Source: control dependence; Ferrante, Ottenstein, Warren (1987).
        """
        found: list[set[int]] = [set() for _ in self.following]
        for block in self.blocks:
            if not block.is_choice or not self.is_reachable(block.index):
                continue
            end, decided = self.meeting[block.index], set[int]()
            for target in self.following[block.index]:
                node: int | None = target
                while node is not None and node != end:
                    decided.add(node)
                    node = self.meeting[node]
                if node is None:
                    decided = set(range(len(found)))
            for each in decided:
                found[each].add(block.index)
        return found

    def _check_reducible(self) -> None:
        for source in self.order:
            for target in self.following[source]:
                if self.place[target] <= self.place[source] and not self.is_back(source, target):
                    line = self.function.instructions[self.blocks[target].start].line
                    raise FlowError("a loop can be entered at several places", line)

    def _find_loops(self) -> tuple[Loop, ...]:
        latches: dict[int, list[int]] = {}
        for source in self.order:
            for target in self.following[source]:
                if self.is_back(source, target):
                    latches.setdefault(target, []).append(source)
        found: list[Loop] = []
        for header, ends in latches.items():
            inside = reached(ends, self.before, lambda node, header=header: node == header)
            inside = {each for each in inside if self.is_reachable(each)} | {header}
            found.append(Loop(header, tuple(ends), frozenset(inside)))
        return tuple(sorted(found, key=lambda loop: self.place[loop.header]))


def in_one_piece(flow: Flow) -> list[int]:
    """The reachable blocks in a topological order, with each loop in one piece.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k() { .reg .pred %p;"
    >>> flow = Flow(read_module(text + " L: @%p bra M; ret; M: bra L; }", "k.ptx").functions[0])
    >>> in_one_piece(flow)
    [0, 2, 1]
    """
    return _piece(flow, 0, set(flow.place) - {flow.exit}, list(flow.loops))


def _piece(flow: Flow, first: int, blocks: set[int], loops: list[Loop]) -> list[int]:
    """The order of some blocks that are entered at the first one; `loops` are those inside of them."""
    outer = [loop for loop in loops if not any(loop.blocks < other.blocks for other in loops)]
    whole = {block: loop.header for loop in outer for block in loop.blocks}
    nodes = sorted({whole.get(block, block) for block in blocks})
    number = {node: at for at, node in enumerate(nodes)}
    following: list[list[int]] = [[] for _ in nodes]
    for block in sorted(blocks):
        node = whole.get(block, block)
        for target in flow.following[block]:
            into = whole.get(target, target)
            if target in blocks and target != first and into != node:
                following[number[node]].append(number[into])
    found: list[int] = []
    of_header = {loop.header: loop for loop in outer}
    for node in (nodes[at] for at in reverse_postorder(number[whole.get(first, first)], following)):
        loop = of_header.get(node)
        if loop is None:
            found.append(node)
        else:
            inner = [each for each in loops if each.blocks < loop.blocks]
            found += _piece(flow, loop.header, set(loop.blocks), inner)
    return found


def base_name(instruction: Instruction) -> str:
    """The opcode up to its first dot."""
    return instruction.opcode.partition(".")[0]


def _blocks(function: Function) -> tuple[Block, ...]:
    instructions = function.instructions
    count = len(instructions)
    starts = {0, *(at for at in function.labels.values() if at < count)}
    starts |= {each.index + 1 for each in instructions if base_name(each) in _ENDS and each.index + 1 < count}
    ordered = sorted(starts) if count else []
    at_start = {start: index for index, start in enumerate((*ordered, count))}
    found: list[Block] = []
    for index, (start, stop) in enumerate(pairwise((*ordered, count))):
        found.append(Block(index, start, stop, _ways(function, instructions[stop - 1], index + 1, at_start)))
    return tuple(found)


def _ways(function: Function, last: Instruction, follow: int, at_start: dict[int, int]) -> tuple[Way, ...]:
    name = base_name(last)
    if name not in _ENDS:
        return (Way(follow),)
    end = at_start[len(function.instructions)]
    try:
        guard = last.guard
        if name in _LEAVES:
            targets: dict[int, tuple[int, ...] | None] = {end: None}
        elif name == "bra" and last.operands:
            targets = {_place(function, last.operands[0], last, at_start): None}
        elif name == "brx":
            targets = _table(function, last, at_start)
        else:
            raise FlowError("a branch without a label", last.line)
    except PtxError as error:
        raise FlowError(str(error), last.line) from None
    if guard is None:
        if len(targets) == 1:
            return (Way(next(iter(targets))),)
        return tuple(Way(target, None, cases) for target, cases in targets.items())
    if set(targets) == {follow}:
        return (Way(follow),)
    return (*(Way(target, True, cases) for target, cases in targets.items()), Way(follow, False))


def _table(function: Function, last: Instruction, at_start: dict[int, int]) -> dict[int, tuple[int, ...] | None]:
    label = last.operands[1] if len(last.operands) == 2 else None
    names = function.targets.get(label) if isinstance(label, Label) else None
    if not names:
        raise FlowError("brx.idx without a table of its targets", last.line)
    found: dict[int, tuple[int, ...] | None] = {}
    for case, name in enumerate(names):
        target = _place(function, name, last, at_start)
        found[target] = (*(found.get(target) or ()), case)
    return found if len(found) > 1 else dict.fromkeys(found)


def _place(function: Function, label: object, last: Instruction, at_start: dict[int, int]) -> int:
    if isinstance(label, Label) and label in function.labels:
        return at_start[function.labels[label]]
    raise FlowError(f"`{last.opcode} {last.text}` leads to no label", last.line)
