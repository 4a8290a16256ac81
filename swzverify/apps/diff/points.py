"""Whether one access runs wherever another does: threads, loops and conditions as point sets.

Loops that no condition mentions are compared as ranges; the others, with the threads, by evaluating
the conditions at every point, up to 2^20. Where neither shows anything the answer is None, which
counts as "no".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from swzverify.apps.diff.canonical import spelled
from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import parse
from swzverify.subjects import Access
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop
from swzverify.subjects.plain_access import thread_names

MAX_POINTS = 1 << 20
TID = "tid"
Array = NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Cover:
    """Whether every point of one access is one of another (None: unclear); the point or reason."""

    holds: bool | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Axis:
    """A loop as the values that it takes; an unbounded one takes them up to its limit.

    With `listed` these are the values, and start and step say nothing.
    """

    start: int
    step: int
    count: int
    listed: tuple[int, ...] = ()

    @staticmethod
    def of(access: Access, loop: AnyLoop) -> _Axis:
        if isinstance(loop, ListedLoop):
            return _Axis(loop.value(0), 1, loop.count, loop.values)
        return _Axis(loop.start, loop.step, access.loop_limits[access.loops.index(loop)])

    @property
    def steps(self) -> tuple[object, ...]:
        """What the values are, apart from how many there are."""
        return (self.listed,) if self.listed else (self.start, self.step)

    @property
    def last(self) -> int:
        return self.listed[-1] if self.listed else self.start + self.step * (self.count - 1)

    def values(self) -> Array:
        if self.listed:
            return np.asarray(self.listed, dtype=np.int64)
        return self.start + self.step * np.arange(min(self.count, MAX_POINTS), dtype=np.int64)

    def has(self, values: Array) -> NDArray[np.bool_]:
        if self.listed:
            return np.isin(values, self.listed)
        return (values >= self.start) & (values <= self.last) & ((values - self.start) % self.step == 0)

    def within(self, other: _Axis) -> bool:
        """Whether the other takes every value of this."""
        if self.count == 0:
            return True
        if self.listed or other.listed:
            return self.count <= max(MAX_POINTS, len(other.listed)) and bool(other.has(self.values()).all())
        in_step = (self.start - other.start) % other.step == 0 and (self.count == 1 or self.step % other.step == 0)
        return self.start >= other.start and in_step and self.last <= other.last


@dataclass(frozen=True, slots=True)
class _Pair:
    """A loop of the one access and its counterpart in the other."""

    name: str
    other_name: str
    axis: _Axis
    other: _Axis


def cover(inner: Access, outer: Access) -> Cover:
    """Whether the outer access runs, in some thread and iteration, wherever the inner one does.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> load, chip = find_instruction("ld.shared.b32"), find_target("sm_90")
    >>> one, other = (Access("a", load, chip, (n,), address=parse("tid*4")) for n in (64, 128))
    >>> cover(one, other), cover(other, one)
    (Cover(holds=True, note=''), Cover(holds=False, note='tid = 64 is left out'))
    """
    if 0 in inner.loop_limits:
        return Cover(holds=True)
    pairs, gone, added = _paired(inner, outer)
    for loop in gone:
        if _Axis.of(inner, loop).count != 1:
            return Cover(holds=False, note=f"there is no loop {loop.name} any more")
    for loop in added:
        if loop.name in _names(_conditions(outer)):
            return Cover(holds=None, note=f"a condition reads the new loop {loop.name}")
        if _Axis.of(outer, loop).count == 0:
            return Cover(holds=False, note=f"the new loop {loop.name} never runs")
    if not outer.iterations.all_exist and not _exist_alike(inner, outer, pairs):
        return Cover(holds=None, note="nothing tells which iterations of its unbounded loops exist")
    apart = [pair for pair in pairs if not pair.axis.within(pair.other)]
    if inner.threads <= outer.threads and not apart and _no_stricter(inner, outer, pairs):
        return Cover(holds=True)
    own = {each.name for access in (inner, outer) for each in access.unknowns}
    if own & (_names(_conditions(inner)) | _names(_conditions(outer))):
        return Cover(holds=None, note="a condition reads values of the lanes' own")
    return _by_points(inner, outer, pairs, gone, apart)


def _by_points(inner: Access, outer: Access, pairs: list[_Pair], gone: list[AnyLoop], apart: list[_Pair]) -> Cover:
    """The answer from every point of the threads, and of the loops that a condition reads."""
    reads, other_reads = _names(_conditions(inner)), _names(_conditions(outer))
    read = [pair for pair in pairs if pair.name in reads or pair.other_name in other_reads]
    if inner.threads * prod(pair.axis.count for pair in read) > MAX_POINTS:
        return Cover(holds=None, note=f"there are more than {MAX_POINTS} points to compare")
    axes = {TID: np.arange(inner.threads, dtype=np.int64), **{pair.name: pair.axis.values() for pair in read}}
    fixed = {loop.name: loop.value(0) for loop in gone}
    active = _active(inner, axes, fixed, {})
    if not active.any():
        return Cover(holds=True)
    unread = [pair for pair in apart if pair not in read]
    if unread:
        return Cover(holds=False, note=f"values of {unread[0].name} are left out")
    kept = {TID: axes[TID] < outer.threads, **{pair.name: pair.other.has(axes[pair.name]) for pair in read}}
    inside = np.ones(active.shape, dtype=np.bool_)
    for index, keep in enumerate(kept.values()):
        inside &= _along(keep, index, len(kept))
    left_out = active & ~inside
    if left_out.any():
        return Cover(holds=False, note=_point(axes, left_out))
    some = {name: values[kept[name]] for name, values in axes.items()}
    renamed = {pair.name: pair.other_name for pair in read}
    both = active[np.ix_(*kept.values())]
    left_out = both & ~_active(outer, some, {}, renamed)
    return Cover(holds=False, note=_point(some, left_out)) if left_out.any() else Cover(holds=True)


def _point(axes: Mapping[str, Array], left_out: NDArray[np.bool_]) -> str:
    """The first point that is left out, in words."""
    first = np.argwhere(left_out)[0]
    values = ", ".join(f"{name} = {axis[at]}" for (name, axis), at in zip(axes.items(), first, strict=True))
    return f"{values} is left out"


def _along(values: NDArray[Scalar], index: int, axes: int) -> NDArray[Scalar]:
    """Values along one of so many axes, for numpy to spread over the others."""
    return values.reshape([-1 if index == at else 1 for at in range(axes)])


def _environment(
    access: Access, axes: Mapping[str, Array], renamed: Mapping[str, str] | None = None
) -> dict[str, int | Array]:
    """What each name stands for, over the product of the axes."""
    env: dict[str, int | Array] = dict(access.constants)
    for index, (name, values) in enumerate(axes.items()):
        column = _along(values, index, len(axes))
        env |= thread_names(access, column) if name == TID else {(renamed or {}).get(name, name): column}
    return env


def _active(
    access: Access, axes: Mapping[str, Array], fixed: Mapping[str, int], renamed: Mapping[str, str]
) -> NDArray[np.bool_]:
    """Where the access's conditions hold, over the product of the axes."""
    shape = tuple(values.size for values in axes.values())
    env = _environment(access, axes, renamed) | dict(fixed)
    holds = np.ones(shape, dtype=np.bool_)
    if 0 not in shape:
        for condition in _conditions(access):
            holds &= condition.within(env)[0] != 0
    return holds


