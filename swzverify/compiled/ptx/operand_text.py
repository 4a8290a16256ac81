"""Reads the operands of one instruction from their text.

One regular expression reads each operand of the usual forms; recursive descent of bounded depth
reads all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from swzverify.compiled.ptx.literals import WARP_SZ, combined, floating, integer
from swzverify.compiled.ptx.names import has_components
from swzverify.compiled.ptx.operands import (
    Address,
    Bracketed,
    FloatImmediate,
    Group,
    Immediate,
    Indexed,
    Minus,
    Negated,
    Operand,
    Pair,
    Part,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    SymbolRef,
    Vector,
)
from swzverify.compiled.ptx.problems import MAX_NESTING, UnreadableError, shown
from swzverify.compiled.ptx.syntax import BLANKS, NAME, SELECTOR, compiled

Resolve = Callable[[str], Operand]
"""Gives what a name means; an `UnreadableError` for a name without a meaning."""

_TOKEN: Final = compiled(
    rf"\s*+(?:({NAME})({SELECTOR})?|((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\w*)|(_)(?![\w$])|(<<|>>|[-\[\]{{}}(),|!~+*/&^]))"
)
_NAME, _SELECTOR, _NUMBER, _SINK, _SIGN = range(1, 6)
_BINDING: Final = {"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6}
_SUM: Final = 5
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}
_END: Final = "the end of the statement"


def read_operands(text: str, resolve: Resolve, *, is_call: bool = False) -> tuple[Operand, ...]:
    """The operands of an instruction; `is_call` lets parentheses hold results and arguments.

    An `UnreadableError` says what was found and what was expected.

    >>> read_operands("_, [4+4]", resolve=lambda name: SymbolRef(name, 0))
    (Sink(), Address(base=None, offset=8))
    """
    return _Reader(text, resolve, is_call=is_call).all()


class _Reader:
    """One pass over the tokens of an instruction's operands."""

    __slots__ = ("depth", "is_call", "kind", "position", "resolve", "selector", "text", "word")

    def __init__(self, text: str, resolve: Resolve, *, is_call: bool) -> None:
        self.text = text
        self.resolve = resolve
        self.is_call = is_call
        self.position = self.depth = self.kind = 0
        self.word = self.selector = ""
        self.advance()

    def all(self) -> tuple[Operand, ...]:
        """All operands of the text."""
        items: list[Operand] = []
        while self.kind:
            items.append(self.operand())
            if self.kind:
                self.expect(",")
                if not self.kind:
                    raise self.unexpected("an operand")
        return tuple(items)

    def advance(self) -> None:
        """Go to the next token; `kind` is 0 behind the last one."""
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            rest = self.text[self.position :].lstrip(BLANKS)
            if rest:
                raise UnreadableError(f"found `{shown(rest)}`, expected an operand")
            self.kind, self.word = 0, ""
            return
        self.position = found.end()
        self.selector = found[_SELECTOR] or ""
        self.kind = _NAME if self.selector else found.lastindex or 0
        self.word = found[self.kind]

    def unexpected(self, expected: str) -> UnreadableError:
        """What to raise where another word is expected."""
        found = f"`{shown(self.word)}`" if self.kind else _END
        return UnreadableError(f"found {found}, expected {expected}")

    def expect(self, sign: str) -> None:
        """Go past this sign."""
        if self.word != sign:
            raise self.unexpected(f"`{sign}`")
        self.advance()

    def deepen(self) -> None:
        """Enter one more level of brackets or signs; whoever enters it also leaves it."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise UnreadableError(f"brackets and signs are nested deeper than {MAX_NESTING}")

    def operand(self) -> Operand:
        """One operand, which may be a pair `p|q`."""
        self.deepen()
        first = self.plain()
        if self.word == "|" and isinstance(first, Register | SymbolRef | Sink):
            self.advance()
            if self.kind not in {_NAME, _SINK}:
                raise self.unexpected("a register")
            first = Pair(first, self.plain())
        self.depth -= 1
        return first

    def plain(self) -> Operand:
        """An operand that is no pair."""
        word = self.word
        if self.kind == _NAME and word != "WARP_SZ":
            return self.named()
        if self.kind == _SINK:
            self.advance()
            return Sink()
        if word == "[":
            return _bracketed(self.items("["))
        if word == "{":
            return Vector(self.items("{"))
        if word == "(" and self.is_call:
            return Group(self.items("("))
        if word == "!":
            self.advance()
            return self.negated()
        return self.number()

    def negated(self) -> Operand:
        """What stands behind `!`: a register, or a number, which becomes 0 or 1."""
        if self.kind == _NAME and self.word != "WARP_SZ":
            return Negated(self.named())
        return Immediate(0 if self.factor() else 1)

    def items(self, opening: str) -> tuple[Operand, ...]:
        """The operands between brackets."""
        closing = _CLOSING[opening]
        self.advance()
        found: list[Operand] = []
        if self.word == closing and opening == "(":
            self.advance()
            return ()
        while True:
            found.append(self.operand())
            if self.word == closing:
                self.advance()
                return tuple(found)
            self.expect(",")

    def named(self) -> Operand:
        """A name with what may follow it: a component, an index or a number of bytes."""
        name, selector = self.word, self.selector
        self.advance()
        meaning = self.resolve(name)
        if selector:
            return _part(meaning, name, selector[1:])
        if self.word == "[" and isinstance(meaning, SymbolRef):
            items = self.items("[")
            if len(items) != 1:
                raise UnreadableError(f"found {len(items)} indices, expected one")
            return Indexed(meaning, items[0])
        if self.word == "+":
            if isinstance(meaning, SymbolRef):
                return SymbolRef(meaning.name, meaning.scope, self.offset())
            if isinstance(meaning, Register):
                return Plus(meaning, self.offset())
            raise self.unexpected("`,` or the end: only a variable or a register has an offset")
        return meaning

    def offset(self) -> int:
        """A sum behind a name, which begins with `+`: `+8-4`, `+-4`."""
        value = 0
        while self.word in {"+", "-"}:
            operator = self.word
            self.advance()
            value = combined(operator, value, self.sum(_SUM + 1))
        return value

    def number(self) -> Operand:
        """An integer expression, a floating-point number, or a register behind a minus."""
        sign = self.word
        if sign in {"-", "+"}:
            self.advance()
            if self.kind == _NAME and self.word != "WARP_SZ" and sign == "-":
                return Minus(self.named())
        real = floating(self.word) if self.kind == _NUMBER else None
        if real is not None:
            self.advance()
            turned = real.bits ^ 1 << real.width_bits - 1 if sign == "-" else real.bits
            return FloatImmediate(turned, real.width_bits)
        if sign in {"-", "+"}:
            return Immediate(self.sum(0, combined(sign, 0, self.factor())))
        return Immediate(self.sum(0))

    def sum(self, binding: int, left: int | None = None) -> int:
        """An integer expression of operators that bind at least as tightly as `binding`."""
        self.deepen()
        value = self.factor() if left is None else left
        while (strength := _BINDING.get(self.word, -1)) >= max(binding, 1):
            operator = self.word
            self.advance()
            value = combined(operator, value, self.sum(strength + 1))
        self.depth -= 1
        return value

    def factor(self) -> int:
        """A number, one with a sign, or an expression in parentheses."""
        word = self.word
        if word == "WARP_SZ":
            self.advance()
            return WARP_SZ
        if self.kind == _NUMBER:
            self.advance()
            return integer(word)
        if word == "(":
            self.advance()
            value = self.sum(0)
            self.expect(")")
            return value
        if word in {"-", "+", "~"}:
            self.advance()
            self.deepen()
            value = self.factor()
            self.depth -= 1
            return combined("-", -1, value) if word == "~" else combined(word, 0, value)
        raise self.unexpected("an operand")


def _part(meaning: Operand, name: str, selector: str) -> Operand:
    """A name with a component."""
    if isinstance(meaning, SpecialRegister) and has_components(name) and selector in {"x", "y", "z"}:
        return SpecialRegister(f"{name}.{selector}")
    if isinstance(meaning, Register):
        return Part(meaning, selector)
    raise UnreadableError(f"`{shown(name)}` has no component `.{selector}`")


def _bracketed(items: tuple[Operand, ...]) -> Operand:
    """`[...]`: an address, or a list."""
    if len(items) != 1:
        return Bracketed(items)
    match items[0]:
        case Plus(register=register, offset=offset):
            return Address(register, offset)
        case Register() as register:
            return Address(register, 0)
        case SymbolRef(name=name, scope=scope, offset=offset):
            return Address(SymbolRef(name, scope), offset)
        case Immediate(value=value):
            return Address(None, value)
        case _:
            return Bracketed(items)
