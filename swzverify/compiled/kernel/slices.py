"""The value of a register at an instruction, found backwards from where it is asked for.

Registers are not in SSA form: the definitions that reach a place are looked up block by block. Where ways join,
the value is a choice between the values of the ways, by the conditions of the ways. A register that changes in a
loop is a `CARRIED` leaf at the loop's header. All values at a place are those of the last time that the thread came
to what they depend on.

Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013); PTX ISA,
Predicated Execution.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import add, both, either, joined, widened
from swzverify.compiled.kernel.effects import registers_of, width_of, written
from swzverify.compiled.kernel.flow import Flow, FlowError, Loop, Way
from swzverify.compiled.kernel.graph import closure, reached
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import CarriedLeaf, LaneLeaf, Leaves, Made, OpaqueLeaf
from swzverify.compiled.kernel.parameters import Piece
from swzverify.compiled.kernel.special import BlockShape, special
from swzverify.compiled.kernel.symbols import Symbols
from swzverify.compiled.kernel.unknowns import Unknowns
from swzverify.compiled.ptx import (
    Address,
    FloatImmediate,
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Plus,
    PtxError,
    Register,
    SpecialRegister,
    SymbolRef,
    Vector,
)
from swzverify.ir.expr import (
    FALSE,
    Comparison,
    Expr,
    Var,
    compare,
    const,
    extract,
    ite,
    negation,
    var,
    variables,
)

MOST_JOINED: Final = 400
"""Blocks between two places up to which a join is written as a choice."""


class Wanted(NamedTuple):
    """A register behind its definition at an instruction, or at the begin of a block."""

    is_definition: bool
    place: int
    register: Register


Steps: TypeAlias = Generator[Wanted, Expr, Expr]
MaybeSteps: TypeAlias = Generator[Wanted, Expr, Expr | None]
Evaluate: TypeAlias = Callable[["Slices", Instruction, int], Steps]
"""Gives the value that an instruction writes into its operand at a place of `written`."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A register that changes in a loop: before the first trip, and at the end of each."""

    variable: Var
    loop: Loop
    before: Expr
    after: Expr


