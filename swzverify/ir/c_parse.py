"""C integer expressions from text: a precedence-climbing parser that never runs what it reads.

Every refusal is a `SwzError` with the text, the span in it and a hint: SWZ302 for what is not such
an expression, SWZ303 for a literal above 2^32 - 1. Tokens are read as the parser needs them, so
that the leftmost mistake is the one reported.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple, NoReturn

from swzverify.errors import SwzError, nearest
from swzverify.ir.c_ast import (
    CONDITIONAL_PRECEDENCE,
    CUDA_NAMES,
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_NODES,
    UNARY_PRECEDENCE,
    VALUE_MAX,
    VALUE_MIN,
    Binary,
    BinaryOp,
    Call,
    CExpr,
    Conditional,
    Name,
    Number,
    Span,
    Unary,
    UnaryOp,
    precedence,
)
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_names import function_hint, name_hint
from swzverify.ir.c_tokens import REFUSED, Token, literal_value, next_token

_BINARY: Final = {op.value: op for op in BinaryOp}
_UNARY: Final = {op.value: op for op in UnaryOp}

_TYPES: Final = (
    "bool char const double float int long short signed unsigned void volatile size_t ssize_t ptrdiff_t "
    "intptr_t uintptr_t uint int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"
)
_TYPE_WORDS: Final = frozenset(_TYPES.split())
_CAST_WORDS: Final = frozenset({"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"})
_CAST: Final = re.compile(r"\(\s*(?:(?:" + "|".join(_TYPES.split()) + r")\b\s*+)+[\s*&]*\)")
_REGISTER: Final = re.compile(r"%((?:n?tid|n?ctaid)\.[xyz]|laneid|warpid|nwarpid|smid|cluster_\w+)")
_NO_CASTS: Final = "all values are exact integers, so leave the type out"
_WORD_OPERATORS: Final = {"and": "&&", "or": "||", "not": "!", "xor": "^"}
_BUILTINS: Final = frozenset(name.split(".")[0] for name in CUDA_NAMES)


class _Part(NamedTuple):
    """A finished subtree and the number of operators on its longest path."""

    node: CExpr
    height: int


def expression(value: int | str) -> CFormula:
    """The expression for a value in a spec: text, or a plain integer in `VALUE_MIN .. VALUE_MAX`.

    Raises:
        SwzError: SWZ302 if the text is no expression or the value is true or false; SWZ303 if an
            integer is out of range.

    >>> expression(128).root
    Number(value=128, span=(0, 3))
    """
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, bool):
        text = "true" if value else "false"
        hint = f"write {int(value)}"
        raise SwzError("SWZ302", f"'{text}' is not an integer", hint=hint, text=text, span=(0, len(text)))
    if not VALUE_MIN <= value <= VALUE_MAX:
        # The value itself may be too long to print.
        text = str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
        hint = f"values lie in {VALUE_MIN}..{VALUE_MAX}"
        raise SwzError("SWZ303", "the integer is out of range", hint=hint, text=text, span=(0, len(text)))
    return parse(str(value))


def parse(text: str) -> CFormula:
    """The tree of a C integer expression of at most 4,096 characters, 2,000 nodes and depth 100.

    Raises:
        SwzError: SWZ302 for anything else, SWZ303 for a literal above 2^32 - 1, both with the span.

    >>> str(parse("tid / 8 % 4")), sorted(parse("tid / 8 % K").names)
    ('tid / 8 % 4', ['K', 'tid'])
    >>> parse("tid = 4")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ302: '=' assigns, and an expression cannot
      tid = 4
          ^
      to compare, write ==
    """
    if len(text) > MAX_CHARACTERS:
        message = f"the expression has {len(text)} characters; at most {MAX_CHARACTERS} are read"
        # Only its beginning is shown: thousands of characters help nobody.
        raise SwzError("SWZ302", message, hint="split it, or name parts of it", text=text[:80], span=(0, 80))
    parser = _Parser(text)
    root = parser.expression(CONDITIONAL_PRECEDENCE).node
    if parser.token.kind != "end":
        parser.refuse_stray()
    return CFormula(text, root)


class _Parser:
    """The parser's place in one text, with one token of lookahead."""

    __slots__ = ("end", "nodes", "operators", "parentheses", "text", "token")

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0  # where the last consumed token ended
        self.nodes = 0
        self.operators = 0
        self.parentheses = 0
        self.token = next_token(text, 0)

    def expression(self, least: int) -> _Part:
        """An expression whose operators outside parentheses bind at least as tightly as `least`."""
        start = self.token.start
        left = self.prefix()
        while self.token.kind == "symbol":
            token = self.token
            if token.text == "?" and least <= CONDITIONAL_PRECEDENCE:
                left = self.conditional(left, start)
                continue
            op = _BINARY.get(token.text)
            if op is None or precedence(op) < least:
                break
            self.advance()
            right = self.operand(token, precedence(op) + 1)
            left = self.grown(Binary(op, left.node, right.node, (start, self.end)), token, left, right)
        return left

    def prefix(self) -> _Part:
        """A literal, name, call, parenthesised expression, or a unary operator with its operand."""
        token = self.token
        if token.kind == "number":
            self.advance()
            return self.grown(Number(literal_value(self.text, token), token.span), token)
        if token.kind == "name":
            return self.name_or_call()
        if token.kind == "symbol" and token.text in _UNARY:
            self.advance()
            operand = self.operand(token, UNARY_PRECEDENCE)
            node = Unary(_UNARY[token.text], operand.node, (token.start, self.end))
            return self.grown(node, token, operand)
        if not self.at("("):
            self.refuse_missing_operand()
        return self.parenthesised()

    def conditional(self, condition: _Part, start: int) -> _Part:
        """The rest of `condition ? then : otherwise`, from the `?`."""
        question = self.token
        self.advance()
        then = self.operand(question, CONDITIONAL_PRECEDENCE)
        if not self.at(":"):
            if self.token.text in ("", ")", ","):
                self.refuse("'?' has no ':'", "write condition ? a : b", question.span)
            self.refuse_stray()
        self.advance()
        otherwise = self.operand(question, CONDITIONAL_PRECEDENCE)
        node = Conditional(condition.node, then.node, otherwise.node, (start, self.end))
        return self.grown(node, question, condition, then, otherwise)

    def parenthesised(self) -> _Part:
        """An expression in parentheses; it keeps its own span."""
        opening = self.token
        cast = _CAST.match(self.text, opening.start)
        if cast is not None:
            self.refuse(f"'{cast.group()}' is a cast, and there are none", _NO_CASTS, cast.span())
        self.open()
        inner = self.expression(CONDITIONAL_PRECEDENCE)
        self.close(opening)
        if isinstance(inner.node, Name) and self.token.kind in ("number", "name"):
            span = (opening.start, self.end)
            self.refuse(f"'({inner.node.name})' before '{self.token.text}' reads as a cast", _NO_CASTS, span)
        return inner

    def name_or_call(self) -> _Part:
        """A variable, or `min`/`max` with arguments."""
        token = self.token
        name = token.text
        if name in _TYPE_WORDS or name in _CAST_WORDS:
            self.refuse(f"'{name}' is a type or a cast, and there are none", _NO_CASTS, token.span)
        if name in _WORD_OPERATORS:
            self.refuse_word(token)
        if name == "sizeof":
            self.refuse("'sizeof' is not read", "write the number of bytes", token.span)
        if ("." in name or name in _BUILTINS) and name not in CUDA_NAMES:
            _refuse_member(self.text, token)
        self.advance()
        if name in ("min", "max"):
            if not self.at("("):
                self.refuse(f"'{name}' is a function", f"write {name}(a, b)", token.span)
            return self.call(name, token)
        if self.at("("):
            known = "the functions are min and max; a product needs its '*'"
            hint = function_hint(name) or nearest(name.lower(), ("min", "max")) or known
            self.refuse(f"unknown function '{name}'", hint, token.span)
        return self.grown(Name(name, token.span), token)

    def call(self, function: Literal["min", "max"], token: Token) -> _Part:
        """The arguments of `min` or `max`, from the opening parenthesis."""
        opening = self.token
        self.open()
        parts: list[_Part] = []
        while parts or not self.at(")"):
            parts.append(self.operand(token, CONDITIONAL_PRECEDENCE))
            if not self.at(","):
                break
            self.advance()
        self.close(opening)
        span = (token.start, self.end)
        if len(parts) < 2:
            message = f"'{function}' needs two or more arguments, not {len(parts)}"
            self.refuse(message, f"write {function}(a, b)", span)
        return self.grown(Call(function, tuple(part.node for part in parts), span), token, *parts)

    def operand(self, operator: Token, least: int) -> _Part:
        """The operand of an operator: an expression that is one operator deeper."""
        if self.operators >= MAX_DEPTH:
            self.refuse_depth(operator)
        self.operators += 1
        part = self.expression(least)
        self.operators -= 1
        return part

    def grown(self, node: CExpr, token: Token, *operands: _Part) -> _Part:
        """A finished node, once it is within the limits of size and depth."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            hint = "split it, or name parts of it"
            self.refuse(f"more than {MAX_NODES} literals, names and operators", hint, token.span)
        height = max((part.height + 1 for part in operands), default=0)
        if height > MAX_DEPTH:
            self.refuse_depth(token)
        return _Part(node, height)

    def open(self) -> None:
        """Consume a `(`."""
        if self.parentheses >= MAX_DEPTH:
            hint = "leave out the parentheses that group nothing, or name parts of the expression"
            self.refuse(f"more than {MAX_DEPTH} parentheses are open here", hint, self.token.span)
        self.parentheses += 1
        self.advance()

    def close(self, opening: Token) -> None:
        """Consume the `)` that belongs to `opening`."""
        if self.token.kind == "end":
            self.refuse("'(' is never closed", "add the missing ')'", opening.span)
        if not self.at(")"):
            self.refuse_stray()
        self.parentheses -= 1
        self.advance()

    def at(self, symbol: str) -> bool:
        """Whether the next token is this symbol."""
        return self.token.kind == "symbol" and self.token.text == symbol

    def advance(self) -> None:
        """Consume the next token."""
        self.end = self.token.end
        self.token = next_token(self.text, self.end)

    def refuse(self, message: str, hint: str, span: Span) -> NoReturn:
        """Raise SWZ302 at a place of this text."""
        raise SwzError("SWZ302", message, hint=hint, text=self.text, span=span)

    def refuse_depth(self, token: Token) -> NoReturn:
        """Raise SWZ302 for too many operators one inside the other."""
        hint = "group a long sum as (a + b) + (c + d), or name parts of the expression"
        self.refuse(f"more than {MAX_DEPTH} operators lie one inside the other", hint, token.span)

    def refuse_missing_operand(self) -> NoReturn:
        """Raise SWZ302 where a literal, name or `(` should start."""
        token = self.token
        hint = "write a number, a name or a '('"
        register = _REGISTER.match(self.text, token.start)
        if register is not None:
            meant = name_hint(register[1], ("lane", "warp", *(f"tid_{axis}" for axis in "xyz")))
            self.refuse(f"'{register.group()}' is a register of PTX", meant or hint, register.span())
        if token.kind != "end":
            self.refuse(f"an operand is missing before '{token.text}'", hint, token.span)
        if self.end == 0:
            self.refuse("the expression is empty", "write one, such as tid / 8", (0, len(self.text)))
        self.refuse("the expression ends where an operand is missing", hint, token.span)

    def refuse_word(self, token: Token) -> NoReturn:
        """Raise SWZ302 for an operator spelt as a word."""
        symbol = _WORD_OPERATORS[token.text]
        self.refuse(f"'{token.text}' is not read as an operator", f"write {symbol}", token.span)

    def refuse_stray(self) -> NoReturn:
        """Raise SWZ302 for a token that cannot follow a finished operand."""
        token = self.token
        match token.text:
            case ")":
                self.refuse("')' closes no '('", "leave it out, or add the '('", token.span)
            case ":":
                self.refuse("':' has no '?'", "write condition ? a : b", token.span)
            case ",":
                hint = "write one expression"
                self.refuse("',' stands outside the arguments of min and max", hint, token.span)
            case word if word in _WORD_OPERATORS:
                self.refuse_word(token)
            case _:
                hint = "write one of + - * / % << >> & | ^ or a comparison between the two"
                self.refuse(f"an operator is missing before '{token.text}'", hint, token.span)


def _refuse_member(text: str, token: Token) -> NoReturn:
    """Raise SWZ302 for a dotted name that is not CUDA's, or for one of CUDA's without its axis."""
    base = token.text.split(".")[0]
    if base in _BUILTINS:
        known = any(name.startswith(f"{base}.") for name in ("threadIdx.x", "blockDim.x"))
        hint = f"write {base}.x, {base}.y or {base}.z" if known else name_hint(base, ())
        message = f"'{token.text}' is not an integer"
    else:
        message, (_, hint) = f"'{token.text}' reads a member, and '{base}' has none", REFUSED["."]
        hint = name_hint(token.text, CUDA_NAMES) or name_hint(base if base[:1] else "", ("lane", "warp", "tid")) or hint
    raise SwzError("SWZ302", message, hint=hint, text=text, span=token.span)
