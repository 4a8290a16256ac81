"""One instruction: its operands are read from their text when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, Literal

from swzverify.compiled.ptx.names import Block
from swzverify.compiled.ptx.operand_text import read_operands
from swzverify.compiled.ptx.operands import Group, Operand, Register, Vector
from swzverify.compiled.ptx.problems import PtxError, UnreadableError, shown
from swzverify.compiled.ptx.syntax import ADDRESS, ATOM, ATOMS, compiled

_USUAL: Final = compiled(rf"\s*+(?:({ATOM}|{ADDRESS})|\{{({ATOMS})\}})\s*+(?:,|\Z)")


@dataclass(frozen=True, slots=True)
class Location:
    """A place of the source: the number of the file (`Module.files`), line and column, as in `.loc`.

    In inlined code, `function_name` is the mangled name of the inlined function (or its label, if the
    text has no `.debug_str`), and `inlined_at` is the place of the call. Line 0 stands for no line.

    Source: PTX ISA, Debugging Directives: .loc.
    """

    file: int
    line: int
    column: int
    function_name: str | None = None
    inlined_at: Location | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """The guard `@p` or, negated, `@!p`.

    The instruction runs if the predicate is true, or, negated, if it is false.
    """

    register: Register
    negated: bool


@dataclass(frozen=True, slots=True)
class CallParts:
    """The parts of a `call`: results, callee, arguments, and `targets`.

    `targets` is the prototype or table of an indirect call, None without one.
    """

    results: tuple[Operand, ...]
    callee: Operand
    arguments: tuple[Operand, ...]
    targets: Operand | None


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One instruction of a function.

    Two instructions are equal only if they are one object. For an example see `read_module`.

    Attributes:
        line: The line of the text, from 1.
        index: The index in its function.
        opcode: The whole dotted word.
        text: The operands as written, without comments.
        location: The place that the last `.loc` before the instruction names.
        guard_text: The guard as written.
        block: The block that gives names their meaning.

    Source: PTX ISA, Syntax: Instruction Statements.
    """

    line: int
    index: int
    opcode: str
    text: str
    location: Location | None
    guard_text: str = field(repr=False)
    block: Block = field(repr=False)
    _operands: tuple[Operand, ...] | None = field(init=False, default=None, repr=False)
    _guard: Guard | Literal[False] | None = field(init=False, default=False, repr=False)
    """False: not read yet."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands in order, kept once read.

        Raises:
            PtxError: SWZ532 for a name that is not declared.
        """
        found = self._operands
        if found is None:
            try:
                found = _usual(self.text, self.block, self.index)
                if found is None:
                    found = read_operands(self.text, self.resolve, is_call=self.opcode.startswith("call"))
            except UnreadableError as error:
                raise self._refusal(error) from None
            object.__setattr__(self, "_operands", found)
        return found

    @property
    def guard(self) -> Guard | None:
        """The predicate before the opcode, kept once read; None without one.

        Raises:
            PtxError: SWZ532 if it is no predicate.
        """
        if self._guard is False:
            object.__setattr__(self, "_guard", self._read_guard())
        return self._guard or None

    def _read_guard(self) -> Guard | None:
        if not self.guard_text:
            return None
        name = self.guard_text.lstrip("!")
        try:
            register = self.resolve(name)
            if not isinstance(register, Register) or register.type != "pred":
                raise UnreadableError(f"found `{shown(name)}`, expected a predicate")
        except UnreadableError as error:
            raise self._refusal(error) from None
        return Guard(register, self.guard_text != name)

    @property
    def scope(self) -> int:
        """The number of the scope that holds the instruction: 1 for the function, nested blocks from 2."""
        return self.block.number

    def resolve(self, name: str) -> Operand:
        """What a name means to this instruction; an `UnreadableError` if it is not declared."""
        return self.block.resolve(name, self.index)

    def call_parts(self) -> CallParts:
        """The parts of a `call`.

        Raises:
            PtxError: SWZ532 for another instruction, or without a callee.
        """
        operands = self.operands
        results: tuple[Operand, ...] = ()
        if operands and isinstance(operands[0], Group):
            results, operands = operands[0].items, operands[1:]
        if not self.opcode.startswith("call") or not operands or isinstance(operands[0], Group):
            raise self._refusal(UnreadableError(f"found `{shown(self.opcode)} {shown(self.text)}`, expected a call"))
        callee, rest = operands[0], operands[1:]
        arguments: tuple[Operand, ...] = ()
        if rest and isinstance(rest[0], Group):
            arguments, rest = rest[0].items, rest[1:]
        if len(rest) > 1:
            raise self._refusal(UnreadableError(f"found {len(rest)} operands behind a call's arguments"))
        return CallParts(results, callee, arguments, rest[0] if rest else None)

    def copied(
        self, index: int, opcode: str, operands: tuple[Operand, ...], guard: Guard | None, location: Location | None
    ) -> Instruction:
        """This instruction at another index, with other operands and another guard.

        Line and text stay.
        """
        made = replace(self, index=index, opcode=opcode, location=location)
        object.__setattr__(made, "_operands", operands)
        object.__setattr__(made, "_guard", guard)
        return made

    def _refusal(self, error: UnreadableError) -> PtxError:
        return PtxError("SWZ532", str(error), line=self.line, name=self.block.module.file_name)


def _usual(text: str, block: Block, index: int) -> tuple[Operand, ...] | None:
    """Operands in the usual forms; None if one has another form."""
    found: list[Operand] = []
    position, end = 0, len(text)
    while position < end:
        match = _USUAL.match(text, position)
        if match is None:
            return None
        position = match.end()
        single, vector = match.groups()
        if single:
            found.append(_single(single, block, index))
        else:
            found.append(Vector(tuple(_single(each.strip(), block, index) for each in vector.split(","))))
    return tuple(found)


def _single(text: str, block: Block, index: int) -> Operand:
    """One operand that is no vector, from the block's cache if it is there."""
    found = block.cache.get(text)
    if found is None:
        found = read_operands(text, lambda name: block.resolve(name, index))[0]
        if not block.has_late:
            block.cache[text] = found
    return found
