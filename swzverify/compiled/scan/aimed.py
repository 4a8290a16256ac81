"""Launches that samples and a solver aim at accesses that no trial has reached, or at conflicts that none has shown.

Values of parameters and the place of the block are wanted that fulfil the path condition of an access. One condition is
that of threads that come to it before any loop makes a second trip: it is exact for more launches, since it says what
loops before it leave in registers. If launches reach the access without a conflict, two lanes must come to one bank as
well. The values are a guess: a condition may allow what no launch does, and memory holds what it holds. So verdicts
rest on the trial that runs such a launch, and never on the values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.arithmetic import is_zero, less, sub
from swzverify.compiled.kernel.special import BlockShape, is_place
from swzverify.compiled.scan.asker import Asker, OutOfClockError
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.price import Block, block_of
from swzverify.compiled.scan.samples import thread_values
from swzverify.compiled.scan.split import Parts, split
from swzverify.compiled.trial.launch import Data, Launcher, Plan
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Expr, Var, conjunction, const, extract, negation, postorder, substitute, variables

MOST_CONDITIONS: Final = 4
"""Different path conditions of one kernel that are asked for a model."""
MOST_CONFLICTS: Final = 4
"""Accesses of one kernel for which a conflict is asked for."""
_DISTANCES: Final = (1, 2, 16)
"""The distances of the two lanes that are to conflict."""
_LIMITS: Final = (0, 20)
"""Budgets of these queries, as of `Asker`."""
_SMALL: Final = 1 << 12
"""A limit of numbers, so that loops end soon."""
_SAMPLES: Final = 4096
_SEED: Final = 20_261_128
_NUMBERS: Final = (0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 33, 64, 65, 100, 128, 256, 512, 1024)
"""What numbers are in samples, the small ones more often."""
_OF_PLACE: Final = 1000
"""How much more the place of a block counts than other numbers."""
_MOST_NODES: Final = 5000
"""Nodes of a condition that is sampled."""
_TINY: Final = 8
"""A limit of parameters that is tried first where two lanes are to conflict: larger ones leave arrays more often."""
_BASES: Final = (Plan((64,), (Data.SMALL,)), Plan((8,), (Data.BYTES,)), Plan((64,), (Data.ZERO,)))
"""Where the values come from that the condition does not read. With zeros, pointers in memory are null."""


def aimed(
    accesses: Iterable[KernelAccess], starts: Callable[[int], Expr], block: BlockShape, launcher: Launcher
) -> list[Plan]:
    """Launches in which the first and the last lane of a warp may make each of some accesses.

    `starts` gives the condition under which a thread comes to an instruction before any loop makes a second trip.
    """
    asker = Asker(*_LIMITS)
    # Those of the most accesses are asked.
    asked = Counter(filter(None, (_conditions(access, starts, block) for access in accesses)))
    found: list[Plan] = []
    for (early, whole), _ in asked.most_common(MOST_CONDITIONS):
        for values in (
            _sampled(early, launcher) or _model(asker, early, launcher),
            _model(asker, whole, launcher),
        ):
            found += [_planned(base, values, launcher) for base in _BASES if values]
    return list(dict.fromkeys(found))


def aimed_at_conflicts(
    reached: Iterable[tuple[KernelAccess, Plan]], block: BlockShape, launcher: Launcher
) -> list[Plan]:
    """Launches in which two lanes of a warp may conflict at each of some accesses.

    Each access comes with a plan whose launch executes it. The new plan has other numbers.
    """
    asker = Asker(*_LIMITS)
    asked: set[tuple[KernelAccess | int | str, ...]] = set()
    found: list[Plan] = []
    for access, base in reached:
        # Unrolled accesses are alike: one of each length and opcode is asked for.
        kind = (access.site.opcode, 0 if access.address is None else len(postorder(access.address)))
        if kind in asked or len(asked) == MOST_CONFLICTS:
            continue
        asked.add(kind)
        for condition in _collisions(access, block):
            read = [each for each in variables(condition) if launcher.is_number(each.name)]
            tiny = [less(each, const(_TINY, each.width), signed=False) for each in read if each.limit > _TINY]
            values = _model(asker, conjunction((condition, *tiny)), launcher) or _model(asker, condition, launcher)
            numbers = {each.name: values[each.name] for each in read if each.name in values}
            if numbers:
                found.append(_planned(base, numbers, launcher))
                break
    return list(dict.fromkeys(found))


def _conditions(access: KernelAccess, starts: Callable[[int], Expr], block: BlockShape) -> tuple[Expr, Expr] | None:
    """When the first and the last lane of some warp make an access; None without such lanes.

    The first condition is that they do so before any loop makes a second trip, the second one is the path condition.
    """
    active = _Active.of(access, block)
    if active is None:
        return None
    start = starts(access.site.index)
    early = conjunction(dict.fromkeys(active.placed(start, at) for at in (0, -1)))
    return early, conjunction(dict.fromkeys(active.thread(at)[0] for at in (0, -1)))


def _collisions(access: KernelAccess, block: BlockShape) -> Iterator[Expr]:
    """Conditions under which two lanes of some warp make an access, and reach two words of one bank."""
    active = _Active.of(access, block)
    for distance in _DISTANCES:
        if active is None or distance >= len(active.lanes):
            return
        (one, first), (other, second) = map(active.thread, (0, distance))
        words = [extract(each, 2, each.width - 2) for each in (first, second)]
        apart = sub(*words)
        yield conjunction((one, other, is_zero(extract(apart, 0, 5)), negation(is_zero(apart))))


@dataclass(frozen=True, slots=True)
class _Active:
    """The warp with the most lanes that can make an access."""

    parts: Parts
    threads: Block
    warp: int
    lanes: list[int]

    @classmethod
    def of(cls, access: KernelAccess, block: BlockShape) -> Self | None:
        """The warp; None without such lanes."""
        if access.address is None:
            return None
        parts, threads = split(access, access.address), block_of(block)
        active = threads.exists & (threads.values(parts.own_guard, {}) != 0)
        warp = int(active.sum(axis=1).argmax())
        lanes = np.flatnonzero(active[warp]).tolist()
        return cls(parts, threads, warp, lanes) if lanes else None

    def thread(self, at: int) -> tuple[Expr, Expr]:
        """When one of the lanes makes the access, as far as lanes' coordinates do not say it; and its address."""
        parts, lane = self.parts, self.lanes[at]
        new = thread_values(self.threads, parts, self.warp * LANES + lane, f"@{lane}")
        whole = conjunction((parts.other_guard, *known_of(variables(parts.other_guard), parts.leaves)))
        return substitute(whole, new(whole)), substitute(parts.varying, new(parts.varying))

    def placed(self, condition: Expr, at: int) -> Expr:
        """A condition with the coordinates of one of the lanes."""
        number = self.warp * LANES + self.lanes[at]
        point = {name: int(values.reshape(-1)[number]) for name, values in self.threads.point.items()}
        here = {each: const(point[each.name], each.width) for each in variables(condition) if each.name in point}
        return substitute(condition, dict[Var, Expr](here))


