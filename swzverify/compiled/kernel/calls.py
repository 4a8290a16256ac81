"""A function with the functions that it calls put in place of the calls.

Arguments and results pass through `.param` variables. Each piece of such a variable that all
instructions reach with one offset and one size becomes a register. A variable that is reached in
another way stays a variable, and the values loaded from it are not known.

A call of `__assertfail`, which a failed assertion in C++ makes, ends the kernel as `trap` does. A call of
`vprintf`, which `printf` makes, is left out where nothing reads its result.

Source: PTX ISA, Control Flow Instructions: call, ret; Parameter State Space: Device Function
Parameters. CUDA Programming Guide, Assertion; Formatted Output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.driver_calls import ASSERTION_FAILS, PRINTS, callee_name, is_unread
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.parameters import (
    PARAMETER,
    Uses,
    Variable,
    are_apart,
    moved,
    names_in,
    place_of,
    uses_of,
    variable_of,
)
from swzverify.compiled.ptx import (
    Address,
    Function,
    Guard,
    Instruction,
    Label,
    Location,
    Module,
    Operand,
    Parameter,
    PtxError,
    Register,
    Sink,
    Symbol,
    SymbolRef,
    Vector,
    size_of_type,
)
from swzverify.compiled.ptx.names import FUNCTION_SCOPE
from swzverify.compiled.ptx.operands import Bracketed, Group, Indexed, Minus, Negated, Pair, Part, Plus

MOST_INSTRUCTIONS: Final = 60_000
"""Instructions of a function with what it calls; calls beyond that stay calls."""
MOST_DEPTH: Final = 12
"""Nested calls that are put in place."""


@dataclass(frozen=True, slots=True)
class Inlined:
    """A function with its calls inlined.

    `calls` has for each instruction the lines of the calls through which it is reached, the outermost
    first. `names` are the functions that were inlined. `prints` are the lines of the calls of `printf` that
    are left out.
    """

    function: Function
    calls: tuple[tuple[int, ...], ...]
    names: frozenset[str]
    prints: tuple[int, ...] = ()

    @property
    def left(self) -> frozenset[str | None]:
        """The functions that are still called; None for an indirect call."""
        return frozenset(callee_name(each) for each in self.function.instructions if base_name(each) == "call")


@lru_cache(maxsize=4)
def inlined(module: Module, function: Function) -> Inlined:
    """A function with its calls inlined, as far as that is possible.

    The callees must be in the module, must not call themselves, and must pass arguments and results
    through plain variables.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .func f() { ret; }"
    >>> module = read_module(text + ".entry k() { call.uni f; ret; }", "k.ptx")
    >>> found = inlined(module, module.functions[1])
    >>> [each.opcode for each in found.function.instructions], found.calls, set(found.names)
    (['bra', 'ret'], ((1,), ()), {'f'})
    """
    unchanged = Inlined(function, ((),) * len(function.instructions), frozenset())
    if function.problem is not None or not any(base_name(each) == "call" for each in function.instructions):
        return unchanged
    maker = _Maker(module)
    try:
        maker.emit(_Frame(function, 0, uses_of(function), {}))
    except PtxError:
        return unchanged
    if not maker.names and not maker.has_assertions and not maker.prints:
        return unchanged
    made = replace(
        function,
        instructions=tuple(maker.instructions),
        labels=maker.labels,
        targets=maker.targets,
        symbols=tuple(maker.symbols),
    )
    return Inlined(made, tuple(maker.calls), frozenset(maker.names), tuple(maker.prints))


# ---- putting functions in place


@dataclass(frozen=True, slots=True)
class _Frame:
    """One inlined function.

    Attributes:
        function: The function.
        shift: The amount by which its scopes are higher than in the text.
        uses: How it reaches its `.param` variables.
        cells: For each variable that becomes registers, the name and scope of those.
        callees: The function of each call that is to be inlined, by the index of the call.
        end: The label at its end.
        calls: The lines of the calls that lead to it.
        names: The functions that are being inlined.
        location: The source location of its call.
    """

    function: Function
    shift: int
    uses: Uses
    cells: Mapping[Variable, Variable]
    callees: Mapping[int, Function] = field(default_factory=dict[int, Function])
    end: Label | None = None
    calls: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    location: Location | None = None

    def scope(self, number: int) -> int:
        """The number that a scope of the function has in the whole."""
        return number + self.shift if number else 0


class _Maker:
    """Writes the instructions of a function and of all that it calls."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.functions = {each.name: each for each in module.functions if not each.is_declaration}
        self.instructions: list[Instruction] = []
        self.calls: list[tuple[int, ...]] = []
        self.labels: dict[Label, int] = {}
        self.targets: dict[Label, tuple[Label | SymbolRef, ...]] = {}
        self.symbols: list[Symbol] = []
        self.names: set[str] = set()
        self.has_assertions = False
        self.prints: list[int] = []
        self.scopes = 0
        self.made_labels = 0
        self.reserved = 0
        self._kept: dict[str, Uses] = {}

    def emit(self, frame: _Frame) -> None:
        """Write one function."""
        function = frame.function
        self.scopes = max(self.scopes, frame.shift + max((1, *(each.scope for each in function.instructions))))
        self.symbols += [replace(each, scope=frame.scope(each.scope)) for each in function.symbols]
        frame = replace(frame, callees=self._callees(frame))
        frame = replace(frame, cells={**frame.cells, **self._cells(frame)})
        at: list[int] = []
        for instruction in function.instructions:
            at.append(len(self.instructions))
            self._one(frame, instruction)
        at.append(len(self.instructions))
        for label, place in function.labels.items():
            self.labels[Label(label.name, frame.scope(label.scope))] = at[place]
        for label, names in function.targets.items():
            shifted = tuple(replace(each, scope=frame.scope(each.scope)) for each in names)
            self.targets[Label(label.name, frame.scope(label.scope))] = shifted

    def _cells(self, frame: _Frame) -> dict[Variable, Variable]:
        """The variables that a function passes to the functions it calls, and that may be registers."""
        reached = {each: set(pieces) for each, pieces in frame.uses.pieces.items()}
        passed: set[Variable] = set()
        barred = set(frame.uses.escaped)
        for instruction in frame.function.instructions:
            if base_name(instruction) != "call":
                continue
            callee = frame.callees.get(instruction.index)
            if callee is None:
                barred |= {*map(variable_of, names_in(instruction.operands))}
                continue
            uses, parts = self._uses_of(callee), instruction.call_parts()
            # The callee has a copy of an argument: writing the result does not change the copy.
            results = [*map(variable_of, names_in(parts.results))]
            barred |= {*map(variable_of, names_in(parts.arguments))} & {*results}
            barred |= {each for each in results if results.count(each) > 1}
            for given, taken in _pairs(instruction, callee):
                if not isinstance(given, SymbolRef):
                    continue
                own, other = variable_of(given), (taken.name, FUNCTION_SCOPE)
                passed.add(own)
                reached.setdefault(own, set()).update(uses.pieces.get(other, set()))
                if given.offset or other in uses.escaped or (other in uses.written and taken in callee.parameters):
                    barred.add(own)
        return {
            each: (each[0], frame.scope(each[1]))
            for each in passed - barred
            if each[1] and are_apart(reached[each]) and not self._is_parameter(frame, each)
        }

    def _is_parameter(self, frame: _Frame, variable: Variable) -> bool:
        """Whether a variable is a parameter or result of the function itself."""
        own = (*frame.function.parameters, *frame.function.results)
        return variable[1] == FUNCTION_SCOPE and any(each.name == variable[0] for each in own)

    def _uses_of(self, function: Function) -> Uses:
        if function.name not in self._kept:
            self._kept[function.name] = uses_of(function)
        return self._kept[function.name]

    def _callees(self, frame: _Frame) -> dict[int, Function]:
        found: dict[int, Function] = {}
        for each in frame.function.instructions:
            callee = self._callee(frame, each) if base_name(each) == "call" else None
            if callee is not None:
                self.reserved += len(callee.instructions)
                found[each.index] = callee
        return found

    def _callee(self, frame: _Frame, call: Instruction) -> Function | None:
        """The function that a call reaches, if it can be put in place."""
        name = callee_name(call)
        callee = self.functions.get(name or "")
        if callee is None or callee.problem is not None or callee.is_entry or call.call_parts().targets is not None:
            return None
        parts = call.call_parts()
        if len(parts.arguments) != len(callee.parameters) or len(parts.results) != len(callee.results):
            return None
        if name in frame.names or name == frame.function.name or len(frame.names) >= MOST_DEPTH:
            return None
        if self.reserved + len(callee.instructions) > MOST_INSTRUCTIONS:
            return None
        return callee

    # ---- one instruction

    def _one(self, frame: _Frame, instruction: Instruction) -> None:
        name = base_name(instruction)
        if (callee := frame.callees.get(instruction.index)) is not None:
            self._call(frame, instruction, callee)
        elif name == "call" and self._of_driver(instruction) == PRINTS and is_unread(frame.function, instruction):
            self.prints.append(instruction.line)
        elif name == "call" and self._of_driver(instruction) == ASSERTION_FAILS:
            self.has_assertions = True
            self._add(frame, instruction, "trap", ())
        elif name == "ret" and frame.end is not None:
            self._add(frame, instruction, "bra", (frame.end,))
        elif (found := PARAMETER.fullmatch(instruction.opcode)) and self._is_cell(frame, instruction):
            self._move(frame, instruction, found[1], found[2])
        else:
            operands = tuple(_shifted(each, frame) for each in instruction.operands)
            self._add(frame, instruction, instruction.opcode, operands)

    def _add(self, frame: _Frame, instruction: Instruction, opcode: str, operands: tuple[Operand, ...]) -> None:
        guard = instruction.guard
        if guard is not None and frame.shift:
            guard = Guard(_moved_register(guard.register, frame), guard.negated)
        location = _called_from(instruction.location, frame)
        self.instructions.append(instruction.copied(len(self.instructions), opcode, operands, guard, location))
        self.calls.append(frame.calls)

    def _is_cell(self, frame: _Frame, instruction: Instruction) -> bool:
        place = place_of(instruction)
        return place is not None and variable_of(place) in frame.cells

    def _move(self, frame: _Frame, instruction: Instruction, direction: str, kind: str) -> None:
        place = place_of(instruction)
        if place is None:
            raise AssertionError(instruction)
        size = size_of_type(kind) or 0
        root = frame.cells[variable_of(place)]
        for at, item in enumerate(moved(instruction)):
            cell = Register(f"[{root[0]}+{place.offset + at * size}]", root[1], f"b{8 * size}")
            other = _shifted(item, frame)
            if isinstance(other, Sink):
                continue
            bits = 8 * (size_of_type(other.type) or 0) if isinstance(other, Register) else 8 * size
            if bits == 8 * size:
                opcode = f"mov.b{bits}"
            elif direction == "ld":
                sign = "s" if kind[0] == "s" else "u"
                opcode = f"cvt.{sign}{bits}.{sign}{8 * size}"
            else:
                opcode = f"cvt.u{8 * size}.u{bits}"
            self._add(frame, instruction, opcode, (other, cell) if direction == "ld" else (cell, other))

    def _of_driver(self, call: Instruction) -> str | None:
        """The name of a function that the module only declares."""
        name = callee_name(call)
        return None if name in self.functions else name

    def _call(self, frame: _Frame, call: Instruction, callee: Function) -> None:
        """The body of the callee, between the moves of its arguments and results."""
        self.names.add(callee.name)
        inner = _Frame(
            callee,
            self.scopes,
            self._uses_of(callee),
            {},
            end=self._label("the end"),
            calls=(*frame.calls, call.line),
            names=(*frame.names, frame.function.name),
            location=_called_from(call.location, frame),
        )
        cells: dict[Variable, Variable] = {}
        before: list[tuple[Operand, Operand]] = []
        after: list[tuple[Operand, Operand]] = []
        for given, taken in _pairs(call, callee):
            if isinstance(given, SymbolRef) and variable_of(given) in frame.cells:
                cells[taken.name, FUNCTION_SCOPE] = frame.cells[variable_of(given)]
            elif taken.offset_bytes is None:
                own, other = Register(taken.name, inner.scope(FUNCTION_SCOPE), taken.type), _shifted(given, frame)
                if taken in callee.parameters:
                    before.append((own, other))
                else:
                    after.append((other, own))
        over = self._label("behind")
        if call.guard is not None:
            turned = Guard(call.guard.register, not call.guard.negated)
            self._add(frame, call.copied(0, call.opcode, (), turned, call.location), "bra", (over,))
        plain = call.copied(0, call.opcode, (), None, call.location)
        for target, value in before:
            self._add(frame, plain, f"mov.{_move_type(target)}", (target, value))
        self.emit(replace(inner, cells=cells))
        if inner.end is not None:
            self.labels[inner.end] = len(self.instructions)
        for target, value in after:
            self._add(frame, plain, f"mov.{_move_type(value)}", (target, value))
        self.labels[over] = len(self.instructions)

    def _label(self, what: str) -> Label:
        self.made_labels += 1
        return Label(f"{what} of call {self.made_labels}", -1)


