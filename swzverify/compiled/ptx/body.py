"""Reads the body of one function: instructions, labels, declarations and `.loc` between its braces.

One regular expression takes a whole statement of the usual form, so that a statement costs a match
and a record.

Source: PTX ISA, Syntax: Statements.

The modifiers of instructions that go to memory are put into the order of the PTX ISA. ptxas takes
them in any order and makes the same machine code of them (tests/ptx/test_modifiers.py asks it), and
headers use that: `ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.ptx.declaration import SPACES, check_prototype, read_head, read_names, symbol_of
from swzverify.compiled.ptx.instruction import Instruction, Location
from swzverify.compiled.ptx.locations import DebugStrings, Locations
from swzverify.compiled.ptx.module import Parameter, Symbol
from swzverify.compiled.ptx.names import (
    FUNCTION_SCOPE,
    Block,
    ModuleNames,
    is_special,
    numbered,
)
from swzverify.compiled.ptx.operand_text import read_operands
from swzverify.compiled.ptx.operands import Label, Operand, Register, SymbolRef
from swzverify.compiled.ptx.problems import MAX_OPERANDS, MAX_SCOPES, Counter, UnreadableError, excerpt, shown
from swzverify.compiled.ptx.syntax import BLANKS, GUARD, NAME, OPCODE, PRAGMA, USUAL_LIST, behind_braces, compiled
from swzverify.errors import Problem

_LINE: Final = r"(\d{1,9})\s++(\d{1,9})\s++(\d{1,9})"
_INLINED: Final = rf"\s*+,\s*+function_name\s++([\w$.]++)(?:\s*+\+\s*+(\d{{1,9}}))?\s*+,\s*+inlined_at\s++{_LINE}"
_TABLES: Final = r"\s*+\.(branchtargets|calltargets|callprototype)\b"
_STATEMENT: Final = compiled(
    r"\s*+()(?:"
    rf"(?:{GUARD})?({OPCODE})(?:\s*+({USUAL_LIST}))?\s*+;"
    rf"|\.loc\s++{_LINE}(?:{_INLINED})?"
    rf"|({NAME})\s*+:(?!:)(?!{_TABLES})"
    r"|(\{)|(\})"
    r")"
)
"""A statement of the usual form; the number of the last group that takes part tells its kind."""
_BEGIN, _TURNED, _GUARD, _OPCODE, _OPERANDS, _FILE, _, _COLUMN, _NAME, _OFFSET, _AT_FILE, _, _AT_COLUMN = range(1, 14)
_INSTRUCTION: Final = frozenset((_OPCODE, _OPERANDS))
_LABEL, _OPEN = 14, 16
_TABLE: Final = compiled(rf"({NAME})\s*+:{_TABLES}([^;{{}}]*+);")
_BEGUN: Final = compiled(rf"()(?:{GUARD})?({OPCODE})")
"""An instruction up to its operands; its groups are those of a statement."""
_UNBRACED: Final = compiled(r"[^;{}]*+")
_PRAGMA: Final = compiled(PRAGMA)
_BLANKS: Final = compiled(r"\s*+")
_WORD: Final = compiled(rf"{NAME}")
_DIRECTIVE: Final = compiled(r"\.(\w*+)")
_PERCENT: Final = compiled(r"%[\w$]++(?!\s*+<)")
_NOT_BARE: Final = frozenset("%$_-0123456789[{(!")
"""The first characters of operands that do not begin with a bare word."""
_PRICE: Final = 5
"""The number of statements that an instruction of another form counts as: it takes longer."""
_DECLARING: Final = SPACES | {"extern", "visible", "weak", "common", "attribute"}


@dataclass(frozen=True, slots=True)
class Body:
    """What a function's braces hold."""

    instructions: tuple[Instruction, ...]
    labels: dict[Label, int]
    targets: dict[Label, tuple[Label | SymbolRef, ...]]
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a body takes from its module: names, strings for `.loc`, and the limits that are left.

    The limits are on statements and names of the module. `opcodes` has every opcode, with its modifiers
    in order, by its spelling.
    """

    names: ModuleNames
    strings: DebugStrings
    statements: Counter
    declared: Counter
    opcodes: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of targets by its label: the names in it, and the block and line where it stands."""

    label: Label
    block: Block
    names: tuple[str, ...]
    line: int


