"""Reads a PTX text: first what stands outside of functions, then the bodies, each by itself.

If a body cannot be read, only its function is lost. Source: PTX ISA, Syntax; PTX Module Directives.
"""

from __future__ import annotations

import os
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from swzverify.compiled.ptx.body import BodyReader, Surroundings
from swzverify.compiled.ptx.declaration import SPACES, read_head, read_names, symbol_of
from swzverify.compiled.ptx.function import Found, broken, extent_of_body, kept
from swzverify.compiled.ptx.function import read_head as read_function_head
from swzverify.compiled.ptx.locations import DebugStrings
from swzverify.compiled.ptx.module import Function, Module, Symbol
from swzverify.compiled.ptx.names import ModuleNames
from swzverify.compiled.ptx.plain import text_of_file, without_comments
from swzverify.compiled.ptx.problems import (
    MAX_BRACES,
    MAX_FUNCTIONS,
    MAX_NAMES,
    MAX_PROBLEMS,
    MAX_STATEMENTS,
    Counter,
    LimitError,
    PtxError,
    UnreadableError,
    excerpt,
    raised,
    shown,
)
from swzverify.compiled.ptx.syntax import LINKAGE, NAME, PRAGMA, compiled
from swzverify.errors import Problem, graphic

_BLANKS: Final = compiled(r"\s*+")
_WORD: Final = compiled(rf"{LINKAGE}\.(\w++)")
_VERSION: Final = compiled(r"\.version\s++(\d{1,4})\.(\d{1,4})(?![\w.])")
_TARGET: Final = compiled(r"\.target\s++(\w++)(?:\s*+,\s*+\w++){0,99}")
_ADDRESS_SIZE: Final = compiled(r"\.address_size\s++(32|64)(?!\w)")
_FILE: Final = compiled(r'\.file\s++(\d{1,9})\s*+"([^"\n]*+)"(?:\s*+,\s*+\w++\s*+,\s*+\w++)?')
_SECTION: Final = compiled(r"\.section\s++([.\w$]++)\s*+\{([^{}]*+)\}")
_ALIAS: Final = compiled(rf"\.alias\s++({NAME})\s*+,\s*+({NAME})\s*+;")
_PRAGMA: Final = compiled(PRAGMA)
_DWARF: Final = compiled(r"@@[Dd][Ww][Aa][Rr][Ff][^\n]*+")
_HEADING: Final = "cuobjdump --dump-ptx writes a heading before each PTX text; --extract-ptx all writes plain files"
_NO_PTX: Final = "nvcc -ptx and Triton write PTX; `scan` also takes a .cu file, a cubin, a library or a program"
_RESUME: Final = compiled(rf"[;}}]|{LINKAGE}\.(?:entry|func|file|section|global|const|shared)\b")


def read_module(text: str, name: str) -> Module:
    r"""The module that a PTX text holds; `name` is that of the file, for messages.

    A `PtxError` with the line: SWZ531 for a text that is not PTX, SWZ533 beyond the limits.
    `Function.problem` and `Module.problems` (SWZ532, SWZ533) say what else cannot be read; too
    many of them are a `PtxError` too.

    >>> text = ".version 9.0 .target sm_90a .address_size 64 .shared .b8 tile[64]; .entry k() {\n"
    >>> text += ".reg .b32 %r<3>; .reg .pred %p;\n@!%p ld.shared.b32 %r1, [%r2+-4]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> module.version, module.target, module.symbols[0].size_bytes
    ((9, 0), 'sm_90a', 64)
    >>> load = module.functions[0].instructions[0]
    >>> load.line, load.opcode, load.guard.negated, load.operands[1].offset
    (3, 'ld.shared.b32', True, -4)

    Source: PTX ISA, Syntax.
    """
    reader = _Reader(without_comments(text, name), name)
    try:
        return reader.module()
    except LimitError as error:
        raise PtxError("SWZ533", str(error), line=reader.line, name=name) from None


def read_module_file(path: str | os.PathLike[str]) -> Module:
    """The module in a file, which must be a regular one of at most 32 MiB in UTF-8.

    A `PtxError`: SWZ531 for a file of another kind or a text that is not PTX, else as
    `read_module`.

    >>> read_module_file("/no/such/file.ptx")
    Traceback (most recent call last):
        ...
    swzverify.compiled.ptx.problems.PtxError: SWZ531: /no/such/file.ptx: cannot be read: No such file or directory
    """
    return read_module(text_of_file(path), os.fspath(path))


