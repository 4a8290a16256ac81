"""Reads a PTX module: variables, functions, and instructions with their scopes and labels."""

from __future__ import annotations

from .errors import ParseError
from .lexer import Cursor, number, tokens
from .model import Addr, Function, Instr, Module, Not, Reg, Scope, Sym, Symbol
from .operands import add_register, read_operand, read_registers, read_variable

LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
SPACES = frozenset({".global", ".const", ".shared", ".local", ".param"})


def parse(text: str) -> Module:
    """Parse a PTX file."""
    module = Module(text.splitlines())
    cursor = Cursor(tokens(text))
    while cursor.peek():
        read_top(cursor, module)
    return module


def read_top(cursor: Cursor, module: Module) -> None:
    """Read one declaration at the top of the file."""
    linkage = set()
    while cursor.peek() in LINKAGE:
        linkage.add(cursor.take())
    word = cursor.take()
    if word in (".entry", ".func"):
        read_function(cursor, module, entry=word == ".entry")
    elif word in SPACES:
        read_variables(cursor, word[1:], module.scope, extern=".extern" in linkage)
    elif word == ".section":
        cursor.skip_braces()
    elif word == ".alias":
        name = cursor.take()
        cursor.expect(",")
        module.aliases[name] = cursor.take()
        cursor.expect(";")
    elif word == ".pragma":
        cursor.skip_past(";")
    elif word != ";":
        raise ParseError(f"unknown declaration {word!r}", cursor.line)


def read_variables(cursor: Cursor, space: str, scope: Scope, *, extern: bool = False) -> list[Symbol]:
    """Read the variables of one declaration, and the semicolon."""
    start, found = cursor.at, []
    space = space.split("::", maxsplit=1)[0]
    while True:
        found.append(read_variable(cursor, space, scope, extern=extern))
        if cursor.accept(";"):
            return found
        cursor.expect(",")
        again = []
        for token in cursor.tokens[start:]:
            if token.kind != "directive" and not (again and again[-1].text == ".align"):
                break
            again.append(token)
        cursor.tokens[cursor.at : cursor.at] = again  # the type stands for every name of the list


def read_parameters(cursor: Cursor, function: Function) -> list[Symbol | Reg]:
    """Read the formal parameters in parentheses."""
    found: list[Symbol | Reg] = []
    cursor.expect("(")
    while not cursor.accept(")"):
        word = cursor.take()
        if word == ".reg":
            kind = cursor.take()
            found.append(add_register(cursor.take(), kind[1:], function.scope, function))
        elif word == ".param":
            found.append(read_variable(cursor, "param", function.scope))
        else:
            raise ParseError(f"unknown parameter {word!r}", cursor.line)
        cursor.accept(",")
    return found


def read_function(cursor: Cursor, module: Module, *, entry: bool) -> None:
    """Read a kernel or a function, or the prototype of one."""
    while cursor.peek() == ".attribute":
        cursor.skip_past(")")
    function = Function("", entry, cursor.line, scope=Scope(module.scope))
    if not entry and cursor.peek() == "(":
        function.returns = read_parameters(cursor, function)
    function.name = cursor.take()
    if cursor.peek() == "(":
        function.params = read_parameters(cursor, function)
    while cursor.kind() == "directive":
        directive = cursor.take()
        if directive == ".pragma":
            cursor.skip_past(";")
            continue
        values = []
        while cursor.kind() == "number":
            values.append(int(number(cursor.take())[0]))
            cursor.accept(",")
        function.directives[directive[1:]] = tuple(values)
    if not cursor.accept(";"):
        cursor.expect("{")
        read_body(cursor, function)
        function.body = True
    known = module.functions.get(function.name)
    if known is None or not known.body:
        module.functions[function.name] = function


def read_body(cursor: Cursor, function: Function) -> None:
    """Read the statements of a function up to its closing brace."""
    scope = Scope(function.scope)
    outermost = scope
    while True:
        word = cursor.peek()
        if cursor.accept("{"):
            scope = Scope(scope)
        elif cursor.accept("}"):
            if scope is outermost:
                return
            scope = scope.parent or outermost
        elif cursor.kind() == "directive":
            read_directive(cursor, scope, function)
        elif cursor.kind() == "word" and cursor.peek(1) == ":":
            read_label(cursor, scope, function)
        elif not cursor.accept(";"):
            if not word:
                raise ParseError("the text ends inside a function", cursor.line)
            function.instrs.append(read_instruction(cursor, scope, function))


def read_directive(cursor: Cursor, scope: Scope, function: Function) -> None:
    """Read a declaration inside a function."""
    word = cursor.take()
    if word == ".reg":
        read_registers(cursor, scope, function)
    elif word.split("::", maxsplit=1)[0] in SPACES:
        function.symbols += read_variables(cursor, word[1:], scope)
    elif word in LINKAGE:
        space = cursor.take()
        function.symbols += read_variables(cursor, space[1:], scope, extern=word == ".extern")
    elif word in (".pragma", ".callprototype", ".calltargets", ".branchtargets"):
        cursor.skip_past(";")
    else:
        raise ParseError(f"unknown directive {word!r}", cursor.line)


def read_label(cursor: Cursor, scope: Scope, function: Function) -> None:
    """Read a label; one before .branchtargets names a table of labels."""
    name = cursor.take()
    cursor.expect(":")
    if cursor.accept(".branchtargets"):
        targets = []
        while not cursor.accept(";"):
            targets.append(Sym(cursor.take(), scope))
            cursor.accept(",")
        scope.targets[name] = targets
    elif cursor.peek() in (".callprototype", ".calltargets"):
        cursor.skip_past(";")
    else:
        scope.labels[name] = len(function.instrs)


def read_instruction(cursor: Cursor, scope: Scope, function: Function) -> Instr:
    """Read one instruction, its guard first."""
    pred, negated = None, False
    line = cursor.line
    if cursor.accept("@"):
        negated = cursor.accept("!")
        pred = read_operand(cursor, scope, function)
        if isinstance(pred, Not):
            pred, negated = pred.item, True
        if not isinstance(pred, Reg):
            raise ParseError("a guard is not a register", line)
    line = cursor.line
    if cursor.kind() != "word":
        raise ParseError(f"expected an instruction, found {cursor.peek()!r}", line)
    op, *mods = cursor.take().split(".")
    instr = Instr(line, op, tuple(mods), [], scope, pred, negated)
    while not cursor.accept(";"):
        instr.operands.append(read_operand(cursor, scope, function))
        if cursor.peek() != ";":
            cursor.expect(",")
    return instr


def address_of(instr: Instr, place: int = 0) -> Addr:
    """The n-th operand in brackets of an instruction."""
    found = [operand for operand in instr.operands if isinstance(operand, Addr)]
    if place >= len(found):
        raise ParseError(f"{instr.opcode} lacks an address", instr.line)
    return found[place]
