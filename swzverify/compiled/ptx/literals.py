"""Numbers of PTX: integers of four bases, floating-point numbers as bits, and sums of integers.

Source: PTX ISA, Constants; Constant Expressions.
"""

from __future__ import annotations

import struct
from typing import Final

from swzverify.compiled.ptx.operands import FloatImmediate
from swzverify.compiled.ptx.problems import UnreadableError, shown
from swzverify.compiled.ptx.syntax import BLANKS, compiled

LEAST: Final = -(2**63)
MOST: Final = 2**64 - 1
WARP_SZ: Final = 32
"""Source: PTX ISA, Predefined Constants: the lanes of a warp on every target so far."""
_INTEGER: Final = compiled(r"(?:0[xX]([0-9A-Fa-f]+)|0[bB]([01]+)|(0[0-7]*)|([1-9]\d*))U?")
_BITS: Final = compiled(r"0[fF]([0-9A-Fa-f]{8})|0[dD]([0-9A-Fa-f]{16})")
_DECIMAL: Final = compiled(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_LONGEST: Final = 100
"""Characters of a number."""
_BASES: Final = (16, 2, 8, 10)
_BYTES: Final = {str(value): value for value in range(256)}


def integer(text: str) -> int:
    """The value of an integer without a sign.

    It is hexadecimal, binary, octal (a leading 0) or decimal, with or without U.

    Raises:
        UnreadableError: The text is no integer, or has more than 64 bits.

    >>> integer("0xFFU"), integer("017"), integer("0b101"), integer("42")
    (255, 15, 5, 42)
    """
    found = _INTEGER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise UnreadableError(f"found `{shown(text)}`, expected an integer")
    value = next(int(digits, base) for digits, base in zip(found.groups(), _BASES, strict=True) if digits is not None)
    if value > MOST:
        raise UnreadableError(f"`{shown(text)}` has more than 64 bits")
    return value


def plain_bytes(text: str) -> bytes | None:
    r"""The bytes that a list of decimal numbers from 0 to 255 gives; None for another text.

    >>> plain_bytes("1, 20,255"), plain_bytes("-1"), plain_bytes("017")
    (b'\x01\x14\xff', None, None)
    """
    try:
        return bytes(_BYTES[each.strip(BLANKS)] for each in text.split(","))
    except KeyError:
        return None


def floating(text: str) -> FloatImmediate | None:
    """A floating-point number from its bits (`0f3F800000`, `0d...`) or a decimal; None for other texts.

    >>> floating("0f40000000").value, floating("2.5").width_bits, floating("25")
    (2.0, 64, None)
    """
    if len(text) > _LONGEST:
        return None
    if found := _BITS.fullmatch(text):
        return FloatImmediate(int(found[1] or found[2], 16), 32 if found[1] else 64)
    if _DECIMAL.fullmatch(text):
        return FloatImmediate(bits_of(float(text), 64), 64)
    return None


def bits_of(value: float, width_bits: int) -> int:
    """The bits of a number in the format of 32 or 64 bits.

    A number that is too large for 32 bits becomes infinite.

    >>> hex(bits_of(1.0, 32))
    '0x3f800000'
    """
    if width_bits == 64:
        return int.from_bytes(struct.pack("<d", value), "little")
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


def combined(operator: str, left: int, right: int) -> int:
    """The value of `left operator right` for integers within 64 bits.

    Signed and unsigned numbers give the same result for all operators but `/` and `>>`, which therefore
    may have no negative operand. A result that does not fit is refused rather than wrapped.

    Raises:
        UnreadableError: PTX's rules differ.

    >>> combined("<<", 3, 4), combined("-", 1, 2)
    (48, -1)
    """
    match operator:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "&":
            value = left & right
        case "|":
            value = left | right
        case "^":
            value = left ^ right
        case "<<" if 0 <= right < 64:
            value = left << right
        case ">>" if 0 <= right < 64 and left >= 0:
            value = left >> right
        case "/" if left >= 0 and right > 0:
            value = left // right
        case _:
            raise UnreadableError(f"a constant expression with `{operator}` of {left} and {right} is not read")
    if not LEAST <= value <= MOST:
        raise UnreadableError(f"`{left} {operator} {right}` has more than 64 bits")
    return value
