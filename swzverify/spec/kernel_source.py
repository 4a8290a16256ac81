"""Kernel sources as files: their text, and a quick look whether they hold a contract at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from swzverify.spec.guard import plain_lines, read_bytes
from swzverify.spec.problems import Problems
from swzverify.spec.sources.languages import MAX_SOURCE_BYTES, SOURCE_SUFFIXES, language_of

_CHUNK_BYTES = 2**20
_LONGEST_MARKER_BYTES = 64


def read_source(path: Path, problems: Problems) -> str | None:
    """A kernel source's text with plain line ends, or None: SWZ101, SWZ107 in `problems`.

    Comments in an old encoding do no harm: bytes that are not UTF-8 are refused only within a
    contract.
    """
    data = read_bytes(path, problems, SOURCE_SUFFIXES, MAX_SOURCE_BYTES)
    if data is not None and b"\0" in data:
        problems.add("SWZ101", "not text in UTF-8: it holds zero bytes", None, "save the file in UTF-8")
        return None
    return None if data is None else plain_lines(data.decode("utf-8-sig", "surrogateescape"))


def holds_contract(path: str | Path) -> bool:
    """Whether a file is a kernel source with anything like a marker, which `load_spec` then judges.

    A file that cannot be opened counts too: `load_spec` reports it. Pipes, sockets and devices do not.
    """
    if language_of(path) is None:
        return False
    from swzverify.spec.sources.blocks import may_hold_blocks  # noqa: PLC0415 - most folders hold no sources

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            kept = b""
            while more := file.read(_CHUNK_BYTES):
                if may_hold_blocks(kept + more):
                    return True
                kept = more[-_LONGEST_MARKER_BYTES:]
    except OSError:
        return True
    return False
