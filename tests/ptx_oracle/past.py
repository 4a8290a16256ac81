"""Where threads touched shared memory since they passed a barrier, and whether that is past another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import Code

FAR = 1 << 30
"""Behind all places of the code."""


@dataclass
class Since:
    """What each thread did since it last passed a barrier, or since the start."""

    places: list[set[tuple[int, int]]]
    """The blocks of code in which a thread made a touch, each with `first` at that time."""
    first: list[int]
    """The first place, in the order of the code, that a thread was at."""

    @classmethod
    def start(cls, lanes: int) -> Since:
        """Of threads that begin."""
        return cls([set() for _ in range(lanes)], [0] * lanes)

    def copy(self) -> Since:
        """The same, to go on apart."""
        return Since([set(each) for each in self.places], list(self.first))

    def come(self, lanes: Iterable[int], rank: int) -> None:
        """Threads come to a place, by the order of the code."""
        for lane in lanes:
            self.first[lane] = min(self.first[lane], rank)

    def touch(self, lanes: Iterable[int], place: int) -> None:
        """Threads touch shared memory in a block of code."""
        for lane in lanes:
            self.places[lane].add((place, self.first[lane]))

    def clear(self, lanes: Iterable[int]) -> None:
        """Threads pass a barrier."""
        for lane in lanes:
            self.places[lane].clear()
            self.first[lane] = FAR

    def is_past(self, lane: int, code: Code, block: int) -> bool:
        """Whether a thread touched memory past the barrier that ends a block of code."""
        rank = code.flow.rank
        return any(
            block not in reached(code.flow.nexts, place) or first < rank[block] < rank[place]
            for place, first in self.places[lane]
        )


def reached(nexts: list[list[int]], start: int) -> set[int]:
    """The blocks that can be reached from one, and that one."""
    found, todo = {start}, [start]
    while todo:
        for after in nexts[todo.pop()]:
            if after not in found:
                found.add(after)
                todo.append(after)
    return found
