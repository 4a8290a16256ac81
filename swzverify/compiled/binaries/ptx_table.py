"""The PTX that a cubin says it was made of, and whether a PTX text is that one.

With -lineinfo ptxas keeps the text in `.nv_debug_ptx_txt`, with a zero byte behind each line and
without comments, `.loc`, `.file` and debug data. The table of lines has line numbers of this text.

A cubin may come from a stranger: every number in it is checked.
"""

from __future__ import annotations

import re
import struct
from itertools import zip_longest
from typing import Final

_SECTION: Final = ".nv_debug_ptx_txt"
_COMMENTS: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DROPPED: Final = (".loc", ".file", ".section", ".b8", ".b16", ".b32", ".b64")
"""Directives of a PTX text that the cubin's copy does not have."""
_BEGIN: Final = ".version"


def ptx_of_cubin(data: bytes) -> str | None:
    """The PTX text in a cubin; None where it was built without -lineinfo."""
    held = section_of(data, _SECTION)
    text = None if held is None else held.decode("utf-8", "replace").replace("\0", "\n")
    return text if text is not None and _BEGIN in text else None


def shift_between(text: str, held: str) -> int | None:
    r"""What to add to a line of a cubin's PTX to get the same line of a text.

    None if the cubin was made of another text.

    >>> held = "\n.version 9.0\n.target sm_90\n\nret;\n"
    >>> shift_between(".version 9.0\n.target sm_90\n.loc 1 2 3\nret; // done\n", held)
    -1
    >>> shift_between(".version 9.0\n.target sm_90\n.loc 1 2 3\nexit;\n", held) is None
    True
    """
    mine, other = _lines(text), _lines(held)
    first, second = _begin(mine), _begin(other)
    if first is None or second is None:
        return None
    for line, kept in zip_longest(mine[first:], other[second:], fillvalue=""):
        if line != kept and not (kept == "" and line.startswith(_DROPPED)):
            return None
    return first - second


def _lines(text: str) -> list[str]:
    plain = _COMMENTS.sub(lambda found: " " + "\n" * found[0].count("\n"), text.replace("\r\n", "\n"))
    return [" ".join(line.split()) for line in plain.split("\n")]


def _begin(lines: list[str]) -> int | None:
    return next((number for number, line in enumerate(lines) if line.startswith(_BEGIN)), None)


_HEADER: Final = 64
_ROW: Final = 64
_MOST_SECTIONS: Final = 100_000
_COMPRESSED: Final = 0x800
"""SHF_COMPRESSED. Source: System V ABI, Sections: sh_flags."""
_NO_BITS: Final = 8


def section_of(data: bytes, wanted: str) -> bytes | None:
    r"""The bytes of a section of a 64-bit little-endian ELF file.

    None if there is no such section, or if the file is not of that kind.

    >>> section_of(b"\x7fELF", ".text") is None
    True
    """
    if len(data) < _HEADER or data[:6] != b"\x7fELF\x02\x01":
        return None
    (begin,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    if size != _ROW or count > _MOST_SECTIONS or names >= count or begin + count * _ROW > len(data):
        return None
    table = _content(data, begin, names)
    name = wanted.encode() + b"\0"
    if table is None:
        return None
    for number in range(count):
        (at,) = struct.unpack_from("<I", data, begin + number * _ROW)
        if table[at : at + len(name)] == name:
            return _content(data, begin, number)
    return None


def _content(data: bytes, begin: int, number: int) -> bytes | None:
    _, kind, flags, _, offset, size = struct.unpack_from("<IIQQQQ", data, begin + number * _ROW)
    if kind == _NO_BITS or flags & _COMPRESSED or offset + size > len(data):
        return None
    return data[offset : offset + size]