class BodyReader:
    """One pass over a body.

    The body is `text` from `start`, after its first brace, to `end`, before its last one. `line` is the
    line of `start` at first, then that of the current statement. The text has no comments.
    """

    def __init__(
        self, text: str, start: int, end: int, line: int, parameters: tuple[Parameter, ...], around: Surroundings
    ) -> None:
        self.text, self.start, self.position, self.end = text, start, start, end
        self.parameters = parameters
        self.counted, self.line = start, line
        self.statements, self.declared, self.opcodes = around.statements, around.declared, around.opcodes
        self.block = Block(FUNCTION_SCOPE, None, 0, around.names)
        self.blocks = 1
        self.depth = 1
        self.location: Location | None = None
        self.locations = Locations(around.strings)
        self.instructions: list[Instruction] = []
        self.labels: dict[Label, int] = {}
        self.tables: list[_Table] = []
        self.symbols: list[Symbol] = []
        self.registers: set[str] = set()
        self.ranges: dict[str, int] = {}
        self.bare: list[Instruction] = []

    def read(self) -> Body | Problem:
        """The whole body, or the first statement that cannot be read.

        Raises:
            LimitError: The module's limit is exceeded.
        """
        try:
            self._declare_parameters()
            self._statements()
            self._check_names()
            targets = {each.label: self._targets(each) for each in self.tables}
        except UnreadableError as error:
            return Problem(error.code, str(error), line=self.line)
        return Body(tuple(self.instructions), self.labels, targets, tuple(self.symbols))

    def _declare_parameters(self) -> None:
        for each in self.parameters:
            if each.offset_bytes is None:
                self._declare_register(each.name, None, each.type)
            elif each.name != "_":
                self.block.declare(each.name, SymbolRef(each.name, FUNCTION_SCOPE), 0)

    def _statements(self) -> None:
        match, text, end, statements = _STATEMENT.match, self.text, self.end, self.statements
        while (found := match(text, self.position, end)) or self._other():
            if found is None:
                continue
            begin = found.start(_BEGIN)
            self.line += text.count("\n", self.counted, begin)
            self.counted, self.position = begin, found.end()
            kind = found.lastindex
            if kind in _INSTRUCTION:
                self._instruction(found, found[_OPERANDS] or "")
            elif kind == _COLUMN:
                self.location = self.locations.plain(_place(found, _FILE))
            elif kind == _AT_COLUMN:
                place, label, offset = _place(found, _FILE), found[_NAME], int(found[_OFFSET] or 0)
                self.location = self.locations.inlined(place, label, offset, _place(found, _AT_FILE))
            elif kind == _LABEL:
                self.labels[self.block.add_label(found[_LABEL])] = len(self.instructions)
            elif kind == _OPEN:
                self._open()
            else:
                self._close()
            statements.left -= 1
            if statements.left < 0:
                statements.take(0)
        if self.block.parent is not None:
            raise UnreadableError("found the end of the function, expected `}`")

    def _instruction(self, found: re.Match[str], operands: str) -> None:
        guard, spelling = found[_GUARD], found[_OPCODE]
        if guard:
            guard = found[_TURNED] + guard
        opcode = self.opcodes.get(spelling)
        if opcode is None:
            opcode = self.opcodes[spelling] = in_order("".join(spelling.split()))
        if len(operands) > MAX_OPERANDS:
            raise UnreadableError(f"found operands of more than {MAX_OPERANDS} characters", "SWZ533")
        instructions = self.instructions
        made = Instruction(self.line, len(instructions), opcode, operands, self.location, guard or "", self.block)
        instructions.append(made)
        if (operands and operands[0] not in _NOT_BARE) or (guard and "%" not in guard):
            self.bare.append(made)

    def _open(self) -> None:
        self.depth += 1
        if self.depth > MAX_SCOPES:
            raise UnreadableError(f"found braces that are nested deeper than {MAX_SCOPES}", "SWZ533")
        self.blocks += 1
        self.block = Block(self.blocks, self.block, len(self.instructions), self.block.module)

    def _close(self) -> None:
        if self.block.parent is None:
            raise UnreadableError("found a `}` too many")
        self.depth -= 1
        self.block = self.block.parent

    def _other(self) -> bool:
        """Read a statement of a rare form; False at the end of the body."""
        blanks = _BLANKS.match(self.text, self.position, self.end)
        begin = blanks.end() if blanks else self.position
        self.line += self.text.count("\n", self.counted, begin)
        self.counted = self.position = begin
        if begin == self.end:
            return False
        self.statements.take()
        if self.text[begin] == ".":
            self._directive(begin)
        elif found := _TABLE.match(self.text, begin, self.end):
            self._table(found[1], found[2], found[3])
            self.position = found.end()
        elif (found := _BEGUN.match(self.text, begin, self.end)) and (end := self._semicolon(found.end())) is not None:
            self.statements.take(_PRICE - 1)
            operands = self.text[found.end() : end].strip(BLANKS)
            self._instruction(found, operands)
            read_operands(operands, _any_name, is_call=found[_OPCODE].startswith("call"))
            self.position = end + 1
        else:
            raise UnreadableError(f"found `{excerpt(self.text, begin, self.end)}`, expected a statement")
        return True

    def _semicolon(self, position: int) -> int | None:
        """The position of the semicolon that ends the statement, after its braces.

        None if the statement has no semicolon, or has one inside braces.
        """
        text, end = self.text, self.end
        while found := _UNBRACED.match(text, position, end):
            if found.end() == end or text[found.end()] == "}":
                return None
            if text[found.end()] == ";":
                return found.end()
            behind = behind_braces(text, found.end(), end)
            if behind is None:
                return None
            position = behind
        return None

    def _directive(self, begin: int) -> None:
        if found := _PRAGMA.match(self.text, begin, self.end):
            self.position = found.end()
            return
        found = _DIRECTIVE.match(self.text, begin)
        if found is None or found[1] not in _DECLARING:
            rest = excerpt(self.text, begin, self.end)
            raise UnreadableError(f"found `{rest}`, expected a directive of a function's body")
        head, position = read_head(self.text, begin)
        for declared, end in read_names(self.text, position):
            self.declared.take()
            self.position = end
            if head.space == "reg":
                if declared.extents or declared.value is not None:
                    raise UnreadableError(
                        f"found `{shown(declared.name)}` with brackets or a value, expected a register"
                    )
                self._declare_register(declared.name, declared.count, head.type)
            else:
                symbol = symbol_of(head, declared, self.block.number, self.line)
                self.block.declare(symbol.name, SymbolRef(symbol.name, self.block.number), len(self.instructions))
                self.symbols.append(symbol)

    def _declare_register(self, name: str, count: int | None, type_name: str) -> None:
        scope, behind = self.block.number, len(self.instructions)
        if count is None:
            self.block.declare(name, Register(name, scope, type_name), behind)
            self.registers.add(name)
        else:
            self.block.declare_range(name, count, type_name, behind)
            self.ranges[name] = max(count, self.ranges.get(name, 0))

    def _table(self, name: str, kind: str, text: str) -> None:
        """A table of branch or call targets, or a prototype, behind its label."""
        label = self.block.add_label(name)
        if kind == "callprototype":
            check_prototype(text)
            return
        self.declared.take(text.count(",") + 1)
        names = tuple(each.strip(BLANKS) for each in text.split(","))
        if not all(_WORD.fullmatch(each) for each in names):
            raise UnreadableError(f"found `{shown(text)}`, expected names of targets")
        self.tables.append(_Table(label, self.block, names, self.line))

    def _targets(self, table: _Table) -> tuple[Label | SymbolRef, ...]:
        found: list[Label | SymbolRef] = []
        self.line = table.line
        for each in table.names:
            meaning = table.block.resolve(each, len(self.instructions))
            if not isinstance(meaning, Label | SymbolRef):
                raise UnreadableError(f"found `{shown(each)}`, expected a label or function")
            found.append(meaning)
        return tuple(found)

    def _check_names(self) -> None:
        """Check that names are declared.

        The function must declare every name with `%` somewhere. Guards and first operands without `%` must
        be declared before they are used. The second check finds a missing semicolon after an instruction
        without operands.
        """
        known = {each.name for each in (*self.labels, *self.symbols, *self.parameters)} | self.registers
        for name in set(_PERCENT.findall(self.text, self.start, self.end)) - known:
            parts = numbered(name)
            if not (parts and parts[1] < self.ranges.get(parts[0], 0)) and not is_special(name):
                found = re.compile(rf"{re.escape(name)}(?![\w$])").search(self.text, self.start, self.end)
                self.line -= self.text.count("\n", found.start() if found else self.end, self.end)
                raise UnreadableError(f"the register `{shown(name)}` is not declared")
        for each in self.bare:
            self.line = each.line
            for text in (each.text, each.guard_text.lstrip("!")):
                if word := _WORD.match(text):
                    each.resolve(word[0])