def _pairs(call: Instruction, callee: Function) -> list[tuple[Operand, Parameter]]:
    """What a call gives and takes, with the parameters and results of the callee."""
    parts = call.call_parts()
    return [*zip(parts.arguments, callee.parameters, strict=True), *zip(parts.results, callee.results, strict=True)]


def _move_type(register: Operand) -> str:
    kind = register.type if isinstance(register, Register) else "b64"
    return "pred" if kind == "pred" else f"b{8 * (size_of_type(kind) or 8)}"


def _moved_register(register: Register, frame: _Frame) -> Register:
    return replace(register, scope=frame.scope(register.scope))


def _called_from(location: Location | None, frame: _Frame) -> Location | None:
    """A place of a callee's source, with the place of the call behind it."""
    if location is None or frame.location is None:
        return location
    if location.inlined_at is None:
        return replace(location, function_name=location.function_name or frame.function.name, inlined_at=frame.location)
    return replace(location, inlined_at=_called_from(location.inlined_at, frame))


def _shifted(operand: Operand, frame: _Frame) -> Operand:
    """An operand of a function in the whole: with the scopes of the frame."""
    if not frame.shift:
        return operand
    match operand:
        case Register() | SymbolRef() | Label():
            return replace(operand, scope=frame.scope(operand.scope))
        case Address(base) if base is not None:
            return replace(operand, base=replace(base, scope=frame.scope(base.scope)))
        case Vector(items) | Group(items) | Bracketed(items):
            return replace(operand, items=tuple(_shifted(each, frame) for each in items))
        case Pair(first, second):
            return Pair(_shifted(first, frame), _shifted(second, frame))
        case Negated(inner) | Minus(inner):
            return replace(operand, operand=_shifted(inner, frame))
        case Plus(register) | Part(register):
            return replace(operand, register=_moved_register(register, frame))
        case Indexed(symbol, index):
            return Indexed(replace(symbol, scope=frame.scope(symbol.scope)), _shifted(index, frame))
        case _:
            return operand
