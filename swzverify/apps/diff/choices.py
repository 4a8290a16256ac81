"""The values that lanes have of their own, in two accesses: fewer values are fewer choices."""

from __future__ import annotations

from swzverify.apps.diff.change import Aspect, Change
from swzverify.claims.form import Direction
from swzverify.subjects import Access, Unknown


def choice_change(before: Access, after: Access) -> Change | None:
    """What becomes of the choices; None where they are the same.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> load, chip = find_instruction("ld.shared.b32"), find_target("sm_90")
    >>> one, other = (
    ...     Access("a", load, chip, (32,), address=parse("bin*4"), unknowns=(Unknown("bin", 0, n),)) for n in (64, 128)
    ... )
    >>> choice_change(one, other).direction.value, choice_change(other, one).note
    ('stronger', 'values of bin are left out')
    """
    sides = [{each.name: each for each in access.unknowns} for access in (before, after)]
    old, new = ({name: (x.start, x.step, x.count) for name, x in side.items()} for side in sides)
    if old == new:
        return None
    was, now = ("; ".join(each.describe() for each in side.values()) or "none" for side in sides)
    what = f"values of {before.name}'s lanes"
    for name, each in sides[0].items():
        other = sides[1].get(name)
        if other is None:
            return Change(Aspect.DOMAIN, Direction.WEAKER, what, was, now, f"lanes have no {name} any more")
        if not _within(each, other):
            return Change(Aspect.DOMAIN, Direction.WEAKER, what, was, now, f"values of {name} are left out")
    return Change(Aspect.DOMAIN, Direction.STRONGER, what, was, now)


def _within(inner: Unknown, outer: Unknown) -> bool:
    """Whether the other range has every value of this one."""
    in_step = inner.count == 1 or inner.step % outer.step == 0
    first = inner.start - outer.start
    last = inner.value(inner.count - 1)
    return first >= 0 and first % outer.step == 0 and in_step and last <= outer.value(outer.count - 1)