def _place(found: re.Match[str], first: int) -> tuple[int, int, int]:
    file, line, column = found.group(first, first + 1, first + 2)
    return int(file), int(line), int(column)


def _any_name(name: str) -> Operand:
    """A stand-in for the meaning of a name, where only the form of operands is checked."""
    return Register(name, 0, "b32") if name.startswith("%") else SymbolRef(name, 0)


_BASES: Final = compiled(r"((?:ld|st)(?:matrix)?|atom|red|cp\.async)\.(.+)")
_RANKS: Final = tuple(
    compiled(each)
    for each in (
        r"sync|weak|volatile|relaxed|acquire|release|acq_rel|mmio",
        r"aligned|cta|cluster|gpu|sys",
        r"m\d+n\d+",
        r"x[124]",
        r"trans",
        r"(?:shared|param)(?:::\w+)?|const|global|local",
        r"c[agsv]|lu|w[bt]",
        r"nc|add|min|max|inc|dec|and|or|xor|exch|cas",
        r"noftz",
        r"L1::\w+",
        r"L2::\w+(?:::\w+)*",
        r"v[248]",
        r"(?:b|s|u|f|bf)(?:8|16|32|64|128)(?:x2)?",
    )
)
_CACHE: Final = 6


def in_order(opcode: str) -> str:
    """An opcode with its modifiers in the order of the PTX ISA.

    An unknown instruction, or one with an unknown modifier, stays unchanged.

    >>> in_order("ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16"), in_order("red.shared.add.relaxed.cta.u32")
    ('ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16', 'red.relaxed.cta.shared.add.u32')
    >>> in_order("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes")
    'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes'
    """
    found = _BASES.fullmatch(opcode)
    if found is None:
        return opcode
    ranked: list[tuple[int, str]] = []
    for modifier in found[2].split("."):
        rank = next((at for at, names in enumerate(_RANKS) if names.fullmatch(modifier)), None)
        if rank is None:
            return opcode
        # A copy says first how it caches; of its two spaces the first one is where it writes.
        ranked.append((-1 if rank == _CACHE and found[1] == "cp.async" else rank, modifier))
    ranked.sort(key=lambda each: each[0])
    return ".".join((found[1], *(modifier for _, modifier in ranked)))