def _conditions(access: Access) -> tuple[CFormula, ...]:
    return (*access.assume, *(() if access.predicate is None else (access.predicate,)))


def _names(conditions: Sequence[CFormula]) -> frozenset[str]:
    return frozenset[str]().union(*(each.names for each in conditions))


def _paired(inner: Access, outer: Access) -> tuple[list[_Pair], list[AnyLoop], list[AnyLoop]]:
    """Pairs of loops: of one name, then in their order; and the loops left on either side."""
    others = {loop.name: loop for loop in outer.loops}
    mine = {loop.name for loop in inner.loops}
    gone = [loop for loop in inner.loops if loop.name not in others]
    added = [loop for loop in outer.loops if loop.name not in mine]
    matched = [(loop, others[loop.name]) for loop in inner.loops if loop.name in others]
    if len(gone) == len(added):
        matched += zip(gone, added, strict=True)
        gone, added = [], []
    pairs = [_Pair(one.name, other.name, _Axis.of(inner, one), _Axis.of(outer, other)) for one, other in matched]
    return pairs, gone, added


def _no_stricter(inner: Access, outer: Access, pairs: list[_Pair]) -> bool:
    """Whether every condition of the outer access is, word for word, one of the inner one."""
    renamed = {pair.name: pair.other_name for pair in pairs}
    mine = {spelled(each, inner, renamed) for each in _conditions(inner)}
    wanted = _conditions(outer)
    return _threads_alike(inner, outer, wanted) and all(spelled(each, outer) in mine for each in wanted)


