"""Claims in a form in which two that say the same are equal, however their specs are written.

Built objects are read, never YAML: constants are put in, spaces, parentheses and the order of loops and assumptions are
gone. Every field of every dataclass takes part unless it is named here, so that none that comes later is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TypeAlias, assert_never, cast

from swzverify.errors import InternalError
from swzverify.hardware import Instruction, Target
from swzverify.ir.c_ast import (
    VALUE_MAX,
    Binary,
    Call,
    CExpr,
    Conditional,
    Expression,
    Name,
    Number,
    Span,
    Unary,
    UnaryOp,
    render,
)
from swzverify.subjects import Access, IndexMap, Loop, MemoryBase

Canon: TypeAlias = "int | str | tuple[Canon, ...] | None"
_HERE: Span = (0, 0)
_ALIASES: Mapping[str, CExpr] = {f"threadIdx.{axis}": Name(f"tid_{axis}", _HERE) for axis in "xyz"}


def canonical(value: object, *, named: bool = True) -> Canon:
    """What a claim or subject says. Without `named`, whatever its tiles, accesses, memories and loops are called.

    >>> from swzverify.claims import Injective
    >>> from swzverify.layout import Layout
    >>> from swzverify.subjects import Tile
    >>> one, other = (Injective(Tile(name, 16, Layout(8, 1))) for name in "AB")
    >>> canonical(one) == canonical(other), canonical(one, named=False) == canonical(other, named=False)
    (False, True)
    """
    return _Form(named, {}, {}).of(value)


def spelled(expression: Expression, access: Access, loops: Mapping[str, str] | None = None) -> str:
    """An expression of an access with its constants' values put in and, if wanted, its loop variables renamed.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> load, chip = find_instruction("ld.shared.b32"), find_target("sm_90")
    >>> access = Access("a", load, chip, (32,), constants={"BK": 4}, address=parse("(tid)*BK"))
    >>> spelled(access.address, access)
    'tid * 4'
    """
    renamed: Mapping[str, CExpr] = {name: Name(other, _HERE) for name, other in (loops or {}).items()}
    return render(_rewritten(expression.root, {**_values(access.constants), **renamed}))


def spelled_values(index_map: IndexMap) -> tuple[str, ...]:
    """A map's expressions with its constants' values put in, and its variables called by their places in the box."""
    names = _map_names(index_map)
    return tuple(render(_rewritten(each.root, names)) for each in index_map.value)


def _map_names(index_map: IndexMap) -> dict[str, CExpr]:
    places: dict[str, CExpr] = {name: Name(f"over{index}", _HERE) for index, (name, _) in enumerate(index_map.over)}
    return _values(index_map.constants) | places


def _values(constants: Mapping[str, int]) -> dict[str, CExpr]:
    """The names that stand for something fixed, as nodes; the other spelling of a thread's coordinates too."""
    return {**_ALIASES, **{name: _literal(value) for name, value in constants.items()}}


def _literal(value: int) -> CExpr:
    if 0 <= value <= VALUE_MAX:
        return Number(value, _HERE)
    return Unary(UnaryOp.MINUS, Number(-value, _HERE), _HERE)


def _rewritten(node: CExpr, names: Mapping[str, CExpr]) -> CExpr:
    """The tree with some names replaced."""
    match node:
        case Number():
            return node
        case Name():
            return names.get(node.name, node)
        case Unary():
            return Unary(node.op, _rewritten(node.operand, names), node.span)
        case Binary():
            return Binary(node.op, _rewritten(node.left, names), _rewritten(node.right, names), node.span)
        case Conditional():
            parts = [_rewritten(part, names) for part in (node.condition, node.then, node.otherwise)]
            return Conditional(parts[0], parts[1], parts[2], node.span)
        case Call():
            return Call(node.function, tuple(_rewritten(each, names) for each in node.arguments), node.span)
    assert_never(node)


class _Form:
    """How values are taken apart: with or without names, and what names in expressions stand for here."""

    __slots__ = ("_memories", "_named", "_names")

    def __init__(self, named: bool, names: Mapping[str, CExpr], memories: dict[str, int]) -> None:
        self._named = named
        self._names = names
        self._memories = memories

    def of(self, value: object) -> Canon:
        match value:
            case None | int() | str():
                return value
            case Expression():
                return render(_rewritten(value.root, self._names))
            case Instruction() | Target():
                return value.name
            case MemoryBase():
                return self._in_memory(value)
            case Access():
                return self._access(value)
            case IndexMap():
                return self._map(value)
            case tuple():
                return tuple(self.of(each) for each in cast("tuple[object, ...]", value))
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._fields(value, frozenset())
            case _:
                raise InternalError(f"a {type(value).__name__} in a claim has no canonical form")

    def _fields(self, value: object, left_out: frozenset[str]) -> Canon:
        skipped = left_out if self._named else left_out | {"name"}
        listed = fields(value)  # pyright: ignore[reportArgumentType]
        parts = [(each.name, self.of(getattr(value, each.name))) for each in listed if each.name not in skipped]
        return (type(value).__name__, *parts)

    def _in_memory(self, base: MemoryBase) -> Canon:
        """Whether two subjects share a memory matters, whatever it is called; its size matters to no claim."""
        memory = base.memory
        name = memory.name if self._named else self._memories.setdefault(memory.name, len(self._memories))
        return ("memory", name, memory.align_bytes, memory.base_bytes, base.offset_bytes)

    def _access(self, access: Access) -> Canon:
        """Constants go into the expressions; loops and assumptions are sets."""
        names = _values(access.constants)
        if not self._named:
            names |= {loop.name: Name(f"loop{index}", _HERE) for index, loop in enumerate(access.loops)}
        inner = _Form(self._named, names, self._memories)
        whole = inner._fields(access, frozenset({"constants", "loops", "assume"}))
        loops = [self._loop(loop, index) for index, loop in enumerate(access.loops)]
        assumed = {render(_rewritten(each.root, names)) for each in access.assume}
        return (whole, tuple(sorted(loops, key=str)), tuple(sorted(assumed)))

    def _loop(self, loop: Loop, index: int) -> Canon:
        """The values that it takes: where it stops within a step, and how far one step would be, changes none."""
        step = loop.step if loop.count is None or loop.count > 1 else 1
        return (loop.name if self._named else f"loop{index}", loop.start, loop.count, step)

    def _map(self, index_map: IndexMap) -> Canon:
        """A map's variables are positions of its box; what they are called matters to nobody."""
        whole = _Form(self._named, _map_names(index_map), self._memories)._fields(
            index_map, frozenset({"constants", "over"})
        )
        return (whole, tuple(extent for _, extent in index_map.over))
