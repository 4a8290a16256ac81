"""Reads operands and declarations inside a scope."""

from __future__ import annotations

import re

from .errors import ParseError
from .lexer import Cursor, number
from .model import WIDTHS, Addr, Function, Group, Imm, Not, Operand, Pair, Reg, Scope, Sink, Special, Sym, Symbol, Vec

FAMILY = re.compile(r"^(.*?)(\d+)$")


def find_register(name: str, scope: Scope, function: Function) -> Reg | None:
    """Give the register of this name.

    Members of a family (%r<75>) get their place when they are first seen.
    """
    at: Scope | None = scope
    match = FAMILY.match(name)
    while at is not None:
        if name in at.registers:
            return at.registers[name]
        if match and match[1] in at.families and int(match[2]) < at.families[match[1]][0]:
            return add_register(name, at.families[match[1]][1], at, function)
        at = at.parent
    return None


def add_register(name: str, kind: str, scope: Scope, function: Function) -> Reg:
    """Declare one register."""
    if kind not in WIDTHS:
        raise ParseError(f"register {name} of unknown type {kind}")
    register = Reg(len(function.slots), kind, name)
    function.slots.append(kind)
    scope.registers[name] = register
    return register


def constant(cursor: Cursor) -> Imm:
    """Read a number with an optional sign, or a sum of such in parentheses."""
    if cursor.accept("("):
        total = constant(cursor).value
        while not cursor.accept(")"):
            total += constant(cursor).value
        return Imm(total)
    sign = 1
    while cursor.peek() in ("-", "+", "~"):
        mark = cursor.take()
        if mark == "~":
            return Imm(~int(constant(cursor).value))
        sign = -sign if mark == "-" else sign
    if cursor.kind() != "number":
        raise ParseError(f"expected a number, found {cursor.peek()!r}", cursor.line)
    value, bits = number(cursor.take())
    return Imm(value if bits else sign * value, bits)


def name_operand(name: str, scope: Scope, function: Function) -> Operand:
    """Tell registers, special registers, the sink and symbols apart."""
    if name == "_":
        return Sink()
    register = find_register(name, scope, function)
    if register is not None:
        return register
    if name.startswith("%") and scope.find("symbols", name) is None:
        return Special(name)
    if name in ("WARP_SZ",):
        return Imm(32)
    return Sym(name, scope)


def offset(cursor: Cursor) -> int:
    """Read any number of +n and -n."""
    total = 0
    while cursor.peek() in ("+", "-"):
        if cursor.peek() == "+":
            cursor.take()
        total += int(constant(cursor).value)
    return total


def read_list(cursor: Cursor, end: str, scope: Scope, function: Function) -> tuple[Operand, ...]:
    """Read operands with commas between them, up to and over the closing mark."""
    items: list[Operand] = []
    while not cursor.accept(end):
        items.append(read_operand(cursor, scope, function))
        if cursor.peek() != end:
            cursor.expect(",")
    return tuple(items)


def read_operand(cursor: Cursor, scope: Scope, function: Function) -> Operand:
    """Read one operand."""
    mark = cursor.peek()
    if cursor.accept("["):
        base = read_operand(cursor, scope, function)
        shift = offset(cursor)
        extra = () if not cursor.accept(",") else read_list(cursor, "]", scope, function)
        if not extra:
            cursor.expect("]")
        return Addr(base, shift, extra)
    if cursor.accept("{"):
        return Vec(read_list(cursor, "}", scope, function))
    if cursor.accept("!"):
        return Not(read_operand(cursor, scope, function))
    if cursor.kind() in ("number",) or mark in ("-", "+", "~"):
        return constant(cursor)
    if cursor.accept("("):
        return Group(read_list(cursor, ")", scope, function))
    if cursor.kind() != "word":
        raise ParseError(f"expected an operand, found {mark!r}", cursor.line)
    found = name_operand(cursor.take(), scope, function)
    if cursor.accept("|"):
        return Pair(found, read_operand(cursor, scope, function))
    if isinstance(found, Sym) and cursor.peek() in ("+", "-"):
        return Sym(found.name, scope, offset(cursor))
    return found


def read_registers(cursor: Cursor, scope: Scope, function: Function) -> None:
    """Read what follows .reg: a type, then names or families, then a semicolon."""
    kind = cursor.take()
    if kind in (".v2", ".v4"):
        raise ParseError("vector registers are not supported", cursor.line)
    while True:
        name = cursor.take()
        if cursor.accept("<"):
            scope.families[name] = (int(number(cursor.take())[0]), kind[1:])
            cursor.expect(">")
        else:
            add_register(name, kind[1:], scope, function)
        if cursor.accept(";"):
            return
        cursor.expect(",")


def read_variable(cursor: Cursor, space: str, scope: Scope, *, extern: bool = False) -> Symbol:
    """Read one declared variable: its type, its name, its bounds and its initial values."""
    line = cursor.line
    align, vector, kind, pointer = 0, 1, "b8", False
    while cursor.kind() == "directive":
        word = cursor.take()
        if word == ".align":
            given = int(number(cursor.take())[0])
            align = align if pointer else given  # of a pointer, .align tells of what it points to
        elif word == ".attribute":
            cursor.skip_past(")")
        elif word in (".v2", ".v4"):
            vector = int(word[2:])
        elif word[1:] in WIDTHS:
            kind = word[1:]
        elif word == ".ptr":
            pointer = True
    name = cursor.take()
    count, unknown = 1, False
    while cursor.accept("["):
        if cursor.accept("]"):
            unknown = True
            continue
        count *= int(constant(cursor).value)
        cursor.expect("]")
    width = max(1, WIDTHS[kind] // 8)
    symbol = Symbol(name, space, kind, align or width * vector, width * vector * count, line, extern, pointer)
    if cursor.accept("="):
        read_initial(cursor, symbol, width, scope)
        if unknown:
            symbol.size = max((at + size for at, size, _ in symbol.init), default=0)
    elif unknown:
        symbol.size = 0
    scope.symbols[name] = symbol
    return symbol


def read_initial(cursor: Cursor, symbol: Symbol, width: int, scope: Scope) -> None:
    """Read initial values, nested braces or not, one element after the other."""
    depth = 0
    while True:
        if cursor.accept("{"):
            depth += 1
        elif cursor.accept("}"):
            depth -= 1
        elif not cursor.accept(","):
            symbol.init.append((len(symbol.init) * width, width, initial_value(cursor, scope)))
        if depth == 0 and cursor.peek() in (";", ","):
            return


def initial_value(cursor: Cursor, scope: Scope) -> Imm | Sym:
    """Read one initial value: a number, a name with an offset, or generic(name)."""
    if cursor.kind() != "word":
        return constant(cursor)
    name = cursor.take()
    if cursor.accept("("):
        if name != "generic":
            raise ParseError(f"initial value {name}(...) is not supported", cursor.line)
        name = cursor.take()
        shift = offset(cursor)
        cursor.expect(")")
        return Sym(name, scope, shift + offset(cursor))
    return Sym(name, scope, offset(cursor))
