"""The value of a source's integer constant, by its language's arithmetic; all else is refused."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from swzverify.errors import SwzError
from swzverify.ir.c_ast import Binary, BinaryOp, Call, CExpr, Conditional, Name, Number, Unary, UnaryOp, names, nodes
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec.sources.c_constants import c_definitions
from swzverify.spec.sources.definitions import NOT_CONSTANT, Definition, find
from swzverify.spec.sources.languages import Language
from swzverify.spec.sources.python_constants import python_definitions

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1
_MOST = 2**32 - 1
_LONGEST_BODY = 400
"""Characters."""
_DEEPEST = 50
"""Constants that are defined by one another."""
_SEPARATOR = re.compile(r"(?<=[0-9A-Fa-f])'(?=[0-9A-Fa-f])")
_LOGICAL = frozenset(
    (BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL, BinaryOp.EQUAL, BinaryOp.NOT_EQUAL,
     BinaryOp.AND, BinaryOp.OR)
)  # fmt: skip
_SHIFTS = frozenset((BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT))
_UNARY: Mapping[type[ast.unaryop], Callable[[int], int]] = {
    ast.UAdd: int.__pos__, ast.USub: int.__neg__, ast.Invert: int.__invert__
}  # fmt: skip
_BINARY: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.Pow: int.__pow__,
    ast.FloorDiv: int.__floordiv__, ast.Mod: int.__mod__, ast.LShift: int.__lshift__, ast.RShift: int.__rshift__,
    ast.BitAnd: int.__and__, ast.BitOr: int.__or__, ast.BitXor: int.__xor__,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant's value, and the line (from 1) of the source that defines it."""

    value: int
    line: int


def constant(text: str, language: Language, name: str) -> Constant:
    r"""The integer constant of that name in a source's text (with plain line ends).

    `name` has every scope around it: `gemm::Config::BK` or `Config.BK`. Values lie in -2^31 .. 2^32 -
    1.

    Raises:
        SwzError: SWZ122 for a name that is not defined, SWZ123 for one that is not a plain integer
            constant.

    >>> constant("constexpr int BM = 64, BK = BM / 2;\n", Language.C, "BK")
    Constant(value=32, line=1)
    """
    found = c_definitions(text) if language is Language.C else python_definitions(text)
    definition = find(found, name)
    return Constant(_Reading(found, language).value(definition).value, definition.line)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value, whether C may compute with it as unsigned, and whether surely so up to 2^32 - 1."""

    value: int
    is_unsigned: bool = False
    is_wide: bool = False


@dataclass(slots=True)
class _Reading:
    """The values of definitions, each worked out once; `open` are those that are being worked out."""

    definitions: Sequence[Definition]
    language: Language
    open: list[Definition] = field(default_factory=list[Definition])

    def value(self, definition: Definition) -> _Value:
        if definition.body is None:
            raise _refused(definition, definition.refusal, definition.hint)
        if definition in self.open:
            raise _refused(definition, "is defined by itself")
        if len(definition.body) > _LONGEST_BODY or len(self.open) > _DEEPEST:
            raise _refused(definition, "is longer than a constant should be")
        self.open.append(definition)
        found = self._in_c(definition) if self.language is Language.C else self._in_python(definition)
        self.open.pop()
        if not definition.least <= found.value <= definition.most:
            bounds = f"{definition.least} .. {definition.most}"
            raise _refused(definition, f"is {found.value}, outside {bounds}, which its type is sure to hold")
        return found

    def _in_c(self, definition: Definition) -> _Value:
        """By C's rules, where every intermediate value is exact in whatever type is used."""
        text = _SEPARATOR.sub("", str(definition.body))
        try:
            root = parse(text).root
            if any(isinstance(node, Call) for node in nodes(root)):
                raise _refused(definition, "calls a function")
            read = {name: self.value(self._read(definition, name)) for name in sorted(names(root))}
            env = {name: each.value for name, each in read.items()}
            values = [(evaluate(node, env), node) for node in nodes(root)]
        except SwzError as error:
            if error.code == NOT_CONSTANT:
                raise
            raise _refused(definition, f"= {definition.body}: {error.message}") from error
        is_unsigned = (
            definition.is_unsigned
            or any(each.is_unsigned for each in read.values())
            or any(isinstance(node, Number) and _is_unsigned(node, text) for _, node in values)
        )
        if is_unsigned and any(value < 0 for value, _ in values):
            raise _refused(definition, f"= {definition.body}: unsigned arithmetic may wrap in a part of it")
        if any(not _INT_MIN <= value <= _INT_MAX and not _is_wide(node, text, read) for value, node in values):
            raise _refused(definition, f"= {definition.body}: an int overflows in a part of it")
        is_wide = _is_wide(root, text, read) if definition.is_wide is None else definition.is_wide
        return _Value(values[0][0], is_unsigned, is_wide)

    def _read(self, reader: Definition, name: str) -> Definition:
        """The definition that a name in a value stands for: of the same scope, or a macro."""
        every = [each for each in self.definitions if each.name == name]
        if reader.is_macro and not all(each.is_macro for each in every):
            reason = f"= {reader.body}: {name} is no macro, so it means something else where another {name} hides it"
            raise _refused(reader, reason, f"write `constexpr int {reader.name} = ...;`, or make {name} a macro")
        if reader.is_macro or any(each.is_macro for each in every):
            fitting = every  # macros know no scopes, so that there must be this one alone
        else:
            fitting = [each for each in every if (each.place, each.scope) == (reader.place, reader.scope)]
        if not reader.is_macro:
            fitting = [each for each in fitting if each.order < reader.order]
        if len(fitting) != 1:
            where = "has several definitions" if fitting else "is not defined before it in the same scope"
            raise _refused(reader, f"= {reader.body}: {name} {where}")
        return fitting[0]

    def _in_python(self, definition: Definition) -> _Value:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(f"({definition.body}\n)", mode="eval")  # it may be several lines of a bracket
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise _refused(definition, "is not one expression on its own") from error
        return _Value(self._python_value(definition, tree.body))

    def _python_value(self, definition: Definition, node: ast.expr) -> int:
        result: int | None = None
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                result = value
            case ast.Name(id=name):
                result = self.value(self._read(definition, name)).value
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                result = _UNARY[type(op)](self._python_value(definition, operand))
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self._python_value(definition, left), self._python_value(definition, right)
                result = _python_binary(op, first, second)
            case _:
                pass
        if result is None:
            raise _refused(definition, f"= {definition.body}: this is no plain integer constant expression")
        if not _INT_MIN <= result <= _MOST:
            raise _refused(definition, f"= {definition.body}: a part of it lies outside -2^31 .. 2^32 - 1")
        return result