def _exist_alike(inner: Access, outer: Access, pairs: list[_Pair]) -> bool:
    """Whether the same iterations exist for both: equal threads, equal expressions."""
    renamed = {pair.name: pair.other_name for pair in pairs}
    sides = [sorted(spelled(each, inner, renamed) for each in inner.expressions)]
    sides.append(sorted(spelled(each, outer) for each in outer.expressions))
    steps = all(pair.axis.steps == pair.other.steps for pair in pairs)
    return sides[0] == sides[1] and inner.block == outer.block and steps


def _threads_alike(one: Access, other: Access, read: Sequence[CFormula]) -> bool:
    """Whether what these expressions read of a thread is the same in both blocks."""
    return one.block == other.block or not any("." in name or "_" in name for name in _names(read))


def same_stage(inner: Access, outer: Access) -> bool:
    """Whether both visit the same stage at each point that they share; False where that is unclear.

    A tile of one stage without a `stage:` is visited at 0. Points at which nothing runs count as
    well.
    """
    mine, others = _stage_of(inner), _stage_of(outer)
    if mine is None or others is None:
        return False
    pairs, gone, added = _paired(inner, outer)
    renamed = {pair.name: pair.other_name for pair in pairs}
    read = _names((mine, others))
    paired = not read & {loop.name for loop in (*gone, *added)}
    alike = paired and _threads_alike(inner, outer, (mine, others))
    if alike and spelled(mine, inner, renamed) == spelled(others, outer):
        return True
    taken = [pair for pair in pairs if pair.name in mine.names or pair.other_name in others.names]
    if any(loop.name in others.names for loop in added):
        return False
    once = {loop.name: loop.value(0) for loop in gone if _Axis.of(inner, loop).count == 1}
    threads = min(inner.threads, outer.threads)
    if threads * prod(pair.axis.count for pair in taken) > MAX_POINTS:
        return False
    axes = {TID: np.arange(threads, dtype=np.int64), **{pair.name: pair.axis.values() for pair in taken}}
    try:
        here = mine.at_many(_environment(inner, axes) | once)
        there = others.at_many(_environment(outer, axes, renamed))
    except SwzError:  # it overflows somewhere, or reads a loop that is gone
        return False
    return bool(np.all(here == there))


def _stage_of(access: Access) -> CFormula | None:
    """The stage that an access names; None where it visits each of several."""
    if access.stage is None and access.tile is not None and access.tile.stages == 1:
        return parse("0")
    return access.stage


def stages_perhaps(access: Access) -> frozenset[int]:
    """The stages that the access may visit."""
    if access.tile is None:
        return frozenset()
    every = frozenset(range(access.tile.stages))
    if access.stage is None:
        return every
    if access.threads * prod(access.loop_limits) > MAX_POINTS:
        return every
    axes = {TID: np.arange(access.threads, dtype=np.int64)}
    axes |= {loop.name: _Axis.of(access, loop).values() for loop in access.loops}
    try:
        active = _active(access, axes, {}, {})
        active &= _along(axes[TID] % LANES < access.instruction.address_lanes, 0, len(axes))
        values = access.stage.at_many(_environment(access, axes))
    except SwzError:
        return every
    return frozenset(int(value) for value in np.unique(np.broadcast_to(values, active.shape)[active]))