def _sampled(condition: Expr, launcher: Launcher) -> Mapping[str, int]:
    """The smallest values that fulfil a condition among some samples; empty if none do."""
    read = variables(condition)
    nodes = postorder(condition)
    if not read or len(nodes) > _MOST_NODES or any(node.width > MAX_ARRAY_WIDTH for node in nodes):
        return {}
    draw = np.random.default_rng(_SEED)
    point = {each.name: draw.choice(_values(each, launcher), _SAMPLES) for each in read}
    (found,) = evaluate_many((condition,), point)
    hits = np.flatnonzero(np.broadcast_to(found, (_SAMPLES,)))
    if not hits.size:
        return {}
    # Blocks behind the first one may wait for others.
    weights = {each.name: _OF_PLACE if is_place(each.name) else 1 for each in read}
    best = hits[np.argmin(sum(weight * np.log2(point[name][hits] + 1.0) for name, weight in weights.items()))]
    return {name: int(values[best]) for name, values in point.items()}


def _values(each: Var, launcher: Launcher) -> NDArray[np.int64]:
    """What a variable may be in a sample."""
    some = (0, 0, 1 << 40) if launcher.is_pointer(each.name) else (0, 0, *_NUMBERS) if is_place(each.name) else _NUMBERS
    return np.array([value for value in some if value < each.limit] or [0])


def _model(asker: Asker, condition: Expr, launcher: Launcher) -> Mapping[str, int]:
    """Values that fulfil a condition: small numbers, null pointers and the first block, where that is possible.

    Empty if none are found.
    """
    read = variables(condition)
    large = [each for each in read if _SMALL < each.limit <= 1 << 32]
    small = [less(each, const(_SMALL, each.width), signed=False) for each in large]
    null = [is_zero(each) for each in read if launcher.is_pointer(each.name) or is_place(each.name)]
    for more in ((*small, *null), small, ()):
        try:
            found = asker.possible(conjunction((condition, *more)))
        except OutOfClockError:
            break
        if found.answer is Answer.HOLDS and found.point:
            return found.point
    return {}


def _planned(base: Plan, values: Mapping[str, int], launcher: Launcher) -> Plan:
    """A launch with these values of parameters, and of the place and the number of blocks."""
    x, y, z = (values.get(f"ctaid.{axis}", at) for axis, at in zip("xyz", base.place, strict=True))
    wide, high, deep = (values.get(f"nctaid.{axis}", most) for axis, most in zip("xyz", base.grid, strict=True))
    own = {name: at for name, at in values.items() if launcher.is_number(name) or launcher.is_pointer(name)}
    fixed = tuple(sorted({**dict(base.fixed), **own}.items()))
    return replace(base, place=(x, y, z), grid=(max(wide, x + 1), max(high, y + 1), max(deep, z + 1)), fixed=fixed)
