"""Lanes of a warp that run together.

A warp begins as one split. Where its lanes part, each part becomes a split of its own; splits of a
warp that come to the same block (in the same call) become one again. The split at the earliest
block runs first, so the others wait for it: see `flow`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .model import Instr
from .program import Code


class Frame(NamedTuple):
    """What a function returns to: the caller, its block after the call, the call, its own frame."""

    code: Code
    follow: int
    call: Instr
    outer: Frame | None
    path: tuple[int, ...]
    """The ranks of the blocks with the calls, the outermost first."""


@dataclass(eq=False)
class Split:
    """Lanes of one warp at one block of a function."""

    warp: int
    mask: int
    code: Code
    block: int
    depth: int = 0
    frame: Frame | None = None
    last: int = 0
    """When it last ran."""
    turns: int = 0
    """How many blocks it has run."""
    mark: tuple[int, bytes] | None = None
    """Where it was seen last by whoever looks for circles, and its registers then."""
    circling: bool = False
    """It came to a place twice without any change."""
    asked: bool = False
    """Another warp wants to know whether it runs in circles."""
    yielded: int = 0
    """So many turns of other splits of its warp come before it."""
    key: tuple[int, ...] = ()
    """Its place in the order of running."""

    def __post_init__(self) -> None:
        self.go(self.block)

    def go(self, block: int) -> None:
        """Come to a block."""
        self.block = block
        self.key = (*(self.frame.path if self.frame else ()), self.code.flow.rank[block])

    def part(self, mask: int, block: int) -> Split:
        """Some of its lanes, at some block of the function."""
        return Split(self.warp, mask, self.code, block, self.depth, self.frame, self.last, self.turns)


@dataclass(eq=False)
class Warp:
    """The living lanes of a warp, as splits that can run and splits that wait at barriers."""

    number: int
    live: int
    ready: list[Split] = field(default_factory=list)
    blocked: list[Split] = field(default_factory=list)
    loose: bool = False
    """Splits run even though an earlier one waits at a barrier."""

    def add(self, split: Split) -> None:
        """A split can run; it joins one at the same place."""
        for other in self.ready:
            if other.block == split.block and other.code is split.code and other.frame == split.frame:
                other.mask |= split.mask
                other.last = max(other.last, split.last)
                other.circling, other.mark = False, None
                return
        self.ready.append(split)

    def candidate(self) -> Split | None:
        """The split that is to run next; None if the warp waits or has left."""
        willing = [split for split in self.ready if not split.yielded] or self.ready
        if not willing:
            return None
        best = min(willing, key=lambda split: split.key)
        if not self.loose and any(split.key < best.key for split in self.blocked):
            return None
        return best


@dataclass(eq=False)
class Barrier:
    """A barrier of the block: how many threads it takes (None: all), who is there, who waits."""

    count: int | None = None
    arrived: dict[int, int] = field(default_factory=dict)
    waiting: list[tuple[Split, Instr]] = field(default_factory=list)

    def arrive(self, warp: int, mask: int) -> None:
        """Lanes of a warp have come."""
        self.arrived[warp] = self.arrived.get(warp, 0) | mask

    def complete(self, warps: list[Warp], *, loose: bool = False) -> bool:
        """Say whether it opens; `loose` takes a warp for there as soon as one of its lanes is."""
        there = [w for w in warps if self._there(w, loose=loose)]
        if self.count is not None:
            return 32 * sum(bool(self.arrived.get(w.number)) for w in there) >= self.count
        return bool(self.arrived) and len(there) == len(warps)

    def _there(self, warp: Warp, *, loose: bool) -> bool:
        come = self.arrived.get(warp.number, 0)
        return not warp.live or (come != 0 if loose else warp.live & ~come == 0)


@dataclass(eq=False)
class WarpBarrier(Barrier):
    """bar.warp.sync of one warp and one mask: it takes the lanes of the mask that have not left."""

    warp: int = 0
    mask: int = 0

    def complete(self, warps: list[Warp], *, loose: bool = False) -> bool:
        """Say whether it opens; `loose` opens it as soon as a lane is there."""
        come = self.arrived.get(self.warp, 0)
        return come != 0 if loose else warps[self.warp].live & self.mask & ~come == 0
