"""The text of a PTX file without its comments, every line on its old line; and careful file reading.

A file may come from a stranger: a file that is not regular, is too large, or is not UTF-8 text is
refused before anything else reads it.
"""

from __future__ import annotations

import os
import re
from typing import Final

from swzverify.compiled.ptx.problems import MAX_BYTES, MAX_COMMENTS, PtxError
from swzverify.compiled.ptx.syntax import COMMENT
from swzverify.core.regular_file import NotRegularError, read_regular

_MAGIC: Final = (
    (b"\x7fELF", "a cubin or another ELF file"),
    (b"\x50\xed\x55\xba", "a fatbin"),
    (b"\xba\x55\xed\x50", "a fatbin"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"\x28\xb5\x2f\xfd", "compressed data"),
    (b"\x1f\x8b", "compressed data"),
    (b"PK\x03\x04", "compressed data"),
)
_HINT: Final = "nvcc --ptx writes PTX; cuobjdump --extract-ptx all takes it out of a program or library"


def without_comments(text: str, name: str) -> str:
    r"""The text with each comment as a blank, and with plain line ends; strings stay.

    A `PtxError`: SWZ531 for zero bytes, SWZ532 for a comment without an end, SWZ533 for more than
    32 Mi characters.

    >>> without_comments("ret; // done\r\n/* 1\n2 */ exit;", "k.ptx")
    'ret;  \n\n exit;'
    """
    if len(text) > MAX_BYTES:
        raise _too_large(name)
    text = text.removeprefix("\ufeff").rstrip("\0")  # NVRTC counts the zero byte behind the text
    zero = text.find("\0")
    if zero >= 0:
        line = text.count("\n", 0, zero) + 1
        raise PtxError("SWZ531", "not text: it holds zero bytes", hint=_HINT, line=line, name=name)
    if text.count('"') + text.count("//") + text.count("/*") > MAX_COMMENTS:
        message = f"found more than {MAX_COMMENTS} comments and strings"
        raise PtxError("SWZ533", message, line=0, name=name)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")

    def replaced(found: re.Match[str]) -> str:
        comment = found[0]
        if comment[0] == '"':
            return comment
        if comment[1] == "/":
            return " "
        if len(comment) < 4 or not comment.endswith("*/"):
            line = text.count("\n", 0, found.start()) + 1
            raise PtxError("SWZ532", "found a comment `/*` without its `*/`", line=line, name=name)
        return "\n" * comment.count("\n") or " "

    return COMMENT.sub(replaced, text)


def text_of_file(path: str | os.PathLike[str]) -> str:
    """The text of a regular file of at most 32 MiB.

    Raises:
        PtxError: SWZ531 or SWZ533, with the reason why it cannot be read.
    """
    name = os.fspath(path)
    data = _bytes_of(path, name)
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise PtxError("SWZ531", f"this is {what}", hint=_HINT, line=0, name=name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise PtxError("SWZ531", message, hint=_HINT, line=line, name=name) from None


def _bytes_of(path: str | os.PathLike[str], name: str) -> bytes:
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except NotRegularError as error:
        raise PtxError("SWZ531", str(error), hint="name a PTX file", line=0, name=name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PtxError("SWZ531", f"cannot be read: {reason}", line=0, name=name) from None
    if len(data) > MAX_BYTES:
        raise _too_large(name)
    return data


def _too_large(name: str) -> PtxError:
    message = f"larger than {MAX_BYTES // 1024**2} MiB, which is more than is read"
    return PtxError("SWZ533", message, hint="take the kernels apart with cuobjdump --extract-ptx", line=0, name=name)
