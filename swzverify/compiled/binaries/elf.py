"""One section of a cubin. A file from a stranger is read: every number in it is checked."""

from __future__ import annotations

import struct
from typing import Final

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
