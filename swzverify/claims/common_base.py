"""Where two subjects lie when a claim compares them."""

from __future__ import annotations

from swzverify.errors import SwzError
from swzverify.subjects import Access, AlignedBase, Base, MemoryBase
from swzverify.subjects.memory import ADDRESS_LIMIT_BYTES, Origin, base_text, origin
from swzverify.subjects.phase import Phase


def _is_fixed(base: Base) -> bool:
    return origin(base).count == 1


def related(first: Base, other: Base) -> bool:
    """Whether two bases are known relative to each other: both fixed, or in one memory.

    Raises:
        SwzError: SWZ105 if two memories of one name are not the same memory.
    """
    if isinstance(first, MemoryBase) and isinstance(other, MemoryBase) and first.memory.name == other.memory.name:
        if first.memory != other.memory:
            raise SwzError(
                "SWZ105",
                f"two memories are called {first.memory.name}: {first.memory} and {other.memory}",
                hint="place both in one Memory, or give the memories names of their own",
            )
        return True
    return _is_fixed(first) and _is_fixed(other)


def refuse_moved(kind: str, *subjects: object) -> None:
    """Refuse an access that was moved.

    The claim sets the base of its subjects itself, so its proof would be about another base.

    Raises:
        SwzError: SWZ105.
    """
    for each in subjects:
        if isinstance(each, Access) and each.place is not None:
            raise SwzError(
                "SWZ105",
                f"{kind}: access {each.name} was moved to {each.place.describe()}, and this claim sets the base itself",
                hint="claim it of the access that was not moved; its base is that of its tile, or `base=`",
            )


def check_comparable(first: Base, other: Base, what: str) -> None:
    """Refuse a comparison of two places if nothing says how they lie to each other.

    Two open alignments are fine: both subjects are then put at one common base.
    """
    if related(first, other) or (isinstance(first, AlignedBase) and isinstance(other, AlignedBase)):
        return
    raise SwzError(
        "SWZ105",
        f"{what}: {base_text(first)} and {base_text(other)} are not related to each other",
        hint="place both in one memory, or give both `base: {align: n}` for a common base",
    )


def check_bases_of_phase(kind: str, phase: Phase) -> None:
    """Refuse accesses of which nothing says whether they go to the same bytes.

    Raises:
        SwzError: SWZ105.
    """
    tiles = {run.access: run.access.tile if run.proxy is None else run.proxy.tile for _, run in phase.runs}
    accesses = list(tiles)
    for at, first in enumerate(accesses):
        for other in accesses[:at]:
            if tiles[first] is not None and tiles[first] is tiles[other] and first.origin == other.origin:
                continue
            bases = [each.base if each.tile is None else each.tile.base for each in (other, first)]
            if not related(*bases):
                told = " and ".join(
                    f"{each.name} ({base_text(base)})" for each, base in zip((other, first), bases, strict=True)
                )
                raise SwzError(
                    "SWZ105",
                    f"{kind}: nothing says how the arrays of {told} lie to each other",
                    hint="place both in one memory, `base: {in: smem, offset: n}`; or state a phase for each array",
                )


def common_origins(first: Base, other: Base, align_bytes: int = 1) -> tuple[Origin, Origin]:
    """The bases as given where they are related, else one common base of the larger alignment.

    `align_bytes` restricts the open base further, to multiples of it.

    >>> common_origins(AlignedBase(128), AlignedBase(1024))[0]
    Origin(start_bytes=0, unit_bytes=1024, count=16384, name='base')
    """
    check_comparable(first, other, "a comparison")
    a, b = origin(first), origin(other)
    if a.count == b.count == 1:
        return a, b
    unit = max(a.unit_bytes, b.unit_bytes, align_bytes)
    count = ADDRESS_LIMIT_BYTES // unit
    return Origin(a.start_bytes, unit, count), Origin(b.start_bytes, unit, count)


def origin_text(place: Origin) -> str:
    """A common base in words."""
    if place.count == 1:
        return f"base {place.start_bytes}"
    plus = f" plus {place.start_bytes}" if place.start_bytes else ""
    return f"any common base that is a multiple of {place.unit_bytes}{plus}"


def open_alignment(first: Base, other: Base) -> int | None:
    """The alignment of the common open base; None when it is fixed."""
    a, _ = common_origins(first, other)
    return None if a.count == 1 else a.unit_bytes
