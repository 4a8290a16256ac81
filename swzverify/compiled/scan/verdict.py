"""What the scan says of one access."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from swzverify.compiled.trial import Launch
from swzverify.engines.obligations import Cost, GatherCost
from swzverify.hardware import Instruction

SMT: Final = "z3"
EXHAUSTION: Final = "exhaustion"
SAMPLES: Final = "samples"
TRIAL: Final = "trial"
FAULT: Final = "two engines disagree: this is a fault of swzverify, please send the kernel to the issue tracker"
NO_BLOCK: Final = "the shape of the block is not known: give --block X,Y,Z, the block of the launch"
NOT_DECIDED: Final = "not decided within the budget"
FAULTS: Final = "some lanes have addresses that are no multiples of the width of the access: it faults"


class NoVerdictError(Exception):
    """No verdict may rest on what was computed. The text says why."""


class DisagreementError(NoVerdictError):
    """Two ways to compute one thing differ: a fault of swzverify."""

    def __init__(self) -> None:
        super().__init__(FAULT)


class Verdict(StrEnum):
    """What the scan says of an access.

    - `FREE`: every group of lanes takes one wavefront, whatever the parameters.
    - `CONFLICT`: some group takes more, whatever the parameters; where the engine is a trial, with the
      parameters and data of the trial, and nothing is known of others.
    - `DEPENDS`: it is free for some values of the parameters, or some begins of an array, and not for
      others.
    - `UNKNOWN`: none of these was shown.
    - `BULK`: it is an end of a bulk copy, to which the rule of the banks does not apply.
    """

    FREE = "free"
    CONFLICT = "conflict"
    DEPENDS = "depends"
    UNKNOWN = "unknown"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One lane of a warp that conflicts; `offset` is its address less that of the first one."""

    lane: int
    thread: tuple[int, int, int]
    offset: int
    bank: int
    collides: bool


@dataclass(frozen=True, slots=True)
class WarpTable:
    """The warp instruction that conflicts.

    Attributes:
        warp: The warp.
        lanes: Its lanes; empty if they do not show the conflict.
        instruction: The row that priced them.
        addresses: The byte addresses by lane, None for a lane that is not active.
    """

    warp: int
    lanes: tuple[LaneRow, ...] = ()
    instruction: Instruction | None = field(default=None, compare=False)
    addresses: tuple[int | None, ...] = field(default=(), compare=False)


class Goals(tuple[Cost | GatherCost, ...]):
    """Costs that engines proved. No other process gets them: their expressions are of this one.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(Goals()))
    ()
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the costs behind."""
        return (Goals, ())


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with its figures.

    Attributes:
        verdict: The verdict.
        reason: Why there is no other verdict, in words.
        ways: The ways of the conflict.
        wavefronts: The wavefronts of the worst warp instruction.
        minimum: Its minimum.
        at_least: Whether `ways` may be exceeded.
        is_for_some: Whether the conflict is one of some arguments or data, which a launch need not have.
        parameters: The parameters on which the verdict depends.
        engines: The engines that decided.
        table: The warp instruction that conflicts, if one is known.
        launch: The launch of the trial that met the conflict.
        assumes: What the verdict assumes.
        is_of_source: Whether a copy reads from places that a spec cannot state.
        goals: The costs that show a verdict of `free`.
        if_made: The verdict if some launch makes the access as it is priced; only beside `unknown`.
    """

    verdict: Verdict
    reason: str = ""
    ways: int | None = None
    wavefronts: int | None = None
    minimum: int | None = None
    at_least: bool = False
    is_for_some: bool = False
    parameters: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    table: WarpTable | None = None
    launch: Launch | None = field(default=None, compare=False)
    assumes: tuple[str, ...] = ()
    is_of_source: bool = False
    goals: Goals = field(default=Goals(), compare=False, repr=False)
    if_made: Decision | None = None

    @property
    def lanes(self) -> tuple[LaneRow, ...]:
        """The lanes of the warp instruction that conflicts."""
        return self.table.lanes if self.table is not None else ()

    @property
    def wasted(self) -> int | None:
        """The wavefronts beyond the minimum of one execution by a warp; None if they are not known.

        >>> Decision(Verdict.CONFLICT, ways=4, wavefronts=7, minimum=4).wasted
        3
        """
        return None if self.wavefronts is None or self.minimum is None else self.wavefronts - self.minimum


def unknown(reason: str) -> Decision:
    """The verdict that claims nothing."""
    return Decision(Verdict.UNKNOWN, reason)
