"""The warp instruction of an access that is drawn: the worst one, or the one that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.core.words import counted
from swzverify.errors import SwzError, nearest
from swzverify.explain.pictures.probe import priced
from swzverify.explain.pictures.words import access_words, at_words, cost_words, price_words
from swzverify.hardware import AccessCost, access_cost
from swzverify.search.costs import AccessCosts
from swzverify.subjects import Access
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop
from swzverify.subjects.loop import STAGE, WARP
from swzverify.subjects.plain_access import LaneRecord


@dataclass(frozen=True, slots=True)
class Chosen:
    """One warp instruction: its point, its lanes and its cost.

    `costs` are those of all warp instructions of the access; None if these cannot be listed.
    """

    access: Access
    point: Mapping[str, int]
    lanes: tuple[LaneRecord, ...]
    cost: AccessCost
    costs: AccessCosts | None

    @property
    def where(self) -> str:
        """Where it runs, in words."""
        return at_words(self.access.binding(self.point))

    @property
    def words(self) -> list[str]:
        """What all warp instructions cost, and what this one costs."""
        return [self.every, f"The picture shows {self.where}: {cost_words(self.cost)}."]

    @property
    def every(self) -> str:
        """What all warp instructions of the access cost."""
        if self.costs is None:
            every = "there is no total cost: a loop has no bound"
        else:
            every = f"{counted(self.costs.instructions, 'warp instruction')}, {price_words(self.costs)}"
        return f"{access_words(self.access)}; {every}."


def chosen(access: Access, at: Mapping[str, int] | None = None) -> Chosen:
    """The warp instruction at some values of the variables; without values the worst one.

    Raises:
        SwzError: SWZ581 for a variable or value that the access does not have, or no active lane there;
            those of `cost`, except for a loop without a bound.
    """
    costs = priced(access)
    if isinstance(costs, SwzError):
        if not access.is_unbounded or access.own:
            raise costs
        start, listed = {}, None
    else:
        start, listed = dict(costs.worst.most_wavefronts.point), costs
    point = {node.name: start.get(node.name, 0) for node in access.free}
    for name, value in (at or {}).items():
        _put(access, point, name, value)
    return _run(access, point, listed)


def at_point(access: Access, point: Mapping[str, int]) -> Chosen:
    """The warp instruction at a point of the engines, such as that of a counterexample.

    Its `costs` are None. Errors of `access_cost` are passed on.

    Raises:
        SwzError: SWZ581 if there is no such iteration, or no active lane there.
    """
    return _run(access, point, None)


def _run(access: Access, point: Mapping[str, int], costs: AccessCosts | None) -> Chosen:
    where = at_words(access.binding(point))
    if not access.assumed_at(point):
        raise SwzError(
            "SWZ581", f"access {access.name} has no iteration at {where}", hint="`for:` and `assume:` say which it has"
        )
    lanes = access.lanes_at(point)
    addresses = [lane.address_bytes for lane in lanes]
    if all(each is None for each in addresses):
        raise SwzError("SWZ581", f"access {access.name} has no active lane at {where}", hint="leave --at out")
    return Chosen(access, point, lanes, access_cost(access.instruction, addresses, access.target), costs)


def _put(access: Access, point: dict[str, int], name: str, value: int) -> None:
    """Set a variable by its value as people know it.

    Raises:
        SwzError: SWZ581.
    """
    found = _index(access, name, value)
    if found is None:
        known = [WARP, *(loop.name for loop in access.loops), *([STAGE] if STAGE in point else []), "base"]
        if name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}"
            raise SwzError("SWZ581", f"access {access.name} has no variable '{name}'", hint=hint)
        raise SwzError(
            "SWZ581",
            f"access {access.name}: {name} is never {value}",
            hint="; ".join([f"it has {access.warps} warps", *access.describe_loops()]),
        )
    key, index = found
    if key in point:
        point[key] = index


def _index(access: Access, name: str, value: int) -> tuple[str, int] | None:
    """The variable that a name stands for, and the place of the value in it."""
    if name == WARP:
        return (WARP, value) if 0 <= value < access.warps else None
    for loop, limit in zip(access.loops, access.loop_limits, strict=True):
        if loop.name == name:
            return _index_of_loop(loop, value, limit)
    if name == STAGE and access.tile is not None and access.stage is None:
        return (STAGE, value) if 0 <= value < access.tile.stages else None
    if name == "base":
        place = access.origin
        if place.variable is None:
            return (place.name, 0) if value == place.start_bytes else None
        index, rest = divmod(value - place.start_bytes, place.unit_bytes)
        return (place.name, index) if rest == 0 and 0 <= index < place.variable.limit else None
    return None


def _index_of_loop(loop: AnyLoop, value: int, limit: int) -> tuple[str, int] | None:
    if isinstance(loop, ListedLoop):
        return (loop.name, loop.values.index(value)) if value in loop.values else None
    index, rest = divmod(value - loop.start, loop.step)
    return (loop.name, index) if rest == 0 and 0 <= index < limit else None
