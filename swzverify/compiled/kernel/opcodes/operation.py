"""How an opcode computes, and the table in which the rules of this folder stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import bit_and, bit_or, bit_xor
from swzverify.ir.expr import Expr

Values: TypeAlias = tuple[Expr, ...]
Build: TypeAlias = Callable[[Values], Values | None]


@dataclass(frozen=True, slots=True)
class Operation:
    """How an opcode computes: bits of each source and result, and the results as expressions.

    `build` gives None where the values of these operands have no expression. `undefined` gives two
    conditions on the sources of a division by the second one: that it is by zero, and that it
    overflows. Where one of them holds, the results may be anything. `signed` tells how a wider
    register takes a result.
    """

    sources: tuple[int, ...]
    results: tuple[int, ...]
    build: Build
    signed: bool = False
    undefined: Callable[[Values], tuple[Expr, Expr]] | None = None


Rule: TypeAlias = Callable[[re.Match[str]], Operation | None]
_RULES: list[tuple[re.Pattern[str], Rule]] = []


def rule(pattern: str) -> Callable[[Rule], Rule]:
    """Puts a rule into the table, for the opcodes that match a pattern as a whole."""

    def keep(read: Rule) -> Rule:
        _RULES.append((re.compile(pattern), read))
        return read

    return keep


@lru_cache(maxsize=4096)
def operation(opcode: str, count: int) -> Operation | None:
    """What an opcode with `count` sources computes; None if this table does not say.

    >>> from swzverify.ir.expr import const
    >>> operation("shr.s32", 2).build((const(-8, 32), const(40, 32)))[0].value == 2**32 - 1
    True
    """
    for pattern, read in _RULES:
        if found := pattern.fullmatch(opcode):
            made = read(found)
            if made is not None and len(made.sources) == count:
                return made
    return None


def width_of_type(type_name: str) -> int:
    """The bits of a type that an opcode names.

    >>> width_of_type("pred"), width_of_type("s64")
    (1, 64)
    """
    return 1 if type_name == "pred" else int(re.sub(r"\D", "", type_name))


def of_one(width: int, build: Callable[[Expr], Expr]) -> Operation:
    """A source and a result of one width."""
    return Operation((width,), (width,), lambda v: (build(v[0]),))


def of_two(width: int, build: Callable[[Expr, Expr], Expr]) -> Operation:
    """Two sources and a result of one width."""
    return Operation((width,) * 2, (width,), lambda v: (build(v[0], v[1]),))


def of_three(width: int, build: Callable[[Expr, Expr, Expr], Expr]) -> Operation:
    """Three sources and a result of one width."""
    return Operation((width,) * 3, (width,), lambda v: (build(v[0], v[1], v[2]),))


LOGIC: Final = {"and": bit_and, "or": bit_or, "xor": bit_xor}
