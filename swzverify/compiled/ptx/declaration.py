"""Reads declarations: variables of every space, registers, and the parameters of functions.

Source: PTX ISA, Variables; State Spaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from swzverify.compiled.ptx.initialiser import Shape, initial_bytes
from swzverify.compiled.ptx.literals import integer
from swzverify.compiled.ptx.module import Parameter, Prototype, Symbol
from swzverify.compiled.ptx.problems import UnreadableError, excerpt, shown
from swzverify.compiled.ptx.syntax import ATTRIBUTE, BLANKS, NAME, behind_braces, compiled
from swzverify.compiled.ptx.types import Space, is_type, size_of_type

_POINTED: Final = frozenset(str(each) for each in Space)
SPACES: Final = _POINTED | {"reg", "tex"}
_WORD: Final = compiled(r"\s*+\.(\w++)")
_ALIGN: Final = compiled(r"\s*+(\w++)")
_ATTRIBUTE: Final = compiled(ATTRIBUTE)
_DECLARED: Final = compiled(rf"\s*+({NAME}|_(?![\w$]))\s*+(?:<\s*+(\w++)\s*+>\s*+)?((?:\[\s*+\w*+\s*+\]\s*+){{0,8}})")
_EXTENT: Final = compiled(r"\[\s*+(\w*+)\s*+\]")
_EQUALS: Final = compiled(r"=\s*+")
_SINGLE: Final = compiled(r"[^,;{}()]*+(?:\([^();]*+\)[^,;{}()]*+){0,99}")
_COMMA: Final = compiled(r"\s*+,")
_END: Final = compiled(r"\s*+;")
_PROTOTYPE: Final = compiled(
    rf"\s*+(?:\(([^()]*+)\)\s*+)?(?:_(?![\w$])|{NAME})\s*+(?:\(([^()]*+)\)\s*+)?(?:\.\w++\s*+(?:\d++\s*+)?){{0,99}}"
)
_LARGEST_ALIGN: Final = 1 << 20


class Head(NamedTuple):
    """The words before the names of a declaration.

    Attributes:
        linkage: The words of linkage.
        space: The state space.
        type: The type of an element.
        align_bytes: The alignment; None for that of the type.
        is_pointer: Whether it is a pointer parameter.
        pointer_space: The state space that a pointer parameter points into.
        pointer_align_bytes: The alignment of that place.
    """

    linkage: frozenset[str]
    space: str
    type: str
    align_bytes: int | None
    is_pointer: bool
    pointer_space: Space | None
    pointer_align_bytes: int | None


@dataclass(frozen=True, slots=True)
class Declared:
    """One name of a declaration.

    It has a count (`%r<40>`), extents (`[4][8]`) and the text of its initialiser.
    """

    name: str
    count: int | None
    extents: tuple[int | None, ...]
    value: str | None


def read_head(text: str, position: int) -> tuple[Head, int]:
    """The dotted words before the names, and the position after them.

    Raises:
        UnreadableError: A word is not allowed there.
    """
    linkage: set[str] = set()
    space, vector, type_name = "", "", ""
    align = pointer_align = None
    is_pointer, pointer_space = False, None
    while found := _WORD.match(text, position):
        word, position = found[1], found.end()
        if word in {"extern", "visible", "weak", "common"}:
            linkage.add(word)
        elif word == "attribute" and (skipped := _ATTRIBUTE.match(text, position)):
            position = skipped.end()
        elif word == "align" and (number := _ALIGN.match(text, position)):
            position = number.end()
            if is_pointer:
                pointer_align = _align(number[1])
            else:
                align = _align(number[1])
        elif is_pointer and word in _POINTED:
            pointer_space = Space(word)
        elif word in SPACES and not space:
            space = word
        elif word in {"v2", "v4", "v8"}:
            vector = f"{word}."
        elif word == "ptr" and type_name:
            is_pointer = True
        elif is_type(word) and not type_name:
            type_name = word
        else:
            raise UnreadableError(f"found `.{shown(word)}` in a declaration")
    if not space or not type_name:
        raise UnreadableError(f"found `{excerpt(text, position)}`, expected a space and a type before it")
    name = vector + type_name
    return Head(frozenset(linkage), space, name, align, is_pointer, pointer_space, pointer_align), position


def _align(text: str) -> int:
    value = integer(text)
    if value > _LARGEST_ALIGN or value.bit_count() != 1:
        raise UnreadableError(f"found `.align {shown(text)}`, expected a power of two")
    return value


def read_declared(text: str, position: int) -> tuple[Declared, int]:
    """One name with its count, extents and value, and where these end."""
    found = _DECLARED.match(text, position)
    if found is None:
        raise UnreadableError(f"found `{excerpt(text, position)}`, expected a name")
    extents = tuple(integer(each[1]) if each[1] else None for each in _EXTENT.finditer(found[3]))
    if None in extents[1:]:
        raise UnreadableError(f"found `{shown(found[0])}`, expected the sizes of an array")
    count = integer(found[2]) if found[2] else None
    equals = _EQUALS.match(text, found.end())
    if equals is None:
        return Declared(found[1], count, extents, None), found.end()
    begin = equals.end()
    end = behind_braces(text, begin, len(text)) if text.startswith("{", begin) else None
    if end is None and (single := _SINGLE.match(text, begin)):
        end = single.end()
    return Declared(found[1], count, extents, text[begin:end]), end or begin


def read_names(text: str, position: int) -> Iterator[tuple[Declared, int]]:
    """All names up to the semicolon, each with the position after it.

    The last position is after the semicolon.
    """
    while True:
        declared, position = read_declared(text, position)
        if end := _END.match(text, position):
            yield declared, end.end()
            return
        comma = _COMMA.match(text, position)
        if comma is None:
            raise UnreadableError(f"found `{excerpt(text, position)}`, expected `,` or `;`")
        position = comma.end()
        yield declared, position


def _shape(head: Head, declared: Declared) -> Shape:
    size = size_of_type(head.type)
    if size is None or declared.count is not None:
        raise UnreadableError(f"found `{shown(declared.name)}`, expected a variable of a type that has a size")
    vector, _, element = head.type.rpartition(".")
    if not vector:
        return Shape(element, size, declared.extents)
    count = int(vector[1:])
    return Shape(element, size // count, (*declared.extents, count))


def symbol_of(head: Head, declared: Declared, scope: int, line: int) -> Symbol:
    """The variable of a declaration; an `UnreadableError` if it cannot be a variable."""
    if head.space == "tex":  # old PTX: the same as .global .texref
        head = head._replace(space=Space.GLOBAL, type="texref")
    shape = _shape(head, declared)
    size, data, note = shape.bytes(), None, ""
    if declared.value is not None:
        data, size, note = initial_bytes(declared.value, shape)
    align = head.align_bytes or size_of_type(head.type) or 1
    is_extern = "extern" in head.linkage
    if size is None and not is_extern and head.space != Space.PARAM:
        why = f": {note}" if note else ""
        raise UnreadableError(f"found `{shown(declared.name)}[]` without a size{why}")
    return Symbol(declared.name, Space(head.space), head.type, align, size, is_extern, scope, line, data, note)


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters between the parentheses of a function, laid out in order.

    >>> [each.offset_bytes for each in read_parameters(".param .u32 a, .param .u64 b")]
    [0, 8]
    """
    found: list[Parameter] = []
    position, offset, end = 0, 0, len(text.rstrip(BLANKS))
    while position < end:
        if found:
            comma = _COMMA.match(text, position)
            if comma is None:
                raise UnreadableError(f"found `{excerpt(text, position)}`, expected `,` or `)`")
            position = comma.end()
        head, position = read_head(text, position)
        declared, position = read_declared(text, position)
        if head.space not in {"param", "reg"} or declared.value is not None or head.linkage:
            raise UnreadableError(f"found `{shown(declared.name)}`, expected a parameter")
        parameter = _parameter(head, declared, offset)
        if parameter.offset_bytes is not None:
            offset = parameter.offset_bytes + (parameter.size_bytes or 0)
        found.append(parameter)
    return tuple(found)


def read_prototype(text: str) -> Prototype:
    """The parameters and results of `.callprototype`."""
    found = _PROTOTYPE.fullmatch(text)
    if found is None:
        raise UnreadableError(f"found `{shown(text)}`, expected a prototype")
    return Prototype(read_parameters(found[2] or ""), read_parameters(found[1] or ""))


def _parameter(head: Head, declared: Declared, offset: int) -> Parameter:
    if head.space == "reg":
        size = size_of_type(head.type)
        return Parameter(declared.name, head.type, size or 1, size, None)
    shape = _shape(head, declared)
    align = head.align_bytes or size_of_type(head.type) or 1
    return Parameter(
        declared.name,
        head.type,
        align,
        shape.bytes(),
        -(-offset // align) * align,
        head.is_pointer,
        head.pointer_space,
        head.pointer_align_bytes,
    )
