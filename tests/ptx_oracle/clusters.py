"""The barrier of a cluster of one block: threads arrive, go on, and wait for the phase in which they arrived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .clocks import lanes_of
from .errors import FaultError

if TYPE_CHECKING:
    from .block import BlockState
    from .knowledge import Told
    from .splits import Split, Warp


@dataclass
class ClusterBarrier:
    """Who has arrived in the present phase, by warp, and the splits that wait, with the phases they wait for."""

    state: BlockState
    warps: list[Warp]
    phase: int = 0
    arrived: dict[int, int] = field(default_factory=dict)
    arrived_in: dict[int, int] = field(default_factory=dict)
    """The phase of the last arrival of each lane."""
    ends: list[Told | None] = field(default_factory=list)
    """What came before the end of each phase."""
    waiting: list[tuple[Split, int]] = field(default_factory=list)

    def arrive(self, masks: list[int], line: int, *, releases: bool) -> None:
        """Lanes arrive, and go on. A relaxed arrival releases objects that are made and fenced, and nothing else."""
        clocks = self.state.clocks
        for warp, mask in enumerate(masks):
            if not mask:
                continue
            if self.arrived.get(warp, 0) & mask and clocks is not None:
                clocks.misused(line, "a thread arrives twice at the barrier of the cluster")
            self.arrived[warp] = self.arrived.get(warp, 0) | mask
            lanes = lanes_of(warp, mask)
            self.arrived_in |= dict.fromkeys(lanes, self.phase)
            released = [each for each in lanes if releases or clocks is None or clocks.has_only_made(each)]
            if clocks is not None and released:
                clocks.arrive("cluster", released)

    def wait(self, split: Split, line: int) -> bool:
        """Whether lanes go on at once; else they are noted as waiting."""
        lanes = lanes_of(split.warp, split.mask)
        phases = {self.arrived_in.get(each, -1) for each in lanes}
        if len(phases) > 1 or -1 in phases:
            raise FaultError(f"line {line}: threads wait at the barrier of the cluster and have not arrived")
        (phase,) = phases
        if phase == self.phase:
            self.waiting.append((split, phase))
            return False
        self._learn(split, phase)
        return True

    def open(self, go_on: Callable[[Split], None]) -> None:
        """End the phase if all threads that are there have arrived."""
        if not self.arrived or any(warp.live & ~self.arrived.get(warp.number, 0) for warp in self.warps):
            return
        clocks = self.state.clocks
        self.ends.append(None if clocks is None else clocks.ended_phase("cluster"))
        self.phase, self.arrived = self.phase + 1, {}
        waiting, self.waiting = self.waiting, []
        for split, phase in waiting:
            self._learn(split, phase)
            go_on(split)

    def _learn(self, split: Split, phase: int) -> None:
        if self.state.clocks is not None:
            for lane in lanes_of(split.warp, split.mask):
                self.state.clocks.acquire(lane, self.ends[phase])