class Slices(Unknowns):
    """Values of one function.

    `block` is the known shape of the block, and `arguments` has values of parameters.

    Raises:
        FlowError: Control flow or operands cannot be read.
    """

    def __init__(
        self,
        module: Module,
        function: Function,
        block: BlockShape | None,
        evaluate: Evaluate,
        arguments: Arguments = NO_ARGUMENTS,
    ) -> None:
        self.module, self.function, self.block, self.arguments = module, function, block, arguments
        super().__init__(Flow(function), Leaves())
        self.symbols = Symbols(module, function, self.leaves)
        self.carried: dict[Var, Carried] = {}
        self.pieces: dict[str, set[Piece]] | None = None
        """The bytes of kernel parameters that loads read; None before that was asked for."""
        self.threads = Threads(block) if block else None
        self._evaluate = evaluate
        self._known: dict[Wanted, Expr] = {}
        self._waiting: list[tuple[Var, Loop, Register]] = []
        self._regions: dict[tuple[int, int], frozenset[int]] = {}
        self._written: list[tuple[Operand, ...]] = []
        self._places: dict[tuple[int, Register], list[int]] = {}
        self._blocks: dict[Register, set[int]] = {}
        self._index()

    def _index(self) -> None:
        for each in self.function.instructions:
            try:
                found = written(each)
                _ = each.guard
            except PtxError as error:
                raise FlowError(str(error), each.line) from None
            self._written.append(found)
            block = self.flow.block_of[each.index]
            for register in {registers_of(operand) for operand in found} - {None}:
                if register is not None:
                    self._places.setdefault((block, register), []).append(each.index)
                    self._blocks.setdefault(register, set()).add(block)

    # ---- asking

    def run(self, steps: Steps) -> Expr:
        """The value that some steps come to, and what loops carry into it."""
        value = self._run(steps)
        while self._waiting:
            variable, loop, register = self._waiting.pop()
            before = self._run(self._enter(loop.header, register))
            after = self._run(self._choice(register, loop.header, loop.latches, loop.header))
            self.carried[variable] = Carried(variable, loop, before, after)
        return value

    def _run(self, steps: Steps) -> Expr:
        """Steps ask for values, and those for others: a stack in place of recursion."""
        stack: list[tuple[Wanted | None, Steps]] = [(None, steps)]
        sent: Expr | None = None
        while True:
            wanted, top = stack[-1]
            try:
                asked = next(top) if sent is None else top.send(sent)
            except StopIteration as stop:
                stack.pop()
                sent = stop.value
                if wanted is not None and sent is not None:
                    self._known[wanted] = sent
                if not stack:
                    return stop.value
                continue
            sent = self._known.get(asked)
            if sent is None:
                stack.append((asked, self._definition(asked) if asked.is_definition else self._begin(asked)))

    # ---- definitions

    def before(self, register: Register, index: int) -> Steps:
        """The value of a register before an instruction."""
        block = self.flow.block_of[index]
        return (yield from self._within(register, block, index))

    def _end(self, block: int, register: Register) -> Steps:
        return (yield from self._within(register, block, self.flow.blocks[block].stop))

    def _within(self, register: Register, block: int, index: int) -> Steps:
        places = self._places.get((block, register))
        if places and (at := bisect_left(places, index)):
            return (yield Wanted(True, places[at - 1], register))
        return (yield Wanted(False, block, register))

    def _definition(self, wanted: Wanted) -> Steps:
        instruction = self.function.instructions[wanted.place]
        targets = self._written[wanted.place]
        at = max(at for at, operand in enumerate(targets) if registers_of(operand) == wanted.register)
        if targets[at] == wanted.register:
            value = yield from self._evaluate(self, instruction, at)
        else:
            value = self.opaque(instruction, at, width_of(wanted.register), "a part of the register is written")
        if value.width != width_of(wanted.register):
            value = self.opaque(instruction, at, width_of(wanted.register), "the result has another width")
        if instruction.guard is not None:
            holds = yield from self.guard(instruction)
            old = yield from self.before(wanted.register, wanted.place)
            value = ite(holds, value, old)
        return value

    def guard(self, instruction: Instruction) -> Steps:
        """Whether the guard of an instruction lets it run."""
        guard = instruction.guard
        if guard is None:
            return const(1, 1)
        value = self._folded((yield from self.before(guard.register, instruction.index)))
        return negation(value) if guard.negated else value

    def _folded(self, condition: Expr) -> Expr:
        """A condition that is the same for all threads of the block, as a constant."""
        found = variables(condition)
        if self.threads is None or not found or any(not isinstance(self.leaves[each], LaneLeaf) for each in found):
            return condition
        value = self.threads.constant(condition)
        return condition if value is None else const(value, 1)

    # ---- the begins of blocks

    def _begin(self, wanted: Wanted) -> Steps:
        block, register = wanted.place, wanted.register
        loop = self.flow.loop_at.get(block)
        if loop is not None and self._blocks.get(register, set()) & loop.blocks:
            return self._carry(loop, register)
        return (yield from self._enter(block, register))

    def _enter(self, block: int, register: Register) -> Steps:
        """The value with which the block is entered, loops back to it left out."""
        entries = self.flow.entries(block)
        upper = self.flow.dominators.parents[block]
        if block == 0 or upper is None or not entries:
            return self._never_written(register)
        if len(entries) == 1:
            return (yield from self._end(entries[0], register))
        if not self._blocks.get(register, set()) & self._between(upper, block):
            return (yield from self._end(upper, register))
        return (yield from self._choice(register, upper, tuple(entries), block))

    def _never_written(self, register: Register) -> Expr:
        width = width_of(register)
        made = var(f"{register.name}:{register.scope} at the begin", 1 << width)
        reason = "the register is not written before, or it is a parameter of the function"
        return self.leaves.add(OpaqueLeaf(made, reason, self.function.line, None, made=Made.ANYHOW))

    def _carry(self, loop: Loop, register: Register) -> Var:
        line = self.line_of(loop.header)
        made = var(f"{register.name}:{register.scope} in the loop at {line}.{loop.header}", 1 << width_of(register))
        if made.name not in self.leaves.by_name:
            reason = "the register changes from trip to trip of a loop"
            self.leaves.add(CarriedLeaf(made, reason, line, loop.header))
            self._waiting.append((made, loop, register))
        return made

    def line_of(self, block: int) -> int:
        """The line where a block begins."""
        return self.function.instructions[self.flow.blocks[block].start].line

    def _between(self, upper: int, block: int) -> frozenset[int]:
        """All blocks on ways from one block to another that it dominates, both left out."""
        key = (upper, block)
        if key not in self._regions:
            entries = self.flow.entries(block)
            self._regions[key] = frozenset(reached(entries, self.flow.before, lambda node: node == upper))
        return self._regions[key]

    # ---- joins

    def _choice(self, register: Register, upper: int, lasts: tuple[int, ...], target: int) -> Steps:
        """The value at `target` of a thread that came from `upper` by one of the blocks `lasts`.

        Ways back to headers of loops are left out, as they are no part of the last trip.
        """
        values: dict[int, Expr] = {}
        for last in lasts:
            values[last] = yield from self._end(last, register)
        if len(set(values.values())) == 1:
            return values[lasts[0]]
        inside = self.leading(upper, lasts)
        if len(inside) > MOST_JOINED:
            return self._joined_opaque(register, target)
        chosen: dict[int, Expr] = {}
        for block in sorted(inside, key=self.flow.place.__getitem__, reverse=True):
            options: list[tuple[Way, Expr]] = []
            for way in self.flow.blocks[block].ways:
                if way.target == target and block in values:
                    options.append((way, values[block]))
                elif way.target in chosen and not self.flow.is_back(block, way.target):
                    options.append((way, chosen[way.target]))
            if options:
                chosen[block] = yield from self._pick(block, options)
        return chosen[upper]

    def leading(self, upper: int, lasts: tuple[int, ...]) -> set[int]:
        """The blocks on paths from `upper` to the end of one of some blocks, these included."""
        return {upper, *closure(lasts, lambda node: () if node == upper else self.flow.entries(node))}

    def _joined_opaque(self, register: Register, target: int) -> Expr:
        made = var(f"{register.name}:{register.scope} joined at {target}", 1 << width_of(register))
        reason = f"more than {MOST_JOINED} blocks join here"
        return self.leaves.add(OpaqueLeaf(made, reason, self.line_of(target), target, made=Made.ANYHOW))

    def _pick(self, block: int, options: list[tuple[Way, Expr]]) -> Steps:
        result = options[-1][1]
        for way, value in reversed(options[:-1]):
            if value is not result:
                holds = yield from self.way(block, way)
                result = ite(holds, value, result)
        return result

    def way(self, block: int, way: Way) -> Steps:
        """Whether a thread that is at the end of a block takes a way."""
        last = self.function.instructions[self.flow.blocks[block].stop - 1]
        holds: Expr = const(1, 1)
        if way.guard is not None:
            holds = yield from self.guard(last)
            if not way.guard:
                return negation(holds)
        if way.cases is not None:
            index = yield from self.index(last)
            among: Expr = FALSE
            for case in way.cases:
                among = either(among, compare(Comparison.EQ, index, const(case, index.width)))
            holds = both(holds, among)
        return holds

    def index(self, last: Instruction) -> Steps:
        """The index of a `brx.idx`."""
        value = yield from self.read(last.operands[0], 32, last)
        return self.opaque(last, 0, 32, "the index cannot be read") if value is None else value

    def edge(self, source: int, target: int) -> Expr:
        """Whether a thread at the end of a block goes on to another one."""
        result: Expr = FALSE
        for way in self.flow.blocks[source].ways:
            if way.target == target:
                result = either(result, self.run(self.way(source, way)))
        return result

    def choice_values(self, block: int) -> tuple[Expr, ...]:
        """What decides which way a thread takes at the end of a block."""
        last = self.function.instructions[self.flow.blocks[block].stop - 1]
        found = [self.run(self.guard(last))]
        if any(way.cases is not None for way in self.flow.blocks[block].ways):
            found.append(self.run(self.index(last)))
        return tuple(found)

    # ---- operands

    def read(self, operand: Operand, width: int, instruction: Instruction) -> MaybeSteps:
        """An operand as so many bits; None if it has no such reading."""
        match operand:
            case Register():
                value = yield from self.before(operand, instruction.index)
                return None if value.width < width or (value.width == 1) != (width == 1) else extract(value, 0, width)
            case Immediate(value):
                return const(value, width) if width > 1 else const(int(value != 0), 1)
            case FloatImmediate(bits, its_width):
                return const(bits, width) if its_width == width else None
            case SpecialRegister(name):
                return special(name, width, self.block, self.leaves, self.arguments) if width > 1 else None
            case SymbolRef():
                return self.symbols.address(operand, width) if width > 1 else None
            case Negated(inner):
                value = yield from self.read(inner, width, instruction)
                return None if value is None or width != 1 else negation(value)
            case Plus(register, offset):
                value = yield from self.read(register, width, instruction)
                return None if value is None else add(value, const(offset, width))
            case Vector(items):
                return (yield from self._packed(items, width, instruction))
            case _:
                return None

    def _packed(self, items: tuple[Operand, ...], width: int, instruction: Instruction) -> MaybeSteps:
        if not items or width % len(items):
            return None
        parts: list[Expr] = []
        for item in items:
            part = yield from self.read(item, width // len(items), instruction)
            if part is None:
                return None
            parts.append(part)
        return joined(tuple(parts))

    def place(self, address: Address, width: int, instruction: Instruction) -> MaybeSteps:
        """The address in brackets as so many bits; a 32-bit register is widened with zeros."""
        if address.base is None:
            return const(address.offset, width)
        base: Expr | None
        if isinstance(address.base, Register):
            value = yield from self.before(address.base, instruction.index)
            base = None if value.width not in (32, 64) else widened(value, width)
        else:
            base = self.symbols.address(address.base, width)
        return None if base is None else add(base, const(address.offset, width))
