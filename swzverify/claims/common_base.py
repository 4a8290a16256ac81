"""Where two subjects lie when a claim compares them."""

from __future__ import annotations

from swzverify.subjects import Base, MemoryBase
from swzverify.subjects.memory import ADDRESS_LIMIT_BYTES, Origin, origin


def _memory(base: Base) -> str | None:
    return base.memory.name if isinstance(base, MemoryBase) else None


def _is_fixed(base: Base) -> bool:
    return origin(base).count == 1


def related(first: Base, other: Base) -> bool:
    """Whether two bases are known relative to each other: both fixed, or in one memory."""
    if _is_fixed(first) and _is_fixed(other):
        return True
    return _memory(first) is not None and _memory(first) == _memory(other)


def common_origins(first: Base, other: Base, align_bytes: int = 1) -> tuple[Origin, Origin]:
    """The bases for a comparison: as given when they are related, else one common base of the larger alignment.

    `align_bytes` restricts the open base further, to multiples of it.

    >>> from swzverify.subjects import AlignedBase
    >>> common_origins(AlignedBase(128), AlignedBase(1024))[0]
    Origin(start_bytes=0, unit_bytes=1024, count=16384, name='base')
    """
    a, b = origin(first), origin(other)
    if not related(first, other):
        if _is_fixed(first):
            return a, a
        if _is_fixed(other):
            return b, b
        unit = max(a.unit_bytes, b.unit_bytes)
        a = b = Origin(0, unit, ADDRESS_LIMIT_BYTES // unit)
    if a.count == 1:
        return a, b
    unit = max(a.unit_bytes, align_bytes)
    count = ADDRESS_LIMIT_BYTES // unit
    return Origin(a.start_bytes, unit, count), Origin(b.start_bytes, unit, count)


def open_alignment(first: Base, other: Base) -> int | None:
    """The alignment of the common open base; None when it is fixed."""
    a, _ = common_origins(first, other)
    return None if a.count == 1 else a.unit_bytes
