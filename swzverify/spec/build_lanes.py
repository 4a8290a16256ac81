"""From `lanes:` of an access to its unknowns, in one case of the constants."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from swzverify.spec.lane_models import LaneBitsPart, LaneRangePart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Unknown
from swzverify.subjects.loop import RESERVED_NAMES

MAX_BITS = 32


def build_unknowns(
    part: Mapping[str, int | str | LaneRangePart | LaneBitsPart], values: Values, loops: Collection[str]
) -> tuple[Unknown, ...]:
    """The unknowns of an access.

    Raises:
        Broken: Something is wrong with one; the problem is noted before.
    """
    return tuple(_unknown(name, value, values, loops) for name, value in part.items())


def _unknown(
    name: str, value: int | str | LaneRangePart | LaneBitsPart, values: Values, loops: Collection[str]
) -> Unknown:
    where = values.key("lanes", name)
    hint = "give the lanes' value another name"
    if name in loops:
        values.fail("SWZ105", f"'{name}' is a loop's name already", where, hint)
    elif not values.refuse_taken(name, where, RESERVED_NAMES, hint) and value == "any":
        message = "'any' does not say how large a lane's value can be"
        hint = "give the number of values, or the bits of what is read: {bits: 8}"
        values.fail("SWZ105", message, values.at("lanes", name), hint)
        raise Broken
    start, step = 0, 1
    if isinstance(value, LaneBitsPart):
        stop = 1 << values.number(value.bits, "lanes", name, "bits", least=1, most=MAX_BITS)
    elif isinstance(value, LaneRangePart):
        start = values.number(value.start, "lanes", name, "start")
        stop = values.number(value.stop, "lanes", name, "stop")
        step = values.number(value.step, "lanes", name, "step", least=1)
    else:
        stop = values.number(value, "lanes", name, least=1)
    with values.noted(values.at("lanes", name)):
        return Unknown(name, start, stop, step)
    raise Broken
