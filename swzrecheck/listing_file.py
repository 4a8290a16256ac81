"""The listings of a certificate's statement, read without trust."""

from __future__ import annotations

import re

from swzrecheck.compiled import Line, Listing
from swzrecheck.reader import Reader, is_list, is_number

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,4095}")
_WORKS = ("arithmetic", "other", "control", "call", "unknown")
_SLOTS = (0, 2, 3, 4)
_REGISTERS = 255


def read_listing(reader: Reader) -> Listing:
    """A listing.

    Raises:
        CertificateError: SWZ604, with the place of what has no meaning.
    """
    name = reader.text("name")
    if not _NAME.fullmatch(name):
        raise reader.refuse("name", "a name")
    return Listing(name, reader.text("target"), tuple(_line(item) for item in reader.readers("lines")))


def _line(reader: Reader) -> Line:
    work = reader.text("class")
    if work not in _WORKS:
        raise reader.refuse("class", f"one of {', '.join(_WORKS)}")
    reads = tuple(_read(reader, item) for item in reader.list("reads"))
    slots = [slot for _, slot, _ in reads if slot]
    if len(reads) > len(_SLOTS) - 1 or len(set(slots)) < len(slots):
        raise reader.refuse("reads", "at most three sources, no two in one slot,")
    writes = reader.list("writes")
    kept = tuple(item for item in writes if is_number(item) and item < _REGISTERS)
    if len(kept) < len(writes):
        raise reader.refuse("writes", "a list of registers, 0 to 254,")
    flags = [reader.number(name) for name in ("predicated", "joined", "yields")]
    if max(flags) > 1:
        raise reader.refuse("predicated", "0 or 1, as for `joined` and `yields`,")
    reader.done()
    return Line(work, reads, kept, bool(flags[0]), bool(flags[1]), bool(flags[2]))


def _read(reader: Reader, item: object) -> tuple[int, int, bool]:
    if is_list(item) and len(item) == 3:
        register, slot, marked = item
        if is_number(register) and is_number(slot) and is_number(marked):
            is_source = register < _REGISTERS and slot in _SLOTS and marked <= 1
            if is_source:
                return register, slot, bool(marked)
    raise reader.refuse("reads", "[register, slot, 0 or 1] of each source")
