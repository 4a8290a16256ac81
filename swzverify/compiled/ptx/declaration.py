"""Reads declarations: variables of every space, registers, and the parameters of functions.

Source: PTX ISA, Variables; State Spaces.

The bytes that an initialiser gives to a variable.

Source: PTX ISA, Variables: Initializers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from swzverify.compiled.ptx.literals import bits_of, integer, plain_bytes
from swzverify.compiled.ptx.module import Parameter, Symbol
from swzverify.compiled.ptx.operand_text import read_operands
from swzverify.compiled.ptx.operands import FloatImmediate, Immediate, Operand
from swzverify.compiled.ptx.problems import MAX_DATA_CHARACTERS, UnreadableError, excerpt, shown
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
    """

    linkage: frozenset[str]
    space: str
    type: str
    align_bytes: int | None


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
    align, is_pointer = None, False
    while found := _WORD.match(text, position):
        word, position = found[1], found.end()
        if word in {"extern", "visible", "weak", "common"}:
            linkage.add(word)
        elif word == "attribute" and (skipped := _ATTRIBUTE.match(text, position)):
            position = skipped.end()
        elif word == "align" and (number := _ALIGN.match(text, position)):
            position, stated = number.end(), _align(number[1])
            align = align if is_pointer else stated
        elif is_pointer and word in _POINTED:
            continue  # behind `.ptr`, the space and the alignment are those of the place that it points to
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
    return Head(frozenset(linkage), space, vector + type_name, align), position


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


def check_prototype(text: str) -> None:
    """Refuse a `.callprototype` that cannot be read; what it says is not kept."""
    found = _PROTOTYPE.fullmatch(text)
    if found is None:
        raise UnreadableError(f"found `{shown(text)}`, expected a prototype")
    for parameters in (found[2], found[1]):
        read_parameters(parameters or "")


def _parameter(head: Head, declared: Declared, offset: int) -> Parameter:
    if head.space == "reg":
        size = size_of_type(head.type)
        return Parameter(declared.name, head.type, size or 1, size, None)
    shape = _shape(head, declared)
    align = head.align_bytes or size_of_type(head.type) or 1
    return Parameter(declared.name, head.type, align, shape.bytes(), -(-offset // align) * align)


_ITEM: Final = compiled(r"\s*+(?:([{}])|([^\s{},][^{},]*+)|(,))")
_SIMPLE: Final = compiled(r"-?[1-9]\d{0,17}|0")
_NAMED: Final = compiled(r"(?:0[xX][0-9A-Fa-f]+\s*\(|generic\s*\(|[A-Za-z_$%])")
_DEEPEST: Final = 8

ADDRESSES: Final = "it holds addresses"
LONG: Final = "its initialiser is longer than is kept"
OPAQUE: Final = "its initialiser has no bytes"


class Shape(NamedTuple):
    """The shape of an array: type of an element without the dot, bytes of one, and the extents.

    There are no extents for a scalar; None is an open extent.
    """

    type: str
    element_bytes: int
    extents: tuple[int | None, ...]

    def bytes(self, level: int = 0) -> int | None:
        """The bytes of the whole array, or of a brace at a deeper level; None if an extent is open."""
        size = self.element_bytes
        for extent in self.extents[level:]:
            if extent is None:
                return None
            size *= extent
        return size


def initial_bytes(text: str, shape: Shape) -> tuple[bytes | None, int | None, str]:
    r"""The bytes of an initialiser, the variable's size, and the reason why there are no bytes.

    The reason is empty if there are bytes. Bytes that the initialiser leaves out are zero.

    Raises:
        UnreadableError: The text is no initialiser of this shape.

    >>> initial_bytes("{1, -1}", Shape("s16", 2, (3,)))
    (b'\x01\x00\xff\xff\x00\x00', 6, '')
    """
    size = shape.bytes()
    if len(text) > MAX_DATA_CHARACTERS:
        return None, size, LONG
    text, data = text.strip(BLANKS), None
    if shape.extents and text[:1] != "{":
        raise UnreadableError(f"found `{shown(text)}`, expected an initialiser in braces")
    if shape.element_bytes == 1 and len(shape.extents) == 1 and text[:1] + text[-1:] == "{}":
        data = plain_bytes(text[1:-1])
    if data is None:
        data = _elements(text, shape)
    if isinstance(data, str):
        return None, size, data
    if size is None:
        inner = shape.bytes(1) or 1
        size = -(-len(data) // inner) * inner
    if len(data) > size:
        raise UnreadableError(f"found an initialiser of {len(data)} bytes for a variable of {size}")
    if size > MAX_DATA_CHARACTERS:
        return None, size, LONG
    return bytes(data.ljust(size, b"\0")), size, ""


def _elements(text: str, shape: Shape) -> bytearray | str:
    """The bytes of nested braces, each padded to its size; a note if an element has no bytes."""
    data = bytearray()
    starts: list[int] = []
    for sign, item in _items(text):
        if sign == "{":
            if len(starts) >= min(max(len(shape.extents), 1), _DEEPEST):
                raise UnreadableError("found an initialiser that is nested deeper than its array")
            starts.append(len(data))
        elif sign == "}":
            start, size = starts.pop(), shape.bytes(len(starts))
            if size is not None and starts:
                data.extend(bytes(max(0, min(start + size - len(data), MAX_DATA_CHARACTERS))))
        elif _NAMED.match(item):
            return OPAQUE if "=" in item else ADDRESSES
        else:
            data += _element(item, shape)
        if len(data) > MAX_DATA_CHARACTERS:
            return LONG
    return data


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Braces and elements in order, balanced, with commas between elements only."""
    position, depth, wants_comma = 0, 0, False
    while position < len(text):
        found = _ITEM.match(text, position)
        if found is None or (wants_comma and not found[3] and found[1] != "}") or (found[3] and not wants_comma):
            raise UnreadableError(f"found `{shown(text[position:])}`, expected an element of an initialiser")
        position = found.end()
        depth += {"{": 1, "}": -1}.get(found[1] or "", 0)
        wants_comma = not found[3] and found[1] != "{"
        if depth < 0:
            raise UnreadableError("found a `}` too many in an initialiser")
        if not found[3]:
            yield found[1] or "", found[2] or ""
    if depth or not wants_comma:
        raise UnreadableError("found an initialiser that does not end")


def _element(item: str, shape: Shape) -> bytes:
    """The bytes of one number; an integer that is too large loses its upper bits."""
    simple = _SIMPLE.fullmatch(item.strip(BLANKS))
    found = Immediate(int(item)) if simple else _number(item)
    size = shape.element_bytes
    if shape.type in {"f32", "f64"}:
        if isinstance(found, Immediate):
            return bits_of(float(found.value), 8 * size).to_bytes(size, "little")
        if found.width_bits == 64:  # a decimal number, or one of 64 bits for as many
            return bits_of(found.value, 8 * size).to_bytes(size, "little")
    if isinstance(found, Immediate):
        return found.value.to_bytes(16, "little", signed=True)[:size]
    if found.width_bits != 8 * size:
        raise UnreadableError(f"found `{shown(item)}` for an element of type .{shape.type}")
    return found.bits.to_bytes(size, "little")


def _number(item: str) -> Immediate | FloatImmediate:
    found = read_operands(item, _no_name)
    if len(found) == 1 and isinstance(found[0], Immediate | FloatImmediate):
        return found[0]
    raise UnreadableError(f"found `{shown(item)}`, expected a number")


def _no_name(name: str) -> Operand:
    raise UnreadableError(f"found `{shown(name)}`, expected a number")