class _Reader:
    """One pass over what stands outside of functions; `line` is that of the current statement."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.position = self.counted = 0
        self.line = 1
        self.version = (0, 0)
        self.target = ""
        self.address_size = 32
        self.files: dict[int, str] = {}
        self.symbols: dict[str, Symbol] = {}
        self.functions: list[Found] = []
        self.aliases: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.braces = Counter(MAX_BRACES, "braces")
        statements, names = Counter(MAX_STATEMENTS, "statements"), Counter(MAX_NAMES, "names")
        self.around = Surroundings(ModuleNames(name), DebugStrings(), statements, names, {})

    def module(self) -> Module:
        """The whole module."""
        self._read_version()
        while self._skip_blanks() < len(self.text):
            try:
                self.around.statements.take()
                self._item()
            except UnreadableError as error:
                self._note(Problem(error.code, str(error), line=self.line))
                self._resume()
        if not self.target:
            raise PtxError("SWZ531", "found no .target", line=self.line, name=self.name)
        for each in (*self.symbols, *(found.function.name for found in self.functions), *self.aliases):
            self.around.names.add(each)
        return Module(
            self.name,
            self.version,
            self.target,
            self.address_size,
            MappingProxyType(self.files),
            tuple(self.symbols.values()),
            tuple(self._whole(each) for each in kept(self.functions)),
            MappingProxyType(self.aliases),
            tuple(self.problems),
        )

    def _move(self, position: int) -> None:
        """Go on at a place, counting the lines on the way."""
        self.line += self.text.count("\n", self.counted, position)
        self.position = self.counted = position

    def _skip_blanks(self) -> int:
        found = _BLANKS.match(self.text, self.position)
        self._move(found.end() if found else self.position)
        return self.position

    def _rest(self) -> str:
        return excerpt(self.text, self.position)

    def _read_version(self) -> None:
        self._skip_blanks()
        found = _VERSION.match(self.text, self.position)
        if found is None:
            rest = self._rest()
            what = f"this is not PTX: it begins with `{rest}`" if rest else "the text is empty"
            hint = _HEADING if rest.startswith(("Fatbin", "=")) else _NO_PTX
            raise PtxError("SWZ531", f"{what}; PTX begins with .version", hint=hint, line=self.line, name=self.name)
        self.version = (int(found[1]), int(found[2]))
        self._move(found.end())

    def _note(self, problem: Problem) -> None:
        if len(self.problems) == MAX_PROBLEMS:
            raise raised(self.problems[0], self.name)
        self.problems.append(problem)

    def _resume(self) -> None:
        """Go behind a statement that cannot be read, or to the next function."""
        words = _WORD.match(self.text, self.position)
        found = _RESUME.search(self.text, words.end() if words else self.position)
        if found is None:
            self._move(len(self.text))
        else:
            self._move(found.end() if found[0] in {";", "}"} else found.start())

    def _item(self) -> None:
        word = _WORD.match(self.text, self.position)
        match word[1] if word else "":
            case "entry" | "func":
                self._function()
            case "version":
                hint = "give each module its own file"
                message = "found a second .version: two PTX texts in one"
                raise PtxError("SWZ532", message, hint=hint, line=self.line, name=self.name)
            case space if space in SPACES or space in {"attribute", "align"}:
                self._variables()
            case other:
                self._directive(other)

    def _directive(self, word: str) -> None:
        text, position = self.text, self.position
        if word == "target" and (found := _TARGET.match(text, position)) and not self.target:
            self.target = found[1]
        elif word == "address_size" and (found := _ADDRESS_SIZE.match(text, position)):
            self.address_size = int(found[1])
        elif word == "file" and (found := _FILE.match(text, position)):
            self.files.setdefault(int(found[1]), graphic(found[2]))
        elif word == "section" and (found := _SECTION.match(text, position)):
            if found[1] == ".debug_str":
                self.around.strings.add(found[2])
        elif word == "alias" and (found := _ALIAS.match(text, position)):
            self.aliases[found[1]] = found[2]
        elif not (found := _PRAGMA.match(text, position) or _DWARF.match(text, position)):
            self._flag_last()
            raise UnreadableError(f"found `{self._rest()}`, expected a directive")
        self._move(found.end())

    def _flag_last(self) -> None:
        """Mark the function before text that is no directive.

        The text may be the rest of that function, if its braces do not balance.
        """
        if self.functions and not self.text.startswith(".", self.position):
            last = self.functions[-1]
            message = f"found `{self._rest()}` behind the function, whose braces may not balance"
            if last.function.problem is None:
                last.function = replace(last.function, problem=Problem("SWZ532", message, line=self.line))

    def _variables(self) -> None:
        head, position = read_head(self.text, self.position)
        if head.space == "reg":
            raise UnreadableError(f"found `{self._rest()}`: registers outside of functions are not read")
        for declared, end in read_names(self.text, position):
            self.around.declared.take()
            symbol = symbol_of(head, declared, 0, self.line)
            known = self.symbols.get(symbol.name)
            if known is None or known.is_extern:
                self.symbols[symbol.name] = symbol
            elif not symbol.is_extern:
                raise UnreadableError(f"`{shown(symbol.name)}` is declared twice")
            position = end
        self._move(position)

    def _function(self) -> None:
        if len(self.functions) == MAX_FUNCTIONS:
            raise LimitError(f"found more than {MAX_FUNCTIONS} functions")
        try:
            function, end = read_function_head(self.text, self.position, self.line)
        except UnreadableError as error:
            self._broken_function(error)
            return
        self._move(end)
        if function.is_declaration:
            self.functions.append(Found(function))
            return
        self._body(function)

    def _body(self, function: Function) -> None:
        """Go past the body, which begins here with its first brace."""
        start, line = self.position + 1, self.line
        extent = extent_of_body(self.text, start, self.braces)
        self._move(extent.behind)
        if extent.problem and function.problem is None:
            function = replace(function, problem=Problem(extent.problem.code, str(extent.problem), line=self.line))
        self.functions.append(Found(function, start, extent.inside, line))

    def _broken_function(self, error: UnreadableError) -> None:
        """Keep the name of a function whose head cannot be read, and go past its body."""
        found = broken(self.text, self.position, self.line, Problem(error.code, str(error), line=self.line))
        if found is None:
            raise error
        function, end = found
        self._move(end)
        if self.text.startswith("{", end):
            self._body(function)
        else:
            self.functions.append(Found(function))

    def _whole(self, found: Found) -> Function:
        """The function with its body."""
        function = found.function
        if function.is_declaration or function.problem is not None:
            return function
        parameters = function.parameters + function.results
        reader = BodyReader(self.text, found.start, found.end, found.line, parameters, self.around)
        try:
            body = reader.read()
        except LimitError:
            self.line = reader.line
            raise
        if isinstance(body, Problem):
            return replace(function, problem=body)
        return replace(
            function,
            symbols=body.symbols,
            instructions=body.instructions,
            labels=MappingProxyType(body.labels),
            targets=MappingProxyType(body.targets),
        )
