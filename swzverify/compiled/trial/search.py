"""Which launch is tried next.

The first launches are the same for all kernels. Most later ones change some things of those that
went new ways: numbers, floats, the data of a buffer, the place of the block. A number may be one
that the kernel compared with something, with one result for all lanes: a launch in which such a
comparison comes out differently goes another way.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from swzverify.compiled.trial.launch import GRID, ONE_BLOCK, SEED, Data, Launch, Launcher, Plan
from swzverify.compiled.trial.machine import Trial

MOST_LAUNCHES: Final = 4000
_FIRST: Final = (
    Plan((4, 8), (Data.SMALL,)),
    Plan((64, 1), (Data.ANY,)),
    Plan((16,), (Data.BYTES,)),
    Plan((64,), (Data.UP,)),
    Plan((256,), (Data.ANY,)),
    Plan((5, 3, 7), (Data.REAL,)),
    Plan((64, 32, 16), (Data.SMALL,)),
    Plan((1,), (Data.BYTES,)),
    Plan((1024,), (Data.BYTES,)),
    Plan((33,), (Data.ANY,), (1, 1, 1)),
    Plan((8, 4), (Data.ANY, Data.SMALL, Data.LARGE)),
)
"""The first ones are small, so that loops end soon. The last one has offsets of a long segment."""
_DATA: Final = tuple(each for each in Data if each is not Data.LARGE)
"""What later launches choose from."""
_NUMBERS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 33, 48, 64, 100, 128, 256, 512, 1024, 4096)
_REALS: Final = (1.0, 0.0, 0.5, 2.0, -1.0, 10.0, 0.001)
"""Floats that are parameters."""
_FRESH: Final = 0.2
"""The share of launches that change no earlier one, but are made anew."""
_ALONE: Final = 0.2
"""The share of launches with a grid of one block, among those that get a grid anew."""


class Search:
    """Launches of one kernel, one after the other.

    The result of a launch may be passed in before the next launch is made. Plans that are `aimed` at something
    come behind the first launches, which are the same for all kernels.
    `reaching` has for each watched instruction the plan of the first launch that executed it.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k(.param .u32 n) {"
    >>> module = read_module(text + " .reg .b32 %r; ld.param.u32 %r, [n]; ret; }", "k.ptx")
    >>> search = Search(Launcher(module.functions[0], (32, 1, 1), 0))
    >>> [launch.words for launch in islice(search, 3)]
    ['n = 4', 'n = 64', 'n = 16']
    """

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._draw = random.Random(SEED)  # noqa: S311 - no secret
        self._plans: dict[int, Plan] = {}
        self._kept: list[_Kept] = []
        self._ways: set[tuple[int, ...]] = set()
        self._wanted: frozenset[int] = frozenset()
        self.aimed: list[Plan] = []
        self.reaching: dict[int, Plan] = {}

    def __iter__(self) -> Iterator[Launch]:
        tried: set[Plan] = set()
        for number in range(MOST_LAUNCHES):
            later = self.aimed and number >= len(_FIRST)
            plan = self.aimed.pop(0) if later else self._at(number)
            made = None if plan in tried else self._launcher.launch(plan, number)
            tried.add(plan)
            if made is not None:
                self._plans[number] = plan
                yield made

    def learn(self, launch: Launch, trial: Trial, wanted: Collection[int] = ()) -> bool:
        """Take the result of a launch; returns whether it took a new path.

        `wanted` are instructions that launches should reach.
        """
        plan = self._plans.pop(launch.number)
        self._wanted = frozenset(wanted)
        for at in trial.seen if not trial.fault else ():
            self.reaching.setdefault(at, plan)
        is_new = self.is_new(trial)
        if is_new:
            compared = tuple(sorted(trial.compared))
            self._kept.append(_Kept(plan, frozenset(trial.seen), len(trial.ways), compared))
            self._ways |= trial.ways
        return is_new

    def is_new(self, trial: Trial) -> bool:
        """Whether a launch took a new path."""
        return not trial.fault and not trial.ways <= self._ways

    def _at(self, number: int) -> Plan:
        if number < len(_FIRST):
            return _FIRST[number]
        draw, launcher = self._draw, self._launcher
        if not self._kept or draw.random() < _FRESH:
            count = draw.choice((1, 2, 3, 4, max(1, launcher.numbers)))
            numbers = tuple(draw.choices(draw.choice((_NUMBERS, _NUMBERS[1:11])), k=count))
            data = tuple(draw.choices(_DATA, k=draw.choice((1, 1, 2, 3))))
            grid = ONE_BLOCK if draw.random() < _ALONE else GRID
            place = (draw.randrange(grid[0]) if draw.random() < 0.5 else 0, 0, 0)
            reals = tuple(draw.choices(_REALS, k=3)) if launcher.reals else (1.0,)
            return Plan(numbers, data, place, number, reals, grid)
        # Of two launches that went new ways, the one that came to more of what is wanted is changed.
        kept = max(draw.choices(self._kept, k=3), key=lambda each: (len(each.seen & self._wanted), each.ways))
        plan = kept.plan
        for _ in range(draw.choice((1, 1, 2, 4))):
            plan = self._changed(plan, kept.compared, number)
        return plan

    def _changed(self, plan: Plan, compared: Sequence[int], number: int) -> Plan:
        """A plan with one change."""
        draw, launcher = self._draw, self._launcher
        numbers = [*islice(cycle(plan.numbers), launcher.numbers)]
        data = [*islice(cycle(plan.data), launcher.pointers)]
        reals = [*islice(cycle(plan.reals), launcher.reals)]
        grid, place, seed = plan.grid, plan.place, plan.seed
        kinds = ["number"] * min(3, len(numbers)) + ["data"] * min(1, len(data)) + ["place"]
        match draw.choice(kinds + ["real"] * min(1, len(reals))):
            case "number":
                at = draw.randrange(len(numbers))
                numbers[at] = draw.choice(
                    (self._number(compared), self._number(compared), numbers[at] + 1, numbers[at] // 2)
                )
            case "data":
                data[draw.randrange(len(data))] = draw.choice(_DATA)
                seed = number
            case "real":
                reals[draw.randrange(len(reals))] = draw.choice(_REALS)
            case _:
                grid = ONE_BLOCK if draw.random() < _ALONE else GRID
                across = self._number(compared) // draw.choice((1, launcher.block[0]))
                place = (0, 0, 0) if grid == ONE_BLOCK else (across % grid[0], *place[1:])
        of_kernel = (tuple(numbers) or plan.numbers, tuple(data) or plan.data)
        return Plan(*of_kernel, place, seed, tuple(reals) or plan.reals, grid)

    def _number(self, compared: Sequence[int]) -> int:
        draw = self._draw
        if not compared or draw.random() < 0.5:
            return draw.choice(_NUMBERS)
        return max(0, draw.choice(compared) + draw.choice((0, 0, 1, -1)))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A plan whose launch took new paths.

    `seen` are the watched instructions that it reached, `ways` the number of its branches, and `compared`
    the numbers that it compared.
    """

    plan: Plan
    seen: frozenset[int]
    ways: int
    compared: tuple[int, ...]
