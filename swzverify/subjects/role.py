"""Producers and consumers: roles of threads, and the mbarriers by which they wait for each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from swzverify.errors import SwzError
from swzverify.ir.c_formula import CFormula
from swzverify.ir.formula import Reading
from swzverify.ir.integers import integer, named
from swzverify.ir.periods import repetition
from swzverify.ir.whole import keep_whole
from swzverify.subjects.loop import ANY_LIMIT

MAX_OBJECTS = 16
"""Objects of one barrier. Source: no ring of 16 stages of a tile fits into shared memory."""
MAX_ARRIVALS = (1 << 20) - 1
"""Source: PTX ISA, "mbarrier.init": the count is in 1 .. 2^20 - 1."""
MAX_BYTES = (1 << 20) - 1
"""Source: PTX ISA 9.2, "Contents of the mbarrier object": the tx-count is in -(2^20 - 1) .. 2^20 - 1."""
MAX_NAMED = 15
"""Source: PTX ISA 9.2, "bar, barrier": a block has the barriers 0 to 15."""
MAX_PERIOD = 64
"""The largest period of a stage and of a phase bit."""

ROOM = ANY_LIMIT - 256
"""Iterations of a phase with roles: stages and phase bits may add to the iteration without leaving C's range."""


@dataclass(frozen=True, slots=True)
class Barrier:
    """One `mbarrier` object for each stage; `arrivals` is the count of its `mbarrier.init`."""

    name: str
    stages: int
    arrivals: int

    def __post_init__(self) -> None:
        """Refuse what no `mbarrier.init` takes."""
        keep_whole(self, "barrier", "stages", "arrivals")
        if not (1 <= self.stages <= MAX_OBJECTS and 1 <= self.arrivals <= MAX_ARRIVALS):
            raise SwzError("SWZ105", f"barrier {self.name}: {self.stages} stages of {self.arrivals} arrivals")


@dataclass(frozen=True, slots=True)
class Cycle:
    """An expression of the iteration that repeats: its text, and its values over one period."""

    text: str
    values: tuple[int, ...]

    def at(self, iteration: int) -> int:
        """The value in an iteration."""
        return self.values[iteration % len(self.values)]

    @classmethod
    def of(cls, formula: CFormula, variable: str, limit: int, constants: Mapping[str, int]) -> Cycle:
        """The cycle of an expression of the loop's variable and constants, whose values are in 0..limit-1.

        Raises:
            SwzError: SWZ105 for other values, and where no period is found.
        """
        env = {name: integer(value) for name, value in constants.items()}
        lowered = formula.lowered(Reading({**env, variable: named(variable, ROOM)}))
        found = repetition(lowered.bits, variable)
        size = 1 << lowered.bits.width
        # All bits of the value are as before once the increments of whole periods add up to their modulus.
        period = 0 if found is None else found.period * (size // gcd(found.increment, size))
        if not 0 < period <= MAX_PERIOD:
            raise SwzError(
                "SWZ105",
                f"'{formula.text}' is not seen to repeat within {MAX_PERIOD} iterations",
                hint=f"such as `stage: {variable or 'i'}%3`, `phase: {variable or 'i'}/3%2`",
                text=formula.text,
            )
        values = tuple(formula.at({**constants, variable: at}) for at in range(period))
        wrong = next((each for each in values if not 0 <= each < limit), None)
        if wrong is not None:
            raise SwzError("SWZ105", f"'{formula.text}' is {wrong}: 0 to {limit - 1}", text=formula.text)
        return cls(formula.text, values)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The threads of a role that do a step: a condition and its text."""

    text: str
    threads: frozenset[int]

    def __str__(self) -> str:
        """The condition, as it follows on a step in words."""
        return f" by {self.text}"


@dataclass(frozen=True, slots=True)
class Wait:
    """Each thread waits until a phase with this parity is the last complete one: `mbarrier.try_wait.parity`."""

    barrier: Barrier
    stage: Cycle
    phase: Cycle
    by: Chosen | None = None

    def __str__(self) -> str:
        """The step in words."""
        return f"wait {place_text(self.barrier, self.stage)} phase {self.phase.text}{self.by or ''}"


@dataclass(frozen=True, slots=True)
class Arrive:
    """Each thread arrives once: `mbarrier.arrive`, or `mbarrier.arrive.expect_tx` if it expects bytes."""

    barrier: Barrier
    stage: Cycle
    by: Chosen | None = None
    expects: int = 0

    def __str__(self) -> str:
        """The step in words."""
        bytes_ = f" expecting {self.expects} bytes" if self.expects else ""
        return f"arrive {place_text(self.barrier, self.stage)}{bytes_}{self.by or ''}"


@dataclass(frozen=True, slots=True)
class WaitProducts:
    """Each thread waits for all its groups of `wgmma` but the `pending` newest: `wgmma.wait_group`."""

    pending: int

    def __str__(self) -> str:
        """The step as a spec has it."""
        return f"wgmma_wait {self.pending}"


@dataclass(frozen=True, slots=True)
class Named:
    """A named barrier: `bar.sync number, threads`, or `bar.arrive` if the threads go on."""

    number: int
    threads: int
    waits: bool = True

    def __str__(self) -> str:
        """The step in words."""
        return f"{'bar_sync' if self.waits else 'bar_arrive'} {self.number} of {self.threads} threads"


@dataclass(frozen=True, slots=True)
class ProxyFence:
    """Each thread makes what comes before it visible to the asynchronous proxy: `fence.proxy.async`."""

    by: Chosen | None = None

    def __str__(self) -> str:
        """The step in words."""
        return f"fence proxy{self.by or ''}"


RoleStep = Wait | Arrive | WaitProducts | Named | ProxyFence
"""Steps that only roles have, and that touch no memory of an access."""


@dataclass(frozen=True, slots=True)
class Role:
    """Threads of a block with steps of their own.

    Attributes:
        name: The name.
        text: The condition on its threads.
        ranges: The threads, each range without its end.
        steps: Where its steps stand among those of the phase: the first one, and the end.
        before: The same for its steps before the loop.
        after: The same for its steps after the loop.
    """

    name: str
    text: str
    ranges: tuple[tuple[int, int], ...]
    steps: tuple[int, int] = (0, 0)
    before: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)

    @property
    def count(self) -> int:
        """How many threads it has."""
        return sum(end - first for first, end in self.ranges)

    @property
    def threads(self) -> list[int]:
        """Its threads."""
        return [thread for first, end in self.ranges for thread in range(first, end)]


def ranges_of(threads: list[int]) -> tuple[tuple[int, int], ...]:
    """Threads in ascending order as ranges without their ends.

    >>> ranges_of([0, 1, 2, 5])
    ((0, 3), (5, 6))
    """
    found: list[tuple[int, int]] = []
    for thread in threads:
        if found and found[-1][1] == thread:
            found[-1] = (found[-1][0], thread + 1)
        else:
            found.append((thread, thread + 1))
    return tuple(found)


def place_text(barrier: Barrier, stage: Cycle) -> str:
    """The object of a stage in words."""
    return barrier.name if barrier.stages == 1 else f"{barrier.name}[{stage.text}]"
