"""The bytes that an initialiser gives to a variable.

Source: PTX ISA, Variables: Initializers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from swzverify.compiled.ptx.literals import bits_of, plain_bytes
from swzverify.compiled.ptx.operand_text import read_operands
from swzverify.compiled.ptx.operands import FloatImmediate, Immediate, Operand
from swzverify.compiled.ptx.problems import MAX_DATA_CHARACTERS, UnreadableError, shown
from swzverify.compiled.ptx.syntax import BLANKS, compiled

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