def _python_binary(op: ast.operator, left: int, right: int) -> int | None:
    """What an operator of Python's integers gives; None where that is no integer, or a huge one."""
    if isinstance(op, ast.LShift | ast.RShift | ast.Pow) and not 0 <= right < 64:
        return None
    if isinstance(op, ast.FloorDiv | ast.Mod) and right == 0:
        return None
    return _BINARY[type(op)](left, right) if type(op) in _BINARY else None


def _is_unsigned(literal: Number, text: str) -> bool:
    """Whether a literal may be unsigned: it has a `u` behind its digits, or does not fit an int."""
    return literal.value > _INT_MAX or "u" in text[slice(*literal.span)].lower()


def _is_wide(node: CExpr, text: str, read: Mapping[str, _Value]) -> bool:
    """Whether C surely computes a part in a type that holds 0 .. 2^32 - 1, and not in an int."""
    match node:
        case Number():
            return _is_unsigned(node, text)
        case Name():
            return read[node.name].is_wide
        case Unary():
            return node.op is not UnaryOp.NOT and _is_wide(node.operand, text, read)
        case Binary() if node.op in _LOGICAL:
            return False
        case Binary() if node.op in _SHIFTS:
            return _is_wide(node.left, text, read)
        case Binary():
            return _is_wide(node.left, text, read) or _is_wide(node.right, text, read)
        case Conditional():
            return _is_wide(node.then, text, read) or _is_wide(node.otherwise, text, read)
        case Call():
            return False


def _refused(definition: Definition, reason: str, hint: str = "") -> SwzError:
    hint = hint or "taken are integers, + - * / % << >> & | ^ ~ ( ), and constants of the same scope"
    return SwzError(NOT_CONSTANT, f"'{definition.name}' (line {definition.line}) {reason}", hint=hint)
