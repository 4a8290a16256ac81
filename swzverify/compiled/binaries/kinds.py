"""What a file is, by its first bytes; only for text does the name count."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from swzverify.core.regular_file import NotRegularError, read_regular
from swzverify.errors import SwzError, graphic

_HEAD_BYTES: Final = 1 << 16
_CUDA_MACHINE: Final = 190
"""EM_CUDA, of an ELF file that is machine code of a GPU. Source: the ELF registry of machines."""
_CONTAINERS: Final = (
    (b"\x50\xed\x55\xba", "fatbin"),
    (b"!<arch>\n", "static library"),
    (b"MZ", "Windows program or library"),
)
_SOURCES: Final = (".cu", ".cuh")
_COMMENTS: Final = re.compile(rb"(?:\s|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*")


class Kind(StrEnum):
    """What to do with a file.

    - `PTX`: text, read as it is.
    - `SOURCE`: CUDA C++, for nvcc.
    - `BINARY`: a file that may hold PTX, for cuobjdump.
    """

    PTX = "ptx"
    SOURCE = "source"
    BINARY = "binary"


def kind_of(path: str) -> tuple[Kind, str]:
    r"""The kind of a file, and the kind in words.

    Raises:
        SwzError: SWZ531 if it is no regular file or cannot be opened.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
    ...     _ = file.write(b"\x7fELF" + bytes(60))
    ...     _ = file.seek(0)
    ...     kind_of(file.name)
    (<Kind.BINARY: 'binary'>, 'ELF file')
    """
    head = _head(path)
    if head.startswith(b"\x7fELF"):
        # e_machine, 2 bytes at 18, in the order of bytes that byte 5 says.
        machine = int.from_bytes(head[18:20], "big" if head[5:6] == b"\x02" else "little")
        return Kind.BINARY, "cubin" if machine == _CUDA_MACHINE else "ELF file"
    for magic, words in _CONTAINERS:
        if head.startswith(magic):
            return Kind.BINARY, words
    if path.lower().endswith(_SOURCES) and not _is_ptx(head):
        return Kind.SOURCE, "CUDA source"
    return Kind.PTX, "PTX"


def _is_ptx(head: bytes) -> bool:
    plain = head.removeprefix(b"\xef\xbb\xbf")
    comments = _COMMENTS.match(plain)
    return comments is not None and plain.startswith(b".version", comments.end())


def _head(path: str) -> bytes:
    shown = graphic(path)
    try:
        return read_regular(path, _HEAD_BYTES)
    except NotRegularError as error:
        hint = "give a file that holds compiled kernels"
        raise SwzError("SWZ531", f"{shown}: not a regular file", hint=hint) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SwzError("SWZ531", f"{shown}: cannot be read: {reason}") from error
