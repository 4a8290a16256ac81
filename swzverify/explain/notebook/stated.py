"""The Python arguments of an access, as its objects: the block, the loops and the expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from swzverify.errors import SwzError
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import expression
from swzverify.ir.whole import required, whole
from swzverify.subjects import Loop
from swzverify.subjects.listed_loop import AnyLoop, listed

Threads: TypeAlias = "int | tuple[int, ...]"
Loops: TypeAlias = "Mapping[str, int | Sequence[int]]"
Expressions: TypeAlias = "Sequence[str | int | CFormula]"

_Value = TypeVar("_Value")
_COORD = 'one C expression or int per mode, such as coord=["lane", 0]'


def block_of(threads: Threads) -> tuple[int, ...]:
    """The block as its extents.

    Raises:
        SwzError: SWZ105 if the value is neither an int nor a tuple of up to three.

    >>> block_of(128), block_of((32, 4))
    ((128,), (32, 4))
    """
    extents = cast("tuple[object, ...]", threads) if isinstance(threads, tuple) else (threads,)
    block = tuple(found for each in extents if (found := whole(each)) is not None)
    if not 1 <= len(extents) <= 3 or len(block) < len(extents):
        raise SwzError("SWZ105", f"threads={threads!r}: an int, or a tuple of up to three", hint="threads=128")
    return block


def loop_of(name: str, values: int | Sequence[int]) -> AnyLoop:
    """`for (name = 0; name < values; ++name)`, or over the range, or over a list of values.

    Raises:
        SwzError: SWZ105 if the value is none of the three; those of the loops.

    >>> loop_of("k", range(0, 64, 16)), loop_of("i", 4)
    (Loop(name='k', start=0, stop=64, step=16), Loop(name='i', start=0, stop=4, step=1))
    """
    if isinstance(values, range):
        if values.step < 1:
            raise SwzError("SWZ105", f"loop {name} has the step {values.step}: at least 1")
        return Loop(name, values.start, values.stop, values.step)
    if isinstance(values, list | tuple):
        numbers = [whole(value) for value in values]
        if None not in numbers:
            return listed(name, cast("list[int]", numbers))
    count = whole(values)
    if count is None:
        hint = "range(0, 64, 16), or [1, 2, 4]"
        raise SwzError("SWZ105", f"loop {name}: {values!r} is neither an int nor a range nor a list of ints", hint=hint)
    return Loop(name, 0, count)


def loops_of(loops: Loops | None) -> tuple[AnyLoop, ...]:
    """The loops by their names, the outermost first.

    Raises:
        SwzError: SWZ105 if they are no mapping.
    """
    given = _mapping("loops", loops, 'loops={"k": range(0, 64, 16)}')
    return tuple(loop_of(name, values) for name, values in given.items())


def expressions_of(coord: Expressions) -> tuple[CFormula, ...]:
    """The coordinate, one C expression per mode.

    Errors of expressions are passed on.

    Raises:
        SwzError: SWZ105 if the coordinate is no list of expressions and ints.

    >>> [str(each) for each in expressions_of(["lane", 0])]
    ['lane', '0']
    """
    if not isinstance(coord, list | tuple):
        raise SwzError("SWZ105", f"coord={coord!r} ({type(coord).__name__}) is no list or tuple", hint=_COORD)
    return tuple(expression_of(each, f"coord={coord!r}") for each in cast("Expressions", coord))


def expression_of(value: str | int | CFormula, where: str) -> CFormula:
    """One C expression.

    Raises:
        SwzError: SWZ105 if the value is neither text nor an int; those of expressions.
    """
    if isinstance(value, str | CFormula):
        return expression(value) if isinstance(value, str) else value
    number = whole(value)
    if number is None:
        raise SwzError("SWZ105", f"{where}: {value!r} is neither a C expression nor an int", hint=_COORD)
    return expression(number)


def constants_of(constants: Mapping[str, int] | None) -> dict[str, int]:
    """The constants by their names.

    Raises:
        SwzError: SWZ105 if they are no mapping, SWZ202 for a value that is no int.
    """
    given = _mapping("constants", constants, 'constants={"BM": 64}')
    return {name: required(value, f"the constant {name}") for name, value in given.items()}


def _mapping(what: str, given: Mapping[str, _Value] | None, such: str) -> Mapping[str, _Value]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise SwzError("SWZ105", f"{what}={given!r} ({type(given).__name__}) is no mapping", hint=f"such as {such}")
    return given
