"""Whether a subject may still lie wherever it could: bases as sets of addresses."""

from __future__ import annotations

from math import gcd, lcm

from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.hardware import BANK_PERIOD_BYTES
from swzverify.subjects import Base, Tile
from swzverify.subjects.memory import Origin, base_text, origin


def period_bytes(tiles: tuple[Tile, ...], elements: int = 1) -> int:
    """Bytes by which everything may move without any claim on these tiles seeing it.

    A whole turn of the banks, the reach of every address swizzle, and vectors of so many elements.

    >>> from swzverify.layout import Layout, Swizzle
    >>> period_bytes((Tile("A", 16, Layout(64, 1), Swizzle(3, 4, 3), "address"),))
    1024
    """
    spans = [tile.address_swizzle.span for tile in tiles if tile.address_swizzle is not None]
    vectors = [max(1, elements * tile.element_bits // 8) for tile in tiles]
    return lcm(BANK_PERIOD_BYTES, *spans, *vectors)


def base_change(before: Base, after: Base, name: str, period: int | None) -> Change | None:
    """The change of a base; None if it is the same.

    Without a period, only a base that includes every old address is no loss.

    >>> from swzverify.subjects import AlignedBase, FixedBase
    >>> bases = (AlignedBase(1024), AlignedBase(16), FixedBase(0))
    >>> [base_change(AlignedBase(128), after, "A", 128).direction.value for after in bases]
    ['weaker', 'stronger', 'weaker']
    """
    if before == after or (origin(before) == origin(after) and base_text(before) == base_text(after)):
        return None
    way, note = _way(before, after, period)
    return Change(Aspect.DOMAIN, way, f"base of {name}", base_text(before), base_text(after), note)


def _way(before: Base, after: Base, period: int | None) -> tuple[Direction, str]:
    old, new = origin(before), origin(after)
    if new.count == 1 and old.count > 1:
        return Direction.WEAKER, "one address in place of many"
    if new.count > 1 and old.count > 1 and old.unit_bytes % new.unit_bytes:
        return Direction.WEAKER, "fewer addresses"
    moved = old.start_bytes - new.start_bytes
    if not (_all_among(old, new) or (period is not None and _alike(moved, new, period))):
        return Direction.WEAKER, f"moved by {abs(moved)} bytes, to where the claim says nothing of the old place"
    wider = new.count > 1 and (old.count == 1 or new.unit_bytes < old.unit_bytes)
    return (Direction.STRONGER if wider else Direction.NEITHER), ""


def _all_among(old: Origin, new: Origin) -> bool:
    """Whether every old address is a new one, if old distances are multiples of the new ones."""
    first = old.start_bytes - new.start_bytes
    last = first + old.unit_bytes * (old.count - 1)
    return first >= 0 and first % new.unit_bytes == 0 and last <= new.unit_bytes * (new.count - 1)


def _alike(moved: int, new: Origin, period: int) -> bool:
    """Whether a new address lies a multiple of the period from every old one."""
    if new.count == 1:
        return moved % period == 0
    enough = new.unit_bytes * new.count >= 2 * lcm(period, new.unit_bytes)
    return enough and moved % gcd(new.unit_bytes, period) == 0
